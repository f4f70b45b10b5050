//! Replies while they are written: what arrived is only ever appended, and becomes part of the
//! message's row once, at the end.

use rusqlite::params;

use super::columns::{self, word};
use super::desk::Desk;
use super::fault::Outcome;
use super::record::{Segment, SegmentKind};
use super::{messages, missing};
use crate::error::{Error, Kind};
use crate::message::thoughts::sort_thoughts;
use crate::message::{Ending, Fid, Message, MessageId, Part};

/// Appends what arrived.
pub(super) fn append(desk: &Desk, segments: &[Segment]) -> Outcome<()> {
    for segment in segments {
        let appended = desk.run(
            "INSERT INTO journal (message, seq, part, kind, text) \
             SELECT key, (SELECT coalesce(max(seq), 0) + 1 FROM journal WHERE message = key), \
             ?2, ?3, ?4 FROM messages WHERE id = ?1 AND ended IS NULL",
            params![
                segment.message.as_bytes(),
                segment.part as i64,
                word(&segment.kind)?,
                segment.text
            ],
        )?;
        if appended == 0 {
            return Err(unknown(segment.message).into());
        }
    }
    Ok(())
}

fn unknown(message: MessageId) -> Error {
    Error::new(Kind::Internal).with_detail(format!("no reply {message} is being written"))
}

/// Adds what the journal holds to the parts that the message began with.
pub(super) fn complete(desk: &Desk, key: i64, parts: &mut Vec<Part>) -> Outcome<()> {
    let mut statement = desk
        .connection
        .prepare_cached("SELECT part, kind, text FROM journal WHERE message = ?1 ORDER BY seq")?;
    let mut rows = statement.query([key])?;
    while let Some(row) = rows.next()? {
        let kind = columns::read_word(row.get_ref(1)?.as_str().unwrap_or_default());
        let text = row.get_ref(2)?.as_str().unwrap_or_default();
        add(parts, row.get::<_, i64>(0)? as usize, kind, text);
    }
    Ok(())
}

/// Adds a segment. What makes no sense is left out: the rest is still worth having.
fn add(parts: &mut Vec<Part>, at: usize, kind: Option<SegmentKind>, text: &str) {
    match (kind, parts.get_mut(at)) {
        (Some(SegmentKind::Text), Some(Part::Text(there)))
        | (Some(SegmentKind::Thinking), Some(Part::Thinking { text: there, .. })) => {
            there.push_str(text);
        }
        (Some(SegmentKind::Text), _) => parts.push(Part::Text(text.to_owned())),
        (Some(SegmentKind::Thinking), _) => {
            parts.push(Part::Thinking { text: text.to_owned(), took: None });
        }
        (Some(SegmentKind::ToolCall), _) => {
            if let Ok(call) = serde_json::from_str(text) {
                parts.push(Part::ToolCall(call));
            }
        }
        (None, _) => {}
    }
}

/// Ends a reply in its final form.
pub(super) fn fold(desk: &Desk, session: i64, message: &Message) -> Outcome<()> {
    let key = desk
        .find(
            "SELECT key FROM messages WHERE id = ?1 AND session = ?2",
            params![message.id.as_bytes(), session],
            |row| row.get(0),
        )?
        .ok_or_else(|| unknown(message.id))?;
    messages::store_content(desk, key, message)?;
    desk.run("DELETE FROM journal WHERE message = ?1", [key])?;
    Ok(())
}

/// Takes a reply that is being written out of a session; `parent` is its head again.
pub(super) fn withdraw(
    desk: &Desk,
    session: i64,
    reply: MessageId,
    parent: Option<MessageId>,
) -> Outcome<()> {
    desk.run(
        "UPDATE sessions SET head = ?3 WHERE key = ?1 AND head = ?2",
        params![session, reply.as_bytes(), parent.as_ref().map(MessageId::as_bytes)],
    )?;
    let gone = desk.run(
        "DELETE FROM messages WHERE session = ?1 AND id = ?2 AND ended IS NULL",
        params![session, reply.as_bytes()],
    )?;
    if gone == 0 { Err(unknown(reply).into()) } else { Ok(()) }
}

/// Ends a reply whose writer died.
pub(super) fn broken_off(message: &mut Message) {
    sort_thoughts(&mut message.parts);
    message.ended = Some(Ending::Interrupted);
}

/// Ends the unfinished replies of a session as interrupted, with what their journals hold, and
/// says whether there were any.
pub(super) fn interrupt(desk: &Desk, session: i64) -> Outcome<bool> {
    let unfinished: Vec<Message> = {
        let mut statement = desk.connection.prepare_cached(&format!(
            "SELECT {} FROM messages WHERE session = ?1 AND ended IS NULL",
            messages::COLUMNS
        ))?;
        let mut rows = statement.query([session])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let mut message = messages::read(desk, row)?;
            broken_off(&mut message);
            found.push(message);
        }
        found
    };
    for message in &unfinished {
        fold(desk, session, message)?;
    }
    Ok(!unfinished.is_empty())
}

/// Ends the unfinished replies of all sessions whose owners are dead, and frees these sessions.
/// Gives those that had any.
pub(super) fn recover(desk: &Desk) -> Outcome<Vec<Fid>> {
    let candidates: Vec<(i64, String, Option<String>)> = {
        let mut statement = desk.connection.prepare_cached(
            "SELECT key, fid, owner FROM sessions WHERE owner IS NOT NULL UNION \
             SELECT key, fid, owner FROM sessions \
             WHERE key IN (SELECT session FROM messages WHERE ended IS NULL)",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    let owners = &desk.places.owners;
    let mut living = super::owner::Living::new(owners);
    let mut recovered = Vec::new();
    for (key, fid, owner) in candidates {
        if owner.is_some_and(|owner| owner == owners.id() || living.elsewhere(&owner)) {
            continue;
        }
        let end = || {
            if interrupt(desk, key)? {
                recovered.push(Fid::new(fid));
            }
            desk.run("UPDATE sessions SET owner = NULL WHERE key = ?1", [key])?;
            Ok(())
        };
        // What is damaged in one chat does not keep the others waiting.
        missing::or_else(desk, end, || Ok(()))?;
    }
    Ok(recovered)
}
