//! The threads that read. Each has its own connection, so that a long search holds up neither
//! the writer nor the opening of a chat. Started with the first question; bound to no runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::oneshot;

use super::desk::{Desk, Places, gone};
use super::fault::Outcome;
use crate::error::Result;

/// A search and the opening of a chat can go on at once.
const THREADS: usize = 2;

type Job = Box<dyn FnOnce(&mut Option<Desk>) + Send>;
type Queue = Arc<Mutex<mpsc::Receiver<Job>>>;

/// The readers' door. The threads end when it is dropped.
#[derive(Debug)]
pub(super) struct Readers {
    places: Arc<Places>,
    jobs: OnceLock<mpsc::Sender<Job>>,
}

impl Readers {
    /// Starts nothing yet.
    pub(super) fn new(places: Arc<Places>) -> Self {
        Self { places, jobs: OnceLock::new() }
    }

    /// Runs a question on one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Desk) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let places = Arc::clone(&self.places);
        let job: Job = Box::new(move |desk| {
            // Whoever asked may be gone: a search that was typed over.
            if !answer.is_closed() {
                let result = ask(desk, &places, question).map_err(|fault| places.told(fault));
                let _ = answer.send(result);
            }
        });
        let _ = self.jobs.get_or_init(start).send(job);
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

fn ask<T>(
    desk: &mut Option<Desk>,
    places: &Arc<Places>,
    question: impl FnOnce(&Desk) -> Outcome<T>,
) -> Outcome<T> {
    let desk = match desk {
        Some(desk) => desk,
        none => none.insert(Desk { connection: places.reading()?, places: Arc::clone(places) }),
    };
    let transaction = desk.connection.unchecked_transaction()?;
    let result = question(desk);
    transaction.finish()?;
    result
}

fn start() -> mpsc::Sender<Job> {
    let (jobs, queue) = mpsc::channel();
    let queue: Queue = Arc::new(Mutex::new(queue));
    for _ in 0..THREADS {
        let queue = Arc::clone(&queue);
        let started =
            std::thread::Builder::new().name("store-reader".to_owned()).spawn(move || {
                let mut desk = None;
                while let Some(job) = next(&queue) {
                    // A panic is a bug in one question; the next ones still want answers.
                    let _ = catch_unwind(AssertUnwindSafe(|| job(&mut desk)));
                }
            });
        if let Err(error) = started {
            tracing::error!("no thread to read with: {error}");
        }
    }
    jobs
}

fn next(queue: &Queue) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
