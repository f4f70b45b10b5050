//! Deletes single messages and branches of a session, and takes that back.

use std::collections::HashSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;

use super::branches::Branches;
use super::columns::nanoseconds;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{Store, messages, sessions};
use crate::error::{Kind, Result};
use crate::message::{DeleteScope, DeletedMessages, Fid, MessageId, Role};

impl Store {
    /// Marks messages of a claimed session deleted; they stay until they are purged.
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
        self.write(move |db| delete(db, &fid, message, scope)).await
    }

    /// Takes a deletion of messages back.
    ///
    /// # Errors
    /// `SessionInUse`, and the store's.
    pub async fn restore_messages(&self, fid: &Fid, deleted: DeletedMessages) -> Result<()> {
        let fid = fid.clone();
        self.write(move |db| restore(db, &fid, &deleted)).await
    }

    /// Removes messages for good that were deleted longer ago than `age`.
    pub async fn purge_messages(&self, age: Duration) -> Result<()> {
        if self.inner.writer.is_none() {
            return Ok(());
        }
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let before = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
        self.write(move |db| {
            db.run("DELETE FROM messages WHERE deleted <= ?1", [nanoseconds(before)])?;
            Ok(())
        })
        .await
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
    let gone = match scope {
        // What is said after it stays.
        DeleteScope::Message => tree.below(first, of_user),
        DeleteScope::Branch => tree.below(first, |_| false),
    };
    let all: HashSet<_> = gone.iter().copied().collect();
    let above = tree.parent(first);
    let mut moved = Vec::new();
    for id in gone.iter().flat_map(|id| tree.children(Some(*id))) {
        if !all.contains(id) {
            moved.push((*id, tree.parent(*id)));
        }
    }
    let head = tree.head();
    let is_gone = head.is_some_and(|head| all.contains(&head));
    let new_head = if is_gone { next_head(&tree, first, &all) } else { head };
    let now = nanoseconds(Timestamp::now());
    for id in &gone {
        let key = key_of(db, session, *id)?;
        db.run("UPDATE messages SET deleted = ?2 WHERE key = ?1", params![key, now])?;
        messages::unindex(db, key)?;
    }
    for (id, _) in &moved {
        set_parent(db, *id, above)?;
    }
    set_head(db, session, new_head)?;
    Ok(DeletedMessages { messages: gone, moved, head, new_head })
}

/// Where the branch ends that is shown in place of one that is deleted from `first` on: the newest
/// alternative, or what stands before it.
fn next_head(tree: &Branches, first: MessageId, gone: &HashSet<MessageId>) -> Option<MessageId> {
    let above = tree.parent(first);
    let is_alternative =
        |id: &&MessageId| !gone.contains(id) && tree.role(**id) == tree.role(first);
    let alternative = tree.children(above).iter().rfind(is_alternative);
    alternative.map(|id| tree.newest_below(*id)).or(above)
}

fn restore(db: &DbHandle, fid: &Fid, deleted: &DeletedMessages) -> Outcome<()> {
    let session = sessions::own(db, fid, false)?;
    for id in &deleted.messages {
        let key = key_of(db, session, *id)?;
        db.run("UPDATE messages SET deleted = NULL WHERE key = ?1", [key])?;
        messages::reindex(db, key)?;
    }
    for (id, parent) in &deleted.moved {
        set_parent(db, *id, *parent)?;
    }
    let head = Branches::read(db, fid)?.head();
    // Something may have been said since then.
    if head == deleted.new_head {
        set_head(db, session, deleted.head)?;
    }
    Ok(())
}

fn key_of(db: &DbHandle, session: i64, id: MessageId) -> Outcome<i64> {
    let sql = "SELECT key FROM messages WHERE id = ?1 AND session = ?2";
    let key = db.find(sql, params![id.as_bytes(), session], |row| row.get(0))?;
    Ok(key.ok_or(Kind::NothingToSend)?)
}

fn set_parent(db: &DbHandle, id: MessageId, parent: Option<MessageId>) -> Outcome<()> {
    let parent = parent.as_ref().map(MessageId::as_bytes);
    db.run("UPDATE messages SET parent = ?2 WHERE id = ?1", params![id.as_bytes(), parent])?;
    Ok(())
}

fn set_head(db: &DbHandle, session: i64, head: Option<MessageId>) -> Outcome<()> {
    let head = head.as_ref().map(MessageId::as_bytes);
    db.run("UPDATE sessions SET head = ?2 WHERE key = ?1", params![session, head])?;
    Ok(())
}
