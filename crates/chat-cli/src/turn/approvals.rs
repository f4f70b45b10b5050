//! Asks the user the questions of tools of a chat and of its agents, one at a time. Where nobody can be
//! asked, it answers so.

use chat_core::error::{Error, Feature, Kind};
use chat_core::event::{Failure, SessionPlaceholder};
use chat_core::message::{Answer, ApprovalId, ApprovalKind, Fid, FormAnswer, FromAgent, ModelRef};
use chat_presentation::words;

use crate::engine::Program;
use crate::error::explain;
use crate::keyboard::{Reading, Typed, take_typed};
use crate::output::Sink;
use crate::prompt::Prompt;
use crate::say;
use crate::terminal;

use super::asks::{Asked, Asks};
use super::quiet::Quiet;

/// The questions of one chat.
pub(super) struct Approvals<'a> {
    program: &'a Program,
    fid: Fid,
    in_project: bool,
    model: Option<ModelRef>,
    current: Option<Current>,
    /// The question that was taken off the screen last, with what was filled into it.
    begun: Option<(ApprovalId, Prompt)>,
}

/// The question on the screen.
struct Current {
    asked: Asked,
    prompt: Prompt,
    step: Step,
}

/// How far a question is. Only what is typed when it can be answered answers it.
enum Step {
    /// It is being written.
    Asked,
    /// It is on the screen, but the user may still type something else. Something was written behind it
    /// if it is covered.
    Shown { quiet: Quiet, is_covered: bool },
    /// It can be answered.
    Listening(Reading),
}

impl Step {
    fn listens(&self) -> bool {
        matches!(self, Self::Listening(_))
    }
}

impl<'a> Approvals<'a> {
    pub(super) fn new(program: &'a Program, session: &SessionPlaceholder) -> Self {
        let (fid, in_project) = (session.fid.clone(), session.project.is_some());
        Self { program, fid, in_project, model: session.model.clone(), current: None, begun: None }
    }

    pub(super) fn fid(&self) -> &Fid {
        &self.fid
    }

    /// The warning if a project folder was given to a model that cannot use tools.
    pub(super) async fn tools_in_vain(&self) -> Option<Failure> {
        let model = self.model.as_ref().filter(|_| self.in_project)?;
        // This has been known since the request began.
        let can = self.program.manager.models().capabilities(model).await.ok()?;
        (can.tools == Some(false)).then(|| {
            let error = Error::new(Kind::Unsupported { feature: Feature::Tools });
            Failure { error: error.on(&model.connection), session: Some(self.fid.clone()) }
        })
    }

    /// Whether a question is on the screen.
    pub(super) fn waits(&self) -> bool {
        self.current.is_some()
    }

    /// Asks the next waiting question, if more are to be asked, and withdraws one that is obsolete.
    pub(super) async fn update(&mut self, asks: &mut Asks, sink: &mut dyn Sink, asks_more: bool) {
        if let Some(gone) = self.current.take_if(|current| !asks.contains(current.asked.ask.id)) {
            answered(&gone.asked, None, sink);
            if gone.step.listens() {
                drop(gone);
                // The beginning of an answer that is not needed any more.
                take_typed();
            }
        }
        while asks_more
            && self.current.is_none()
            && let Some(asked) = asks.first()
        {
            if Reading::is_possible(self.program.terminal) {
                sink.ask(&self.question(&asked));
                let begun = self.begun.take_if(|(id, _)| *id == asked.ask.id);
                let new = || Prompt::new(&asked.ask, self.in_project);
                let prompt = begun.map_or_else(new, |(_, prompt)| prompt);
                self.current = Some(Current { asked, prompt, step: Step::Asked });
            } else {
                self.give(&asked, Answer::Nobody, asks, sink).await;
            }
        }
    }

    /// The question, and the agent that asks.
    fn question(&self, asked: &Asked) -> String {
        let terminal = self.program.terminal;
        let name = asked.agent.as_ref().and_then(|agent| agent.name.clone());
        let from = name.map(|name| words::from_agent(&FromAgent::Message { name }));
        let from = from.map(|from| format!("{}\n", terminal.dim(&from))).unwrap_or_default();
        from + &Prompt::question(&asked.ask, self.in_project, terminal)
    }

    /// Called after the output was written: the question is on the screen. What was typed before is
    /// added to `before`.
    pub(super) fn written(&mut self, before: &mut String) {
        let Some(current) = &mut self.current else { return };
        match &mut current.step {
            Step::Asked => {
                before.push_str(&take_typed());
                current.step = Step::Shown { quiet: Quiet::begin(), is_covered: false };
            }
            Step::Shown { is_covered, .. } => *is_covered = true,
            Step::Listening(_) => {}
        }
    }

