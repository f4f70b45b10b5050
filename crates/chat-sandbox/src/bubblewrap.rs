//! The view and the bounds as bubblewrap's command line, <https://github.com/containers/bubblewrap>.
//!
//! Its arguments are done in order, so a later one may cover an earlier one. No place is a
//! symbolic link: bubblewrap would follow it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, FdFlags};
use rustix::pipe::PipeFlags;
use rustix::time::Timespec;

use crate::command::{Command, Limits};
use crate::view::{Guard, Protection, View};

/// Where a command's passing files lie inside.
pub(crate) const SCRATCH: &str = "/tmp";

/// Up to how many bytes a file is rather copied than mounted: a mount takes longer.
const SMALL: u64 = 128 << 10;

/// Up to how many such files a folder is rather copied with, if it holds nothing else.
const FEW: usize = 3;

/// How long bubblewrap may take to read on, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Files that bubblewrap is handed open, until it has read them.
///
/// They are not closed on exec, since nothing else hands them to a child without unsafe code. Who
/// else is started in that moment, which is never a command in bubblewrap, inherits what this person
/// may read, and where bubblewrap reads its arguments.
#[derive(Debug)]
pub(crate) struct Handed {
    filters: Vec<OwnedFd>,
    /// By where they are seen.
    copies: HashMap<PathBuf, Copied>,
    /// Where it reads the rest of its arguments.
    rest: OwnedFd,
}

/// Where bubblewrap waits for what it is to show of the project, while it has begun.
#[derive(Debug)]
pub(crate) struct Rest(OwnedFd);

/// Something small of the system's or of tool chains: copied, it costs no mount.
#[derive(Debug)]
enum Copied {
    File(Small),
    Folder(Vec<(OsString, Small)>),
}

#[derive(Debug)]
struct Small {
    file: OwnedFd,
    is_program: bool,
}

impl Handed {
    /// The filter, and what is copied of the view; and the other end of where it reads the rest.
    pub(crate) fn new(view: &View, filters: Vec<OwnedFd>) -> io::Result<(Self, Rest)> {
        let (rest, other) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::fcntl_setfd(&rest, FdFlags::empty())?;
        rustix::io::ioctl_fionbio(&other, true)?;
        // What lies in something that is mounted cannot be made there.
        let lies_free = |place: &Path| {
            let mut above = place.ancestors().skip(1);
            !above.any(|above| view.readable.iter().any(|(_, other)| other == above))
        };
        let copied = |place: &Path| {
            (place.starts_with("/etc") || place.starts_with(&view.home)) && lies_free(place)
        };
        let readable = view.readable.iter().filter(|(_, place)| copied(place));
        let copies = readable.filter_map(|(from, place)| Some((place.clone(), Copied::of(from)?)));
        Ok((Self { filters, copies: copies.collect(), rest }, Rest(other)))
    }
}

impl Rest {
    /// Tells the rest. It is all when this is dropped, unless bubblewrap has ended before: then its
    /// end tells why. After an error bubblewrap must be ended first.
    pub(crate) fn tell(&self, view: &View, guard: &Guard, command: &Command) -> io::Result<()> {
        let mut text = Vec::new();
        for word in rest(view, guard, command).0 {
            text.extend_from_slice(word.as_bytes());
            text.push(0);
        }
        self.write(&text)
    }

    /// Somebody else may have inherited where it is read, and would never read it.
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
    /// None of what is rather mounted. It is opened before it is looked at: a command that runs may
    /// put a link or a pipe in its place.
    fn of(path: &Path) -> Option<Self> {
        let found = open_at(CWD, path)?;
        if !FileType::from_raw_mode(fstat(&found).ok()?.st_mode).is_dir() {
            return Some(Self::File(Small::of(found)?));
        }
        let mut files = Vec::new();
        for entry in Dir::read_from(&found).ok()? {
            let entry = entry.ok()?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if files.len() == FEW {
                return None;
            }
            files.push((name.to_owned(), Small::of(open_at(&found, Path::new(name))?)?));
        }
        Some(Self::Folder(files))
    }
}

impl Small {
    fn of(file: OwnedFd) -> Option<Self> {
        let found = fstat(&file).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode).is_file();
        let is_small = u64::try_from(found.st_size).is_ok_and(|length| length < SMALL);
        let is_program = found.st_mode & 0o111 != 0;
        (is_file && is_small).then_some(Self { file, is_program })
    }
}

/// Opens what is no link, and waits for nobody.
fn open_at(folder: impl AsFd, path: &Path) -> Option<OwnedFd> {
    openat(folder, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW, Mode::empty()).ok()
}

