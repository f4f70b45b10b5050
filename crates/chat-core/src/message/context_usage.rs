//! Defines how full a model's context window is, and what a request consists of.

use serde::{Deserialize, Serialize};

use super::MessageId;

/// How full a model's window is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextUsage {
    /// The window that the next request has, in tokens, where it is known.
    pub window: Option<u32>,
    /// How many tokens the next request has at least: all but what the person says with it.
    pub tokens: u64,
    /// From how many tokens on the conversation is made shorter; none where it never is.
    pub limit: Option<u64>,
    /// Whether a server's counts say how many tokens a text has here; otherwise it is an estimate.
    pub measured: bool,
    /// What fills it, in tokens, the largest first; together they are all of it.
    pub by_category: Vec<(ContextCategory, u64)>,
    /// What each server of tools takes of the tools' part, in tokens, the largest first.
    pub by_server: Vec<(String, u64)>,
    /// What the conversation cost so far, in millionths of a millionth of a US dollar, as far as
    /// the servers report their prices; none where none of them does.
    pub cost: Option<u64>,
    /// Whether earlier messages go out in short, which the person can take back.
    pub shortened: bool,
}

/// What a part of a window is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContextCategory {
    /// The agent's instructions.
    Instructions,
    /// The project's own rules.
    Rules,
    /// The descriptions of its tools.
    Tools,
    /// The user's messages.
    Person,
    /// Files attached to them.
    Files,
    /// What the agent added to it: open files, selection, plan.
    Context,
    /// Pictures.
    Pictures,
    /// Answers of the model.
    Answers,
    /// Its reasoning.
    Reasoning,
    /// Calls of tools.
    Calls,
    /// Results of tools.
    Results,
    /// The summary of earlier messages.
    Summary,
}

impl ContextCategory {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Instructions,
        Self::Rules,
        Self::Tools,
        Self::Person,
        Self::Files,
        Self::Context,
        Self::Pictures,
        Self::Answers,
        Self::Reasoning,
        Self::Calls,
        Self::Results,
        Self::Summary,
    ];

    /// A short stable name, for data: `results`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Rules => "rules",
            Self::Tools => "tools",
            Self::Person => "person",
            Self::Files => "files",
            Self::Context => "context",
            Self::Pictures => "pictures",
            Self::Answers => "answers",
            Self::Reasoning => "thoughts",
            Self::Calls => "calls",
            Self::Results => "results",
            Self::Summary => "summary",
        }
    }
}

/// The whole of what would go out, for the person to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptPreview {
    /// The agent's instructions, with the project's rules.
    pub system: String,
    /// What would go with the person's message: context, mentions and files, as the model gets them.
    pub context: String,
    /// The tools that would be offered, each with the bytes of its description.
    pub tools: Vec<(String, usize)>,
    /// How many other messages of the conversation would go out.
    pub messages: usize,
    /// How many bytes all of it has.
    pub bytes: u64,
    /// How many tokens that is, as far as is known.
    pub tokens: u64,
    /// How many of them there are without the person's message and what would go with it: what
    /// [`ContextUsage::tokens`] counts.
    pub now: u64,
}

/// What goes out in the place of earlier messages; they themselves stay. Part of a `ui` message, which
/// holds for its branch from there on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The last message that it is about; all before that are, too.
    pub upto: MessageId,
    /// What stands for them, in the model's words. With none they go out as they are, but for long
    /// results of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How many bytes of each result up to there go out, its head and its tail; with a summary, how many
    /// bytes of the results that last go out after it.
    #[serde(default)]
    pub keep: u32,
    /// Whether the person took it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}
