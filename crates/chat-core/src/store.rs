//! Stores sessions, messages, the journal of replies being written, and the search index on disk.
//! SQLite in WAL mode; one writer thread commits in groups.

mod agent_tree;
mod attachments;
mod backups;
mod branches;
mod changes;
mod columns;
mod db_handle;
mod deletion;
mod duplicate;
mod export;
mod fault;
mod import;
mod indexing;
mod journal;
mod memory;
mod message_deletion;
mod message_trash;
mod messages;
mod missing;
mod open;
mod owed_reports;
mod owner;
mod patch;
mod pattern;
mod readers;
mod record;
mod repair;
mod salvage;
mod schema;
mod search;
mod search_filter;
mod sessions;
mod survey;
mod trash;
mod waiting;
mod words;
mod writer;

use std::fs::File;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tempfile::TempDir;

use crate::error::{Error, Kind, Result};
use crate::message::{Fid, Message, MessageId, Queued};
use crate::settings::{Folders, disk};

pub use backups::{BACKUP_INTERVAL, Backup};
pub use changes::Changes;
pub use export::SessionExport;
pub use import::{ImportSource, NewImport};
pub use owed_reports::{OwedReport, ReportDelivery};
pub use pattern::Pattern;
pub use record::{
    Hit, NewSession, Page, SearchGap, SearchResults, Segment, SegmentKind, SessionPatch,
    SessionRecord, TrashedMessages, TrashedSession,
};
pub use search_filter::SearchFilter;
pub use waiting::WaitingPlace;

use db_handle::{DbHandle, StorePaths};
use fault::Outcome;
use readers::Readers;
use writer::Writer;

/// How long to wait for another process's commit. None takes nearly as long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The database. Cheap to clone; the writer thread ends when the last clone is dropped, which
/// waits for what was handed over.
///
/// Its methods may be awaited on any executor. What was handed over is done even when nobody
/// waits for it any more.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
    /// The store of temporary sessions, once there is one.
    memory: Arc<OnceLock<Store>>,
}

/// What the clones share. In the order in which it must end: the lock goes last.
#[derive(Debug)]
struct Inner {
    readers: Readers,
    writer: Option<Writer>,
    paths: Arc<StorePaths>,
    /// Held shared for as long as the database is open.
    lock: Option<File>,
    /// Where a database in memory has its files.
    folder: Mutex<Option<TempDir>>,
}

impl Inner {
    fn check_other_processes(&self) {
        if let Some(writer) = &self.writer {
            writer.check_other_processes();
        }
    }
}

/// What [`Store::open`] gives.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// What the person should hear: a damaged file was repaired (`DatabaseRepaired`) or held nothing
    /// that can be read (`DatabaseDamaged`), or the database can only be read (`ReadOnly`), and every change will fail with that.
    /// A repair is reported again until [`Store::notice_was_shown`].
    pub notice: Option<Error>,
    /// Earlier repairs that the person was not shown yet, oldest first.
    pub earlier: Vec<Error>,
}

impl Store {
    /// Opens or makes the database. Blocks: call it before the window or off the main thread.
    ///
    /// # Errors
    /// `DatabaseNewer`; `ReadOnly` where there is no database and none can be made; `DatabaseInUse`
    /// where one must be upgraded or repaired first; `DiskFull`, `Storage`. A damaged file is no
    /// error: it is repaired, or used as far as it can be read where another process has it.
    pub fn open(folders: &Folders) -> Result<Opened> {
        let open::Parts { paths, writer, lock, notice, earlier } = open::open(folders)?;
        let readers = Readers::new(Arc::clone(&paths));
        let inner = Arc::new(Inner { readers, writer, paths, lock, folder: Mutex::default() });
        Ok(Opened { store: Self { inner, memory: Arc::default() }, notice, earlier })
    }

    /// Makes a session with its first messages, in one commit, and claims it for this process.
    /// The fid is the local time of now, made unique. It begins with its first message and was last
    /// active with its last; without messages both are now.
    pub async fn create(
        &self,
        new: NewSession,
        messages: Vec<Arc<Message>>,
    ) -> Result<SessionRecord> {
        let begun = messages.first().map(|message| message.time);
        let active = messages.last().map(|message| message.time);
        self.create_at(new, messages, (begun, active)).await
    }

    /// The same with copies of earlier messages: it begins now, however old these are.
    pub async fn create_copy(
        &self,
        new: NewSession,
        messages: Vec<Arc<Message>>,
    ) -> Result<SessionRecord> {
        self.create_at(new, messages, (None, None)).await
    }

