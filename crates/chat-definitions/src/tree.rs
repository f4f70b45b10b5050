//! Lists and reads files of the user or of a project, bounded, and without following links out of a project.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chat_permission::ResolvedPath;
use chat_permission::path::{Error, Guard, Kind, Project};
use rustix::fs::{Dir, OFlags};

use crate::watch_list::WatchList;
use crate::{Origin, ProblemKind};

/// Names of a folder that are looked at.
const MOST_NAMES: usize = 4_096;

/// A folder below which definitions are.
pub(crate) enum Tree {
    /// A folder of the user. Links are followed: people keep such files elsewhere.
    User(PathBuf),
    /// A project.
    Project(Project),
}

/// The names in a folder, sorted, and whether there are more.
pub(crate) struct Names {
    pub names: Vec<OsString>,
    pub is_cut: bool,
}

impl Tree {
    pub fn origin(&self) -> Origin {
        match self {
            Self::User(_) => Origin::User,
            Self::Project(_) => Origin::Project,
        }
    }

    pub fn base(&self) -> &Path {
        match self {
            Self::User(base) => base,
            Self::Project(project) => project.root(),
        }
    }

    /// Lists a folder, and has it watched, or where it would be. None if there is none.
    pub fn names(
        &self,
        relative: &Path,
        watched: &mut WatchList,
    ) -> Result<Option<Names>, ProblemKind> {
        watched.way(self.base(), relative, self.origin() == Origin::Project);
        match self {
            Self::User(base) => {
                let path = base.join(relative);
                let entries = match fs::read_dir(&path) {
                    Ok(entries) => entries,
                    Err(error) if is_absent(&error) => return Ok(None),
                    Err(_) => return Err(ProblemKind::Unreadable),
                };
                if let Ok(real) = fs::canonicalize(&path) {
                    watched.folder(real);
                }
                Ok(Some(sorted(entries.map(|entry| Some(entry.ok()?.file_name())))))
            }
            Self::Project(project) => {
                let Some(resolved) = resolve(project, relative)? else { return Ok(None) };
                let folder = project.open_folder(&resolved).map_err(|_| ProblemKind::Unreadable)?;
                watched.folder(resolved.real().to_owned());
                let entries = Dir::read_from(folder).map_err(|_| ProblemKind::Unreadable)?;
                let name = |entry: rustix::io::Result<rustix::fs::DirEntry>| {
                    Some(OsStr::from_bytes(entry.ok()?.file_name().to_bytes()).to_owned())
                };
                Ok(Some(sorted(entries.map(name))))
            }
        }
    }

    /// Whether a file is really below a folder, wherever links lead, and in a project none that may
    /// hold secrets.
    pub fn holds(&self, folder: &Path, file: &Path) -> bool {
        match self {
            Self::User(base) => {
                let real = |path: &Path| fs::canonicalize(base.join(path)).ok();
                let (Some(folder), Some(file)) = (real(folder), real(file)) else { return false };
                file.starts_with(folder) && file.is_file()
            }
            Self::Project(project) => {
                let real = |path: &Path| resolve(project, path).ok().flatten();
                let (Some(folder), Some(file)) = (real(folder), real(file)) else { return false };
                file.real().starts_with(folder.real()) && !file.is_secret()
            }
        }
    }

    /// Reads a file of at most `limit` bytes. None if there is none.
    pub fn read(&self, relative: &Path, limit: u64) -> Result<Option<Vec<u8>>, ProblemKind> {
        let file = match self {
            Self::User(base) => match open(&base.join(relative)) {
                Ok(file) => file,
                Err(error) if is_absent(&error) => return Ok(None),
                Err(_) => return Err(ProblemKind::Unreadable),
            },
            Self::Project(project) => {
                let Some(resolved) = resolve(project, relative)? else { return Ok(None) };
                project.open_file(&resolved).map_err(|_| ProblemKind::Unreadable)?
            }
        };
        let mut bytes = Vec::new();
        let mut file = file.take(limit + 1);
        file.read_to_end(&mut bytes).map_err(|_| ProblemKind::Unreadable)?;
        if bytes.len() as u64 > limit {
            return Err(ProblemKind::TooLarge { limit });
        }
        Ok(Some(bytes))
    }
}

/// Resolves a path of a project, which must not lead out of it. None if there is nothing.
fn resolve(project: &Project, relative: &Path) -> Result<Option<ResolvedPath>, ProblemKind> {
    let is_link = || project.root().join(relative).is_symlink();
    let resolved = match project.resolve_path(relative) {
        Ok(resolved) => resolved,
        Err(Error::NotFound(_) | Error::NotAFolder(_)) if is_link() => {
            return Err(ProblemKind::LeadsOut);
        }
        Err(Error::NotFound(_) | Error::NotAFolder(_)) => return Ok(None),
        Err(Error::Loop(_) | Error::MagicLink(_)) => return Err(ProblemKind::LeadsOut),
        Err(_) => return Err(ProblemKind::Unreadable),
    };
    if !resolved.is_inside() || resolved.guard() == Guard::Own {
        return Err(ProblemKind::LeadsOut);
    }
    if resolved.kind() == Kind::Missing {
        return if is_link() { Err(ProblemKind::LeadsOut) } else { Ok(None) };
    }
    Ok(Some(resolved))
}

/// Opens a file for reading. Opening a pipe would wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn sorted(names: impl Iterator<Item = Option<OsString>>) -> Names {
    let mut is_cut = false;
    let mut found = Vec::new();
    for name in names.flatten().filter(|name| name != "." && name != "..") {
        if found.len() == MOST_NAMES {
            is_cut = true;
            break;
        }
        found.push(name);
    }
    found.sort_unstable();
    Names { names: found, is_cut }
}
