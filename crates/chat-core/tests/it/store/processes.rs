//! Two programs at once on one database.

use std::sync::Arc;
use std::time::Duration;

use chat_core::error::Kind;
use chat_core::message::{Ending, Fid};
use chat_core::store::SessionPatch;

use super::{open, reply, segment, texts, titled, user};
use crate::another::{self, Talking, say};

/// How long to wait for what must come. Met only where it does not.
const LONG: Duration = Duration::from_secs(20);

/// How many sessions each of two processes makes.
const SESSIONS: usize = 60;

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn holds_a_session() {
    let store = open(&another::folder());
    let asked = user(None, "Anyone there?");
    let begun = reply(&asked);
    let messages = vec![asked, Arc::new(begun.clone())];
    let fid = store.create(titled("held"), messages).await.unwrap().meta.fid;
    store.journal(vec![segment(&begun, 0, "half an ")]).await.unwrap();
    say(fid.as_str());
    another::wait();
    store.journal(vec![segment(&begun, 0, "answer")]).await.unwrap();
    say("more");
    another::wait();
}

#[tokio::test]
async fn a_session_is_written_by_one_living_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut changes = store.changes();
    let mut other = Talking::start("store::processes::holds_a_session", folder.path());
    let fid = Fid::new(other.hear().unwrap());
    tokio::time::timeout(LONG, changes.next()).await.unwrap();

    assert!(store.session(&fid).await.unwrap().in_use);
    assert_eq!(store.claim(&fid).await.unwrap_err().kind, Kind::SessionInUse);
    let mine = user(None, "mine");
    let appended = store.append(&fid, vec![Arc::clone(&mine)], mine.id).await;
    assert_eq!(appended.unwrap_err().kind, Kind::SessionInUse);
    assert_eq!(store.recover().await.unwrap(), []);
    assert_eq!(texts(&store, &fid).await, ["Anyone there?", "half an "]);

    other.go_on();
    assert_eq!(other.hear().as_deref(), Some("more"));
    tokio::time::timeout(LONG, async {
        // A message may come in two pieces: the change may be told of before all of it is seen.
        while texts(&store, &fid).await != ["Anyone there?", "half an answer"] {
            changes.next().await;
        }
    })
    .await
    .unwrap();
    let title = Some(("ours".to_owned(), true));
    let renamed = SessionPatch { title, ..SessionPatch::default() };
    assert_eq!(store.patch(&fid, renamed).await.unwrap().title, "ours");

    other.kill();
    let seen = store.page(&fid, None, 1).await.unwrap().messages[0].ended;
    assert_eq!(seen, Some(Ending::Interrupted), "shown so before anybody recovered it");
    assert!(!store.session(&fid).await.unwrap().in_use);
    assert!(!store.session(&fid).await.unwrap().unread);
    store.claim(&fid).await.unwrap();
    assert!(store.session(&fid).await.unwrap().unread, "nobody has seen yet what became of it");
    let last = store.page(&fid, None, 1).await.unwrap().messages[0].clone();
    assert_eq!((last.ended, &last.error), (Some(Ending::Interrupted), &None));
    assert_eq!(last.plain_text(), "half an answer");
    assert_eq!(store.search("half an answer", 9).await.unwrap().hits.len(), 1);
    let owners = std::fs::read_dir(folder.path().join("state/owners")).unwrap().count();
    assert_eq!(owners, 2, "the dead one's is still there");
    store.recover().await.unwrap();
    let owners = std::fs::read_dir(folder.path().join("state/owners")).unwrap().count();
    assert_eq!(owners, 1);
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn makes_many_sessions() {
    make_many(&open(&another::folder())).await;
}

async fn make_many(store: &chat_core::store::Store) {
    for _ in 0..SESSIONS {
        let asked = user(None, "?");
        let begun = reply(&asked);
        let messages = vec![asked, Arc::new(begun.clone())];
        let fid = store.create(titled("many"), messages).await.unwrap().meta.fid;
        store.journal(vec![segment(&begun, 0, "!")]).await.unwrap();
        let mut done = begun;
        done.ended = Some(Ending::Complete);
        done.parts.push(chat_core::message::Part::Text("!".to_owned()));
        store.fold(&fid, Arc::new(done)).await.unwrap();
    }
}

#[tokio::test]
async fn two_processes_write_at_once_and_lose_nothing() {
    // Neither is there before the other: both make the database.
    let folder = tempfile::tempdir().unwrap();
    let other = Talking::start("store::processes::makes_many_sessions", folder.path());
    let store = open(folder.path());
    make_many(&store).await;
    tokio::task::spawn_blocking(|| other.end()).await.unwrap();
    let sessions = store.sessions().await.unwrap();
    assert_eq!(sessions.len(), 2 * SESSIONS);
    for session in sessions {
        assert_eq!(texts(&store, &session.fid).await, ["?", "!"]);
        assert!(!session.in_use);
    }
}

#[tokio::test]
async fn all_who_start_at_once_have_the_same_new_database() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(8);
        let stores: Vec<_> = std::thread::scope(|scope| {
            let open_at_once = || {
                start.wait();
                open(folder.path())
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open_at_once)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for store in &stores {
            store.create(titled("one each"), vec![]).await.unwrap();
        }
        assert_eq!(stores[0].sessions().await.unwrap().len(), 8);
    }
}

#[tokio::test]
async fn our_own_commits_are_no_news() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut changes = store.changes();
    make_many(&store).await;
    // There is no event to wait for: it must not come.
    let news = tokio::time::timeout(Duration::from_millis(300), changes.next()).await;
    assert!(news.is_err());
    // The watch does hear: another's commit comes through.
    let other = open(folder.path());
    other.create(titled("other"), vec![]).await.unwrap();
    tokio::time::timeout(LONG, changes.next()).await.unwrap();
}

#[tokio::test]
async fn an_idle_store_wakes_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let _changes = store.changes();
    make_many(&store).await;
    store.search("nothing", 9).await.unwrap();
    let wakes = || -> Vec<(String, u64)> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let mut wakes: Vec<_> = tasks
            .flatten()
            .filter_map(|task| {
                let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
                let status = std::fs::read_to_string(task.path().join("status")).ok()?;
                let line = status.lines().find(|l| l.starts_with("voluntary_ctxt_switches"))?;
                let count = line.split_whitespace().last()?.parse().ok()?;
                Some((name.trim().to_owned(), count))
            })
            .filter(|(name, _)| name.starts_with("store-") || name.starts_with("notify"))
            .collect();
        wakes.sort();
        wakes
    };
    // What the last commit set going comes to rest first.
    let mut before = wakes();
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = wakes();
        if now == before {
            break;
        }
        before = now;
    }
    assert!(before.len() >= 4, "writer, two readers, the watch: {before:?}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(wakes(), before);
}
