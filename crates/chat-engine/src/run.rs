//! Runs the engine from start to end.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::api::{Engine, router};
use crate::inference::Limits;
use crate::life::Life;
use crate::models::Models;
use crate::socket::{EngineSocket, SocketClaim};

/// A log of so many bytes is put aside, and a new one is begun.
const LONGEST_LOG: u64 = 4 << 20;

/// Runs language models for Natter. Natter starts it by itself.
#[derive(Debug, Parser)]
#[command(name = "natter-engine", version)]
pub struct Arguments {
    /// The socket to listen on
    #[arg(long)]
    socket: PathBuf,
    /// Where to write the log; standard error otherwise
    #[arg(long)]
    log: Option<PathBuf>,
    /// Threads to compute with; all processors but one otherwise
    #[arg(long)]
    threads: Option<i32>,
    /// Conversations at once with one model; they divide its window
    #[arg(long, default_value_t = 1)]
    slots: u32,
    /// Seconds after which an unused model is unloaded
    #[arg(long, default_value_t = 600)]
    idle: u64,
    /// Bytes that all loaded models may take; what the machine has otherwise
    #[arg(long)]
    memory: Option<u64>,
}

/// Runs until nobody needs the engine. Says `ready`, or `taken` where another engine answers at the
/// socket, on standard output.
///
/// # Errors
/// Where the socket or the log cannot be had.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    // The terminal's signals are not for us. It fails where we are a session's leader already.
    let _ = rustix::process::setsid();
    log(arguments)?;
    let socket = match EngineSocket::take(&arguments.socket)? {
        SocketClaim::Ours(socket) => socket,
        SocketClaim::Others => return say("taken"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(8)
        .enable_all()
        .build()?;
    runtime.block_on(serve(arguments, &socket))
}

async fn serve(arguments: &Arguments, socket: &EngineSocket) -> anyhow::Result<()> {
    let listener = socket.listen()?;
    let over = CancellationToken::new();
    let life = Life::new(over.clone());
    let patience = Duration::from_secs(arguments.idle);
    let limits = Limits {
        threads: arguments.threads.unwrap_or_else(all_but_one).max(1),
        slots: arguments.slots.clamp(1, 64),
    };
    let models = Models::new(limits, arguments.memory, patience);
    let mut terminate = signal(SignalKind::terminate())?;
    say("ready")?;
    // Who waits for the end of our output must not wait for ours.
    let nothing = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing)?;
    let engine = Engine { models: Arc::clone(&models), life: Arc::clone(&life) };
    let serving = axum::serve(listener, router(engine));
    tokio::select! {
        served = serving.into_future() => served?,
        () = life.watch() => {}
        _ = terminate.recv() => over.cancel(),
        () = models.forget_idle() => {}
    }
    tokio::task::spawn_blocking(move || models.close()).await?;
    Ok(())
}

fn say(word: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{word}")?;
    out.flush()?;
    Ok(())
}

fn all_but_one() -> i32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as i32 - 1)
}

fn log(arguments: &Arguments) -> anyhow::Result<()> {
    let filter = tracing_subscriber::filter::LevelFilter::INFO;
    if let Some(path) = &arguments.log {
        if std::fs::metadata(path).is_ok_and(|file| file.len() > LONGEST_LOG) {
            std::fs::rename(path, path.with_extension("log.old"))?;
        }
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        // What C++ says when it dies belongs there too.
        rustix::stdio::dup2_stderr(&file)?;
    }
    tracing_subscriber::fmt()
        .with_max_level(filter)
        .with_ansi(false)
        .with_writer(io::stderr)
        .init();
    Ok(())
}
