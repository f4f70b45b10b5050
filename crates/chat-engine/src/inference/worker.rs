//! Runs the thread that computes with one model: all its conversations, one evaluation after
//! another.

mod reading;
mod step;

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;

use self::reading::Reading;
use super::context::Context;
use super::picker::Picker;
use super::slot::{RunningJob, Slot};
use super::{Job, JobEvent, Limits, Order, embed, exact, vocabulary};
use crate::draft::{Costs, Drafts};
use crate::failure::Failure;
use crate::prompt_cache::CachedPrefix;

/// So long nobody who waits is left without a sign of life.
const PULSE: Duration = Duration::from_secs(5);

/// Computes until nobody can order anything any more, or it is given up.
pub(super) fn run(
    backend: &LlamaBackend,
    model: &LlamaModel,
    limits: Limits,
    orders: &Receiver<Order>,
    give_up: &AtomicBool,
) {
    let mut worker = Worker {
        backend,
        model,
        limits,
        context: None,
        slots: Vec::new(),
        waiting: VecDeque::new(),
        batch: LlamaBatch::new(reading::MOST + limits.slots as usize, 1),
        reading: Reading::default(),
        costs: Costs::default(),
        drafts: !model.is_recurrent() && !model.is_hybrid(),
        reach: None,
        clock: 0,
        pulse: Instant::now(),
    };
    while !give_up.load(Ordering::Relaxed) {
        let idle = worker.waiting.is_empty() && worker.is_idle();
        let order = if idle {
            match orders.recv() {
                Ok(order) => Some(order),
                Err(_) => return,
            }
        } else {
            match orders.try_recv() {
                Ok(order) => Some(order),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return,
            }
        };
        match order {
            Some(Order::Write(job)) => worker.waiting.push_back(Waiting { job, told: false }),
            Some(Order::Embed { texts, answer }) => {
                let given_up = || answer.is_closed() || give_up.load(Ordering::Relaxed);
                let embedded = embed::embed(backend, model, limits, &texts, &mut || {
                    worker.give_sign();
                    given_up()
                });
                // Who asked may have gone.
                let _ = answer.send(embedded);
            }
            Some(Order::End) => return,
            None => {
                worker.serve();
                worker.step();
                worker.give_sign();
            }
        }
    }
}

/// A job for which there was no place yet.
struct Waiting {
    job: Box<Job>,
    /// Whether it knows that others are answered first.
    told: bool,
}

/// A memory with a window of so many tokens.
pub(super) fn params(limits: Limits, window: u32) -> LlamaContextParams {
    LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(window))
        .with_n_batch(reading::MOST as u32 + limits.slots)
        .with_n_ubatch(reading::MOST as u32)
        .with_n_seq_max(limits.slots)
        .with_n_threads(limits.threads)
        .with_n_threads_batch(limits.threads)
        .with_no_perf(true)
}

struct Worker<'a> {
    backend: &'a LlamaBackend,
    model: &'a LlamaModel,
    limits: Limits,
    context: Option<Context<'a>>,
    slots: Vec<Slot>,
    waiting: VecDeque<Waiting>,
    batch: LlamaBatch<'static>,
    /// Tells how many tokens of prompts one evaluation takes.
    reading: Reading,
    costs: Costs,
    /// Whether drafts are tried: only where a memory can be taken back to before the wrong ones.
    drafts: bool,
    /// Up to how many tokens in memory they change nothing, once that was asked.
    reach: Option<usize>,
    clock: u64,
    /// When the last sign of life was given.
    pulse: Instant,
}

