//! Deletes sessions, takes deletions back, and removes for good what was deleted long ago.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;

use super::columns::nanoseconds;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::owner::Living;
use super::record::SessionRecord;
use super::sessions::{key, one};
use super::{Store, agent_tree, attachments, missing};
use crate::error::{Kind, Result};
use crate::message::Fid;

impl Store {
    /// Marks a session deleted, and all that work for it; [`restore`](Self::restore) takes that back until it is
    /// purged. Gives those that were not deleted before.
    ///
    /// # Errors
    /// `SessionInUse` where another living process writes in one of them: none is deleted then;
    /// `SessionNotFound`, and the store's.
    pub async fn delete(&self, fid: &Fid) -> Result<Vec<Fid>> {
        let fid = fid.clone();
        self.write(move |db| delete(db, &fid)).await
    }

    /// Fails as [`delete`](Self::delete) would, and deletes nothing.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    pub async fn check_deletable(&self, fid: &Fid) -> Result<()> {
        let fid = fid.clone();
        self.read(move |db| to_delete(db, &fid).map(drop)).await
    }

    /// Takes a deletion back, and that of all that were deleted with it. Those that the session works for
    /// are restored in the same way: without them nobody would know what it may do. Gives each after the
    /// one that it works for.
    pub async fn restore(&self, fid: &Fid) -> Result<Vec<SessionRecord>> {
        let fid = fid.clone();
        self.write(move |db| restore(db, &fid)).await
    }

    /// Removes deleted sessions for good: those deleted longer ago than `age`. Those that a living
    /// process has claimed stay until it is done with them.
    pub async fn purge(&self, age: Duration) -> Result<()> {
        let expired = self.expired(age).await?;
        self.remove(expired).await.map(drop)
    }

    /// What [`purge`](Self::purge) removes, with the projects that these sessions worked in last.
    pub async fn expired(&self, age: Duration) -> Result<Vec<(Fid, Option<PathBuf>)>> {
        if self.inner.writer.is_none() {
            return Ok(Vec::new());
        }
        self.write(move |db| expired(db, age)).await
    }

    /// Removes these sessions for good, where they still are deleted and nobody has claimed them. Gives
    /// those that it removed.
    pub async fn remove(&self, expired: Vec<(Fid, Option<PathBuf>)>) -> Result<Vec<Fid>> {
        if self.inner.writer.is_none() {
            return Ok(Vec::new());
        }
        let fids: Vec<Fid> = expired.into_iter().map(|(fid, _)| fid).collect();
        let removed = self.write(move |db| remove(db, &fids)).await?;
        // On its own, so that a picture goes only once no committed message needs it.
        self.write(attachments::sweep).await?;
        Ok(removed)
    }
}

/// Marks a session deleted, and all that work for it. Deleting a deleted one is no error. Gives those
/// that were not deleted before.
fn delete(db: &DbHandle, fid: &Fid) -> Outcome<Vec<Fid>> {
    let now = nanoseconds(Timestamp::now());
    let mut deleted = Vec::new();
    for fid in to_delete(db, fid)? {
        let key = key(db, &fid)?;
        let sql = "UPDATE sessions SET deleted = ?2 WHERE key = ?1 AND deleted IS NULL";
        if db.run(sql, params![key, now])? > 0 {
            deleted.push(fid);
        }
    }
    Ok(deleted)
}

/// A session and all that work for it, unless another living process writes in one that is not deleted.
fn to_delete(db: &DbHandle, fid: &Fid) -> Outcome<Vec<Fid>> {
    // Where the file is damaged, it can be deleted all the same.
    let all = missing::or_else(db, || agent_tree::below(db, fid), || Ok(vec![fid.clone()]))?;
    let owners = &db.paths.owners;
    for fid in &all {
        let sql = "SELECT owner FROM sessions WHERE key = ?1 AND deleted IS NULL";
        let owner: Option<String> = db.find(sql, [key(db, fid)?], |row| row.get(0))?.flatten();
        if owner.is_some_and(|owner| owners.lives_elsewhere(&owner)) {
            return Err(Kind::SessionInUse.into());
        }
    }
    Ok(all)
}

