//! What cannot be written can still be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use chat_core::error::Kind;
use chat_core::settings::{Folders, SettingsFile};
use chat_core::store::{Opened, Store};

use super::{open, texts, titled, user};
use crate::another;

#[test]
fn read_only_files_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    another::run_without_rights("store::read_only::without_rights", folder.path());
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
#[ignore = "run by another test, without the rights of root"]
async fn without_rights() {
    let root = another::folder();
    let data = root.join("data");
    let database = data.join("natter.db");
    let store = open(&root);
    store.create(titled("old"), vec![user(None, "still here")]).await.unwrap();
    drop(store);

    mode(&database, 0o400);
    can_be_read(&root).await;
    mode(&data, 0o500);
    can_be_read(&root).await;
    mode(&database, 0o600);
    can_be_read(&root).await;

    // Nothing there, and nothing can be made.
    let empty = root.join("empty");
    fs::create_dir(&empty).unwrap();
    fs::create_dir(empty.join("data")).unwrap();
    mode(&empty.join("data"), 0o500);
    let opened = Store::open(&Folders::below(&empty));
    let path = empty.join("data/natter.db");
    assert_eq!(opened.unwrap_err().kind, Kind::ReadOnly { path });
    mode(&empty.join("data"), 0o700);

    // A damaged one cannot be put aside, and is left alone.
    mode(&data, 0o700);
    fs::write(&database, "garbage").unwrap();
    mode(&data, 0o500);
    let opened = Store::open(&Folders::below(&root));
    assert_eq!(opened.unwrap_err().kind, Kind::ReadOnly { path: database.clone() });
    assert_eq!(fs::read(&database).unwrap(), b"garbage");
    mode(&data, 0o700);

    settings(&root);
}

async fn can_be_read(root: &Path) {
    let path = root.join("data/natter.db");
    let denied = Kind::ReadOnly { path };
    let Opened { store, notice, .. } = Store::open(&Folders::below(root)).unwrap();
    assert_eq!(notice.map(|notice| notice.kind), Some(denied.clone()));
    let sessions = store.sessions().await.unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(texts(&store, &sessions[0].fid).await, ["still here"]);
    assert_eq!(store.search("still here", 9).await.unwrap().hits.len(), 1);
    let fid = &sessions[0].fid;
    assert_eq!(store.create(titled("new"), vec![]).await.unwrap_err().kind, denied);
    assert_eq!(store.claim(fid).await.unwrap_err().kind, denied);
    assert_eq!(store.delete(fid).await.unwrap_err().kind, denied);
    // What only tidies up has nothing to do.
    assert_eq!(store.recover().await.unwrap(), []);
    store.purge(Duration::ZERO).await.unwrap();
    store.flush().await.unwrap();
}

fn settings(root: &Path) {
    let folders = Folders::below(root);
    let path = folders.config.join("config.toml");
    let (file, _, problem) = SettingsFile::load(&folders);
    assert_eq!(problem, None);
    file.change(|s| s.ui.enter_sends = false).unwrap();
    mode(&folders.config, 0o500);
    let written = fs::read(&path).unwrap();
    let changed = file.change(|s| s.ui.enter_sends = true);
    assert!(matches!(changed.unwrap_err().kind, Kind::ReadOnly { .. }));
    assert_eq!(fs::read(&path).unwrap(), written);
    mode(&folders.config, 0o700);

    mode(&path, 0o000);
    let (file, settings, problem) = SettingsFile::load(&folders);
    assert!(settings.ui.enter_sends, "the defaults");
    assert_eq!(problem.unwrap().kind, Kind::ConfigInvalid { path: path.clone() });
    let changed = file.change(|s| s.ui.enter_sends = true);
    assert_eq!(changed.unwrap_err().kind, Kind::ConfigLocked { path: path.clone() });
    mode(&path, 0o600);
    assert_eq!(fs::read(&path).unwrap(), written);
}
