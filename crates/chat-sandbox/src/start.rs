//! Starts a command, in each of the three ways.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use crate::bubblewrap::{self, ArgumentsPipe, InheritedFds};
use crate::command::Command;
use crate::descriptors;
use crate::environment;
use crate::error::Error;
use crate::git::GitWatcher;
use crate::landlock::{self, Bounds};
use crate::mount_watch::MountWatch;
use crate::processes::{self, Family, Space};
use crate::seccomp::{self, SyscallRestrictions};
use crate::shell::{self, Gate};
use crate::spawner;
use crate::supervise::Started;
use crate::view::{self, Etc, Guard, Protection, View};

/// In bubblewrap, whose program this is. It ends when the thread ends that stays.
///
/// It is started as soon as what it is to copy is open, and is told of its view while it begins.
pub(crate) fn in_bubblewrap(
    program: &Path,
    shell: &Path,
    command: Command,
) -> Result<Started, Error> {
    let (mut command, home) = resolved(command)?;
    let mut view = View::of(&command.project, &home)?;
    view.secrets = command.secrets.clone();
    view.add_caches();
    if let Some(caches) = &view.caches {
        drop(command.environment.splice(0..0, caches.environment.iter().cloned()));
    }
    let etc = Etc::cached(command.network);
    if etc.is_none() {
        // Its parts are copied.
        view.add_system(&command.hidden, command.network)?;
    }
    descriptors::keep();
    let scoped = landlock::version().is_some_and(|version| version >= landlock::SCOPES);
    let restrictions = SyscallRestrictions::of_namespaces(command.network, scoped);
    let inherited_fds =
        Arc::new(InheritedFds::new(&view, etc.is_some(), seccomp::file(restrictions)?));
    let (rest, read) = ArgumentsPipe::new().map_err(Error::Start)?;
    let (gate, stdin) = Gate::socket().map_err(Error::Start)?;
    let mut process = std::process::Command::new(program);
    process
        .args(bubblewrap::arguments(&command, &inherited_fds, &read))
        .args(["/bin/sh", "-c", shell::WITH_LIMITS, "sh"])
        .args(shell::limits(&command.limits))
        .arg(shell)
        .args(shell::arguments(shell))
        .arg(&command.text)
        .stdin(stdin);
    surround(&mut process, &command, shell, &home, Path::new(bubblewrap::SCRATCH));
    let to_inherit = inherited_fds.clone();
    // Nobody else has it read: then it is heard where bubblewrap has ended.
    let starting = spawner::stay(move || to_inherit.start(&read, process))?;
    let held = send_arguments(&mut view, etc, &command, &inherited_fds, &rest);
    let child = starting.child()?;
    let space = Space::of(&child);
    let mut started = Started::new(child, Family::Space(space), gate, &command);
    // On an error it is ended first, lest it do by halves what it was told by halves.
    let held = held?;
    drop(rest);
    (started.guard, started.mount_watch, started.etc) = (held.guard, held.mount_watch, held.etc);
    // It mounts now, and then the command waits.
    started.git_watcher = Some(GitWatcher::new(&view));
    started.family = Arc::new(Family::Space(Space::with_first(&started.child)));
    Etc::prepare(&view, command.network);
    Ok(started)
}

/// What bubblewrap was told of that must be held while the command runs.
struct HeldResources {
    guard: Guard,
    mount_watch: Option<MountWatch>,
    etc: Option<Arc<Etc>>,
}

/// Looks at the system, where that was not done, and at the project, and tells bubblewrap.
fn send_arguments(
    view: &mut View,
    etc: Option<Arc<Etc>>,
    command: &Command,
    inherited_fds: &InheritedFds,
    rest: &ArgumentsPipe,
) -> Result<HeldResources, Error> {
    if etc.is_some() {
        view.add_system(&command.hidden, command.network)?;
    }
    view.add_project()?;
    let etc = etc.and_then(|etc| etc.current(view, command.network));
    let guard = Guard::new(view, true)?;
    let protected = view.protected.iter().filter_map(Protection::mounted);
    let masked = view.masked.iter().map(PathBuf::as_path);
    let mount_watch = MountWatch::new(protected.chain(guard.placeholders()).chain(masked));
    let words = bubblewrap::rest(view, etc.as_deref(), &guard, command, inherited_fds);
    rest.send(&words).map_err(Error::Start)?;
    Ok(HeldResources { guard, mount_watch: Some(mount_watch), etc })
}

