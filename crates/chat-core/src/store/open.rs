//! Opens the database: takes locks, migrates versions, and handles a file that is damaged, newer
//! than the program, or cannot be written.
//!
//! A large file must not slow the start, so it is not checked as a whole each time: its header,
//! its schema and its list of sessions are read. Where a page is found broken later, a mark is
//! left next to the file, and the next start that has the file for itself checks all of it and repairs
//! what is damaged. A crash needs no check: that is what the log is for.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::changes::Signal;
use super::db_handle::{DatabaseKind, DbHandle, StorePaths, set_up, suspect_mark};
use super::fault::{Fault, Outcome};
use super::owner::Owners;
use super::survey::or_damage;
use super::writer::Writer;
use super::{messages, repair, schema};
use crate::error::{Error, Kind, Result};
use crate::settings::{Folders, disk};

/// How long to wait for other programs to end or to finish their own migration.
const MIGRATION_TIMEOUT: Duration = Duration::from_secs(5);

/// The first 16 bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What was opened.
pub(super) struct Parts {
    pub(super) paths: Arc<StorePaths>,
    /// None where the file cannot be written.
    pub(super) writer: Option<Writer>,
    /// Held while the store is open: shared with other programs, alone while migrating.
    pub(super) lock: Option<File>,
    pub(super) notice: Option<Error>,
    pub(super) earlier: Vec<Error>,
}

/// Opens or makes the database.
pub(super) fn open(folders: &Folders) -> Result<Parts> {
    let database = folders.database();
    let owners = folders.state.join("owners");
    if !writable(&folders.data, &database) {
        return open_for_reading(folders, &database, &owners);
    }
    disk::private_folder(&folders.data).map_err(|e| disk::fault(&folders.data, &e))?;
    let lock_path = folders.data.join("natter.lock");
    let lock = disk::private_file(&lock_path).map_err(|e| disk::fault(&lock_path, &e))?;

    let backups = folders.backups();
    let locked = |done: io::Result<()>| done.map_err(|e| disk::fault(&lock_path, &e));
    let told = |fault: Fault| fault.into_error(&database);
    let mut notice = None;
    let deadline = Instant::now() + MIGRATION_TIMEOUT;
    let connection = loop {
        locked(lock.lock_shared())?;
        let (usable, state) = match examine(&database, false).map_err(told)? {
            State::Ready(connection) => break connection,
            State::Newer(version) => return Err(Kind::DatabaseNewer { version }.into()),
            // To be upgraded or repaired: other programs may be at work with it, or just about to do
            // the same, in which case it looks otherwise the next time.
            State::Old => (None, "another Natter is running; close it to upgrade the database"),
            State::Damaged(usable) => {
                (usable, "another Natter is running; close it to repair the database")
            }
        };
        if !alone(&lock).map_err(|e| disk::fault(&lock_path, &e))? {
            if let Some(connection) = usable {
                // Under those who work with it nothing is exchanged. What can be read is read.
                locked(lock.lock_shared())?;
                break connection;
            }
            if Instant::now() > deadline {
                return Err(Error::new(Kind::DatabaseInUse).with_detail(state));
            }
            // File locks have no waiting with a limit.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        // SQLite would hold locks on the file that is set aside.
        drop(usable);
        if repair::is_unfinished(&database) {
            let finished = repair::exchange(&database).map_err(|e| disk::fault(&database, &e))?;
            notice = finished.map(Error::from);
            continue;
        }
        let damaged = match examine(&database, true).map_err(told)? {
            State::Old => match upgrade(&database) {
                Err(fault) if fault.is_damage() => true,
                done => {
                    done.map_err(told)?;
                    false
                }
            },
            State::Damaged(_) => true,
            State::Ready(_) | State::Newer(_) => false,
        };
        if damaged {
            match repair::repair(&database, &backups) {
                Ok(repaired) => notice = Some(repaired.into()),
                Err(fault) => {
                    // Perhaps the disk is full. The chats that can be read are worth having.
                    let error = fault.into_error(&database);
                    let State::Damaged(Some(usable)) = examine(&database, false).map_err(told)?
                    else {
                        return Err(error);
                    };
                    locked(lock.lock_shared())?;
                    notice = Some(error);
                    break usable;
                }
            }
        }
    };

    let mut earlier: Vec<Error> =
        repair::unreported(&database).into_iter().map(Error::from).collect();
    earlier.retain(|untold| notice.as_ref() != Some(untold));
    let notice = notice.or_else(|| earlier.pop());
    let owners = Owners::enter(&owners).map_err(|e| disk::fault(&owners, &e))?;
    let paths = Arc::new(StorePaths {
        attachments: folders.data.join("attachments"),
        backups,
        outputs: folders.outputs(),
        database,
        owners,
        kind: DatabaseKind::File,
    });
    let signal = Signal::open(&paths.database);
    let db = DbHandle { connection, paths: Arc::clone(&paths) };
    let writer = Writer::start(db, signal).map_err(|e| disk::fault(&paths.database, &e))?;
    Ok(Parts { paths, writer: Some(writer), lock: Some(lock), notice, earlier })
}

/// What a database is found to be.
enum State {
    /// Of today's version; the connection is ready to write.
    Ready(Connection),
    /// Of an older version, or none yet.
    Old,
    /// Of this newer version.
    Newer(u32),
    /// Damaged, or suspected of it. With a connection where most of it can be used as it is.
    Damaged(Option<Connection>),
}

fn connect(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    set_up(&connection)?;
    Ok(connection)
}

/// Looks what a database is. `alone`: nobody else works with it, so there is time to check all of
/// one that is suspected of damage.
fn examine(database: &Path, alone: bool) -> Outcome<State> {
    if repair::is_unfinished(database) {
        return Ok(State::Damaged(None));
    }
    match inspect(database, alone) {
        Err(fault) if fault.is_damage() => Ok(State::Damaged(None)),
        state => state,
    }
}

fn inspect(database: &Path, alone: bool) -> Outcome<State> {
    match header(database)? {
        Header::Foreign => return Ok(State::Damaged(None)),
        Header::Version(version) if version > schema::VERSION => return Ok(State::Newer(version)),
        Header::Version(_) | Header::Missing => {}
    }
    // SQLite would give a new file the rights that the umask says.
    disk::private_file(database).map_err(|e| disk::fault(database, &e))?;
    let connection = connect(database)?;
    // A file that turns out to be newer is left as it is, log and all.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let version = schema::version(&connection)?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version > schema::VERSION {
        return Ok(State::Newer(version));
    }
    if version == 0 && tables > 0 {
        // Another program's.
        return Ok(State::Damaged(None));
    }
    let suspected = suspect_mark(database).exists();
    let mut damaged = suspected && !alone;
    if suspected && alone {
        check_all(&connection)?;
        let _ = fs::remove_file(suspect_mark(database));
    }
    if version < schema::VERSION {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        return Ok(State::Old);
    }
    let list = "SELECT count(*), sum(updated > 0) FROM sessions";
    damaged |= or_damage(connection.query_row(list, [], |_| Ok(())))?.is_none();
    if !damaged {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    }
    prepare(&connection)?;
    Ok(if damaged { State::Damaged(Some(connection)) } else { State::Ready(connection) })
}

