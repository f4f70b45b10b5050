//! Opens the engine's socket, which only its owner may use, behind a lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::net::UnixListener;

/// The longest path of a socket that the system takes, with its end (unix(7)).
const LONGEST: usize = 108;

/// So long another engine may take to begin or to end: less than a front end waits for ours.
const PATIENCE: Duration = Duration::from_secs(15);
/// Between two looks at it.
const PAUSE: Duration = Duration::from_millis(20);

/// The socket, which is this engine's alone.
#[derive(Debug)]
pub struct EngineSocket {
    /// Held as long as the engine lives.
    _lock: File,
    /// The folder, open, where its path is too long to be named.
    _folder: Option<File>,
    path: PathBuf,
}

/// Whether the socket could be had.
#[derive(Debug)]
pub enum SocketClaim {
    /// It is ours.
    Ours(EngineSocket),
    /// Another engine answers there.
    Others,
}

impl EngineSocket {
    /// Takes the place at this path, or sees that an engine is there. One that is about to begin or
    /// to end is waited for.
    ///
    /// # Errors
    /// Where the folder cannot be written to; `TimedOut` where the one that is there neither answers
    /// nor ends.
    pub fn take(path: &Path) -> io::Result<SocketClaim> {
        let until = Instant::now() + PATIENCE;
        Self::take_waiting(path, || {
            std::thread::sleep(PAUSE);
            Instant::now() < until
        })
    }

    /// The same; `wait` is called between two looks, and says whether there is to be another.
    fn take_waiting(path: &Path, mut wait: impl FnMut() -> bool) -> io::Result<SocketClaim> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.with_extension("lock"))?;
        let (reachable, folder) = reachable(path)?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // It may have begun and not listen yet, or have ceased to listen and not ended yet.
            if UnixStream::connect(&reachable).is_ok() {
                return Ok(SocketClaim::Others);
            }
            if !wait() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(SocketClaim::Ours(Self { _lock: lock, _folder: folder, path: reachable }))
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

impl Drop for EngineSocket {
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
        let SocketClaim::Ours(place) = EngineSocket::take(&path).unwrap() else { panic!("taken") };
        let listener = place.listen().unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(EngineSocket::take(&path).unwrap(), SocketClaim::Others));
        drop((listener, place));
        assert!(matches!(EngineSocket::take(&path).unwrap(), SocketClaim::Ours(_)));
    }

    #[tokio::test]
    async fn an_engine_that_has_begun_and_does_not_listen_yet_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.sock");
        let SocketClaim::Ours(place) = EngineSocket::take(&path).unwrap() else { panic!("taken") };
        let mut listener = None;
        let other = EngineSocket::take_waiting(&path, || {
            let waited = listener.is_some();
            listener = Some(place.listen().unwrap());
            !waited
        });
        assert!(matches!(other.unwrap(), SocketClaim::Others));
    }

    #[tokio::test]
    async fn an_engine_that_ends_is_waited_for_and_one_that_does_neither_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.sock");
        let take = || match EngineSocket::take(&path).unwrap() {
            SocketClaim::Ours(place) => Some(place),
            SocketClaim::Others => None,
        };
        let mut place = take();
        let next = EngineSocket::take_waiting(&path, || place.take().is_some()).unwrap();
        assert!(matches!(next, SocketClaim::Ours(_)));
        let error = EngineSocket::take_waiting(&path, || false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_folder_with_a_long_name_has_room_for_one_too() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("x".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let path = deep.join("e.sock");
        let SocketClaim::Ours(place) = EngineSocket::take(&path).unwrap() else { panic!("taken") };
        let _listener = place.listen().unwrap();
        let (short, _folder) = reachable(&path).unwrap();
        UnixStream::connect(short).unwrap();
        UnixStream::connect(&path).unwrap_err();
    }
}
