//! Rebuilds what follows from the rows: the links between messages, the pictures that they need, and
//! the search indexes.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::copy::insert_placeholder;
use crate::error::{Kind, MissingMessages};
use crate::message::MessageId;
use crate::store::columns::{instant, json};
use crate::store::fault::Outcome;
use crate::store::messages;
use crate::store::survey::or_damage;
use crate::store::words;

/// How long the title of a chat is that lost its own, in characters.
const TITLE: usize = 60;

/// Gives chats that lost their rows new ones, and puts placeholders where messages are missing.
/// Names the chats that lack messages.
pub(super) fn links(new: &Connection, old: Option<&Connection>) -> Outcome<Vec<MissingMessages>> {
    sessions(new, old)?;
    placeholders(new)?;
    let known = old.map(keys_by_session).transpose()?.unwrap_or_default();
    name_missing(new, &known)
}

/// Rows for chats of which only messages are left.
fn sessions(new: &Connection, old: Option<&Connection>) -> Outcome<()> {
    let orphans: Vec<(i64, i64, i64)> = {
        let mut statement = new.prepare(
            "SELECT session, min(time), max(time) FROM messages \
             WHERE session NOT IN (SELECT key FROM sessions) GROUP BY session",
        )?;
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    let fids = old.map(fids).transpose()?.unwrap_or_default();
    for (session, begun, last) in orphans {
        let begun_at = instant(begun).to_zoned(jiff::tz::TimeZone::system());
        let base = begun_at.strftime("%Y-%m-%d-%H-%M-%S").to_string();
        let names = (1_u32..).map(|n| if n == 1 { base.clone() } else { format!("{base}-{n}") });
        let mut names = fids.get(&session).cloned().into_iter().chain(names);
        let fid = loop {
            let Some(name) = names.next() else { return Err(Kind::Internal.into()) };
            let sql = "SELECT 1 FROM sessions WHERE fid = ?1";
            if new.query_row(sql, [&name], |_| Ok(())).optional()?.is_none() {
                break name;
            }
        };
        let title = first_words(new, session)?.unwrap_or_else(|| fid.clone());
        new.execute(
            "INSERT INTO sessions (key, fid, title, titled_by_person, agent, thinking, head, unread, \
             created, updated) VALUES (?1, ?2, ?3, 0, ?4, ?5, \
             (SELECT id FROM messages WHERE session = ?1 AND deleted IS NULL ORDER BY key DESC LIMIT 1), \
             0, ?6, ?7)",
            params![
                session,
                fid,
                title,
                "just-ask",
                crate::store::columns::word(&crate::message::Thinking::default())?,
                begun,
                last
            ],
        )?;
    }
    Ok(())
}

/// The ids of chats by their keys, from the index: it may know what the table has lost.
pub(super) fn fids(old: &Connection) -> Outcome<HashMap<i64, String>> {
    let mut fids = HashMap::new();
    let sql = "SELECT key, fid FROM sessions INDEXED BY sqlite_autoindex_sessions_1";
    or_damage((|| {
        let mut statement = old.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            fids.insert(row.get(0)?, row.get(1)?);
        }
        Ok(())
    })())?;
    Ok(fids)
}

/// How a chat begins, as a title.
fn first_words(new: &Connection, session: i64) -> Outcome<Option<String>> {
    let sql = "SELECT parts FROM messages WHERE session = ?1 AND role = 'user' AND deleted IS NULL \
         ORDER BY key LIMIT 1";
    let parts: Option<String> = new.query_row(sql, [session], |row| row.get(0)).optional()?;
    let text = parts.and_then(|parts| messages::spoken(&parts).ok()).unwrap_or_default();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok((!words.is_empty()).then(|| words.chars().take(TITLE).collect()))
}

/// A message that says it is missing wherever one is answered, or shown, that is not there.
fn placeholders(new: &Connection) -> Outcome<()> {
    let missing: Vec<([u8; 16], i64, i64)> = {
        let mut statement = new.prepare(
            "SELECT parent, session, min(key) FROM messages m WHERE parent IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM messages p WHERE p.id = m.parent) GROUP BY parent \
             UNION ALL SELECT head, key, 9223372036854775807 FROM sessions s \
             WHERE head IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages p WHERE p.id = s.head)",
        )?;
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    for (id, session, below) in missing {
        let sql = "SELECT id FROM messages WHERE session = ?1 AND key < ?2 AND id != ?3 \
                   ORDER BY key DESC LIMIT 1";
        let parent: Option<[u8; 16]> = new
            .prepare_cached(sql)?
            .query_row(params![session, below, id], |row| row.get(0))
            .optional()?;
        let (id, parent) = (MessageId::from_bytes(id), parent.map(MessageId::from_bytes));
        insert_placeholder(new, None, session, id, parent, None)?;
    }
    Ok(())
}

/// Which messages a chat had, as the index knows that lists them by chat.
fn keys_by_session(old: &Connection) -> Outcome<BTreeMap<i64, HashSet<i64>>> {
    let mut keys: BTreeMap<i64, HashSet<i64>> = BTreeMap::new();
    or_damage((|| {
        let mut statement =
            old.prepare("SELECT session, key FROM messages INDEXED BY messages_by_session")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            keys.entry(row.get(0)?).or_default().insert(row.get(1)?);
        }
        Ok(())
    })())?;
    Ok(keys)
}

