//! Reads the trees of sessions in which one works for another.

use std::collections::HashSet;
use std::path::Path;

use super::db_handle::DbHandle;
use super::fault::{Fault, Outcome};
use super::record::SessionRecord;
use super::{Store, columns, sessions};
use crate::error::{Error, Kind, Result};
use crate::message::Fid;

impl Store {
    /// The tree that a session is in: the session at its top, then all that work for it, the oldest of each first.
    /// Deleted ones are left out.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn agent_tree(&self, member: &Fid) -> Result<Vec<SessionRecord>> {
        let member = member.clone();
        self.of(&member).read(move |db| members(db, &member)).await
    }

    /// A session, and all that work for it, the session first; deleted ones, too.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn below(&self, fid: &Fid) -> Result<Vec<Fid>> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| below(db, &fid)).await
    }

    /// A session, and all that work for it in this project, the session first; deleted ones, too.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub(crate) async fn below_in(&self, fid: &Fid, project: &Path) -> Result<Vec<Fid>> {
        let (fid, project) = (fid.clone(), columns::path(Some(project)));
        self.of(&fid)
            .read(move |db| {
                let mut all = vec![fid.clone()];
                for member in below(db, &fid)?.into_iter().skip(1) {
                    let sql = "SELECT 1 FROM sessions WHERE fid = ?1 AND project = ?2";
                    if db.find(sql, (member.as_str(), &project), |_| Ok(()))?.is_some() {
                        all.push(member);
                    }
                }
                Ok(all)
            })
            .await
    }
}

/// A session, and all that work for it, the session first; deleted ones, too.
pub(super) fn below(db: &DbHandle, fid: &Fid) -> Outcome<Vec<Fid>> {
    // Fails where there is no such session.
    sessions::key(db, fid)?;
    let mut all = vec![fid.clone()];
    let mut at = 0;
    while let Some(parent) = all.get(at) {
        let children = children(db, parent)?;
        // A damaged file may name a session as one of its own.
        let new: Vec<_> = children.into_iter().filter(|child| !all.contains(child)).collect();
        all.extend(new);
        at += 1;
    }
    Ok(all)
}

/// A name that nobody else has in the tree of this session: the wanted one, or that with a number.
pub(super) fn free_name(db: &DbHandle, member: &Fid, wanted: &str) -> Outcome<String> {
    let mut taken = HashSet::new();
    for fid in below(db, &root(db, member)?)? {
        let sql = "SELECT name FROM sessions WHERE fid = ?1";
        let name: Option<String> = db.find(sql, [fid.as_str()], |row| row.get(0))?.flatten();
        taken.extend(name);
    }
    let numbered = (2_u32..).map(|n| format!("{wanted}-{n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    Ok(names.find(|name| !taken.contains(name)).unwrap_or_default())
}

/// The sessions that one works for, the nearest first, as far as they are there; deleted ones, too.
pub(super) fn above(db: &DbHandle, member: &Fid) -> Outcome<Vec<Fid>> {
    let mut above = Vec::new();
    let mut last = member.clone();
    let sql = "SELECT p.fid FROM sessions s JOIN sessions p ON p.fid = s.parent WHERE s.fid = ?1";
    while let Some(parent) = db.find(sql, [last.as_str()], |row| row.get::<_, String>(0))? {
        last = Fid::new(parent);
        // A damaged file may name a session as one of its own.
        if last == *member || above.contains(&last) {
            break;
        }
        above.push(last.clone());
    }
    Ok(above)
}

/// The session at the top of a tree: the first above it that works for none, or for one that is gone.
fn root(db: &DbHandle, member: &Fid) -> Outcome<Fid> {
    Ok(above(db, member)?.pop().unwrap_or_else(|| member.clone()))
}

/// The sessions of a tree that are not deleted, the one at its top first.
fn members(db: &DbHandle, member: &Fid) -> Outcome<Vec<SessionRecord>> {
    let mut members = Vec::new();
    for fid in below(db, &root(db, member)?)? {
        match sessions::one(db, &fid) {
            Ok(record) => members.push(record),
            Err(Fault::Known(Error { kind: Kind::SessionNotFound { .. }, .. })) => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(members)
}

fn children(db: &DbHandle, parent: &Fid) -> Outcome<Vec<Fid>> {
    let sql = "SELECT fid FROM sessions WHERE parent = ?1 ORDER BY key";
    let mut statement = db.connection.prepare_cached(sql)?;
    let rows =
        statement.query_map([parent.as_str()], |row| Ok(Fid::new(row.get::<_, String>(0)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether another living process has a session.
pub(super) fn is_in_use(db: &DbHandle, fid: &Fid) -> Outcome<bool> {
    let sql = "SELECT owner FROM sessions WHERE fid = ?1";
    let owner: Option<String> = db.find(sql, [fid.as_str()], |row| row.get(0))?.flatten();
    Ok(owner.is_some_and(|owner| db.paths.owners.lives_elsewhere(&owner)))
}
