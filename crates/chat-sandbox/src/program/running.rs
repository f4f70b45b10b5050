//! Defines the handle of a running program, and its pipes.

use std::io;
use std::process::{ChildStderr as StdStderr, ChildStdin as StdStdin, ChildStdout as StdStdout};
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use super::stdin::Shared;
use super::{Log, ProgramStdin};
use crate::error::Error;
use crate::running::{Control, Exit, exit_of};
use crate::sink::Sink;
use crate::supervise::{self, Started};

/// The pipes of a program. Nothing of what goes through them is stored: who does not read stdout
/// holds the program up.
#[derive(Debug)]
pub struct Pipes {
    /// Its standard input.
    pub stdin: ProgramStdin,
    /// Its standard output. It ends when all processes that have it open have ended.
    pub stdout: ChildStdout,
    /// Its standard error, with [`StandardError::Pipe`](super::StandardError::Pipe).
    pub stderr: Option<ChildStderr>,
}

/// A running program. Dropping it ends all of its processes.
#[derive(Debug)]
pub struct RunningProgram {
    control: Arc<Control>,
    stdin: Arc<Shared>,
    exit: watch::Receiver<Option<Exit>>,
}

impl RunningProgram {
    /// Closes its standard input: most programs that are talked to end then.
    pub fn close_stdin(&self) {
        self.stdin.close();
    }

    /// Asks all of its processes to end, with SIGTERM.
    pub fn terminate(&self) {
        self.control.terminate();
    }

    /// Starts to end all of its processes, with SIGKILL; [`wait`](Self::wait) returns when that is
    /// done.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Waits for its end: all of its processes are gone. Cancel-safe.
    ///
    /// In bubblewrap, a program that returns 128 plus the number of a signal is said to have been
    /// ended by that signal.
    pub async fn wait(&self) -> Exit {
        exit_of(&self.exit).await
    }

    /// Ends it in the order that the Model Context Protocol asks for: closes its standard input;
    /// if it still runs after `patience`, sends SIGTERM; if it still runs after `patience` again,
    /// ends all of its processes. If this is cancelled, it goes no further.
    pub async fn end(&self, patience: Duration) -> Exit {
        self.close_stdin();
        if let Ok(exit) = timeout(patience, self.wait()).await {
            return exit;
        }
        self.terminate();
        if let Ok(exit) = timeout(patience, self.wait()).await {
            return exit;
        }
        self.stop();
        self.wait().await
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.control.stop();
    }
}

/// Supervises a program that was let go, from now on.
pub(crate) fn begin(
    mut started: Started,
    log: Option<Log>,
) -> Result<(RunningProgram, Pipes), Error> {
    let child = &mut started.child;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    // What goes into a log is read by the thread of the program.
    let stderr = if log.is_some() { None } else { child.stderr.take() };
    let (pipes, shared) = pipes(stdin, stdout, stderr).map_err(Error::Start)?;
    let control = Control::new().map_err(Error::Start)?;
    let exit = supervise::on_a_thread(started, Sink::Log(log), &control)?;
    Ok((RunningProgram { control, stdin: shared, exit }, pipes))
}

fn pipes(
    stdin: Option<StdStdin>,
    stdout: Option<StdStdout>,
    stderr: Option<StdStderr>,
) -> io::Result<(Pipes, Arc<Shared>)> {
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (stdin, shared) = ProgramStdin::new(ChildStdin::from_std(stdin)?);
    let stdout = ChildStdout::from_std(stdout)?;
    let stderr = stderr.map(ChildStderr::from_std).transpose()?;
    Ok((Pipes { stdin, stdout, stderr }, shared))
}
