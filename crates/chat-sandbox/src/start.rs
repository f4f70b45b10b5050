//! Starts a command in each of the three ways.

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

/// Starts a command in bubblewrap, whose program this is. It ends when the permanent thread ends.
///
/// bubblewrap is started as soon as the files to copy are open, and gets the arguments of its view
/// while it starts.
pub(crate) fn in_bubblewrap(
    program: &Path,
    shell: &Path,
    command: Command,
) -> Result<Started, Error> {
    let (mut command, home) = resolved(command)?;
    let mut view = View::of(&command.project, &home)?;
    view.secrets = command.secrets.clone();
    view.access = command.git.clone();
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
    // Nobody else holds the reading end, so a write fails if bubblewrap has ended.
    let starting = spawner::stay(move || to_inherit.start(&read, process))?;
    let held = send_arguments(&mut view, etc, &command, &inherited_fds, &rest);
    let child = starting.child()?;
    let space = Space::of(&child);
    let mut started = Started::new(child, Family::Space(space), gate, &command);
    // On an error, bubblewrap is ended first, so that it does not run with incomplete arguments.
    let held = held?;
    drop(rest);
    (started.guard, started.mount_watch, started.etc) = (held.guard, held.mount_watch, held.etc);
    // It is mounting now, and then the command waits.
    started.git_watcher = Some(GitWatcher::new(&view));
    started.family = Arc::new(Family::Space(Space::with_first(&started.child)));
    Etc::prepare(&view, command.network);
    Ok(started)
}

/// What must be held while the command runs because bubblewrap uses it.
struct HeldResources {
    guard: Guard,
    mount_watch: Option<MountWatch>,
    etc: Option<Arc<Etc>>,
}

/// Adds the system if that was not done, and the project, and sends the view to bubblewrap.
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

/// Starts a command under this version of Landlock, which restricts this thread for good.
pub(crate) fn in_landlock(version: u8, shell: &Path, command: Command) -> Result<Started, Error> {
    let (command, home) = resolved(command)?;
    let mut view = View::of(&command.project, &home)?;
    view.secrets.clone_from(&command.secrets);
    view.access.clone_from(&command.git);
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
    // No mount watch is needed: Landlock restricts files rather than names, and grants nobody a new
    // file.
    started.scratch = Some(scratch);
    Ok(started)
}

/// Starts a command with nothing but its limits.
pub(crate) fn unbound(shell: &Path, command: Command) -> Result<Started, Error> {
    let (command, home) = resolved(command)?;
    let mut process = gated(shell, &command);
    surround(&mut process, &command, shell, &home, &std::env::temp_dir());
    let child = process.spawn().map_err(Error::Start)?;
    Ok(Started::new(child, Family::Marked(processes::mark()), Gate::Input, &command))
}

/// The command with its paths free of links, and the home folder.
fn resolved(mut command: Command) -> Result<(Command, PathBuf), Error> {
    if command.text.contains('\0') {
        return Err(Error::Nul);
    }
    // The judged path is a real one, so a link on it was created since.
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

/// The command, waiting at its gate.
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
