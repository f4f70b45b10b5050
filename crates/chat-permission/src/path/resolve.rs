//! Follows a path link by link to where it really leads.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};

use super::open::open_beneath;
use super::{Error, Folders, Kind, PathEnvironment, Project, ResolvedPath};
use crate::SecretFiles;

/// The maximum length of a path in the kernel (`PATH_MAX` without its NUL).
const LONGEST: usize = 4095;
/// The maximum length of a name (`NAME_MAX`).
const LONGEST_NAME: usize = 255;
/// How many links the kernel follows in one path.
const MOST_LINKS: usize = 40;
/// The magic number of procfs (`PROC_SUPER_MAGIC`), whose links are not paths.
const PROC: u64 = 0x9fa0;

impl Project {
    /// Opens the folder that a session works in, by its real path. A folder that contains Natter's
    /// own data, or is in it, is refused; so is a path with a link on it, which may have been
    /// created after the user chose the folder.
    pub fn open(folder: &Path, environment: &PathEnvironment) -> Result<Self, Error> {
        let root = fs::canonicalize(folder).map_err(|error| Error::of(folder, error))?;
        if root != folder {
            return Err(Error::Changed(folder.to_owned()));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let at_root = |error| Error::of(Path::new("/"), error);
        let system = rustix::fs::openat(CWD, "/", flags | OFlags::CLOEXEC, Mode::empty());
        let system = system.map_err(at_root)?;
        let way = root.strip_prefix("/").unwrap_or(&root);
        let way = if way.as_os_str().is_empty() { Path::new(".") } else { way };
        let opened = open_beneath(system.as_fd(), way, flags, Mode::empty());
        let folders = Folders { root: opened.map_err(|error| Error::of(&root, error))?, system };
        let real = |path: &PathBuf| {
            let end = follow(Path::new("/"), path.as_os_str(), true);
            end.map_or_else(|_| path.clone(), |end| end.real)
        };
        let own: Vec<_> = environment.own.iter().flat_map(|path| trail(path)).collect();
        if own.iter().any(|own| own.starts_with(&root) || root.starts_with(own)) {
            return Err(Error::Own(root));
        }
        let home = environment.home.as_ref().map(real);
        let secrets = SecretFiles::default();
        Ok(Self { root, home, own, secrets, folders: Arc::new(folders) })
    }

    /// The same project, with this list of secret files.
    #[must_use]
    pub fn with_secrets(self, secrets: SecretFiles) -> Self {
        Self { secrets, ..self }
    }

    /// Its list of secret files.
    pub fn secrets(&self) -> &SecretFiles {
        &self.secrets
    }

    /// The folder's real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Resolves a path relative to the project's root. `~` is the home folder. The last parts may
    /// be missing. A path with `..` after something that does not exist fails, and so does one with
    /// a trailing slash that is not a folder.
    pub fn resolve(&self, given: &str) -> Result<ResolvedPath, Error> {
        self.resolve_from(&self.root, given, true)
    }

    /// Like [`Project::resolve`], but if the last part is a link, the link itself is meant: to move
    /// or delete it.
    pub fn resolve_entry(&self, given: &str) -> Result<ResolvedPath, Error> {
        self.resolve_from(&self.root, given, false)
    }

    /// Like [`Project::resolve`], for a path that was read from disk: it need not be UTF-8, and `~`
    /// is an ordinary name.
    pub fn resolve_path(&self, path: &Path) -> Result<ResolvedPath, Error> {
        let path = path.as_os_str();
        let path = if path.is_empty() { OsStr::new(".") } else { path };
        Ok(self.described(follow(&self.root, path, true)?))
    }

    /// Like [`Project::resolve`], relative to a folder other than the root.
    pub fn resolve_in(&self, folder: &ResolvedPath, given: &str) -> Result<ResolvedPath, Error> {
        self.resolve_from(&folder.real, given, true)
    }

    /// The entry at a path relative to the root, whatever bytes its names have: `~` is an ordinary
    /// name. It fails if the path leads anywhere else, or has a link on the way.
    pub fn entry(&self, relative: &Path) -> Result<ResolvedPath, Error> {
        if relative.as_os_str().is_empty() {
            return Err(Error::Empty);
        }
        let found = self.described(follow(&self.root, relative.as_os_str(), false)?);
        if found.relative() == Some(relative) { Ok(found) } else { Err(Error::Changed(found.real)) }
    }

    fn resolve_from(
        &self,
        start: &Path,
        given: &str,
        follow_last: bool,
    ) -> Result<ResolvedPath, Error> {
        if given.is_empty() {
            return Err(Error::Empty);
        }
        let home;
        let given = if given == "~" || given.starts_with("~/") {
            let mut path = self.home.clone().ok_or(Error::NoHome)?.into_os_string();
            path.push(&given[1..]);
            home = path;
            home.as_os_str()
        } else {
            OsStr::new(given)
        };
        let mut found = self.described(follow(start, given, follow_last)?);
        // A link's name may say what its target's name does not.
        found.secret |= found.kind == Kind::File && self.secrets.contains(Path::new(given));
        Ok(found)
    }

    fn described(&self, end: End) -> ResolvedPath {
        let End { real, found } = end;
        let relative = beneath(&real, &self.root);
        let kind = found.as_ref().map_or(Kind::Missing, kind);
        ResolvedPath {
            guard: self.guard(&real, relative.as_deref()),
            beneath_home: self
                .home
                .as_ref()
                .and_then(|home| real.strip_prefix(home).ok())
                .map(Path::to_owned),
            several_links: kind == Kind::File
                && found.as_ref().is_some_and(|found| found.nlink() > 1),
            secret: kind != Kind::Folder
                && self.secrets.contains(relative.as_deref().unwrap_or(&real)),
            identity: found.map(|found| (found.dev(), found.ino())),
            relative,
            kind,
            real,
        }
    }
}

/// The path relative to the root, if it is below it. Compared by components, since `/project2`
/// begins like `/project`.
fn beneath(real: &Path, root: &Path) -> Option<PathBuf> {
    if chat_sabotage::is_sabotaged("prefix_path_check") {
        let rest = real.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes())?;
        return Some(OsStr::from_bytes(rest).to_owned().into());
    }
    real.strip_prefix(root).ok().map(Path::to_owned)
}

