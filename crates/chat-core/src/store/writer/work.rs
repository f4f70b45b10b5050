//! The writer's thread: commits what waits, and indexes older messages while nothing does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::{Job, Operation, isolated};
use crate::error::{Error, Kind, Result};
use crate::store::backups;
use crate::store::changes::Signal;
use crate::store::db_handle::DbHandle;
use crate::store::fault::{Fault, Outcome};
use crate::store::indexing;

/// The most operations that share a commit, so that the first of many is not held up for long.
const GROUP_LIMIT: usize = 256;

/// How long an older database's messages wait to be indexed: a start has other things to do.
const BEFORE_INDEXING: Duration = Duration::from_millis(500);

/// How long the thread rests between two steps of indexing, to leave the disk to others.
const BETWEEN_STEPS: Duration = Duration::from_millis(20);

/// How long it rests after a step that failed. Each one more that fails doubles that, up to the longest.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_mins(1);

/// The thread's own side.
pub(super) struct Work {
    db: DbHandle,
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
    /// Others were busy with the database, or the disk was full: another try comes then.
    Failed { rest: Duration, until: Instant },
    /// There are none, or the database cannot be used for that.
    Done,
}

impl Work {
    pub(super) fn new(
        db: DbHandle,
        signal: Signal,
        commits: Arc<AtomicU64>,
        told: watch::Sender<()>,
    ) -> Self {
        let seen = data_version(&db);
        Self { db, signal, commits, told, seen, indexing: Indexing::Unknown }
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
                    Job::CheckOtherProcesses => look = true,
                    Job::OutsideTransaction(work) => {
                        apart = Some(work);
                        break;
                    }
                }
                next = if group.len() < GROUP_LIMIT { queue.try_recv().ok() } else { None };
            }
            if look {
                self.check_other_processes();
            }
            if !group.is_empty() {
                self.commit(group);
            }
            if let Some(work) = apart
                && work(&mut self.db)
            {
                // An older database may have taken this one's place.
                self.indexing = Indexing::Unknown;
                self.signal.give();
                self.told.send_replace(());
            }
        }
        // A clean end: nobody need find out later that we are dead.
        let _ = crate::store::sessions::release_all(&self.db);
        self.signal.give();
    }

    /// Waits for what is to be done next. While there is nothing else, messages are indexed.
    fn next(&mut self, queue: &mpsc::Receiver<Job>) -> Option<Job> {
        loop {
            let rest = match self.indexing {
                Indexing::Done => return queue.recv().ok(),
                Indexing::Unknown => {
                    self.check_index();
                    continue;
                }
                Indexing::Waiting => BEFORE_INDEXING,
                Indexing::AtWork => BETWEEN_STEPS,
                Indexing::Failed { until, .. } => until.saturating_duration_since(Instant::now()),
            };
            match queue.recv_timeout(rest) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.index_some(),
            }
        }
    }

    fn check_index(&mut self) {
        let there_are = indexing::is_unfinished(&self.db);
        self.indexing = self.after(there_are, Indexing::Waiting);
    }

    /// Other processes are not notified: what they show does not change.
    fn index_some(&mut self) {
        if backups::is_at_work(&self.db.paths.backups) {
            // Until it is done nothing can leave the log, which would grow with each step.
            self.indexing = Indexing::Waiting;
            return;
        }
        let left = self.in_transaction(|db| isolated(db, indexing::step));
        self.indexing = self.after(left, Indexing::AtWork);
    }

    /// How indexing goes on: as `more` says where more is left. A database that is damaged is left
    /// alone; the next start repairs it.
    fn after(&self, left: Outcome<bool>, more: Indexing) -> Indexing {
        let fault = match left {
            Ok(true) => return more,
            Ok(false) => return Indexing::Done,
            Err(fault) => fault,
        };
        let is_passing = fault.is_passing();
        let error = self.db.paths.report(fault);
        if !is_passing {
            tracing::warn!("older messages are not indexed until the next start: {error}");
            return Indexing::Done;
        }
        if error.kind == Kind::DiskFull {
            self.make_room();
        }
        let rest = if let Indexing::Failed { rest, .. } = self.indexing {
            (2 * rest).min(LONGEST_RETRY)
        } else {
            tracing::warn!("older messages are not indexed for now: {error}");
            FIRST_RETRY
        };
        Indexing::Failed { rest, until: Instant::now() + rest }
    }

    fn in_transaction<T>(&self, work: impl FnOnce(&DbHandle) -> Outcome<T>) -> Outcome<T> {
        let connection = &self.db.connection;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(&self.db).and_then(|done| {
            connection.execute_batch("COMMIT")?;
            Ok(done)
        });
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        done
    }

    fn check_other_processes(&mut self) {
        let version = data_version(&self.db);
        if version != self.seen {
            self.seen = version;
            self.told.send_replace(());
        }
    }

    /// Commits a group, or, where that fails, each for itself: one that is too large for what
    /// is left of the disk does not take the others with it.
    fn commit(&mut self, mut group: Vec<Box<dyn Operation>>) {
        let before = self.db.connection.total_changes();
        let done = self.attempt(&mut group);
        let one_by_one = group.len() > 1 || is_full(&done);
        for mut operation in group {
            if one_by_one && done.is_err() {
                let lost = self.attempt_alone(&mut operation).err();
                operation.answer(&self.db, lost.as_ref());
            } else {
                operation.answer(&self.db, done.as_ref().err());
            }
        }
        if self.db.connection.total_changes() != before {
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
        if let Err(error) = self.db.connection.query_row(checkpoint, [], |_| Ok(())) {
            tracing::warn!("the log could not be shortened: {error}");
        }
    }

    fn attempt(&self, group: &mut [Box<dyn Operation>]) -> Result<()> {
        let told = |error: rusqlite::Error| self.db.paths.report(error.into());
        let connection = &self.db.connection;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(told)?;
        for operation in &mut *group {
            operation.run(&self.db);
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

fn data_version(db: &DbHandle) -> Option<i64> {
    db.connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::path::Path;

    use rusqlite::Connection;

    use super::*;
    use crate::message::{Message, Role};
    use crate::settings::Folders;
    use crate::store::db_handle::set_up;
    use crate::store::{NewSession, Store};

    /// A store with this message, and the work of a second writer, for which it is not indexed yet.
    async fn unindexed(folder: &Path, text: &str) -> (Store, Work) {
        let store = Store::open(&Folders::below(folder)).unwrap().store;
        let chat = NewSession::default();
        let said = Arc::new(Message::text(Role::User, None, text));
        store.create(chat, vec![said]).await.unwrap();
        // The store's own writer has looked already, and found none.
        let unindexed = "INSERT INTO unindexed SELECT max(key) + 1 FROM messages";
        store.write(move |db| db.run(unindexed, [])).await.unwrap();
        let paths = Arc::clone(&store.inner.paths);
        let connection = Connection::open(&paths.database).unwrap();
        set_up(&connection).unwrap();
        let signal = Signal::open(&paths.database);
        let db = DbHandle { connection, paths };
        (store, Work::new(db, signal, Arc::default(), watch::channel(()).0))
    }

    #[tokio::test]
    async fn nothing_is_indexed_while_a_backup_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (_store, work) = unindexed(folder.path(), &"many words ".repeat(200_000)).await;
        // As another process has it open.
        let store = Store::open(&Folders::below(folder.path())).unwrap().store;
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
        // A program that ended in the middle of a backup holds nothing up.
        std::fs::write(folder.path().join("data/backups/unfinished"), "").unwrap();
        work.index_some();
        assert_eq!(work.indexing, Indexing::AtWork);
        work.index_some();
        assert_eq!(work.indexing, Indexing::Done);
    }

    /// How long the work rests after a step that failed; none where it did not.
    fn rest(work: &Work) -> Option<Duration> {
        match work.indexing {
            Indexing::Failed { rest, .. } => Some(rest),
            _ => None,
        }
    }

    #[tokio::test]
    async fn indexing_that_another_process_holds_up_is_tried_again_and_less_often() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut work) = unindexed(folder.path(), "words").await;
        work.db.connection.busy_timeout(Duration::ZERO).unwrap();
        let other = Connection::open(&store.inner.paths.database).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut rests = Vec::new();
        for _ in 0..8 {
            work.index_some();
            rests.extend(rest(&work).map(|rest| rest.as_secs()));
        }
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 60, 60]);
        other.execute_batch("COMMIT").unwrap();
        work.index_some();
        assert_eq!(work.indexing, Indexing::AtWork);
    }

    #[tokio::test]
    async fn indexing_goes_on_once_a_full_disk_has_room() {
        let folder = tempfile::tempdir().unwrap();
        let words: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
        let (_store, mut work) = unindexed(folder.path(), &words.join(" ")).await;
        let pages = |work: &Work, most: i64| {
            let sql = format!("PRAGMA max_page_count = {most}");
            work.db.connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        // Fewer than there are: no page more is given.
        pages(&work, 1);
        work.index_some();
        assert_eq!(rest(&work), Some(FIRST_RETRY));
        pages(&work, 1_000_000);
        work.index_some();
        assert_eq!(work.indexing, Indexing::AtWork);
    }

    #[tokio::test]
    async fn the_next_try_comes_by_itself_and_ends_with_the_door() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut work) = unindexed(folder.path(), "words").await;
        let (jobs, queue) = mpsc::channel();
        work.indexing = Indexing::Failed { rest: FIRST_RETRY, until: Instant::now() };
        let database = &store.inner.paths.database;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let raw = Connection::open(database).unwrap();
                let is_left = || raw.query_row("SELECT 1 FROM unindexed", [], |_| Ok(())).is_ok();
                while is_left() {
                    std::thread::sleep(Duration::from_millis(2));
                }
                jobs.send(Job::CheckOtherProcesses).unwrap();
            });
            assert!(work.next(&queue).is_some());
        });
        // The door is closed now, which nobody waits a minute to hear.
        let until = Instant::now() + LONGEST_RETRY;
        work.indexing = Indexing::Failed { rest: LONGEST_RETRY, until };
        assert!(work.next(&queue).is_none());
        assert!(Instant::now() < until);
    }

    #[tokio::test]
    async fn what_will_not_pass_is_not_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let (_store, mut work) = unindexed(folder.path(), "words").await;
        let refused = "CREATE TRIGGER refused BEFORE UPDATE ON unindexed \
                       BEGIN SELECT RAISE(ABORT, 'on purpose'); END";
        work.db.run(refused, []).unwrap();
        work.index_some();
        assert_eq!(work.indexing, Indexing::Done);
    }
}
