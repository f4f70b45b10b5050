//! One exchange with a model.
//!
//! A [`Chat`] sends messages through a [`Client`](crate::client::Client) and puts the reply
//! together. It can be used alone, without agent or Manager:
//!
//! ```
//! use std::sync::Arc;
//!
//! use chat_core::chat::{Chat, Progress};
//! use chat_core::client::{Timeouts, ToolChoice, connect};
//! use chat_core::message::{Message, Role, ToolCall, ToolResult, ToolSpec};
//! use chat_core::settings::{Connection, ConnectionKind, KeySource};
//! use serde_json::json;
//! use tokio_util::sync::CancellationToken;
//!
//! # fn add(call: &ToolCall) -> String {
//! #     let number = |name: &str| call.arguments[name].as_i64().unwrap_or(0);
//! #     (number("a") + number("b")).to_string()
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> chat_core::error::Result<()> {
//! # let server = chat_testkit::server::Server::start();
//! # server.set_models([chat_testkit::server::Model::new("qwen3:8b")]);
//! # server.push(chat_testkit::server::Script::new().tool_call("1", "add", json!({"a": 1, "b": 1})));
//! # server.push(chat_testkit::server::Script::new().text("It is 2."));
//! # let url = server.url();
//! let connection = Connection {
//!     name: "local".into(),
//!     kind: Some(ConnectionKind::Ollama),
//!     url: url.into(), // for example http://127.0.0.1:11434
//!     key: KeySource::None,
//!     models: Vec::new(),
//!     requests: None,
//!, ..Connection::default() };
//! let client = connect(&connection, ConnectionKind::Ollama, None, Timeouts::default())?;
//! let tool = ToolSpec {
//!     name: "add".into(),
//!     description: "Adds two numbers".into(),
//!     parameters: json!({"type": "object", "properties": {
//!         "a": {"type": "number"}, "b": {"type": "number"},
//!     }}),
//! };
//! let mut chat = Chat::new(client, "qwen3:8b").tools(vec![tool], ToolChoice::Auto);
//! let cancel = CancellationToken::new();
//! let mut calls = Vec::new();
//! let question = Arc::new(Message::text(Role::User, None, "What is 1 + 1?"));
//! let mut response = chat
//!     .send(vec![question], &cancel, &mut |progress: Progress<'_>| match progress {
//!         Progress::Text(text) => print!("{text}"),
//!         Progress::ToolCallRequested(call) => calls.push(call.clone()),
//!         _ => {}
//!     })
//!     .await?;
//! while !calls.is_empty() {
//!     let answer = |call: ToolCall| ToolResult::to(&call, add(&call), false);
//!     let results = calls.drain(..).map(|call| Arc::new(Message::tool_result(answer(call))));
//!     let results = results.collect();
//!     response = chat
//!         .send_append(results, &cancel, &mut |progress: Progress<'_>| match progress {
//!             Progress::Text(text) => print!("{text}"),
//!             Progress::ToolCallRequested(call) => calls.push(call.clone()),
//!             _ => {}
//!         })
//!         .await?;
//! }
//! assert!(!response.text().is_empty());
//! # assert_eq!(response.text(), "It is 2.");
//! # Ok(())
//! # }
//! ```

mod continuation;
mod exchange;
mod live_text;
mod loop_detection;
mod repetition;
mod reply_builder;

pub(crate) use continuation::is_in_code;
pub use exchange::{Chat, Progress, ReplyTarget, Response};
pub(crate) use live_text::LiveText;
pub use repetition::{DetectedLoop, Repetition};
pub(crate) use reply_builder::Grown;
pub use reply_builder::{ReplyBuilder, TextKind};