    /// Lets the question on the screen be answered, unless something was typed since it appeared: that
    /// belongs to what the user was typing, and is added to `before`.
    async fn listen_after_pause(
        &mut self,
        asks: &mut Asks,
        sink: &mut dyn Sink,
        before: &mut String,
    ) {
        let Some(mut current) = self.current.take() else { return };
        if let Step::Shown { quiet, is_covered } = &mut current.step {
            let typed = take_typed();
            before.push_str(&typed);
            if !quiet.is_over(&typed) {
                if !typed.ends_with('\n') {
                    // Otherwise the answers would stand behind it.
                    terminal::say("\n");
                }
                self.current = Some(current);
                return;
            }
            if *is_covered {
                sink.ask(&self.question(&current.asked));
            }
        }
        self.listen(current, asks, sink, before).await;
    }

    /// Has [`update`](Self::update) ask the question on the screen again. Says whether it could be
    /// answered: then the screen's line has not ended, unless something came behind it.
    pub(super) fn withdraw(&mut self) -> bool {
        let current = self.current.take();
        let listened = current.as_ref().is_some_and(|current| current.step.listens());
        if let Some(Current { asked, prompt, .. }) = current {
            self.begun = Some((asked.ask.id, prompt));
        }
        if listened {
            // The beginning of an answer.
            take_typed();
        }
        listened
    }

    /// Takes the question off the screen. It waits on, and is asked again by [`update`](Self::update).
    pub(super) fn interrupt(&mut self, sink: &mut dyn Sink) {
        if self.withdraw() {
            sink.ask("\n");
        }
    }

    async fn listen(
        &mut self,
        current: Current,
        asks: &mut Asks,
        sink: &mut dyn Sink,
        before: &mut String,
    ) {
        if let Some(reading) = Reading::begin_after(before) {
            sink.ask(current.prompt.choices());
            self.current = Some(Current { step: Step::Listening(reading), ..current });
        } else {
            self.give(&current.asked, Answer::Nobody, asks, sink).await;
        }
    }

    /// Waits for the next typed line. Gives none where the question on the screen can perhaps be answered
    /// from now on. Cancel-safe.
    pub(super) async fn typed(&mut self) -> Option<Typed> {
        match self.current.as_mut().map(|current| &mut current.step) {
            Some(Step::Listening(reading)) => Some(reading.typed().await),
            Some(Step::Shown { quiet, .. }) => {
                quiet.elapsed().await;
                None
            }
            Some(Step::Asked) | None => std::future::pending().await,
        }
    }

    /// Takes what [`typed`](Self::typed) gave: a line is the answer to the question on the screen.
    pub(super) async fn answer(
        &mut self,
        typed: Option<Typed>,
        asks: &mut Asks,
        sink: &mut dyn Sink,
        before: &mut String,
    ) {
        let Some(typed) = typed else { return self.listen_after_pause(asks, sink, before).await };
        let Some(mut current) = self.current.take() else { return };
        let asked = &current.asked;
        let answer = match typed {
            Typed::Line(line) => {
                if let Some(rule) = current.prompt.broken_rule(&line) {
                    self.remark(&say::broken_rule(rule));
                }
                current.prompt.read(&line)
            }
            Typed::End => {
                // Nothing has ended the line.
                terminal::say("\n");
                Some(match asked.ask.kind {
                    ApprovalKind::Permission(_) | ApprovalKind::GoOn { .. } => {
                        Answer::Deny { scope: None, message: None }
                    }
                    ApprovalKind::Question(_) => Answer::Nobody,
                    ApprovalKind::Form(_) => Answer::Form(FormAnswer::Declined),
                })
            }
        };
        if let Some(answer) = answer {
            if let Answer::Deny { message: Some(message), .. } = &answer {
                self.remark(&say::denied_with(message));
            }
            self.give(asked, answer, asks, sink).await;
        } else {
            // Its question is already on the screen.
            self.listen(current, asks, sink, before).await;
        }
    }

    fn remark(&self, text: &str) {
        terminal::say(&format!("{}\n", self.program.terminal.dim(&terminal::clean(text))));
    }

    async fn give(&mut self, asked: &Asked, answer: Answer, asks: &mut Asks, sink: &mut dyn Sink) {
        let permissions = self.program.manager.permissions();
        match permissions.answer(&asked.fid, asked.ask.id, answer.clone()).await {
            Ok(waited) => {
                asks.answered(asked.ask.id);
                answered(asked, waited.then_some(&answer), sink);
            }
            // It keeps waiting, and is asked again.
            Err(error) => terminal::say(&explain(&error, self.program.terminal)),
        }
    }
}

impl Drop for Approvals<'_> {
    /// The beginning of an answer is no message: it is asked for again, or not needed any more.
    fn drop(&mut self) {
        self.withdraw();
    }
}

fn answered(asked: &Asked, answer: Option<&Answer>, sink: &mut dyn Sink) {
    sink.speaker(asked.agent.as_deref());
    sink.answered(&asked.ask, answer);
    sink.speaker(None);
}
