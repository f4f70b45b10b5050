//! Defines what is known of a model from its file, as it is kept and shown.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chat_gguf::Header;
use serde::{Deserialize, Serialize};

use crate::error::{Error, FileFault, Kind, Result};
use crate::settings::disk;

/// What a model is, from its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The architecture, in llama.cpp's words: `llama`, `qwen3`.
    pub architecture: String,
    /// What its makers call it, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Under which licence it is, in its makers' words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// How many parameters it has.
    pub parameters: u64,
    /// How it was quantised: `Q4_K_M`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    /// The longest window that it was made for, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u32>,
    /// Whether it can hold a conversation. Not known where it has no template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<bool>,
    /// Whether its template knows tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether its template knows thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Whether it makes vectors of texts.
    pub embedding: bool,
    /// How much memory it needs.
    pub memory: Memory,
}

/// How much memory a model needs: so much, and more for each token of its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Bytes without a window.
    pub base: u64,
    /// Bytes for each token of the window.
    pub per_token: u64,
}

impl Memory {
    /// Bytes with a window of so many tokens.
    pub fn with_window(self, tokens: u32) -> u64 {
        self.base.saturating_add(self.per_token.saturating_mul(u64::from(tokens)))
    }
}

impl Facts {
    /// What a file says, after it was verified. Blocks for some milliseconds.
    ///
    /// # Errors
    /// `ModelFile`, `FileNotFound`, `ModelStorage`, `ReadOnly`.
    pub fn read(path: &Path) -> Result<Self> {
        read(&given(path)?).map(|header| Self::of(&header))
    }

    /// What a header says.
    pub fn of(header: &Header) -> Self {
        let template = header.chat_template();
        let embedding = header.is_embedding();
        // The words are those of the templates that are about: they are looked for and not run.
        let knows =
            |words: &[&str]| template.map(|text| words.iter().any(|word| text.contains(word)));
        let base = header.memory(0);
        Self {
            architecture: header.architecture().unwrap_or_default().to_owned(),
            title: header.name().map(str::to_owned),
            licence: header.license().map(str::to_owned),
            parameters: header.parameters(),
            quantization: header.quantization().map(str::to_owned),
            context_length: header.context_length(),
            chat: if embedding { Some(false) } else { template.map(|_| true) },
            tools: knows(&["tools", "functions"]),
            thinking: knows(&[
                "<think>",
                "enable_thinking",
                "reasoning_content",
                "<|channel|>",
                "<channel|>",
                "[THINK]",
            ]),
            embedding,
            memory: Memory { base, per_token: header.memory(1).saturating_sub(base) },
        }
    }

    /// How many parameters it has, for people: `135M`, `7.6B`.
    pub fn parameters_label(&self) -> String {
        let count = self.parameters as f64;
        match self.parameters {
            0..1_000_000 => format!("{:.0}K", count / 1e3),
            1_000_000..999_500_000 => format!("{:.0}M", count / 1e6),
            999_500_000..99_950_000_000 => format!("{:.1}B", count / 1e9),
            _ => format!("{:.0}B", count / 1e9),
        }
    }
}

/// The whole path of a file that somebody names, which must be there.
///
/// # Errors
/// `FileNotFound`, `ModelStorage`.
pub(super) fn given(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(|error| fault_of(path, &error))?;
    match path.try_exists() {
        // What else keeps it from being read is said when it is.
        Ok(true) | Err(_) => Ok(path),
        Ok(false) => Err(Kind::FileNotFound { path }.into()),
    }
}

/// Reads and verifies a model, all its files where it has several. Blocks for some milliseconds.
///
/// # Errors
/// `ModelFile`, `ModelFileMissing`, `ReadOnly` where it may not be read, `ModelStorage`.
pub(super) fn read(path: &Path) -> Result<Header> {
    let header = Header::read_model(path).map_err(|error| refusal(path, &error))?;
    if !header.is_model() {
        return Err(Kind::ModelFile { path: path.to_owned(), fault: FileFault::NoModel }.into());
    }
    Ok(header)
}

fn refusal(path: &Path, error: &chat_gguf::Error) -> Error {
    let fault = match error {
        chat_gguf::Error::NotGguf => FileFault::NotGguf,
        chat_gguf::Error::Truncated { expected, found } => {
            FileFault::Truncated { expected: *expected, found: *found }
        }
        chat_gguf::Error::HeaderTooLarge => FileFault::HeaderTooLarge,
        chat_gguf::Error::Corrupt(_) => FileFault::Corrupt,
        chat_gguf::Error::UnsupportedVersion { .. } => FileFault::Version,
        chat_gguf::Error::Alone { .. } => FileFault::Alone,
        chat_gguf::Error::Part { path, error } => return refusal(path, error),
        chat_gguf::Error::Io(error) if error.kind() == ErrorKind::NotFound => {
            return Kind::ModelFileMissing { path: path.to_owned() }.into();
        }
        chat_gguf::Error::Io(error) => return fault_of(path, error),
    };
    Error::new(Kind::ModelFile { path: path.to_owned(), fault }).with_detail(error.to_string())
}

/// What the system said about a file or folder of models.
pub(super) fn fault_of(path: &Path, error: &std::io::Error) -> Error {
    let fault = disk::fault(path, error);
    match fault.kind {
        Kind::Storage => Error { kind: Kind::ModelStorage, ..fault },
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use chat_gguf::write::Writer;

    use super::*;

    fn facts(writer: &Writer) -> Facts {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), writer.bytes()).unwrap();
        Facts::of(&read(file.path()).unwrap())
    }

    #[test]
    fn what_a_model_can_do_is_told_by_its_template() {
        let plain = facts(&Writer::tiny("T", 64));
        assert_eq!(
            (plain.chat, plain.tools, plain.thinking),
            (Some(true), Some(false), Some(false))
        );
        let bare = Writer::new().text("general.architecture", "llama").tensor("t", &[4], 0);
        assert_eq!((facts(&bare).chat, facts(&bare).tools), (None, None));
        let able = bare.clone().text("tokenizer.chat_template", "{% if tools %}<think>");
        assert_eq!((facts(&able).tools, facts(&able).thinking), (Some(true), Some(true)));
        let vectors = bare.number("llama.pooling_type", 1);
        assert_eq!((facts(&vectors).chat, facts(&vectors).embedding), (Some(false), true));
    }

    #[test]
    fn memory_is_that_of_the_header() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), Writer::tiny("T", 4_096).bytes()).unwrap();
        let header = read(file.path()).unwrap();
        assert_eq!(Facts::of(&header).memory.with_window(4_096), header.memory(4_096));
    }

    #[test]
    fn parameters_are_told_in_short() {
        let label = |parameters| Facts { parameters, ..Facts::default() }.parameters_label();
        assert_eq!(label(134_515_008), "135M");
        assert_eq!(label(999_600_000), "1.0B");
        assert_eq!(label(7_615_616_512), "7.6B");
        assert_eq!(label(235_000_000_000), "235B");
    }

    #[test]
    fn what_belongs_to_a_model_is_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let projector = Writer::new().text("general.architecture", "clip").tensor("t", &[4], 0);
        std::fs::write(file.path(), projector.bytes()).unwrap();
        let kind = read(file.path()).unwrap_err().kind;
        assert!(matches!(kind, Kind::ModelFile { fault: FileFault::NoModel, .. }), "{kind:?}");
    }
}
