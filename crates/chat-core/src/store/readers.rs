//! The threads that read. Each has its own connection, so that a long search holds up neither
//! the writer nor the opening of a chat. Started with the first question; bound to no runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rusqlite::InterruptHandle;
use tokio::sync::oneshot;

use super::desk::{Desk, Places, gone, join};
use super::fault::Outcome;
use crate::error::Result;

/// A search and the opening of a chat can go on at once.
const THREADS: usize = 2;

type Job = Box<dyn FnOnce(&mut Option<Desk>) + Send>;

/// The readers' door. Dropping it breaks off what they are reading and ends them.
#[derive(Debug)]
pub(super) struct Readers {
    places: Arc<Places>,
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
    pub(super) fn new(places: Arc<Places>) -> Self {
        let (threads, end) = (Mutex::default(), Arc::default());
        Self { places, jobs: OnceLock::new(), threads, end }
    }

    /// Runs a question on one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Desk) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let places = Arc::clone(&self.places);
        let end = Arc::clone(&self.end);
        let job: Job = Box::new(move |desk| {
            // Whoever asked may be gone: a search that was typed over.
            if !answer.is_closed() && !end.begun.load(Ordering::Acquire) {
                let result = ask(desk, &places, &end, question);
                let _ = answer.send(result.map_err(|fault| places.told(fault)));
            }
        });
        let _ = self.jobs.get_or_init(|| self.start()).send(job);
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    fn start(&self) -> mpsc::Sender<Job> {
        let (jobs, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let queue = Arc::clone(&queue);
            let work = move || {
                let mut desk = None;
                while let Some(job) = next(&queue) {
                    // A panic is a bug in one question; the next ones still want answers.
                    let _ = catch_unwind(AssertUnwindSafe(|| job(&mut desk)));
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

fn ask<T>(
    desk: &mut Option<Desk>,
    places: &Arc<Places>,
    end: &End,
    question: impl FnOnce(&Desk) -> Outcome<T>,
) -> Outcome<T> {
    let desk = match desk {
        Some(desk) => desk,
        none => {
            let connection = places.reading()?;
            locked(&end.open).push(connection.get_interrupt_handle());
            none.insert(Desk { connection, places: Arc::clone(places) })
        }
    };
    let transaction = desk.connection.unchecked_transaction()?;
    let result = question(desk);
    transaction.finish()?;
    result
}

fn next(queue: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    locked(queue).recv().ok()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
