//! What goes into the store and comes out of it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use chat_permission::{Entry, Mode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::message::{Fid, Message, MessageId, ModelRef, Options, Thinking, Trouble};

/// A stored session without its messages.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct SessionRecord {
    /// Its id.
    pub fid: Fid,
    /// Its title.
    pub title: String,
    /// Whether the person chose the title, so that no better one is asked for.
    pub titled_by_person: bool,
    /// Its agent's name.
    pub agent: String,
    /// Its model, where one was chosen.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Thinking,
    /// Its options.
    pub options: Options,
    /// The folder that it works in, where it has one.
    pub project: Option<PathBuf>,
    /// What its tools may do without asking.
    pub mode: Mode,
    /// What was answered for this session.
    pub rules: Vec<Entry>,
    /// The last message of the shown branch.
    pub head: Option<MessageId>,
    /// Whether a reply came that nobody has looked at.
    pub unread: bool,
    /// What became of the reply at its head, where it failed or was interrupted.
    pub trouble: Option<Trouble>,
    /// When it began.
    pub created: Timestamp,
    /// When it last had a message.
    pub updated: Timestamp,
    /// Whether another living process is writing it now.
    pub in_use: bool,
}

/// A session to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its title.
    pub title: String,
    /// Its agent's name.
    pub agent: String,
    /// Its model.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Thinking,
    /// Its options.
    pub options: Options,
    /// The folder that it works in, where it has one.
    pub project: Option<PathBuf>,
    /// What its tools may do without asking.
    pub mode: Mode,
    /// What is allowed from its beginning.
    pub rules: Vec<Entry>,
}

/// A change of what is stored about a session; unset fields stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPatch {
    /// A title, and whether the person chose it. One made by the program never replaces one that
    /// the person chose.
    pub title: Option<(String, bool)>,
    /// An agent's name.
    pub agent: Option<String>,
    /// A model.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Option<Thinking>,
    /// Options.
    pub options: Option<Options>,
    /// A folder to work in; `Some(None)` takes it away.
    pub project: Option<Option<PathBuf>>,
    /// What tools may do without asking.
    pub mode: Option<Mode>,
    /// What was answered for this session.
    pub rules: Option<Vec<Entry>>,
    /// A head; `Some(None)` stands before the first message.
    pub head: Option<Option<MessageId>>,
    /// Whether there is something unread.
    pub unread: Option<bool>,
}

/// A part of a session's shown branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Messages in order, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// Whether there are earlier ones.
    pub more: bool,
}

/// A piece of a reply being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The reply.
    pub message: MessageId,
    /// Which of its parts, from 0.
    pub part: usize,
    /// What the part is.
    pub kind: SegmentKind,
    /// What arrived: text, or for a tool call its JSON whole.
    pub text: String,
}

/// What a journaled part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// Text; segments of one part are joined.
    Text,
    /// Thinking; segments of one part are joined.
    Thinking,
    /// A whole tool call, as JSON.
    ToolCall,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// The sessions, the best first.
    pub hits: Vec<Hit>,
    /// Why others may be missing, or may not have all that was typed; none where all was searched for
    /// everywhere.
    pub gaps: Vec<SearchGap>,
}

/// What a search left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchGap {
    /// Older messages are still being indexed.
    Indexing,
    /// No index has what was looked for, so only the newest messages were read.
    NewestOnly,
    /// The database is damaged, so only titles were searched.
    Damaged,
    /// A single letter is found only where it is a word.
    OneLetter,
    /// What was typed is so long that only its first part was looked for.
    Cut,
}

impl SearchGap {
    /// Whether messages were left out that may have what was looked for.
    pub fn leaves_messages_out(self) -> bool {
        matches!(self, Self::Indexing | Self::NewestOnly | Self::Damaged)
    }
}

/// A session that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: SessionRecord,
    /// Where the text stands, with a little around it; none where only the title has it.
    pub excerpt: Option<String>,
    /// Where the excerpt has what was looked for, in bytes and in order.
    pub marks: Vec<Range<usize>>,
    /// The message that has it; none where only the title has it.
    pub message: Option<MessageId>,
}
