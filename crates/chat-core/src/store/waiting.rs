//! Stores the messages that wait until their session is free or a step of its reply is over.

use std::sync::Arc;

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{Store, columns, journal, messages, sessions};
use crate::error::Result;
use crate::message::{Content, Context, Delivery, Fid, Message, MessageId, Queued};

/// What is kept of a message that waits. Earlier versions kept neither context nor delivery.
#[derive(Serialize, Deserialize)]
struct QueuedContent {
    #[serde(flatten)]
    content: Content,
    #[serde(default)]
    context: Context,
    #[serde(default, skip_serializing_if = "is_default")]
    delivery: Delivery,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_default(delivery: &Delivery) -> bool {
    *delivery == Delivery::default()
}

/// Where a message stands among those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingPlace {
    /// Before all others.
    First,
    /// Before this one. Where that does not wait, nothing moves.
    Before(MessageId),
    /// After all others.
    Last,
}

impl Store {
    /// Keeps a message that must wait, before all others. Durable when it returns.
    pub async fn enqueue_first(&self, fid: &Fid, queued: Queued) -> Result<()> {
        self.enqueue_at(fid, queued, WaitingPlace::First).await
    }

    /// Keeps a message that must wait, at this place; last where that is before one that does not
    /// wait. Durable when it returns.
    pub async fn enqueue_at(&self, fid: &Fid, queued: Queued, place: WaitingPlace) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid)
            .write(move |db| {
                let session = sessions::key(db, &fid)?;
                put(db, session, &queued)?;
                move_to(db, session, queued.id, place).map(drop)
            })
            .await
    }

    /// Changes what a waiting message says. Says whether it waited still.
    pub async fn edit_waiting(&self, queued: Queued) -> Result<bool> {
        for store in self.all() {
            let queued = queued.clone();
            let edit = move |db: &DbHandle| {
                let kept = kept(&queued)?;
                let sql = "UPDATE waiting SET content = ?2 WHERE id = ?1";
                Ok(db.run(sql, params![queued.id.as_bytes(), kept])? > 0)
            };
            if store.write(edit).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives a waiting message another place. Says whether it waited still.
    pub async fn move_waiting(
        &self,
        fid: &Fid,
        id: MessageId,
        place: WaitingPlace,
    ) -> Result<bool> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| move_to(db, sessions::key(db, &fid)?, id, place)).await
    }

    /// The same as [`append`](Self::append) with messages that waited and wait no longer. Where one of
    /// them does not wait any more, because another process sent it or took it back, nothing is added,
    /// and the answer is no.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub async fn append_waiting(
        &self,
        fid: &Fid,
        messages: Vec<Arc<Message>>,
        head: MessageId,
        waiting: Vec<MessageId>,
    ) -> Result<bool> {
        let fid = fid.clone();
        self.of(&fid)
            .write(move |db| {
                for id in &waiting {
                    if !waits(db, *id)? {
                        return Ok(false);
                    }
                }
                for id in &waiting {
                    remove(db, *id)?;
                }
                super::append(db, &fid, &messages, head)?;
                Ok(true)
            })
            .await
    }

    /// Takes messages back that were appended right before a reply that has begun: they wait again,
    /// before all others, and `reply` begins instead, where they had stood. All that wait in the session
    /// do so for the end of its request.
    ///
    /// # Errors
    /// As [`append`](Self::append); `Internal` where that reply is not being written.
    pub async fn take_back(
        &self,
        fid: &Fid,
        begun: &Message,
        waiting: Vec<Queued>,
        reply: Arc<Message>,
    ) -> Result<()> {
        let (fid, begun, parent) = (fid.clone(), begun.id, begun.parent);
        self.of(&fid)
            .write(move |db| {
                let session = sessions::key(db, &fid)?;
                journal::withdraw(db, session, begun, parent)?;
                for queued in waiting.iter().rev() {
                    messages::remove(db, session, queued.id)?;
                    put(db, session, queued)?;
                    move_to(db, session, queued.id, WaitingPlace::First)?;
                }
                let sql = "UPDATE waiting SET content = json_set(content, '$.delivery', ?2) \
                       WHERE session = ?1 AND json_valid(content)";
                db.run(sql, params![session, columns::word(&Delivery::Queue)?])?;
                super::append(db, &fid, std::slice::from_ref(&reply), reply.id)
            })
            .await
    }
}

/// Keeps a waiting message, behind those that wait already.
pub(super) fn put(db: &DbHandle, session: i64, queued: &Queued) -> Outcome<()> {
    db.run(
        "INSERT INTO waiting (session, id, content) VALUES (?1, ?2, ?3)",
        params![session, queued.id.as_bytes(), kept(queued)?],
    )?;
    Ok(())
}

/// A waiting message as it is in the column.
fn kept(queued: &Queued) -> Outcome<Option<String>> {
    let Queued { content, mut context, delivery, .. } = queued.clone();
    // What has a name that is no text cannot be kept; the person's words can.
    context.open_files.retain(|file| file.path.to_str().is_some());
    context.mentions.retain(|mention| serde_json::to_value(mention).is_ok());
    columns::json(Some(&QueuedContent { content, context, delivery }))
}

fn waits(db: &DbHandle, id: MessageId) -> Outcome<bool> {
    let found = db.find("SELECT 1 FROM waiting WHERE id = ?1", [id.as_bytes()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Gives a waiting message another place. Says whether it waited.
fn move_to(db: &DbHandle, session: i64, id: MessageId, place: WaitingPlace) -> Outcome<bool> {
    let waiting: Vec<(i64, [u8; 16])> = {
        let sql = "SELECT key, id FROM waiting WHERE session = ?1 ORDER BY key";
        let mut statement = db.connection.prepare_cached(sql)?;
        let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    let (keys, mut ids): (Vec<_>, Vec<_>) = waiting.into_iter().unzip();
    let position = |ids: &[[u8; 16]], id: MessageId| ids.iter().position(|it| it == id.as_bytes());
    let Some(from) = position(&ids, id) else { return Ok(false) };
    let moved = ids.remove(from);
    let to = match place {
        WaitingPlace::First => Some(0),
        WaitingPlace::Before(other) => position(&ids, other),
        WaitingPlace::Last => Some(ids.len()),
    };
    ids.insert(to.unwrap_or(from), moved);
    if to.is_none_or(|to| to == from) {
        return Ok(true);
    }
    // Out of the way first: no two may have the same key in between.
    db.run("UPDATE waiting SET key = -key WHERE session = ?1", [session])?;
    for (key, id) in keys.iter().zip(&ids) {
        db.run("UPDATE waiting SET key = ?2 WHERE id = ?1", params![id, key])?;
    }
    Ok(true)
}

/// Forgets a waiting message: it was taken back, or it is a message of the transcript now. Says
/// whether it waited: another process may have been first.
pub(super) fn remove(db: &DbHandle, id: MessageId) -> Outcome<bool> {
    Ok(db.run("DELETE FROM waiting WHERE id = ?1", [id.as_bytes()])? > 0)
}

/// What waits, in order. What cannot be read is left out: the rest is still worth having.
pub(super) fn all(db: &DbHandle, session: i64) -> Outcome<Vec<Queued>> {
    let mut statement = db
        .connection
        .prepare_cached("SELECT id, content FROM waiting WHERE session = ?1 ORDER BY key")?;
    let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut waiting = Vec::new();
    for row in rows {
        let (id, kept) = row?;
        if let Ok(QueuedContent { content, context, delivery }) = serde_json::from_str(&kept) {
            waiting.push(Queued { id: MessageId::from_bytes(id), content, context, delivery });
        }
    }
    Ok(waiting)
}
