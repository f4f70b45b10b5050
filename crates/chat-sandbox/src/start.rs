//! Starts a command or a program in each of the three ways.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use crate::bubblewrap::{self, ArgumentsPipe, InheritedFds};
use crate::descriptors;
use crate::environment;
use crate::error::Error;
use crate::git::GitWatcher;
use crate::landlock::{self, Bounds};
use crate::launch::{Launch, LaunchKind};
use crate::mount_watch::MountWatch;
use crate::processes::{self, Family, Space, Watchdog};
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
    mut launch: Launch,
) -> Result<Started, Error> {
    let mut view = launch.view()?;
    view.add_caches();
    if let Some(caches) = &view.caches {
        launch.add_environment(caches.environment.iter().cloned());
    }
    let etc = Etc::cached(launch.network);
    if etc.is_none() {
        // Its parts are copied.
        view.add_system(&launch.hidden, launch.network)?;
    }
    descriptors::keep();
    let scoped = landlock::version().is_some_and(|version| version >= landlock::SCOPES);
    let restrictions = SyscallRestrictions::of_namespaces(launch.network, scoped);
    let inherited_fds =
        Arc::new(InheritedFds::new(&view, etc.is_some(), seccomp::file(restrictions)?));
    let (rest, read) = ArgumentsPipe::new().map_err(Error::Start)?;
    let (script, (gate, stdin)) = if launch.is_program() {
        let gate = Gate::Pipe { in_bubblewrap: true };
        (shell::PROGRAM_WITH_LIMITS, (gate, Stdio::piped()))
    } else {
        (shell::WITH_LIMITS, Gate::socket().map_err(Error::Start)?)
    };
    let mut process = std::process::Command::new(program);
    process
        .args(bubblewrap::arguments(&launch, &inherited_fds, &read))
        .args(["/bin/sh", "-c", script, "sh"])
        .args(shell::limits(&launch.limits))
        .args(&launch.words)
        .stdin(stdin);
    surround(&mut process, &launch, shell, &launch.home, Path::new(bubblewrap::SCRATCH));
    let to_inherit = inherited_fds.clone();
    // Nobody else holds the reading end, so a write fails if bubblewrap has ended.
    let starting = spawner::stay(move || to_inherit.start(&read, process))?;
    let held = send_arguments(&mut view, etc, &launch, &inherited_fds, &rest);
    let child = starting.child()?;
    let space = Space::of(&child);
    let mut started = Started::new(child, Family::Space(space), gate, &launch);
    // On an error, bubblewrap is ended first, so that it does not run with incomplete arguments.
    let held = held?;
    drop(rest);
    (started.guard, started.mount_watch, started.etc) = (held.guard, held.mount_watch, held.etc);
    // It is mounting now, and then the command waits.
    started.git_watcher = launch.shares_folders().then(|| GitWatcher::new(&view));
    started.family = Arc::new(Family::Space(Space::with_first(&started.child)));
    Etc::prepare(&view, launch.network);
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
    launch: &Launch,
    inherited_fds: &InheritedFds,
    rest: &ArgumentsPipe,
) -> Result<HeldResources, Error> {
    if etc.is_some() {
        view.add_system(&launch.hidden, launch.network)?;
    }
    view.add_project()?;
    launch.find_program(Some(view))?;
    let etc = etc.and_then(|etc| etc.current(view, launch.network));
    let guard = Guard::new(view, true)?;
    let protected = view.protected.iter().filter_map(Protection::mounted);
    let masked = view.masked.iter().map(PathBuf::as_path);
    let mount_watch = MountWatch::new(protected.chain(guard.placeholders()).chain(masked));
    let words = bubblewrap::rest(view, etc.as_deref(), &guard, launch, inherited_fds);
    rest.send(&words).map_err(Error::Start)?;
    Ok(HeldResources { guard, mount_watch: Some(mount_watch), etc })
}

/// Starts a command under this version of Landlock, which restricts this thread for good.
pub(crate) fn in_landlock(version: u8, shell: &Path, mut launch: Launch) -> Result<Started, Error> {
    let mut view = launch.view()?;
    view.add_system(&launch.hidden, launch.network)?;
    view.add_project()?;
    launch.find_program(Some(&view))?;
    if let Some(files) = launch.files() {
        launch.add_environment(files.environment(&launch.home));
    }
    let scratch = tempfile::tempdir().map_err(Error::Start)?;
    let home = scratch.path().join("home");
    view::furnish(&view, &home).map_err(Error::Start)?;
    let mut guard = Guard::new(&mut view, false)?;
    if let LaunchKind::Command { project, .. } = &launch.kind {
        guard.make_writable(landlock::build_folders(project));
    }
    let git_watcher = launch.shares_folders().then(|| GitWatcher::new(&view));
    let bounds = Bounds::of(&view, scratch.path(), launch.network, version)?;
    let mut process = gated(&launch);
    surround(&mut process, &launch, shell, &home, scratch.path());
    // It must be able to end the program, so it starts before this thread is restricted.
    let (mark, watchdog) = marked(&launch)?;
    bounds.bind_this_thread()?;
    let mut started = spawn_marked(process, mark, watchdog, &launch)?;
    started.guard = guard;
    started.git_watcher = git_watcher;
    // No mount watch is needed: Landlock restricts files rather than names, and grants nobody a new
    // file.
    started.scratch = Some(scratch);
    Ok(started)
}

/// Starts a command with nothing but its limits.
pub(crate) fn unbound(shell: &Path, launch: &Launch) -> Result<Started, Error> {
    launch.find_program(None)?;
    let mut process = gated(launch);
    surround(&mut process, launch, shell, &launch.home, &std::env::temp_dir());
    let (mark, watchdog) = marked(launch)?;
    spawn_marked(process, mark, watchdog, launch)
}

/// A mark for the processes, and for a program what ends them if Natter is killed.
fn marked(launch: &Launch) -> Result<(u64, Option<Watchdog>), Error> {
    let mark = processes::mark();
    let watchdog = launch.is_program().then(|| Watchdog::new(mark));
    Ok((mark, watchdog.transpose().map_err(Error::Start)?))
}

fn spawn_marked(
    mut process: std::process::Command,
    mark: u64,
    watchdog: Option<Watchdog>,
    launch: &Launch,
) -> Result<Started, Error> {
    let child = process.spawn().map_err(Error::Start)?;
    let gate = if launch.is_program() { Gate::Pipe { in_bubblewrap: false } } else { Gate::Input };
    let mut started = Started::new(child, Family::Marked(mark), gate, launch);
    started.watchdog = watchdog;
    Ok(started)
}

/// The command, waiting at its gate.
fn gated(launch: &Launch) -> std::process::Command {
    descriptors::keep();
    let script = if launch.is_program() { shell::PROGRAM_GATED } else { shell::GATED };
    let mut process = std::process::Command::new("/bin/sh");
    process
        .args(["-c", script, "sh"])
        .args(&launch.words)
        .current_dir(&launch.folder)
        .process_group(0)
        .stdin(Stdio::piped());
    process
}

fn surround(
    process: &mut std::process::Command,
    launch: &Launch,
    shell: &Path,
    home: &Path,
    scratch: &Path,
) {
    let own = std::env::vars_os();
    let variables = environment::of(own, home, scratch, shell, &launch.environment);
    process.env_clear().envs(variables);
    let stderr = match launch.kind {
        LaunchKind::Program { has_reader: false, .. } => Stdio::null(),
        _ => Stdio::piped(),
    };
    process.stdout(Stdio::piped()).stderr(stderr);
}
