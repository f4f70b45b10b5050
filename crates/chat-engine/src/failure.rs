//! Defines what can go wrong, and how it is said on the wire: as llama.cpp's server says it, so that
//! clients know it already.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request cannot be understood.
    Request(String),
    /// There is no such file.
    NoModel(PathBuf),
    /// The file is no model, or broken.
    BadModel(String),
    /// llama.cpp cannot load it: an unknown architecture, say.
    Load(String),
    /// It needs more memory than there is.
    TooLarge {
        /// What it needs, in bytes.
        needed: u64,
        /// What there is, in bytes.
        available: u64,
    },
    /// The model has no way to hold a conversation.
    CannotChat,
    /// Pictures, which no model here can see yet.
    Images,
    /// The model's template failed.
    Template(String),
    /// The schema or grammar cannot be followed.
    Grammar(String),
    /// The conversation is longer than the window.
    TooLong {
        /// How long it is, in tokens.
        tokens: usize,
        /// The window, in tokens.
        window: u32,
    },
    /// llama.cpp failed while computing.
    Compute(String),
    /// The engine ends, or the request was given up.
    Gone,
}

impl Failure {
    /// The status under which it is answered.
    pub fn status(&self) -> u16 {
        match self {
            Self::NoModel(_) => 404,
            Self::Compute(_) | Self::Load(_) | Self::Gone => 500,
            Self::TooLarge { .. } => 507,
            _ => 400,
        }
    }

    /// The error object.
    pub fn body(&self) -> Value {
        let status = self.status();
        let error = |kind: &str, message: String| json!({ "error": { "code": status, "type": kind, "message": message } });
        match self {
            Self::Request(words) | Self::Grammar(words) => {
                error("invalid_request_error", words.clone())
            }
            Self::NoModel(path) => json!({ "error": {
                "code": "model_not_found",
                "type": "not_found_error",
                "message": format!("model not found: {}", path.display()),
            } }),
            Self::BadModel(words) => error("bad_model", words.clone()),
            Self::Load(words) => error("load_failed", words.clone()),
            Self::TooLarge { needed, available } => json!({ "error": {
                "code": status,
                "type": "model_too_large",
                "message": format!("the model needs {needed} bytes of memory, and {available} are free"),
                "needed": needed,
                "available": available,
            } }),
            Self::CannotChat => {
                error("invalid_request_error", "this model does not support chat".to_owned())
            }
            Self::Images => {
                error("invalid_request_error", "image input is not supported".to_owned())
            }
            Self::Template(words) => error("template_failed", words.clone()),
            Self::TooLong { tokens, window } => json!({ "error": {
                "code": status,
                "type": "exceed_context_size_error",
                "message": format!("the request exceeds the available context size: {tokens} tokens of {window}"),
                "n_prompt_tokens": tokens,
                "n_ctx": window,
            } }),
            Self::Compute(words) => error("server_error", words.clone()),
            Self::Gone => error("server_error", "the engine ends".to_owned()),
        }
    }
}
