//! Reads and writes the rows of messages, and walks from a head back to the root.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::branches::DeletedLinks;
use super::columns::{self, instant, json, nanoseconds, word};
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::record::Page;
use super::{attachments, indexing, journal, missing, owed_reports, sessions};
use crate::error::{Error, Kind};
use crate::message::{Compaction, Fid, Message, MessageId, ModelRef, Part, Role};

/// A part as it is in the column: unchanged, except pictures.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPart<'a> {
    Picture { picture: Cow<'a, str>, mime: Cow<'a, str> },
    Part(Cow<'a, Part>),
}

/// A part of which the text alone is read.
#[derive(Deserialize)]
struct SpokenPart<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

/// Adds a message to a session. Whole ones are indexed. The reports that it carries are owed no more.
pub(super) fn insert(db: &DbHandle, session: i64, message: &Message) -> Outcome<()> {
    insert_foreign(db, session, message)?;
    owed_reports::settle(db, message)
}

/// The same of a message that comes from elsewhere: the reports that it carries are nobody's here.
pub(super) fn insert_foreign(db: &DbHandle, session: i64, message: &Message) -> Outcome<()> {
    db.run(
        "INSERT INTO messages (id, session, parent, role, parts, time, ended, error, connection, \
         model, usage, continues) VALUES (?1, ?2, ?3, ?4, '[]', ?5, NULL, NULL, ?6, ?7, NULL, ?8)",
        params![
            message.id.as_bytes(),
            session,
            message.parent.as_ref().map(MessageId::as_bytes),
            word(&message.role)?,
            nanoseconds(message.time),
            message.model.as_ref().map(|m| &m.connection),
            message.model.as_ref().map(|m| &m.model),
            message.continues.as_ref().map(MessageId::as_bytes),
        ],
    )?;
    store_content(db, db.connection.last_insert_rowid(), message)
}

/// Stores what a message has become, and indexes it if it ended.
pub(super) fn store_content(db: &DbHandle, key: i64, message: &Message) -> Outcome<()> {
    let mut parts = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        parts.push(match part {
            Part::Image { mime, data } => {
                let hash = attachments::name(data);
                attachments::keep(db, key, &hash, data)?;
                StoredPart::Picture { picture: hash.into(), mime: mime.into() }
            }
            part => StoredPart::Part(Cow::Borrowed(part)),
        });
    }
    db.run(
        "UPDATE messages SET parts = ?2, ended = ?3, error = ?4, usage = ?5, connection = ?6, \
         model = ?7 WHERE key = ?1",
        params![
            key,
            serde_json::to_string(&parts)?,
            message.ended.as_ref().map(word).transpose()?,
            json(message.error.as_ref())?,
            json(message.usage.as_ref())?,
            message.model.as_ref().map(|m| &m.connection),
            message.model.as_ref().map(|m| &m.model),
        ],
    )?;
    let spoken = matches!(message.role, Role::User | Role::Assistant);
    if message.ended.is_some() && spoken {
        // A damaged index is built again at the next start: no message waits for that.
        missing::or_else(db, || index(db, key, &message.plain_text()), || Ok(()))?;
    }
    Ok(())
}

/// Takes a message out of a session, which nothing follows.
pub(super) fn remove(db: &DbHandle, session: i64, id: MessageId) -> Outcome<()> {
    let sql = "SELECT key FROM messages WHERE id = ?1 AND session = ?2";
    let found = db.find(sql, params![id.as_bytes(), session], |row| row.get(0))?;
    let Some(key) = found else { return Ok(()) };
    let key: i64 = key;
    unindex(db, key)?;
    db.run("DELETE FROM messages WHERE key = ?1", [key])?;
    Ok(())
}

/// Has no search find a message.
pub(super) fn unindex(db: &DbHandle, key: i64) -> Outcome<()> {
    let forget = || {
        db.run("DELETE FROM text_index WHERE rowid = ?1", [key])?;
        db.run("DELETE FROM word_index WHERE rowid = ?1", [key])?;
        Ok(())
    };
    missing::or_else(db, forget, || Ok(()))
}

