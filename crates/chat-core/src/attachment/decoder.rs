//! Runs the decoder on one file.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chat_decoder::protocol::{
    Decoded, Failure, Format, Limits, Reason, Request, read_answer, write_request,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::Fault;
use crate::error::AttachmentFault;

/// The program ends itself after 20 seconds of computing; on a busy machine they take longer.
const PATIENCE: Duration = Duration::from_secs(90);
/// The longest answer, in bytes: a picture that a model takes, or a text.
const ANSWER: u64 = 64 << 20;

/// Decodes a file's bytes. Dropping the future ends the program.
pub(super) async fn decode(
    program: &Path,
    format: Format,
    name: &str,
    input: u64,
    data: &[u8],
) -> Result<Decoded, Fault> {
    let request =
        Request { format, name: name.to_owned(), limits: Limits { input, ..Limits::default() } };
    let run = tokio::time::timeout(PATIENCE, run(program, &request, data));
    match run.await {
        Ok(Ok(answer)) => match read_answer(&answer) {
            Some(Ok(decoded)) => Ok(decoded),
            Some(Err(failure)) => Err(failure.into()),
            // It was ended by its own limits.
            None => Err(AttachmentFault::TooMuch.into()),
        },
        Ok(Err(error)) => {
            Err(Fault { reason: AttachmentFault::NoDecoder, detail: Some(error.to_string()) })
        }
        Err(_) => Err(AttachmentFault::TooMuch.into()),
    }
}

async fn run(program: &Path, request: &Request, data: &[u8]) -> io::Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let mut line = Vec::new();
    write_request(request, &mut line)?;
    let ask = async {
        // One that has ended says nothing, which is seen below.
        let _ = stdin.write_all(&line).await;
        let _ = stdin.write_all(data).await;
        drop(stdin);
        std::future::pending().await
    };
    let mut answer = Vec::new();
    let mut stdout = stdout.take(ANSWER);
    // Who has answered need not have read everything.
    tokio::select! {
        read = stdout.read_to_end(&mut answer) => read?,
        never = ask => never,
    };
    Ok(answer)
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let reason = match failure.reason {
            Reason::Broken => AttachmentFault::Broken,
            Reason::Encrypted => AttachmentFault::Encrypted,
            Reason::NoText => AttachmentFault::NoText,
            Reason::TooLarge => AttachmentFault::TooMuch,
            Reason::Unsupported => AttachmentFault::Unsupported,
            Reason::NotConfined => AttachmentFault::NotConfined,
        };
        // A part of what it says may be from the file: that is for the log.
        tracing::info!(reason = ?failure.reason, "a file was not decoded");
        Self { reason, detail: None }
    }
}
