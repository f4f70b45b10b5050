//! Reads chats of which pages are damaged: what cannot be read stands as a missing message in its
//! place, and all the rest as it is. Slow where no index is trusted; that is only done once reading the
//! usual way has failed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Row, params};

use super::branches::DeletedLinks;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::messages;
use super::owner::Living;
use super::record::{Page, SessionRecord};
use super::sessions;
use super::survey::{or_damage, survey};
use crate::error::Kind;
use crate::message::{Ending, Fid, Message, MessageId, Role};

/// What stands where a message was that cannot be read.
pub(super) fn placeholder(id: MessageId, parent: Option<MessageId>, role: Option<Role>) -> Message {
    Message {
        id,
        parent,
        // Results of tools are not shown by themselves; a lost one is a call without a result.
        role: if role == Some(Role::Tool) { Role::Tool } else { Role::Assistant },
        parts: Vec::new(),
        time: time_of(id),
        ended: Some(Ending::Failed),
        error: Some(Kind::MessageDamaged.into()),
        model: None,
        usage: None,
        continues: None,
    }
}

/// When an id was made: a UUID of version 7 has the time in it.
fn time_of(id: MessageId) -> Timestamp {
    let bytes = id.as_bytes();
    let milliseconds = bytes[..6].iter().fold(0_i64, |all, byte| all << 8 | i64::from(*byte));
    let version_7 = bytes[6] >> 4 == 7;
    let time = version_7.then(|| Timestamp::from_millisecond(milliseconds).ok()).flatten();
    time.unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Does something the usual way, and where the file is damaged, the other.
pub(super) fn or_else<T>(
    db: &DbHandle,
    usual: impl FnOnce() -> Outcome<T>,
    damaged: impl FnOnce() -> Outcome<T>,
) -> Outcome<T> {
    match usual() {
        Err(fault) if fault.is_damage() => {
            db.paths.suspect();
            damaged()
        }
        done => done,
    }
}

/// The sessions that can be read, newest first.
pub(super) fn newest(db: &DbHandle, limit: usize) -> Outcome<Vec<SessionRecord>> {
    let mut living = Living::new(&db.paths.owners);
    let mut found = Vec::new();
    for key in survey(&db.connection, "sessions")?.keys {
        match sessions::readable(db, key, &mut living) {
            Ok(Some(record)) => found.push((record.updated, key, record)),
            Ok(None) => {}
            Err(fault) if fault.is_damage() => {}
            Err(fault) => return Err(fault),
        }
    }
    found.sort_unstable_by_key(|(updated, key, _)| std::cmp::Reverse((*updated, *key)));
    found.truncate(limit);
    Ok(found.into_iter().map(|(_, _, record)| record).collect())
}

/// The key of a session, found without an index.
pub(super) fn session_key(db: &DbHandle, fid: &Fid) -> Outcome<i64> {
    let mut statement =
        db.connection.prepare_cached("SELECT fid FROM sessions NOT INDEXED WHERE key = ?1")?;
    for key in survey(&db.connection, "sessions")?.keys {
        let found = statement.query_row([key], |row| row.get::<_, String>(0));
        if found.is_ok_and(|found| found == fid.as_str()) {
            return Ok(key);
        }
    }
    Err(sessions::not_found(fid).into())
}

/// A message's row as far as it can be found without reading its content.
pub(super) struct MessageRow {
    key: i64,
    pub(super) id: MessageId,
    parent: Option<MessageId>,
    role: Option<Role>,
}

impl MessageRow {
    /// All of them stand before the content.
    const COLUMNS: &str = "key, id, parent, role";

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get(0)?,
            id: MessageId::from_bytes(row.get(1)?),
            parent: row.get::<_, Option<[u8; 16]>>(2)?.map(MessageId::from_bytes),
            role: super::columns::read_word(row.get_ref(3)?.as_str().unwrap_or_default()),
        })
    }
}

