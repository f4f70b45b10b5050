//! Provides replies of real servers: recorded, or taken from their sources and documentation.
//! `fixtures/README.md` says where each comes from.

use std::path::PathBuf;

/// One server's answers, in a folder of `fixtures`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixture(&'static str);

impl Fixture {
    /// llama.cpp's server.
    pub const LLAMA_CPP: Self = Self("llama.cpp");
    /// vLLM.
    pub const VLLM: Self = Self("vllm");
    /// LM Studio.
    pub const LM_STUDIO: Self = Self("lm-studio");
    /// OpenRouter.
    pub const OPENROUTER: Self = Self("openrouter");
    /// OpenAI.
    pub const OPENAI: Self = Self("openai");
    /// Anthropic.
    pub const ANTHROPIC: Self = Self("anthropic");
    /// Ollama.
    pub const OLLAMA: Self = Self("ollama");

    /// One of its answers: `stream.sse`, `whole.json`, `models.json`, `error.json` …
    ///
    /// # Panics
    /// Where there is no such file.
    pub fn read(self, name: &str) -> Vec<u8> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(self.0);
        let file = folder.join(name);
        std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }
}

/// How a server refuses a request, and what it means.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Refusal {
    /// The server that says so.
    pub server: String,
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: serde_json::Value,
    /// The name of the kind of error.
    pub kind: String,
    /// Some of the server's words, which the details hold.
    pub detail: String,
    /// Where this is documented or was seen.
    pub source: String,
}

impl Refusal {
    /// All of them.
    ///
    /// # Panics
    /// Where the table is none.
    pub fn all() -> Vec<Self> {
        let table = include_str!("../fixtures/refusals.json");
        serde_json::from_str(table).expect("a table of refusals")
    }
}