    /// Makes a session that began then and was last active then; without these, now.
    async fn create_at(
        &self,
        new: NewSession,
        messages: Vec<Arc<Message>>,
        (begun, active): (Option<jiff::Timestamp>, Option<jiff::Timestamp>),
    ) -> Result<SessionRecord> {
        self.for_new(&new)?
            .write(move |db| {
                let now = jiff::Timestamp::now();
                create(db, &new, &messages, (begun.unwrap_or(now), active.unwrap_or(now)))
            })
            .await
    }

    /// Claims a session for writing by this process. What a dead process left unfinished in it is
    /// ended as interrupted. Claiming one's own again is no error.
    ///
    /// # Errors
    /// `SessionInUse` where a living process has it, `SessionNotFound`.
    pub async fn claim(&self, fid: &Fid) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| sessions::own(db, &fid, false).map(|_| ())).await
    }

    /// Notes for other processes whether a claimed session waits for the user: what `asks` says of it when
    /// it is stored.
    ///
    /// # Errors
    /// The store's.
    pub async fn note_asks(
        &self,
        fid: &Fid,
        asks: impl Fn(&Fid) -> bool + Send + 'static,
    ) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| sessions::set_asks(db, &fid, asks(&fid))).await
    }

    /// Gives a claimed session up.
    pub async fn release(&self, fid: &Fid) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| sessions::release(db, &fid)).await
    }

    /// Adds whole messages (indexed for search at once) or the beginnings of replies, and sets the
    /// head. Durable when it returns. Claims the session if need be.
    ///
    /// # Errors
    /// `SessionInUse`, `SessionNotFound`, and the store's.
    pub async fn append(
        &self,
        fid: &Fid,
        messages: Vec<Arc<Message>>,
        head: MessageId,
    ) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| append(db, &fid, &messages, head)).await
    }

    /// Keeps a message that must wait until its session is free. Durable when it returns.
    pub async fn enqueue(&self, fid: &Fid, queued: Queued) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| waiting::put(db, sessions::key(db, &fid)?, &queued)).await
    }

    /// Forgets a message that waits. Says whether it waited still.
    pub async fn dequeue(&self, id: MessageId) -> Result<bool> {
        for store in self.all() {
            if store.write(move |db| waiting::remove(db, id)).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What waits in a session, in order.
    pub async fn waiting(&self, fid: &Fid) -> Result<Vec<Queued>> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| waiting::all(db, sessions::key(db, &fid)?)).await
    }

    /// Appends what arrived of a reply of a session that is not temporary. Durable when it returns; segments of
    /// one message must be given in order.
    pub async fn journal(&self, segments: Vec<Segment>) -> Result<()> {
        // Proves the tests: without the journal they must fail.
        if chat_sabotage::is_sabotaged("skip_journal") {
            return Ok(());
        }
        self.write(move |db| journal::append(db, &segments)).await
    }

    /// Ends a reply: stores its final form, drops its journal, indexes it, touches the session.
    /// Works for a deleted session too, so that restoring it loses nothing.
    pub async fn fold(&self, fid: &Fid, message: Arc<Message>) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid)
            .write(move |db| {
                let key = sessions::key(db, &fid)?;
                journal::fold(db, key, &message)?;
                sessions::touch(db, key, jiff::Timestamp::now())
            })
            .await
    }

    /// Takes back a reply that has begun and will never hold anything: what it answered is the head
    /// again.
    pub async fn withdraw(&self, fid: &Fid, reply: &Message) -> Result<()> {
        let (fid, reply, parent) = (fid.clone(), reply.id, reply.parent);
        self.of(&fid)
            .write(move |db| {
                let key = sessions::key(db, &fid)?;
                journal::withdraw(db, key, reply, parent)?;
                sessions::touch(db, key, jiff::Timestamp::now())
            })
            .await
    }

    /// All sessions that are not deleted, newest first by last activity.
    pub async fn sessions(&self) -> Result<Vec<SessionRecord>> {
        self.recent(usize::MAX).await
    }

    /// The newest of them.
    pub async fn recent(&self, limit: usize) -> Result<Vec<SessionRecord>> {
        let mut newest = Vec::new();
        for store in self.all() {
            newest.extend(store.read(move |db| sessions::newest(db, limit)).await?);
        }
        newest.sort_by_key(|record| std::cmp::Reverse(record.updated));
        newest.truncate(limit);
        Ok(newest)
    }

    /// One session.
    pub async fn session(&self, fid: &Fid) -> Result<SessionRecord> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| sessions::one(db, &fid)).await
    }

    /// Changes what is stored about a session, and gives the result. Needs no claim.
    pub async fn patch(&self, fid: &Fid, patch: SessionPatch) -> Result<SessionRecord> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| patch::patch(db, &fid, &patch)).await
    }

    /// A page of the shown branch: the `limit` messages before `before`, or the last ones.
    /// A reply being written comes with what its journal holds.
    pub async fn page(&self, fid: &Fid, before: Option<MessageId>, limit: usize) -> Result<Page> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| messages::page(db, &fid, before, limit)).await
    }

    /// The messages of the user's and the replies that have alternatives, with those, the oldest first.
    pub async fn siblings(&self, fid: &Fid) -> Result<Vec<Vec<MessageId>>> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| Ok(branches::Branches::read(db, &fid)?.siblings())).await
    }

    /// The last message of the shown branch that the model was sent as the user's. None where there is no such message.
    pub async fn last_asked(&self, fid: &Fid) -> Result<Option<MessageId>> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| branches::last_asked(db, &fid)).await
    }

    /// Where the newest branch through a message ends; none where it is in the shown one already,
    /// or there is no such message.
    pub async fn end_of_branch(&self, fid: &Fid, message: MessageId) -> Result<Option<MessageId>> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| Ok(branches::Branches::read(db, &fid)?.end_of(message))).await
    }

    /// Sessions that are not temporary and whose title or one of whose messages hold all words of the text, best first.
    /// Case does not count. Words of three characters and more are found within others, without their
    /// accents only where a word begins with them; shorter ones in messages by themselves; in scripts
    /// without spaces all are found anywhere. One or two signs by themselves are looked for in the newest
    /// messages alone.
    /// Dropping the future breaks the search off.
    pub async fn search(&self, text: &str, limit: usize) -> Result<SearchResults> {
        self.search_filtered(text, SearchFilter::default(), limit).await
    }

    /// The same among the sessions that pass a filter. Without a text these are all of them, newest first.
    pub async fn search_filtered(
        &self,
        text: &str,
        filter: SearchFilter,
        limit: usize,
    ) -> Result<SearchResults> {
        let text = text.to_owned();
        self.read(move |db| search::search(db, &text, &filter, limit)).await
    }

    /// Ends the replies whose writers are dead as interrupted, folding what their journals hold.
    /// Gives the sessions that it changed. Where nothing can be written there is nothing to do:
    /// such replies are shown as interrupted anyway.
    pub async fn recover(&self) -> Result<Vec<Fid>> {
        if self.inner.writer.is_none() {
            return Ok(Vec::new());
        }
        let recovered = self.write(journal::recover).await?;
        self.inner.paths.owners.clear_dead();
        Ok(recovered)
    }

    /// The user has seen the notices from opening the store: repairs are not reported again. Removes a file.
    ///
    /// # Errors
    /// `ReadOnly`, `Storage`: it is reported again.
    pub fn notice_was_shown(&self) -> Result<()> {
        let database = &self.inner.paths.database;
        repair::mark_reported(database).map_err(|error| disk::fault(database, &error))
    }

    /// What other processes changed, as it is noticed.
    pub fn changes(&self) -> Changes {
        let others = self.inner.writer.as_ref().map(Writer::others);
        Changes::new(others, &self.inner.paths.database, Arc::downgrade(&self.inner))
    }

    /// Waits until all that was handed over is on disk, or in memory.
    pub async fn flush(&self) -> Result<()> {
        for store in self.all().filter(|store| store.inner.writer.is_some()) {
            store.write(|_| Ok(())).await?;
        }
        Ok(())
    }

    /// How many transactions this process has committed since the store was opened.
    pub fn commits(&self) -> u64 {
        self.inner.writer.as_ref().map_or(0, Writer::commits)
    }

    async fn write<T: Send + 'static>(
        &self,
        operation: impl Fn(&DbHandle) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        match &self.inner.writer {
            Some(writer) => writer.write(operation).await,
            None => Err(Kind::ReadOnly { path: self.inner.paths.database.clone() }.into()),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&DbHandle) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        self.inner.readers.read(question).await
    }
}

/// Makes a session that began and was last active then.
fn create(
    db: &DbHandle,
    new: &NewSession,
    messages: &[Arc<Message>],
    (begun, active): (jiff::Timestamp, jiff::Timestamp),
) -> Outcome<SessionRecord> {
    let (key, fid) = sessions::insert(db, new, begun)?;
    for message in messages {
        messages::insert(db, key, message)?;
    }
    if let Some(last) = messages.last() {
        sessions::advance(db, key, last.id, active)?;
    }
    sessions::one(db, &fid)
}

fn append(db: &DbHandle, fid: &Fid, messages: &[Arc<Message>], head: MessageId) -> Outcome<()> {
    let key = sessions::own(db, fid, true)?;
    for message in messages {
        messages::insert(db, key, message)?;
    }
    let time = messages.iter().map(|message| message.time).max();
    sessions::advance(db, key, head, time.unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}
