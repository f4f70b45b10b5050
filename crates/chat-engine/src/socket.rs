//! The engine's place: a lock, and then a socket that only its owner may open.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// The longest path of a socket that the system takes, with its end (unix(7)).
const LONGEST: usize = 108;

/// A place that is this engine's alone.
#[derive(Debug)]
pub struct Place {
    /// Held as long as the engine lives.
    _lock: File,
    /// The folder, open, where its path is too long to be named.
    _folder: Option<File>,
    path: PathBuf,
}

/// What became of the wish for a place.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(Place),
    /// Another engine answers there.
    Others,
}

impl Place {
    /// Takes the place at this path, or sees that an engine is there. Where one is about to end, its
    /// end is waited for.
    ///
    /// # Errors
    /// Where the folder cannot be written to.
    pub fn take(path: &Path) -> io::Result<Taken> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let (reachable, _folder) = reachable(path)?;
                if UnixStream::connect(reachable).is_ok() {
                    return Ok(Taken::Others);
                }
                lock.lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let (reachable, folder) = reachable(path)?;
        Ok(Taken::Ours(Self { _lock: lock, _folder: folder, path: reachable }))
    }

    /// Listens there.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(&self) -> io::Result<UnixListener> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // One that was killed leaves its socket.
            _ => {}
        }
        // Made under another name, so that nobody opens it before it is ours alone.
        let new = self.path.with_extension("new");
        let _ = std::fs::remove_file(&new);
        let listener = UnixListener::bind(&new)?;
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&new, &self.path)?;
        Ok(listener)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A path to the same place that is short enough, and what must stay open for it.
///
/// # Errors
/// Where the folder cannot be opened.
pub fn reachable(path: &Path) -> io::Result<(PathBuf, Option<File>)> {
    // The name under which it is made is as long.
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

    #[tokio::test]
    async fn a_place_is_one_engines_alone_and_free_when_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.sock");
        let Taken::Ours(place) = Place::take(&path).unwrap() else { panic!("taken") };
        let listener = place.listen().unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(Place::take(&path).unwrap(), Taken::Others));
        drop((listener, place));
        assert!(matches!(Place::take(&path).unwrap(), Taken::Ours(_)));
    }

    #[tokio::test]
    async fn a_folder_with_a_long_name_has_room_for_one_too() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("x".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let path = deep.join("e.sock");
        let Taken::Ours(place) = Place::take(&path).unwrap() else { panic!("taken") };
        let _listener = place.listen().unwrap();
        let (short, _folder) = reachable(&path).unwrap();
        UnixStream::connect(short).unwrap();
        UnixStream::connect(&path).unwrap_err();
    }
}
