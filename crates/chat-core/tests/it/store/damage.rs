//! A damaged database is kept aside, named, and never overwritten.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::message::Message;
use chat_core::settings::Folders;
use chat_core::store::Store;

use super::{open, texts, titled, user};

fn database(folder: &Path) -> PathBuf {
    folder.join("data/natter.db")
}

/// A closed database of some size.
async fn filled(folder: &Path) -> Vec<Arc<Message>> {
    let store = open(folder);
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for n in 0..400 {
        let parent = messages.last().map(|m| m.id);
        messages.push(user(parent, &format!("message {n} {}", "x".repeat(1_000))));
    }
    store.create(titled("long"), messages.clone()).await.unwrap();
    messages
}

/// Opens what is damaged: it must be kept as it is under another name, and a new one must work.
async fn is_kept_aside(folder: &Path) {
    let damaged = fs::read(database(folder)).unwrap();
    let opened = Store::open(&Folders::below(folder)).unwrap();
    let Some(Kind::DatabaseDamaged { kept_as }) = opened.notice.map(|notice| notice.kind) else {
        panic!("no notice");
    };
    let name = kept_as.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("natter.db.damaged-2"), "{name}");
    assert_eq!(fs::read(&kept_as).unwrap(), damaged);
    let store = opened.store;
    assert_eq!(store.sessions().await.unwrap(), []);
    let fid = store.create(titled("new"), vec![user(None, "hello")]).await.unwrap().meta.fid;
    assert_eq!(texts(&store, &fid).await, ["hello"]);
    store.notice_was_shown().unwrap();
    drop(store);
    assert_eq!(open(folder).sessions().await.unwrap().len(), 1, "the new one is not damaged");
    assert_eq!(fs::read(&kept_as).unwrap(), damaged);
}

/// Whether it stands where a message was that cannot be read.
fn lacks(message: &Message) -> bool {
    message.error.as_ref().is_some_and(|error| error.kind == Kind::MessageDamaged)
}

fn overwrite(path: &Path, at: u64, with: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(with).unwrap();
}

#[tokio::test]
async fn what_is_no_database_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(database(folder.path()), "Dear diary").unwrap();
    is_kept_aside(folder.path()).await;
}

#[tokio::test]
async fn a_broken_header_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    overwrite(&database(folder.path()), 0, b"garbage");
    is_kept_aside(folder.path()).await;
}

#[tokio::test]
async fn a_broken_schema_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    overwrite(&database(folder.path()), 100, &[0xff; 3_000]);
    is_kept_aside(folder.path()).await;
}

#[tokio::test]
async fn a_file_cut_short_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    fs::OpenOptions::new()
        .write(true)
        .open(database(folder.path()))
        .unwrap()
        .set_len(5_000)
        .unwrap();
    is_kept_aside(folder.path()).await;
}

#[tokio::test]
async fn another_programs_database_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let other = rusqlite::Connection::open(database(folder.path())).unwrap();
    other.execute_batch("CREATE TABLE sessions (x); INSERT INTO sessions VALUES (1)").unwrap();
    drop(other);
    is_kept_aside(folder.path()).await;
}

#[tokio::test]
async fn a_page_found_broken_later_is_remembered_until_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let messages = filled(folder.path()).await;
    // Somewhere among the messages: far from the schema and the list of sessions.
    let middle = fs::metadata(database(folder.path())).unwrap().len() / 4096 / 2 * 4096;
    overwrite(&database(folder.path()), middle, &vec![0xff; 40 * 4096]);
    let store = open(folder.path());
    let fid = store.sessions().await.unwrap()[0].fid.clone();
    let read = store.page(&fid, None, messages.len()).await.unwrap().messages;
    assert!(read.iter().any(|message| lacks(message)));
    assert!(folder.path().join("data/natter.db.check").exists());
    drop(store);
    let opened = Store::open(&Folders::below(folder.path())).unwrap();
    let Some(Kind::DatabaseRepaired { missing, .. }) = opened.notice.map(|notice| notice.kind)
    else {
        panic!("no notice");
    };
    assert_eq!((missing.len(), &*missing[0].title), (1, "long"));
    let found = &opened.store.search("7", 9).await.unwrap().hits[0];
    assert!(found.excerpt.as_ref().unwrap().starts_with("message 7 "), "{found:?}");
    opened.store.notice_was_shown().unwrap();
    drop(opened.store);
    open(folder.path());
}

