//! Stores the messages that wait until their session is free.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::columns;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use crate::message::{Content, Context, MessageId, Queued};

/// What is kept of a message that waits. Earlier versions kept no context.
#[derive(Serialize, Deserialize)]
struct QueuedContent {
    #[serde(flatten)]
    content: Content,
    #[serde(default)]
    context: Context,
}

/// Keeps a waiting message, behind those that wait already.
pub(super) fn put(db: &DbHandle, session: i64, queued: &Queued) -> Outcome<()> {
    let Queued { id, content, mut context } = queued.clone();
    // What has a name that is no text cannot be kept; the person's words can.
    context.open_files.retain(|file| file.path.to_str().is_some());
    context.mentions.retain(|mention| serde_json::to_value(mention).is_ok());
    let kept = QueuedContent { content, context };
    db.run(
        "INSERT INTO waiting (session, id, content) VALUES (?1, ?2, ?3)",
        params![session, id.as_bytes(), columns::json(Some(&kept))?],
    )?;
    Ok(())
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
        if let Ok(QueuedContent { content, context }) = serde_json::from_str(&kept) {
            waiting.push(Queued { id: MessageId::from_bytes(id), content, context });
        }
    }
    Ok(waiting)
}
