//! What is kept on disk: sessions, messages, the journal of replies being written, and the search
//! index. SQLite in WAL mode; one writer thread commits in groups.

mod record;

use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::message::{Fid, Message, MessageId};
use crate::settings::Folders;

pub use record::{
    Changes, Hit, NewSession, Page, Segment, SegmentKind, SessionPatch, SessionRecord,
};

/// The database. Cheap to clone; the writer thread ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Store {}

/// What [`Store::open`] gives.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// What the person should hear: a damaged file was kept aside.
    pub notice: Option<Error>,
}

/// How often a reply being written reaches the disk, at the latest.
pub const JOURNAL_INTERVAL: Duration = Duration::from_millis(500);

impl Store {
    /// Opens or makes the database. Blocks: call it before the window or off the main thread.
    ///
    /// # Errors
    /// `DatabaseNewer`, `ReadOnly`, `DiskFull`, `Storage`. A damaged file is no error: it is kept
    /// aside and named in [`Opened::notice`].
    pub fn open(folders: &Folders) -> Result<Opened> {
        let _ = folders;
        todo!()
    }

    /// Makes a session with its first messages, in one commit, and claims it for this process.
    /// The fid is the local start time, made unique.
    pub async fn create(
        &self,
        new: NewSession,
        messages: Vec<Arc<Message>>,
    ) -> Result<SessionRecord> {
        let _ = (new, messages);
        todo!()
    }

    /// Claims a session for writing by this process.
    ///
    /// # Errors
    /// `SessionInUse` where a living process has it, `SessionNotFound`.
    pub async fn claim(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// Gives a claimed session up.
    pub async fn release(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// Adds whole messages (indexed for search at once) or the beginnings of replies, and sets the
    /// head. Durable when it returns.
    pub async fn append(
        &self,
        fid: &Fid,
        messages: Vec<Arc<Message>>,
        head: MessageId,
    ) -> Result<()> {
        let _ = (fid, messages, head);
        todo!()
    }

    /// Appends what arrived of a reply. Durable when it returns; segments of one message must be
    /// given in order.
    pub async fn journal(&self, segments: Vec<Segment>) -> Result<()> {
        let _ = segments;
        todo!()
    }

    /// Ends a reply: stores its final form, drops its journal, indexes it, touches the session.
    pub async fn fold(&self, fid: &Fid, message: Arc<Message>) -> Result<()> {
        let _ = (fid, message);
        todo!()
    }

    /// All sessions that are not deleted, newest first by last activity.
    pub async fn sessions(&self) -> Result<Vec<SessionRecord>> {
        todo!()
    }

    /// One session.
    pub async fn session(&self, fid: &Fid) -> Result<SessionRecord> {
        let _ = fid;
        todo!()
    }

    /// Changes what is stored about a session, and gives the result.
    pub async fn patch(&self, fid: &Fid, patch: SessionPatch) -> Result<SessionRecord> {
        let _ = (fid, patch);
        todo!()
    }

    /// A page of the shown branch: the `limit` messages before `before`, or the last ones.
    /// A reply being written by another process comes with what its journal holds.
    pub async fn page(&self, fid: &Fid, before: Option<MessageId>, limit: usize) -> Result<Page> {
        let _ = (fid, before, limit);
        todo!()
    }

    /// Marks a session deleted; [`restore`](Self::restore) takes that back until it is purged.
    pub async fn delete(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// Takes a deletion back.
    pub async fn restore(&self, fid: &Fid) -> Result<SessionRecord> {
        let _ = fid;
        todo!()
    }

    /// Removes deleted sessions for good: those deleted longer ago than `age`.
    pub async fn purge(&self, age: Duration) -> Result<()> {
        let _ = age;
        todo!()
    }

    /// Sessions whose title or messages hold the text (trigrams: from three characters on; shorter
    /// ones are looked for in titles alone), best first.
    pub async fn search(&self, text: &str, limit: usize) -> Result<Vec<Hit>> {
        let _ = (text, limit);
        todo!()
    }

    /// Ends the replies whose writers are dead as interrupted, folding what their journals hold.
    /// Gives the sessions that it changed.
    pub async fn recover(&self) -> Result<Vec<Fid>> {
        todo!()
    }

    /// What other processes changed, as it is noticed.
    pub fn changes(&self) -> Changes {
        todo!()
    }

    /// Waits until all that was handed over is on disk.
    pub async fn flush(&self) -> Result<()> {
        todo!()
    }
}
