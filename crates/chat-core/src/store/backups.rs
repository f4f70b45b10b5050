//! Makes backups of the database: whole copies next to it, made by SQLite while it is in use.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::backup::{self, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::db_handle::{StorePaths, set_up};
use super::fault::{Fault, Outcome};
use super::open::{check_all, check_pages};
use super::{Store, db_handle, open, salvage, schema};
use crate::error::{Kind, Result};
use crate::settings::disk;

/// How many are kept.
const KEPT: usize = 3;

/// How old the newest may become before another is made.
pub const BACKUP_INTERVAL: Duration = Duration::from_hours(24);

/// How many pages are copied at once: a disk that is busy with a backup must not keep a reply waiting.
const STEP: i32 = 256;

/// How long to wait for a search of ours to end before a backup takes the database's place.
const WAIT: Duration = Duration::from_millis(5);

/// What must stay free on the disk next to a backup, in bytes.
const LEFT_FREE: u64 = 64 * 1024 * 1024;

/// How often another backup's lock is tried in all, and how long to wait in between: whoever only looks at
/// it ([`is_at_work`]) holds it for a moment, too.
const LOCK_TRIES: usize = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// How a backup's name begins and ends; between stands when it was made, in UTC.
const PREFIX: &str = "natter-";
const SUFFIX: &str = ".db";
const TIME: &str = "%Y%m%dT%H%M%S%.3fZ";

/// A backup of the chats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The file.
    pub path: PathBuf,
    /// When it was made.
    pub time: Timestamp,
    /// How large it is, in bytes.
    pub size: u64,
}

impl Store {
    /// The backups that there are, oldest first. Looks into a folder.
    pub fn backups(&self) -> Vec<Backup> {
        list(&self.inner.paths.backups)
    }

    /// Whether it is time for another backup.
    pub fn backup_is_due(&self) -> bool {
        self.inner.writer.is_some() && is_due(&self.inner.paths.backups)
    }

    /// Makes a backup while the database is in use. Blocks: after each step it rests for as long as
    /// `pace` says, and is given up where that says nothing. None then, where another process makes
    /// one, and where the disk is too full.
    ///
    /// # Errors
    /// `DiskFull`, `Storage`: also where the database turns out to be damaged.
    pub fn back_up(&self, pace: &dyn Fn() -> Option<Duration>) -> Result<Option<Backup>> {
        let paths = &self.inner.paths;
        make(paths, Purpose::Safety, pace).map_err(|fault| paths.report(fault))
    }

    /// Makes the chats what a backup holds. What they are now is kept as a backup first.
    ///
    /// # Errors
    /// `DatabaseInUse` where another process works with the database, `FileNotFound`, and the
    /// store's.
    pub async fn restore_backup(&self, path: &Path) -> Result<()> {
        let Some(writer) = &self.inner.writer else {
            return Err(Kind::ReadOnly { path: self.inner.paths.database.clone() }.into());
        };
        let (inner, path) = (Arc::downgrade(&self.inner), path.to_owned());
        writer
            .run_outside_transaction(move |db| {
                let Some(inner) = inner.upgrade() else { return Err(db_handle::gone().into()) };
                let backup = find(&db.paths.backups, &path)?;
                let lock = inner.lock.as_ref().ok_or(Kind::DatabaseInUse)?;
                let fault = |error| disk::fault(&db.paths.database, &error);
                let alone = open::alone(lock).map_err(fault)?;
                let done = if alone {
                    restore(&mut db.connection, &db.paths, &backup)
                } else {
                    Err(Kind::DatabaseInUse.into())
                };
                lock.lock_shared().map_err(fault)?;
                done
            })
            .await?;
        self.recover().await.map(drop)
    }
}

/// The backups in a folder, oldest first.
pub(super) fn list(folder: &Path) -> Vec<Backup> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut backups: Vec<Backup> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let time = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
            let time = DateTime::strptime("%Y%m%dT%H%M%S%.fZ", time).ok()?;
            let time = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Backup { path: entry.path(), time, size: metadata.len() })
        })
        .collect();
    backups.sort_by_key(|backup| backup.time);
    backups
}

