//! Changes the rows of sessions.

use jiff::Timestamp;
use rusqlite::{ToSql, params};

use super::columns::{self, nanoseconds, word};
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::record::{SessionPatch, SessionRecord};
use super::sessions::{key, one};
use crate::message::{Fid, MessageId};

/// Changes a session's row and gives the result.
pub(super) fn patch(db: &DbHandle, fid: &Fid, patch: &SessionPatch) -> Outcome<SessionRecord> {
    // Answers "not found" for deleted ones as well.
    one(db, fid)?;
    let key = key(db, fid)?;
    if let Some((title, by_person)) = &patch.title {
        db.run(
            "UPDATE sessions SET title = ?2, titled_by_person = ?3 \
             WHERE key = ?1 AND (?3 OR NOT titled_by_person)",
            params![key, title, by_person],
        )?;
    }
    let set = |name: &str, value: &dyn ToSql| {
        db.run(&format!("UPDATE sessions SET {name} = ?2 WHERE key = ?1"), params![key, value])
    };
    let change = &patch.change;
    if let Some(agent) = &change.agent {
        set("agent", agent)?;
    }
    if let Some(model) = &change.model {
        set("connection", &model.connection)?;
        set("model", &model.model)?;
    }
    if let Some(thinking) = &change.thinking {
        set("thinking", &word(thinking)?)?;
    }
    if let Some(options) = &change.options {
        set("options", &columns::options(options)?)?;
    }
    if let Some(instructions) = &change.instructions {
        set("instructions", instructions)?;
    }
    if let Some(project) = &change.project {
        set("project", &columns::path(project.as_deref()))?;
    }
    if let Some(mode) = &change.mode {
        set("mode", &word(mode)?)?;
    }
    if let Some(rules) = &patch.rules {
        set("rules", &columns::rules(rules)?)?;
    }
    if let Some(head) = &patch.head {
        set("head", &head.as_ref().map(MessageId::as_bytes))?;
    }
    if let Some(unread) = patch.unread {
        set("unread", &unread)?;
    }
    let now = nanoseconds(Timestamp::now());
    // Which was pinned or archived first stays known where that is said again.
    for (name, mark) in [("pinned", patch.pinned), ("archived", patch.archived)] {
        let Some(mark) = mark else { continue };
        let sql = format!(
            "UPDATE sessions SET {name} = CASE WHEN ?3 THEN coalesce({name}, ?2) END WHERE key = ?1"
        );
        db.run(&sql, params![key, now, mark])?;
    }
    if let Some(closed) = patch.closed {
        set("closed", &closed.then_some(true))?;
    }
    one(db, fid)
}
