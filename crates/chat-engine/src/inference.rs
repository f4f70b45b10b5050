//! Runs llama.cpp: a loaded model, and the thread that computes with it.

mod context;
mod embed;
mod exact;
mod grammar;
mod load;
mod picker;
mod slot;
mod vocabulary;
mod worker;

use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

pub use embed::LONGEST as LONGEST_TEXT;
pub use grammar::Grammar;
pub use load::{Facts, Loading, Progress, load};

use crate::draft::{DraftLimits, Drafts};
use crate::failure::Failure;
use crate::request::Sampling;

/// How much a model may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads to compute with.
    pub threads: i32,
    /// Conversations at once; they divide the window.
    pub slots: u32,
}

/// What a loaded model is asked.
#[derive(Debug)]
pub enum Order {
    /// To go on with a prompt.
    Write(Box<Job>),
    /// To embed texts.
    Embed {
        /// The texts.
        texts: Vec<String>,
        /// Gets a vector for each.
        answer: oneshot::Sender<Result<Embedded, Failure>>,
    },
    /// To end now, whatever is asked of it.
    End,
}

/// A prompt to go on with. It is given up when nobody listens any more.
#[derive(Debug)]
pub struct Job {
    /// The prompt, marked by [`Guard`](crate::prompt::guard::Guard).
    pub prompt: String,
    /// The window that is wanted, in tokens.
    pub window: u32,
    /// The most tokens to write.
    pub max_tokens: Option<u32>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// What the answer must follow.
    pub grammar: Option<Grammar>,
    /// Where it ends.
    pub stop: Vec<String>,
    /// How many tokens are drafted at once: what is said is the same.
    pub drafts: DraftLimits,
    /// Words of the model's own that are said all the same: they tell apart what it writes.
    pub spoken: Vec<&'static str>,
    /// Who listens.
    pub said: UnboundedSender<JobEvent>,
}

/// What comes of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// So much of the prompt is read.
    Read {
        /// Tokens that are read.
        done: usize,
        /// Tokens of the whole prompt.
        total: usize,
        /// Tokens that were known.
        cached: usize,
    },
    /// Others are answered first.
    Queued,
    /// Nothing to tell, and yet it computes for this job.
    Working,
    /// More text.
    Text(String),
    /// It is complete.
    End {
        /// Why.
        finish: Finish,
        /// How long it took.
        timings: Timings,
    },
    /// It failed.
    Failed(Failure),
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or met a stop text.
    Stop,
    /// The window or the wanted length was full.
    Length,
}

/// How long a reply took, as llama.cpp's server tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    /// Tokens of the prompt that were known.
    pub cache_n: usize,
    /// Tokens of the prompt that were read.
    pub prompt_n: usize,
    /// Milliseconds of reading.
    pub prompt_ms: f64,
    /// Tokens read a second.
    pub prompt_per_second: f64,
    /// Tokens that were written.
    pub predicted_n: usize,
    /// Milliseconds of writing.
    pub predicted_ms: f64,
    /// Tokens written a second.
    pub predicted_per_second: f64,
    /// Tokens that were drafted.
    pub draft_n: usize,
    /// Tokens of drafts that were right, and so written without an evaluation of their own.
    pub draft_n_accepted: usize,
}

impl Timings {
    fn new(
        cached: usize,
        read: (usize, Duration),
        written: (usize, Duration),
        drafts: &Drafts,
    ) -> Self {
        let speed = |(count, took): (usize, Duration)| match took.as_secs_f64() {
            0.0 => 0.0,
            seconds => count as f64 / seconds,
        };
        Self {
            cache_n: cached,
            prompt_n: read.0,
            prompt_ms: read.1.as_secs_f64() * 1e3,
            prompt_per_second: speed(read),
            predicted_n: written.0,
            predicted_ms: written.1.as_secs_f64() * 1e3,
            predicted_per_second: speed(written),
            draft_n: drafts.tried(),
            draft_n_accepted: drafts.accepted(),
        }
    }
}

/// Texts as vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// One for each text, of length 1.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens of all texts.
    pub tokens: usize,
}