fn restore(db: &DbHandle, fid: &Fid) -> Outcome<Vec<SessionRecord>> {
    let mut restored = Vec::new();
    // Where the file is damaged, it can be restored all the same.
    let above = missing::or_else(db, || agent_tree::above(db, fid), || Ok(Vec::new()))?;
    for ancestor in above.iter().rev() {
        if deleted(db, ancestor)?.is_some() {
            restored.extend(restore_tree(db, ancestor)?);
        }
    }
    let known = |record: &SessionRecord| record.fid == *fid;
    if !restored.iter().any(known) {
        restored.extend(restore_tree(db, fid)?);
    }
    Ok(restored)
}

/// Takes a deletion back, and that of all below that were deleted with it. Gives the session first.
fn restore_tree(db: &DbHandle, fid: &Fid) -> Outcome<Vec<SessionRecord>> {
    let all = missing::or_else(db, || agent_tree::below(db, fid), || Ok(vec![fid.clone()]))?;
    let at = deleted(db, fid)?;
    let mut restored = Vec::new();
    for member in all {
        if member != *fid && (at.is_none() || deleted(db, &member)? != at) {
            continue;
        }
        db.run("UPDATE sessions SET deleted = NULL WHERE key = ?1", [key(db, &member)?])?;
        match one(db, &member) {
            Ok(record) => restored.push(record),
            // It is back; what is damaged in it is said where it is opened.
            Err(fault) if fault.is_damage() && member != *fid => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(restored)
}

/// When a session was deleted.
pub(super) fn deleted(db: &DbHandle, fid: &Fid) -> Outcome<Option<i64>> {
    let sql = "SELECT deleted FROM sessions NOT INDEXED WHERE key = ?1";
    Ok(db.find(sql, [key(db, fid)?], |row| row.get(0))?.flatten())
}

/// Sessions deleted longer ago than `age`, with their projects, except those that a living process writes.
fn expired(db: &DbHandle, age: Duration) -> Outcome<Vec<(Fid, Option<PathBuf>)>> {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    let before = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
    let mut living = Living::new(&db.paths.owners);
    let own = db.paths.owners.id();
    let mut statement = db
        .connection
        .prepare_cached("SELECT fid, project, owner FROM sessions WHERE deleted <= ?1")?;
    let rows = statement.query_map([nanoseconds(before)], |row| {
        let project = row.get::<_, Option<String>>(1)?.map(PathBuf::from);
        Ok((Fid::new(row.get::<_, String>(0)?), project, row.get::<_, Option<String>>(2)?))
    })?;
    let mut expired = Vec::new();
    for row in rows {
        let (fid, project, owner) = row?;
        if owner.is_none_or(|owner| owner != own && !living.elsewhere(&owner)) {
            expired.push((fid, project));
        }
    }
    Ok(expired)
}

/// Removes these sessions, where they are deleted and no living process writes them. Gives those removed.
fn remove(db: &DbHandle, fids: &[Fid]) -> Outcome<Vec<Fid>> {
    let mut removed = Vec::new();
    let mut living = Living::new(&db.paths.owners);
    let own = db.paths.owners.id();
    for fid in fids {
        let found: Option<(i64, Option<String>)> = db.find(
            "SELECT key, owner FROM sessions WHERE fid = ?1 AND deleted IS NOT NULL",
            [fid.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let Some((key, owner)) = found else { continue };
        if owner.is_some_and(|owner| owner == own || living.elsewhere(&owner)) {
            continue;
        }
        for index in ["text_index", "word_index"] {
            let of_session = "SELECT key FROM messages WHERE session = ?1";
            db.run(&format!("DELETE FROM {index} WHERE rowid IN ({of_session})"), [key])?;
        }
        // Messages, journal and the list of attachments go with it.
        db.run("DELETE FROM sessions WHERE key = ?1", [key])?;
        // Only what is a name in that folder: it is deleted whole.
        if Path::new(fid.as_str()).file_name().is_some_and(|name| name == fid.as_str()) {
            match fs::remove_dir_all(db.paths.outputs.join(fid.as_str())) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "what tools wrote was not deleted");
                }
                _ => {}
            }
        }
        removed.push(fid.clone());
    }
    Ok(removed)
}
