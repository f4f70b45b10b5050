//! Runs commands in the sandbox, and reports what is enforced here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::command::Command;
use crate::error::Error;
use crate::landlock;
use crate::launch::Launch;
use crate::output::{Follow, Spool};
use crate::probe::{self, UnavailableReason};
use crate::program::{self, Log, Pipes, Program, RunningProgram, StandardError};
use crate::running::Running;
use crate::spawner;
use crate::start;
use crate::supervise::{self, Started};

/// What confines a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// bubblewrap: its own view of files, processes and network, and the system call filter.
    Bubblewrap,
    /// Landlock and the filter.
    Landlock,
    /// Nothing: every command must be asked about.
    None,
}

/// The wanted back end. Programs use `Best`; the others are for tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Preference {
    /// The best that works here.
    #[default]
    Best,
    /// bubblewrap or nothing.
    Bubblewrap,
    /// Landlock or nothing.
    Landlock,
    /// Nothing.
    None,
}

/// What the back end cannot prevent, though it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gap {
    /// Sending signals to the user's programs outside.
    Signals,
    /// Changing permissions and times of files outside (never their contents).
    Attributes,
    /// Finding out whether a file outside exists, its size and its times (never its contents).
    Metadata,
    /// A repository that a command creates can make the user's git run something, for about a
    /// second until it is sanitized.
    NewRepositories,
    /// Reading the names and command lines of other processes.
    ProcessNames,
    /// Creating protected names that do not exist yet, in a project without git; they are
    /// quarantined when the command has ended.
    NewProtected,
    /// A legitimate action that does not work: in a project with git, a command can create nothing
    /// at the project's top, and change nothing in git's data.
    NoNewEntries,
}

/// Runs commands in a sandbox. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    enforcement: Enforcement,
    bubblewrap: Option<PathBuf>,
    landlock: Option<u8>,
    why_not: Vec<(Enforcement, UnavailableReason)>,
    /// The shell that runs commands.
    shell: PathBuf,
}

impl Sandbox {
    /// Finds out what this machine can enforce, once for each preference: later calls return the
    /// same. Takes some tens of milliseconds, and at most seconds.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn probe(preference: Preference) -> Self {
        static PROBED: [OnceCell<Sandbox>; 4] = [const { OnceCell::const_new() }; 4];
        let found = &PROBED[preference as usize];
        found.get_or_init(|| probe::probe(preference)).await.clone()
    }

    pub(crate) fn new(
        enforcement: Enforcement,
        bubblewrap: Option<PathBuf>,
        landlock: Option<u8>,
    ) -> Self {
        Self(Arc::new(Inner {
            enforcement,
            bubblewrap,
            landlock,
            why_not: Vec::new(),
            shell: probe::find("bash").unwrap_or_else(|| "/bin/sh".into()),
        }))
    }

    pub(crate) fn with_reasons(self, why_not: Vec<(Enforcement, UnavailableReason)>) -> Self {
        Self(Arc::new(Inner {
            enforcement: self.0.enforcement,
            bubblewrap: self.0.bubblewrap.clone(),
            landlock: self.0.landlock,
            why_not,
            shell: self.0.shell.clone(),
        }))
    }

    /// What confines commands here.
    pub fn enforcement(&self) -> Enforcement {
        self.0.enforcement
    }

    /// Why nothing better is used: each better back end with its reason.
    pub fn why_not(&self) -> &[(Enforcement, UnavailableReason)] {
        &self.0.why_not
    }

    /// What the back end cannot prevent here. Empty if there is none, which prevents nothing at
    /// all.
    pub fn gaps(&self) -> Vec<Gap> {
        match self.0.enforcement {
            Enforcement::None => Vec::new(),
            Enforcement::Bubblewrap => vec![Gap::NewRepositories],
            Enforcement::Landlock => {
                let mut gaps = vec![
                    Gap::Attributes,
                    Gap::Metadata,
                    Gap::ProcessNames,
                    Gap::NewProtected,
                    Gap::NewRepositories,
                    Gap::NoNewEntries,
                ];
                if self.0.landlock.is_none_or(|version| version < landlock::SCOPES) {
                    gaps.push(Gap::Signals);
                }
                gaps
            }
        }
    }

    /// The shell that runs commands.
    pub fn shell(&self) -> &Path {
        &self.0.shell
    }

    /// Starts a command whose output goes to `spool`. If it is cancelled, nothing is left running.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn spawn(&self, command: Command, spool: Spool) -> Result<Running, Error> {
        Ok(self.spawn_followed(command, spool).await?.0)
    }

    /// The same, with a stream of all its output. The caller must read or drop it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn spawn_followed(
        &self,
        command: Command,
        spool: Spool,
    ) -> Result<(Running, Follow), Error> {
        let sandbox = self.clone();
        let launch = move || Launch::of_command(&sandbox.0.shell, command);
        supervise::begin(self.launch(launch).await?, spool)
    }

    /// Starts a program that is talked to over pipes, such as an MCP server, and that runs until it
    /// ends or is ended. If this is cancelled or the handle is dropped, or if Natter ends in any
    /// way, nothing is left running. To run it outside of the sandbox, start it in that of
    /// [`Preference::None`].
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] and [`Error::HiddenProgram`] if there is no such program, or if the
    /// sandbox does not show it; [`Error::TooWide`] and [`Error::OwnFolder`] if a granted folder
    /// would show too much.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn spawn_program(&self, program: Program) -> Result<(RunningProgram, Pipes), Error> {
        let log = match &program.standard_error {
            StandardError::Log(path) => Some(Log::open(path).map_err(Error::Output)?),
            StandardError::Pipe | StandardError::Nothing => None,
        };
        let is_confined = self.0.enforcement != Enforcement::None;
        let started = self.launch(move || Launch::of_program(program, is_confined)).await?;
        program::begin(started, log)
    }

    /// Starts what `launch` returns, and lets it go.
    async fn launch(
        &self,
        launch: impl FnOnce() -> Result<Launch, Error> + Send + 'static,
    ) -> Result<Started, Error> {
        let sandbox = self.clone();
        let start = move || sandbox.start(launch()?);
        let mut started = match self.0.enforcement {
            Enforcement::Bubblewrap => spawner::blocking(start).await?,
            Enforcement::Landlock | Enforcement::None => spawner::once(start).await?,
        };
        started.let_go()?;
        Ok(started)
    }

    fn start(&self, launch: Launch) -> Result<Started, Error> {
        let shell = &self.0.shell;
        match (self.0.enforcement, &self.0.bubblewrap) {
            (Enforcement::Bubblewrap, Some(program)) => {
                start::in_bubblewrap(program, shell, launch)
            }
            (Enforcement::Landlock, _) => {
                start::in_landlock(self.0.landlock.unwrap_or(0), shell, launch)
            }
            _ => start::unbound(shell, &launch),
        }
    }
}
