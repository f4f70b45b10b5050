//! Asks what to stop when Ctrl+C is pressed while agents are at work: the reply, one of them, or nothing.

use std::future::pending;

use chat_core::event::SessionPlaceholder;
use chat_core::message::Fid;

use crate::engine::Program;
use crate::keyboard::{Reading, Typed, take_typed};
use crate::output::Sink;
use crate::say;
use crate::terminal;

use super::rest::{agents_at_work, names};

/// What the user wants to stop.
#[derive(Debug)]
pub(super) enum Stop {
    /// The reply, with all that works for it.
    Reply,
    /// The agent of this session.
    Agent(Box<SessionPlaceholder>),
    /// Nothing: all goes on.
    Nothing,
}

impl Stop {
    /// The reply, if there is one.
    pub(super) fn reply_if(is_replying: bool) -> Self {
        if is_replying { Self::Reply } else { Self::Nothing }
    }
}

/// The question what to stop.
pub(super) struct Stopping<'a> {
    program: &'a Program,
    fid: Fid,
    /// Those that can be stopped.
    agents: Vec<SessionPlaceholder>,
    step: Step,
}

enum Step {
    /// It is not asked.
    Rest,
    /// Ctrl+C was pressed.
    Wanted,
    /// The question is being written.
    Asked,
    /// It can be answered.
    Listening(Reading),
}

impl<'a> Stopping<'a> {
    pub(super) fn new(program: &'a Program, fid: &Fid) -> Self {
        Self { program, fid: fid.clone(), agents: Vec::new(), step: Step::Rest }
    }

    /// Ctrl+C was pressed. False where the question is not possible, or on the screen already.
    pub(super) fn begin(&mut self) -> bool {
        let begins = matches!(self.step, Step::Rest) && Reading::is_possible(self.program.terminal);
        if begins {
            self.step = Step::Wanted;
        }
        begins
    }

    /// Whether Ctrl+C was pressed and the question is to be asked.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(self.step, Step::Wanted)
    }

    /// Whether the question is on the screen, and nothing else should come there.
    pub(super) fn waits(&self) -> bool {
        matches!(self.step, Step::Asked | Step::Listening(_))
    }

    /// Whether it can be answered now.
    pub(super) fn listens(&self) -> bool {
        matches!(self.step, Step::Listening(_))
    }

    /// Whether agents are at work, so that there is something to choose. Otherwise it is not asked.
    pub(super) async fn is_a_choice(&mut self) -> bool {
        self.step = Step::Rest;
        self.agents = agents_at_work(&self.fid, self.program).await;
        !self.agents.is_empty()
    }

    /// Asks. What was typed until now is added to `before`: it is no answer. What is typed as soon as the
    /// question can be read is one.
    pub(super) fn ask(&mut self, is_replying: bool, sink: &mut dyn Sink, before: &mut String) {
        before.push_str(&take_typed());
        let terminal = self.program.terminal;
        let question = say::stop_what(&names(&self.agents), is_replying);
        sink.ask(&format!("{}\n", terminal.strong(&terminal::clean(&question))));
        sink.ask(&say::stop_choices(is_replying));
        self.step = Step::Asked;
    }

    /// Called after the output was written.
    pub(super) fn listen(&mut self) {
        if matches!(self.step, Step::Asked) {
            self.step = Reading::begin().map_or(Step::Rest, Step::Listening);
        }
    }

    /// Waits for the answer. Cancel-safe.
    pub(super) async fn typed(&mut self) -> Typed {
        match &mut self.step {
            Step::Listening(reading) => reading.typed().await,
            _ => pending().await,
        }
    }

    /// Takes the typed line as the answer.
    pub(super) fn answer(&mut self, typed: Typed, is_replying: bool, sink: &mut dyn Sink) -> Stop {
        self.step = Step::Rest;
        sink.line_ended();
        let Typed::Line(line) = typed else {
            // Nothing has ended the line.
            terminal::say("\n");
            return Stop::Nothing;
        };
        let line = line.trim();
        let is_named = |agent: &SessionPlaceholder| agent.name.as_deref() == Some(line);
        match self.agents.iter().position(is_named) {
            Some(at) => Stop::Agent(Box::new(self.agents.swap_remove(at))),
            None if say::is_stop_reply(line) => Stop::reply_if(is_replying),
            None if line.is_empty() => Stop::Nothing,
            None => {
                let text = terminal::clean(&say::not_at_work(line)).into_owned();
                terminal::say(&format!("{}\n", self.program.terminal.dim(&text)));
                Stop::Nothing
            }
        }
    }

    /// Takes the question off the screen.
    pub(super) fn end(&mut self) {
        if matches!(std::mem::replace(&mut self.step, Step::Rest), Step::Listening(_)) {
            // The beginning of an answer.
            take_typed();
        }
    }
}

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
