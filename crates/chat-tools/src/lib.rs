//! What a model may do: files, commands, the web. Each tool stands in a file of its own.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod outputs;
mod spec;
pub mod web;
mod web_fetch;
mod web_search;

use std::sync::Arc;

use chat_core::tool::Tool;

pub use web_fetch::WebFetch;
pub use web_search::{WebSearch, key_name};

/// All tools that there are.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(WebFetch::default()), Arc::new(WebSearch::default())]
}
