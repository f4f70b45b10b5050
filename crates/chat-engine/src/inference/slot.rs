//! Defines a slot: one conversation in a model's memory.

use std::time::{Duration, Instant};

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use super::picker::Picker;
use super::{Finish, Job, JobEvent, Timings, vocabulary};
use crate::draft::Drafts;
use crate::failure::Failure;
use crate::output::StopTexts;
use crate::prompt_cache::{PromptCache, Token};

/// A place for one conversation, and what it remembers.
#[derive(Default)]
pub(super) struct Slot {
    pub cache: PromptCache,
    pub at_work: Option<RunningJob>,
    /// When it was used last: the one that waits longest is taken for something new.
    pub used: u64,
}

/// A job that was begun.
pub(super) struct RunningJob {
    pub job: Box<Job>,
    pub picker: Picker,
    /// What is still to be read, in order, and how far that is.
    pub prompt: Vec<Token>,
    pub read: usize,
    /// The token that was chosen last and is not in memory yet.
    pub next: Option<Token>,
    /// Where its scores stand among the outputs of the evaluation at hand. Those of a draft follow.
    pub output: Option<i32>,
    pub drafts: Drafts,
    cached: usize,
    stop: StopTexts,
    /// Bytes of a character that is not complete.
    partial: Vec<u8>,
    written: usize,
    begun: Instant,
    reading: Duration,
}

impl RunningJob {
    pub fn new(
        job: Box<Job>,
        picker: Picker,
        drafts: Drafts,
        prompt: Vec<Token>,
        cached: usize,
    ) -> Self {
        let stop = StopTexts::new(job.stop.clone());
        Self {
            job,
            picker,
            prompt,
            read: 0,
            next: None,
            output: None,
            drafts,
            cached,
            stop,
            partial: Vec::new(),
            written: 0,
            begun: Instant::now(),
            reading: Duration::ZERO,
        }
    }

    /// Whether nobody listens any more.
    pub fn is_given_up(&self) -> bool {
        self.job.said.is_closed()
    }

    /// Whether the prompt is not read to its end.
    pub fn is_reading(&self) -> bool {
        self.read < self.prompt.len()
    }

    pub fn tell(&self, said: JobEvent) {
        // Who has gone is seen by `is_given_up`.
        let _ = self.job.said.send(said);
    }

    /// More of the prompt is in memory.
    pub fn was_read(&mut self, tokens: usize) {
        self.read += tokens;
        let (done, total) = (self.cached + self.read, self.cached + self.prompt.len());
        self.tell(JobEvent::Read { done, total, cached: self.cached });
        if !self.is_reading() {
            self.reading = self.begun.elapsed();
        }
    }

    /// Takes the token that was chosen. Gives whether the answer is complete.
    pub fn take(&mut self, model: &LlamaModel, token: LlamaToken, room: usize) -> bool {
        let vocab = model.vocab();
        self.written += 1;
        if vocab.is_eog(token) {
            self.end(Finish::Stop);
            return true;
        }
        let special = vocab.is_control(token);
        let piece = vocabulary::piece(&vocab, token);
        let spoken = || self.job.spoken.iter().any(|word| word.as_bytes() == piece);
        // Words of the model's own are no part of what it says.
        let said = if special && !spoken() {
            vocab.token_to_piece(token, false, None)
        } else {
            piece.clone()
        };
        self.next = Some(Token { id: token.0, piece, special });
        self.drafts.push(token.0);
        if self.say(&said) {
            self.end(Finish::Stop);
            return true;
        }
        if self.left() == 0 || room == 0 {
            let rest = self.stop.rest();
            self.say_text(rest);
            self.end(Finish::Length);
            return true;
        }
        false
    }

    /// How many tokens it may still have.
    pub fn left(&self) -> usize {
        let wanted = self.job.max_tokens.map_or(usize::MAX, |tokens| tokens as usize);
        wanted.saturating_sub(self.written)
    }

    /// Says the characters that are complete. Gives whether a stop text came.
    fn say(&mut self, bytes: &[u8]) -> bool {
        self.partial.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.partial) {
                Ok(all) => {
                    text.push_str(all);
                    self.partial.clear();
                    break;
                }
                Err(error) => {
                    let valid = error.valid_up_to();
                    text.push_str(&String::from_utf8_lossy(&self.partial[..valid]));
                    let Some(wrong) = error.error_len() else {
                        self.partial.drain(..valid);
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.partial.drain(..valid + wrong);
                }
            }
        }
        let (text, ended) = self.stop.take(&text);
        self.say_text(text);
        ended
    }

    fn say_text(&self, text: String) {
        if !text.is_empty() {
            self.tell(JobEvent::Text(text));
        }
    }

    fn end(&mut self, finish: Finish) {
        if !self.partial.is_empty() {
            let text = String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned();
            let (text, _) = self.stop.take(&text);
            self.say_text(text);
        }
        if finish == Finish::Stop {
            // After a stop text nothing is held any more.
            let rest = self.stop.rest();
            self.say_text(rest);
        }
        let writing = self.begun.elapsed().saturating_sub(self.reading);
        let read = (self.prompt.len(), self.reading);
        let timings = Timings::new(self.cached, read, (self.written, writing), &self.drafts);
        self.tell(JobEvent::End { finish, timings });
    }

    pub fn fail(&self, failure: Failure) {
        self.tell(JobEvent::Failed(failure));
    }
}
