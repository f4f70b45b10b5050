//! The one thread that writes. It takes all that waits, runs it in one transaction, and answers
//! when that is on disk: many waiting operations cost one sync.

mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::{oneshot, watch};

use self::work::Work;
use super::changes::Signal;
use super::db_handle::{DbHandle, gone, join};
use super::fault::{Fault, Outcome};
use crate::error::{Error, Kind, Result};

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
    CheckOtherProcesses,
    /// Something that runs outside a transaction.
    OutsideTransaction(OutsideTransaction),
}

type OutsideTransaction = Box<dyn FnOnce(&mut DbHandle) -> bool + Send>;

/// An operation with whoever waits for it. It may run twice: when the group that it was part of
/// could not be committed, it is tried alone.
trait Operation: Send {
    /// Runs inside the transaction and keeps the result.
    fn run(&mut self, db: &DbHandle);
    /// What went wrong, if it did.
    fn fault(&self) -> Option<&Fault>;
    /// Answers with the kept result, or with why it did not reach the disk.
    fn answer(self: Box<Self>, db: &DbHandle, lost: Option<&Error>);
}

struct Waiting<F, T> {
    operation: F,
    result: Option<Outcome<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl<F, T> Operation for Waiting<F, T>
where
    F: Fn(&DbHandle) -> Outcome<T> + Send,
    T: Send,
{
    fn run(&mut self, db: &DbHandle) {
        self.result = Some(isolated(db, &self.operation));
    }

    fn fault(&self) -> Option<&Fault> {
        self.result.as_ref().and_then(|result| result.as_ref().err())
    }

    fn answer(self: Box<Self>, db: &DbHandle, lost: Option<&Error>) {
        let result = match (self.result, lost) {
            (Some(Err(fault)), _) => Err(db.paths.report(fault)),
            (_, Some(error)) => Err(error.clone()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(gone()),
        };
        // Nobody may be waiting any more: what was written stays written.
        let _ = self.answer.send(result);
    }
}

/// Runs an operation so that its failure, or panic, takes back its own changes alone.
fn isolated<T>(db: &DbHandle, operation: impl Fn(&DbHandle) -> Outcome<T>) -> Outcome<T> {
    db.run("SAVEPOINT operation", [])?;
    let result = catch_unwind(AssertUnwindSafe(|| operation(db))).unwrap_or_else(|_| {
        Err(Error::new(Kind::Internal).with_detail("an operation of the store panicked").into())
    });
    // SQLite itself may have ended the transaction, with all savepoints, on a full disk.
    if db.connection.is_autocommit() {
        return result.and(Err(Error::new(Kind::Storage).with_detail("transaction lost").into()));
    }
    if result.is_err() {
        db.run("ROLLBACK TO operation", [])?;
    }
    db.run("RELEASE operation", [])?;
    result
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(db: DbHandle, signal: Signal) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let commits = Arc::new(AtomicU64::new(0));
        let (told, others) = watch::channel(());
        let mut work = Work::new(db, signal, Arc::clone(&commits), told);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || work.run(&queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), commits, others })
    }

    /// Hands an operation over and waits until it is on disk. It is done even when nobody waits.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        operation: impl Fn(&DbHandle) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { operation, result: None, answer };
        self.hand_over(Job::Operation(Box::new(waiting)));
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Runs something between two groups and outside any transaction. Afterwards the change is
    /// reported as if another process had made it, if it succeeded.
    pub(super) async fn run_outside_transaction<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut DbHandle) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.hand_over(Job::OutsideTransaction(Box::new(move |db| {
            let done = work(db).map_err(|fault| db.paths.report(fault));
            let well = done.is_ok();
            let _ = answer.send(done);
            well
        })));
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Has the writer check whether another process has committed, and wake those who wait.
    pub(super) fn check_other_processes(&self) {
        self.hand_over(Job::CheckOtherProcesses);
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
        elsewhere(store.write(|db| {
            db.run("CREATE TABLE noted (x INTEGER NOT NULL UNIQUE)", [])?;
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
        let note = |n: i64| store.write(move |db| db.run("INSERT INTO noted VALUES (?1)", [n]));
        let results = while_busy(&store, (0..200).map(note).collect()).await;
        assert!(results.iter().all(|result| *result == Ok(1)));
        assert_eq!(store.commits() - before, 2, "the busy one's, and one for the 200");
    }

    #[tokio::test]
    async fn one_that_fails_does_not_fail_its_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let note = |n: i64| {
            store.write(move |db| {
                db.run("INSERT INTO noted VALUES (?1)", [n % 5])?;
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
        let noted = store.read(|db| db.find("SELECT sum(x) FROM noted", [], |row| row.get(0)));
        assert_eq!(noted.await.unwrap(), Some(1 + 2));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_done_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        let note = store.write(move |db| {
            let _ = wait.lock().unwrap().recv();
            db.run("INSERT INTO noted VALUES (1)", [])
        });
        assert!(futures_util::FutureExt::now_or_never(note).is_none());
        drop(go);
        store.flush().await.unwrap();
        let noted = store.read(|db| db.find("SELECT sum(x) FROM noted", [], |row| row.get(0)));
        assert_eq!(noted.await.unwrap(), Some(1));
    }
}
