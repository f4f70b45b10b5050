//! Imitates a hub on loopback: Hugging Face's API with a repository's tree and its hashes, search,
//! files with ranges behind a redirect to another port, and every fault that a server may have.
//!
//! Uses one thread per connection, and no HTTP library: faults must be wrong down to the byte.

mod wire;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::wire::{Request, respond};
use crate::server::PATIENCE;

/// A fault in the next answer for a file. Each is used once.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The connection is cut after so many bytes of the file.
    CutAfter(usize),
    /// Nothing more is sent after this many bytes, until the hub is dropped or released.
    StallAfter(usize),
    /// Ranges are not supported: the whole file is sent.
    NoRanges,
    /// The range is reported to be outside the file.
    NotSatisfiable,
    /// Another part than the requested one is sent.
    WrongRange,
    /// The header announces more bytes than there are.
    TooLong,
    /// The header announces fewer bytes, and no more are sent.
    TooShort,
    /// More bytes are sent than there are, without a length in the header.
    Endless,
    /// Bytes of the same length that are another file's.
    OtherBytes,
    /// A page in HTML, with status 200.
    Page,
    /// A refusal with this status.
    Status(u16),
    /// A refusal because terms were not accepted.
    Closed,
}

/// A request to the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The path with its query.
    pub path: String,
    /// The requested range.
    pub range: Option<String>,
    /// The token that came with it.
    pub token: Option<String>,
    /// Whether it was sent to the storage rather than to the site.
    pub storage: bool,
}

/// A running hub. Dropping it closes its ports.
#[derive(Debug)]
pub struct Hub {
    site: u16,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    files: Mutex<BTreeMap<(String, String), Vec<u8>>>,
    faults: Mutex<Vec<Fault>>,
    asks: Mutex<Vec<Ask>>,
    /// Wakes threads that wait for a request or stall.
    bell: Condvar,
    closed: AtomicBool,
    /// No token is accepted.
    refuses_tokens: AtomicBool,
    /// Stalled answers may continue.
    released: AtomicBool,
    storage: std::sync::OnceLock<u16>,
    /// How many entries a page of a tree has; 0 for all.
    page: std::sync::atomic::AtomicUsize,
}

