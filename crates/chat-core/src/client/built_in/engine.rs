//! Starts the engine's program, and holds the lease that keeps it alive.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::paths;
use crate::client::Timeouts;
use crate::client::openai::OpenAi;
use crate::error::{Error, Kind, Result};
use crate::models::CONNECTION;
use crate::settings::EngineSettings;

/// So long the program may take to say that it is there.
const START: Duration = Duration::from_secs(20);
/// How often it is tried: an engine may be about to end when it is found.
const TRIES: usize = 3;
/// An engine that gave no answer to so many wishes for a lease hangs.
const SILENT: usize = 2;

/// Where the engine's things are, and how it works.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Its program; none where it is not installed.
    pub program: Option<PathBuf>,
    /// The folder of its socket.
    pub runtime: PathBuf,
    /// The file of its log.
    pub log: PathBuf,
    /// How it works.
    pub settings: EngineSettings,
}

/// The engine as this program uses it.
#[derive(Debug)]
pub(super) struct Engine {
    options: EngineOptions,
    timeouts: Timeouts,
    running: tokio::sync::Mutex<Option<Arc<Running>>>,
    /// The process, as the engine itself says.
    process: Mutex<Option<u32>>,
}

/// An engine that lives as long as this.
#[derive(Debug)]
pub(super) struct Running {
    client: OpenAi,
    /// Fires when the engine has gone.
    gone: CancellationToken,
    /// Reads the lease.
    _lease: AbortOnDropHandle<()>,
    /// The socket's folder, where its path is too long to be named.
    _folder: Option<File>,
}

impl Running {
    pub(super) fn client(&self) -> &OpenAi {
        &self.client
    }
}

