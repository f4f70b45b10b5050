//! Writes to the two output streams without blocking the program: a slow reader holds up nothing,
//! and output that arrives in the meantime is written in one piece.

mod calls;
pub mod json;
mod lines;
mod tail;
pub mod text;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;

use chat_core::event::{Failure, SessionPlaceholder, Stage, StopReason, TextKind};
use chat_core::message::{Answer, ApprovalRequest, Message, Todo, ToolCall, ToolResult, Usage};
use chat_core::tool::Toolbox;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::task::JoinHandle;

use crate::error::{CliError, Result};
use crate::say;
use crate::terminal::Terminal;

pub use calls::{Calls, result_line};
pub use lines::{line_of, lines_of};

/// Shows a conversation as it happens. Output is collected, and then taken as bytes.
pub trait Sink {
    /// The session is known.
    fn session(&mut self, session: &SessionPlaceholder);
    /// An agent below the session began, or what it does changed.
    fn agent(&mut self, _: &SessionPlaceholder) {}
    /// What follows comes from this agent below the session, or from the session again.
    fn speaker(&mut self, _: Option<&SessionPlaceholder>) {}
    /// Text or thinking arrived.
    fn text(&mut self, kind: TextKind, text: &str);
    /// The model calls a tool.
    fn tool_call(&mut self, call: &ToolCall);
    /// A call begins to run: whatever it needs was permitted.
    fn tool_runs(&mut self, _: &ToolCall) {}
    /// A running command wrote something; this is the end of its output so far.
    fn tool_output(&mut self, _: &str) {}
    /// A tool answered a call. The call is unknown if the reply with it was not followed.
    fn tool_result(&mut self, call: Option<&ToolCall>, result: &ToolResult);
    /// The to-do list changed.
    fn todos(&mut self, _: &[Todo]) {}
    /// A question to the user, in lines, or the possible answers, after which the user types.
    fn ask(&mut self, prompt: &str);
    /// The user has ended the line of something asked that no tool asks.
    fn line_ended(&mut self) {}
    /// A question was answered, or is obsolete: a rule settled it, or the request was stopped.
    fn answered(&mut self, ask: &ApprovalRequest, answer: Option<&Answer>);
    /// A reply ended.
    fn message(&mut self, message: &Message);
    /// What the request does while no text arrives.
    fn stage(&mut self, stage: &Stage);
    /// The reply has ended, and the request goes on until these agents are done.
    fn awaits_agents(&mut self, _: &str) {}
    /// Something that belongs to no request.
    fn notice(&mut self, failure: &Failure);
    /// The request ended. This is always the last call.
    fn done(&mut self, done: &Done);
    /// A second has passed. Returns whether another tick is wanted.
    fn tick(&mut self) -> bool {
        false
    }
    /// Takes the bytes to write.
    fn take(&mut self) -> Pieces;
}

/// Shows a conversation as lines of JSON, or as text.
pub fn sink(json: bool, terminal: Terminal, tools: Toolbox) -> Box<dyn Sink> {
    if json {
        Box::new(json::Json::new(terminal, tools))
    } else {
        Box::new(text::Text::new(terminal, tools))
    }
}

/// How a request ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// Why.
    pub reason: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// What went wrong.
    pub error: Option<chat_core::error::Error>,
}

/// Bytes for the two streams, in the order in which they are to be seen.
#[derive(Debug, Default)]
pub struct Pieces(Vec<(Stream, Vec<u8>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}

impl Pieces {
    /// Adds bytes for standard output.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.stream(Stream::Output)
    }

    /// Adds bytes for standard error.
    pub fn error(&mut self) -> &mut Vec<u8> {
        self.stream(Stream::Error)
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn stream(&mut self, stream: Stream) -> &mut Vec<u8> {
        if self.0.last().is_none_or(|(last, _)| *last != stream) {
            self.0.push((stream, Vec::new()));
        }
        let last = self.0.len() - 1;
        &mut self.0[last].1
    }
}

/// The two output streams, unbuffered.
#[derive(Clone, Debug)]
pub struct Output(Arc<Files>);

#[derive(Debug)]
struct Files {
    output: File,
    error: File,
}

impl Output {
    /// Takes the streams of this process.
    pub fn new() -> Result<Self> {
        let files = || {
            Ok::<_, io::Error>(Files {
                output: File::from(io::stdout().as_fd().try_clone_to_owned()?),
                error: File::from(io::stderr().as_fd().try_clone_to_owned()?),
            })
        };
        Ok(Self(Arc::new(
            files().map_err(|error| CliError::Said(say::output_failed(&error.to_string())))?,
        )))
    }

    /// Starts to write on a thread for blocking work. Await the handle before the next call.
    pub fn write(&self, pieces: Pieces) -> JoinHandle<Result<()>> {
        let files = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || files.write(&pieces))
    }

    /// Writes text to standard output, and waits until it is written.
    pub async fn print(&self, text: String) -> Result<()> {
        let mut pieces = Pieces::default();
        *pieces.output() = text.into_bytes();
        self.write(pieces).await.unwrap_or(Ok(()))
    }
}

impl Files {
    fn write(&self, pieces: &Pieces) -> Result<()> {
        for (stream, bytes) in &pieces.0 {
            match stream {
                Stream::Output => {
                    write_all(&self.output, bytes).map_err(|error| match error.kind() {
                        io::ErrorKind::BrokenPipe => CliError::BrokenPipe,
                        _ => CliError::Said(say::output_failed(&error.to_string())),
                    })?;
                }
                // Failing to write messages must not keep the answer from its reader.
                Stream::Error => drop(write_all(&self.error, bytes)),
            }
        }
        Ok(())
    }
}

/// Writes all bytes. Another program may have made the shared terminal non-blocking.
fn write_all(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(file, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
