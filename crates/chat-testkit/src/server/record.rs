//! Records the requests to the server and its answers, for tests to compare with.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// How many bytes of an answer are kept; benchmarks and endless lines send far more.
const BYTES_KEPT: usize = 4 << 20;

/// A request and its answer. Clones see the same answer grow.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The path, without the query.
    pub path: String,
    /// The method: `GET`, `POST`.
    pub method: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body as JSON; null if it is not JSON.
    pub body: Value,
    raw: Raw,
    sent: Arc<Mutex<Sent>>,
}

/// The raw body. Left out of the output of a failed test, which already shows the JSON.
#[derive(Clone)]
struct Raw(Bytes);

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// The sent answer.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// The text of all pieces that were completely passed to the connection.
    pub text: String,
    /// The same for thinking.
    pub thinking: String,
    /// The body's first 4 MiB, byte for byte.
    pub bytes: Vec<u8>,
    /// The body's whole length so far.
    pub length: u64,
    /// How it ended.
    pub end: End,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It has not ended.
    #[default]
    Running,
    /// All of it was sent.
    Complete,
    /// The script cut it.
    Cut,
    /// The client disconnected before.
    ClientGone,
}

impl Recorded {
    /// Whether it asks a model for a reply.
    pub fn is_chat(&self) -> bool {
        let ends = ["/api/chat", "/chat/completions", "/v1/messages"];
        ends.iter().any(|end| self.path.ends_with(end))
    }

    /// The raw body, byte for byte.
    pub fn raw_body(&self) -> &[u8] {
        &self.raw.0
    }

    /// The answer so far.
    pub fn sent(&self) -> Sent {
        lock(&self.sent).clone()
    }

    /// The texts of the messages of one role in a chat request, in order.
    pub fn texts_of(&self, role: &str) -> Vec<String> {
        let messages = self.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        messages.iter().filter(|m| m["role"] == role).map(|m| text_of(&m["content"])).collect()
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }
}

/// A message's content as one text, whether it is a string or a list of parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// All requests of a server.
#[derive(Debug, Default)]
pub(super) struct Log {
    all: Mutex<Vec<Recorded>>,
    file: Mutex<Option<File>>,
    changed: watch::Sender<()>,
}

impl Log {
    pub fn write_to(&self, file: &Path) -> io::Result<()> {
        let file = File::options().create(true).append(true).open(file)?;
        *lock(&self.file) = Some(file);
        Ok(())
    }

    pub fn all(&self) -> Vec<Recorded> {
        lock(&self.all).clone()
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub fn begin(
        self: &Arc<Self>,
        method: &str,
        path: &str,
        headers: BTreeMap<String, String>,
        body: Bytes,
    ) -> (Recorded, Writer) {
        let recorded = Recorded {
            path: path.to_owned(),
            method: method.to_owned(),
            headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            raw: Raw(body),
            sent: Arc::default(),
        };
        let mut all = lock(&self.all);
        let number = all.len();
        all.push(recorded.clone());
        drop(all);
        self.write(&json!({
            "event": "request", "number": number, "method": recorded.method,
            "path": recorded.path, "body": recorded.body,
        }));
        self.changed.send_replace(());
        let sent = Arc::clone(&recorded.sent);
        (recorded, Writer { number, sent, log: Arc::clone(self) })
    }

    fn write(&self, line: &Value) {
        if let Some(file) = &mut *lock(&self.file) {
            // One write per line, so that a reader hardly ever sees half a line.
            file.write_all(format!("{line}\n").as_bytes()).expect("the requests' log is written");
        }
    }
}

/// Records one answer. Dropping it records that the client disconnected, unless another end was
/// recorded before.
#[derive(Debug)]
pub(super) struct Writer {
    number: usize,
    sent: Arc<Mutex<Sent>>,
    log: Arc<Log>,
}

impl Writer {
    pub fn bytes(&self, bytes: &[u8]) {
        let mut sent = lock(&self.sent);
        let room = BYTES_KEPT.saturating_sub(sent.bytes.len());
        sent.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        sent.length += bytes.len() as u64;
    }

    pub fn text(&self, text: &str, thinking: bool) {
        let mut sent = lock(&self.sent);
        if thinking { &mut sent.thinking } else { &mut sent.text }.push_str(text);
    }

    pub fn end(&self, end: End) {
        let mut sent = lock(&self.sent);
        if sent.end != End::Running {
            return;
        }
        sent.end = end;
        let line = json!({
            "event": "end", "number": self.number, "end": format!("{end:?}"),
            "text": sent.text, "thinking": sent.thinking, "length": sent.length,
        });
        drop(sent);
        self.log.write(&line);
        self.log.changed.send_replace(());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end(End::ClientGone);
    }
}

/// A panic of one request's task must not hide the log of the others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
