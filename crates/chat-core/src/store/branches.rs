//! Reads the branches of a session: which replies are siblings, where a branch ends, and what was asked last.

use std::collections::{HashMap, HashSet};

use super::columns::word;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{missing, sessions};
use crate::message::{Fid, MessageId, Role};

/// A session's messages as a tree, without what they say.
pub(super) struct Branches {
    head: Option<MessageId>,
    parents: HashMap<MessageId, Option<MessageId>>,
    /// The messages that follow one, the oldest first.
    children: HashMap<Option<MessageId>, Vec<MessageId>>,
    replies: HashSet<MessageId>,
}

/// The messages from the head of a session up to the last one of the user's.
const LAST_ASKED: &str = "WITH RECURSIVE last(id, role, above) AS (\
    SELECT m.id, m.role, m.parent FROM sessions s JOIN messages m ON m.id = s.head WHERE s.fid = ?1 UNION \
    SELECT m.id, m.role, m.parent FROM last JOIN messages m ON m.id = last.above WHERE last.role <> 'user') \
    SELECT id FROM last WHERE role = 'user'";

/// The last message of the shown branch that the model was sent as the user's.
pub(super) fn last_asked(db: &DbHandle, fid: &Fid) -> Outcome<Option<MessageId>> {
    missing::or_else(
        db,
        || {
            let found = db.find(LAST_ASKED, [fid.as_str()], |row| row.get(0))?;
            Ok(found.map(MessageId::from_bytes))
        },
        || {
            let page = missing::page(db, fid, None, usize::MAX)?;
            let asked = page.messages.iter().rfind(|message| message.role == Role::User);
            Ok(asked.map(|message| message.id))
        },
    )
}

impl Branches {
    pub(super) fn read(db: &DbHandle, fid: &Fid) -> Outcome<Self> {
        let session = sessions::key(db, fid)?;
        let id = |bytes: Option<[u8; 16]>| bytes.map(MessageId::from_bytes);
        let head = db.find("SELECT head FROM sessions WHERE key = ?1", [session], |row| {
            Ok(id(row.get(0)?))
        })?;
        let reply = word(&Role::Assistant)?;
        let mut out = Self {
            head: head.flatten(),
            parents: HashMap::new(),
            children: HashMap::new(),
            replies: HashSet::new(),
        };
        let mut statement = db.connection.prepare_cached(
            "SELECT id, parent, role FROM messages WHERE session = ?1 ORDER BY key",
        )?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let message = MessageId::from_bytes(row.get(0)?);
            let parent = id(row.get(1)?);
            out.parents.insert(message, parent);
            out.children.entry(parent).or_default().push(message);
            if row.get_ref(2)?.as_str() == Ok(reply.as_str()) {
                out.replies.insert(message);
            }
        }
        Ok(out)
    }

    /// The replies that have alternatives, with those, the oldest first.
    pub(super) fn siblings(self) -> Vec<Vec<MessageId>> {
        let replies = |all: Vec<MessageId>| {
            all.into_iter().filter(|id| self.replies.contains(id)).collect::<Vec<_>>()
        };
        self.children.into_values().map(replies).filter(|all| all.len() > 1).collect()
    }

    /// Where the newest branch through this message ends; none where it is in the shown one already,
    /// or there is no such message.
    pub(super) fn end_of(&self, message: MessageId) -> Option<MessageId> {
        let mut at = self.head;
        // A damaged file could hold a ring.
        for _ in 0..=self.parents.len() {
            match at {
                Some(id) if id == message => return None,
                Some(id) => at = self.parents.get(&id).copied().flatten(),
                None => break,
            }
        }
        let mut end = self.parents.contains_key(&message).then_some(message)?;
        for _ in 0..self.parents.len() {
            match self.children.get(&Some(end)).and_then(|next| next.last()) {
                Some(next) => end = *next,
                None => break,
            }
        }
        Some(end)
    }
}
