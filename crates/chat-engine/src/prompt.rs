//! How a conversation becomes the text that a model goes on with.

pub mod apart;
pub mod fallback;
pub mod guard;
mod json;
pub mod reasoning_tags;
pub mod template;
pub mod tools;
