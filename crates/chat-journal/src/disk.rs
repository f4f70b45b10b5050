//! Reads and writes the project's files on disk, without following links.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use chat_permission::ResolvedPath;
use chat_permission::path::{Error as PathError, Guard, Kind, Project};
use rustix::fs::{AtFlags, Dir, Stat};
use rustix::io::Errno;

use crate::manifest;
use crate::node::{Mode, Node, State};
use crate::walk::is_recorded;

/// The maximum size of a file that is read, in bytes: it is held in memory several times.
const LARGEST: u64 = 256 * 1024 * 1024;
/// How often to retry reading a file that is replaced while it is read.
const TRIES: usize = 8;

/// What is at a path. A folder counts as nothing, and so does what is behind a link. A pipe or a
/// device is an error.
pub fn read(project: &Project, path: &Path) -> Result<State, PathError> {
    Ok(read_with(project, path)?.map(|(node, _)| node))
}

/// The same, with the file's metadata from before it was read.
pub fn read_with(project: &Project, path: &Path) -> Result<Option<(Node, Stat)>, PathError> {
    let mut tries = 0;
    loop {
        match read_once(project, path) {
            // The file was replaced between two checks.
            Err(PathError::Changed(_)) if tries < TRIES => tries += 1,
            read => return read,
        }
    }
}

fn read_once(project: &Project, path: &Path) -> Result<Option<(Node, Stat)>, PathError> {
    let entry = match project.entry(path) {
        // There is a file or a link instead of a parent folder: nothing of the project is behind
        // it.
        Err(
            PathError::NotAFolder(_)
            | PathError::NotFound(_)
            | PathError::Changed(_)
            | PathError::Loop(_)
            | PathError::MagicLink(_),
        ) => return Ok(None),
        entry => entry?,
    };
    let io = |error: std::io::Error| PathError::Io { path: entry.real().to_owned(), source: error };
    let too_large = || io(std::io::ErrorKind::FileTooLarge.into());
    match entry.kind() {
        Kind::Missing | Kind::Folder => Ok(None),
        Kind::File => {
            let mut file = project.open_file(&entry)?;
            let stat = rustix::fs::fstat(&file).map_err(|error| io(error.into()))?;
            if stat.st_size as u64 > LARGEST {
                return Err(too_large());
            }
            let mut bytes = Vec::with_capacity(stat.st_size as usize);
            // The file may grow meanwhile.
            Read::by_ref(&mut file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(io)?;
            if bytes.len() as u64 > LARGEST {
                return Err(too_large());
            }
            let permissions = Some(manifest::permissions(&stat));
            Ok(Some((Node { mode: manifest::mode(&stat), bytes: bytes.into(), permissions }, stat)))
        }
        Kind::Link => {
            let target = project.read_link(&entry)?;
            let stat = stat_entry(project, &entry)?;
            if manifest::mode(&stat) != Mode::Link {
                return Err(PathError::Changed(entry.real().to_owned()));
            }
            let bytes = target.as_bytes().into();
            Ok(Some((Node { mode: Mode::Link, bytes, permissions: None }, stat)))
        }
        Kind::Special => Err(PathError::NotAFile(entry.real().to_owned())),
    }
}

/// The metadata of a path, if it is a file or a link, and there is no link on the way.
pub fn stat(project: &Project, path: &Path) -> Option<Stat> {
    stat_entry(project, &project.entry(path).ok()?).ok().filter(is_recorded)
}

/// What is there at this moment, without following links.
fn stat_entry(project: &Project, entry: &ResolvedPath) -> Result<Stat, PathError> {
    let (folder, name) = project.parent(entry)?;
    rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|_| PathError::Changed(entry.real().to_owned()))
}

/// Whether two checks of a file show that nobody wrote to it in between.
fn is_same(one: &Stat, other: &Stat) -> bool {
    let told = |stat: &Stat| {
        let modified = (stat.st_mtime, stat.st_mtime_nsec);
        (stat.st_dev, stat.st_ino, stat.st_size, modified, (stat.st_ctime, stat.st_ctime_nsec))
    };
    told(one) == told(other)
}

/// Writes what a path should contain, if it still contains what was judged: otherwise the error is
/// [`PathError::Changed`], and nothing was done.
pub fn write(project: &Project, path: &Path, judged: &State, new: &State) -> Result<(), PathError> {
    if judged == new {
        return Ok(());
    }
    let entry = project.entry(path)?;
    let changed = || PathError::Changed(entry.real().to_owned());
    // No tool can have written there; a command may have, before that was quarantined.
    if entry.guard() != Guard::Nothing {
        return Err(changed());
    }
    let found = read_with(project, path)?;
    if found.as_ref().map(|(node, _)| node) != judged.as_ref() {
        return Err(changed());
    }
    // Reading takes time: somebody may have written since.
    if let Some((_, stat)) = &found
        && !is_same(stat, &stat_entry(project, &entry)?)
    {
        return Err(changed());
    }
    let is_link = |state: &State| state.as_ref().is_some_and(|node| node.mode == Mode::Link);
    match (judged, new) {
        (Some(old), Some(new)) if !is_link(judged) && new.mode != Mode::Link => {
            let executable = (old.mode != new.mode).then_some(new.mode == Mode::Executable);
            project.replace_as(&entry, &new.bytes, executable)
        }
        (judged, new) => {
            if judged.is_some() {
                project.remove(&entry)?;
            }
            let Some(new) = new else { return Ok(()) };
            if entry.kind() == Kind::Folder {
                clear(project, path)?;
            }
            let entry = project.entry(path)?;
            match new.mode {
                Mode::Link => project.create_link(&entry, OsStr::from_bytes(&new.bytes)),
                mode => project.create_as(&entry, &new.bytes, permissions(mode, new.permissions)),
            }
        }
    }
}

