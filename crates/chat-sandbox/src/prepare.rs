//! A command made ready to be started, in each of the three ways, and its start.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tempfile::TempDir;

use crate::bubblewrap::{self, Handed};
use crate::command::Command;
use crate::descriptors;
use crate::environment;
use crate::error::Error;
use crate::exposure::Exposure;
use crate::git::Patrol;
use crate::landlock::{self, Bounds};
use crate::processes::{self, Family, Space};
use crate::seccomp::{self, Doors};
use crate::shell::{self, Gate};
use crate::supervise::Started;
use crate::view::{self, Guard, Protection, View};

/// A command that only has to be started.
pub(crate) struct Prepared {
    process: std::process::Command,
    command: Command,
    guard: Guard,
    patrol: Option<Patrol>,
    exposure: Option<Exposure>,
    gate: Gate,
    way: Way,
}

enum Way {
    /// Started by the thread that stays. What is handed is open until it runs.
    Bubblewrap { handed: Handed },
    /// Started by a thread of its own, which is bound before.
    Thread { bounds: Option<Bounds>, scratch: Option<TempDir> },
}

/// In bubblewrap, whose program this is.
pub(crate) fn in_bubblewrap(
    program: &Path,
    shell: &Path,
    command: Command,
) -> Result<Prepared, Error> {
    let (command, home) = resolved(command)?;
    let mut view = view(&command, &home)?;
    let guard = Guard::new(&mut view, true)?;
    descriptors::keep();
    let scoped = landlock::version().is_some_and(|version| version >= landlock::SCOPES);
    let doors = Doors::of_namespaces(command.network, scoped);
    let filters = seccomp::files(&seccomp::programs(doors)?)?;
    let handed = Handed::new(&view, filters);
    let (gate, stdin) = Gate::told().map_err(Error::Start)?;
    let mut process = std::process::Command::new(program);
    process
        .args(bubblewrap::arguments(&view, &guard, &command, &handed))
        .args(["/bin/sh", "-c", shell::WITH_LIMITS, "sh"])
        .args(shell::limits(&command.limits))
        .arg(shell)
        .args(shell::arguments(shell))
        .arg(&command.text)
        .stdin(stdin);
    surround(&mut process, &command, shell, &home, Path::new(bubblewrap::SCRATCH));
    let patrol = Some(Patrol::new(&view));
    let protected = view.protected.iter().filter_map(Protection::mounted).chain(guard.stand_ins());
    let exposure = Some(Exposure::new(protected));
    let way = Way::Bubblewrap { handed };
    Ok(Prepared { process, command, guard, patrol, exposure, gate, way })
}

/// Bound by this version of Landlock.
pub(crate) fn in_landlock(version: u8, shell: &Path, command: Command) -> Result<Prepared, Error> {
    let (command, home) = resolved(command)?;
    let mut view = view(&command, &home)?;
    let scratch = tempfile::tempdir().map_err(Error::Start)?;
    let home = scratch.path().join("home");
    view::furnish(&view, &home).map_err(Error::Start)?;
    let mut guard = Guard::new(&mut view, false)?;
    guard.make_writable(landlock::build_folders(&view.project));
    let patrol = Some(Patrol::new(&view));
    let bounds = Bounds::of(&view, scratch.path(), command.network, version)?;
    let mut process = gated(shell, &command);
    surround(&mut process, &command, shell, &home, scratch.path());
    Ok(Prepared {
        process,
        command,
        guard,
        patrol,
        // What it bounds it bounds as files: a new one is granted to nobody.
        exposure: None,
        gate: Gate::Input,
        way: Way::Thread { bounds: Some(bounds), scratch: Some(scratch) },
    })
}

/// Bound by nothing but its limits.
pub(crate) fn unbound(shell: &Path, command: Command) -> Result<Prepared, Error> {
    let (command, home) = resolved(command)?;
    let mut process = gated(shell, &command);
    surround(&mut process, &command, shell, &home, &std::env::temp_dir());
    Ok(Prepared {
        process,
        command,
        guard: Guard::of_nothing(),
        patrol: None,
        exposure: None,
        gate: Gate::Input,
        way: Way::Thread { bounds: None, scratch: None },
    })
}

impl Prepared {
    /// Starts it on this thread, which is bound for good where Landlock bounds the command. The
    /// command waits until it is [let go](Started::let_go).
    pub(crate) fn start(mut self) -> Result<Started, Error> {
        let (child, family, scratch) = match self.way {
            Way::Bubblewrap { handed } => {
                let child = self.process.spawn().map_err(Error::Start)?;
                drop(handed);
                let space = Space::of(&child);
                (child, Family::Space(space), None)
            }
            Way::Thread { bounds, scratch } => {
                bounds.map_or(Ok(()), |bounds| bounds.bind_this_thread())?;
                let child = self.process.spawn().map_err(Error::Start)?;
                (child, Family::Marked(processes::mark()), scratch)
            }
        };
        Ok(Started {
            child,
            family: Arc::new(family),
            project: self.command.project,
            limit: self.command.limit,
            limits: self.command.limits,
            guard: self.guard,
            patrol: self.patrol,
            exposure: self.exposure,
            gate: self.gate,
            _scratch: scratch,
        })
    }
}

/// The command with its folders free of links, and the home folder.
fn resolved(mut command: Command) -> Result<(Command, PathBuf), Error> {
    if command.text.contains('\0') {
        return Err(Error::Nul);
    }
    command.project = real_folder(&command.project)?;
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

fn view(command: &Command, home: &Path) -> Result<View, Error> {
    View::of(&command.project, home, &command.hidden, command.network)
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