fn kind(found: &fs::Metadata) -> Kind {
    let kind = found.file_type();
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    }
}

/// Where a path leads. If something exists there, its real path comes first, followed by what it
/// leads to, link by link: whoever can write one of them decides what the first is.
fn trail(path: &Path) -> Vec<PathBuf> {
    let mut trail = Vec::new();
    let mut at = path.to_owned();
    while trail.len() < MOST_LINKS {
        let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else { break };
        let real = follow(Path::new("/"), folder.as_os_str(), true);
        let folder = real.map_or_else(|_| folder.to_owned(), |end| end.real);
        let here = folder.join(name);
        let target = fs::read_link(&here);
        trail.push(here);
        let Ok(target) = target else { return trail };
        at = folder.join(target);
    }
    // It leads to a parent folder, or in a circle.
    let end = follow(Path::new("/"), path.as_os_str(), true);
    trail.extend(end.map(|end| end.real));
    trail
}

struct End {
    real: PathBuf,
    found: Option<fs::Metadata>,
}

/// Follows `given` from `start`, which is real. `follow_last` says whether to follow a link at its
/// very end.
fn follow(start: &Path, given: &OsStr, follow_last: bool) -> Result<End, Error> {
    check(given)?;
    let mut real =
        if given.as_bytes().starts_with(b"/") { PathBuf::from("/") } else { start.to_owned() };
    let mut ahead = parts(given);
    // Set by the last part of the path or of a link at its end.
    let mut must_be_folder = false;
    let mut found = Some(lstat(&real)?);
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        must_be_folder = name.is_empty() || name == ".";
        match &found {
            // A `.` or a slash after it is as wrong as a name.
            Some(here) if !here.is_dir() => return Err(Error::NotAFolder(real)),
            _ if must_be_folder => continue,
            None if name == ".." => return Err(Error::NotFound(real)),
            None => {
                real.push(name);
                continue;
            }
            Some(_) if name == ".." => {
                real.pop();
                found = Some(lstat(&real)?);
                continue;
            }
            Some(_) => {}
        }
        real.push(&name);
        found = match lstat(&real) {
            Ok(here) if here.is_symlink() && (follow_last || !ahead.is_empty()) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Error::Loop(real));
                }
                let target = target(&real)?;
                check(&target)?;
                real.pop();
                if target.as_bytes().starts_with(b"/") {
                    real = PathBuf::from("/");
                }
                let mut way = parts(&target);
                way.append(&mut ahead);
                ahead = way;
                Some(lstat(&real)?)
            }
            Ok(here) => Some(here),
            Err(Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
    }
    if real.as_os_str().len() > LONGEST {
        return Err(Error::TooLong);
    }
    if must_be_folder && found.is_none() {
        return Err(Error::NotFound(real));
    }
    Ok(End { real, found })
}

/// Rejects what the kernel would reject.
fn check(path: &OsStr) -> Result<(), Error> {
    let bytes = path.as_bytes();
    if bytes.contains(&0) {
        return Err(Error::Nul);
    }
    if bytes.len() > LONGEST
        || bytes.split(|&byte| byte == b'/').any(|name| name.len() > LONGEST_NAME)
    {
        return Err(Error::TooLong);
    }
    Ok(())
}

fn parts(path: &OsStr) -> VecDeque<OsString> {
    path.as_bytes()
        .split(|&byte| byte == b'/')
        .map(|part| OsString::from_vec(part.to_vec()))
        .collect()
}

fn lstat(path: &Path) -> Result<fs::Metadata, Error> {
    fs::symlink_metadata(path).map_err(|error| Error::of(path, error))
}

/// The target of a link. Links in `/proc` lead to what a process has open, whatever they say.
fn target(link: &Path) -> Result<OsString, Error> {
    let folder = link.parent().unwrap_or(link);
    let system = rustix::fs::statfs(folder).map_err(|error| Error::of(folder, error))?;
    if system.f_type as u64 == PROC {
        return Err(Error::MagicLink(link.to_owned()));
    }
    fs::read_link(link).map(PathBuf::into_os_string).map_err(|error| Error::of(link, error))
}

#[cfg(test)]
impl ResolvedPath {
    /// A path of an imaginary project at `/project` and a home at `/home/me`, for tests of pure
    /// functions.
    pub(crate) fn imagined(real: &str) -> Self {
        let real = PathBuf::from(real);
        Self {
            relative: real.strip_prefix("/project").ok().map(Path::to_owned),
            beneath_home: real.strip_prefix("/home/me").ok().map(Path::to_owned),
            kind: Kind::File,
            several_links: false,
            secret: SecretFiles::default().contains(&real),
            guard: super::Guard::Nothing,
            identity: None,
            real,
        }
    }

    pub(crate) fn with_several_links(self) -> Self {
        Self { several_links: true, ..self }
    }

    pub(crate) fn folder(self) -> Self {
        Self { kind: Kind::Folder, ..self }
    }

    pub(crate) fn guarded(self, guard: super::Guard) -> Self {
        Self { guard, ..self }
    }
}
