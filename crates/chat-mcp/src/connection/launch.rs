//! Starts a server as its configuration says, and connects to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chat_sandbox::{
    Enforcement, FolderAccess, GrantedFolder, Pipes, Preference, Program, RunningProgram, Sandbox,
    StandardError,
};

use tokio_util::sync::CancellationToken;

use super::StartFault;
use crate::client::{Client, Discovery, Fault, Link, ServerNews};
use crate::config::{
    BadFolder, PathBase, ResolvedProgram, ResolvedServer, Server, StdioServer, Transport,
};
use crate::keys::Keys;
use crate::transport::{Ending, Lines};

/// How long a program may take to end by itself, and then after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts one server.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The server.
    pub server: Server,
    /// From where its paths are found.
    pub base: PathBase,
    /// What its references stand for.
    pub keys: Keys,
    /// How it is confined, if it runs in the sandbox.
    pub sandbox: Preference,
    /// Where what it says on its standard error goes.
    pub log: PathBuf,
    /// Under which name its own folder is kept, which no other server has.
    pub folder_name: String,
    /// The file that says where the user signed in for it.
    pub account: PathBuf,
}

/// A server that runs.
pub(super) struct Launched {
    link: Link,
    program: Option<RunningProgram>,
    discovery: Discovery,
}

impl Launcher {
    /// Starts it, unless `stop` fires: then waits until what began has ended. Starts it once more at once, as one of the
    /// older revision, if it may be one that cannot be asked. If this is dropped, nothing is left running.
    pub(super) async fn launch(
        &self,
        news: Arc<dyn ServerNews>,
        discovery: Discovery,
        stop: &CancellationToken,
    ) -> Result<Launched, StartFault> {
        let why = match self.attempt(Arc::clone(&news), discovery, stop).await {
            Ok(launched) => return Ok(launched),
            Err(why) => why,
        };
        let once_more = match &why {
            StartFault::Ended => discovery.once_more(&Fault::Closed(None)),
            StartFault::Client(fault) => discovery.once_more(fault),
            _ => None,
        };
        let launched = match once_more {
            Some(discovery) => self.attempt(news, discovery, stop).await,
            None => Err(why),
        };
        launched.map_err(|why| self.explained(why))
    }

    /// The more likely reason for what a program did that lacks what it needs.
    fn explained(&self, why: StartFault) -> StartFault {
        let options = &self.server.config.options;
        let lacks_network = options.sandbox && !options.network;
        let is_silent = matches!(why, StartFault::Ended | StartFault::Client(Fault::TimedOut));
        match &self.server.config.transport {
            Transport::Stdio(server) if lacks_network && is_silent && server.downloads() => {
                StartFault::NoNetwork
            }
            _ => why,
        }
    }

    async fn attempt(
        &self,
        news: Arc<dyn ServerNews>,
        discovery: Discovery,
        stop: &CancellationToken,
    ) -> Result<Launched, StartFault> {
        let config = &self.server.config;
        let resolved =
            stop.run_until_cancelled(config.expand(&self.keys)).await.ok_or_else(stopped)?;
        let resolved = resolved.map_err(StartFault::Expand)?;
        let ending = Ending::default();
        match (&config.transport, resolved) {
            (Transport::Stdio(server), ResolvedServer::Program(resolved)) => {
                let (program, Pipes { stdin, stdout, .. }) = self.start(server, resolved).await?;
                let lines = Lines::new(stdout, stdin, ending.clone());
                let connecting = Link::connect(lines, ending, news, discovery);
                let linked = stop.run_until_cancelled(connecting).await;
                match linked.unwrap_or(Err(Fault::Stopped)) {
                    Ok(link) => Ok(Launched { link, program: Some(program), discovery }),
                    Err(fault) => {
                        program.end(PATIENCE).await;
                        Err(match fault {
                            // A program that closes its output is about to end.
                            Fault::Closed(None) => StartFault::Ended,
                            fault => StartFault::Client(fault),
                        })
                    }
                }
            }
            (_, ResolvedServer::Endpoint(endpoint)) => {
                let connecting = async {
                    let transport = self.reach(&endpoint).await?;
                    let link = Link::connect(transport, ending, news, discovery).await;
                    Ok(Launched {
                        link: link.map_err(StartFault::Client)?,
                        program: None,
                        discovery,
                    })
                };
                stop.run_until_cancelled(connecting).await.unwrap_or_else(|| Err(stopped()))
            }
            (Transport::Http(_), ResolvedServer::Program(_)) => {
                Err(StartFault::Client(Fault::Invalid))
            }
        }
    }