/// The chats that lack messages: as many as their placeholders stand for, or as the index knew.
fn name_missing(
    new: &Connection,
    known: &BTreeMap<i64, HashSet<i64>>,
) -> Outcome<Vec<MissingMessages>> {
    let damaged = json(Some(&crate::error::Error::new(Kind::MessageDamaged)))?;
    let mut missing = Vec::new();
    let mut sessions = new.prepare("SELECT key, title FROM sessions WHERE deleted IS NULL")?;
    let mut stand_ins =
        new.prepare("SELECT count(*) FROM messages WHERE session = ?1 AND error = ?2")?;
    let mut keys = new.prepare(
        "SELECT key FROM messages WHERE session = ?1 AND (error IS NULL OR error != ?2)",
    )?;
    let mut rows = sessions.query([])?;
    while let Some(row) = rows.next()? {
        let (session, title): (i64, String) = (row.get(0)?, row.get(1)?);
        let stand_ins: i64 = stand_ins.query_row(params![session, damaged], |row| row.get(0))?;
        let there: HashSet<i64> = keys
            .query_map(params![session, damaged], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let of_index = known.get(&session).map_or(0, |known| known.difference(&there).count());
        let count = u32::try_from(stand_ins).unwrap_or(u32::MAX).max(of_index as u32);
        if count > 0 {
            missing.push(MissingMessages { title, count });
        }
    }
    Ok(missing)
}

/// Which pictures messages need, as their parts say.
pub(super) fn attachments(new: &Connection) -> Outcome<()> {
    let mut insert =
        new.prepare("INSERT OR IGNORE INTO attachments (message, hash) VALUES (?1, ?2)")?;
    let mut statement =
        new.prepare("SELECT key, parts FROM messages WHERE instr(parts, '\"picture\"') > 0")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        for hash in messages::pictures(row.get_ref(1)?.as_str().unwrap_or_default()) {
            insert.execute(params![key, hash])?;
        }
    }
    Ok(())
}

/// Builds the search indexes.
pub(super) fn indexes(new: &Connection) -> Outcome<()> {
    let mut parts = new.prepare("INSERT INTO text_index (rowid, text) VALUES (?1, ?2)")?;
    let mut whole = new.prepare("INSERT INTO word_index (rowid, words) VALUES (?1, ?2)")?;
    let mut statement = new.prepare(
        "SELECT key, parts FROM messages WHERE ended IS NOT NULL AND deleted IS NULL \
         AND role IN ('user', 'assistant')",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        let text = messages::spoken(row.get_ref(1)?.as_str().unwrap_or_default());
        let text = text.unwrap_or_default();
        whole.execute(params![key, words::of_text(&text)])?;
        parts.execute(params![key, text])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema::{MIGRATIONS, migrate};

    #[test]
    fn no_search_finds_a_deleted_message_after_a_repair() {
        let mut new = Connection::open_in_memory().unwrap();
        migrate(&mut new, MIGRATIONS).unwrap();
        new.execute_batch(
            "INSERT INTO sessions (key, fid, title, titled_by_person, agent, thinking, unread, created, \
             updated) VALUES (1, 'chat', '', 0, 'just-ask', 'habit', 0, 1, 1)",
        )
        .unwrap();
        let sql = "INSERT INTO messages (key, id, session, role, parts, time, ended, deleted) VALUES \
                   (?1, randomblob(16), 1, 'user', ?2, 1, 'complete', ?3)";
        for (key, word, deleted) in [(1, "kept", None), (2, "deleted", Some(5))] {
            let parts = serde_json::json!([{ "type": "text", "value": word }]).to_string();
            new.execute(sql, params![key, parts, deleted]).unwrap();
        }
        indexes(&new).unwrap();
        let found = |index: &str, word: &str| -> bool {
            let sql = format!("SELECT count(*) > 0 FROM {index} WHERE {index} MATCH ?1");
            new.query_row(&sql, [word], |row| row.get(0)).unwrap()
        };
        for index in ["text_index", "word_index"] {
            assert!(found(index, "kept"), "{index}");
            assert!(!found(index, "deleted"), "{index}");
        }
    }
}
