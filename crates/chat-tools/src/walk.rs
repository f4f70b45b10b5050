//! Walks a folder as ripgrep does: without what .gitignore names, and without git's own folder.

mod steps;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use chat_core::tool::{ToolFailure, ToolHost};
use chat_permission::Request;
use chat_permission::path::{Error, Guard};
use globset::{GlobBuilder, GlobMatcher};
pub use rustix::fs::FileType;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::tool_path::{ToolPath, failed};

/// Entries after which a walk gives up counting.
pub const COUNTED: usize = 100_000;

/// A glob for paths below a folder; one without a slash is for names at any depth.
///
/// # Errors
/// It is none.
pub fn glob(pattern: &str) -> Result<GlobMatcher, ToolFailure> {
    let bare = pattern.strip_prefix("./").unwrap_or(pattern).trim_start_matches('/');
    let whole = if bare.contains('/') { bare.to_owned() } else { format!("**/{bare}") };
    let glob = GlobBuilder::new(&whole).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| ToolFailure::new(format!("The glob is not valid: {error}.")))
}

/// Opens the files that a walk through a folder meets: beneath it, without following any link, so that
/// nothing which was swapped in is read.
#[derive(Debug)]
pub struct WalkRoot {
    root: ToolPath,
    folder: OwnedFd,
}

impl WalkRoot {
    /// The folder of a walk.
    ///
    /// # Errors
    /// It cannot be opened any more.
    pub fn new(root: ToolPath) -> Result<Self, ToolFailure> {
        let folder = root.project.open_folder(&root.path).map_err(|error| failed(&error))?;
        Ok(Self { root, folder })
    }

    /// Opens a file by its path from the folder on. One that has other names, too, may be a file of
    /// anywhere: it is left out, as is what is no file and what is kept from tools.
    ///
    /// # Errors
    /// It is left out, or cannot be read.
    pub fn open(&self, path: &Path) -> Result<File, Skipped> {
        if !self.root.path.is_inside() && self.is_own(path) {
            return Err(Skipped::Other);
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        let file =
            match rustix::fs::openat2(self.folder.as_fd(), path, flags, Mode::empty(), resolve) {
                Ok(file) => File::from(file),
                // A kernel, or a container around us, that does not know the call; or folders moved.
                Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {
                    self.open_slowly(path).map_err(|_| Skipped::Other)?
                }
                Err(_) => return Err(Skipped::Other),
            };
        let found = rustix::fs::fstat(&file).map_err(|_| Skipped::Other)?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        match (is_file, found.st_nlink) {
            (false, _) => Err(Skipped::Other),
            (true, 0 | 1) => Ok(file),
            (true, _) => Err(Skipped::SeveralLinks),
        }
    }

    fn open_slowly(&self, path: &Path) -> Result<File, Error> {
        let below = self.below(path);
        let resolved = self.root.project.resolve(&below.to_string_lossy())?;
        self.root.project.open_file(&resolved)
    }

    /// A path from the folder on, in full.
    pub fn below(&self, path: &Path) -> PathBuf {
        self.root.path.real().join(path)
    }

    /// Whether not even the name of what lies there is to be told: it is Natter's own, or a rule forbids to read
    /// it.
    pub fn is_hidden(&self, path: &Path, host: &dyn ToolHost) -> bool {
        let below = self.below(path);
        self.root.project.resolve_entry(&below.to_string_lossy()).map_or(true, |path| {
            path.guard() == Guard::Own || host.refuses(&Request::Read { path })
        })
    }

    /// Whether what lies there is Natter's own.
    fn is_own(&self, path: &Path) -> bool {
        let resolved = self.below(path).to_str().map(|path| self.root.project.resolve_entry(path));
        resolved.is_none_or(|resolved| resolved.is_ok_and(|path| path.guard() == Guard::Own))
    }

    /// The name that a path from the folder on is shown by.
    pub fn display_name(&self, path: &Path) -> String {
        let shown = self.root.path.display_path();
        let whole = if shown == Path::new(".") { path.to_owned() } else { shown.join(path) };
        whole.display().to_string()
    }
}

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It has several names.
    SeveralLinks,
    /// Something else.
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_without_a_slash_is_for_names_at_any_depth() {
        let is = |pattern: &str, path: &str| glob(pattern).unwrap().is_match(path);
        assert!(is("*.rs", "a/b.rs") && is("*.rs", "b.rs") && !is("*.rs", "b.rs/c"));
        assert!(
            is("src/*.rs", "src/a.rs")
                && !is("src/*.rs", "src/a/b.rs")
                && !is("src/*.rs", "x/src/a.rs")
        );
        assert!(is("/src/**/*.{rs,toml}", "src/a/b.toml") && is("./a", "a"));
        assert!(glob("[").unwrap_err().text.starts_with("The glob is not valid"));
    }
}