/// Has searches find a message again.
pub(super) fn reindex(db: &DbHandle, key: i64) -> Outcome<()> {
    let sql = "SELECT parts FROM messages WHERE key = ?1 AND ended IS NOT NULL \
               AND role IN ('user', 'assistant')";
    let parts = db.find(sql, [key], |row| row.get::<_, String>(0))?;
    let Some(parts) = parts else { return Ok(()) };
    let text = spoken(&parts).unwrap_or_default();
    missing::or_else(db, || index(db, key, &text), || Ok(()))
}

fn index(db: &DbHandle, key: i64, text: &str) -> Outcome<()> {
    db.run("DELETE FROM text_index WHERE rowid = ?1", [key])?;
    db.run("INSERT INTO text_index (rowid, text) VALUES (?1, ?2)", params![key, text])?;
    indexing::index(db, key, text)
}

/// The columns that [`read`] takes, in its order.
pub(super) const COLUMNS: &str =
    "key, id, parent, role, parts, time, ended, error, connection, model, usage, continues";

/// Reads a message, a reply being written with what its journal holds.
pub(super) fn read(db: &DbHandle, row: &Row<'_>) -> Outcome<Message> {
    let id = MessageId::from_bytes(row.get(1)?);
    let text = |column| row.get::<_, Option<String>>(column);
    let mut error = text(7)?.and_then(|json| serde_json::from_str(&json).ok());
    let parent = row.get::<_, Option<[u8; 16]>>(2)?.map(MessageId::from_bytes);
    let role = columns::read_word(row.get_ref(3)?.as_str().unwrap_or_default());
    let parts = match read_parts(db, row.get_ref(4)?.as_str().unwrap_or_default()) {
        Ok(parts) => parts,
        // One broken row does not hide the rest of the chat.
        Err(fault) => {
            tracing::error!("message {id} cannot be read");
            if is_damage(&fault) {
                db.paths.suspect();
                return Ok(missing::placeholder(id, parent, role));
            }
            let detail = "the stored message cannot be read";
            error = Some(Error::new(Kind::Storage).with_detail(detail));
            Vec::new()
        }
    };
    let mut message = Message {
        id,
        parent,
        role: role.unwrap_or(Role::Ui),
        parts,
        time: instant(row.get(5)?),
        ended: text(6)?.as_deref().and_then(columns::read_word),
        error,
        model: text(8)?.zip(text(9)?).map(|(c, m)| ModelRef::new(c, m)),
        usage: text(10)?.and_then(|json| serde_json::from_str(&json).ok()),
        continues: row.get::<_, Option<[u8; 16]>>(11)?.map(MessageId::from_bytes),
    };
    if message.ended.is_none() {
        let (key, parts) = (row.get(0)?, &mut message.parts);
        missing::or_else(db, || journal::complete(db, key, parts), || Ok(()))?;
    }
    Ok(message)
}

/// Whether stored JSON was overwritten by something else, and is not just unknown to this version.
pub(super) fn is_damage(error: &serde_json::Error) -> bool {
    use serde_json::error::Category;
    matches!(error.classify(), Category::Syntax | Category::Eof)
}

/// A message by its key. `written`: whether a living process writes in its session.
pub(super) fn one(db: &DbHandle, key: i64, written: bool) -> Outcome<Option<Message>> {
    let mut statement = db
        .connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM messages NOT INDEXED WHERE key = ?1"))?;
    let mut rows = statement.query([key])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut message = read(db, row)?;
    if !written && message.ended.is_none() {
        // Its writer is dead, and nobody has recovered it yet.
        journal::broken_off(&mut message);
    }
    Ok(Some(message))
}

fn read_parts(db: &DbHandle, json: &str) -> serde_json::Result<Vec<Part>> {
    let stored: Vec<StoredPart<'_>> = serde_json::from_str(json)?;
    let part = |stored| match stored {
        StoredPart::Picture { picture, mime } => {
            Part::Image { mime: mime.into_owned(), data: attachments::read(db, &picture) }
        }
        StoredPart::Part(part) => part.into_owned(),
    };
    Ok(stored.into_iter().map(part).collect())
}

