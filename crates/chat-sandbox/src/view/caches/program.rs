//! Keeps files for a program that is started again and again: a folder of its own to run in, and
//! caches, so that it needs to download what it runs only once.
//!
//! They are not those of a project: what a command puts into a project's caches must not be run by
//! a program that may use the network or has been given keys.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::own;

/// What is kept for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramFiles {
    folder: PathBuf,
    kept: PathBuf,
}

impl ProgramFiles {
    /// The files of the program with this name, created if they do not exist.
    pub(crate) fn of(name: &str, home: &Path) -> io::Result<Self> {
        let made = |path: PathBuf| {
            DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
            path.canonicalize()
        };
        let [folder, kept] = paths(name, home).ok_or(io::ErrorKind::NotFound)?;
        let files = Self { folder: made(folder)?, kept: made(kept)? };
        made(files.caches())?;
        Ok(files)
    }

    /// The folder in which the program may keep what it likes.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its caches and what is known of them are, which the program does not see.
    pub(super) fn kept(&self) -> &Path {
        &self.kept
    }

    /// Its caches.
    pub(crate) fn caches(&self) -> PathBuf {
        self.kept.join("cache")
    }

    /// Variables that point programs to the caches where they are, for a back end that cannot show
    /// them elsewhere.
    pub(crate) fn environment(&self, home: &Path) -> Vec<(OsString, OsString)> {
        let place = self.caches();
        let npm = ("npm_config_cache".into(), place.join("npm").into());
        let pythons = pythons(home, &place);
        let caches = ("XDG_CACHE_HOME".into(), place.into());
        [npm, caches].into_iter().chain(pythons).collect()
    }
}

/// Has uv keep the Python that it downloads, unless the user has some of uv's, which it could not
/// find then.
pub(super) fn pythons(home: &Path, caches: &Path) -> Option<(OsString, OsString)> {
    let has_some = home.join(".local/share/uv/python").exists();
    (!has_some).then(|| ("UV_PYTHON_INSTALL_DIR".into(), caches.join("uv-python").into()))
}

/// The program's folder, which is data of the user's, and where its caches are.
fn paths(name: &str, home: &Path) -> Option<[PathBuf; 2]> {
    let name = super::name(Path::new(name));
    Some([own::data(home)?, own::cache(home)?].map(|own| own.join("programs").join(&name)))
}

/// Removes what is kept for a program of this name: its folder and its caches. `home` is the
/// user's home folder; by default that of the environment.
///
/// # Errors
///
/// The disk refuses.
pub fn remove_program_files(name: &str, home: Option<&Path>) -> io::Result<()> {
    let home = home.map(Path::to_owned).or_else(std::env::home_dir);
    let paths = home.and_then(|home| paths(name, &home));
    for removed in paths.into_iter().flatten().map(fs::remove_dir_all) {
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
