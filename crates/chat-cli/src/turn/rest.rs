//! Waits for agents in the background after a reply, and for what their chat makes of their reports.

use std::future::pending;
use std::pin::Pin;

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::message::Fid;
use chat_presentation::words;

use crate::engine::Program;
use crate::output::{Done, Sink};
use crate::say;
use crate::terminal;

/// The time after a reply until nothing goes on by itself.
pub(super) struct Rest<'a> {
    program: &'a Program,
    fid: Fid,
    /// How the request has ended so far.
    done: Option<Done>,
    reached: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<'a> Rest<'a> {
    pub(super) fn new(program: &'a Program, fid: &Fid) -> Self {
        Self { program, fid: fid.clone(), done: None, reached: None }
    }

    /// A reply ended like this: with what those before it cost.
    pub(super) fn with_earlier(&mut self, done: Done) -> Done {
        match self.done.take() {
            Some(earlier) => Done { usage: earlier.usage.and(&done.usage), ..done },
            None => done,
        }
    }

    /// The waiting begins, after a reply that ended like this. Names the agents that are at work.
    pub(super) async fn begin(&mut self, done: Done, sink: &mut dyn Sink) {
        let names = names(&agents_at_work(&self.fid, self.program).await);
        if !names.is_empty() {
            sink.awaits_agents(&names);
        }
        self.done = Some(done);
        let (agents, fid) = (self.program.manager.agents(), self.fid.clone());
        self.reached = Some(Box::pin(async move {
            // What cannot be waited for is over.
            let _ = agents.at_rest(&fid).await;
        }));
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.reached.is_some()
    }

    /// Waits until nothing goes on by itself. Cancel-safe.
    pub(super) async fn reached(&mut self) {
        match &mut self.reached {
            Some(reached) => reached.await,
            None => pending().await,
        }
    }

    /// The end of the request, unless another reply has ended meanwhile, whose end comes first.
    pub(super) fn end_unless(&mut self, another_ended: bool) -> Option<Done> {
        self.reached = None;
        self.done.take_if(|_| !another_ended)
    }

    /// The end of the request where the user does not want to wait.
    pub(super) fn give_up(&mut self) -> Option<Done> {
        self.reached = None;
        self.done.take()
    }
}

/// The names of the agents of a chat that are at work, in one line; nothing if there are none.
pub async fn names_at_work(fid: &Fid, program: &Program) -> String {
    names(&agents_at_work(fid, program).await)
}

/// Names the agents of a chat that still work: they end with the program.
pub async fn report_agents(fid: &Fid, program: &Program) {
    let names = names_at_work(fid, program).await;
    if !names.is_empty() {
        let text = say::agents_interrupted(&names);
        terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(&text))));
    }
}

/// The agents of a chat that are at work.
pub(super) async fn agents_at_work(fid: &Fid, program: &Program) -> Vec<SessionPlaceholder> {
    let mut agents = program.manager.agents().list(Some(fid)).await.unwrap_or_default();
    agents.retain(|agent| agent.status != Status::Idle && agent.fid != *fid);
    agents
}

/// The names of agents, in one line.
pub fn names(agents: &[SessionPlaceholder]) -> String {
    let names = agents.iter().filter_map(|agent| agent.name.as_deref().map(words::one_line));
    names.collect::<Vec<_>>().join(", ")
}
