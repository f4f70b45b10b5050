//! Runs a model server whose every answer is scripted. It speaks Ollama's, OpenAI's and Anthropic's protocols.
//!
//! It runs in its own thread, so that a test may block, and stops when its handle is dropped. Every
//! request is recorded, and so is every answer: stored transcripts are compared with these.
//!
//! ```
//! use chat_testkit::server::{Script, Server};
//!
//! let server = Server::start();
//! server.push(Script::new().text("Hel").text("lo"));
//! // … a client asks `server.url()` …
//! assert!(server.chats().is_empty());
//! ```

mod encode;
mod gate;
mod model;
mod player;
mod record;
mod routes;
mod script;
mod socket;
pub mod text;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

pub use encode::Protocol;
pub use gate::Gate;
pub use model::Model;
pub use record::{End, Recorded, Sent};
pub use routes::Answer;
pub use script::{Script, Split};

use routes::State;

/// How long a test waits before something that must happen counts as a failure.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. Dropping it closes its port and all its connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server with all protocols on a free port of 127.0.0.1, with one model named
    /// `scripted`. By default it echoes the message: `You said: …`.
    pub fn start() -> Self {
        Self::start_on(0)
    }

    /// The same on a given port; 0 means any.
    pub fn start_on(port: u16) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", port)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let address = listener.local_addr().expect("the socket's address");
        let state = Arc::new(State::default());
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("scripted-llm".to_owned())
            .spawn({
                let state = Arc::clone(&state);
                move || serve(listener, state, stopped)
            })
            .expect("a thread for the scripted server");
        Self { address, state, stop: Some(stop), thread: Some(thread) }
    }

    /// The server's address without a path: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Speaks only this protocol from now on; the other's paths are 404.
    #[must_use]
    pub fn only(self, protocol: Protocol) -> Self {
        self.state.change(|s| s.only = Some(protocol));
        self
    }

    /// Offers these models and no others.
    #[must_use]
    pub fn with_models(self, models: impl IntoIterator<Item = Model>) -> Self {
        self.set_models(models);
        self
    }

    /// Refuses requests without this key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        self.state.change(|s| s.key = Some(key.to_owned()));
        self
    }

    /// Writes every request, before it is answered, and every answer, when it has ended, to this
    /// file as one line of JSON each.
    #[must_use]
    pub fn with_log(self, file: &Path) -> Self {
        self.state.log.write_to(file).expect("the requests' log can be written");
        self
    }

    /// The models in memory, as `/api/ps` lists them, by their names.
    pub fn set_loaded(&self, names: &[&str]) {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        self.state.change(|says| says.loaded = names);
    }

    /// Offers these models and no others from now on.
    pub fn set_models(&self, models: impl IntoIterator<Item = Model>) {
        let models = models.into_iter().collect();
        self.state.change(|s| s.models = models);
    }

    /// Answers the next chat request that no [`when`](Self::when) rule matches with this script;
    /// several are used in turn.
    pub fn push(&self, script: Script) {
        self.state.change(|s| s.queue.push_back(script));
    }

    /// Answers every chat request whose last user message contains this text with this script. The
    /// newest matching rule wins, even over [`push`](Self::push).
    pub fn when(&self, text: &str, script: Script) {
        self.state.change(|s| s.rules.insert(0, (text.to_owned(), script)));
    }

    /// Answers all other chat requests with this script instead of the echo.
    pub fn always(&self, script: Script) {
        self.state.change(|s| s.always = Some(script));
    }

    /// Answers every request for a path with this from now on.
    pub fn answer(&self, path: &str, answer: Answer) {
        self.state.change(|s| s.answers.insert(path.to_owned(), answer));
    }

    /// Undoes [`answer`](Self::answer) for a path.
    pub fn unanswer(&self, path: &str) {
        self.state.change(|s| s.answers.remove(path));
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.log.all()
    }

    /// The chat requests among them.
    pub fn chats(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(Recorded::is_chat).collect()
    }

    /// Waits until there were `count` chat requests, and returns them.
    ///
    /// # Panics
    ///
    /// After [`PATIENCE`].
    pub async fn wait_for_chats(&self, count: usize) -> Vec<Recorded> {
        self.wait_for(&format!("{count} chat requests"), |all| {
            all.iter().filter(|r| r.is_chat()).count() >= count
        })
        .await;
        self.chats()
    }

    /// Waits until the answer to the `index`th chat request has ended, and returns it.
    ///
    /// # Panics
    ///
    /// After [`PATIENCE`].
    pub async fn wait_for_end(&self, index: usize) -> Recorded {
        self.wait_for(&format!("the end of chat request {index}"), |all| {
            all.iter()
                .filter(|r| r.is_chat())
                .nth(index)
                .is_some_and(|r| r.sent().end != End::Running)
        })
        .await;
        self.chats().swap_remove(index)
    }

    /// Waits until the records fulfil a condition.
    ///
    /// # Panics
    ///
    /// After [`PATIENCE`], naming `what`.
    pub async fn wait_for(&self, what: &str, mut until: impl FnMut(&[Recorded]) -> bool) {
        let mut changes = self.state.log.changes();
        let waiting = changes.wait_for(|()| until(&self.state.log.all()));
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(Ok(_)) => {}
            _ => panic!("waited in vain for {what}; there were {:#?}", self.requests()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in it has been printed; a second one here would hide it.
            let _ = thread.join();
        }
    }
}

fn serve(listener: std::net::TcpListener, state: Arc<State>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime for the scripted server");
    runtime.block_on(async move {
        let listener = socket::Listener::new(listener);
        let service = routes::router(state).into_make_service_with_connect_info::<socket::Peer>();
        tokio::select! {
            result = axum::serve(listener, service) => result.expect("the server serves"),
            // Also if the handle is gone. The connections' tasks end with the runtime.
            _ = stopped => {}
        }
    });
}

/// A port of this machine on which most likely nothing listens.
pub fn unused_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}
