//! Turns a conversation into the text that a model continues.

pub mod fallback;
pub mod guard;
mod json;
pub mod reasoning_tags;
pub mod template;
pub mod template_process;
pub mod tools;
