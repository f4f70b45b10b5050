//! How a conversation becomes the text that a model goes on with.

pub mod fallback;
pub mod guard;
mod json;
pub mod reasoning_tags;
pub mod template;
pub mod template_process;
pub mod tools;
