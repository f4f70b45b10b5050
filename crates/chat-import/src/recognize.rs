//! Tells by its content which program wrote a chat.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A program whose chats can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// `ChatGPT`.
    ChatGpt,
    /// Claude.
    Claude,
    /// `OLLMchat`.
    OllmChat,
    /// Natter itself.
    Natter,
}

impl Program {
    /// A short stable name, for storing and `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::OllmChat => "ollmchat",
            Self::Natter => "natter",
        }
    }

    /// What it is called. Not translated.
    pub fn title(self) -> &'static str {
        match self {
            Self::ChatGpt => "ChatGPT",
            Self::Claude => "Claude",
            Self::OllmChat => "OLLMchat",
            Self::Natter => "Natter",
        }
    }
}

#[derive(Deserialize)]
struct Probe {
    natter_export: Option<IgnoredAny>,
    mapping: Option<IgnoredAny>,
    chat_messages: Option<IgnoredAny>,
    messages: Option<IgnoredAny>,
    #[serde(alias = "agent-name")]
    agent_name: Option<IgnoredAny>,
    fid: Option<IgnoredAny>,
}

/// The program that wrote this chat; none where it is none of a known program's.
pub(crate) fn program(json: &[u8]) -> Result<Option<Program>, serde_json::Error> {
    let probe: Probe = serde_json::from_slice(json)?;
    Ok(if probe.natter_export.is_some() {
        Some(Program::Natter)
    } else if probe.mapping.is_some() {
        Some(Program::ChatGpt)
    } else if probe.chat_messages.is_some() {
        Some(Program::Claude)
    } else if probe.messages.is_some() && (probe.agent_name.is_some() || probe.fid.is_some()) {
        Some(Program::OllmChat)
    } else {
        None
    })
}