/// Whether the newest one is old enough for another.
pub(super) fn is_due(folder: &Path) -> bool {
    list(folder).last().is_none_or(|newest| {
        let age = Timestamp::now().duration_since(newest.time);
        // One from the future was made when the clock was wrong.
        age.is_negative() || age.unsigned_abs() >= BACKUP_INTERVAL
    })
}

/// What a backup is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To come back to when the database is damaged: it is made slowly, and kept only if it is whole.
    Safety,
    /// To come back to from another backup: it is what there is.
    BeforeRestore,
}

/// Whether a backup is being made, by this process or another one.
pub(super) fn is_at_work(folder: &Path) -> bool {
    // What a crash left has nobody who holds the lock, which is looked at only where there is something: whoever
    // begins a backup in that moment would take it for another one.
    let is_held = |lock: File| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    unfinished(folder).exists() && File::open(lock_of(folder)).is_ok_and(is_held)
}

/// A backup that is not whole yet.
fn unfinished(folder: &Path) -> PathBuf {
    folder.join("unfinished")
}

/// What is locked by the one who makes a backup.
fn lock_of(folder: &Path) -> PathBuf {
    folder.join("lock")
}

/// Takes the lock unless another backup keeps it. `pause` is called before each further try.
fn take(lock: &File, mut pause: impl FnMut()) -> bool {
    (0..LOCK_TRIES).any(|tried| {
        if tried > 0 {
            pause();
        }
        lock.try_lock().is_ok()
    })
}

/// Makes a backup. After each step it rests for as long as `pace` says, and is given up where that
/// says nothing. None then, and where another process is at it or the disk is too full.
pub(super) fn make(
    paths: &StorePaths,
    purpose: Purpose,
    pace: &dyn Fn() -> Option<Duration>,
) -> Outcome<Option<Backup>> {
    let folder = &paths.backups;
    disk::private_folder(folder).map_err(|error| disk::fault(folder, &error))?;
    let lock_path = lock_of(folder);
    let lock = disk::private_file(&lock_path).map_err(|error| disk::fault(&lock_path, &error))?;
    match purpose {
        Purpose::Safety if !take(&lock, || thread::sleep(LOCK_PAUSE)) || !has_room(paths) => {
            return Ok(None);
        }
        Purpose::Safety => {}
        Purpose::BeforeRestore => {
            lock.lock().map_err(|error| disk::fault(&lock_path, &error))?;
        }
    }
    // Only one at a time comes so far.
    let part = unfinished(folder);
    salvage::remove(&part);
    let made = copy(paths, purpose, &part, pace);
    let finished = made
        .and_then(|whole| if whole { keep(folder, &part, purpose).map(Some) } else { Ok(None) });
    salvage::remove(&part);
    finished
}

/// Copies the database as it is at this moment. Says whether that came to its end.
fn copy(
    paths: &StorePaths,
    purpose: Purpose,
    part: &Path,
    pace: &dyn Fn() -> Option<Duration>,
) -> Outcome<bool> {
    disk::private_file(part).map_err(|error| disk::fault(part, &error))?;
    let source = paths.reading()?;
    // Held open: otherwise each commit in between would have the copy begin again.
    let snapshot = source.unchecked_transaction()?;
    snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mut target = Connection::open(part)?;
    set_up(&target)?;
    {
        let copying = backup::Backup::new(&source, &mut target)?;
        while copying.step(STEP)? != StepResult::Done {
            let Some(rest) = pace() else { return Ok(false) };
            std::thread::sleep(rest);
        }
    }
    snapshot.finish()?;
    // One file without a log, which can be read where nothing can be written.
    target.pragma_update(None, "journal_mode", "delete")?;
    if purpose == Purpose::Safety
        && let Err(fault) = check_all(&target)
    {
        if fault.is_damage() {
            paths.suspect();
        }
        return Err(fault);
    }
    target.close().map_err(|(_, error)| error)?;
    Ok(true)
}