/// A message and its [text](Message::plain_text), of its stored parts alone: pictures are not read.
/// None where there is none or it cannot be read.
pub(super) fn plain_text(db: &DbHandle, key: i64) -> Outcome<Option<(MessageId, String)>> {
    db.find("SELECT id, parts FROM messages WHERE key = ?1", [key], |row| {
        let text = spoken(row.get_ref(1)?.as_str().unwrap_or_default()).ok();
        Ok(text.zip(row.get(0).ok()).map(|(text, id)| (MessageId::from_bytes(id), text)))
    })
    .map(Option::flatten)
}

/// Whether stored parts are JSON from their beginning to their end.
pub(super) fn is_whole(json: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok()
}

/// The hashes of the pictures among stored parts.
pub(super) fn pictures(json: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct Picture {
        picture: Option<String>,
    }
    let parts: Vec<Picture> = serde_json::from_str(json).unwrap_or_default();
    parts.into_iter().filter_map(|part| part.picture).collect()
}

/// What stored parts say that goes out in the place of earlier messages.
pub(super) fn compactions(json: &str) -> Vec<Compaction> {
    let parts: Vec<StoredPart<'_>> = serde_json::from_str(json).unwrap_or_default();
    let compaction = |part| match part {
        StoredPart::Part(part) => match part.into_owned() {
            Part::Compaction(compaction) => Some(compaction),
            _ => None,
        },
        StoredPart::Picture { .. } => None,
    };
    parts.into_iter().filter_map(compaction).collect()
}

/// The text among stored parts.
pub(super) fn spoken(json: &str) -> serde_json::Result<String> {
    let parts: Vec<SpokenPart<'_>> = serde_json::from_str(json)?;
    let texts = parts.into_iter().filter(|part| part.kind.as_deref() == Some("text"));
    texts
        .filter_map(|part| part.value)
        .map(|text| serde_json::from_str::<String>(text.get()))
        .collect()
}

/// The `limit` messages of the shown branch before `before`, or the last ones. Takes as long as
/// these take: the chat's length does not matter. What cannot be read stands there as missing.
pub(super) fn page(
    db: &DbHandle,
    fid: &Fid,
    before: Option<MessageId>,
    limit: usize,
) -> Outcome<Page> {
    missing::or_else(
        db,
        || page_by_index(db, fid, before, limit),
        || missing::page(db, fid, before, limit),
    )
}

fn page_by_index(
    db: &DbHandle,
    fid: &Fid,
    before: Option<MessageId>,
    limit: usize,
) -> Outcome<Page> {
    let (session, written) = sessions::key_and_writer(db, fid)?;
    let link = |sql, params: &[&dyn rusqlite::ToSql]| -> Outcome<Option<MessageId>> {
        let found = db.find(sql, params, |row| row.get::<_, Option<[u8; 16]>>(0))?;
        Ok(found.flatten().map(MessageId::from_bytes))
    };
    let deleted = DeletedLinks::read(db, session)?;
    let mut next = match before {
        None => link("SELECT head FROM sessions WHERE key = ?1", &[&session])?,
        Some(before) => deleted.live(link(
            "SELECT parent FROM messages WHERE id = ?1 AND session = ?2",
            &[before.as_bytes(), &session],
        )?),
    };
    let mut statement = db.connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM messages WHERE id = ?1 AND session = ?2"
    ))?;
    let mut messages = Vec::new();
    // A damaged file could hold a ring.
    let mut seen = HashSet::new();
    while let Some(id) = next
        && messages.len() < limit
        && seen.insert(id)
    {
        let mut rows = statement.query(params![id.as_bytes(), session])?;
        let Some(row) = rows.next()? else { break };
        let mut message = read(db, row)?;
        if !written && message.ended.is_none() {
            // Its writer is dead, and nobody has recovered it yet.
            journal::broken_off(&mut message);
        }
        message.parent = deleted.live(message.parent);
        next = message.parent;
        messages.push(Arc::new(message));
    }
    messages.reverse();
    Ok(Page { messages, more: next.is_some_and(|id| !seen.contains(&id)) })
}
