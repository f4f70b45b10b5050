//! Replaces a damaged database with a new one. Whoever does this holds the lock alone.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Zoned;

use super::db_handle::suspect_mark;
use super::fault::Outcome;
use super::salvage;
use crate::error::Kind;
use crate::settings::disk;

/// Saves what can be read into a new database and keeps the damaged one under another name. Says
/// what became of it.
pub(super) fn repair(database: &Path, backups: &Path) -> Outcome<Kind> {
    let notice = prepare(database, backups)?;
    exchange(database).map_err(|error| disk::fault(database, &error))?;
    Ok(notice)
}

/// Makes the new database whole, and notes what the person should hear of it: the program may end
/// before it is in its place.
fn prepare(database: &Path, backups: &Path) -> Outcome<Kind> {
    let part = database.with_extension("db.repairing");
    let salvaged = match salvage::salvage(database, backups, &part) {
        Ok(salvaged) => salvaged,
        Err(fault) => {
            salvage::remove(&part);
            return Err(fault);
        }
    };
    let kept_as = free_name(database);
    let notice = if salvaged.chats == 0 {
        Kind::DatabaseDamaged { kept_as }
    } else {
        let (missing, from_backup) = (salvaged.missing, salvaged.from_backup);
        Kind::DatabaseRepaired { kept_as, missing, from_backup }
    };
    // Without the note a repair that is broken off goes unsaid; that is no reason not to repair.
    if let Err(error) = add_to_note(database, &notice) {
        tracing::warn!("the notice of a repair is not kept: {error}");
    }
    if let Err(error) = fs::rename(&part, whole(database)) {
        salvage::remove(&part);
        return Err(disk::fault(database, &error).into());
    }
    Ok(notice)
}

/// Adds to what the person should hear: earlier repairs may not have been shown to them yet.
fn add_to_note(database: &Path, notice: &Kind) -> io::Result<()> {
    let mut notices = noted(database);
    notices.push(notice.clone());
    disk::replace(&note(database), &serde_json::to_vec(&notices)?)
}

/// What the person should hear, oldest first. Earlier versions noted one repair only.
fn noted(database: &Path) -> Vec<Kind> {
    let Ok(json) = fs::read(note(database)) else { return Vec::new() };
    let one = |_| serde_json::from_slice(&json).map(|notice| vec![notice]);
    serde_json::from_slice(&json).or_else(one).unwrap_or_default()
}

/// What the person should hear of new databases, until they were shown it.
fn note(database: &Path) -> PathBuf {
    database.with_extension("db.repaired-notice")
}

/// A new database that is whole and not in its place yet.
fn whole(database: &Path) -> PathBuf {
    database.with_extension("db.repaired")
}

/// Whether a program ended between making a new database and putting it in its place.
pub(super) fn is_unfinished(database: &Path) -> bool {
    whole(database).exists()
}

/// Moves the damaged database away and the new one into its place. After a crash in between it is
/// done again: the new one stays where it is until the last. Gives what the person should hear,
/// where that was noted.
pub(super) fn exchange(database: &Path) -> io::Result<Option<Kind>> {
    // Of an earlier repair, where this one could not be noted: its damaged file is never overwritten.
    let is_earlier = |notice: &Kind| database.exists() && kept_as(notice).is_none_or(Path::exists);
    let notice = noted(database).pop().filter(|notice| !is_earlier(notice));
    let kept_as = notice.as_ref().and_then(kept_as);
    let kept_as = kept_as.map_or_else(|| free_name(database), Path::to_owned);
    set_aside(database, &kept_as)?;
    fs::rename(whole(database), database)?;
    if let Some(folder) = database.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(notice)
}

/// Where a repair keeps the damaged file.
fn kept_as(notice: &Kind) -> Option<&Path> {
    match notice {
        Kind::DatabaseDamaged { kept_as } | Kind::DatabaseRepaired { kept_as, .. } => Some(kept_as),
        _ => None,
    }
}

/// The repairs that the user has not seen yet, oldest first. A repair that was noted and never happened is left out:
/// then there is no damaged file.
pub(super) fn unreported(database: &Path) -> Vec<Kind> {
    let mut unreported = noted(database);
    unreported.retain(|notice| kept_as(notice).is_some_and(Path::exists));
    if unreported.is_empty() {
        let _ = fs::remove_file(note(database));
    }
    unreported
}