enum Header {
    Missing,
    Foreign,
    /// Of SQLite, with this version of ours as of the last checkpoint.
    Version(u32),
}

/// Looks at the file without SQLite, which would touch it.
fn header(database: &Path) -> Outcome<Header> {
    let mut start = Vec::new();
    match File::open(database).and_then(|file| file.take(100).read_to_end(&mut start)) {
        Ok(0) => return Ok(Header::Missing),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Header::Missing),
        Err(error) => return Err(disk::fault(database, &error).into()),
    }
    let version = start.get(60..64).and_then(|bytes| bytes.try_into().ok());
    match version {
        Some(version) if start.starts_with(MAGIC) => {
            Ok(Header::Version(u32::from_be_bytes(version)))
        }
        _ => Ok(Header::Foreign),
    }
}

/// Whether a file says that it is a database of this program, or of a program like it.
pub(super) fn is_ours(database: &Path) -> bool {
    matches!(header(database), Ok(Header::Version(_)))
}

fn damaged(why: &str) -> Fault {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Fault::Sql(rusqlite::Error::SqliteFailure(code, Some(why.to_owned())))
}

/// Whether all pages of a database can be read.
pub(super) fn check_pages(connection: &Connection) -> Outcome<()> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(damaged(&found)) }
}

/// The same, and whether messages are what was written: a page whose structure is none can be
/// overwritten without SQLite knowing of it.
pub(super) fn check_all(connection: &Connection) -> Outcome<()> {
    check_pages(connection)?;
    let mut statement = connection.prepare("SELECT parts FROM messages")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !row.get_ref(0)?.as_str().is_ok_and(messages::is_whole) {
            return Err(damaged("a message is not what was written"));
        }
    }
    Ok(())
}

/// Sets how the writer's connection works.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // After a large deletion the log does not stay large for ever.
    connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)
}

fn upgrade(database: &Path) -> Outcome<()> {
    let mut connection = connect(database)?;
    prepare(&connection)?;
    schema::migrate(&mut connection, schema::MIGRATIONS)?;
    Ok(())
}

/// Keeps other programs out, unless one is there.
pub(super) fn alone(lock: &File) -> io::Result<bool> {
    // Two who both wait while they share would wait for ever.
    lock.unlock()?;
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether folder and file can be written, as far as can be known without writing.
fn writable(folder: &Path, database: &Path) -> bool {
    use rustix::fs::{Access, access};
    let denied = |path: &Path| {
        matches!(
            access(path, Access::WRITE_OK),
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS | rustix::io::Errno::PERM)
        )
    };
    !denied(folder) && !denied(database)
}

/// Opens a database that cannot be written, so that old chats can still be read.
fn open_for_reading(folders: &Folders, database: &Path, owners: &Path) -> Result<Parts> {
    let read_only = || Error::new(Kind::ReadOnly { path: database.to_owned() });
    match header(database).map_err(|fault| fault.into_error(database))? {
        Header::Version(version) if version > schema::VERSION => {
            return Err(Kind::DatabaseNewer { version }.into());
        }
        Header::Version(_) => {}
        // It can neither create a database nor move a damaged one away.
        Header::Missing | Header::Foreign => return Err(read_only()),
    }
    let paths = |kind| StorePaths {
        attachments: folders.data.join("attachments"),
        backups: folders.backups(),
        outputs: folders.outputs(),
        database: database.to_owned(),
        owners: Owners::watch_only(owners),
        kind,
    };
    let readable = |paths: &StorePaths| {
        let version = paths.reading().and_then(|connection| schema::version(&connection));
        version.is_ok_and(|version| version == schema::VERSION)
    };
    // Without a log there is nothing that SQLite would have to write in order to read.
    let log = fs::metadata(database.with_extension("db-wal"));
    let without_log =
        log.is_ok_and(|log| log.len() == 0) || !database.with_extension("db-wal").exists();
    let paths = Some(paths(DatabaseKind::File))
        .filter(readable)
        .or_else(|| {
            Some(paths(DatabaseKind::Immutable)).filter(|paths| without_log && readable(paths))
        })
        .ok_or_else(read_only)?;
    let (paths, notice) = (Arc::new(paths), Some(read_only()));
    Ok(Parts { paths, writer: None, lock: None, notice, earlier: Vec::new() })
}
