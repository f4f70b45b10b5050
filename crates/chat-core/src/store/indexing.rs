//! Brings the messages of an older database into the word index: the newest first, a few at a time,
//! each step a transaction that also notes how far it came. So it survives being killed, and two
//! programs that do it at once share the work.
//!
//! A step writes in the order of the keys: FTS5 begins another segment with each key that is lower
//! than the one before, and then spends its time merging them.

use rusqlite::params;

use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{messages, words};

/// The most messages of a step, and about how many bytes of them: no reply waits long for one.
const MESSAGES: usize = 200;
const BYTES: usize = 128 * 1024;

/// Whether there are messages that the index does not know yet.
pub(super) fn is_unfinished(db: &DbHandle) -> Outcome<bool> {
    Ok(db.find("SELECT 1 FROM unindexed", [], |_| Ok(()))?.is_some())
}

/// Puts the text of a message into the index, in place of what it was.
pub(super) fn index(db: &DbHandle, key: i64, text: &str) -> Outcome<()> {
    db.run("DELETE FROM word_index WHERE rowid = ?1", [key])?;
    let words = words::of_text(text);
    db.run("INSERT INTO word_index (rowid, words) VALUES (?1, ?2)", params![key, words])?;
    Ok(())
}

/// Indexes the next few messages. Says whether there are more.
pub(super) fn step(db: &DbHandle) -> Outcome<bool> {
    let below: Option<i64> = db.find("SELECT below FROM unindexed", [], |row| row.get(0))?;
    let Some(below) = below else { return Ok(false) };
    let mut statement = db.connection.prepare_cached(
        "SELECT key, iif(ended IS NOT NULL AND role IN ('user', 'assistant') AND deleted IS NULL, parts, NULL) \
         FROM messages WHERE key < ?1 ORDER BY key DESC",
    )?;
    let mut rows = statement.query([below])?;
    let mut texts = Vec::new();
    let (mut last, mut count, mut bytes) = (None, 0, 0);
    while count < MESSAGES
        && bytes < BYTES
        && let Some(row) = rows.next()?
    {
        let key = row.get(0)?;
        if let Some(parts) = row.get_ref(1)?.as_str_or_null().map_err(rusqlite::Error::from)? {
            texts.push((key, messages::spoken(parts).unwrap_or_default()));
            bytes += parts.len();
        }
        last = Some(key);
        count += 1;
    }
    for (key, text) in texts.iter().rev() {
        index(db, *key, text)?;
    }
    match last {
        Some(last) => db.run("UPDATE unindexed SET below = ?1", [last])?,
        None => db.run("DELETE FROM unindexed", [])?,
    };
    Ok(last.is_some())
}
