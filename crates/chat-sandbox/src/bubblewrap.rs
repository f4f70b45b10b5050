//! Turns the view and the limits into bubblewrap's command line,
//! <https://github.com/containers/bubblewrap>.
//!
//! Its arguments are applied in order, so a later one may cover an earlier one. No mount point is a
//! symbolic link, since bubblewrap would follow it.

mod inherited_fds;

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

pub(crate) use self::inherited_fds::{ArgumentsPipe, InheritedFds};
use self::inherited_fds::{Copied, SmallFile};
use crate::command::Limits;
use crate::launch::Launch;
use crate::program::FolderAccess;
use crate::view::{Etc, Guard, Protection, View};

/// Where a command sees its temporary files.
pub(crate) const SCRATCH: &str = "/tmp";

/// What secrets are covered with. Since devices do not work in such a mount, it cannot be opened,
/// and is not mistaken for an empty file: git does not commit it.
const MASK: &str = "/dev/null";

/// The arguments before the command.
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

    /// Makes something readable: as a copy, or the thing itself.
    fn show(&mut self, copies: &HashMap<PathBuf, Copied>, from: &Path, place: &Path) {
        match copies.get(place) {
            Some(Copied::File(file)) => self.copy(file, place),
            Some(Copied::Folder(files)) => {
                self.on("--perms", "0555");
                self.on("--dir", place);
                for file in files {
                    self.copy(file, &place.join(&file.name));
                }
            }
            None => self.bind("--ro-bind", from, place),
        }
    }

    fn copy(&mut self, small: &SmallFile, place: &Path) {
        self.on("--perms", if small.is_program { "0555" } else { "0444" });
        let file = small.file.as_raw_fd().to_string();
        self.add(["--file".as_ref(), file.as_ref(), place.as_os_str()]);
    }

    fn on(&mut self, how: &str, place: impl AsRef<OsStr>) {
        self.add([how.as_ref(), place.as_ref()]);
    }

    /// An in-memory folder that cannot grow over `bytes`.
    fn memory(&mut self, bytes: u64, permissions: &str, place: &Path) {
        self.on("--size", bytes.to_string());
        self.on("--perms", permissions);
        self.on("--tmpfs", place);
    }
}

/// The arguments for a command's limits, which are known at once; the command to run follows them.
/// The arguments for its view are read later.
pub(crate) fn arguments(
    launch: &Launch,
    inherited_fds: &InheritedFds,
    rest: &OwnedFd,
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
        "--as-pid-1",
    ] {
        to.flag(flag);
    }
    if !launch.network {
        to.flag("--unshare-net");
    }
    to.on("--cap-drop", "ALL");
    if let Some(filter) = &inherited_fds.filter {
        to.on("--seccomp", filter.as_raw_fd().to_string());
    }
    to.on("--args", rest.as_raw_fd().to_string());
    to.flag("--");
    to.0
}

/// The arguments that are [sent](ArgumentsPipe::tell) when the view is known.
pub(crate) fn rest(
    view: &View,
    etc: Option<&Etc>,
    guard: &Guard,
    launch: &Launch,
    inherited_fds: &InheritedFds,
) -> Vec<OsString> {
    let mut to = Arguments::default();
    system(&mut to, view, etc, &inherited_fds.copies, &launch.limits);
    project(&mut to, view, guard);
    for hidden in &view.hidden {
        if hidden.is_dir() {
            to.on("--tmpfs", hidden);
            to.on("--remount-ro", hidden);
        }
    }
    // The folders between those above are in memory, too, and without a limit.
    to.on("--remount-ro", "/");
    to.on("--chdir", &launch.folder);
    to.0
}

fn system(
    to: &mut Arguments,
    view: &View,
    etc: Option<&Etc>,
    copies: &HashMap<PathBuf, Copied>,
    limits: &Limits,
) {
    to.on("--dev", "/dev");
    to.memory(limits.scratch, "1777", Path::new("/dev/shm"));
    to.on("--remount-ro", "/dev");
    to.on("--proc", "/proc");
    to.memory(limits.scratch, "1777", Path::new(SCRATCH));
    // Relative, since a project may be there: an absolute link would be followed outside.
    to.bind("--symlink", Path::new("../tmp"), Path::new("/var/tmp"));
    let is_copied = |place: &Path| etc.is_some() && place.starts_with(Etc::MOUNT_POINT);
    let links: Vec<_> = view.links.iter().filter(|(_, place)| !is_copied(place)).collect();
    let readable: Vec<_> = view.readable.iter().filter(|(_, place)| !is_copied(place)).collect();
    // The home folder may be in a system folder, which it then covers, so it is filled afterwards.
    let in_home = |place: &Path| place.starts_with(&view.home);
    for (target, place) in links.iter().filter(|(_, place)| !in_home(place)) {
        to.bind("--symlink", target, place);
    }
    for (from, place) in readable.iter().filter(|(_, place)| !in_home(place)) {
        to.show(copies, from, place);
    }
    if let Some(etc) = etc {
        to.bind("--ro-bind", &etc.folder(), Path::new(Etc::MOUNT_POINT));
    }
    to.memory(limits.scratch, "0700", &view.home);
    for (target, place) in links.iter().filter(|(_, place)| in_home(place)) {
        to.bind("--symlink", target, place);
    }
    for (from, place) in readable.iter().filter(|(_, place)| in_home(place)) {
        to.show(copies, from, place);
    }
    for (from, place) in view.caches.iter().flat_map(|caches| &caches.mounts) {
        to.bind("--bind", from, place);
    }
}

fn project(to: &mut Arguments, view: &View, guard: &Guard) {
    to.bind("--bind", &view.project, &view.project);
    // An outer one comes before what is in it.
    for granted in &view.granted {
        let how = match granted.access {
            FolderAccess::Read => "--ro-bind",
            FolderAccess::Write => "--bind",
        };
        to.bind(how, &granted.path, &granted.path);
    }
    for folder in &view.git {
        to.bind("--bind", folder, folder);
    }
    // A folder comes before what is in it.
    let mut protected: Vec<(&PathBuf, &str)> = view
        .protected
        .iter()
        .filter_map(|protection| match protection {
            Protection::Pinned(path) => Some((path, "--bind")),
            Protection::ReadOnly(path) => Some((path, "--ro-bind")),
            // It may be gone by then.
            Protection::Shared(path) => Some((path, "--ro-bind-try")),
            Protection::Held(..) | Protection::Absent(..) => None,
        })
        .chain(view.emptied.iter().map(|path| (path, "--tmpfs")))
        .collect();
    protected.sort();
    for (path, how) in protected {
        if how == "--tmpfs" {
            to.on(how, path);
        } else {
            to.bind(how, path, path);
        }
    }
    for emptied in &view.emptied {
        to.on("--remount-ro", emptied);
    }
    for placeholder in guard.placeholders() {
        to.bind("--ro-bind", placeholder, placeholder);
    }
    for masked in &view.masked {
        to.bind("--ro-bind", Path::new(MASK), masked);
    }
}
