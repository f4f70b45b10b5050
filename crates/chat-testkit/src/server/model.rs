//! Defines the models that a scripted server claims to have.

use serde_json::{Value, json};

/// A model as all protocols list it.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    owner: String,
    context: u32,
    capabilities: Vec<String>,
    listed: bool,
    shown: bool,
}

impl Model {
    /// A model that can chat, call tools, think and see, with a window of 32,768 tokens.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            owner: "scripted".to_owned(),
            context: 32_768,
            capabilities: ["completion", "tools", "thinking", "vision"].map(str::to_owned).into(),
            listed: true,
            shown: true,
        }
    }

    /// Its context window, in tokens.
    #[must_use]
    pub fn context(mut self, tokens: u32) -> Self {
        self.context = tokens;
        self
    }

    /// Its owner in the list of the OpenAI protocol, by which programs are recognized.
    #[must_use]
    pub fn owned_by(mut self, owner: &str) -> Self {
        owner.clone_into(&mut self.owner);
        self
    }

    /// Its capabilities, in Ollama's terms.
    #[must_use]
    pub fn capabilities(mut self, capabilities: &[&str]) -> Self {
        self.capabilities = capabilities.iter().map(|&c| c.to_owned()).collect();
        self
    }

    /// Leaves the capabilities out of the list, as older Ollama servers do: only `/api/show`
    /// reports them.
    #[must_use]
    pub fn capabilities_unlisted(mut self) -> Self {
        self.listed = false;
        self
    }

    /// Makes `/api/show` fail for it.
    #[must_use]
    pub fn show_fails(mut self) -> Self {
        self.shown = false;
        self
    }

    /// Whether a request for `name` means this model: Ollama takes `x` for `x:latest`.
    pub(super) fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.name.strip_suffix(":latest") == Some(name)
    }

    pub(super) fn tag(&self) -> Value {
        let mut tag = json!({
            "name": self.name, "model": self.name,
            "modified_at": "2026-01-15T14:30:45.000000000Z",
            "size": 98_362_432, "digest": "b179c952",
            "details": {
                "parent_model": "", "format": "gguf", "family": "llama", "families": ["llama"],
                "parameter_size": "134.52M", "quantization_level": "Q4_1",
            },
        });
        if self.listed {
            tag["capabilities"] = json!(self.capabilities);
        }
        tag
    }

    pub(super) fn show(&self) -> Option<Value> {
        self.shown.then(|| {
            json!({
                "license": "", "template": "{{ .Prompt }}", "parameters": "",
                "details": { "format": "gguf", "family": "llama", "parameter_size": "134.52M",
                             "quantization_level": "Q4_1" },
                "model_info": {
                    "general.architecture": "llama",
                    "general.parameter_count": 134_515_008,
                    "llama.context_length": self.context,
                },
                "capabilities": self.capabilities,
            })
        })
    }

    pub(super) fn entry(&self) -> Value {
        json!({
            "id": self.name, "object": "model", "created": 1_768_487_445, "owned_by": self.owner,
            "max_model_len": self.context,
        })
    }

    /// The entry of Anthropic's list.
    pub(super) fn listed(&self) -> Value {
        let can =
            |what: &str| json!({ "supported": self.capabilities.iter().any(|can| can == what) });
        json!({
            "type": "model", "id": self.name, "display_name": self.name,
            "created_at": "2026-01-15T14:30:45Z", "max_input_tokens": self.context,
            "capabilities": { "image_input": can("vision") },
        })
    }

    /// The entry of Ollama's list of models in memory.
    pub(super) fn loaded(&self) -> Value {
        json!({
            "name": self.name, "model": self.name, "size": 98_362_432, "size_vram": 0,
            "digest": "b179c952", "context_length": self.context,
            // So it says of a model that stays.
            "expires_at": "2318-05-04T17:44:06.547Z",
        })
    }
}
