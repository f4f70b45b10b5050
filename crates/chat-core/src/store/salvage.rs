//! Makes a new database of all that can be read of a damaged one: row by row, by SQL alone. What
//! pages have lost comes back from a backup where there is one, and is named where there is none.

mod copy;
mod merge;
mod rebuild;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::db_handle::set_up;
use super::fault::{Outcome, is_damage};
use super::survey::Survey;
use super::{backups, schema};
use crate::error::MissingMessages;
use crate::settings::disk;

/// What a new database holds.
#[derive(Debug, Default)]
pub(super) struct Salvaged {
    /// How many chats there are in it, deleted ones too.
    pub(super) chats: u64,
    /// Which lack messages.
    pub(super) missing: Vec<MissingMessages>,
    /// Whether a backup gave back what could not be read.
    pub(super) from_backup: bool,
}

/// What could not be read of the tables with rows of their own.
#[derive(Debug, Default)]
struct Lost {
    sessions: Survey,
    messages: Survey,
    waiting: Survey,
}

/// Makes a whole new database at `into` from a damaged one and its backups. Neither is changed.
pub(super) fn salvage(damaged: &Path, folder: &Path, into: &Path) -> Outcome<Salvaged> {
    remove(into);
    disk::private_file(into).map_err(|error| disk::fault(into, &error))?;
    let mut new = Connection::open(into)?;
    set_up(&new)?;
    // Nobody reads it before it is whole; one that is not is built again.
    new.pragma_update(None, "journal_mode", "off")?;
    new.pragma_update(None, "synchronous", "off")?;
    new.pragma_update(None, "foreign_keys", false)?;
    schema::migrate(&mut new, schema::MIGRATIONS)?;
    new.execute_batch("BEGIN")?;
    let old = readable(damaged)?;
    let lost = match &old {
        Some(old) => copy::all(old, &new)?,
        None => Lost::everything(),
    };
    let mut from_backup = false;
    if lost.any() {
        for backup in backups::list(folder).iter().rev() {
            match backups::open_good(folder, backup) {
                Ok(backup) => {
                    from_backup = merge::missing(&backup, &new, old.as_ref(), &lost)?;
                    break;
                }
                Err(fault) => {
                    let why = fault.into_error(&backup.path);
                    tracing::warn!(%why, "a backup cannot be used: {}", backup.path.display());
                }
            }
        }
    }
    let missing = rebuild::links(&new, old.as_ref())?;
    rebuild::attachments(&new)?;
    rebuild::indexes(&new)?;
    new.execute_batch("COMMIT")?;
    let chats: i64 = new.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
    new.close().map_err(|(_, error)| error)?;
    let written = File::open(into).and_then(|file| file.sync_all());
    written.map_err(|error| disk::fault(into, &error))?;
    Ok(Salvaged { chats: chats.unsigned_abs(), missing, from_backup })
}

/// Removes a database that was not finished.
pub(super) fn remove(path: &Path) {
    for end in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

/// A connection to what is damaged, where anything can be read through it: not where the schema or
/// the first page is lost, nor of another program's database.
fn readable(damaged: &Path) -> Outcome<Option<Connection>> {
    if !super::open::is_ours(damaged) {
        return Ok(None);
    }
    // The log is a part of it and has to be read, which SQLite does only where it may write.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connect = || -> rusqlite::Result<Option<Connection>> {
        let connection = Connection::open_with_flags(damaged, flags)?;
        set_up(&connection)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        let version = schema::version(&connection)?;
        Ok((1..=schema::VERSION).contains(&version).then_some(connection))
    };
    match connect() {
        Err(error) if is_damage(&error) => Ok(None),
        connection => Ok(connection?),
    }
}

impl Lost {
    fn everything() -> Self {
        let all = || Survey { keys: Vec::new(), lost: vec![0..=i64::MAX] };
        Self { sessions: all(), messages: all(), waiting: all() }
    }

    fn any(&self) -> bool {
        [&self.sessions, &self.messages, &self.waiting].iter().any(|it| !it.lost.is_empty())
    }
}
