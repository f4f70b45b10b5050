//! Reads the branches of a session: which messages are siblings, where a branch ends, what hangs together, and what
//! was asked last.

use std::collections::{HashMap, HashSet};

use super::columns;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{missing, sessions};
use crate::message::{Fid, MessageId, Role};

/// A session's messages as a tree, without what they say and without deleted ones.
pub(super) struct Branches {
    head: Option<MessageId>,
    parents: HashMap<MessageId, Option<MessageId>>,
    /// The messages that follow one, the oldest first.
    children: HashMap<Option<MessageId>, Vec<MessageId>>,
    roles: HashMap<MessageId, Role>,
}

/// The deleted messages of a session, each with the message that it follows. They keep their place, so that they
/// can be restored in any order: what follows one of them is shown after what stands before it.
#[derive(Default)]
pub(super) struct DeletedLinks(HashMap<MessageId, Option<MessageId>>);

/// The messages from the head of a session up to the last one of the user's.
const LAST_ASKED: &str = "WITH RECURSIVE last(id, role, above, is_deleted) AS (\
    SELECT m.id, m.role, m.parent, m.deleted IS NOT NULL \
    FROM sessions s JOIN messages m ON m.id = s.head WHERE s.fid = ?1 UNION \
    SELECT m.id, m.role, m.parent, m.deleted IS NOT NULL FROM last JOIN messages m ON m.id = last.above \
    WHERE last.role <> 'user' OR last.is_deleted) \
    SELECT id FROM last WHERE role = 'user' AND NOT is_deleted";

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

impl DeletedLinks {
    pub(super) fn read(db: &DbHandle, session: i64) -> Outcome<Self> {
        missing::or_else(db, || Self::until(db, session, i64::MAX), || Ok(Self::default()))
    }

    /// Those that were deleted then or before, in nanoseconds.
    pub(super) fn until(db: &DbHandle, session: i64, time: i64) -> Outcome<Self> {
        // Few in the whole store: this takes as long however long the chat is.
        let mut statement = db.connection.prepare_cached(
            "SELECT id, parent FROM messages INDEXED BY messages_deleted \
             WHERE deleted <= ?2 AND session = ?1",
        )?;
        let mut rows = statement.query([session, time])?;
        let mut links = HashMap::new();
        while let Some(row) = rows.next()? {
            let parent = row.get::<_, Option<[u8; 16]>>(1)?.map(MessageId::from_bytes);
            links.insert(MessageId::from_bytes(row.get(0)?), parent);
        }
        Ok(Self(links))
    }

    /// Only those of these messages.
    pub(super) fn only(mut self, messages: &[MessageId]) -> Self {
        self.0.retain(|id, _| messages.contains(id));
        self
    }

    /// Which they are, in no order.
    pub(super) fn ids(&self) -> impl Iterator<Item = MessageId> {
        self.0.keys().copied()
    }

    pub(super) fn has(&self, message: MessageId) -> bool {
        self.0.contains_key(&message)
    }

    /// The message itself, or the nearest one before it that is not deleted.
    pub(super) fn live(&self, message: Option<MessageId>) -> Option<MessageId> {
        let mut at = message;
        // A damaged file could hold a ring.
        for _ in 0..=self.0.len() {
            match at.and_then(|id| self.0.get(&id)) {
                Some(above) => at = *above,
                None => return at,
            }
        }
        None
    }
}

