//! Defines what is known about a model.

use serde::{Deserialize, Serialize};

use crate::message::Usage;

/// A model as its server describes it. What a server does not say is unset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Its name, as requests must give it.
    pub name: String,
    /// Its size on disk, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How many parameters it has, in the server's words (`8.0B`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// Its quantisation (`Q4_K_M`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    /// The longest window it was made for, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u32>,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// What a model costs: each a token, in millionths of a millionth of a US dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Reading one.
    pub prompt: u64,
    /// Reading one that the server had kept.
    pub cached: u64,
    /// Writing one.
    pub completion: u64,
}

impl Price {
    /// What a reply cost.
    pub fn of(&self, usage: &Usage) -> u64 {
        let prompt = usage.prompt_tokens.unwrap_or(0);
        let cached = usage.cached_tokens.unwrap_or(0).min(prompt);
        let parts = [
            (prompt - cached, self.prompt),
            (cached, self.cached),
            (usage.completion_tokens.unwrap_or(0), self.completion),
        ];
        parts
            .iter()
            .fold(0, |sum: u64, (tokens, price)| sum.saturating_add(tokens.saturating_mul(*price)))
    }
}

/// What a model can do: yes, no, or not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Holding a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<bool>,
    /// Calling tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Looking at images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Having its context window set by the request. Where it cannot, the window is the server's
    /// affair, and the option reaches nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<bool>,
}
