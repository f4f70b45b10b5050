//! Natter's engine: conversations with language models, without a front end.
//!
//! A front end holds a [`manager::Manager`], sends it [`message::ChatRequest`]s and takes
//! [`event::Event`]s from its [`event::Subscription`]. The modules stand in layers; each may use
//! only those named before it:
//!
//! `error`, `net`, `programs`, `message`, `attachment`, `settings`, `models`, `client`, `store`, `tool`, `chat`, `event`, `agent`, `session`, `manager`.
//!
//! [`chat::Chat`] can be used alone, without agent or Manager.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod agent;
pub mod attachment;
pub mod chat;
pub mod client;
pub mod error;
pub mod event;
pub mod manager;
pub mod message;
pub mod models;
mod net;
mod programs;
pub mod session;
pub mod settings;
pub mod store;
pub mod tool;

pub use chat_definitions as definitions;
pub use chat_import as exports;
pub use chat_journal as review;
pub use chat_permission as permission;
pub use chat_worktree as worktree;
