//! Runs the threads that read. Each has its own connection, so that a long search holds up neither
//! the writer nor the opening of a chat. Started with the first question; bound to no runtime. A
//! question that nobody waits for any more is broken off.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rusqlite::InterruptHandle;
use tokio::sync::oneshot;

use super::db_handle::{DbHandle, StorePaths, gone, join};
use super::fault::Outcome;
use crate::error::Result;

/// A search and the opening of a chat can go on at once.
const THREADS: usize = 2;

type Job = Box<dyn FnOnce(&mut Option<DbHandle>) + Send>;

/// What breaks a question off; none before it is at work, and none when it is done.
type AtWork = Arc<Mutex<Option<InterruptHandle>>>;

/// The readers' door. Dropping it breaks off what they are reading and ends them.
#[derive(Debug)]
pub(super) struct Readers {
    paths: Arc<StorePaths>,
    jobs: OnceLock<mpsc::Sender<Job>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    end: Arc<End>,
}

/// How reading is broken off.
#[derive(Default)]
struct End {
    begun: AtomicBool,
    open: Mutex<Vec<InterruptHandle>>,
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("End").field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl Readers {
    /// Starts nothing yet.
    pub(super) fn new(paths: Arc<StorePaths>) -> Self {
        let (threads, end) = (Mutex::default(), Arc::default());
        Self { paths, jobs: OnceLock::new(), threads, end }
    }

    /// Runs a question on one state of the database. Dropping the future breaks it off.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&DbHandle) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let at_work = AtWork::default();
        let mut asker = Asker { answered, at_work: Arc::clone(&at_work) };
        let paths = Arc::clone(&self.paths);
        let end = Arc::clone(&self.end);
        let job: Job = Box::new(move |db| {
            // Whoever asked may be gone: a search that was typed over.
            let wanted = || !answer.is_closed() && !end.begun.load(Ordering::Acquire);
            if wanted() {
                let result = ask(db, &paths, &end, &at_work, wanted, question);
                if let Some(result) = result.transpose() {
                    let _ = answer.send(result.map_err(|fault| paths.report(fault)));
                }
            }
        });
        let _ = self.jobs.get_or_init(|| self.start()).send(job);
        (&mut asker.answered).await.unwrap_or_else(|_| Err(gone()))
    }

    fn start(&self) -> mpsc::Sender<Job> {
        let (jobs, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let queue = Arc::clone(&queue);
            let work = move || {
                let mut db = None;
                while let Some(job) = next(&queue) {
                    // A panic is a bug in one question; the next ones still want answers.
                    let _ = catch_unwind(AssertUnwindSafe(|| job(&mut db)));
                }
            };
            match std::thread::Builder::new().name("store-reader".to_owned()).spawn(work) {
                Ok(thread) => locked(&self.threads).push(thread),
                Err(error) => tracing::error!("no thread to read with: {error}"),
            }
        }
        jobs
    }
}

impl Drop for Readers {
    /// Waits for the threads: the last connection that closes brings the log into the database,
    /// and must be the writer's.
    fn drop(&mut self) {
        self.end.begun.store(true, Ordering::Release);
        drop(self.jobs.take());
        for open in locked(&self.end.open).iter() {
            open.interrupt();
        }
        locked(&self.threads).drain(..).for_each(join);
    }
}

/// Who waits for an answer. Gone before it came, the question is broken off.
struct Asker<T> {
    answered: oneshot::Receiver<Result<T>>,
    at_work: AtWork,
}

impl<T> Drop for Asker<T> {
    fn drop(&mut self) {
        self.answered.close();
        if let Some(reading) = locked(&self.at_work).take() {
            reading.interrupt();
        }
    }
}

/// Gives none where nobody wants to know any more.
fn ask<T>(
    db: &mut Option<DbHandle>,
    paths: &Arc<StorePaths>,
    end: &End,
    at_work: &AtWork,
    wanted: impl Fn() -> bool,
    question: impl FnOnce(&DbHandle) -> Outcome<T>,
) -> Outcome<Option<T>> {
    let db = match db {
        Some(db) => db,
        none => {
            let connection = paths.reading()?;
            locked(&end.open).push(connection.get_interrupt_handle());
            none.insert(DbHandle { connection, paths: Arc::clone(paths) })
        }
    };
    let transaction = db.connection.unchecked_transaction()?;
    let result = {
        // SQLite forgets an interruption when no statement runs. With this one open it also stops
        // what the question begins after it.
        let mut open = db.connection.prepare_cached("VALUES (1), (2)")?;
        let mut open = open.query([])?;
        open.next()?;
        *locked(at_work) = Some(db.connection.get_interrupt_handle());
        let result = wanted().then(|| question(db)).transpose();
        // The next question is another's.
        *locked(at_work) = None;
        result
    };
    transaction.finish()?;
    result
}

fn next(queue: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    locked(queue).recv().ok()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;
    use crate::settings::Folders;

    /// Counts without end.
    const ENDLESS: &str =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";

    fn count(db: &DbHandle, sql: &str) -> Outcome<Option<i64>> {
        db.find(sql, [], |row| row.get(0))
    }

    #[tokio::test]
    async fn a_question_that_nobody_waits_for_frees_its_reader() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Folders::below(folder.path())).unwrap().store;
        for _ in 0..2 * THREADS {
            let (begun, at_work) = oneshot::channel();
            let asked = store.inner.readers.read(|db| {
                let _ = begun.send(());
                count(db, ENDLESS)
            });
            tokio::select! {
                biased;
                _ = asked => panic!("it has no end"),
                at_work = at_work => at_work.unwrap(),
            }
        }
        let answer = store.inner.readers.read(|db| count(db, "SELECT 7")).await;
        assert_eq!(answer.unwrap(), Some(7));
    }

    #[tokio::test]
    async fn what_it_begins_after_it_was_broken_off_is_stopped_too() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Folders::below(folder.path())).unwrap().store;
        let (begun, at_work) = oneshot::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let (done, ended) = oneshot::channel();
        let asked = store.inner.readers.read(move |db| {
            let _ = begun.send(());
            let _ = may_go_on.recv();
            let _ = done.send(count(db, ENDLESS).is_err());
            Ok(())
        });
        tokio::select! {
            biased;
            _ = asked => panic!("it waits"),
            at_work = at_work => at_work.unwrap(),
        }
        drop(go_on);
        assert!(ended.await.unwrap());
    }
}
