//! Lists deleted sessions that can still be restored.

use std::path::PathBuf;

use super::columns::instant;
use super::db_handle::DbHandle;
use super::deletion::deleted;
use super::fault::Outcome;
use super::owner::Living;
use super::record::TrashedSession;
use super::{Store, agent_tree, missing, sessions};
use crate::error::Result;
use crate::message::Fid;

impl Store {
    /// The deleted sessions, the last deleted first. Those that were deleted with the one that they work for
    /// are counted there.
    ///
    /// # Errors
    /// The store's.
    pub async fn trash(&self) -> Result<Vec<TrashedSession>> {
        self.read(trash).await
    }

    /// Deleted sessions with all that were deleted with them and their projects, each once, as
    /// [`remove`](Self::remove) takes them.
    ///
    /// # Errors
    /// `SessionNotFound` where one is not in the trash, and the store's.
    pub async fn trees_in_trash(&self, fids: Vec<Fid>) -> Result<Vec<(Fid, Option<PathBuf>)>> {
        self.read(move |db| {
            let mut trees: Vec<(Fid, Option<PathBuf>)> = Vec::new();
            for fid in &fids {
                for member in tree(db, fid)? {
                    if trees.iter().any(|(known, _)| *known == member) {
                        continue;
                    }
                    let sql = "SELECT project FROM sessions WHERE fid = ?1";
                    let project: Option<String> =
                        db.find(sql, [member.as_str()], |row| row.get(0))?.flatten();
                    trees.push((member, project.map(PathBuf::from)));
                }
            }
            Ok(trees)
        })
        .await
    }
}

fn trash(db: &DbHandle) -> Outcome<Vec<TrashedSession>> {
    let mut statement = db.connection.prepare_cached(
        "SELECT key, fid, deleted FROM sessions s WHERE deleted IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM sessions above WHERE above.fid = s.parent AND above.deleted = s.deleted) \
         ORDER BY deleted DESC, key DESC",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, Fid::new(row.get::<_, String>(1)?), row.get::<_, i64>(2)?))
    })?;
    let mut living = Living::new(&db.paths.owners);
    let mut found = Vec::new();
    for row in rows {
        let (key, fid, deleted) = row?;
        let agents = tree(db, &fid)?.len().saturating_sub(1);
        match sessions::by_key(db, key, &mut living) {
            Ok(record) => found.push(TrashedSession {
                meta: record.meta,
                deleted: instant(deleted),
                agents: u32::try_from(agents).unwrap_or(u32::MAX),
            }),
            // It is still removed when its time is over.
            Err(fault) if fault.is_damage() => db.paths.suspect(),
            Err(fault) => return Err(fault),
        }
    }
    Ok(found)
}

/// A deleted session and all that were deleted with it.
fn tree(db: &DbHandle, fid: &Fid) -> Outcome<Vec<Fid>> {
    let Some(at) = deleted(db, fid)? else { return Err(sessions::not_found(fid).into()) };
    let below = missing::or_else(db, || agent_tree::below(db, fid), || Ok(vec![fid.clone()]))?;
    let mut tree = Vec::new();
    for member in below {
        if deleted(db, &member)? == Some(at) {
            tree.push(member);
        }
    }
    Ok(tree)
}