/// Why there is no lease.
enum Refused {
    /// Somebody listens, and says nothing.
    Silent,
    Other(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// What the engine says when it takes a lease.
#[derive(Deserialize)]
struct Hello {
    pid: u32,
}

impl Engine {
    pub(super) fn new(options: EngineOptions, timeouts: Timeouts) -> Self {
        Self {
            options,
            timeouts,
            running: tokio::sync::Mutex::default(),
            process: Mutex::default(),
        }
    }

    /// The running engine; starts it where none runs.
    ///
    /// # Errors
    /// `EngineMissing`, `EngineFailed`, `ProcessorTooOld`.
    pub(super) async fn running(&self) -> Result<Arc<Running>> {
        let mut running = self.running.lock().await;
        if let Some(running) = running.as_ref().filter(|running| !running.gone.is_cancelled()) {
            return Ok(Arc::clone(running));
        }
        *running = None;
        let missing = || Error::new(Kind::EngineMissing).on(CONNECTION);
        let program = self.options.program.as_deref().ok_or_else(missing)?;
        let socket = paths::socket(&self.options.runtime, program).map_err(|error| {
            if program.is_file() { failed(&error.to_string()) } else { missing() }
        })?;
        let leased = Arc::new(self.find_or_start(program, &socket).await?);
        *running = Some(Arc::clone(&leased));
        Ok(leased)
    }

    async fn find_or_start(&self, program: &Path, socket: &Path) -> Result<Running> {
        let mut silent = 0;
        for _ in 0..TRIES {
            match self.lease(socket).await {
                Ok(leased) => return Ok(leased),
                Err(Refused::Silent) => silent += 1,
                Err(Refused::Other(_)) => {}
            }
            if silent == SILENT {
                end_engine_at(socket).await;
            }
            if let Err(error) = self.start(program, socket).await {
                // Another front end may have started one meanwhile.
                return self.lease(socket).await.map_err(|_| error);
            }
        }
        self.lease(socket).await.map_err(|refused| match refused {
            Refused::Silent => failed("it does not answer"),
            Refused::Other(error) => error,
        })
    }

    /// How long it may give no sign of life.
    pub(super) fn silence(&self) -> Duration {
        self.timeouts.silence
    }

    /// The engine has gone: the next one that asks starts another.
    pub(super) async fn forget(&self) {
        *self.running.lock().await = None;
    }

    /// Ends an engine that hangs.
    pub(super) fn kill(&self) {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = process {
            end_process(process as i32);
        }
    }

    async fn lease(&self, socket: &Path) -> std::result::Result<Running, Refused> {
        let (reachable, folder) =
            paths::reachable(socket).map_err(|error| failed(&error.to_string()))?;
        let client = OpenAi::at_socket(&reachable, CONNECTION, self.timeouts)?;
        let hello = async {
            let mut lease = client.http().open("/lease").await?;
            let line = lease.chunk().await.ok().flatten();
            let hello = line.and_then(|line| serde_json::from_slice::<Hello>(&line).ok());
            Ok::<_, Error>((lease, hello))
        };
        let (mut lease, hello) = tokio::time::timeout(self.timeouts.connect, hello)
            .await
            .map_err(|_| Refused::Silent)??;
        let hello = hello.ok_or_else(|| failed("it does not answer"))?;
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(hello.pid);
        let gone = CancellationToken::new();
        let over = gone.clone();
        let reading = tokio::spawn(async move {
            let _over = over.drop_guard();
            while let Ok(Some(_)) = lease.chunk().await {}
        });
        Ok(Running { client, gone, _lease: AbortOnDropHandle::new(reading), _folder: folder })
    }

    /// Starts the program, and waits until it says that it is there, or that another is.
    async fn start(&self, program: &Path, socket: &Path) -> Result<()> {
        let EngineOptions { settings, log, .. } = &self.options;
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder).map_err(|error| failed(&error.to_string()))?;
        }
        let mut command = Command::new(program);
        command.arg("--socket").arg(socket).arg("--log").arg(log);
        command.arg("--slots").arg(settings.slots.to_string());
        command.arg("--idle").arg((u64::from(settings.idle_minutes) * 60).to_string());
        if let Some(threads) = settings.threads {
            command.arg("--threads").arg(threads.to_string());
        }
        if let Some(memory) = settings.memory_mb {
            command.arg("--memory").arg((memory.saturating_mul(1_000_000)).to_string());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.current_dir("/").spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::new(Kind::EngineMissing).on(CONNECTION),
            _ => failed(&error.to_string()),
        })?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            let mut out = BufReader::new(out);
            let said = tokio::time::timeout(START, out.read_line(&mut line)).await;
            if said.is_err() {
                let _ = child.start_kill();
                return Err(failed("it does not answer"));
            }
        }
        // Whenever it ends, the system wants to be told that somebody knows.
        tokio::spawn(async move { child.wait().await });
        understand(line.trim())
    }
}

/// Ends the engine that listens there and does not answer. Another front end may have started it, so only
/// the system knows its process.
async fn end_engine_at(socket: &Path) {
    let Ok((reachable, _folder)) = paths::reachable(socket) else { return };
    let Ok(stream) = tokio::net::UnixStream::connect(reachable).await else { return };
    if let Some(process) = stream.peer_cred().ok().and_then(|peer| peer.pid()) {
        end_process(process);
    }
}

fn end_process(process: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(process) {
        tracing::warn!("the engine hangs, and is ended");
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// What the program says first.
fn understand(line: &str) -> Result<()> {
    match line {
        "ready" | "taken" => Ok(()),
        "" => Err(failed("it ended at once")),
        line => match line.strip_prefix("processor lacks ") {
            Some(lacks) => {
                let kind = Kind::ProcessorTooOld { lacks: lacks.to_owned() };
                Err(Error::new(kind).on(CONNECTION))
            }
            None => Err(failed(line.strip_prefix("failed: ").unwrap_or(line))),
        },
    }
}

fn failed(words: &str) -> Error {
    Error::new(Kind::EngineFailed).with_detail(words).on(CONNECTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_says_first_is_understood() {
        understand("ready").unwrap();
        understand("taken").unwrap();
        let old = understand("processor lacks AVX2, FMA").unwrap_err();
        assert_eq!(old.kind, Kind::ProcessorTooOld { lacks: "AVX2, FMA".to_owned() });
        let failed = understand("failed: no room").unwrap_err();
        assert_eq!((failed.kind, failed.detail.as_deref()), (Kind::EngineFailed, Some("no room")));
    }
}
