//! Journals replies while they are written: what arrives is only ever appended, and becomes part of
//! the message's row once, at the end.

use std::fs;

use rusqlite::params;

use super::columns::{self, word};
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::record::{Segment, SegmentKind};
use super::{messages, missing};
use crate::error::{Error, Kind};
use crate::message::provider::forget_cut;
use crate::message::reasoning::split_reasoning;
use crate::message::{Ending, Fid, Message, MessageId, Part, Role, ToolCallId, ToolResult};

/// Appends what arrived.
pub(super) fn append(db: &DbHandle, segments: &[Segment]) -> Outcome<()> {
    for segment in segments {
        let appended = db.run(
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
pub(super) fn complete(db: &DbHandle, key: i64, parts: &mut Vec<Part>) -> Outcome<()> {
    let mut statement = db
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
            parts.push(Part::Thinking { text: text.to_owned(), took: None, provider: None });
        }
        (Some(SegmentKind::ToolCall), _) => {
            if let Ok(call) = serde_json::from_str(text) {
                parts.push(Part::ToolCall(call));
            }
        }
        (Some(SegmentKind::Provider), there) => {
            let Ok(data) = serde_json::from_str(text) else { return };
            match there {
                Some(Part::Thinking { provider, .. }) => *provider = Some(data),
                _ => parts.push(Part::Thinking {
                    text: String::new(),
                    took: None,
                    provider: Some(data),
                }),
            }
        }
        (None, _) => {}
    }
}

/// Ends a reply in its final form.
pub(super) fn fold(db: &DbHandle, session: i64, message: &Message) -> Outcome<()> {
    let key = db
        .find(
            "SELECT key FROM messages WHERE id = ?1 AND session = ?2",
            params![message.id.as_bytes(), session],
            |row| row.get(0),
        )?
        .ok_or_else(|| unknown(message.id))?;
    messages::store_content(db, key, message)?;
    db.run("DELETE FROM journal WHERE message = ?1", [key])?;
    Ok(())
}

/// Takes a reply that is being written out of a session; `parent` is its head again.
pub(super) fn withdraw(
    db: &DbHandle,
    session: i64,
    reply: MessageId,
    parent: Option<MessageId>,
) -> Outcome<()> {
    db.run(
        "UPDATE sessions SET head = ?3 WHERE key = ?1 AND head = ?2",
        params![session, reply.as_bytes(), parent.as_ref().map(MessageId::as_bytes)],
    )?;
    let gone = db.run(
        "DELETE FROM messages WHERE session = ?1 AND id = ?2 AND ended IS NULL",
        params![session, reply.as_bytes()],
    )?;
    if gone == 0 { Err(unknown(reply).into()) } else { Ok(()) }
}

/// Ends a reply whose writer died.
pub(super) fn broken_off(message: &mut Message) {
    split_reasoning(&mut message.parts);
    forget_cut(&mut message.parts);
    message.ended = Some(Ending::Interrupted);
}

/// Ends the unfinished replies of a session as interrupted, with what their journals hold, and
/// says whether there were any.
pub(super) fn interrupt(db: &DbHandle, session: i64) -> Outcome<bool> {
    let unfinished: Vec<Message> = {
        let mut statement = db.connection.prepare_cached(&format!(
            "SELECT {} FROM messages WHERE session = ?1 AND ended IS NULL",
            messages::COLUMNS
        ))?;
        let mut rows = statement.query([session])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let mut message = messages::read(db, row)?;
            broken_off(&mut message);
            found.push(message);
        }
        found
    };
    for message in &unfinished {
        fold(db, session, message)?;
    }
    if !unfinished.is_empty() {
        // Nobody has seen yet what became of them.
        db.run("UPDATE sessions SET unread = 1 WHERE key = ?1", [session])?;
    }
    Ok(!unfinished.is_empty())
}

