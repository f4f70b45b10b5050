//! The writer's thread: commits what waits, and indexes older messages while nothing does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::watch;

use super::{Job, Operation, isolated};
use crate::error::{Error, Kind, Result};
use crate::store::changes::Signal;
use crate::store::desk::Desk;
use crate::store::fault::{Fault, Outcome};
use crate::store::indexing;

/// The most operations that share a commit, so that the first of many is not held up for long.
const GROUP_LIMIT: usize = 256;

/// How long an older database's messages wait to be indexed: a start has other things to do.
const BEFORE_INDEXING: Duration = Duration::from_millis(500);

/// How long the thread rests between two steps of indexing, to leave the disk to others.
const BETWEEN_STEPS: Duration = Duration::from_millis(20);

/// The thread's own side.
pub(super) struct Work {
    desk: Desk,
    signal: Signal,
    commits: Arc<AtomicU64>,
    told: watch::Sender<()>,
    /// SQLite's count of other connections' commits when we last looked.
    seen: Option<i64>,
    indexing: Indexing,
}

/// What the thread knows of messages that the word index lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Indexing {
    /// To be looked at.
    Unknown,
    /// There are some, to be begun with in a while.
    Waiting,
    /// Some were indexed, and there are more.
    AtWork,
    /// There are none, or the database does not let them be indexed now.
    Done,
}

impl Work {
    pub(super) fn new(
        desk: Desk,
        signal: Signal,
        commits: Arc<AtomicU64>,
        told: watch::Sender<()>,
    ) -> Self {
        let seen = data_version(&desk);
        Self { desk, signal, commits, told, seen, indexing: Indexing::Unknown }
    }

    /// Runs until the writer's door is closed and nothing waits any more.
    pub(super) fn run(&mut self, queue: &mpsc::Receiver<Job>) {
        while let Some(first) = self.next(queue) {
            let mut group = Vec::new();
            let (mut look, mut apart) = (false, None);
            let mut next = Some(first);
            while let Some(job) = next {
                match job {
                    Job::Operation(operation) => group.push(operation),
                    Job::LookAtOthers => look = true,
                    Job::Apart(work) => {
                        apart = Some(work);
                        break;
                    }
                }
                next = if group.len() < GROUP_LIMIT { queue.try_recv().ok() } else { None };
            }
            if look {
                self.look_at_others();
            }
            if !group.is_empty() {
                self.commit(group);
            }
            if let Some(work) = apart
                && work(&mut self.desk)
            {
                // An older database may have taken this one's place.
                self.indexing = Indexing::Unknown;
                self.signal.give();
                self.told.send_replace(());
            }
        }
        // A clean end: nobody need find out later that we are dead.
        let _ = crate::store::sessions::release_all(&self.desk);
        self.signal.give();
    }

