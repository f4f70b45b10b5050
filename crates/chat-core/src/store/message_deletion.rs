//! Deletes single messages and branches of a session, takes that back in any order, and purges them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;

use super::branches::{Branches, DeletedLinks};
use super::columns::nanoseconds;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{Store, messages, sessions};
use crate::error::{Kind, Result};
use crate::message::{Compaction, DeleteScope, DeletedMessages, Fid, Message, MessageId, Role};

impl Store {
    /// Marks messages of a claimed session deleted; they stay until they are purged. What follows them is shown
    /// after what stands before them. Summaries of them are deleted with them.
    ///
    /// # Errors
    /// `NothingToSend` where there is no such message, `SessionInUse`, and the store's.
    pub async fn delete_messages(
        &self,
        fid: &Fid,
        message: MessageId,
        scope: DeleteScope,
    ) -> Result<DeletedMessages> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| delete(db, &fid, message, scope)).await
    }

    /// Takes a deletion of messages back.
    ///
    /// # Errors
    /// `SessionInUse`, and the store's.
    pub async fn restore_messages(&self, fid: &Fid, deleted: DeletedMessages) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| restore(db, &fid, &deleted)).await
    }

    /// The same as [`append`](Self::append), in place of a message that nothing follows: that is removed for good.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub async fn append_instead(
        &self,
        fid: &Fid,
        messages: Vec<Arc<Message>>,
        head: MessageId,
        replaced: MessageId,
    ) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid)
            .write(move |db| {
                super::append(db, &fid, &messages, head)?;
                remove_last(db, &fid, replaced)
            })
            .await
    }

    /// Removes messages for good that were deleted longer ago than `age`.
    pub async fn purge_messages(&self, age: Duration) -> Result<()> {
        if self.inner.writer.is_none() {
            return Ok(());
        }
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let before = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
        self.write(move |db| purge(db, nanoseconds(before))).await
    }
}

fn delete(
    db: &DbHandle,
    fid: &Fid,
    message: MessageId,
    scope: DeleteScope,
) -> Outcome<DeletedMessages> {
    let session = sessions::own(db, fid, false)?;
    let tree = Branches::read(db, fid)?;
    if !tree.has(message) {
        return Err(Kind::NothingToSend.into());
    }
    let first = tree.first_of_reply(message);
    let of_user = |id| tree.role(id) == Some(Role::User);
    let mut gone = match scope {
        // What is said after it stays.
        DeleteScope::Message => tree.below(first, of_user),
        DeleteScope::Branch => tree.below(first, |_| false),
    };
    gone.extend(outdated_markers(db, session, &tree, &gone)?);
    let now = nanoseconds(Timestamp::now());
    for id in &gone {
        let key = key_of(db, session, *id)?;
        db.run("UPDATE messages SET deleted = ?2 WHERE key = ?1", params![key, now])?;
        messages::unindex(db, key)?;
    }
    let head = tree.head();
    let new_head = match head {
        Some(end) if gone.contains(&end) => next_head(&tree, &Branches::read(db, fid)?, first, end),
        head => head,
    };
    set_head(db, session, new_head)?;
    let shown = gone.iter().filter(|id| match tree.role(**id) {
        Some(Role::User) => true,
        Some(Role::Assistant | Role::Tool) => tree.first_of_reply(**id) == **id,
        _ => false,
    });
    Ok(DeletedMessages { shown: shown.count(), messages: gone, head, new_head })
}

/// The markers of a shortened history that stand for deleted messages: a summary would go on telling
/// the model what they said.
fn outdated_markers(
    db: &DbHandle,
    session: i64,
    tree: &Branches,
    gone: &[MessageId],
) -> Outcome<Vec<MessageId>> {
    let gone: HashSet<_> = gone.iter().copied().collect();
    let is_outdated = |compaction: &Compaction| {
        let upto = compaction.upto;
        gone.contains(&upto)
            || (compaction.summary.is_some()
                && tree.nearest_above(upto, |id| gone.contains(&id)).is_some())
    };
    let mut statement = db.connection.prepare_cached(
        "SELECT id, parts FROM messages WHERE session = ?1 AND role = 'ui' AND deleted IS NULL",
    )?;
    let mut rows = statement.query([session])?;
    let mut outdated = Vec::new();
    while let Some(row) = rows.next()? {
        let id = MessageId::from_bytes(row.get(0)?);
        let parts = row.get_ref(1)?.as_str().unwrap_or_default();
        if !gone.contains(&id) && messages::compactions(parts).iter().any(is_outdated) {
            outdated.push(id);
        }
    }
    Ok(outdated)
}

/// Where the branch ends that is shown in place of one that ended at `end`, after `first` was deleted:
/// what is left of it; else the newest alternative, what followed on another branch, or what stands
/// before it.
fn next_head(
    before: &Branches,
    after: &Branches,
    first: MessageId,
    end: MessageId,
) -> Option<MessageId> {
    let above = before.parent(first);
    let left = before.nearest_above(end, |id| after.has(id));
    if left != above {
        return left;
    }
    let was_there = |id: &&MessageId| before.children(above).contains(*id);
    let is_alternative = |id: &&MessageId| was_there(id) && after.role(**id) == before.role(first);
    let following = after.children(above).iter();
    let next = following
        .clone()
        .rfind(is_alternative)
        .or_else(|| { following }.rfind(|id| !was_there(id)));
    next.map(|id| after.newest_below(*id)).or(above)
}

