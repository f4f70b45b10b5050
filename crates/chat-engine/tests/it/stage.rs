//! A place of its own for one engine, with the small model.

use std::fs::File;
use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use chat_core::client::{
    BuiltIn, Capabilities, Client, Delta, EngineOptions, Finish, Request, Timeouts, ToolChoice,
};
use chat_core::error::Error;
use chat_core::message::{Message, Options, Role, ToolSpec, Usage};
use chat_core::models::Library;
use chat_core::settings::{EngineSettings, Folders};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_natter-engine");

/// The small model, or nothing where nobody insists on it.
pub fn model() -> Option<PathBuf> {
    let model = std::env::var_os(chat_testkit::real::MODEL).map(PathBuf::from);
    if model.is_none() {
        let insists = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!insists, "{} must name the small model", chat_testkit::real::MODEL);
        eprintln!("no real model: {} is not set", chat_testkit::real::MODEL);
    }
    model
}

/// A place of its own.
#[derive(Debug)]
pub struct Stage {
    pub folder: tempfile::TempDir,
    pub library: Library,
    pub options: EngineOptions,
    pub timeouts: Timeouts,
    /// The model's name.
    pub name: String,
    /// The model's file.
    pub path: PathBuf,
}

impl Stage {
    /// With the small model. None where it cannot be had.
    pub fn new() -> Result<Option<Self>> {
        let Some(path) = model() else { return Ok(None) };
        Self::of(path, tempfile::tempdir()?).map(Some)
    }

    /// With a model of its own, which may lie in the same folder.
    pub fn of(path: PathBuf, folder: tempfile::TempDir) -> Result<Self> {
        let folders = Folders::below(folder.path());
        let library = Library::of(&folders);
        let name = library.add(&path).map_err(|error| anyhow!("{error}"))?.name;
        let settings = EngineSettings { threads: Some(1), ..EngineSettings::default() };
        let options = EngineOptions {
            program: Some(PROGRAM.into()),
            ..EngineOptions::of(&folders, &settings)
        };
        let timeouts = Timeouts { silence: Duration::from_mins(1), ..Timeouts::default() };
        Ok(Self { folder, library, options, timeouts, name, path })
    }

    /// One front end.
    pub fn client(&self) -> Arc<BuiltIn> {
        Arc::new(BuiltIn::new(self.library.clone(), self.options.clone(), self.timeouts))
    }

    /// A request that answers the same each time.
    pub fn request(&self, messages: &[(Role, &str)]) -> Request {
        let messages =
            messages.iter().map(|(role, text)| Arc::new(Message::text(*role, None, *text)));
        let options = Options {
            temperature: Some(0.0),
            max_tokens: Some(24),
            context_window: Some(2048),
            ..Options::default()
        };
        Request { options, ..Request::new(self.name.clone(), messages.collect()) }
    }

    /// The engine's socket and its lock, once it runs.
    pub fn socket(&self) -> Result<PathBuf> {
        let entries = std::fs::read_dir(&self.options.runtime)?.flatten().map(|entry| entry.path());
        let mut sockets =
            entries.filter(|path| path.extension().is_some_and(|kind| kind == "sock"));
        sockets.next().context("there is no socket")
    }

    /// Waits until the engine has ended: it holds its lock as long as it lives.
    pub async fn ended(&self, socket: &Path) -> Result<()> {
        let lock = File::open(socket.with_extension("lock"))?;
        Ok(tokio::task::spawn_blocking(move || lock.lock()).await??)
    }

    /// The engine's process.
    pub async fn process(&self) -> Result<u32> {
        let mut stream = UnixStream::connect(self.socket()?)?;
        tokio::task::spawn_blocking(move || {
            stream.write_all(b"GET /lease HTTP/1.1\r\nhost: x\r\n\r\n")?;
            let mut text = String::new();
            let mut piece = [0; 512];
            while !text.contains("}\n") {
                let count = stream.read(&mut piece)?;
                anyhow::ensure!(count > 0, "no lease: {text}");
                text.push_str(std::str::from_utf8(&piece[..count])?);
            }
            let json = text.split_once('{').context("no object")?.1;
            let json = json.split_once('}').context("no object")?.0;
            let value: Value = serde_json::from_str(&format!("{{{json}}}"))?;
            Ok(value["pid"].as_u64().context("no process")? as u32)
        })
        .await?
    }