/// The permissions of a restored file: its old ones, as far as they are known.
fn permissions(mode: Mode, known: Option<u16>) -> u16 {
    let usual = if mode == Mode::Executable { 0o777 } else { 0o666 };
    // Those who could not read it cannot run it, either.
    let known = known.map_or(0o777, |known| known | known >> 2 & 0o111 | 0o600);
    usual & known
}

/// Removes a folder that is where a file should be, if it contains nothing but folders.
fn clear(project: &Project, path: &Path) -> Result<(), PathError> {
    let mut folders = vec![path.to_owned()];
    let mut at = 0;
    while let Some(folder) = folders.get(at) {
        let entry = project.entry(folder)?;
        let io =
            |error: Errno| PathError::Io { path: entry.real().to_owned(), source: error.into() };
        let opened = project.open_folder(&entry)?;
        let mut below = Vec::new();
        for found in Dir::read_from(&opened).map_err(io)? {
            let found = found.map_err(io)?;
            let name = found.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                below.push(folder.join(OsStr::from_bytes(name)));
            }
        }
        for path in &below {
            if project.entry(path)?.kind() != Kind::Folder {
                return Err(PathError::Exists(entry.real().to_owned()));
            }
        }
        folders.extend(below);
        at += 1;
    }
    // Subfolders come first.
    folders.iter().rev().try_for_each(|folder| project.remove(&project.entry(folder)?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use chat_permission::path::PathEnvironment;

    use super::*;

    #[test]
    fn each_kind_becomes_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let node = |mode, text: &str| {
            Some(Node { mode, bytes: text.as_bytes().into(), permissions: None })
        };
        let states = [
            None,
            node(Mode::File, "a"),
            node(Mode::Executable, "b"),
            node(Mode::Link, "../nowhere"),
            node(Mode::File, ""),
        ];
        let path = Path::new("~/new\n/a");
        for old in &states {
            for new in &states {
                let before = read(&project, path).unwrap();
                write(&project, path, &before, old).unwrap();
                write(&project, path, old, new).unwrap();
                assert_eq!(read(&project, path).unwrap(), *new, "{old:?} to {new:?}");
            }
        }
    }

    #[test]
    fn what_was_the_persons_alone_is_that_again() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let path = folder.path().join("a");
        for bits in [0o600, 0o640, 0o700, 0o400, 0o644] {
            std::fs::write(&path, "secret").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
            let found = read(&project, Path::new("a")).unwrap();
            write(&project, Path::new("a"), &found, &None).unwrap();
            write(&project, Path::new("a"), &None, &found).unwrap();
            let now = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(now & 0o077 & !bits, 0, "{bits:o} became {now:o}");
            assert_eq!((now & 0o600, now & 0o100), (0o600, bits & 0o100), "{bits:o}");
            write(&project, Path::new("a"), &found, &None).unwrap();
        }
    }

    #[test]
    fn only_folders_without_files_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        std::fs::create_dir_all(folder.path().join("a/b/c")).unwrap();
        std::fs::create_dir_all(folder.path().join("a/d")).unwrap();
        std::fs::write(folder.path().join("a/d/file"), "").unwrap();
        let new = Some(Node::file(*b"new"));
        assert!(write(&project, Path::new("a"), &None, &new).is_err());
        assert!(folder.path().join("a/b/c").exists());
        std::fs::remove_file(folder.path().join("a/d/file")).unwrap();
        write(&project, Path::new("a"), &None, &new).unwrap();
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"new");
    }

    #[test]
    fn what_changed_since_stays() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "mine").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let judged = Some(Node::file(*b"other"));
        for new in [None, Some(Node::file(*b"new"))] {
            let refused = write(&project, Path::new("a"), &judged, &new);
            assert!(matches!(refused, Err(PathError::Changed(_))));
            let refused = write(&project, Path::new("a"), &None, &new);
            assert!(refused.is_err() || new.is_none());
            assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        }
        let judged = Some(Node::file(*b"mine"));
        write(&project, Path::new("a"), &judged, &Some(Node::file(*b"new"))).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn nothing_is_written_back_that_is_kept_from_tools() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let node = Node { mode: Mode::File, bytes: b"{}".to_vec().into(), permissions: None };
        for name in [".mcp.json", ".git/config", ".natter/rules"] {
            let path = Path::new(name);
            let written = write(&project, path, &None, &Some(node.clone()));
            assert!(matches!(written, Err(PathError::Changed(_))), "{name}");
            assert!(!folder.path().join(path).exists());
        }
        write(&project, Path::new("other.json"), &None, &Some(node)).unwrap();
    }
}
