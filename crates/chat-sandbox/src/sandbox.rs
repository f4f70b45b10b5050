//! Runs commands in the sandbox, and tells what is enforced here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::command::Command;
use crate::error::Error;
use crate::landlock;
use crate::output::{Follow, Spool};
use crate::probe::{self, UnavailableReason};
use crate::running::Running;
use crate::spawner;
use crate::start;
use crate::supervise::{self, Started};

/// What keeps a command in its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// bubblewrap: an own view of files, processes and network, and the filter of system calls.
    Bubblewrap,
    /// Landlock and the filter.
    Landlock,
    /// Nothing: each command is to be asked for.
    None,
}

/// What is wanted; `Best` is what programs want, the others are for tests.
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

/// What the enforcement cannot keep a command from, though it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gap {
    /// Signals to this person's programs outside.
    Signals,
    /// Permissions and times of files outside (never their contents).
    Attributes,
    /// Whether a file outside exists, its size and its times can be asked (never its contents).
    Metadata,
    /// A repository that a command makes can have a person's git run something, for about the
    /// second until it is put right.
    NewRepositories,
    /// Names and command lines of other processes can be read.
    ProcessNames,
    /// Protected names that do not exist yet can be made in a project without git; they are put
    /// aside when the command has ended.
    NewProtected,
    /// A lawful thing that does not work: in a project with git, a command makes nothing new at
    /// the project's top, and changes nothing in git's data.
    NoNewEntries,
}

/// Runs commands in bounds. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    enforcement: Enforcement,
    bubblewrap: Option<PathBuf>,
    landlock: Option<u8>,
    why_not: Vec<(Enforcement, UnavailableReason)>,
    /// Runs the commands.
    shell: PathBuf,
}

impl Sandbox {
    /// Finds out what this machine enforces, once for each preference: later calls get the same.
    /// Takes some tens of milliseconds, and at most seconds.
    ///
    /// # Panics
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

    /// What keeps commands in bounds here.
    pub fn enforcement(&self) -> Enforcement {
        self.0.enforcement
    }

    /// Why nothing better does: each better way, and why it is not used.
    pub fn why_not(&self) -> &[(Enforcement, UnavailableReason)] {
        &self.0.why_not
    }

    /// What is not kept here of what should be. Empty where nothing enforces: then nothing is.
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

    /// Starts a command whose output goes to `spool`. Given up, it leaves nothing running.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn spawn(&self, command: Command, spool: Spool) -> Result<Running, Error> {
        Ok(self.spawn_followed(command, spool).await?.0)
    }

    /// The same, with all of its output as it comes. Who asks for that must read it, or drop it.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn spawn_followed(
        &self,
        command: Command,
        spool: Spool,
    ) -> Result<(Running, Follow), Error> {
        let sandbox = self.clone();
        let start = move || sandbox.start(command);
        let mut started = match self.0.enforcement {
            Enforcement::Bubblewrap => spawner::blocking(start).await?,
            Enforcement::Landlock | Enforcement::None => spawner::once(start).await?,
        };
        started.let_go()?;
        supervise::begin(started, spool)
    }

    fn start(&self, command: Command) -> Result<Started, Error> {
        let shell = &self.0.shell;
        match (self.0.enforcement, &self.0.bubblewrap) {
            (Enforcement::Bubblewrap, Some(program)) => {
                start::in_bubblewrap(program, shell, command)
            }
            (Enforcement::Landlock, _) => {
                start::in_landlock(self.0.landlock.unwrap_or(0), shell, command)
            }
            _ => start::unbound(shell, command),
        }
    }
}
