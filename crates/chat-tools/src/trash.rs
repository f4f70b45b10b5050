//! Moves files to the desktop's trash, following the freedesktop.org specification 1.0: the trash
//! of the home folder, or of the volume that the file is on. A file is renamed into it, and never
//! copied or removed.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use chat_permission::path::Error as PathError;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::tool_path::ToolPath;

/// How many names are tried for a file if its name is already taken in the trash.
const NAMES: usize = 10_000;

/// The user's trash.
#[derive(Clone, Debug, Default)]
pub struct Trash {
    /// The trash of the home folder.
    home: Option<PathBuf>,
}

/// Why something was not moved to the trash. It is still where it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither the home folder nor the volume has one.
    #[error("its disk has no trash")]
    None,
    /// It cannot be used.
    #[error("the trash cannot be used: {0}")]
    Io(#[from] io::Error),
    /// The file cannot be moved there.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// A trash folder, and what its paths are relative to.
struct Folder {
    path: PathBuf,
    /// The volume's top folder; the home folder's trash uses absolute paths.
    top: Option<PathBuf>,
}

impl Trash {
    /// The trash of the user who runs this program.
    pub fn of_person() -> Self {
        let folder = |name, below: &str| {
            let folder = PathBuf::from(std::env::var_os(name)?);
            folder.is_absolute().then(|| folder.join(below))
        };
        Self {
            home: folder("XDG_DATA_HOME", "Trash").or_else(|| folder("HOME", ".local/share/Trash")),
        }
    }

    /// The trash of the home folder at this path.
    pub fn at(home: impl Into<PathBuf>) -> Self {
        Self { home: Some(home.into()) }
    }

    /// Moves something to the trash.
    ///
    /// # Errors
    ///
    /// It was not moved, and is still where it was.
    pub fn put(&self, place: &ToolPath) -> Result<(), Error> {
        if let Some(home) = &self.home {
            DirBuilder::new().recursive(true).mode(0o700).create(home)?;
            match (Folder { path: home.clone(), top: None }).take(place) {
                Err(Error::Path(PathError::Io { source, .. }))
                    if source.kind() == io::ErrorKind::CrossesDevices => {}
                done => return done,
            }
        }
        let mut refused = Error::None;
        for folder in of_volume(place.path.real())? {
            match folder.take(place) {
                Err(error @ Error::Io(_)) => refused = error,
                done => return done,
            }
        }
        Err(refused)
    }
}

/// The trash folders that a path's volume may have: the administrator's, and the user's own.
fn of_volume(path: &Path) -> Result<Vec<Folder>, Error> {
    let above = path.parent().ok_or(Error::None)?;
    let device = above.metadata()?.dev();
    let on_volume = above
        .ancestors()
        .take_while(|folder| folder.metadata().is_ok_and(|found| found.dev() == device));
    let top = on_volume.last().ok_or(Error::None)?.to_owned();
    let user = rustix::process::getuid().as_raw();
    let mut folders = Vec::new();
    // The administrator's must be sticky and not a link: otherwise others could take files from it.
    let shared = top.join(".Trash");
    if shared.symlink_metadata().is_ok_and(|found| found.is_dir() && found.mode() & 0o1000 != 0) {
        folders.push(shared.join(user.to_string()));
    }
    folders.push(top.join(format!(".Trash-{user}")));
    let is_own = |path: &PathBuf| {
        let _ = DirBuilder::new().mode(0o700).create(path);
        path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == user)
    };
    let folders = folders.into_iter().filter(is_own);
    Ok(folders.map(|path| Folder { path, top: Some(top.clone()) }).collect())
}

impl Folder {
    /// Moves something in, under a name that is free here.
    fn take(&self, place: &ToolPath) -> Result<(), Error> {
        let (files, infos) = self.open()?;
        let real = place.path.real();
        let own = real.file_name().unwrap_or_default();
        for number in 1..=NAMES {
            let mut name: OsString = own.to_owned();
            if number > 1 {
                name.push(format!(".{number}"));
            }
            let mut info = name.clone();
            info.push(".trashinfo");
            // Whoever creates the info file first has the name.
            let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = match openat(&infos, &info, how, Mode::RUSR | Mode::WUSR) {
                Err(Errno::EXIST) => continue,
                file => File::from(file.map_err(io::Error::from)?),
            };
            let done = describe(file, self.counted(real)).map_err(Error::from);
            let done =
                done.and_then(|()| Ok(place.project.move_into(&place.path, &files, &name)?));
            match done {
                Ok(()) => return Ok(()),
                Err(error) => {
                    let _ = unlinkat(&infos, &info, AtFlags::empty());
                    // A file without its info file has the name.
                    if !matches!(error, Error::Path(PathError::Exists(_))) {
                        return Err(error);
                    }
                }
            }
        }
        Err(Error::None)
    }