#[tokio::test]
async fn the_log_goes_with_the_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let log = folder.path().join("data/natter.db-wal");
    fs::write(&log, "what was in the log").unwrap();
    overwrite(&database(folder.path()), 0, b"garbage");
    is_kept_aside(folder.path()).await;
    let kept: Vec<_> = fs::read_dir(folder.path().join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.to_str().unwrap().contains("damaged") && path.to_str().unwrap().ends_with("-wal")
        })
        .collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read(&kept[0]).unwrap(), b"what was in the log");
}

#[tokio::test]
async fn one_broken_message_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let messages = filled(folder.path()).await;
    let raw = rusqlite::Connection::open(database(folder.path())).unwrap();
    let broken = "UPDATE messages SET parts = '[{\"type\": \"te' WHERE id = ?1";
    assert_eq!(raw.execute(broken, [messages[7].id.as_bytes()]).unwrap(), 1);
    drop(raw);
    let store = open(folder.path());
    let fid = store.sessions().await.unwrap()[0].fid.clone();
    let read = store.page(&fid, None, usize::MAX).await.unwrap().messages;
    assert_eq!(read.len(), messages.len());
    assert!(lacks(&read[7]));
    assert_eq!(read[8], messages[8]);
}

#[tokio::test]
async fn a_copy_has_a_message_where_the_original_lacks_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let first = user(None, "above");
    let gone = user(Some(first.id), "deleted");
    let second = user(Some(first.id), &"y ".repeat(20_000));
    let third = user(Some(second.id), "below");
    let all = vec![first.clone(), Arc::clone(&gone), second, third.clone()];
    let fid = store.create(titled("long"), all).await.unwrap().meta.fid;
    drop(store);
    let raw = rusqlite::Connection::open(database(folder.path())).unwrap();
    let deletes = "UPDATE messages SET deleted = 1 WHERE id = ?1";
    assert_eq!(raw.execute(deletes, [gone.id.as_bytes()]).unwrap(), 1);
    drop(raw);
    let bytes = fs::read(database(folder.path())).unwrap();
    // A page of the second one alone begins with the number of the next.
    let is_its = |page: &[u8]| page[4..].iter().all(|byte| b"y ".contains(byte));
    let at = bytes.chunks_exact(4096).position(is_its).unwrap() * 4096;
    overwrite(&database(folder.path()), at as u64, &[0xff; 4]);

    let store = open(folder.path());
    let copy = store.duplicate(&fid, "copy".to_owned()).await.unwrap().meta.fid;
    let copied = store.page(&copy, None, 9).await.unwrap().messages;
    let exported = store.export(&fid).await.unwrap().messages;
    for read in [&copied, &exported] {
        let lacking: Vec<_> = read.iter().map(|message| lacks(message)).collect();
        assert_eq!(lacking, [false, true, false]);
        assert_eq!((read[1].parent, read[2].parent), (Some(read[0].id), Some(read[1].id)));
    }
    assert_eq!((&exported[0], &exported[2]), (&first, &third));
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let image: Arc<[u8]> = Arc::new([1]);
    let part = chat_core::message::Part::Image { mime: "image/png".to_owned(), data: image };
    let message = Message { parts: vec![part], ..(*user(None, "")).clone() };
    store.create(titled("x"), vec![Arc::new(message)]).await.unwrap();
    let mut folders = vec![folder.path().join("data"), folder.path().join("state")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files >= 6, "database, log, shared memory, lock, signal, owner, picture: {files}");
}