/// Bound by this version of Landlock, which binds this thread for good.
pub(crate) fn in_landlock(version: u8, shell: &Path, command: Command) -> Result<Started, Error> {
    let (command, home) = resolved(command)?;
    let mut view = View::of(&command.project, &home)?;
    view.secrets.clone_from(&command.secrets);
    view.add_system(&command.hidden, command.network)?;
    view.add_project()?;
    let scratch = tempfile::tempdir().map_err(Error::Start)?;
    let home = scratch.path().join("home");
    view::furnish(&view, &home).map_err(Error::Start)?;
    let mut guard = Guard::new(&mut view, false)?;
    guard.make_writable(landlock::build_folders(&view.project));
    let git_watcher = Some(GitWatcher::new(&view));
    let bounds = Bounds::of(&view, scratch.path(), command.network, version)?;
    let mut process = gated(shell, &command);
    surround(&mut process, &command, shell, &home, scratch.path());
    bounds.bind_this_thread()?;
    let child = process.spawn().map_err(Error::Start)?;
    let family = Family::Marked(processes::mark());
    let mut started = Started::new(child, family, Gate::Input, &command);
    started.guard = guard;
    started.git_watcher = git_watcher;
    // Of exposure there is none: it bounds files, and a new one is granted to nobody.
    started.scratch = Some(scratch);
    Ok(started)
}

/// Bound by nothing but its limits.
pub(crate) fn unbound(shell: &Path, command: Command) -> Result<Started, Error> {
    let (command, home) = resolved(command)?;
    let mut process = gated(shell, &command);
    surround(&mut process, &command, shell, &home, &std::env::temp_dir());
    let child = process.spawn().map_err(Error::Start)?;
    Ok(Started::new(child, Family::Marked(processes::mark()), Gate::Input, &command))
}

/// The command with its folder free of links, and the home folder.
fn resolved(mut command: Command) -> Result<(Command, PathBuf), Error> {
    if command.text.contains('\0') {
        return Err(Error::Nul);
    }
    // What was judged is a real path: a link on it was put there since.
    if real_folder(&command.project)? != command.project {
        let error = std::io::ErrorKind::NotADirectory.into();
        return Err(Error::Folder { path: command.project, error });
    }
    command.folder = real_folder(&command.folder)?;
    if !command.folder.starts_with(&command.project) {
        return Err(Error::Outside(command.folder));
    }
    let home = command.home.clone().or_else(std::env::home_dir);
    let home = home.map(|home| home.canonicalize().unwrap_or(home));
    let home = home
        .filter(|home| home.is_absolute() && home.parent().is_some())
        .unwrap_or_else(|| "/home/nobody".into());
    Ok((command, home))
}

fn real_folder(path: &Path) -> Result<PathBuf, Error> {
    let failed = |error| Error::Folder { path: path.to_owned(), error };
    let real = path.canonicalize().map_err(failed)?;
    if real.is_dir() { Ok(real) } else { Err(failed(std::io::ErrorKind::NotADirectory.into())) }
}

/// The command behind its gate.
fn gated(shell: &Path, command: &Command) -> std::process::Command {
    descriptors::keep();
    let mut process = std::process::Command::new("/bin/sh");
    process
        .args(["-c", shell::GATED, "sh"])
        .arg(shell)
        .args(shell::arguments(shell))
        .arg(&command.text)
        .current_dir(&command.folder)
        .process_group(0)
        .stdin(Stdio::piped());
    process
}

fn surround(
    process: &mut std::process::Command,
    command: &Command,
    shell: &Path,
    home: &Path,
    scratch: &Path,
) {
    let own = std::env::vars_os();
    let variables = environment::of(own, home, scratch, shell, &command.environment);
    process.env_clear().envs(variables);
    process.stdout(Stdio::piped()).stderr(Stdio::piped());
}