fn restore(db: &DbHandle, fid: &Fid, deleted: &DeletedMessages) -> Outcome<()> {
    let session = sessions::own(db, fid, false)?;
    for id in &deleted.messages {
        let key = key_of(db, session, *id)?;
        db.run("UPDATE messages SET deleted = NULL WHERE key = ?1", [key])?;
        messages::reindex(db, key)?;
    }
    keep_deleted_what_tells_of_deleted(db, session, &deleted.messages)?;
    let tree = Branches::read(db, fid)?;
    let first = deleted.messages.first();
    if deleted.head.is_some() && tree.head() == deleted.new_head {
        let end = DeletedLinks::read(db, session)?.live(deleted.head);
        return set_head(db, session, end);
    }
    // Whoever brings messages back from the trash wants to see them.
    if deleted.head.is_none() {
        let end = first.and_then(|first| tree.end_of(*first));
        return end.map_or(Ok(()), |end| set_head(db, session, Some(end)));
    }
    // Something may have been said or deleted since then: what follows the end of the shown branch is shown again.
    if let Some(first) = first.filter(|first| tree.parent(**first) == tree.head()) {
        let was_end = deleted.head.filter(|end| deleted.messages.contains(end) && tree.has(*end));
        set_head(db, session, Some(was_end.unwrap_or_else(|| tree.newest_below(*first))))?;
    }
    Ok(())
}

/// Deletes those of restored messages again that sum up what is still deleted.
fn keep_deleted_what_tells_of_deleted(
    db: &DbHandle,
    session: i64,
    restored: &[MessageId],
) -> Outcome<()> {
    const MARKER: &str =
        "SELECT key, parts FROM messages WHERE id = ?1 AND session = ?2 AND role = 'ui'";
    const TELLS: &str = "WITH RECURSIVE told(id) AS (VALUES (?1) UNION \
        SELECT m.parent FROM told JOIN messages m ON m.id = told.id WHERE m.parent IS NOT NULL) \
        SELECT 1 FROM told JOIN messages m ON m.id = told.id WHERE m.deleted IS NOT NULL LIMIT 1";
    for id in restored {
        let marker = db.find(MARKER, params![id.as_bytes(), session], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        let Some((key, parts)) = marker else { continue };
        let compactions = messages::compactions(&parts);
        for compaction in compactions.iter().filter(|compaction| compaction.summary.is_some()) {
            if db.find(TELLS, [compaction.upto.as_bytes()], |_| Ok(()))?.is_some() {
                let now = nanoseconds(Timestamp::now());
                db.run("UPDATE messages SET deleted = ?2 WHERE key = ?1", params![key, now])?;
            }
        }
    }
    Ok(())
}

/// Removes messages that were deleted until `before`, in nanoseconds.
fn purge(db: &DbHandle, before: i64) -> Outcome<()> {
    let mut statement = db
        .connection
        .prepare_cached("SELECT DISTINCT session FROM messages WHERE deleted <= ?1")?;
    let found = statement.query_map([before], |row| row.get(0))?;
    for session in found.collect::<std::result::Result<Vec<i64>, _>>()? {
        close_gaps(db, session, &DeletedLinks::until(db, session, before)?)?;
    }
    db.run("DELETE FROM messages WHERE deleted <= ?1", [before])?;
    Ok(())
}

/// What follows messages that are about to be removed keeps its place for good.
pub(super) fn close_gaps(db: &DbHandle, session: i64, gone: &DeletedLinks) -> Outcome<()> {
    let mut statement = db.connection.prepare_cached(
        "SELECT key, parent FROM messages WHERE session = ?1 AND parent IS NOT NULL",
    )?;
    let links = statement
        .query_map([session], |row| Ok((row.get(0)?, MessageId::from_bytes(row.get(1)?))))?;
    for (key, parent) in links.collect::<std::result::Result<Vec<(i64, _)>, _>>()? {
        if gone.has(parent) {
            set_parent(db, key, gone.live(Some(parent)))?;
        }
    }
    Ok(())
}

/// Removes a message for good, unless another one follows it, deleted or not.
fn remove_last(db: &DbHandle, fid: &Fid, message: MessageId) -> Outcome<()> {
    const FOLLOWED: &str = "SELECT 1 FROM messages WHERE session = ?1 AND parent = ?2 LIMIT 1";
    let session = sessions::key(db, fid)?;
    if db.find(FOLLOWED, params![session, message.as_bytes()], |_| Ok(()))?.is_none() {
        // The store may have refused it.
        let sql = "SELECT key FROM messages WHERE id = ?1 AND session = ?2";
        let key = db.find(sql, params![message.as_bytes(), session], |row| row.get::<_, i64>(0))?;
        if let Some(key) = key {
            messages::unindex(db, key)?;
            db.run("DELETE FROM messages WHERE key = ?1", [key])?;
        }
    }
    Ok(())
}

fn key_of(db: &DbHandle, session: i64, id: MessageId) -> Outcome<i64> {
    let sql = "SELECT key FROM messages WHERE id = ?1 AND session = ?2";
    let key = db.find(sql, params![id.as_bytes(), session], |row| row.get(0))?;
    Ok(key.ok_or(Kind::NothingToSend)?)
}

fn set_parent(db: &DbHandle, key: i64, parent: Option<MessageId>) -> Outcome<()> {
    let parent = parent.as_ref().map(MessageId::as_bytes);
    db.run("UPDATE messages SET parent = ?2 WHERE key = ?1", params![key, parent])?;
    Ok(())
}

fn set_head(db: &DbHandle, session: i64, head: Option<MessageId>) -> Outcome<()> {
    let head = head.as_ref().map(MessageId::as_bytes);
    db.run("UPDATE sessions SET head = ?2 WHERE key = ?1", params![session, head])?;
    Ok(())
}