impl Branches {
    pub(super) fn read(db: &DbHandle, fid: &Fid) -> Outcome<Self> {
        let session = sessions::key(db, fid)?;
        let id = |bytes: Option<[u8; 16]>| bytes.map(MessageId::from_bytes);
        let head = db.find("SELECT head FROM sessions WHERE key = ?1", [session], |row| {
            Ok(id(row.get(0)?))
        })?;
        let deleted = DeletedLinks::read(db, session)?;
        let mut out = Self {
            head: head.flatten(),
            parents: HashMap::new(),
            children: HashMap::new(),
            roles: HashMap::new(),
        };
        let mut statement = db.connection.prepare_cached(
            "SELECT id, parent, role FROM messages WHERE session = ?1 AND deleted IS NULL ORDER BY key",
        )?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let message = MessageId::from_bytes(row.get(0)?);
            let parent = deleted.live(id(row.get(1)?));
            out.parents.insert(message, parent);
            out.children.entry(parent).or_default().push(message);
            if let Some(role) = row.get_ref(2)?.as_str().ok().and_then(columns::read_word) {
                out.roles.insert(message, role);
            }
        }
        Ok(out)
    }

    /// The messages of the user's and the replies that have alternatives, with those, the oldest first. Where a
    /// version of a reply was deleted, what followed it stands beside the other versions.
    pub(super) fn siblings(self) -> Vec<Vec<MessageId>> {
        let is_shown =
            |id: &&MessageId| matches!(self.role(**id), Some(Role::User | Role::Assistant));
        let groups =
            self.children.values().map(|all| all.iter().filter(is_shown).copied().collect());
        groups.filter(|all: &Vec<_>| all.len() > 1).collect()
    }

    pub(super) fn head(&self) -> Option<MessageId> {
        self.head
    }

    pub(super) fn has(&self, message: MessageId) -> bool {
        self.parents.contains_key(&message)
    }

    pub(super) fn parent(&self, message: MessageId) -> Option<MessageId> {
        self.parents.get(&message).copied().flatten()
    }

    pub(super) fn children(&self, message: Option<MessageId>) -> &[MessageId] {
        self.children.get(&message).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn role(&self, message: MessageId) -> Option<Role> {
        self.roles.get(&message).copied()
    }

    /// The first message of the reply that a message is in, with its calls and their results; of others
    /// the message itself.
    pub(super) fn first_of_reply(&self, message: MessageId) -> MessageId {
        let is_reply = |id| matches!(self.role(id), Some(Role::Assistant | Role::Tool));
        let mut first = message;
        // A damaged file could hold a ring.
        for _ in 0..self.parents.len() {
            match self.parent(first).filter(|above| is_reply(first) && is_reply(*above)) {
                Some(above) => first = above,
                None => break,
            }
        }
        first
    }

    /// The nearest of a message and those above it of which this holds.
    pub(super) fn nearest_above(
        &self,
        message: MessageId,
        holds: impl Fn(MessageId) -> bool,
    ) -> Option<MessageId> {
        let mut at = Some(message);
        // A damaged file could hold a ring.
        for _ in 0..=self.parents.len() {
            match at {
                Some(id) if !holds(id) => at = self.parent(id),
                found => return found,
            }
        }
        None
    }

    /// A message and all below it, up to those that `stops` says.
    pub(super) fn below(
        &self,
        message: MessageId,
        stops: impl Fn(MessageId) -> bool,
    ) -> Vec<MessageId> {
        let (mut found, mut at) = (vec![message], 0);
        let mut known = HashSet::from([message]);
        while let Some(id) = found.get(at).copied() {
            let below = self.children(Some(id)).iter().copied();
            found.extend(below.filter(|below| !stops(*below) && known.insert(*below)));
            at += 1;
        }
        found
    }

    /// Where the newest branch through this message ends; none where it is in the shown one already,
    /// or there is no such message.
    pub(super) fn end_of(&self, message: MessageId) -> Option<MessageId> {
        let is_shown = |head| self.nearest_above(head, |id| id == message).is_some();
        if self.head.is_some_and(is_shown) {
            return None;
        }
        self.has(message).then(|| self.newest_below(message))
    }

    /// Where the newest branch below a message ends.
    pub(super) fn newest_below(&self, message: MessageId) -> MessageId {
        let mut end = message;
        for _ in 0..self.parents.len() {
            match self.children(Some(end)).last() {
                Some(next) => end = *next,
                None => break,
            }
        }
        end
    }
}