/// Marks a round of tools that its process did not live to end: some call has no result, or nothing
/// followed the results. What a command had written until then becomes its result. Says whether there
/// was such a round.
pub(super) fn interrupt_round(db: &DbHandle, session: i64) -> Outcome<bool> {
    let branch = {
        let mut found: Vec<(i64, Message)> = Vec::new();
        let sql = "SELECT head FROM sessions WHERE key = ?1";
        let head = db.find(sql, [session], |row| row.get::<_, Option<[u8; 16]>>(0))?;
        let mut next = head.flatten();
        while let Some(id) = next {
            let sql = "SELECT key FROM messages WHERE id = ?1 AND session = ?2";
            let key: Option<i64> = db.find(sql, params![id, session], |row| row.get(0))?;
            let Some(key) = key else { break };
            if found.iter().any(|(known, _)| *known == key) {
                // A damaged file could hold a ring.
                break;
            }
            let Some(message) = messages::one(db, key, true)? else { break };
            next =
                message.parent.filter(|_| message.role != Role::Assistant).map(|p| *p.as_bytes());
            found.push((key, message));
        }
        found
    };
    // From the head up to the reply that called, with results in between alone.
    let Some(((reply_key, reply), later)) = branch.split_last() else { return Ok(false) };
    let is_round = reply.role == Role::Assistant
        && reply.ended == Some(Ending::Complete)
        && later.iter().all(|(_, message)| message.role == Role::Tool);
    if !is_round || reply.tool_calls().next().is_none() {
        return Ok(false);
    }
    let answered: Vec<_> = later.iter().flat_map(|(_, message)| results(message)).collect();
    let open: Vec<_> = reply.tool_calls().filter(|call| !answered.contains(&&call.id)).collect();
    set_interrupted(db, *reply_key)?;
    if let Some((head, _)) = later.first() {
        set_interrupted(db, *head)?;
    }
    // The newest output is this call's only where no other call of the reply can have written it.
    if let [call] = open[..]
        && answered.is_empty()
        && let Some(text) = leftover(db, session, reply.time)?
    {
        let parent = later.first().map_or(reply.id, |(_, head)| head.id);
        let result = Message {
            parts: vec![Part::ToolResult(ToolResult::to(call, text, true))],
            ended: Some(Ending::Interrupted),
            ..Message::text(Role::Tool, Some(parent), "")
        };
        messages::insert(db, session, &result)?;
        let sql = "UPDATE sessions SET head = ?2 WHERE key = ?1";
        db.run(sql, params![session, result.id.as_bytes()])?;
    }
    Ok(true)
}

fn results(message: &Message) -> impl Iterator<Item = &ToolCallId> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(&result.call),
        _ => None,
    })
}

fn set_interrupted(db: &DbHandle, key: i64) -> Outcome<()> {
    let ended = word(&Ending::Interrupted)?;
    db.run("UPDATE messages SET ended = ?2 WHERE key = ?1", params![key, ended])?;
    Ok(())
}

/// How much of a command's output is reported, in bytes from its end.
const LEFTOVER: usize = 8_000;

/// How far the clock of files may be behind.
const CLOCK: jiff::SignedDuration = jiff::SignedDuration::from_millis(20);

/// What the one command that ran had written, as far as it was kept: the newest output of the session,
/// where it is younger than the call.
fn leftover(db: &DbHandle, session: i64, called: jiff::Timestamp) -> Outcome<Option<String>> {
    let sql = "SELECT fid FROM sessions WHERE key = ?1";
    let Some(fid) = db.find(sql, [session], |row| row.get::<_, String>(0))? else {
        return Ok(None);
    };
    let entries = fs::read_dir(db.paths.outputs.join(fid)).into_iter().flatten().flatten();
    let written = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let modified = jiff::Timestamp::try_from(metadata.modified().ok()?).ok()?;
        (modified >= called.saturating_sub(CLOCK).ok()? && metadata.len() > 0)
            .then_some((modified, entry.path()))
    });
    let Some((_, path)) = written.max() else { return Ok(None) };
    let Ok(bytes) = fs::read(&path) else { return Ok(None) };
    let tail = &bytes[bytes.len().saturating_sub(LEFTOVER)..];
    let text = String::from_utf8_lossy(tail);
    Ok(Some(format!(
        "Natter quit while this was running, so the result is unknown. Output until then:\n{text}"
    )))
}

/// Ends the unfinished replies of all sessions whose owners are dead, and frees these sessions.
/// Gives those that had any.
pub(super) fn recover(db: &DbHandle) -> Outcome<Vec<Fid>> {
    let candidates: Vec<(i64, String, Option<String>)> = {
        let mut statement = db.connection.prepare_cached(
            "SELECT key, fid, owner FROM sessions WHERE owner IS NOT NULL UNION \
             SELECT key, fid, owner FROM sessions \
             WHERE key IN (SELECT session FROM messages WHERE ended IS NULL)",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    let owners = &db.paths.owners;
    let mut living = super::owner::Living::new(owners);
    let mut recovered = Vec::new();
    for (key, fid, owner) in candidates {
        if owner.as_ref().is_some_and(|owner| owner == owners.id() || living.elsewhere(owner)) {
            continue;
        }
        // Who gave a session up had nothing left to do in it.
        let owned = owner.is_some();
        let end = || {
            let in_round = owned && interrupt_round(db, key)?;
            if interrupt(db, key)? || in_round {
                recovered.push(Fid::new(fid));
            }
            db.run("UPDATE sessions SET owner = NULL WHERE key = ?1", [key])?;
            Ok(())
        };
        // What is damaged in one chat does not keep the others waiting.
        missing::or_else(db, end, || Ok(()))?;
    }
    Ok(recovered)
}
