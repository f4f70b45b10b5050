//! Restores from a backup what damaged pages have lost, but nothing that the user deleted since.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::Lost;
use super::copy::{Row, common_columns};
use super::rebuild;
use crate::store::fault::Outcome;
use crate::store::survey::{or_damage, survey};

/// Adds what is lost and stands in the backup. Says whether there was any.
pub(super) fn missing(
    backup: &Connection,
    new: &Connection,
    old: Option<&Connection>,
    lost: &Lost,
) -> Outcome<bool> {
    let mut any = false;
    let traces = Traces::of(old, new, lost)?;
    for key in keys(backup, "sessions")? {
        let is_other = traces.is_other(key, &fid(backup, key)?.unwrap_or_default());
        if !lost.sessions.lost(key) || traces.is_gone(key) || is_other || fid(new, key)?.is_some() {
            continue;
        }
        any |= row(backup, new, "sessions")?.copy(backup, new, key)?;
        if let Some(deleted) = traces.deleted.get(&key) {
            let sql = "UPDATE sessions SET deleted = ?2 WHERE key = ?1";
            new.execute(sql, params![key, deleted])?;
        }
    }
    for table in ["messages", "waiting"] {
        let lost = if table == "messages" { &lost.messages } else { &lost.waiting };
        let row = row(backup, new, table)?;
        for key in keys(backup, table)? {
            if !lost.lost(key) {
                continue;
            }
            let sql = format!("SELECT session, id FROM {table} WHERE key = ?1");
            let (session, id): (i64, [u8; 16]) =
                backup.query_row(&sql, [key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            // The chat may be gone since, and its key another's.
            let theirs = fid(backup, session)?.unwrap_or_default();
            let known = match fid(new, session)? {
                Some(ours) => ours == theirs,
                None => traces.sessions.contains(&session) && !traces.is_other(session, &theirs),
            };
            if known && is_free(new, table, key, &id)? {
                any |= row.copy(backup, new, key)?;
            }
        }
    }
    journal(backup, new)?;
    Ok(any)
}

fn row(backup: &Connection, new: &Connection, table: &str) -> Outcome<Row> {
    Ok(Row::new(table, &common_columns(backup, new, table)?.unwrap_or_default()))
}

fn keys(connection: &Connection, table: &str) -> Outcome<Vec<i64>> {
    Ok(survey(connection, table)?.keys)
}

/// The id of the chat of this key. Keys are used again, ids are not.
fn fid(connection: &Connection, key: i64) -> Outcome<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT fid FROM sessions WHERE key = ?1")?;
    Ok(statement.query_row([key], |row| row.get(0)).optional()?)
}

/// Whether a row may stand under this key: none does, or the placeholder of just this message.
fn is_free(new: &Connection, table: &str, key: i64, id: &[u8; 16]) -> Outcome<bool> {
    let sql = format!("SELECT id FROM {table} WHERE key = ?1");
    let there: Option<[u8; 16]> =
        new.prepare_cached(&sql)?.query_row([key], |row| row.get(0)).optional()?;
    Ok(there.is_none_or(|there| there == *id))
}

/// What the damaged database still has of chats whose rows are lost.
#[derive(Default)]
struct Traces {
    /// Whether all messages could be read, so that a chat without any is gone for good.
    messages_are_whole: bool,
    /// The chats that have messages or waiting ones.
    sessions: HashSet<i64>,
    /// When a chat was deleted, by its key.
    deleted: HashMap<i64, i64>,
    /// The ids of chats by their keys, as far as they are known.
    fids: HashMap<i64, String>,
}

impl Traces {
    fn of(old: Option<&Connection>, new: &Connection, lost: &Lost) -> Outcome<Self> {
        let Some(old) = old else { return Ok(Self::default()) };
        let mut traces = Self {
            messages_are_whole: lost.messages.lost.is_empty(),
            fids: rebuild::fids(old)?,
            ..Self::default()
        };
        let mut collect = |connection: &Connection, sql: &str| -> Outcome<()> {
            or_damage((|| {
                let mut statement = connection.prepare(sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    traces.sessions.insert(row.get(0)?);
                }
                Ok(())
            })())?;
            Ok(())
        };
        collect(new, "SELECT DISTINCT session FROM messages")?;
        collect(old, "SELECT DISTINCT session FROM messages INDEXED BY messages_by_session")?;
        or_damage((|| {
            let mut statement = old.prepare(
                "SELECT key, deleted FROM sessions INDEXED BY sessions_deleted \
                 WHERE deleted IS NOT NULL",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                traces.deleted.insert(row.get(0)?, row.get(1)?);
            }
            Ok(())
        })())?;
        Ok(traces)
    }

    /// Whether another chat than that of this id is known to have this key.
    fn is_other(&self, session: i64, fid: &str) -> bool {
        self.fids.get(&session).is_some_and(|known| known != fid)
    }

    /// Whether a chat is known to be gone for good.
    fn is_gone(&self, session: i64) -> bool {
        self.messages_are_whole && !self.sessions.contains(&session)
    }
}

/// What had arrived of replies that were being written when the backup was made.
fn journal(backup: &Connection, new: &Connection) -> Outcome<()> {
    let open: Vec<i64> = {
        let sql = "SELECT key FROM messages WHERE ended IS NULL \
                   AND key NOT IN (SELECT message FROM journal)";
        let mut statement = new.prepare(sql)?;
        statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
    };
    let mut read =
        backup.prepare("SELECT seq, part, kind, text FROM journal WHERE message = ?1")?;
    let mut insert = new.prepare(
        "INSERT OR IGNORE INTO journal (message, seq, part, kind, text) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for message in open {
        let mut rows = read.query([message])?;
        while let Some(row) = rows.next()? {
            let (seq, part): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (kind, text): (String, String) = (row.get(2)?, row.get(3)?);
            insert.execute(params![message, seq, part, kind, text])?;
        }
    }
    Ok(())
}
