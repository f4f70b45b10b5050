//! A queue with a limit.

use std::collections::VecDeque;

pub struct Queue<T> {
    waiting: VecDeque<T>,
    limit: usize,
}

impl<T> Queue<T> {
    pub fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), limit }
    }

    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.waiting.len() >= self.limit {
            return Err(value);
        }
        self.waiting.push_back(value);
        Ok(())
    }

    pub fn drain(&mut self) -> Vec<T> {
        let mut out = Vec::new();
        while let Some(value) = self.waiting.pop_front() {
            match out.len() {
                0 => out.push(value),
                n if n < self.limit => out.push(value),
                _ => break,
            }
        }
        out
    }
}
