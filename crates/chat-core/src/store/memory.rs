//! Keeps temporary sessions in a database in memory: nothing of their conversations reaches the disk, and all of
//! it ends with the store.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tempfile::TempDir;
use uuid::Uuid;

use super::changes::Signal;
use super::db_handle::{DatabaseKind, DbHandle, StorePaths};
use super::fault::Fault;
use super::owner::Owners;
use super::readers::Readers;
use super::writer::Writer;
use super::{Inner, NewSession, Store, schema};
use crate::error::Result;
use crate::message::Fid;
use crate::settings::disk;

/// Pictures are files elsewhere.
const PICTURES: &str =
    "CREATE TABLE pictures (hash TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID";

impl Store {
    /// The store that a session is in.
    pub(super) fn of(&self, fid: &Fid) -> Self {
        match self.memory.get() {
            Some(memory) if fid.is_temporary() => memory.clone(),
            _ => self.clone(),
        }
    }

    /// The store for a new session: agents of temporary ones are temporary, too.
    pub(super) fn for_new(&self, new: &NewSession) -> Result<Self> {
        if !new.temporary && !new.meta.parent.as_ref().is_some_and(Fid::is_temporary) {
            return Ok(self.clone());
        }
        if let Some(memory) = self.memory.get() {
            return Ok(memory.clone());
        }
        let opened = open()?;
        Ok(self.memory.get_or_init(|| opened).clone())
    }

    /// Both stores, as far as there are two: for what is known without its session.
    pub(super) fn all(&self) -> impl Iterator<Item = Self> {
        [Some(self.clone()), self.memory.get().cloned()].into_iter().flatten()
    }

    /// Where the long outputs of a session's tools are kept: those of temporary sessions go with the store.
    pub fn outputs(&self, fid: &Fid) -> PathBuf {
        self.of(fid).inner.paths.outputs.join(fid.as_str())
    }

    /// All temporary sessions, those that are deleted as well, with the projects that they worked in last.
    ///
    /// # Errors
    /// The store's.
    pub async fn temporary(&self) -> Result<Vec<(Fid, Option<PathBuf>)>> {
        let Some(memory) = self.memory.get() else { return Ok(Vec::new()) };
        let all = |db: &DbHandle| {
            let mut statement =
                db.connection.prepare_cached("SELECT fid, project FROM sessions")?;
            let rows = statement.query_map([], |row| {
                let project = row.get::<_, Option<String>>(1)?.map(PathBuf::from);
                Ok((Fid::new(row.get::<_, String>(0)?), project))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        };
        memory.read(all).await
    }

    /// Removes what temporary sessions have on disk. For the end of the program: whoever holds the store still
    /// may outlive the last moment in which dropping it could remove anything.
    pub fn remove_temporary_files(&self) {
        let folder = self.memory.get().and_then(|memory| {
            memory.inner.folder.lock().unwrap_or_else(PoisonError::into_inner).take()
        });
        drop(folder);
    }
}

/// Makes an empty database in memory.
fn open() -> Result<Store> {
    let system = |error: std::io::Error| disk::fault(&std::env::temp_dir(), &error);
    let folder = TempDir::with_prefix("natter-").map_err(system)?;
    let owners = Owners::enter(&folder.path().join("owners")).map_err(system)?;
    let paths = Arc::new(StorePaths {
        // Other connections of this process find it by its name.
        database: format!("file:/natter-{}?vfs=memdb", Uuid::now_v7()).into(),
        attachments: folder.path().join("attachments"),
        backups: folder.path().join("backups"),
        outputs: folder.path().join("outputs"),
        owners,
        kind: DatabaseKind::Memory,
    });
    let connection = paths.in_memory().and_then(|mut connection| {
        connection.pragma_update(None, "foreign_keys", true)?;
        schema::migrate(&mut connection, schema::MIGRATIONS)?;
        connection.execute_batch(PICTURES)?;
        Ok(connection)
    });
    let connection = connection.map_err(|error| paths.report(Fault::Sql(error)))?;
    let db = DbHandle { connection, paths: Arc::clone(&paths) };
    let writer = Writer::start(db, Signal::silent()).map_err(system)?;
    let readers = Readers::new(Arc::clone(&paths));
    let inner = Inner {
        readers,
        writer: Some(writer),
        paths,
        lock: None,
        folder: Mutex::new(Some(folder)),
    };
    Ok(Store { inner: Arc::new(inner), memory: Arc::new(OnceLock::new()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Folders;

    #[tokio::test]
    async fn the_end_leaves_no_file_of_a_temporary_session() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&Folders::below(home.path())).unwrap().store;
        let new = NewSession { temporary: true, ..NewSession::default() };
        let session = store.create(new, Vec::new()).await.unwrap();
        let outputs = store.outputs(&session.fid);
        std::fs::create_dir_all(&outputs).unwrap();
        std::fs::write(outputs.join("1"), "long").unwrap();
        let folder = outputs.parent().unwrap().parent().unwrap();

        store.remove_temporary_files();

        assert!(!folder.exists(), "{folder:?}");
        store.flush().await.unwrap();
    }
}
