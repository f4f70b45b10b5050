//! Runs `git`, bounded in time and output. Giving up kills it.

use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::GitError;

/// How long one call may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is asked whether anybody still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// The program, by its whole path: a project must not bring one of its own.
pub(super) struct Program(PathBuf);

/// What a call said.
#[derive(Debug)]
pub(super) struct Ended {
    pub output: Vec<u8>,
    /// Whether it said more than was wanted.
    pub is_cut: bool,
}

impl Program {
    /// Finds it for a look at `project`.
    pub fn find(project: &Path) -> Option<Self> {
        crate::program("git", project).map(Self)
    }

    /// A call of it, in an environment with nothing but what it needs.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        for name in ["HOME", "XDG_CONFIG_HOME", "TMPDIR"] {
            if let Some(value) = env::var_os(name) {
                command.env(name, value);
            }
        }
        // Nobody's settings but those that are given, no lock, no network, no question.
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("LC_ALL", "C"),
            // What is not there cannot be started by its name.
            ("PATH", "/nonexistent"),
        ] {
            command.env(name, value);
        }
        command
    }
}

/// Kills what it holds, where that has not ended.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a call to its end, or until it has said `most` bytes.
pub(super) fn run(
    mut command: Command,
    most: usize,
    given_up: &AtomicBool,
) -> Result<Ended, GitError> {
    let mut held = Held(command.spawn()?);
    let Some(mut output) = held.0.stdout.take() else { return Err(GitError::Failed) };
    let (tell, pieces) = sync_channel(4);
    // It ends with the output: when git ends, or is killed.
    std::thread::Builder::new().name("git output".to_owned()).spawn(move || {
        let mut piece = vec![0; PIECE];
        while let Ok(count @ 1..) = output.read(&mut piece) {
            if tell.send(piece[..count].to_vec()).is_err() {
                return;
            }
        }
    })?;
    let ends = Instant::now() + PATIENCE;
    let mut said = Vec::new();
    loop {
        if given_up.load(Ordering::Relaxed) {
            return Err(GitError::GivenUp);
        }
        if Instant::now() > ends {
            return Err(GitError::TooSlow);
        }
        match pieces.recv_timeout(POLL_INTERVAL) {
            Ok(piece) => said.extend_from_slice(&piece),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if said.len() > most {
            said.truncate(most);
            return Ok(Ended { output: said, is_cut: true });
        }
    }
    let status = held.0.wait()?;
    // It tells 1 where `diff` is asked for that, which it is not.
    if status.success() { Ok(Ended { output: said, is_cut: false }) } else { Err(GitError::Failed) }
}
