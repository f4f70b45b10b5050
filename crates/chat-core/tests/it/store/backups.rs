//! Backups are made while the chats are in use, and bring back what was lost but nothing deleted.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chat_core::error::Kind;
use chat_core::message::{Message, Part, Role};
use chat_core::settings::Folders;
use chat_core::store::{Backup, Store};

use super::{open, texts, titled, user};
use crate::another::{self, Talking, say};

fn back_up(store: &Store) -> Backup {
    store.back_up(&|| Some(Duration::ZERO)).unwrap().expect("nobody else makes one")
}

async fn titles(store: &Store) -> Vec<String> {
    let mut titles: Vec<_> =
        store.sessions().await.unwrap().into_iter().map(|session| session.meta.title).collect();
    titles.sort();
    titles
}

#[tokio::test]
async fn three_are_kept_and_one_a_day_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    assert!(store.backup_is_due());
    let made: Vec<Backup> = (0..5).map(|_| back_up(&store)).collect();
    assert!(!store.backup_is_due());
    assert_eq!(store.backups(), made[2..]);
    assert!(made[4].size > 4096);
    let yesterday = made[4].path.with_file_name("natter-20260115T143045.123Z.db");
    for backup in store.backups() {
        fs::rename(backup.path, &yesterday).unwrap();
    }
    assert!(store.backup_is_due());
    assert_eq!(store.backups()[0].time.to_string(), "2026-01-15T14:30:45.123Z");
}

#[tokio::test]
async fn one_that_is_given_up_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let long: Vec<_> = (0..50).map(|n| user(None, &format!("{n} ").repeat(20_000))).collect();
    store.create(titled("long"), long).await.unwrap();
    assert_eq!(store.back_up(&|| None).unwrap(), None);
    let left: Vec<_> =
        fs::read_dir(folder.path().join("data/backups")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "the lock alone: {left:?}");
}

#[tokio::test]
async fn what_is_written_meanwhile_does_not_hold_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let long: Vec<_> = (0..50).map(|n| user(None, &format!("{n} ").repeat(20_000))).collect();
    let fid = store.create(titled("long"), long).await.unwrap().meta.fid;
    let (backing_up, writing) = (store.clone(), store.clone());
    let steps = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = Arc::clone(&steps);
    let runtime = tokio::runtime::Handle::current();
    let made = tokio::task::spawn_blocking(move || {
        backing_up.back_up(&|| {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let more = user(None, "more");
            runtime.block_on(writing.append(&fid, vec![Arc::clone(&more)], more.id)).unwrap();
            Some(Duration::ZERO)
        })
    });
    let made = made.await.unwrap().unwrap().unwrap();
    let steps = steps.load(std::sync::atomic::Ordering::Relaxed);
    let pages = made.size / 4096;
    assert!(steps > 1 && u64::from(steps) <= pages / 256 + 1, "{steps} steps for {pages} pages");
    let raw = rusqlite::Connection::open(&made.path).unwrap();
    let count: i64 = raw.query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 50, "as it was when it began");
}

#[tokio::test]
async fn going_back_keeps_what_there_was_with_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let picture = |byte: u8| {
        let image = Part::Image { mime: "image/png".to_owned(), data: Arc::new([byte]) };
        Arc::new(Message { parts: vec![image], ..Message::text(Role::User, None, "") })
    };
    let old = store.create(titled("old"), vec![picture(1)]).await.unwrap().meta.fid;
    let backup = back_up(&store);
    store.delete(&old).await.unwrap();
    store.release(&old).await.unwrap();
    store.purge(Duration::ZERO).await.unwrap();
    let new = store.create(titled("new"), vec![picture(2)]).await.unwrap().meta.fid;
    store.search("old", 9).await.unwrap();

    store.restore_backup(&backup.path).await.unwrap();
    assert_eq!(titles(&store).await, ["old"]);
    let read = store.page(&old, None, 9).await.unwrap().messages;
    assert_eq!(read[0].parts, picture(1).parts);
    assert_eq!(store.search("old", 9).await.unwrap().hits.len(), 1);
    store.create(titled("newer"), vec![user(None, "it can be written to")]).await.unwrap();
    store.purge(Duration::ZERO).await.unwrap();

    let before = store.backups().pop().unwrap();
    assert_ne!(before, backup);
    store.restore_backup(&before.path).await.unwrap();
    assert_eq!(titles(&store).await, ["new"]);
    let read = store.page(&new, None, 9).await.unwrap().messages;
    assert_eq!(read[0].parts, picture(2).parts);
    drop(store);
    assert_eq!(titles(&open(folder.path())).await, ["new"]);
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn has_the_chats_open() {
    let _store = open(&another::folder());
    say("open");
    another::wait();
}

#[tokio::test]
async fn nothing_is_restored_under_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("old"), vec![]).await.unwrap();
    let backup = back_up(&store);
    store.create(titled("new"), vec![]).await.unwrap();
    let mut other = Talking::start("store::backups::has_the_chats_open", folder.path());
    assert!(other.hear().is_some());
    let refused = store.restore_backup(&backup.path).await;
    assert_eq!(refused.unwrap_err().kind, Kind::DatabaseInUse);
    assert_eq!(titles(&store).await, ["new", "old"]);
    assert_eq!(store.backups(), std::slice::from_ref(&backup));
    other.go_on();
    other.end();
    store.restore_backup(&backup.path).await.unwrap();
    assert_eq!(titles(&store).await, ["old"]);
}

