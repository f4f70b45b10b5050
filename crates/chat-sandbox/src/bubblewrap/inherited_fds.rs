//! Passes open files to bubblewrap: the filter, files that are copied instead of mounted, and the
//! rest of its arguments.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::pipe::PipeFlags;
use rustix::time::Timespec;

use crate::view::{Etc, View};

/// Files up to this size, in bytes, are copied: mounting takes longer.
const SMALL: u64 = 128 << 10;

/// A folder with up to this many such files, and nothing else, is copied.
const FEW: usize = 3;

/// How long bubblewrap may take to continue reading on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The open files that are passed to bubblewrap. It closes each file in its arguments once it has
/// read it: any other file would reach the command, which could write to it.
#[derive(Debug)]
pub(crate) struct InheritedFds {
    pub(super) filter: Option<OwnedFd>,
    /// By the paths where they are seen.
    pub(super) copies: HashMap<PathBuf, Copied>,
}

/// The pipe on which bubblewrap waits for the arguments of its view after it has started.
#[derive(Debug)]
pub(crate) struct ArgumentsPipe(OwnedFd);

/// A small file or folder of the system or of toolchains: a copy saves a mount.
#[derive(Debug)]
pub(super) enum Copied {
    File(SmallFile),
    Folder(Vec<SmallFile>),
}

#[derive(Debug)]
pub(super) struct SmallFile {
    /// Its name in a folder.
    pub(super) name: OsString,
    pub(super) file: OwnedFd,
    pub(super) is_program: bool,
}

impl InheritedFds {
    /// The filter, and the copied files of the view as far as it is known. `has_etc` says that
    /// [`Etc`] is shown, and nothing else there.
    pub(crate) fn new(view: &View, has_etc: bool, filter: Option<OwnedFd>) -> Self {
        // A file cannot be created inside something that is mounted.
        let lies_free = |place: &Path| {
            let mut above = place.ancestors().skip(1);
            !above.any(|above| view.readable.iter().any(|(_, other)| other == above))
        };
        let copied = |place: &Path| {
            let etc = place.starts_with(Etc::MOUNT_POINT);
            (if etc { !has_etc } else { place.starts_with(&view.home) }) && lies_free(place)
        };
        let readable = view.readable.iter().filter(|(_, place)| copied(place));
        let copies = readable.filter_map(|(from, place)| Some((place.clone(), Copied::of(from)?)));
        Self { filter, copies: copies.collect() }
    }

    /// Starts bubblewrap, which alone inherits the files, and reads the rest of its arguments from
    /// `rest`. It must be called on the thread that starts commands one after the other, since
    /// another command would inherit the files, too. Other programs that are started at that
    /// moment, which are never commands in bubblewrap, inherit only what the user may read.
    pub(crate) fn start(&self, rest: &OwnedFd, mut process: Command) -> io::Result<Child> {
        let files = || self.files().chain(std::iter::once(rest.as_fd()));
        let lent = files().try_for_each(|file| fcntl_setfd(file, FdFlags::empty()));
        let child = lent.map_err(io::Error::from).and_then(|()| process.spawn());
        for file in files() {
            let _ = fcntl_setfd(file, FdFlags::CLOEXEC);
        }
        child
    }

    fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let copies = self.copies.values().flat_map(|copied| match copied {
            Copied::File(small) => std::slice::from_ref(small),
            Copied::Folder(files) => files.as_slice(),
        });
        self.filter.iter().map(AsFd::as_fd).chain(copies.map(|small| small.file.as_fd()))
    }
}

