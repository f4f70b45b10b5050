//! The one thread that writes. It takes all that waits, runs it in one transaction, and answers
//! when that is on disk: many waiting operations cost one sync.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::changes::Signal;
use super::desk::{Desk, gone, join};
use super::fault::{Fault, Outcome};
use super::indexing;
use crate::error::{Error, Kind, Result};

/// The most operations that share a commit, so that the first of many is not held up for long.
const GROUP_LIMIT: usize = 256;

/// How long an older database's messages wait to be indexed: a start has other things to do.
const BEFORE_INDEXING: Duration = Duration::from_millis(500);

/// How long the thread rests between two steps of indexing, to leave the disk to others.
const BETWEEN_STEPS: Duration = Duration::from_millis(20);

/// The writer's door. Dropping it ends the thread once all that waits is done.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
    others: watch::Receiver<()>,
}

enum Job {
    /// Something to write.
    Operation(Box<dyn Operation>),
    /// See whether another process has committed.
    LookAtOthers,
    /// Something that is no transaction of its own.
    Apart(Apart),
}

type Apart = Box<dyn FnOnce(&mut Desk) -> bool + Send>;

/// An operation with whoever waits for it. It may run twice: when the group that it was part of
/// could not be committed, it is tried alone.
trait Operation: Send {
    /// Runs inside the transaction and keeps the result.
    fn run(&mut self, desk: &Desk);
    /// What went wrong, if it did.
    fn fault(&self) -> Option<&Fault>;
    /// Answers with the kept result, or with why it did not reach the disk.
    fn answer(self: Box<Self>, desk: &Desk, lost: Option<&Error>);
}

struct Waiting<F, T> {
    operation: F,
    result: Option<Outcome<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl<F, T> Operation for Waiting<F, T>
where
    F: Fn(&Desk) -> Outcome<T> + Send,
    T: Send,
{
    fn run(&mut self, desk: &Desk) {
        self.result = Some(isolated(desk, &self.operation));
    }

    fn fault(&self) -> Option<&Fault> {
        self.result.as_ref().and_then(|result| result.as_ref().err())
    }

    fn answer(self: Box<Self>, desk: &Desk, lost: Option<&Error>) {
        let result = match (self.result, lost) {
            (Some(Err(fault)), _) => Err(desk.places.told(fault)),
            (_, Some(error)) => Err(error.clone()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(gone()),
        };
        // Nobody may be waiting any more: what was written stays written.
        let _ = self.answer.send(result);
    }
}

/// Runs an operation so that its failure, or panic, takes back its own changes alone.
fn isolated<T>(desk: &Desk, operation: impl Fn(&Desk) -> Outcome<T>) -> Outcome<T> {
    desk.run("SAVEPOINT operation", [])?;
    let result = catch_unwind(AssertUnwindSafe(|| operation(desk))).unwrap_or_else(|_| {
        Err(Error::new(Kind::Internal).with_detail("an operation of the store panicked").into())
    });
    // SQLite itself may have ended the transaction, with all savepoints, on a full disk.
    if desk.connection.is_autocommit() {
        return result.and(Err(Error::new(Kind::Storage).with_detail("transaction lost").into()));
    }
    if result.is_err() {
        desk.run("ROLLBACK TO operation", [])?;
    }
    desk.run("RELEASE operation", [])?;
    result
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(desk: Desk, signal: Signal) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let commits = Arc::new(AtomicU64::new(0));
        let (told, others) = watch::channel(());
        let mut work = Work {
            seen: data_version(&desk),
            desk,
            signal,
            commits: Arc::clone(&commits),
            told,
            indexing: Indexing::Unknown,
        };
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || work.run(&queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), commits, others })
    }

    /// Hands an operation over and waits until it is on disk. It is done even when nobody waits.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        operation: impl Fn(&Desk) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { operation, result: None, answer };
        self.hand_over(Job::Operation(Box::new(waiting)));
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Runs something between two groups and outside any transaction. What others changed is told
    /// afterwards as if another process had, where it went well.
    pub(super) async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.hand_over(Job::Apart(Box::new(move |desk| {
            let done = work(desk).map_err(|fault| desk.places.told(fault));
            let well = done.is_ok();
            let _ = answer.send(done);
            well
        })));
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Has the writer see whether another process has committed; it tells those who wait.
    pub(super) fn look_at_others(&self) {
        self.hand_over(Job::LookAtOthers);
    }

    /// Told of whenever another process has committed.
    pub(super) fn others(&self) -> watch::Receiver<()> {
        let mut others = self.others.clone();
        others.mark_unchanged();
        others
    }

    /// How many transactions were committed: to see that waiting operations share them.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    fn hand_over(&self, job: Job) {
        // Where the thread is gone the job is dropped, and whoever waits for it hears so.
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            join(thread);
        }
    }
}