/// The arguments up to the command.
#[derive(Debug, Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<const N: usize>(&mut self, words: [&OsStr; N]) {
        self.0.extend(words.into_iter().map(OsStr::to_owned));
    }

    fn flag(&mut self, flag: &str) {
        self.0.push(flag.into());
    }

    fn bind(&mut self, how: &str, from: &Path, to: &Path) {
        self.add([how.as_ref(), from.as_os_str(), to.as_os_str()]);
    }

    /// Something that can be read: a copy of it, or the thing itself.
    fn show(&mut self, copies: &HashMap<PathBuf, Copied>, from: &Path, place: &Path) {
        match copies.get(place) {
            Some(Copied::File(file)) => self.copy(file, place),
            Some(Copied::Folder(files)) => {
                self.on("--perms", "0555");
                self.on("--dir", place);
                for (name, file) in files {
                    self.copy(file, &place.join(name));
                }
            }
            None => self.bind("--ro-bind", from, place),
        }
    }

    fn copy(&mut self, small: &Small, place: &Path) {
        self.on("--perms", if small.is_program { "0555" } else { "0444" });
        let file = small.file.as_raw_fd().to_string();
        self.add(["--file".as_ref(), file.as_ref(), place.as_os_str()]);
    }

    fn on(&mut self, how: &str, place: impl AsRef<OsStr>) {
        self.add([how.as_ref(), place.as_ref()]);
    }

    /// A folder in memory that cannot grow over `bytes`.
    fn memory(&mut self, bytes: u64, permissions: &str, place: &Path) {
        self.on("--size", bytes.to_string());
        self.on("--perms", permissions);
        self.on("--tmpfs", place);
    }
}

/// The arguments that give a command its view; what is to be run follows them. Those of the project
/// are read when they are told.
pub(crate) fn arguments(view: &View, command: &Command, handed: &Handed) -> Vec<OsString> {
    let mut to = Arguments::default();
    for flag in [
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
    ] {
        to.flag(flag);
    }
    if !command.network {
        to.flag("--unshare-net");
    }
    to.on("--cap-drop", "ALL");
    system(&mut to, view, &handed.copies, &command.limits);
    for filter in &handed.filters {
        to.on("--add-seccomp-fd", filter.as_raw_fd().to_string());
    }
    to.on("--args", handed.rest.as_raw_fd().to_string());
    to.flag("--");
    to.0
}

/// What follows the system's part.
fn rest(view: &View, guard: &Guard, command: &Command) -> Arguments {
    let mut to = Arguments::default();
    project(&mut to, view, guard);
    for hidden in &view.hidden {
        if hidden.is_dir() {
            to.on("--tmpfs", hidden);
            to.on("--remount-ro", hidden);
        }
    }
    // What lies between the folders above is in memory too, and without a bound.
    to.on("--remount-ro", "/");
    to.on("--chdir", &command.folder);
    to
}

fn system(to: &mut Arguments, view: &View, copies: &HashMap<PathBuf, Copied>, limits: &Limits) {
    to.on("--dev", "/dev");
    to.memory(limits.scratch, "1777", Path::new("/dev/shm"));
    to.on("--remount-ro", "/dev");
    to.on("--proc", "/proc");
    to.memory(limits.scratch, "1777", Path::new(SCRATCH));
    // Relative, since a project may lie there: an absolute one would be followed outside.
    to.bind("--symlink", Path::new("../tmp"), Path::new("/var/tmp"));
    // The home folder may lie in a folder of the system's: it covers that, and is furnished then.
    let in_home = |place: &Path| place.starts_with(&view.home);
    for (target, place) in view.links.iter().filter(|(_, place)| !in_home(place)) {
        to.bind("--symlink", target, place);
    }
    for (from, place) in view.readable.iter().filter(|(_, place)| !in_home(place)) {
        to.show(copies, from, place);
    }
    to.memory(limits.scratch, "0700", &view.home);
    for (target, place) in view.links.iter().filter(|(_, place)| in_home(place)) {
        to.bind("--symlink", target, place);
    }
    for (from, place) in view.readable.iter().filter(|(_, place)| in_home(place)) {
        to.show(copies, from, place);
    }
}

fn project(to: &mut Arguments, view: &View, guard: &Guard) {
    for folder in std::iter::once(&view.project).chain(&view.git) {
        to.bind("--bind", folder, folder);
    }
    // One that holds another comes before it.
    let mut protected: Vec<(&PathBuf, &str)> = view
        .protected
        .iter()
        .filter_map(|protection| match protection {
            Protection::Pinned(path) => Some((path, "--bind")),
            Protection::ReadOnly(path) => Some((path, "--ro-bind")),
            Protection::Held(..) | Protection::Absent(..) => None,
        })
        .collect();
    protected.sort();
    for (path, how) in protected {
        to.bind(how, path, path);
    }
    for stand_in in guard.stand_ins() {
        to.bind("--ro-bind", stand_in, stand_in);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;

    fn pipe() -> (File, Rest) {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
        rustix::io::ioctl_fionbio(&write, true).unwrap();
        (read.into(), Rest(write))
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
