//! One exchange with a model.
//!
//! A [`Chat`] sends messages through a [`Client`](crate::client::Client) and puts the reply
//! together. It can be used alone, without agent or Manager:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use chat_core::chat::{Chat, Progress};
//! use chat_core::client::{Timeouts, connect};
//! use chat_core::message::{Message, Role};
//! use chat_core::settings::{Connection, ConnectionKind, KeySource};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> chat_core::error::Result<()> {
//! let connection = Connection {
//!     name: "local".into(),
//!     kind: Some(ConnectionKind::Ollama),
//!     url: "http://127.0.0.1:11434".into(),
//!     key: KeySource::None,
//!     models: Vec::new(),
//! };
//! let client = connect(&connection, ConnectionKind::Ollama, None, Timeouts::default())?;
//! let mut chat = Chat::new(client, "qwen3:8b");
//! let question = Arc::new(Message::text(Role::User, None, "Why is the sky blue?"));
//! let cancel = CancellationToken::new();
//! let response = chat
//!     .send(vec![question], &cancel, &mut |progress: Progress<'_>| {
//!         if let Progress::Text(text) = progress {
//!             print!("{text}");
//!         }
//!     })
//!     .await?;
//! assert!(!response.text().is_empty());
//! # Ok(())
//! # }
//! ```

mod assembly;
mod exchange;
mod loop_detection;
mod repetition;

pub use exchange::{Chat, Progress, Response};
pub use repetition::{Circle, Repetition};