/// Gives a finished backup its name. A daily one replaces those that are too many; one that is made before another is
/// restored replaces none, since the user may want any of them next.
fn keep(folder: &Path, part: &Path, purpose: Purpose) -> Outcome<Backup> {
    let synced = File::open(part).and_then(|file| file.sync_all());
    synced.map_err(|error| disk::fault(part, &error))?;
    let newest = list(folder).last().map(|backup| backup.time);
    let now = Timestamp::now();
    // Two of one millisecond would have one name.
    let time = newest.filter(|newest| *newest >= now).map_or(now, |newest| {
        newest.checked_add(jiff::SignedDuration::from_millis(1)).unwrap_or(now)
    });
    let name = format!("{PREFIX}{}{SUFFIX}", time.strftime(TIME));
    let path = folder.join(name);
    fs::rename(part, &path)
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(|error| disk::fault(&path, &error))?;
    let backups = list(folder);
    let surplus = if purpose == Purpose::Safety { backups.len().saturating_sub(KEPT) } else { 0 };
    for old in backups.iter().take(surplus) {
        if let Err(error) = fs::remove_file(&old.path) {
            tracing::warn!("{}: {error}", old.path.display());
        }
    }
    let made = backups.into_iter().find(|backup| backup.path == path);
    made.ok_or_else(|| crate::error::Kind::Internal.into())
}

fn has_room(paths: &StorePaths) -> bool {
    let size = fs::metadata(&paths.database).map_or(0, |file| file.len());
    let free = rustix::fs::statvfs(&paths.backups)
        .map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    free > size.saturating_mul(2).saturating_add(LEFT_FREE)
}

/// Opens a backup that is whole, with the tables of today.
pub(super) fn open_good(folder: &Path, backup: &Backup) -> Outcome<Connection> {
    let version = {
        let connection = Connection::open_with_flags(
            &backup.path,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        set_up(&connection)?;
        check_pages(&connection)?;
        let version = schema::version(&connection)?;
        if version == schema::VERSION {
            return Ok(connection);
        }
        version
    };
    if !(1..schema::VERSION).contains(&version) {
        return Err(crate::error::Kind::DatabaseNewer { version }.into());
    }
    // The backup itself stays as it is.
    let copy = folder.join("upgraded");
    salvage::remove(&copy);
    disk::private_file(&copy).map_err(|error| disk::fault(&copy, &error))?;
    fs::copy(&backup.path, &copy).map_err(|error| disk::fault(&copy, &error))?;
    let mut connection = Connection::open(&copy)?;
    // It is read through this connection alone, and gone with it.
    let _ = fs::remove_file(&copy);
    set_up(&connection)?;
    connection.pragma_update(None, "journal_mode", "memory")?;
    schema::migrate(&mut connection, schema::MIGRATIONS)?;
    Ok(connection)
}

/// Whether some backup needs a picture of this name, or may.
pub(super) fn pictures(folder: &Path) -> Outcome<Vec<String>> {
    let mut needed = Vec::new();
    for backup in list(folder) {
        let connection =
            Connection::open_with_flags(&backup.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut statement = connection.prepare("SELECT DISTINCT hash FROM attachments")?;
        let hashes: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        needed.extend(hashes);
    }
    Ok(needed)
}

/// Makes the database what a backup holds; all that it held is kept as a backup first. Nobody else
/// may work with it.
pub(super) fn restore(
    connection: &mut Connection,
    paths: &StorePaths,
    backup: &Backup,
) -> Outcome<()> {
    let source = open_good(&paths.backups, backup)?;
    make(paths, Purpose::BeforeRestore, &|| Some(Duration::ZERO))?;
    let copying = backup::Backup::new(&source, connection)?;
    loop {
        match copying.step(-1)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Another connection of ours may be reading; a long search ends.
            _ => std::thread::sleep(WAIT),
        }
    }
}

/// A backup of this path among those that there are.
pub(super) fn find(folder: &Path, path: &Path) -> Outcome<Backup> {
    let found = list(folder).into_iter().find(|backup| backup.path == path);
    found.ok_or_else(|| Fault::from(crate::error::Kind::FileNotFound { path: path.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_taken_from_one_who_looks_at_it_and_not_from_a_backup() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(lock_of(folder.path())).unwrap();
        let (lock, other) = (open(), open());
        other.try_lock_shared().unwrap();
        assert!(take(&lock, || other.unlock().unwrap()));
        lock.unlock().unwrap();
        other.try_lock().unwrap();
        let mut pauses = 0;
        assert!(!take(&lock, || pauses += 1));
        assert_eq!(pauses, LOCK_TRIES - 1);
    }
}
