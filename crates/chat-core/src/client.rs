//! Wire protocols: one [`Client`] to one server. Knows nobody above it, sends what it is given,
//! and never changes the messages.

mod address;
mod anthropic;
mod batch;
mod built_in;
mod detect;
mod frames;
mod http;
mod json;
mod model;
mod model_server;
mod ollama;
mod openai;
mod presets;
mod prose;
mod reasoning_parser;
mod recipient;
mod refusal;
mod route;
mod scrub;
mod slots;
mod stream;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

pub use built_in::{BuiltIn, EngineOptions};
pub use detect::{DetectedServer, Probe, detect_kind, detect_program, find_local, guess_kind};
pub(crate) use json::without_halves;
pub use model::{Capabilities, ModelInfo, Price};
pub use model_server::{LoadedModel, ModelServer, PullStage, Pulled};
pub use presets::{Preset, preset, presets};
pub(crate) use prose::text as as_text;
pub use recipient::{Recipient, RefusedData};
pub(crate) use refusal::refuses_order;
pub(crate) use slots::{Lane, Priority, RequestSlots, Requester};
pub use wire::{ContextWindow, Delta, Finish, Preparing, Request, SentReasoning, ToolChoice};

use crate::error::Result;
use crate::message::{OptionName, Options};
use crate::settings::{Connection, ConnectionKind, Key};

/// One wire protocol to one server. Cheap to share.
///
/// Every method is cancelled by dropping its future or stream; the connection's body is dropped
/// with it, which tells the server to stop.
#[async_trait]
pub trait Client: Send + Sync + std::fmt::Debug {
    /// The models that the server offers, with as much about each as one request says.
    async fn models(&self) -> Result<Vec<ModelInfo>>;

    /// What the server says about one model. A server without such a call gives what
    /// [`models`](Self::models) said.
    async fn model(&self, name: &str) -> Result<ModelInfo>;

    /// The room that a model has for a request of so many tokens, as far as the client decides it.
    async fn context_window(&self, model: &str, options: &Options, tokens: u64) -> ContextWindow {
        let _ = (model, options, tokens);
        ContextWindow::default()
    }

    /// Whether a request can say this option. One that cannot is left out.
    fn takes(&self, option: OptionName) -> bool;

    /// The server's own models, where they can be managed over its protocol.
    fn model_server(&self) -> Option<&dyn ModelServer> {
        None
    }

    /// Sends a request. Resolves when the server has accepted it (which may take minutes while it
    /// loads a model); the stream yields what arrived, batch by batch, and ends after
    /// [`Delta::Finish`]. A stream that ends without one was cut, and yields [`Kind::Cut`].
    ///
    /// [`Kind::Cut`]: crate::error::Kind::Cut
    async fn chat(&self, request: Request) -> Result<Reply>;
}

/// What a model says, in batches: everything that one read of the network brought.
pub type Reply = BoxStream<'static, Result<Vec<Delta>>>;

/// How long to wait for a server. There is none for a whole reply, nor for its first chunk.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For connecting.
    pub connect: Duration,
    /// For silence in mid-stream.
    pub silence: Duration,
    /// For questions with short answers (models, versions).
    pub question: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            silence: Duration::from_mins(2),
            question: Duration::from_secs(30),
        }
    }
}

/// Whether a connection's address can be read at all; nothing is asked of the server.
///
/// # Errors
/// `InvalidUrl`.
pub fn check_address(connection: &Connection) -> Result<()> {
    address::parse(&connection.url).map(|_| ()).map_err(|error| error.on(&connection.name))
}

/// Whether a connection can be used as it is written: its address, its proxy, its headers, and its
/// certificates, whose file is read. Nothing is asked of the server.
///
/// # Errors
/// `InvalidUrl`, `InvalidProxy`, `InvalidHeader`, `CertificateFile`.
pub fn check(connection: &Connection) -> Result<()> {
    check_address(connection)?;
    crate::net::provide_tls();
    route::check(connection).map_err(|error| error.on(&connection.name))
}

/// Makes the client of a connection whose kind is known.
///
/// # Errors
/// `InvalidUrl` where the connection's address cannot be read.
pub fn connect(
    connection: &Connection,
    kind: ConnectionKind,
    key: Option<Key>,
    timeouts: Timeouts,
) -> Result<Arc<dyn Client>> {
    Ok(match kind {
        ConnectionKind::Ollama => Arc::new(ollama::Ollama::new(connection, key, timeouts)?),
        ConnectionKind::OpenAi => Arc::new(openai::OpenAi::new(connection, key, timeouts)?),
        ConnectionKind::Anthropic => {
            Arc::new(anthropic::Anthropic::new(connection, key, timeouts)?)
        }
    })
}
