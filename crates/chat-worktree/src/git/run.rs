//! Runs a call of `git` to its end. Giving up kills it.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use crate::Error;

/// How long one call may take: a large checkout takes minutes on a slow disk.
const PATIENCE: Duration = Duration::from_mins(15);
/// How often to check whether the caller gave up.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;
/// Bytes of an error message that are kept.
const LONGEST_MESSAGE: u64 = 4096;

/// What a call printed.
#[derive(Debug)]
pub struct Output {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Its output.
    pub bytes: Vec<u8>,
    /// Whether it printed more than that. Then it was ended.
    pub is_cut: bool,
    message: Vec<u8>,
}

impl Output {
    /// The output of a call that had to succeed.
    pub fn success(self, what: &'static str) -> Result<Vec<u8>, Error> {
        if self.code == Some(0) || self.is_cut {
            Ok(self.bytes)
        } else {
            Err(Error::git(what, &self.message))
        }
    }

    /// The first line, as text.
    pub fn line(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().trim().to_owned()
    }
}

/// Ends the process that it holds, if it is still running.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a call without input.
pub fn run(command: &mut Command, cancel: &AtomicBool) -> Result<Output, Error> {
    run_with(command, &[], usize::MAX, cancel)
}

/// Runs a call that must succeed.
pub fn succeeded(
    what: &'static str,
    command: &mut Command,
    cancel: &AtomicBool,
) -> Result<Vec<u8>, Error> {
    run(command, cancel)?.success(what)
}

/// Runs a call with this input, until it has printed `most` bytes.
pub fn run_with(
    command: &mut Command,
    input: &[u8],
    most: usize,
    cancel: &AtomicBool,
) -> Result<Output, Error> {
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut held = Held(command.spawn().map_err(spawn_error)?);
    let writer = held.0.stdin.take();
    std::thread::scope(|scope| {
        if let Some(mut writer) = writer {
            // If it is killed, the pipe breaks and this ends.
            scope.spawn(move || {
                let _ = writer.write_all(input);
            });
        }
        let output = read_out(&mut held.0, most, cancel);
        if output.is_err() || output.as_ref().is_ok_and(|output| output.is_cut) {
            let _ = held.0.kill();
        }
        output
    })
}

/// Runs `from` with its output as the input of `to`. Returns what `to` printed.
pub fn pipe(
    what: &'static str,
    from: &mut Command,
    input: &[u8],
    to: &mut Command,
    cancel: &AtomicBool,
) -> Result<Vec<u8>, Error> {
    from.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut source = Held(from.spawn().map_err(spawn_error)?);
    let (writer, output) = (source.0.stdin.take(), source.0.stdout.take());
    let Some(output) = output else { return Err(Error::git(what, b"no output")) };
    let result = std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut writer) = writer {
                let _ = writer.write_all(input);
            }
        });
        to.stdin(Stdio::from(output));
        let result = to.spawn().map_err(spawn_error).and_then(|child| {
            let mut held = Held(child);
            read_out(&mut held.0, usize::MAX, cancel)
        });
        if result.is_err() {
            let _ = source.0.kill();
        }
        // The command holds its end of the pipe open.
        to.stdin(Stdio::null());
        result
    })?;
    let bytes = result.success(what)?;
    if source.0.wait().map_err(spawn_error)?.success() {
        Ok(bytes)
    } else {
        Err(Error::git(what, b"the source ended early"))
    }
}

fn spawn_error(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::NoGit,
        _ => Error::Io { path: "git".into(), source: error },
    }
}

fn read_out(child: &mut Child, most: usize, cancel: &AtomicBool) -> Result<Output, Error> {
    let errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut message = Vec::new();
        if let Some(mut errors) = errors {
            let _ = errors.by_ref().take(LONGEST_MESSAGE).read_to_end(&mut message);
            // Whatever follows must not block it.
            let _ = std::io::copy(&mut errors, &mut std::io::sink());
        }
        message
    });
    let (sender, pieces) = sync_channel(4);
    if let Some(mut output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(count @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
    }
    let ends = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        if Instant::now() > ends {
            return Err(Error::git("call", b"it took too long"));
        }
        match pieces.recv_timeout(POLL_INTERVAL) {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if bytes.len() > most {
            bytes.truncate(most);
            return Ok(Output { code: None, bytes, is_cut: true, message: Vec::new() });
        }
    }
    let code = child.wait().map_err(spawn_error)?.code();
    let message = reader.join().unwrap_or_default();
    Ok(Output { code, bytes, is_cut: false, message })
}
