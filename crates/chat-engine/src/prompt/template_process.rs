//! Runs a template in a process of its own, which may take so much memory and no more. Steps and
//! words of a template are counted where it runs; but thirty steps can double a text thirty times, and
//! what that takes only the system can refuse.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use minijinja::Value;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::template::{RenderInput, Template};
use crate::failure::Failure;
use crate::request::Message;

/// With this the engine's program renders what it reads, and ends. After it comes how many bytes of
/// memory it may take.
pub const ARGUMENT: &str = "--render";
/// What it may take, in bytes, with the shortest conversation: its own code is most of what it needs.
const MEMORY: u64 = 256 << 20;
/// And for each byte of a conversation: it is read, made into values, and written.
const MEMORY_PER_BYTE: u64 = 12;
/// So many seconds it may compute. Real ones take some thousandths.
const SECONDS: u64 = 20;

/// What is to be rendered, of what was read.
#[derive(Deserialize)]
struct ReceivedRequest {
    source: String,
    bos: String,
    eos: String,
    messages: Vec<Message>,
    tools: Vec<Value>,
    kwargs: BTreeMap<String, Value>,
}

/// The same, as it is written.
#[derive(Serialize)]
struct RenderRequest<'a> {
    source: &'a str,
    bos: &'a str,
    eos: &'a str,
    messages: &'a [Message],
    tools: &'a [Value],
    kwargs: &'a BTreeMap<String, Value>,
}

/// What came of it.
#[derive(Serialize, Deserialize)]
enum Rendered {
    Prompt(String),
    Failed(String),
    Images,
}

/// Renders a conversation with a template in a process of this program.
pub(super) fn render(
    program: &Path,
    (source, bos, eos): (&str, &str, &str),
    given: &RenderInput<'_>,
) -> Result<String, Failure> {
    let RenderInput { messages, tools, kwargs } = given;
    let failed = |error: &dyn std::fmt::Display| Failure::Compute(error.to_string());
    let request = RenderRequest { source, bos, eos, messages, tools, kwargs };
    let request = serde_json::to_vec(&request).map_err(|error| failed(&error))?;
    let limit = MEMORY + MEMORY_PER_BYTE * request.len() as u64;
    let mut command = Command::new(program);
    command.arg(ARGUMENT).arg(limit.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that died says nothing, which is seen below.
        let _ = stdin.write_all(&request);
    }
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    match serde_json::from_slice(&output.stdout) {
        Ok(Rendered::Prompt(prompt)) => Ok(prompt),
        Ok(Rendered::Failed(words)) => Err(Failure::Template(words)),
        Ok(Rendered::Images) => Err(Failure::Images),
        Err(error) => {
            tracing::warn!(%error, status = %output.status, "a template was not rendered");
            let words = "the model’s chat template failed: it takes too much memory or time";
            Err(Failure::Template(words.to_owned()))
        }
    }
}

/// The process's side: reads what is to be rendered, and writes what came of it.
pub fn serve(limit: Option<OsString>) -> ExitCode {
    match limited(limit).and_then(|()| answer()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn limited(limit: Option<OsString>) -> io::Result<()> {
    let limit = limit.and_then(|limit| limit.to_str()?.parse().ok());
    let limit: u64 = limit.ok_or(io::ErrorKind::InvalidInput)?;
    // What is too much ends the process, and leaves no picture of its memory behind.
    for (resource, most) in [(Resource::As, limit), (Resource::Cpu, SECONDS), (Resource::Core, 0)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

fn answer() -> io::Result<()> {
    let mut asked = Vec::new();
    io::stdin().lock().read_to_end(&mut asked)?;
    let asked: ReceivedRequest = serde_json::from_slice(&asked)?;
    let ReceivedRequest { source, bos, eos, messages, tools, kwargs } = asked;
    let given = RenderInput { messages: &messages, tools, kwargs };
    let rendered = Template::new(&source, &bos, &eos).and_then(|template| template.render(&given));
    let rendered = match rendered {
        Ok(prompt) => Rendered::Prompt(prompt),
        Err(Failure::Template(words)) => Rendered::Failed(words),
        Err(Failure::Images) => Rendered::Images,
        Err(failure) => Rendered::Failed(format!("{failure:?}")),
    };
    let mut out = io::stdout().lock();
    out.write_all(&serde_json::to_vec(&rendered)?)?;
    out.flush()
}
