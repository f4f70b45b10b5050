//! Takes over sessions from exports.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::params;

use super::columns::{self, nanoseconds};
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::record::{NewSession, SessionRecord};
use super::{Store, messages, sessions};
use crate::error::Result;
use crate::message::{Fid, Message, MessageId, SessionMeta};

/// Where a session comes from, to tell whether it is there already.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImportSource {
    /// The program and the chat's id in it: `chatgpt:6a1b…`.
    pub id: String,
    /// Of Natter's own what it was called and when it began: it may be there under its first id. That alone does not tell
    /// it from another machine's.
    pub own: Option<(Fid, Timestamp)>,
}

/// A session to be taken over.
#[derive(Clone, Debug, PartialEq)]
pub struct NewImport {
    /// Where it comes from.
    pub source: ImportSource,
    /// What is told of it, with its times; its id is the store's to choose.
    pub meta: SessionMeta,
    /// The last message of the shown branch.
    pub head: Option<MessageId>,
    /// All its messages, with ids that nobody else has.
    pub messages: Vec<Message>,
}

impl Store {
    /// Takes over a session in one commit, with its times as they are. It is nobody's agent and claimed by nobody, and
    /// works in its folder only where another session does so already. None where it is there already and not deleted.
    ///
    /// # Errors
    /// The store's.
    pub async fn import(&self, new: NewImport) -> Result<Option<SessionRecord>> {
        self.write(move |db| import(db, &new)).await
    }

    /// Which of these are there already and not deleted, in the same order.
    ///
    /// # Errors
    /// The store's.
    pub async fn imported(&self, sources: Vec<ImportSource>) -> Result<Vec<bool>> {
        self.read(move |db| sources.iter().map(|source| is_there(db, source)).collect()).await
    }
}

fn is_there(db: &DbHandle, source: &ImportSource) -> Outcome<bool> {
    let sql = "SELECT 1 FROM sessions WHERE (imported_from = ?1 OR fid = ?2) \
               AND (?3 IS NULL OR created = ?3) AND deleted IS NULL";
    let (fid, begun) = source.own.as_ref().map(|(fid, begun)| (fid.as_str(), *begun)).unzip();
    let found = db.find(sql, params![source.id, fid, begun.map(nanoseconds)], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Whether a session works in this folder.
fn is_worked_in(db: &DbHandle, project: &Path) -> Outcome<bool> {
    let sql = "SELECT 1 FROM sessions WHERE project = ?1";
    Ok(db.find(sql, [columns::path(Some(project))], |_| Ok(()))?.is_some())
}

fn import(db: &DbHandle, new: &NewImport) -> Outcome<Option<SessionRecord>> {
    if is_there(db, &new.source)? {
        return Ok(None);
    }
    let NewImport { source, meta, head, messages } = new;
    let mut meta = meta.clone();
    // Tools read in a project without asking: only the user says in which folders.
    if let Some(project) = &meta.project
        && !is_worked_in(db, project)?
    {
        meta.project = None;
    }
    let session = NewSession { meta: meta.clone(), ..NewSession::default() };
    let (key, fid) = sessions::insert(db, &session, meta.created)?;
    for message in messages {
        messages::insert_foreign(db, key, message)?;
    }
    db.run(
        "UPDATE sessions SET imported_from = ?2, updated = ?3, head = ?4, pinned = ?5, archived = ?6 \
         WHERE key = ?1",
        params![
            key,
            source.id,
            nanoseconds(meta.updated),
            head.as_ref().map(MessageId::as_bytes),
            meta.pinned.map(nanoseconds),
            meta.archived.map(nanoseconds),
        ],
    )?;
    sessions::mark_titled(db, key)?;
    sessions::release(db, &fid)?;
    sessions::one(db, &fid).map(Some)
}