impl Hub {
    /// Starts a hub without any repository.
    pub fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let listen = || TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (site, storage) = (listen(), listen());
        let port = |listener: &TcpListener| listener.local_addr().expect("its address").port();
        let (site_port, storage_port) = (port(&site), port(&storage));
        shared.storage.set(storage_port).expect("set once");
        let threads = [(site, false), (storage, true)].map(|(listener, is_storage)| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || listen_on(&listener, is_storage, &shared))
        });
        Self { site: site_port, shared, threads: threads.into() }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.site)
    }

    /// Adds a file to a repository.
    pub fn put(&self, repository: &str, path: &str, content: impl Into<Vec<u8>>) {
        let key = (repository.to_owned(), path.to_owned());
        lock(&self.shared.files).insert(key, content.into());
    }

    /// Removes a file; a repository without files no longer exists.
    pub fn take(&self, repository: &str, path: &str) {
        lock(&self.shared.files).remove(&(repository.to_owned(), path.to_owned()));
    }

    /// Makes the next answers for files fail, in this order.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.shared.faults).extend(faults);
    }

    /// Refuses every token, as the real site does with an unknown one.
    pub fn refuse_tokens(&self) {
        self.shared.refuses_tokens.store(true, Ordering::SeqCst);
    }

    /// Lists this many entries of a tree per page.
    pub fn pages_of(&self, entries: usize) {
        self.shared.page.store(entries, Ordering::SeqCst);
    }

    /// Lets stalled answers continue.
    pub fn go_on(&self) {
        self.shared.released.store(true, Ordering::SeqCst);
        self.shared.wake();
    }

    /// All requests so far.
    pub fn asks(&self) -> Vec<Ask> {
        lock(&self.shared.asks).clone()
    }

    /// The requests to the storage: one for each time that a file was really sent.
    pub fn fetches(&self) -> Vec<Ask> {
        self.asks().into_iter().filter(|ask| ask.storage).collect()
    }

    /// Waits until the requests fulfil a condition.
    ///
    /// # Panics
    ///
    /// After [`PATIENCE`].
    pub fn wait_for(&self, what: &str, until: impl Fn(&[Ask]) -> bool) {
        let asks = lock(&self.shared.asks);
        let waited = self.shared.bell.wait_timeout_while(asks, PATIENCE, |asks| !until(asks));
        let (asks, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "waited in vain for {what}; there were {asks:#?}");
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.wake();
        let storage = self.shared.storage.get().copied();
        for port in [Some(self.site), storage].into_iter().flatten() {
            // Wakes the thread that waits for a connection.
            drop(TcpStream::connect(("127.0.0.1", port)));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn wake(&self) {
        drop(lock(&self.asks));
        self.bell.notify_all();
    }

    /// Waits until stalled answers may continue.
    fn stall(&self) {
        let mut asks = lock(&self.asks);
        let over = || self.closed.load(Ordering::SeqCst) || self.released.load(Ordering::SeqCst);
        while !over() {
            let (guard, _) = self
                .bell
                .wait_timeout(asks, Duration::from_secs(1))
                .unwrap_or_else(PoisonError::into_inner);
            asks = guard;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen_on(listener: &TcpListener, storage: bool, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        // Ends with its answer, or with the connection.
        std::thread::spawn(move || {
            let _ = answer(&stream, storage, &shared);
        });
    }
}

fn answer(stream: &TcpStream, storage: bool, shared: &Shared) -> std::io::Result<()> {
    let Some(request) = Request::read(stream)? else { return Ok(()) };
    let (range, token) = (request.header("range"), request.header("authorization"));
    let path = request.path.clone();
    let refused = token.is_some() && shared.refuses_tokens.load(Ordering::SeqCst);
    lock(&shared.asks).push(Ask { path: path.clone(), range: range.clone(), token, storage });
    shared.bell.notify_all();
    if refused {
        let words = "Invalid credentials in Authorization header";
        return respond(stream, 401, &[("x-error-message", words)], b"");
    }
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let words: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match words[..] {
        ["api", "models"] => send_json(stream, &search(shared, query), &[]),
        ["api", "models", owner, name, "tree", _] => {
            tree(stream, shared, &format!("{owner}/{name}"), path, query)
        }
        [owner, name, "resolve", _, ..] if !storage => {
            if lock(&shared.faults).first().is_some_and(|fault| matches!(fault, Fault::Closed)) {
                lock(&shared.faults).remove(0);
                return respond(stream, 403, &[("x-error-code", "GatedRepo")], b"");
            }
            let file = words[4..].join("/").replace("%20", " ");
            let key = (format!("{owner}/{name}"), file.clone());
            if !lock(&shared.files).contains_key(&key) {
                return respond(stream, 404, &[("x-error-code", "EntryNotFound")], b"");
            }
            let port = shared.storage.get().copied().unwrap_or_default();
            let target = format!("http://127.0.0.1:{port}/{owner}/{name}/stored/{file}");
            respond(stream, 302, &[("location", &target.replace(' ', "%20"))], b"")
        }
        [owner, name, "stored", ..] if storage => {
            let key = (format!("{owner}/{name}"), words[3..].join("/").replace("%20", " "));
            let content = lock(&shared.files).get(&key).cloned();
            let fault = {
                let mut faults = lock(&shared.faults);
                (!faults.is_empty()).then(|| faults.remove(0))
            };
            match content {
                Some(content) => {
                    wire::send_file(stream, &content, range.as_deref(), fault.as_ref(), || {
                        shared.stall();
                    })
                }
                None => respond(stream, 404, &[], b""),
            }
        }
        _ => respond(stream, 404, &[], b""),
    }
}

fn search(shared: &Shared, query: &str) -> Value {
    let words = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("search="))
        .unwrap_or_default()
        .to_lowercase();
    let files = lock(&shared.files);
    let mut names: Vec<&String> = files.keys().map(|(repository, _)| repository).collect();
    names.dedup();
    let found = names.into_iter().filter(|name| name.to_lowercase().contains(&words));
    let entries = found.enumerate().map(|(place, name)| {
        json!({
            "_id": "0", "id": name, "modelId": name, "likes": 3, "private": false,
            "downloads": 1_000 - place, "tags": ["gguf", "license:apache-2.0"],
        })
    });
    entries.collect()
}

fn tree(
    stream: &TcpStream,
    shared: &Shared,
    repository: &str,
    path: &str,
    query: &str,
) -> std::io::Result<()> {
    let files = lock(&shared.files);
    let own = files.iter().filter(|((name, _), _)| name == repository);
    let all: Vec<Value> = own
        .map(|((_, path), content)| {
            let oid = sha256(content);
            json!({
                "type": "file", "oid": "0", "size": content.len(), "path": path,
                "lfs": { "oid": oid, "size": content.len(), "pointerSize": 134 },
            })
        })
        .collect();
    drop(files);
    if all.is_empty() {
        // The real site hides private repositories like this from unknown users.
        return respond(stream, 401, &[("x-error-code", "RepoNotFound")], b"{\"error\":\"x\"}");
    }
    let page = shared.page.load(Ordering::SeqCst);
    if page == 0 {
        return send_json(stream, &json!(all), &[]);
    }
    let cursor = query.split('&').find_map(|pair| pair.strip_prefix("cursor="));
    let from: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let part: Vec<_> = all.iter().skip(from).take(page).collect();
    let next = format!("<{path}?recursive=true&cursor={}>; rel=\"next\"", from + page);
    let more = from + page < all.len();
    let headers = [("link", next.as_str())];
    send_json(stream, &json!(part), if more { &headers } else { &[] })
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn send_json(stream: &TcpStream, value: &Value, headers: &[(&str, &str)]) -> std::io::Result<()> {
    let body = value.to_string();
    let mut all = vec![("content-type", "application/json")];
    all.extend_from_slice(headers);
    respond(stream, 200, &all, body.as_bytes())
}
