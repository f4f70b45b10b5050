//! The view and the bounds as bubblewrap's command line, <https://github.com/containers/bubblewrap>.
//!
//! Its arguments are done in order, so a later one may cover an earlier one. No place is a
//! symbolic link: bubblewrap would follow it.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::command::{Command, Limits};
use crate::view::{Guard, Protection, View};

/// Where a command's passing files lie inside.
pub(crate) const SCRATCH: &str = "/tmp";

/// Up to how many bytes a file is rather copied than mounted: a mount takes longer.
const SMALL: u64 = 128 << 10;

/// Files that bubblewrap is handed open, until it has read them.
///
/// They are not closed on exec, since nothing else hands them to a child without unsafe code. Who
/// else is started in that moment inherits what anybody may read.
#[derive(Debug)]
pub(crate) struct Handed {
    filters: Vec<OwnedFd>,
    files: Vec<(PathBuf, OwnedFd)>,
}

impl Handed {
    /// The filter, and small files of the system's and of tool chains: copied, they cost no mount.
    pub(crate) fn new(view: &View, filters: Vec<OwnedFd>) -> Self {
        let small = |path: &Path| path.metadata().is_ok_and(|it| it.is_file() && it.len() < SMALL);
        let open = |path: &Path| {
            let how = rustix::fs::OFlags::RDONLY;
            rustix::fs::open(path, how, rustix::fs::Mode::empty()).ok()
        };
        let files = view
            .readable
            .iter()
            .filter(|(from, place)| {
                (place.starts_with("/etc") || place.starts_with(&view.home)) && small(from)
            })
            .filter_map(|(from, place)| Some((place.clone(), open(from)?)))
            .collect();
        Self { filters, files }
    }
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

    /// Something that can be read: a copy of one of these files, or the thing itself.
    fn show(&mut self, files: &[(PathBuf, OwnedFd)], from: &Path, place: &Path) {
        match files.iter().find(|(copied, _)| copied == place) {
            Some((_, file)) => {
                self.on("--perms", "0444");
                let file = file.as_raw_fd().to_string();
                self.add(["--file".as_ref(), file.as_ref(), place.as_os_str()]);
            }
            None => self.bind("--ro-bind", from, place),
        }
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

/// The arguments that give a command its view; what is to be run follows them.
pub(crate) fn arguments(
    view: &View,
    guard: &Guard,
    command: &Command,
    handed: &Handed,
) -> Vec<OsString> {
    let mut to = Arguments::default();
    for flag in [
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
    ] {
        to.flag(flag);
    }
    if !command.network {
        to.flag("--unshare-net");
    }
    to.on("--cap-drop", "ALL");
    system(&mut to, view, &handed.files, &command.limits);
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
    for filter in &handed.filters {
        to.on("--add-seccomp-fd", filter.as_raw_fd().to_string());
    }
    to.flag("--");
    to.0
}

fn system(to: &mut Arguments, view: &View, files: &[(PathBuf, OwnedFd)], limits: &Limits) {
    to.on("--dev", "/dev");
    to.memory(limits.scratch, "1777", Path::new("/dev/shm"));
    to.on("--remount-ro", "/dev");
    to.on("--proc", "/proc");
    to.memory(limits.scratch, "1777", Path::new(SCRATCH));
    // Relative, since a project may lie there: an absolute one would be followed outside.
    to.bind("--symlink", Path::new("../tmp"), Path::new("/var/tmp"));
    for (target, place) in &view.links {
        to.bind("--symlink", target, place);
    }
    // The home folder may lie in a folder of the system's: it covers that, and is furnished then.
    let in_home = |place: &Path| place.starts_with(&view.home);
    for (from, place) in view.readable.iter().filter(|(_, place)| !in_home(place)) {
        to.show(files, from, place);
    }
    to.memory(limits.scratch, "0700", &view.home);
    for (from, place) in view.readable.iter().filter(|(_, place)| in_home(place)) {
        to.show(files, from, place);
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
