//! Puts a new database in the place of a damaged one. Whoever does this holds the lock alone.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Zoned;

use super::desk::suspect_mark;
use super::fault::Outcome;
use super::salvage;
use crate::error::Kind;
use crate::settings::disk;

/// Saves what can be read into a new database and keeps the damaged one under another name. Says
/// what became of it.
pub(super) fn repair(database: &Path, backups: &Path) -> Outcome<Kind> {
    let part = database.with_extension("db.repairing");
    let salvaged = match salvage::salvage(database, backups, &part) {
        Ok(salvaged) => salvaged,
        Err(fault) => {
            salvage::remove(&part);
            return Err(fault);
        }
    };
    let exchange = || {
        fs::rename(&part, whole(database))?;
        exchange(database)
    };
    let kept_as = exchange().map_err(|error| disk::fault(database, &error))?;
    if salvaged.chats == 0 {
        return Ok(Kind::DatabaseDamaged { kept_as });
    }
    let (missing, from_backup) = (salvaged.missing, salvaged.from_backup);
    Ok(Kind::DatabaseRepaired { kept_as, missing, from_backup })
}

/// A new database that is whole and not in its place yet.
fn whole(database: &Path) -> PathBuf {
    database.with_extension("db.repaired")
}

/// Whether a program ended between making a new database and putting it in its place.
pub(super) fn is_unfinished(database: &Path) -> bool {
    whole(database).exists()
}

/// Puts the damaged database aside and the new one in its place. After a crash in between it is
/// done again: the new one stays where it is until the last.
pub(super) fn exchange(database: &Path) -> io::Result<PathBuf> {
    let kept_as = keep_aside(database)?;
    fs::rename(whole(database), database)?;
    if let Some(folder) = database.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(kept_as)
}

/// Puts a damaged database aside under a name of its own.
fn keep_aside(database: &Path) -> io::Result<PathBuf> {
    let time = Zoned::now().strftime("%Y-%m-%d-%H-%M-%S").to_string();
    let with = |path: &Path, end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let mut kept_as = with(database, &format!(".damaged-{time}"));
    for n in 2.. {
        if !kept_as.exists() {
            break;
        }
        kept_as = with(database, &format!(".damaged-{time}-{n}"));
    }
    // The log first: a new database must never find the old one's.
    for end in ["-wal", "-shm", ""] {
        match fs::rename(with(database, end), with(&kept_as, end)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let _ = fs::remove_file(suspect_mark(database));
    Ok(kept_as)
}
