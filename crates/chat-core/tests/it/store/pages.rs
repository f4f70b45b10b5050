//! Pages that are overwritten cost what stood on them and nothing else.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::message::{Ending, Fid, Message, Part};
use chat_core::settings::Folders;
use chat_core::store::Store;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{open, reply, segment, titled, user};
use crate::another::{self, Talking, say};

const PAGE: u64 = 4096;

/// How many single pages are damaged, each in a database of its own.
const DAMAGES: u64 = 32;

/// The chats of a database: by their ids, with their messages.
type Chats = HashMap<Fid, Vec<Arc<Message>>>;

fn database(folder: &Path) -> PathBuf {
    folder.join("data/natter.db")
}

fn lacks(message: &Message) -> bool {
    message.error.as_ref().is_some_and(|error| error.kind == Kind::MessageDamaged)
}

/// Six chats of some length. Some replies take many pages, and most share one with others.
async fn six_chats(store: &Store, random: &mut StdRng) -> Chats {
    let mut chats = Chats::new();
    for chat in 0..6 {
        let mut messages: Vec<Arc<Message>> = Vec::new();
        for n in 0..30 {
            let asked =
                user(messages.last().map(|m| m.id), &format!("question {n} of chat {chat}"));
            let words = if n % 7 == 0 { random.random_range(2_000..6_000) } else { 40 };
            let text: Vec<String> =
                (0..words).map(|_| format!("{:x}", random.random::<u32>())).collect();
            let answer = Message {
                parts: vec![Part::Text(text.join(" "))],
                ended: Some(Ending::Complete),
                ..reply(&asked)
            };
            messages.extend([asked, Arc::new(answer)]);
        }
        let made = store.create(titled(&format!("Chat {chat}")), messages.clone()).await.unwrap();
        store.release(&made.fid).await.unwrap();
        chats.insert(made.meta.fid, messages);
    }
    chats
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Overwrites a page, and gives what stood on it.
fn overwrite(database: &Path, page: u64, random: &mut StdRng) {
    let file = fs::OpenOptions::new().write(true).open(database).unwrap();
    let mut with = vec![0; PAGE as usize];
    if random.random_bool(0.7) {
        random.fill(&mut with[..]);
    }
    file.write_all_at(&with, page * PAGE).unwrap();
}

/// How many messages are missing of what can be listed; none may be another than it was.
async fn missing(store: &Store, chats: &Chats) -> (usize, usize) {
    let (mut lost_chats, mut lost) = (0, 0);
    let listed = store.sessions().await.unwrap();
    for (fid, messages) in chats {
        if !listed.iter().any(|record| record.fid == *fid) {
            lost_chats += 1;
            continue;
        }
        let page = store.page(fid, None, usize::MAX).await.unwrap();
        let there: HashMap<_, _> = page.messages.iter().map(|m| (m.id, m)).collect();
        for message in messages {
            match there.get(&message.id) {
                Some(read) if *read == message => {}
                Some(read) => {
                    assert!(lacks(read), "{read:?}");
                    lost += 1;
                }
                None => lost += 1,
            }
        }
        for message in &page.messages {
            assert!(lacks(message) || messages.contains(message), "{message:?}");
        }
    }
    (lost_chats, lost)
}

fn seed() -> u64 {
    let seed = std::env::var("NATTER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| StdRng::from_os_rng().random());
    println!("NATTER_TEST_SEED={seed}");
    seed
}

#[tokio::test]
async fn one_page_costs_what_stood_on_it() {
    let mut random = StdRng::seed_from_u64(seed());
    let whole = tempfile::tempdir().unwrap();
    let store = open(whole.path());
    let chats = six_chats(&store, &mut random).await;
    assert!(store.back_up(&|| Some(std::time::Duration::ZERO)).unwrap().is_some());
    drop(store);
    let pages = fs::metadata(database(whole.path())).unwrap().len() / PAGE;
    for damage in 0..DAMAGES {
        let page = if damage == 0 { 0 } else { random.random_range(1..pages) };
        let folder = tempfile::tempdir().unwrap();
        copy_folder(whole.path(), folder.path());
        let with_backup = damage % 2 == 0;
        if !with_backup {
            fs::remove_dir_all(folder.path().join("data/backups")).unwrap();
        }
        overwrite(&database(folder.path()), page, &mut random);
        let about = format!("page {page} of {pages}, backup: {with_backup}");

        // As it is: whoever opens it first may find out, or not.
        let opened = Store::open(&Folders::below(folder.path())).unwrap();
        let first = missing(&opened.store, &chats).await;
        let suspected = folder.path().join("data/natter.db.check").exists();
        drop(opened.store);
        if opened.notice.is_none() && first == (0, 0) && !suspected {
            // It stands in the index, or nowhere: a check of all of it says so.
            fs::write(folder.path().join("data/natter.db.check"), "").unwrap();
        }

        // Repaired.
        let again = Store::open(&Folders::below(folder.path())).unwrap();
        let notice = opened.notice.or(again.notice).map(|notice| notice.kind);
        if let Some(Kind::DatabaseDamaged { kept_as }) = &notice {
            // Without the schema there is nothing to ask for, and only a backup can help.
            let raw = rusqlite::Connection::open(kept_as).unwrap();
            assert!(raw.prepare("SELECT key FROM messages").is_err(), "{about}");
            assert!(!with_backup, "{about}");
            continue;
        }
        let (lost_chats, lost) = missing(&again.store, &chats).await;
        assert_eq!(lost_chats, 0, "{about}: {notice:?}");
        if with_backup {
            assert_eq!(lost, 0, "{about}");
        } else {
            assert!(lost <= first.1.max(60), "{about}: {lost}");
        }
        if let Some(Kind::DatabaseRepaired { missing, kept_as, .. }) = &notice {
            let named: u32 = missing.iter().map(|chat| chat.count).sum();
            assert_eq!(named as usize, lost, "{about}: {missing:?}");
            assert!(kept_as.exists());
        } else {
            assert_eq!((notice, lost), (None, 0), "{about}");
        }
        let hits = again.store.search("question 3 of chat", 99).await.unwrap().hits;
        assert_eq!(hits.len(), 6, "{about}");
        drop(again.store);
        let raw = rusqlite::Connection::open(database(folder.path())).unwrap();
        let check: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok", "{about}");
        let keys: i64 = raw
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(keys, 0, "{about}");
    }
}

/// Overwrites the middle of a long reply, of which no other row has a part.
fn overwrite_a_reply(folder: &Path, text: &str) {
    let bytes = fs::read(database(folder)).unwrap();
    let part = &text.as_bytes()[text.len() / 2..][..60];
    let at = bytes.windows(part.len()).position(|window| window == part).unwrap() as u64;
    let file = fs::OpenOptions::new().write(true).open(database(folder)).unwrap();
    file.write_all_at(&[0xff; PAGE as usize], at / PAGE * PAGE).unwrap();
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn streams_until_it_is_told_to_end() {
    let store = open(&another::folder());
    let asked = user(None, "a live question");
    let begun = reply(&asked);
    let messages = vec![Arc::clone(&asked), Arc::new(begun.clone())];
    let fid = store.create(titled("live"), messages).await.unwrap().meta.fid;
    for n in 0..3 {
        store.journal(vec![segment(&begun, 0, &format!("piece {n} "))]).await.unwrap();
        say(&n.to_string());
        another::wait();
    }
    let parts = vec![Part::Text("piece 0 piece 1 piece 2 ".to_owned())];
    let done = Message { parts, ended: Some(Ending::Complete), ..begun };
    store.fold(&fid, Arc::new(done)).await.unwrap();
}

#[tokio::test]
async fn nothing_is_exchanged_under_a_process_that_writes() {
    let mut random = StdRng::seed_from_u64(seed());
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let chats = six_chats(&store, &mut random).await;
    drop(store);
    let (damaged, messages) = chats.iter().next().unwrap();
    let long = messages.iter().find(|m| m.plain_text().len() > 10_000).unwrap();
    overwrite_a_reply(folder.path(), &long.plain_text());

    let mut writer = Talking::start("store::pages::streams_until_it_is_told_to_end", folder.path());
    assert_eq!(writer.hear().as_deref(), Some("0"));
    for _ in 0..2 {
        // The first finds the damage, the second knows of it.
        let opened = Store::open(&Folders::below(folder.path())).unwrap();
        assert_eq!(opened.notice, None);
        assert_eq!(opened.store.sessions().await.unwrap().len(), 7);
        assert_eq!(missing(&opened.store, &chats).await, (0, 1));
        let page = opened.store.page(damaged, None, usize::MAX).await.unwrap();
        assert_eq!(page.messages.len(), messages.len());
        drop(opened);
        writer.go_on();
        writer.hear().unwrap();
    }
    assert!(folder.path().join("data/natter.db.check").exists());
    writer.go_on();
    writer.end();

    let opened = Store::open(&Folders::below(folder.path())).unwrap();
    let notice = opened.notice.map(|notice| notice.kind);
    let Some(Kind::DatabaseRepaired { missing: named, .. }) = notice else { panic!("{notice:?}") };
    assert_eq!((named.len(), named[0].count), (1, 1));
    assert_eq!(missing(&opened.store, &chats).await, (0, 1));
    let live = opened.store.sessions().await.unwrap().into_iter().find(|s| s.title == "live");
    let live = opened.store.page(&live.unwrap().fid, None, 9).await.unwrap().messages;
    assert_eq!(live[1].plain_text(), "piece 0 piece 1 piece 2 ");
    assert_eq!(live[1].ended, Some(Ending::Complete));
}

#[tokio::test]
async fn an_interrupted_repair_is_finished() {
    let mut random = StdRng::seed_from_u64(seed());
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let chats = six_chats(&store, &mut random).await;
    drop(store);
    // As if the program had ended between the two renames.
    fs::rename(database(folder.path()), folder.path().join("data/natter.db.repaired")).unwrap();
    let store = open(folder.path());
    assert_eq!(missing(&store, &chats).await, (0, 0));
    assert!(!folder.path().join("data/natter.db.repaired").exists());
}
