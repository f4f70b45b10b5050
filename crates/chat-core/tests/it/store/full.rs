//! A full disk: a real one, small and in memory, that only this test sees.

use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::message::Message;
use chat_core::settings::{Folders, SettingsFile};
use chat_core::store::Store;

use super::{open, reply, segment, texts, titled, user};
use crate::another;

#[test]
fn a_full_disk_is_told_and_what_was_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    another::run_on_small_disk("store::full::fills_the_disk", 4, folder.path());
}

#[tokio::test]
#[ignore = "run by another test, on a small disk"]
async fn fills_the_disk() {
    let folder = another::folder();
    let folders = Folders::below(&folder);
    let store = open(&folder);
    let (settings, before, _) = SettingsFile::load(&folders);
    settings.change(|s| s.ui.enter_sends = false).unwrap();
    let asked = user(None, "kept");
    let fid = store.create(titled("full"), vec![Arc::clone(&asked)]).await.unwrap().meta.fid;

    // One that is too large fails alone; its small neighbour finds room.
    let large = user(Some(asked.id), &"large ".repeat(1_000_000));
    let small = user(Some(asked.id), "small");
    let (large_one, small_one) = tokio::join!(
        store.append(&fid, vec![Arc::clone(&large)], large.id),
        store.append(&fid, vec![Arc::clone(&small)], small.id),
    );
    assert_eq!(large_one.unwrap_err().kind, Kind::DiskFull);
    small_one.unwrap();
    assert_eq!(texts(&store, &fid).await, ["kept", "small"]);

    // Somebody else takes all that is left.
    let filler = folder.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    let begun = reply(&small);
    let mut kind = None;
    for _ in 0..1_000 {
        while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
        let message =
            Arc::new(Message { id: chat_core::message::MessageId::new(), ..begun.clone() });
        let appended = store.append(&fid, vec![Arc::clone(&message)], message.id).await;
        if let Err(error) = appended {
            kind = Some(error.kind);
            break;
        }
    }
    assert_eq!(kind, Some(Kind::DiskFull));
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    let known = texts(&store, &fid).await;
    assert_eq!(settings.change(|s| *s = before.clone()).unwrap_err().kind, Kind::DiskFull);
    assert!(!SettingsFile::load(&folders).1.ui.enter_sends, "the old file is whole");
    let elsewhere = folder.join("elsewhere");
    let opened = Store::open(&Folders::below(&elsewhere));
    assert_eq!(opened.unwrap_err().kind, Kind::DiskFull);

    // There is room again.
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    assert_eq!(texts(&store, &fid).await, known);
    let begun = reply(&small);
    store.append(&fid, vec![Arc::new(begun.clone())], begun.id).await.unwrap();
    store.journal(vec![segment(&begun, 0, "room again")]).await.unwrap();
    settings.change(|s| *s = before.clone()).unwrap();
    drop(store);
    let store = open(&folder);
    assert_eq!(texts(&store, &fid).await, ["kept", "small", "room again"]);
}
