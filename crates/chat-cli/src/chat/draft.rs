//! Takes the prompt off the screen while a message is being typed, and keeps what was typed.
//!
//! The editor reads in a thread of its own and has no way to be left from another one. But it reports
//! each change of the line to its helper, and it ends if SIGINT interrupts its reading: it has its own
//! handler for that while it reads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::Signal;

/// The text of a message that is being typed, before and after the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub before: String,
    pub after: String,
}

impl Draft {
    /// A text with the cursor behind it.
    pub fn new(text: String) -> Self {
        Self { before: text, after: String::new() }
    }

    /// The whole text.
    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// Adds what was typed before the prompt was there, without line breaks around it: a line that was
    /// ended there is not sent yet.
    pub fn add_typed_ahead(&mut self, typed: &str) {
        let typed = typed.trim_end_matches('\n');
        let is_first = self.before.is_empty() && self.after.is_empty();
        self.add(if is_first { typed.trim_start_matches('\n') } else { typed });
    }

    /// Adds text at the end.
    fn add(&mut self, text: &str) {
        if !text.is_empty() {
            *self = Self::new(self.text() + text);
        }
    }
}

/// What both threads know of the prompt: the one that reads, and the one that wants the screen.
#[derive(Clone, Debug, Default)]
pub struct Prompted(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether the prompt is to give way.
    is_unwanted: bool,
    /// The thread in which the editor reads.
    editing: Option<Pthread>,
    /// Whether the editor was interrupted since the prompt is to give way.
    has_interrupted: bool,
    /// What the line contains.
    draft: Draft,
}

impl Prompted {
    /// Has the prompt give way. An editor may miss it, so this is to be repeated until it has.
    pub fn give_way(&self) {
        let mut state = self.state();
        state.is_unwanted = true;
        if let Some(thread) = state.editing {
            state.has_interrupted = true;
            if let Err(error) = pthread_kill(thread, Signal::SIGINT) {
                tracing::warn!(%error, "the prompt does not give way");
            }
        }
    }

    /// Whether the prompt is to give way.
    pub fn is_unwanted(&self) -> bool {
        self.state().is_unwanted
    }

    /// The prompt is wanted again. Says whether interrupts were sent: those that the editor did not
    /// take before it ended look like Ctrl+C.
    pub fn stay(&self) -> bool {
        let mut state = self.state();
        state.is_unwanted = false;
        std::mem::take(&mut state.has_interrupted)
    }

    /// Called by the editor, in its thread and while it reads: the line contains this.
    pub fn edited(&self, line: &str, at: usize) {
        let (before, after) = line.split_at_checked(at).unwrap_or((line, ""));
        let mut state = self.state();
        state.editing = Some(pthread_self());
        state.draft = Draft { before: before.to_owned(), after: after.to_owned() };
    }

    /// The editor was left. Gives what the line contained last.
    pub fn left(&self) -> Draft {
        let draft = {
            let mut state = self.state();
            state.editing = None;
            std::mem::take(&mut state.draft)
        };
        // An interrupt that this thread was sent and has not taken yet arrives with a system call.
        std::thread::yield_now();
        draft
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::raise;

    use super::*;
    use crate::signals::Signals;

    #[test]
    fn what_was_typed_ahead_comes_behind_the_whole_line() {
        let prompted = Prompted::default();
        prompted.edited("half a line", 4);
        let mut draft = prompted.left();
        assert_eq!((draft.before.as_str(), draft.after.as_str()), ("half", " a line"));
        draft.add_typed_ahead("");
        assert_eq!(draft.before, "half");
        draft.add_typed_ahead(" and more");
        assert_eq!(draft, Draft::new("half a line and more".to_owned()));
        assert_eq!(prompted.left(), Draft::default());
    }

    #[test]
    fn lines_typed_ahead_become_one_draft_that_enter_sends() {
        let mut draft = Draft::default();
        draft.add_typed_ahead("\nline A\nline B\n");
        assert_eq!(draft, Draft::new("line A\nline B".to_owned()));
        draft.add_typed_ahead("\nline C\n\n");
        assert_eq!(draft.text(), "line A\nline B\nline C");
        draft.add_typed_ahead("\n");
        assert_eq!(draft.text(), "line A\nline B\nline C");
    }

    #[tokio::test]
    async fn an_interrupt_of_its_own_that_arrives_late_is_forgotten() {
        let mut signals = Signals::new().unwrap();
        let prompted = Prompted::default();
        let (left, mut has_left) = tokio::sync::mpsc::channel(1);
        let (edits, edited) = std::sync::mpsc::channel();
        let editor = prompted.clone();
        // One that was left already when it is interrupted.
        let thread = std::thread::spawn(move || {
            editor.edited("half", 4);
            edits.send(()).unwrap();
            while !editor.is_unwanted() {
                std::hint::spin_loop();
            }
            left.blocking_send(editor.left()).unwrap();
        });
        edited.recv().unwrap();
        prompted.give_way();
        assert_eq!(has_left.recv().await.unwrap().text(), "half");
        assert!(prompted.stay() && !prompted.stay());
        signals.forget_own_interrupts().await;
        // Nothing is left but what comes from now on.
        raise(Signal::SIGTERM).unwrap();
        signals.next().await;
        assert!(signals.ends_all());
        thread.join().unwrap();
    }
}
