//! Databases of other versions of the program.

use std::fs;

use chat_core::error::Kind;
use chat_core::message::{Ending, Fid, Part, Role};
use chat_core::settings::Folders;
use chat_core::store::Store;

use super::{open, texts, titled, user};

/// All tables and indexes as SQLite knows them.
fn tables(folder: &std::path::Path) -> Vec<(String, String)> {
    let raw = rusqlite::Connection::open(folder.join("data/natter.db")).unwrap();
    let mut statement =
        raw.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_database_of_version_1_opens() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let old = rusqlite::Connection::open(folder.path().join("data/natter.db")).unwrap();
    old.execute_batch(include_str!("../../fixtures/store/v1.sql")).unwrap();
    drop(old);

    let store = open(folder.path());
    let new = tempfile::tempdir().unwrap();
    drop(open(new.path()));
    assert_eq!(tables(folder.path()), tables(new.path()), "what was released is never changed");
    let sessions = store.sessions().await.unwrap();
    let fids: Vec<_> = sessions.iter().map(|s| s.fid.as_str()).collect();
    assert_eq!(fids, ["2026-01-15-14-30-45-2", "2026-01-15-14-30-45"]);
    let titles: Vec<_> = sessions.iter().map(|s| s.title.as_str()).collect();
    assert_eq!(titles, ["Interrupted", "Sorting in Rust"]);
    assert_eq!(sessions[1].model.as_ref().unwrap().to_string(), "local/qwen3:8b");
    assert_eq!(sessions[1].options.temperature, Some(0.5));
    assert!(sessions[1].titled_by_person && sessions[1].unread);
    let page = store.page(&sessions[1].fid, None, 9).await.unwrap();
    assert_eq!(page.messages[0].role, Role::User);
    assert_eq!(page.messages[1].plain_text(), "Use `sort_unstable`.");
    assert!(matches!(&page.messages[1].parts[0], Part::Thinking { text, .. } if text == "easy"));
    assert_eq!(page.messages[1].usage.as_ref().unwrap().completion_tokens, Some(7));

    assert_eq!(store.waiting(&sessions[1].fid).await.unwrap()[0].content.text, "And then?");

    let interrupted = Fid::new("2026-01-15-14-30-45-2");
    assert_eq!(store.recover().await.unwrap(), std::slice::from_ref(&interrupted));
    assert_eq!(texts(&store, &interrupted).await, ["Go on", "half an answer"]);
    let ended = store.page(&interrupted, None, 1).await.unwrap().messages[0].ended;
    assert_eq!(ended, Some(Ending::Interrupted));
    assert_eq!(store.search("sort_unst", 9).await.unwrap().hits.len(), 1);
    assert_eq!(store.search("ting in Ru", 9).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn a_newer_database_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("of today"), vec![user(None, "x")]).await.unwrap();
    drop(store);
    let path = folder.path().join("data/natter.db");
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);

    let files = || -> Vec<_> {
        let mut files: Vec<_> = fs::read_dir(folder.path().join("data"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (fs::read(&path).unwrap_or_default(), path))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let opened = Store::open(&Folders::below(folder.path()));
    assert_eq!(opened.unwrap_err().kind, Kind::DatabaseNewer { version: 99 });
    assert!(files() == before, "something was touched");
}

#[tokio::test]
async fn a_newer_version_that_stands_in_the_log_alone_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let path = folder.path().join("data/natter.db");
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    // Still open: nothing has been brought from the log into the file.
    let opened = Store::open(&Folders::below(folder.path()));
    assert_eq!(opened.unwrap_err().kind, Kind::DatabaseNewer { version: 99 });
    let version: u32 = newer.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}
