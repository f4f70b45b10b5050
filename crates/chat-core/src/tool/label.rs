//! Defines the labels of tools and their calls, as data that front ends translate and fill in.

use serde_json::Value;

use crate::message::ToolView;

/// A text for people that stands in the catalogue of translations. [`N_`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsgId(&'static str);

impl MsgId {
    /// The text in English, by which its translation is found.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// Marks a text for translation, so that the catalogue takes it up. It takes one literal.
#[expect(non_snake_case, reason = "gettext's own name for a mark that translates nothing")]
pub const fn N_(text: &'static str) -> MsgId {
    MsgId(text)
}

/// A text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// It is translated.
    Message(MsgId),
    /// Words of others: nobody can translate them, and nobody should trust them.
    Verbatim(String),
}

impl From<MsgId> for Text {
    fn from(id: MsgId) -> Self {
        Self::Message(id)
    }
}

/// When a call is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tense {
    /// Before it runs, or where it never did: “Fetch …”.
    ToDo,
    /// While it runs: “Fetching …”.
    Doing,
    /// After it ran: “Fetched …”.
    Done,
    /// After it ran in vain: “Couldn’t fetch …”.
    Failed,
}

impl Tense {
    /// All of them, in the order of a call's life.
    pub const ALL: [Self; 4] = [Self::ToDo, Self::Doing, Self::Done, Self::Failed];
}

/// What is known of a call, for its label.
#[derive(Clone, Copy, Debug)]
pub struct CallData<'a> {
    /// The arguments, whatever the model gave.
    pub arguments: &'a Value,
    /// What was done, where that is known; only in [`Tense::Done`].
    pub view: Option<&'a ToolView>,
}

impl CallData<'_> {
    /// An argument as text; a question mark where it is missing.
    pub fn text(&self, name: &str) -> String {
        match self.arguments.get(name) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "?".to_owned(),
            Some(other) => other.to_string(),
        }
    }

    /// An argument that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.arguments.get(name)?.as_u64()
    }
}

/// A sentence about a call: “Moved {from} to {to}” and what goes into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The sentence, with each value's name in braces.
    pub sentence: MsgId,
    /// The values by name. The first is what the call is about. They may hold anything.
    pub values: Vec<(&'static str, String)>,
}

impl Label {
    /// A sentence with nothing to fill in.
    pub fn new(sentence: MsgId) -> Self {
        Self { sentence, values: Vec::new() }
    }

    /// A sentence about one thing, `{what}`.
    pub fn what(sentence: MsgId, what: impl Into<String>) -> Self {
        Self::new(sentence).with("what", what)
    }

    /// The same with another value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.values.push((name, value.into()));
        self
    }
}

/// What a tool's calls are called.
#[derive(Clone, Copy, Debug)]
pub enum Labels {
    /// By sentences of the tool's own.
    Own(fn(Tense, CallData<'_>) -> Label),
    /// By the tool's title: “Use …”.
    ByTitle,
}