    /// Waits for what is to be done next. While there is nothing else, messages are indexed.
    fn next(&mut self, queue: &mpsc::Receiver<Job>) -> Option<Job> {
        loop {
            let rest = match self.indexing {
                Indexing::Done => return queue.recv().ok(),
                Indexing::Unknown => {
                    self.look_for_unindexed();
                    continue;
                }
                Indexing::Waiting => BEFORE_INDEXING,
                Indexing::AtWork => BETWEEN_STEPS,
            };
            match queue.recv_timeout(rest) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.index_some(),
            }
        }
    }

    fn look_for_unindexed(&mut self) {
        let there_are = indexing::is_unfinished(&self.desk);
        let more = self.or_give_up(there_are);
        self.indexing = if more { Indexing::Waiting } else { Indexing::Done };
    }

    /// Other processes are not told: what they show does not change.
    fn index_some(&mut self) {
        if self.desk.places.backing_up.load(Ordering::Relaxed) {
            // Until it is done nothing can leave the log, which would grow with each step.
            self.indexing = Indexing::Waiting;
            return;
        }
        let left = self.in_transaction(|desk| isolated(desk, indexing::step));
        let more = self.or_give_up(left);
        self.indexing = if more { Indexing::AtWork } else { Indexing::Done };
    }

    /// Whether there is more to index. A database that is damaged or full is left alone.
    fn or_give_up(&self, left: Outcome<bool>) -> bool {
        left.unwrap_or_else(|fault| {
            let error = self.desk.places.told(fault);
            tracing::warn!("older messages are not indexed until the next start: {error}");
            false
        })
    }

    fn in_transaction<T>(&self, work: impl FnOnce(&Desk) -> Outcome<T>) -> Outcome<T> {
        let connection = &self.desk.connection;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(&self.desk).and_then(|done| {
            connection.execute_batch("COMMIT")?;
            Ok(done)
        });
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        done
    }

    fn look_at_others(&mut self) {
        let version = data_version(&self.desk);
        if version != self.seen {
            self.seen = version;
            self.told.send_replace(());
        }
    }

    /// Commits a group, or, where that fails, each for itself: one that is too large for what
    /// is left of the disk does not take the others with it.
    fn commit(&mut self, mut group: Vec<Box<dyn Operation>>) {
        let before = self.desk.connection.total_changes();
        let done = self.attempt(&mut group);
        let one_by_one = group.len() > 1 || is_full(&done);
        for mut operation in group {
            if one_by_one && done.is_err() {
                let lost = self.attempt_alone(&mut operation).err();
                operation.answer(&self.desk, lost.as_ref());
            } else {
                operation.answer(&self.desk, done.as_ref().err());
            }
        }
        if self.desk.connection.total_changes() != before {
            self.signal.give();
        }
    }

    /// Commits one operation. On a full disk the log gives back what it can spare: what it holds
    /// goes into the database, and what a lost transaction left in it goes.
    fn attempt_alone(&self, operation: &mut Box<dyn Operation>) -> Result<()> {
        let mut done = self.attempt(std::slice::from_mut(operation));
        if is_full(&done) {
            self.make_room();
            done = self.attempt(std::slice::from_mut(operation));
        }
        if is_full(&done) {
            self.make_room();
        }
        done
    }

    fn make_room(&self) {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        if let Err(error) = self.desk.connection.query_row(checkpoint, [], |_| Ok(())) {
            tracing::warn!("the log could not be shortened: {error}");
        }
    }

    fn attempt(&self, group: &mut [Box<dyn Operation>]) -> Result<()> {
        let told = |error: rusqlite::Error| self.desk.places.told(error.into());
        let connection = &self.desk.connection;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(told)?;
        for operation in &mut *group {
            operation.run(&self.desk);
            if operation.fault().is_some_and(Fault::is_full) {
                if !connection.is_autocommit() {
                    connection.execute_batch("ROLLBACK").map_err(told)?;
                }
                return Err(Kind::DiskFull.into());
            }
            if connection.is_autocommit() {
                return Err(Error::new(Kind::Storage).with_detail("transaction lost"));
            }
        }
        if let Err(error) = connection.execute_batch("COMMIT") {
            if !connection.is_autocommit() {
                let _ = connection.execute_batch("ROLLBACK");
            }
            return Err(told(error));
        }
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

fn is_full(done: &Result<()>) -> bool {
    done.as_ref().is_err_and(|error| error.kind == Kind::DiskFull)
}

fn data_version(desk: &Desk) -> Option<i64> {
    desk.connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::path::Path;

    use rusqlite::Connection;

    use super::*;
    use crate::message::{Message, Role};
    use crate::settings::Folders;
    use crate::store::desk::set_up;
    use crate::store::{NewSession, Store};

    /// A store with this message, and the work of a second writer, for which it is not indexed yet.
    async fn unindexed(folder: &Path, text: &str) -> (Store, Work) {
        let store = Store::open(&Folders::below(folder)).unwrap().store;
        let chat = NewSession {
            title: String::new(),
            agent: String::new(),
            model: None,
            thinking: crate::message::Thinking::default(),
            options: crate::message::Options::default(),
            project: None,
            mode: chat_permission::Mode::default(),
            rules: Vec::new(),
        };
        let said = Arc::new(Message::text(Role::User, None, text));
        store.create(chat, vec![said]).await.unwrap();
        // The store's own writer has looked already, and found none.
        let unindexed = "INSERT INTO unindexed SELECT max(key) + 1 FROM messages";
        store.write(move |desk| desk.run(unindexed, [])).await.unwrap();
        let places = Arc::clone(&store.inner.places);
        let connection = Connection::open(&places.database).unwrap();
        set_up(&connection).unwrap();
        let signal = Signal::open(&places.database);
        let desk = Desk { connection, places };
        (store, Work::new(desk, signal, Arc::default(), watch::channel(()).0))
    }

    #[tokio::test]
    async fn nothing_is_indexed_while_a_backup_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (store, work) = unindexed(folder.path(), &"many words ".repeat(200_000)).await;
        let (work, looks) = (RefCell::new(work), Cell::new(0));
        let made = store.back_up(&|| {
            let mut work = work.borrow_mut();
            work.index_some();
            assert_eq!(work.indexing, Indexing::Waiting);
            looks.set(looks.get() + 1);
            Some(Duration::ZERO)
        });
        assert!(made.unwrap().is_some() && looks.get() > 0);
        let mut work = work.into_inner();
        work.index_some();
        assert_eq!(work.indexing, Indexing::AtWork);
        work.index_some();
        assert_eq!(work.indexing, Indexing::Done);
    }
}
