//! Walks the project's files and links, without git's own folders and ignored files. It goes from
//! one open folder to the next, so that no link is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chat_project::entries::entries;
use chat_project::ignored::Ignored;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// The maximum depth of a walk: each level keeps a folder open.
const DEEPEST: usize = 128;

/// A folder with this file, beginning with this signature, contains only what a program can create
/// again (such as a build's output): nobody reviews or restores it. See the Cache Directory Tagging
/// Specification.
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// A file or a link in the project.
#[derive(Debug)]
pub struct WalkEntry {
    /// Relative to the project.
    pub path: OsString,
    pub stat: Stat,
}

/// All of them, in the order of names. Inaccessible ones are left out.
pub fn walk(folder: &OwnedFd, root: &Path) -> Vec<WalkEntry> {
    let mut walk = Walker { root, entries: Vec::new() };
    let ignored = Ignored::begin(folder.as_fd(), root);
    walk.folder(folder, OsStr::new(""), &ignored, 1);
    walk.entries
}

/// The metadata of a path below an open folder, if it is a file or a link, and there is no link on
/// the way.
pub fn stat(folder: &OwnedFd, path: &OsStr) -> Result<Option<Stat>, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let way = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = match rustix::fs::openat2(folder, path, flags, Mode::empty(), way) {
        Err(error @ (Errno::NOSYS | Errno::PERM | Errno::AGAIN)) => return Err(error),
        Err(_) => return Ok(None),
        Ok(opened) => opened,
    };
    Ok(rustix::fs::fstat(opened).ok().filter(is_recorded))
}

/// Whether it is a file or a link: nothing else is stored.
pub fn is_recorded(stat: &Stat) -> bool {
    let kind = FileType::from_raw_mode(stat.st_mode);
    matches!(kind, FileType::RegularFile | FileType::Symlink)
}

struct Walker<'a> {
    root: &'a Path,
    entries: Vec<WalkEntry>,
}

impl Walker<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &OsStr, ignored: &Arc<Ignored>, depth: usize) {
        // An unlistable folder counts as empty.
        let found = entries(folder, &AtomicBool::new(false)).unwrap_or_default();
        if depth > 1 && found.iter().any(|(name, _)| name == CACHE_TAG) && is_cache(folder) {
            return;
        }
        for (name, kind) in found {
            let is_folder = kind == FileType::Directory;
            if is_left_out(&name, is_folder) {
                continue;
            }
            let mut below = OsString::with_capacity(path.len() + 1 + name.len());
            if !path.is_empty() {
                below.push(path);
                below.push("/");
            }
            below.push(&name);
            let whole = self.root.join(&below);
            if ignored.is(&whole, is_folder) {
                continue;
            }
            if !is_folder {
                if let Ok(stat) = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)
                    && is_recorded(&stat)
                {
                    self.entries.push(WalkEntry { path: below, stat });
                }
                continue;
            }
            if depth >= DEEPEST {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // Skips what cannot be opened, or is no longer a folder.
            if let Ok(opened) = rustix::fs::openat(folder, &name, flags, Mode::empty()) {
                let ignored = Ignored::beneath(ignored, opened.as_fd(), &whole);
                self.folder(&opened, &below, &ignored, depth + 1);
            }
        }
    }
}

/// Whether a folder is marked as a cache.
fn is_cache(folder: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(tag) = rustix::fs::openat(folder, CACHE_TAG, flags, Mode::empty()) else { return false };
    let mut begin = [0; CACHE_SIGNATURE.len()];
    File::from(tag).read_exact(&mut begin).is_ok() && begin == CACHE_SIGNATURE
}

/// Git's own folder, and temporary files that are about to replace others.
fn is_left_out(name: &OsStr, is_folder: bool) -> bool {
    let bytes = name.as_bytes();
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_passing = || {
        bytes
            .strip_prefix(b".natter-")
            .is_some_and(|rest| rest.split(|&b| b == b'-').all(is_number))
    };
    bytes.eq_ignore_ascii_case(b".git") || !is_folder && is_passing()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_repositories_are_met_and_what_is_ignored_or_a_cache_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in [
            ".git/a",
            "sub/.git/b",
            "sub/c",
            "target/d",
            ".hidden",
            ".natter-1-2",
            ".natter-3/f",
            "e.log",
        ] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), "x").unwrap();
        }
        for (folder, tag) in [("made", CACHE_SIGNATURE), ("kept", b"Signature: another")] {
            std::fs::create_dir_all(root.join(folder).join("inner")).unwrap();
            std::fs::write(root.join(folder).join(CACHE_TAG), tag).unwrap();
            std::fs::write(root.join(folder).join("inner/x"), "x").unwrap();
        }
        std::fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
        std::os::unix::fs::symlink("sub", root.join("link")).unwrap();
        let opened = std::fs::File::open(&root).unwrap();
        let met = walk(&opened.into(), &root);
        let paths: Vec<_> = met.iter().map(|met| met.path.to_str().unwrap()).collect();
        let expected = [
            ".gitignore",
            ".hidden",
            ".natter-3/f",
            "kept/CACHEDIR.TAG",
            "kept/inner/x",
            "link",
            "sub/c",
        ];
        assert_eq!(paths, expected);
    }

    #[test]
    fn a_look_at_one_path_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("sub")).unwrap();
        std::fs::write(root.join("sub/a"), "x").unwrap();
        std::os::unix::fs::symlink("a", root.join("sub/link")).unwrap();
        std::os::unix::fs::symlink("sub", root.join("way")).unwrap();
        let opened = std::fs::File::open(root).unwrap().into();
        let kind = |path: &str| {
            let stat = stat(&opened, OsStr::new(path)).unwrap();
            stat.map(|stat| FileType::from_raw_mode(stat.st_mode))
        };
        assert_eq!(kind("sub/a"), Some(FileType::RegularFile));
        assert_eq!(kind("sub/link"), Some(FileType::Symlink));
        for path in ["sub", "none", "way/a", "sub/link/a", "../a", "/etc/passwd"] {
            assert_eq!(kind(path), None, "{path}");
        }
    }
}