    /// Asks the engine itself, without the client.
    pub async fn post(&self, path: &str, body: Value) -> Result<(u16, Value)> {
        self.ask("POST", path, body.to_string()).await
    }

    /// Begins a chat at the engine itself: its answer is read line by line.
    pub async fn begin(&self, mut body: Value) -> Result<Lines> {
        body["stream"] = json!(true);
        let body = body.to_string();
        let mut stream = tokio::net::UnixStream::connect(self.socket()?).await?;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        Ok(Lines(BufReader::new(stream).lines()))
    }

    /// A chat whose answer goes on until the window is full.
    pub fn endless(&self) -> Value {
        let mut body = self.body("Write a very long story.");
        (body["grammar"], body["max_tokens"]) = (json!("root ::= \"a\"+"), Value::Null);
        body["context_window"] = json!(8192);
        body
    }

    /// What the engine tells.
    pub async fn get(&self, path: &str) -> Result<Value> {
        Ok(self.ask("GET", path, String::new()).await?.1)
    }

    async fn ask(&self, method: &str, path: &str, body: String) -> Result<(u16, Value)> {
        let mut stream = UnixStream::connect(self.socket()?)?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        tokio::task::spawn_blocking(move || {
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            let status = answer.split(' ').nth(1).context("no status")?.parse()?;
            let (_, body) = answer.split_once("\r\n\r\n").context("no body")?;
            Ok((status, serde_json::from_str(body)?))
        })
        .await?
    }

    /// A chat request as the engine takes it.
    pub fn body(&self, text: &str) -> Value {
        json!({
            "model": self.path,
            "messages": [{ "role": "user", "content": text }],
            "temperature": 0,
            "max_tokens": 48,
            "context_window": 2048,
        })
    }
}

/// An answer as the engine writes it.
#[derive(Debug)]
pub struct Lines(tokio::io::Lines<BufReader<tokio::net::UnixStream>>);

impl Lines {
    /// The next line that holds this. An error where the answer ends without.
    pub async fn until(&mut self, word: &str) -> Result<String> {
        while let Some(line) = self.0.next_line().await? {
            if line.contains(word) {
                return Ok(line);
            }
        }
        Err(anyhow!("the answer ended without {word}"))
    }
}

/// A whole reply.
#[derive(Debug, Default)]
pub struct Heard {
    pub text: String,
    pub calls: Vec<(String, String)>,
    pub usage: Usage,
    pub finish: Option<Finish>,
    pub error: Option<Error>,
}

/// Listens to the end.
pub async fn hear(client: &BuiltIn, request: Request) -> Heard {
    let mut heard = Heard::default();
    let mut reply = match client.chat(request).await {
        Ok(reply) => reply,
        Err(error) => return Heard { error: Some(error), ..heard },
    };
    while let Some(batch) = reply.next().await {
        match batch {
            Ok(deltas) => deltas.into_iter().for_each(|delta| heard.take(delta)),
            Err(error) => heard.error = Some(error),
        }
    }
    heard
}

impl Heard {
    fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::ToolCall { name, arguments, .. } => {
                if let Some(name) = name {
                    self.calls.push((name, String::new()));
                }
                if let Some(call) = self.calls.last_mut() {
                    call.1.push_str(&arguments);
                }
            }
            Delta::Usage(usage) => self.usage = usage,
            Delta::Finish(finish) => self.finish = Some(finish),
            Delta::Thinking(_) | Delta::Preparing(_) | Delta::Sent | Delta::Provider { .. } => {}
        }
    }
}

/// A tool, and a request that must call it.
pub fn must_call(mut request: Request) -> Request {
    request.tools = vec![ToolSpec {
        name: "weather".to_owned(),
        description: "Tells the weather of a place.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "place": { "type": "string" }, "days": { "type": "integer" } },
            "required": ["place", "days"],
        }),
    }];
    request.tool_choice = ToolChoice::Required;
    request.options.max_tokens = Some(200);
    request
}

/// What the small model is said to be able to do.
pub async fn capabilities(stage: &Stage) -> Result<Capabilities> {
    Ok(stage.client().model(&stage.name).await?.capabilities)
}