    /// Opens its two folders, which are created if they are missing. The volume may be the project:
    /// then it may contain anything, even links that lead outside, and none of them is followed. In
    /// the home folder, a link is the user's own.
    fn open(&self) -> io::Result<(OwnedFd, OwnedFd)> {
        let (mut folder, below, how) = match &self.top {
            None => (open(CWD, &self.path, OFlags::PATH)?, Path::new(""), OFlags::RDONLY),
            Some(top) => {
                let below = self.path.strip_prefix(top).unwrap_or(&self.path);
                (open(CWD, top, OFlags::PATH)?, below, OFlags::NOFOLLOW)
            }
        };
        for name in below {
            folder = open(&folder, Path::new(name), OFlags::PATH | how)?;
        }
        let [files, infos] = ["files", "info"].map(|name| {
            match mkdirat(&folder, name, Mode::RWXU) {
                Err(error) if error != Errno::EXIST => return Err(error.into()),
                _ => {}
            }
            open(&folder, Path::new(name), how)
        });
        Ok((files?, infos?))
    }

    /// A path as this trash writes it.
    fn counted<'a>(&self, path: &'a Path) -> &'a Path {
        self.top.as_ref().and_then(|top| path.strip_prefix(top).ok()).unwrap_or(path)
    }
}

fn open(at: impl AsFd, folder: &Path, how: OFlags) -> io::Result<OwnedFd> {
    Ok(openat(at, folder, OFlags::DIRECTORY | OFlags::CLOEXEC | how, Mode::empty())?)
}

/// Writes where something came from, and when.
fn describe(mut file: File, path: &Path) -> io::Result<()> {
    let mut text = "[Trash Info]\nPath=".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    let now = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let _ = write!(text, "\nDeletionDate={now}\n");
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use chat_permission::path::{PathEnvironment, Project};

    use super::*;

    /// A volume that is a project, with a file, and its trash.
    fn volume() -> (tempfile::TempDir, ToolPath, Folder) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("volume");
        std::fs::create_dir_all(top.join(".Trash-7")).unwrap();
        std::fs::create_dir(top.join("elsewhere")).unwrap();
        std::fs::write(top.join("file"), "x").unwrap();
        let project = Arc::new(Project::open(&top, &PathEnvironment::default()).unwrap());
        let path = project.resolve("file").unwrap();
        let trash = Folder { path: top.join(".Trash-7"), top: Some(top) };
        (folder, ToolPath { project, path }, trash)
    }

    #[test]
    fn a_volumes_trash_counts_from_its_top() {
        let (_folder, place, trash) = volume();
        trash.take(&place).unwrap();
        assert_eq!(std::fs::read_to_string(trash.path.join("files/file")).unwrap(), "x");
        let info = std::fs::read_to_string(trash.path.join("info/file.trashinfo")).unwrap();
        assert!(info.starts_with("[Trash Info]\nPath=file\n"), "{info}");
    }

    #[test]
    fn no_link_of_a_volume_is_followed() {
        for link in [".Trash-7", ".Trash-7/files", ".Trash-7/info"] {
            let (_folder, place, trash) = volume();
            let top = trash.top.clone().unwrap();
            let _ = std::fs::remove_dir(top.join(link));
            symlink(top.join("elsewhere"), top.join(link)).unwrap();
            assert!(matches!(trash.take(&place), Err(Error::Io(_))), "{link}");
            assert!(top.join("file").exists(), "{link}");
            assert_eq!(top.join("elsewhere").read_dir().unwrap().count(), 0, "{link}");
        }
    }

    /// A command may do so while a file is being moved.
    #[test]
    fn what_is_put_in_a_folders_place_gets_nothing() {
        let (_folder, place, trash) = volume();
        let (files, _) = trash.open().unwrap();
        std::fs::rename(trash.path.join("files"), trash.path.join("old")).unwrap();
        symlink("../elsewhere", trash.path.join("files")).unwrap();
        place.project.move_into(&place.path, &files, "file".as_ref()).unwrap();
        assert!(trash.path.join("old/file").exists());
    }
}
