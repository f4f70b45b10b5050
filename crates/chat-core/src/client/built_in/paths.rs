//! Finds the engine's program and its socket.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::programs;

/// What the program is called.
const PROGRAM: &str = "natter-engine";
/// Names its path, where it is not next to our program.
const VARIABLE: &str = "NATTER_ENGINE";
/// The longest path of a socket that the system takes, with its end (unix(7)).
const LONGEST: usize = 108;

/// The engine's program, where it is installed.
pub(super) fn program() -> Option<PathBuf> {
    programs::find(PROGRAM, VARIABLE)
}

/// The socket of this build of the engine: another build has another one, so that a program that was
/// brought up to date does not talk to an old engine.
pub(super) fn socket(folder: &Path, program: &Path) -> io::Result<PathBuf> {
    let file = std::fs::metadata(program)?;
    let mut hasher = DefaultHasher::new();
    (file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec()).hash(&mut hasher);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    Ok(folder.join(format!("engine-{:016x}.sock", hasher.finish())))
}

/// A path to the same place that is short enough to connect to, and what must stay open for it.
pub(super) fn reachable(path: &Path) -> io::Result<(PathBuf, Option<File>)> {
    if path.as_os_str().len() < LONGEST {
        return Ok((path.to_owned(), None));
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = File::open(folder)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((short, Some(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_build_has_another_socket() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&one, "1").unwrap();
        std::fs::write(&other, "2").unwrap();
        let place = folder.path().join("run");
        let socket = |program| socket(&place, program).unwrap();
        assert_eq!(socket(&one), socket(&one));
        assert_ne!(socket(&one), socket(&other));
        assert_eq!(std::fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_long_path_is_reached_by_a_short_one() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("x".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        std::fs::write(deep.join("e.sock"), "here").unwrap();
        let (short, _open) = reachable(&deep.join("e.sock")).unwrap();
        assert!(short.as_os_str().len() < LONGEST);
        assert_eq!(std::fs::read_to_string(short).unwrap(), "here");
    }
}
