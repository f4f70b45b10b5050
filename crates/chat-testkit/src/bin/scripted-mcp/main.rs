//! Runs a scripted server of the Model Context Protocol over standard input and output: a good one, or one that is bad
//! in a named way. For tests, and for trying Natter by hand.
//!
//! It has no library of the protocol inside: what it says is on the wire as it stands here, right or wrong.

mod bad;
mod catalog;
mod output;
mod server;
mod tools;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use self::server::Server;

/// Speaks the Model Context Protocol over standard input and output, well or badly.
#[derive(Debug, Parser)]
#[command(name = "scripted-mcp")]
struct Options {
    /// How it behaves.
    #[arg(default_value = "good")]
    mode: Mode,
    /// How many seconds `slow-start` waits before it reads anything.
    #[arg(default_value_t = 12.0)]
    seconds: f64,
    /// Which revisions of the protocol it speaks.
    #[arg(long, default_value = "both")]
    era: Eras,
    /// How many tools it has besides.
    #[arg(long, default_value_t = 0)]
    tools: usize,
    /// While this file exists, the tool `echo` describes itself in other words, as if somebody had updated the server.
    #[arg(long)]
    changed_if: Option<PathBuf>,
    /// What it writes to standard error at its start.
    #[arg(long)]
    log: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Eras {
    /// 2025-11-25, which begins with `initialize`.
    Old,
    /// 2026-07-28, which begins with `server/discover`.
    New,
    /// Whichever the client begins with.
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// As a server should be.
    Good,
    /// Reads, and answers nothing.
    Silent,
    /// Good, but only after some seconds.
    SlowStart,
    /// Ends at once, with status 3.
    DiesAtStart,
    /// Ends when it is asked which revisions it speaks, with status 5, and speaks the older one.
    DiesAtDiscovery,
    /// Ends when it is to list its tools, with status 4.
    DiesWhileListing,
    /// Instead of listing its tools it sends notifications without end.
    Flood,
    /// Instead of listing its tools it sends pings without end.
    Pings,
    /// Instead of listing its tools it asks the user without end.
    Asks,
    /// Good, but answers no call.
    Mute,
    /// Lists its tools in one line of 100 MB.
    HugeLine,
    /// Once connected it answers what nobody asked.
    WrongIds,
    /// Greets in plain words, and once connected its answers are no JSON: tools are listed in what is no text, and all else breaks
    /// off.
    BadJson,
    /// Once it is asked for something, it reads nothing more.
    Deaf,
    /// There is always another page of tools.
    EndlessCursor,
    /// Once its tools were listed it says that they changed, to a client of the old revision, and does not list them again.
    ListsOnce,
    /// Its tools are broken, hostile or misnamed, with a good one among them.
    BadTools,
    /// After the first call the tool `echo` describes itself in other words, and the server says that tools changed.
    Changing,
    /// Good, but starts a program that ignores SIGTERM and holds on to the output. Its id goes to standard error.
    Child,
    /// Good, but does not end with its input, nor by SIGTERM.
    IgnoresEnd,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    if let Some(text) = &options.log {
        eprintln!("{text}");
    }
    match options.mode {
        Mode::SlowStart => std::thread::sleep(Duration::from_secs_f64(options.seconds)),
        Mode::DiesAtStart => {
            eprintln!("cannot start");
            std::process::exit(3);
        }
        Mode::BadJson => println!("Server is running {{on stdio}}"),
        Mode::Child => bad::start_child()?,
        Mode::IgnoresEnd => {
            let _ignoring = bad::ignore_sigterm()?;
            Server::new(options).serve();
            // Not for ever: a test may have forgotten it.
            std::thread::sleep(bad::FORGOTTEN);
            return Ok(());
        }
        _ => {}
    }
    Server::new(options).serve();
    Ok(())
}
