//! Defines what goes into the store and comes out of it.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use chat_permission::Entry;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::message::{DeletedMessages, Fid, Message, MessageId, SessionChange, SessionMeta};

/// A stored session without its messages.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct SessionRecord {
    /// Its metadata.
    pub meta: SessionMeta,
    /// Whether the person chose the title, so that no better one is asked for.
    pub titled_by_person: bool,
    /// What was answered for this session.
    pub rules: Vec<Entry>,
    /// The last message of the shown branch.
    pub head: Option<MessageId>,
}

impl Deref for SessionRecord {
    type Target = SessionMeta;

    fn deref(&self) -> &SessionMeta {
        &self.meta
    }
}

impl DerefMut for SessionRecord {
    fn deref_mut(&mut self) -> &mut SessionMeta {
        &mut self.meta
    }
}

/// A session to be made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewSession {
    /// What is told of it; its id and its times are the store's to choose.
    pub meta: SessionMeta,
    /// What is allowed from its beginning.
    pub rules: Vec<Entry>,
    /// Whether it is kept in memory alone, until the program ends.
    pub temporary: bool,
}

/// A change of what is stored about a session; unset fields stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPatch {
    /// What the user may change.
    pub change: SessionChange,
    /// A title, and whether the person chose it. One made by the program never replaces one that
    /// the person chose.
    pub title: Option<(String, bool)>,
    /// What was answered for this session.
    pub rules: Option<Vec<Entry>>,
    /// A head; `Some(None)` stands before the first message.
    pub head: Option<Option<MessageId>>,
    /// Whether there is something unread.
    pub unread: Option<bool>,
    /// Whether it is an agent that is done with.
    pub closed: Option<bool>,
    /// Whether it stands on top of the list.
    pub pinned: Option<bool>,
    /// Whether it is kept out of the list.
    pub archived: Option<bool>,
}

/// A session in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashedSession {
    /// The session.
    pub meta: SessionMeta,
    /// When it was deleted.
    pub deleted: Timestamp,
    /// How many agents were deleted with it.
    pub agents: u32,
}

/// Messages of a session that were deleted at once.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashedMessages {
    /// The session, which itself is not deleted.
    pub fid: Fid,
    /// Its title.
    pub title: String,
    /// When they were deleted.
    pub deleted: Timestamp,
    /// The beginning of the first one.
    pub excerpt: String,
    /// The messages.
    pub messages: DeletedMessages,
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
    /// What the server wants back with the thinking of this part, as JSON.
    Provider,
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
    /// Whether messages were skipped that may match.
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
    /// The matches in the excerpt, in bytes and in order.
    pub highlights: Vec<Range<usize>>,
    /// The message that has it; none where only the title has it.
    pub message: Option<MessageId>,
}

impl Hit {
    /// A session that is found as a whole, and in none of its messages.
    pub(super) fn whole(session: SessionRecord) -> Self {
        Self { session, excerpt: None, highlights: Vec::new(), message: None }
    }
}
