//! Defines what an operation works with: a connection to the database and its paths.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

use super::fault::{Fault, Outcome};
use super::owner::Owners;
use crate::error::{Error, Kind};

/// Where things are, and who is alive: the same for all connections of a store.
#[derive(Debug)]
pub(super) struct StorePaths {
    /// The database's file.
    pub(super) database: PathBuf,
    /// The folder of attachments.
    pub(super) attachments: PathBuf,
    /// The folder of the database's backups.
    pub(super) backups: PathBuf,
    /// The folder of what tools wrote at length, a folder for each session.
    pub(super) outputs: PathBuf,
    /// The processes that write.
    pub(super) owners: Owners,
    /// What the database is.
    pub(super) kind: DatabaseKind,
}

/// What a database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    /// A file that other processes may use as well.
    File,
    /// A file that nothing can change, so that SQLite need not look for others.
    Immutable,
    /// It is in memory; its path is a name that SQLite knows.
    Memory,
}

impl StorePaths {
    /// Another connection, for reading.
    pub(super) fn reading(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let by_name = flags | OpenFlags::SQLITE_OPEN_URI;
        let connection = match self.kind {
            DatabaseKind::File => Connection::open_with_flags(&self.database, flags)?,
            DatabaseKind::Memory => Connection::open_with_flags(&self.database, by_name)?,
            DatabaseKind::Immutable => {
                let path = self.database.to_string_lossy();
                let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
                Connection::open_with_flags(format!("file:{path}?immutable=1"), by_name)?
            }
        };
        set_up(&connection)?;
        Ok(connection)
    }

    /// The first connection to a database in memory.
    pub(super) fn in_memory(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(&self.database, flags)?;
        set_up(&connection)?;
        Ok(connection)
    }

    /// The mark that a page was found broken, so that the next start checks the whole file.
    pub(super) fn suspect_mark(&self) -> PathBuf {
        suspect_mark(&self.database)
    }

    /// Leaves that mark.
    pub(super) fn suspect(&self) {
        if self.kind == DatabaseKind::File && !self.suspect_mark().exists() {
            tracing::error!(
                "a page of the database is damaged; it will be checked and repaired at the next start"
            );
            let _ = fs::write(self.suspect_mark(), "");
        }
    }

    /// Turns a fault into the error that callers get; remembers a broken file.
    pub(super) fn report(&self, fault: Fault) -> Error {
        if fault.is_damage() {
            self.suspect();
        }
        fault.into_error(&self.database)
    }
}

/// The mark's path for a database.
pub(super) fn suspect_mark(database: &std::path::Path) -> PathBuf {
    database.with_extension("db.check")
}

/// How many prepared statements a connection keeps: as many as there are in this module.
const STATEMENTS: usize = 64;

/// What a connection keeps in memory of what it read, in KiB (negative: SQLite would take pages).
/// The system keeps the file in memory as well, once for all connections.
const CACHE: i32 = -512;

/// What every connection needs, whatever it is for.
pub(super) fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(super::BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "cache_size", CACHE)
}

/// A connection with its surroundings.
#[derive(Debug)]
pub(super) struct DbHandle {
    /// The connection; the writer's or a reader's.
    pub(super) connection: Connection,
    /// The folders about it.
    pub(super) paths: Arc<StorePaths>,
}

impl DbHandle {
    /// Runs a query that gives one row at most.
    pub(super) fn find<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        row: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Outcome<Option<T>> {
        use rusqlite::OptionalExtension;
        Ok(self.connection.prepare_cached(sql)?.query_row(params, row).optional()?)
    }

    /// Runs a statement that gives no rows, and gives the count of rows that it changed.
    pub(super) fn run(&self, sql: &str, params: impl rusqlite::Params) -> Outcome<usize> {
        Ok(self.connection.prepare_cached(sql)?.execute(params)?)
    }
}

/// The error if the writer or a reader is gone: a bug.
pub(super) fn gone() -> Error {
    Error::new(Kind::Internal).with_detail("the store's thread ended")
}

/// Waits for a thread to end, unless we are on it: an answer may have dropped the last handle.
pub(super) fn join(thread: std::thread::JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        let _ = thread.join();
    }
}
