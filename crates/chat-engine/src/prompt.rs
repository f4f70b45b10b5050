//! How a conversation becomes the text that a model goes on with.

pub mod fallback;
mod json;
pub mod template;
pub mod tools;