impl ArgumentsPipe {
    /// Creates the pipe; also returns the end that bubblewrap reads.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&write, true)?;
        Ok((Self(write), read))
    }

    /// Sends the rest. It is complete when this is dropped, unless bubblewrap has ended before:
    /// then its exit tells why. After an error, bubblewrap must be ended first.
    pub(crate) fn send(&self, words: &[OsString]) -> io::Result<()> {
        let mut text = Vec::new();
        for word in words {
            text.extend_from_slice(word.as_bytes());
            text.push(0);
        }
        self.write(&text)
    }

    /// Another program may have inherited the reading end, and would never read it.
    fn write(&self, mut text: &[u8]) -> io::Result<()> {
        let most = Timespec::try_from(PATIENCE).unwrap_or_default();
        while !text.is_empty() {
            match rustix::io::write(&self.0, text) {
                Ok(length) => text = &text[length..],
                Err(Errno::PIPE) => break,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    match poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], Some(&most)) {
                        Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Copied {
    /// None for what should be mounted instead. The file is opened before it is checked, since a
    /// running command may put a link or a pipe in its place.
    fn of(path: &Path) -> Option<Self> {
        let found = open_at(CWD, path)?;
        if !FileType::from_raw_mode(fstat(&found).ok()?.st_mode).is_dir() {
            return Some(Self::File(SmallFile::of(OsString::new(), found)?));
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(&found).ok()? {
            let entry = entry.ok()?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if names.len() == FEW {
                return None;
            }
            names.push(name.to_owned());
        }
        let mut files = Vec::new();
        for name in names {
            let file = open_at(&found, Path::new(&name))?;
            files.push(SmallFile::of(name, file)?);
        }
        Some(Self::Folder(files))
    }
}

impl SmallFile {
    fn of(name: OsString, file: OwnedFd) -> Option<Self> {
        let found = fstat(&file).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode).is_file();
        let is_small = u64::try_from(found.st_size).is_ok_and(|length| length < SMALL);
        let is_program = found.st_mode & 0o111 != 0;
        (is_file && is_small).then_some(Self { name, file, is_program })
    }
}

/// Opens a path without following links or blocking.
fn open_at(folder: impl AsFd, path: &Path) -> Option<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, path, how, Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The names in a folder that is copied, and whether each is executable.
    fn copied(folder: &Path) -> Option<Vec<(String, bool)>> {
        let Copied::Folder(files) = Copied::of(folder)? else { panic!("it is a folder") };
        let told = |small: SmallFile| (small.name.into_string().unwrap(), small.is_program);
        let mut told: Vec<_> = files.into_iter().map(told).collect();
        told.sort();
        Some(told)
    }

    #[test]
    fn a_folder_is_copied_that_holds_a_few_small_files_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(copied(folder.path()), Some(Vec::new()));
        std::fs::write(at("a"), "text").unwrap();
        std::fs::write(at("b"), "#!/bin/sh").unwrap();
        std::fs::set_permissions(at("b"), PermissionsExt::from_mode(0o700)).unwrap();
        let both = vec![("a".to_owned(), false), ("b".to_owned(), true)];
        assert_eq!(copied(folder.path()), Some(both.clone()));

        let put: [fn(&Path); 4] = [
            |at| std::fs::create_dir(at).unwrap(),
            |at| std::os::unix::fs::symlink("a", at).unwrap(),
            |at| rustix::fs::mkfifoat(CWD, at, Mode::RUSR).unwrap(),
            |at| File::create(at).unwrap().set_len(SMALL).unwrap(),
        ];
        for put in put {
            put(&at("c"));
            assert_eq!(copied(folder.path()), None);
            assert!(Copied::of(&at("c")).is_none_or(|it| matches!(it, Copied::Folder(_))));
            std::fs::remove_file(at("c")).or_else(|_| std::fs::remove_dir(at("c"))).unwrap();
            assert_eq!(copied(folder.path()), Some(both.clone()));
        }
        std::fs::write(at("c"), "").unwrap();
        assert_eq!(copied(folder.path()).unwrap().len(), FEW);
        File::create(at("c")).unwrap().set_len(SMALL - 1).unwrap();
        assert_eq!(copied(folder.path()).unwrap().len(), FEW);
        std::fs::write(at("d"), "").unwrap();
        assert_eq!(copied(folder.path()), None);
        assert!(matches!(
            Copied::of(&at("b")),
            Some(Copied::File(SmallFile { is_program: true, .. }))
        ));
    }

    #[test]
    fn what_a_copy_of_the_settings_shows_is_not_handed_over_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let mut view = View::of(Path::new("/project"), Path::new("/nowhere/home")).unwrap();
        let places =
            ["/etc/toolchain/env", "/nowhere/home/env", "/elsewhere/env"].map(PathBuf::from);
        view.readable.extend(places.iter().map(|place| (file.clone(), place.clone())));
        let handed = |has_etc| {
            let mut places: Vec<_> =
                InheritedFds::new(&view, has_etc, None).copies.into_keys().collect();
            places.sort();
            places
        };
        assert_eq!(handed(false), places[..2]);
        assert_eq!(handed(true), places[1..2]);
    }

    fn pipe() -> (File, ArgumentsPipe) {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
        rustix::io::ioctl_fionbio(&write, true).unwrap();
        (read.into(), ArgumentsPipe(write))
    }

    #[test]
    fn more_than_a_pipe_holds_is_told_whole() {
        let (mut read, rest) = pipe();
        let text: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            read.read_to_end(&mut all).unwrap();
            all
        });
        rest.write(&text).unwrap();
        drop(rest);
        assert!(reader.join().unwrap() == text);
    }

    #[test]
    fn nobody_is_told_where_bubblewrap_has_ended() {
        let (read, rest) = pipe();
        drop(read);
        rest.write(&vec![0; 200_000]).unwrap();
    }
}