/// The person was shown what became of the repairs.
pub(super) fn mark_reported(database: &Path) -> io::Result<()> {
    match fs::remove_file(note(database)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The name with something behind it.
fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A name for a damaged database that nothing else has.
fn free_name(database: &Path) -> PathBuf {
    let time = Zoned::now().strftime("%Y-%m-%d-%H-%M-%S").to_string();
    let mut name = with(database, &format!(".damaged-{time}"));
    for n in 2.. {
        if !name.exists() {
            break;
        }
        name = with(database, &format!(".damaged-{time}-{n}"));
    }
    name
}

/// Moves a damaged database to this name.
fn set_aside(database: &Path, kept_as: &Path) -> io::Result<()> {
    // The log first: a new database must never find the old one's.
    for end in ["-wal", "-shm", ""] {
        match fs::rename(with(database, end), with(kept_as, end)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let _ = fs::remove_file(suspect_mark(database));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Folders;
    use crate::store::Store;

    #[test]
    fn a_repair_that_was_broken_off_is_told_all_the_same() {
        // How many of the renames came to pass before the program ended.
        for renames in 0..=1 {
            let folder = tempfile::tempdir().unwrap();
            let folders = Folders::below(folder.path());
            let database = folders.database();
            fs::create_dir_all(&folders.data).unwrap();
            fs::write(&database, "Dear diary").unwrap();
            let noted = prepare(&database, &folders.backups()).unwrap();
            let Kind::DatabaseDamaged { kept_as } = &noted else { panic!("{noted:?}") };
            if renames == 1 {
                set_aside(&database, kept_as).unwrap();
            }
            let opened = Store::open(&folders).unwrap();
            assert_eq!(opened.notice.map(|notice| notice.kind).as_ref(), Some(&noted));
            assert_eq!(fs::read_to_string(kept_as).unwrap(), "Dear diary");
        }
    }

    #[test]
    fn a_repair_is_told_at_each_start_until_it_was_shown() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::below(folder.path());
        fs::create_dir_all(&folders.data).unwrap();
        fs::write(folders.database(), "Dear diary").unwrap();
        let told =
            |opened: &crate::store::Opened| opened.notice.as_ref().map(|notice| notice.kind.name());
        for _ in 0..3 {
            // The program ends before anybody saw it.
            let opened = Store::open(&folders).unwrap();
            assert_eq!(told(&opened), Some("database_damaged"));
        }
        let opened = Store::open(&folders).unwrap();
        opened.store.notice_was_shown().unwrap();
        drop(opened);
        let opened = Store::open(&folders).unwrap();
        assert_eq!(told(&opened), None);
        opened.store.notice_was_shown().unwrap();
    }

    #[test]
    fn a_repair_that_never_came_to_pass_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::below(folder.path());
        drop(Store::open(&folders).unwrap());
        let kept_as = free_name(&folders.database());
        add_to_note(&folders.database(), &Kind::DatabaseDamaged { kept_as }).unwrap();
        assert_eq!(Store::open(&folders).unwrap().notice, None);
        assert!(!note(&folders.database()).exists());
    }

    /// Damages the database, and has it repaired by the next start.
    fn repaired(folders: &Folders, content: &str) -> crate::store::Opened {
        fs::create_dir_all(&folders.data).unwrap();
        fs::write(folders.database(), content).unwrap();
        Store::open(folders).unwrap()
    }

    #[test]
    fn repairs_that_were_not_shown_are_told_with_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::below(folder.path());
        let first = repaired(&folders, "Dear diary").notice.unwrap();
        // As an earlier version noted it.
        fs::write(note(&folders.database()), serde_json::to_vec(&first.kind).unwrap()).unwrap();
        let opened = repaired(&folders, "Dear other diary");
        let second = opened.notice.clone().unwrap();
        assert_eq!(opened.earlier, std::slice::from_ref(&first));
        assert_ne!(first, second);
        drop(opened);
        let opened = Store::open(&folders).unwrap();
        assert_eq!((&opened.earlier, &opened.notice), (&vec![first], &Some(second)));
        opened.store.notice_was_shown().unwrap();
        drop(opened);
        let opened = Store::open(&folders).unwrap();
        assert_eq!((opened.earlier, opened.notice), (vec![], None));
    }

    #[test]
    fn a_repair_that_could_not_be_noted_overwrites_no_earlier_damaged_file() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::below(folder.path());
        let database = folders.database();
        let first = repaired(&folders, "Dear diary").notice.unwrap();
        let noted = fs::read(note(&database)).unwrap();
        fs::write(&database, "Dear other diary").unwrap();
        prepare(&database, &folders.backups()).unwrap();
        fs::write(note(&database), noted).unwrap();
        let opened = Store::open(&folders).unwrap();
        assert_eq!(opened.notice.as_ref(), Some(&first));
        let kept = kept_as(&first.kind).unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "Dear diary");
    }
}