/// Overwrites all pages that a table's rows stand on, but not its index.
fn lose(folder: &Path, table: &str) {
    let database = folder.join("data/natter.db");
    let raw = rusqlite::Connection::open(&database).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: u32 = raw.query_row(sql, [table], |row| row.get(0)).unwrap();
    drop(raw);
    let file = fs::OpenOptions::new().write(true).open(&database).unwrap();
    file.write_all_at(&[0xff; 4096], u64::from(root - 1) * 4096).unwrap();
}

#[tokio::test]
async fn what_was_deleted_since_does_not_come_back() {
    for table in ["messages", "sessions"] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let mut fids = Vec::new();
        for title in ["kept", "deleted", "purged"] {
            let messages = vec![user(None, &format!("message of {title}"))];
            fids.push(store.create(titled(title), messages).await.unwrap().meta.fid);
        }
        back_up(&store);
        for fid in [&fids[2], &fids[1]] {
            store.delete(fid).await.unwrap();
            store.release(fid).await.unwrap();
            if fid == &fids[2] {
                store.purge(Duration::ZERO).await.unwrap();
            }
        }
        drop(store);
        lose(folder.path(), table);
        fs::write(folder.path().join("data/natter.db.check"), "").unwrap();
        let opened = Store::open(&Folders::below(folder.path())).unwrap();
        let notice = opened.notice.map(|notice| notice.kind);
        let repaired = matches!(
            &notice,
            Some(Kind::DatabaseRepaired { missing, from_backup: true, .. }) if missing.is_empty()
        );
        assert!(repaired, "{table}: {notice:?}");
        assert_eq!(titles(&opened.store).await, ["kept"], "{table}");
        assert_eq!(texts(&opened.store, &fids[0]).await, ["message of kept"], "{table}");
        assert_eq!(opened.store.restore(&fids[1]).await.unwrap()[0].title, "deleted", "{table}");
        assert_eq!(texts(&opened.store, &fids[1]).await, ["message of deleted"], "{table}");
    }
}

#[tokio::test]
async fn what_was_purged_does_not_come_back_in_a_chat_that_has_its_key() {
    for table in ["messages", "sessions"] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let said = |what: &str| -> Vec<_> {
            (0..9).map(|n| user(None, &format!("{what} {n} {}", "x".repeat(900)))).collect()
        };
        store.create(titled("old"), said("secret")).await.unwrap();
        drop(store);
        // It began earlier: within a second its id would be free again.
        let database = folder.path().join("data/natter.db");
        let raw = rusqlite::Connection::open(&database).unwrap();
        let old = chat_core::message::Fid::new("2026-01-15-14-30-45");
        raw.execute("UPDATE sessions SET fid = ?1", [old.as_str()]).unwrap();
        drop(raw);
        let store = open(folder.path());
        back_up(&store);
        store.delete(&old).await.unwrap();
        store.purge(Duration::ZERO).await.unwrap();
        store.create(titled("new"), said("harmless")).await.unwrap();
        drop(store);
        let key = |path: &Path| -> i64 {
            let raw = rusqlite::Connection::open(path).unwrap();
            raw.query_row("SELECT key FROM sessions", [], |row| row.get(0)).unwrap()
        };
        let backup = open(folder.path()).backups().remove(0);
        assert_eq!(key(&database), key(&backup.path), "the key is used again");
        lose(folder.path(), table);
        fs::write(folder.path().join("data/natter.db.check"), "").unwrap();
        let opened = Store::open(&Folders::below(folder.path())).unwrap();
        assert!(opened.notice.is_some());
        assert!(!titles(&opened.store).await.contains(&"old".to_owned()), "{table}");
        assert_eq!(opened.store.search("secret", 9).await.unwrap().hits, [], "{table}");
        let raw = rusqlite::Connection::open(&database).unwrap();
        let sql = "SELECT count(*) FROM messages WHERE parts LIKE '%secret%'";
        let back: i64 = raw.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(back, 0, "{table}");
    }
}

#[tokio::test]
async fn a_chat_whose_row_is_lost_has_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let messages = vec![user(None, "How do I sort a list?")];
    let fid = store.create(titled("Sorting"), messages).await.unwrap().meta.fid;
    drop(store);
    lose(folder.path(), "sessions");
    let opened = Store::open(&Folders::below(folder.path())).unwrap();
    assert_eq!(titles(&opened.store).await, ["How do I sort a list?"]);
    assert_eq!(texts(&opened.store, &fid).await, ["How do I sort a list?"]);
}

#[tokio::test]
async fn a_damaged_database_makes_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("x"), vec![user(None, "y")]).await.unwrap();
    drop(store);
    lose(folder.path(), "messages");
    let store = open(folder.path());
    assert!(store.back_up(&|| Some(Duration::ZERO)).is_err());
    assert_eq!(store.backups(), []);
    assert!(folder.path().join("data/natter.db.check").exists());
}