/// The messages of a session that are not deleted, in the order in which they were stored.
pub(super) fn rows(db: &DbHandle, session: i64) -> Outcome<Vec<MessageRow>> {
    let by_index = || {
        let columns = MessageRow::COLUMNS;
        let sql = format!(
            "SELECT {columns} FROM messages WHERE session = ?1 AND deleted IS NULL ORDER BY key"
        );
        let mut statement = db.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([session], MessageRow::of)?;
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
    };
    let damaged = || {
        let mut rows = message_rows(db, session)?;
        // In a row this stands behind the content.
        let sql = "SELECT key FROM messages INDEXED BY messages_deleted WHERE deleted IS NOT NULL";
        let mut statement = db.connection.prepare_cached(sql)?;
        let deleted = statement.query_map([], |row| row.get(0))?.collect();
        let deleted: Vec<i64> = or_damage(deleted)?.unwrap_or_default();
        for key in deleted {
            rows.remove(&key);
        }
        Ok(rows.into_values().collect())
    };
    or_else(db, by_index, damaged)
}

/// The messages of a session that can be found, by their keys.
fn message_rows(db: &DbHandle, session: i64) -> Outcome<BTreeMap<i64, MessageRow>> {
    let columns = MessageRow::COLUMNS;
    let mut statement = db.connection.prepare_cached(&format!(
        "SELECT {columns} FROM messages NOT INDEXED WHERE key = ?1 AND session = ?2"
    ))?;
    let mut found = BTreeMap::new();
    for key in survey(&db.connection, "messages")?.keys {
        if let Ok(row) = statement.query_row(params![key, session], MessageRow::of) {
            found.insert(key, row);
        }
    }
    Ok(found)
}

/// A page of a session's shown branch, as [`messages::page`] gives it.
pub(super) fn page(
    db: &DbHandle,
    fid: &Fid,
    before: Option<MessageId>,
    limit: usize,
) -> Outcome<Page> {
    let (session, written) = sessions::key_and_writer(db, fid)?;
    let by_key = message_rows(db, session)?;
    let by_id: HashMap<MessageId, i64> = by_key.values().map(|p| (p.id, p.key)).collect();
    let deleted = DeletedLinks::read(db, session)?;
    let last_of = |below: i64| {
        let ids = by_key.range(..below).rev().map(|(_, row)| row.id);
        { ids }.find(|id| !deleted.has(*id))
    };
    let head = || -> Outcome<Option<MessageId>> {
        let sql = "SELECT head FROM sessions NOT INDEXED WHERE key = ?1";
        let head = or_damage(db.connection.query_row(sql, [session], |row| {
            Ok(row.get::<_, Option<[u8; 16]>>(0)?.map(MessageId::from_bytes))
        }))?;
        Ok(head.unwrap_or_else(|| last_of(i64::MAX)))
    };
    // Walked from the head on, also for an earlier page: only so it is known in which place a
    // message is that cannot be found.
    let mut next = head()?;
    let mut below = i64::MAX;
    let mut skipping = before;
    let mut messages = Vec::new();
    let mut seen = HashSet::new();
    while let Some(id) = next
        && (messages.len() < limit || skipping.is_some())
        && seen.insert(id)
    {
        let message = if let Some(key) = by_id.get(&id) {
            below = *key;
            let row = &by_key[key];
            next = deleted.live(row.parent);
            if skipping.is_some() {
                None
            } else {
                Some(Message { parent: next, ..read(db, row, written)? })
            }
        } else {
            next = last_of(below);
            Some(placeholder(id, next, None))
        };
        match skipping {
            Some(last) if last == id => skipping = None,
            Some(_) => {}
            None => messages.extend(message.map(Arc::new)),
        }
    }
    messages.reverse();
    Ok(Page { messages, more: next.is_some_and(|id| !seen.contains(&id)) })
}

/// A message; where it cannot be read, what stands in its place.
pub(super) fn read(db: &DbHandle, row: &MessageRow, written: bool) -> Outcome<Message> {
    let message = or_else(db, || messages::one(db, row.key, written), || Ok(None))?;
    Ok(message.unwrap_or_else(|| placeholder(row.id, row.parent, row.role)))
}
