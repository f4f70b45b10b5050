//! Walks a folder as ripgrep does: without ignored files, and without git's own folder.

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

/// After this many entries, a walk stops counting.
pub const COUNTED: usize = 100_000;

/// A glob for paths below a folder; without a slash it applies to names at any depth.
///
/// # Errors
///
/// It is not a valid glob.
pub fn glob(pattern: &str) -> Result<GlobMatcher, ToolFailure> {
    let bare = pattern.strip_prefix("./").unwrap_or(pattern).trim_start_matches('/');
    let whole = if bare.contains('/') { bare.to_owned() } else { format!("**/{bare}") };
    let glob = GlobBuilder::new(&whole).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| ToolFailure::new(format!("The glob is not valid: {error}.")))
}

/// Opens the files that a walk finds in a folder without following links, so that nothing that was
/// swapped in is read.
#[derive(Debug)]
pub struct WalkRoot {
    root: ToolPath,
    folder: OwnedFd,
}

impl WalkRoot {
    /// Opens the folder of a walk.
    ///
    /// # Errors
    ///
    /// It can no longer be opened.
    pub fn new(root: ToolPath) -> Result<Self, ToolFailure> {
        let folder = root.project.open_folder(&root.path).map_err(|error| failed(&error))?;
        Ok(Self { root, folder })
    }

    /// Opens a file by its path relative to the folder. A file with several hard links may belong
    /// anywhere, so it is skipped; so is anything that is not a file or is guarded.
    ///
    /// # Errors
    ///
    /// It is skipped, or cannot be read.
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
                // The kernel, or a container around this program, does not know the call; or
                // folders were moved.
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

    /// The full path for a path relative to the folder.
    pub fn below(&self, path: &Path) -> PathBuf {
        self.root.path.real().join(path)
    }

    /// Whether not even the name may be revealed: it is Natter's own, or a rule forbids to read it.
    pub fn is_hidden(&self, path: &Path, host: &dyn ToolHost) -> bool {
        let below = self.below(path);
        self.root.project.resolve_entry(&below.to_string_lossy()).map_or(true, |path| {
            path.guard() == Guard::Own || host.refuses(&Request::Read { path })
        })
    }

    /// Whether it is Natter's own.
    fn is_own(&self, path: &Path) -> bool {
        let resolved = self.below(path).to_str().map(|path| self.root.project.resolve_entry(path));
        resolved.is_none_or(|resolved| resolved.is_ok_and(|path| path.guard() == Guard::Own))
    }

    /// The displayed path for a path relative to the folder.
    pub fn display_name(&self, path: &Path) -> String {
        let shown = self.root.path.display_path();
        let whole = if shown == Path::new(".") { path.to_owned() } else { shown.join(path) };
        whole.display().to_string()
    }
}

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It has several hard links.
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
