//! A database from before the index of words gets it while it is used.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chat_core::message::{Message, Role};
use chat_core::store::{SearchGap, Store};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rusqlite::Connection;

use super::{open, titled, user};
use crate::another::Talking;

/// How long indexing may take on a machine that is busy.
const DEADLINE: Duration = Duration::from_mins(1);

fn raw(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("data/natter.db")).unwrap();
    connection.busy_timeout(DEADLINE).unwrap();
    connection
}

/// A database of version 2, with this many messages more than it has.
fn of_version_2(folder: &Path, more: u32) {
    fs::create_dir(folder.join("data")).unwrap();
    let old = raw(folder);
    old.execute_batch(include_str!("../../fixtures/store/v2.sql")).unwrap();
    old.execute_batch(&format!(
        "BEGIN;
         INSERT INTO sessions (key, fid, title, titled_by_person, agent, thinking, unread, created, updated)
         VALUES (3, '2026-01-15-14-30-47', 'Long', 0, 'just-ask', 'habit', 0, 1, 1);
         WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 3 + {more})
         INSERT INTO messages SELECT i, randomblob(16), 3, NULL, 'user',
             '[{{\"type\":\"text\",\"value\":\"message n' || i || ' in 大阪 with café\"}}]', 1, 'complete', NULL, NULL, NULL, NULL
         FROM n WHERE {more} > 0;
         INSERT INTO text_index (rowid, text)
         SELECT key, 'message n' || key || ' in 大阪 with café' FROM messages WHERE session = 3;
         COMMIT;"
    ))
    .unwrap();
}

/// Up to where messages are not indexed yet; none where all are.
fn below(raw: &Connection) -> Option<i64> {
    use rusqlite::OptionalExtension;
    raw.query_row("SELECT below FROM unindexed", [], |row| row.get(0)).optional().unwrap()
}

fn indexed(raw: &Connection) -> i64 {
    raw.query_row("SELECT count(*) FROM word_index_docsize", [], |row| row.get(0)).unwrap()
}

/// Waits until indexing has come so far. SQLite tells nobody, so it is asked again and again.
fn wait_until(raw: &Connection, come: impl Fn(Option<i64>) -> bool) {
    let begun = Instant::now();
    while !come(below(raw)) {
        assert!(begun.elapsed() < DEADLINE, "{:?}", below(raw));
        std::thread::sleep(Duration::from_millis(2));
    }
}

async fn found(store: &Store, query: &str) -> Vec<String> {
    let hits = store.search(query, 9).await.unwrap().hits;
    hits.into_iter().map(|hit| hit.session.meta.title).collect()
}

#[tokio::test]
async fn an_older_database_is_indexed_while_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    of_version_2(folder.path(), 3_000);
    let store = open(folder.path());
    // What is new is found at once, and so is what the other index has.
    store.create(titled("New"), vec![user(None, "Ça va?")]).await.unwrap();
    assert_eq!(found(&store, "ca").await, ["New"]);
    assert_eq!(found(&store, "towers").await, ["Travelling"]);
    found(&store, "大阪").await;
    let raw = raw(folder.path());
    wait_until(&raw, |below| below.is_none());
    assert_eq!(found(&store, "大阪").await, ["Long"]);
    assert_eq!(found(&store, "東京").await, ["Travelling"]);
    assert_eq!(found(&store, "7").await, ["Travelling"]);
    assert_eq!(found(&store, "cafe").await, ["Long", "Breakfast"]);
    assert_eq!(found(&store, "n1 go").await, [""; 0]);
    assert_eq!(indexed(&raw), 3_004);

    let long = store.sessions().await.unwrap().into_iter().find(|it| it.title == "Long").unwrap();
    store.delete(&long.fid).await.unwrap();
    assert_eq!(found(&store, "大阪").await, [""; 0]);
    store.purge(Duration::ZERO).await.unwrap();
    assert_eq!(indexed(&raw), 4);
}

#[tokio::test]
async fn indexing_survives_kill_9_and_two_processes_share_it() {
    const MESSAGES: u32 = 20_000;
    let folder = tempfile::tempdir().unwrap();
    of_version_2(folder.path(), MESSAGES);
    let raw = raw(folder.path());
    let start = || Talking::start("store::backups::has_the_chats_open", folder.path());
    let mut other = start();
    other.hear().unwrap();
    let all = i64::from(MESSAGES) + 4;
    wait_until(&raw, |below| below.is_some_and(|below| below < all));
    other.kill();
    let left = below(&raw).expect("it was killed half-way");
    assert_eq!(indexed(&raw), all - left, "a step is done or not");

    let mut other = start();
    other.hear().unwrap();
    let store = open(folder.path());
    assert_eq!(found(&store, &format!("n{} 大阪", all - 1)).await, ["Long"]);
    wait_until(&raw, |below| below.is_none());
    other.go_on();
    other.end();
    assert_eq!(indexed(&raw), i64::from(MESSAGES) + 3);
    assert_eq!(found(&store, "n4 大阪").await, ["Long"]);
    assert_eq!(found(&store, "東京").await, ["Travelling"]);
}

