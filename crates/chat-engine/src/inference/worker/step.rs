//! Runs one evaluation: a token of each answer and some of the prompts, or one answer and a draft of
//! how it goes on.

use std::time::{Duration, Instant};

use llama_cpp_2::token::LlamaToken;

use super::super::context::Evaluated;
use super::super::slot::Slot;
use super::{Worker, reading};
use crate::failure::Failure;

impl Worker<'_> {
    /// Evaluates what comes next, and takes what comes of it.
    pub(super) fn step(&mut self) {
        let window = self.place();
        let Some(context) = &mut self.context else { return };
        let batch = &mut self.batch;
        batch.clear();
        // Several answers share an evaluation as it is.
        let alone = self.slots.iter().filter(|slot| slot.at_work.is_some()).count() == 1;
        let mut room = self.reading.at_once(self.slots.iter().any(writes));
        let mut taken = vec![0; self.slots.len()];
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let Some(work) = &mut slot.at_work else { continue };
            work.output = None;
            let place = slot.cache.len();
            if let Some(next) = &work.next {
                let output = batch.n_tokens();
                if batch.add(LlamaToken(next.id), place as i32, &[at as i32], true).is_ok() {
                    work.output = Some(output);
                    taken[at] = 1;
                }
                let free = if alone { window.saturating_sub(place + 1) } else { 0 };
                let room = free.min(work.left().saturating_sub(1));
                for &token in work.drafts.propose(place + 1, room, &self.costs) {
                    let position = (place + taken[at]) as i32;
                    if batch.add(LlamaToken(token), position, &[at as i32], true).is_err() {
                        break;
                    }
                    taken[at] += 1;
                }
                continue;
            }
            for token in work.prompt[work.read..].iter().take(room) {
                let last = work.read + taken[at] + 1 == work.prompt.len();
                let output = batch.n_tokens();
                let position = (place + taken[at]) as i32;
                if batch.add(LlamaToken(token.id), position, &[at as i32], last).is_err() {
                    break;
                }
                if last {
                    work.output = Some(output);
                }
                taken[at] += 1;
            }
            room -= taken[at].min(room);
        }
        let tokens = batch.n_tokens();
        if tokens == 0 {
            return;
        }
        let begun = Instant::now();
        let at_work = self.slots.iter().filter_map(|slot| slot.at_work.as_ref());
        let listeners = at_work.map(|work| work.job.said.clone()).collect();
        match context.evaluate(batch, listeners) {
            Ok(Evaluated::All) => self.take(&taken, begun),
            Ok(Evaluated::Ended) => self.take_back(&taken),
            Err(error) => {
                tracing::error!(%error, "an evaluation failed");
                self.fail_all(&error.to_string());
            }
        }
    }

    /// Takes the memory back to what was known before an evaluation that was ended.
    fn take_back(&mut self, taken: &[usize]) {
        let Some(context) = &mut self.context else { return };
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let known = slot.cache.len();
            if taken[at] > 0 && (known == 0 || !context.take_back(at as u32, known)) {
                context.forget(at as u32);
                slot.cache.truncate(0);
            }
        }
    }

    /// What was evaluated is known now, and the next tokens are chosen.
    fn take(&mut self, taken: &[usize], begun: Instant) {
        self.learn(taken, begun.elapsed());
        let window = self.place();
        let alone = taken.iter().filter(|&&count| count > 0).count() == 1;
        let Some(context) = &mut self.context else { return };
        for (at, (slot, &count)) in self.slots.iter_mut().zip(taken).enumerate() {
            let Some(work) = &mut slot.at_work else { continue };
            let (mut outputs, writes) = (1, work.next.is_some());
            if let Some(next) = work.next.take() {
                slot.cache.push(&next);
                outputs = count;
            } else if count > 0 {
                for token in &work.prompt[work.read..work.read + count] {
                    slot.cache.push(token);
                }
                work.was_read(count);
            }
            let Some(output) = work.output else { continue };
            let mut right = 0;
            let mut over = loop {
                let token = work.picker.pick(context, output + right as i32);
                if right == 0 && writes && alone {
                    // A graphics card may only be done with the evaluation when its scores are asked for.
                    self.costs.wrote(outputs, begun.elapsed());
                }
                let drafted = work.drafts.accepts(right, token.0) && right + 1 < outputs;
                let room = window.saturating_sub(slot.cache.len() + 1);
                if work.take(self.model, token, room) {
                    break true;
                }
                let Some(next) = work.next.take_if(|_| drafted) else { break false };
                // It is in memory, and the scores of what follows it are there.
                slot.cache.push(&next);
                right += 1;
            };
            work.drafts.judge(right, &self.costs);
            if right + 1 < outputs && !context.take_back(at as u32, slot.cache.len()) {
                // Then this model said that it could what it cannot.
                self.drafts = false;
                context.forget(at as u32);
                slot.cache.truncate(0);
                if !over {
                    work.fail(Failure::Compute("a draft cannot be taken back".to_owned()));
                    over = true;
                }
            }
            if over {
                slot.at_work = None;
            }
        }
    }

    /// How long an evaluation took tells how many tokens are read at once, and what drafts may cost.
    fn learn(&mut self, taken: &[usize], took: Duration) {
        let tokens: usize = taken.iter().sum();
        self.reading.took(tokens, took);
        if tokens >= reading::FIRST && !self.slots.iter().any(writes) {
            self.costs.read(tokens, took);
        }
    }

    fn fail_all(&mut self, words: &str) {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if let Some(work) = slot.at_work.take() {
                work.fail(Failure::Compute(words.to_owned()));
                slot.cache.truncate(0);
                if let Some(context) = &mut self.context {
                    context.forget(at as u32);
                }
            }
        }
    }
}

/// Whether its next token is written with the next evaluation.
fn writes(slot: &Slot) -> bool {
    slot.at_work.as_ref().is_some_and(|work| work.next.is_some())
}
