//! Walks from one open folder to the next, so that a link that is swapped in meanwhile cannot lead
//! out.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_project::entries::entries;
use chat_project::ignored::Ignored;
use rustix::fs::{FileType, Mode, OFlags};

use super::WalkRoot;

/// The maximum depth of a walk: each level keeps a folder open.
const DEEPEST: usize = 128;

/// What a walk finds.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Its path relative to the folder where the walk began.
    pub path: &'a Path,
    /// Its type; links are not followed.
    pub kind: FileType,
    /// 1 for the entries of that folder.
    pub depth: usize,
    folder: &'a OwnedFd,
}

impl Entry<'_> {
    /// Where a link leads.
    pub fn target(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default();
        let target = rustix::fs::readlinkat(self.folder, name, Vec::new()).unwrap_or_default();
        PathBuf::from(OsStr::from_bytes(target.as_bytes()))
    }
}

impl WalkRoot {
    /// Walks through the folder in the order of names, a folder before its content. Ends early if
    /// the call was given up, or if `each` says so.
    pub fn walk(
        &self,
        deepest: Option<usize>,
        given_up: &AtomicBool,
        mut each: impl FnMut(&Entry<'_>) -> ControlFlow<()>,
    ) {
        let root = self.root.path.real();
        let mut walk = Walk {
            root,
            deepest: deepest.unwrap_or(DEEPEST).min(DEEPEST),
            given_up,
            each: &mut each,
        };
        let ignored = Ignored::begin(self.folder.as_fd(), root);
        let _ = walk.folder(&self.folder, Path::new(""), &ignored, 1);
    }
}

struct Walk<'a> {
    root: &'a Path,
    deepest: usize,
    given_up: &'a AtomicBool,
    each: &'a mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
}

impl Walk<'_> {
    fn folder(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        ignored: &Arc<Ignored>,
        depth: usize,
    ) -> ControlFlow<()> {
        for (name, kind) in entries(folder, self.given_up).unwrap_or_default() {
            if self.given_up.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            let (path, is_folder) = (path.join(&name), kind == FileType::Directory);
            let whole = self.root.join(&path);
            if name == ".git" || ignored.is(&whole, is_folder) {
                continue;
            }
            (self.each)(&Entry { path: &path, kind, depth, folder })?;
            if !is_folder || depth >= self.deepest {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // Skips what cannot be opened, or is no longer a folder.
            if let Ok(below) = rustix::fs::openat(folder, &name, flags, Mode::empty()) {
                let ignored = Ignored::beneath(ignored, below.as_fd(), &whole);
                self.folder(&below, &path, &ignored, depth + 1)?;
            }
        }
        ControlFlow::Continue(())
    }
}