#[tokio::test]
async fn a_search_says_whether_older_messages_are_still_being_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let gaps = async |store: &Store, query| store.search(query, 9).await.unwrap().gaps;
    let store = open(folder.path());
    store.create(titled("Any"), vec![user(None, "some words")]).await.unwrap();
    assert_eq!(gaps(&store, "words").await, []);
    drop(store);
    let raw = raw(folder.path());
    raw.execute_batch(
        "INSERT INTO unindexed SELECT max(key) + 1 FROM messages;
         CREATE TRIGGER held BEFORE UPDATE ON unindexed BEGIN SELECT RAISE(ABORT, 'held'); END;",
    )
    .unwrap();
    let store = open(folder.path());
    assert_eq!(gaps(&store, "words").await, [SearchGap::Indexing]);
    assert_eq!(gaps(&store, "nowhere").await, [SearchGap::Indexing]);
    drop(store);
    raw.execute_batch("DROP TRIGGER held").unwrap();
    let store = open(folder.path());
    wait_until(&raw, |below| below.is_none());
    assert_eq!(gaps(&store, "nowhere").await, []);
}

/// Each segment is merged with others later on: one for each message would be most of the work.
#[tokio::test]
async fn messages_that_are_indexed_together_share_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    of_version_2(folder.path(), 100);
    let _store = open(folder.path());
    let raw = raw(folder.path());
    wait_until(&raw, |below| below.is_none());
    assert_eq!(indexed(&raw), 103);
    let count = "SELECT count(DISTINCT segid) FROM word_index_idx";
    let segments: i64 = raw.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(segments, 1);
}

/// A text of words of a list, common ones more often.
fn babble(words: &[&str], between: &str, count: usize, random: &mut StdRng) -> String {
    let word = |random: &mut StdRng| {
        let rank = (words.len() as f64).powf(random.random::<f64>());
        words[(rank as usize).min(words.len()) - 1]
    };
    (0..count).map(|_| word(random)).collect::<Vec<_>>().join(between)
}

/// 2,000 messages in English, German and Chinese, and code: the index of words must cost less than
/// a fifth of what they cost without it.
#[tokio::test]
async fn the_index_of_words_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut random = StdRng::seed_from_u64(7);
    let mut distinct = |text: &'static str| {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words.sort_unstable();
        words.dedup();
        words.shuffle(&mut random);
        words
    };
    let english = distinct(include_str!("../../../../../docs/dev/architecture.md"));
    let german = distinct(include_str!("../../../../../po/de.po"));
    let code: Vec<&str> = include_str!("../../../src/store/sessions.rs").lines().collect();
    let characters: Vec<String> =
        ('\u{4E00}'..'\u{5600}').map(|character| character.to_string()).collect();
    let chinese: Vec<&str> = characters.iter().map(String::as_str).collect();
    let mut random = StdRng::seed_from_u64(8);
    for _ in 0..40 {
        let mut messages = Vec::new();
        for n in 0..50 {
            let count = if n % 2 == 0 { 30 } else { random.random_range(50..400) };
            let text = match n / 2 % 4 {
                0 => babble(&english, " ", count, &mut random),
                1 => babble(&german, " ", count, &mut random),
                2 => babble(&chinese, "", count, &mut random),
                _ => {
                    let from = random.random_range(0..code.len() - 40);
                    code[from..from + count / 10].join("\n")
                }
            };
            let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
            messages.push(std::sync::Arc::new(Message::text(role, None, text)));
        }
        store.create(titled("made up"), messages).await.unwrap();
    }
    drop(store);
    let raw = raw(folder.path());
    let size = |of: &str| -> i64 {
        let sql = format!("SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name GLOB '{of}'");
        raw.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let (all, words, parts) = (size("*"), size("word_index*"), size("text_index*"));
    let ratio = all as f64 / (all - words) as f64;
    println!("{all} bytes: {words} for words, {parts} for parts, {ratio:.2} times as much");
    assert!(words > 0 && ratio < 1.2, "{ratio:.2}");
}
