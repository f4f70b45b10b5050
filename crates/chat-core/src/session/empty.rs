//! A new chat: choices that are not stored before its first message.

use std::path::PathBuf;

use chat_permission::Mode;

use crate::message::{ChatRequest, Content, Context, ModelRef, Options, Thinking};

/// A new chat. It is stored, and gets its fid, with its first message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmptySession {
    /// The agent's name.
    pub agent: String,
    /// The model, where there is one.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Thinking,
    /// Options.
    pub options: Options,
    /// What the model is told for this chat alone, where that is something.
    pub instructions: Option<String>,
    /// The folder to work in, where there is one.
    pub project: Option<PathBuf>,
    /// What tools may do without asking.
    pub mode: Mode,
    /// Whether it is to be kept in memory alone, until the program ends.
    pub temporary: bool,
}

impl EmptySession {
    /// The request that makes a session of it.
    pub fn request(&self, content: Content, context: Context) -> ChatRequest {
        ChatRequest {
            session: None,
            model: self.model.clone(),
            agent: Some(self.agent.clone()),
            content,
            thinking: Some(self.thinking),
            options: self.options.clone(),
            instructions: self.instructions.clone(),
            context,
            project: self.project.clone(),
            mode: Some(self.mode),
            allow: Vec::new(),
            temporary: self.temporary,
            delivery: None,
        }
    }
}