/// The thread's own side.
struct Work {
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
    /// There are some, and nothing was done yet.
    Waiting,
    /// Some were indexed, and there are more.
    AtWork,
    /// There are none, or the database does not let them be indexed now.
    Done,
}

impl Work {
    fn run(&mut self, queue: &mpsc::Receiver<Job>) {
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
        let _ = super::sessions::release_all(&self.desk);
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
    use futures_util::future::join_all;

    use super::super::Store;
    use crate::error::Kind;
    use crate::settings::Folders;

    /// Holds the writer up while `handed_over` is being made, so that all of it waits at once.
    async fn while_busy<T>(store: &Store, handed_over: Vec<impl Future<Output = T>>) -> Vec<T> {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        let (began, begun) = tokio::sync::oneshot::channel();
        let began = std::sync::Mutex::new(Some(began));
        let busy = store.write(move |_| {
            if let Some(began) = began.lock().unwrap().take() {
                began.send(()).unwrap();
            }
            let _ = wait.lock().unwrap().recv();
            Ok(())
        });
        let mut all = Box::pin(join_all(handed_over));
        let (busy, rest) = tokio::join!(busy, async {
            begun.await.unwrap();
            // Handing over happens when they are first polled.
            assert!(futures_util::poll!(&mut all).is_pending());
            drop(go);
            all.await
        });
        busy.unwrap();
        rest
    }

    fn store(folder: &std::path::Path) -> Store {
        let store = Store::open(&Folders::below(folder)).unwrap().store;
        elsewhere(store.write(|desk| {
            desk.run("CREATE TABLE noted (x INTEGER NOT NULL UNIQUE)", [])?;
            Ok(())
        }))
        .unwrap();
        store
    }

    fn elsewhere<T>(future: impl Future<Output = T> + Send) -> T
    where
        T: Send,
    {
        std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
                })
                .join()
                .unwrap()
        })
    }

    #[tokio::test]
    async fn operations_that_wait_share_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let before = store.commits();
        let note = |n: i64| store.write(move |desk| desk.run("INSERT INTO noted VALUES (?1)", [n]));
        let results = while_busy(&store, (0..200).map(note).collect()).await;
        assert!(results.iter().all(|result| *result == Ok(1)));
        assert_eq!(store.commits() - before, 2, "the busy one's, and one for the 200");
    }

    #[tokio::test]
    async fn one_that_fails_does_not_fail_its_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let note = |n: i64| {
            store.write(move |desk| {
                desk.run("INSERT INTO noted VALUES (?1)", [n % 5])?;
                if n == 3 {
                    return Err(Kind::NothingToSend.into());
                }
                assert!(n != 4, "a panic in the middle, on purpose");
                Ok(())
            })
        };
        let results = while_busy(&store, (0..7).map(note).collect()).await;
        let kinds: Vec<_> = results.into_iter().map(|r| r.err().map(|e| e.kind)).collect();
        assert_eq!(
            kinds,
            [
                None,
                None,
                None,
                Some(Kind::NothingToSend),
                Some(Kind::Internal),
                Some(Kind::Storage),
                Some(Kind::Storage)
            ]
        );
        let noted = store.read(|desk| desk.find("SELECT sum(x) FROM noted", [], |row| row.get(0)));
        assert_eq!(noted.await.unwrap(), Some(1 + 2));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_done_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let note = store.write(|desk| desk.run("INSERT INTO noted VALUES (1)", []));
        assert!(futures_util::FutureExt::now_or_never(note).is_none());
        store.flush().await.unwrap();
        let noted = store.read(|desk| desk.find("SELECT sum(x) FROM noted", [], |row| row.get(0)));
        assert_eq!(noted.await.unwrap(), Some(1));
    }
}