    async fn start(
        &self,
        server: &StdioServer,
        resolved: ResolvedProgram,
    ) -> Result<(RunningProgram, Pipes), StartFault> {
        let options = &self.server.config.options;
        let preference = if options.sandbox { self.sandbox } else { Preference::None };
        let sandbox = Sandbox::probe(preference).await;
        if options.sandbox && sandbox.enforcement() == Enforcement::None {
            return Err(StartFault::NoSandbox);
        }
        let text = |secret: &crate::config::SecretText| OsString::from(secret.expose());
        let mut program = Program::new(&self.folder_name, text(&resolved.command));
        program.arguments = resolved.args.iter().map(text).collect();
        let variables = resolved.env.iter();
        program.environment = variables.map(|(name, value)| (name.into(), text(value))).collect();
        program.network = options.network;
        program.home = Some(self.base.home.clone());
        let folders =
            [(&options.folders, FolderAccess::Write), (&options.read_folders, FolderAccess::Read)];
        for (paths, access) in folders {
            for path in self.base.folders(paths) {
                let path = self.real(path).await?;
                program.granted.push(GrantedFolder { path, access });
            }
        }
        if let Some(project) = self.base.readable_project(options) {
            let path = self.real(project.clone()).await?;
            program.granted.push(GrantedFolder { path, access: FolderAccess::Read });
        }
        let folder = server.cwd.as_deref().and_then(|path| self.base.folder(path));
        program.folder = match folder.or_else(|| self.base.project.clone()) {
            Some(folder) => Some(self.real(folder).await?),
            None => None,
        };
        if let Some(folder) = self.log.parent() {
            let made = tokio::fs::create_dir_all(folder).await;
            made.map_err(|error| StartFault::NotStarted(error.to_string()))?;
        }
        program.standard_error = StandardError::Log(self.log.clone());
        sandbox.spawn_program(program).await.map_err(not_started)
    }

    async fn real(&self, folder: PathBuf) -> Result<PathBuf, StartFault> {
        let (base, path) = (self.base.clone(), folder.clone());
        let found = tokio::task::spawn_blocking(move || base.real(&path)).await;
        found.unwrap_or(Err(BadFolder::Missing)).map_err(|why| match why {
            BadFolder::Missing => StartFault::Folder(folder),
            BadFolder::LeadsOut => StartFault::LeadsOut(folder),
        })
    }
}

fn stopped() -> StartFault {
    StartFault::Client(Fault::Stopped)
}

fn not_started(error: chat_sandbox::Error) -> StartFault {
    use chat_sandbox::Error;
    match error {
        Error::NotFound(program) => StartFault::NoProgram(program.to_string_lossy().into_owned()),
        Error::HiddenProgram(path) => StartFault::HiddenProgram(path),
        Error::Folder { path, .. } | Error::Outside(path) | Error::ProtectedLink(path) => {
            StartFault::Folder(path)
        }
        Error::TooWide(path) | Error::OwnFolder(path) => StartFault::TooWide(path),
        other => StartFault::NotStarted(other.to_string()),
    }
}

impl Launched {
    pub(super) fn client(&self) -> &Client {
        self.link.client()
    }

    /// How it came to be connected.
    pub(super) fn discovery(&self) -> Discovery {
        self.discovery
    }

    /// Waits until it runs no more. Cancel-safe.
    pub(super) async fn died(&self) -> StartFault {
        let program = async {
            match &self.program {
                Some(program) => drop(program.wait().await),
                None => std::future::pending().await,
            }
        };
        let ending = self.client().ending();
        tokio::select! {
            () = program => StartFault::Ended,
            () = ending.ended() => match ending.reason() {
                // A program that closes its output is about to end.
                None if self.program.is_some() => StartFault::Ended,
                reason => StartFault::Client(Fault::Closed(reason)),
            },
        }
    }

    /// Ends it, and waits until all its processes have ended.
    pub(super) async fn end(self) {
        match self.program {
            // The program sees the end of its input first, as the protocol asks for.
            Some(program) => {
                program.end(PATIENCE).await;
                drop(self.link);
            }
            None => self.link.close().await,
        }
    }
}