impl Worker<'_> {
    fn is_idle(&self) -> bool {
        self.slots.iter().all(|slot| slot.at_work.is_none())
    }

    /// Tells all who wait now and then that something is done: what is held back to see what it
    /// becomes, and what waits for others, is silent for minutes.
    fn give_sign(&mut self) {
        if self.pulse.elapsed() < PULSE {
            return;
        }
        self.pulse = Instant::now();
        let at_work = self.slots.iter().filter_map(|slot| slot.at_work.as_ref());
        for work in at_work {
            work.tell(JobEvent::Working);
        }
        for waiting in &self.waiting {
            // Who has gone is seen when it is its turn.
            let _ = waiting.job.said.send(JobEvent::Queued);
        }
    }

    /// Begins what waits, as far as there is a place for it, and tells the others that they wait.
    fn serve(&mut self) {
        self.begin_waiting();
        for waiting in self.waiting.iter_mut().filter(|waiting| !waiting.told) {
            waiting.told = true;
            // Who has gone is seen when it is its turn.
            let _ = waiting.job.said.send(JobEvent::Queued);
        }
    }

    /// Begins what waits, as far as there is a place for it, in the order in which it came.
    fn begin_waiting(&mut self) {
        for slot in &mut self.slots {
            if slot.at_work.as_ref().is_some_and(RunningJob::is_given_up) {
                slot.at_work = None;
            }
        }
        while let Some(Waiting { job, .. }) = self.waiting.front() {
            if job.said.is_closed() {
                self.waiting.pop_front();
                continue;
            }
            if self.window() < job.window {
                if !self.is_idle() {
                    return;
                }
                if let Err(failure) = self.open(job.window) {
                    self.refuse(failure);
                    continue;
                }
            }
            if self.slots.iter().all(|slot| slot.at_work.is_some()) {
                return;
            }
            let Some(Waiting { job, .. }) = self.waiting.pop_front() else { return };
            let said = job.said.clone();
            if let Err(failure) = self.begin(job) {
                let _ = said.send(JobEvent::Failed(failure));
            }
        }
    }

    fn refuse(&mut self, failure: Failure) {
        if let Some(Waiting { job, .. }) = self.waiting.pop_front() {
            let _ = job.said.send(JobEvent::Failed(failure));
        }
    }

    /// The window of the memory at hand, in tokens.
    fn window(&self) -> u32 {
        self.context.as_ref().map_or(0, |context| context.n_ctx())
    }

    /// What of it one conversation has.
    fn place(&self) -> usize {
        (self.window() / self.limits.slots) as usize
    }

    /// Makes a memory with a window of so many tokens. What was known is forgotten.
    fn open(&mut self, window: u32) -> Result<(), Failure> {
        self.context = None;
        self.slots.clear();
        let params = params(self.limits, window);
        let context = Context::new(self.model, self.backend, params);
        let context = context.map_err(|error| Failure::Compute(error.to_string()))?;
        self.context = Some(context);
        self.slots.resize_with(self.limits.slots as usize, Slot::default);
        Ok(())
    }

    /// Begins a job in the place that knows most of it.
    fn begin(&mut self, job: Box<Job>) -> Result<(), Failure> {
        let mut picker = Picker::new(self.model, &job.sampling, job.grammar.as_ref())?;
        let reach = self.reach(&job);
        let prompt = job.prompt.as_str();
        let free = self.slots.iter().enumerate().filter(|(_, slot)| slot.at_work.is_none());
        let best = free.max_by_key(|(_, slot)| {
            (slot.cache.common(prompt).tokens, std::cmp::Reverse(slot.used))
        });
        let Some((at, slot)) = best else { return Err(Failure::Gone) };
        let mut common = slot.cache.common(prompt);
        let mut rest = vocabulary::read(self.model, &prompt[common.bytes..], common.tokens == 0);
        if rest.is_empty() {
            // A vocabulary may have no token for what is left, and something must be evaluated.
            common = CachedPrefix::default();
            rest = vocabulary::read(self.model, prompt, true);
        }
        if rest.is_empty() {
            return Err(Failure::Template("the model’s chat template says nothing".to_owned()));
        }
        let tokens = common.tokens + rest.len();
        let window = self.place();
        if tokens >= window {
            return Err(Failure::TooLong { tokens, window: window as u32 });
        }
        let (kept, rest) = if self.forget(at, common.tokens) {
            (common.tokens, rest)
        } else {
            // This model's memory cannot be taken back: all of it is read again.
            (0, vocabulary::read(self.model, prompt, true))
        };
        self.clock += 1;
        let slot = &mut self.slots[at];
        slot.used = self.clock;
        slot.cache.truncate(kept);
        let prompt = || slot.cache.ids().chain(rest.iter().map(|token| token.id));
        picker.accept_prompt(prompt());
        let drafts = Drafts::new(prompt(), job.drafts, reach);
        slot.at_work = Some(RunningJob::new(job, picker, drafts, rest, kept));
        Ok(())
    }

    /// Up to how many tokens in memory a job gets drafts.
    fn reach(&mut self, job: &Job) -> usize {
        if !self.drafts || job.drafts.most == 0 {
            return 0;
        }
        // What is left to chance is another text each time anyhow.
        if !job.sampling.is_repeatable() {
            return usize::MAX;
        }
        if self.reach.is_none() {
            self.reach = exact::reach(self.backend, self.model, self.limits, job);
        }
        self.reach.unwrap_or(0)
    }

    /// Takes a conversation's memory back to so many tokens. Gives whether that went.
    fn forget(&mut self, at: usize, tokens: usize) -> bool {
        let Some(context) = &mut self.context else { return false };
        if tokens > 0 && tokens == self.slots[at].cache.len() {
            return true;
        }
        if tokens > 0 && context.take_back(at as u32, tokens) {
            return true;
        }
        context.forget(at as u32);
        tokens == 0
    }
}
