//! Holds a tool call as it is now: its arguments, how far it is, what it waits for, and its result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::message::{
    AgentReport, ApprovalKind, ApprovalRequest, CommandExit, Fid, ToolCall, ToolResult, ToolView,
};
use chat_presentation::words::Progress;

/// A tool call.
#[derive(Debug)]
pub struct ToolState {
    call: ToolCall,
    result: Option<Box<ToolResult>>,
    /// The pictures that came with it.
    pictures: Vec<Arc<[u8]>>,
    /// What it waits for.
    ask: Option<Arc<ApprovalRequest>>,
    /// The agents that it has started, or waits for, while it runs.
    agents: Vec<Fid>,
    /// The end of what it wrote so far, and how many bytes that was in all.
    output: Option<(Arc<str>, u64)>,
    running: bool,
    /// Whether its turn is still to come.
    queued: bool,
    /// Since when it runs.
    since: Option<Instant>,
    /// How long it had run when it began to wait.
    ran: Option<Duration>,
    /// How long it ran, where it was seen to end.
    took: Option<Duration>,
    /// Counts what became of it, apart from what it writes.
    revision: u64,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its turn has not come, or never came.
    Called,
    /// It is at work.
    Running,
    /// It waits for the person.
    Asking,
    /// It is done.
    Done,
    /// It failed, or could not be made.
    Failed,
}

impl ToolState {
    /// A call that was just made, or was stored.
    pub fn new(call: ToolCall) -> Self {
        Self {
            call,
            result: None,
            pictures: Vec::new(),
            ask: None,
            agents: Vec::new(),
            output: None,
            running: false,
            queued: false,
            since: None,
            ran: None,
            took: None,
            revision: 0,
        }
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// What came of it.
    pub fn result(&self) -> Option<&ToolResult> {
        self.result.as_deref()
    }

    /// The pictures that came with its result.
    pub fn pictures(&self) -> &[Arc<[u8]>] {
        &self.pictures
    }

    /// What it waits for.
    pub fn ask(&self) -> Option<&Arc<ApprovalRequest>> {
        self.ask.as_ref()
    }

    /// The end of what it wrote so far, and how many bytes it wrote in all; while it runs.
    pub fn output(&self) -> Option<(&str, u64)> {
        let (tail, bytes) = self.output.as_ref().filter(|_| self.running)?;
        Some((tail, *bytes))
    }

    /// The agents that it is about: those that it has started, asked or waits for, and those that its
    /// result tells of.
    pub fn agents(&self) -> Vec<Fid> {
        match self.reports() {
            [] => self.agents.clone(),
            reports => reports.iter().map(|report| report.session.clone()).collect(),
        }
    }

    /// What its result says of agents.
    pub fn reports(&self) -> &[AgentReport] {
        match self.result().and_then(|result| result.view.as_ref()) {
            Some(ToolView::Agents { agents }) => agents,
            _ => &[],
        }
    }

    /// A number that differs where anything differs but what it writes and how long it runs.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        match &self.result {
            Some(result) if result.failed || is_failed_command(result) => Phase::Failed,
            Some(_) => Phase::Done,
            None if self.ask.is_some() => Phase::Asking,
            None if self.running => Phase::Running,
            None if self.took.is_some() => Phase::Done,
            None => Phase::Called,
        }
    }

    /// The same as its line tells it.
    pub fn progress(&self) -> Progress<'_> {
        match &self.result {
            Some(result) => Progress::Ended(result),
            None if self.ask.is_some() => Progress::Asking,
            None if self.running => Progress::Running,
            None if self.queued => Progress::Queued,
            None => Progress::Lost,
        }
    }

    /// Whether nothing came of it, and nothing will.
    pub fn is_lost(&self) -> bool {
        matches!(self.progress(), Progress::Lost)
    }

    /// How long it ran, as far as that is known.
    pub fn time(&self) -> Option<Duration> {
        let told = self.result().and_then(|result| result.took);
        told.or(self.took).or_else(|| self.since.map(|since| since.elapsed()))
    }

    /// Whether its seconds are counted.
    pub fn has_clock(&self) -> bool {
        self.phase() == Phase::Running && self.since.is_some()
    }

    /// Takes the call as a message has it now.
    pub fn set_call(&mut self, call: &ToolCall) {
        if self.call != *call {
            self.call.clone_from(call);
            self.revision += 1;
        }
    }

    /// Its turn is to come.
    pub fn queue(&mut self) {
        if self.result.is_none() && !self.queued {
            self.queued = true;
            self.revision += 1;
        }
    }

    /// It runs for so long now.
    pub fn start(&mut self, ran: Duration) {
        if self.result.is_none() && !self.running {
            self.running = true;
            self.since = Instant::now().checked_sub(ran);
            self.revision += 1;
        }
    }

    /// It ended, or its turn will not come.
    pub fn stop(&mut self) {
        if self.running || self.queued {
            self.running = false;
            self.queued = false;
            self.took = self.since.take().map(|since| since.elapsed()).or(self.took);
            self.ask = None;
            self.output = None;
            self.revision += 1;
        }
    }

    /// This came of it. Whether that is new.
    pub fn answer(&mut self, result: &ToolResult) -> bool {
        if self.result.as_deref() == Some(result) {
            return false;
        }
        self.stop();
        self.result = Some(Box::new(result.clone()));
        self.ask = None;
        self.revision += 1;
        true
    }

    /// These pictures came with its result. Whether that is new.
    pub fn set_pictures(&mut self, pictures: Vec<Arc<[u8]>>) -> bool {
        let is_new = self.pictures != pictures;
        if is_new {
            self.pictures = pictures;
            self.revision += 1;
        }
        is_new
    }

    /// It has started these agents, or waits for them.
    pub fn set_agents(&mut self, agents: &[Fid]) {
        if self.agents != agents {
            self.agents = agents.to_vec();
            self.revision += 1;
        }
    }

    /// It wrote more.
    pub fn write(&mut self, tail: &Arc<str>, bytes: u64) {
        self.output = Some((Arc::clone(tail), bytes));
    }

    /// Whether it can wait for this: what has its answer waits for nothing of its own, but whether
    /// to go on is asked below the last call that ran.
    pub fn can_wait_for(&self, ask: &ApprovalRequest) -> bool {
        self.result.is_none() || matches!(ask.kind, ApprovalKind::GoOn { .. })
    }

    /// It waits for this now, or for nothing. Whether that is new.
    pub fn wait_for(&mut self, ask: Option<&Arc<ApprovalRequest>>) -> bool {
        let ask = ask.filter(|ask| self.can_wait_for(ask));
        if self.ask.as_ref().map(|ask| ask.id) == ask.map(|ask| ask.id) {
            return false;
        }
        // The person's time is not the tool's.
        if self.ask.is_none() {
            self.ran = self.since.map(|since| since.elapsed());
        } else if ask.is_none() && self.since.is_some() {
            self.since = Instant::now().checked_sub(self.ran.take().unwrap_or_default());
        }
        self.ask = ask.cloned();
        self.revision += 1;
        true
    }
}

/// Whether a command did not end well: its tool did its work all the same.
fn is_failed_command(result: &ToolResult) -> bool {
    let exit = match &result.view {
        Some(ToolView::Ran { exit, .. }) => *exit,
        _ => None,
    };
    !matches!(exit, None | Some(CommandExit::Status(0) | CommandExit::Stopped))
}

#[cfg(test)]
pub mod tests {
    use chat_core::message::{ApprovalId, Question, ToolCallId};
    use chat_core::tool::{Registry, Toolbox};

    use super::*;

    /// What is known of Natter's own tools.
    pub fn ours() -> Toolbox {
        chat_tools::all().into_iter().collect::<Registry>().toolbox()
    }

    /// A call of a tool.
    pub fn call(name: &str, arguments: serde_json::Value) -> ToolCall {
        ToolCall::new(ToolCallId::new("c1"), name, arguments)
    }

    fn question() -> Arc<ApprovalRequest> {
        let question = Question { text: "Which?".to_owned(), choices: Vec::new() };
        let (id, call) = (ApprovalId::generate(), ToolCallId::new("c1"));
        Arc::new(ApprovalRequest {
            id,
            call,
            tool: "ask_user".to_owned(),
            kind: ApprovalKind::Question(question),
        })
    }

    #[test]
    fn a_call_runs_waits_and_ends() {
        let call = call("ask_user", serde_json::json!({}));
        let mut state = ToolState::new(call.clone());
        assert_eq!(state.phase(), Phase::Called);
        state.start(Duration::from_secs(40));
        assert!(state.phase() == Phase::Running && state.has_clock());
        let ask = question();
        assert!(state.wait_for(Some(&ask)));
        assert!(!state.wait_for(Some(&ask)), "the same is not new");
        assert!(state.phase() == Phase::Asking && !state.has_clock());
        assert!(state.wait_for(None));
        assert_eq!(state.phase(), Phase::Running);
        let ran = state.time().unwrap();
        assert!(ran >= Duration::from_secs(40), "what it ran before counts: {ran:?}");
        state.write(&Arc::from("text"), 4);
        assert_eq!(state.output(), Some(("text", 4)));
        let before = state.revision();
        state.stop();
        assert!(state.phase() == Phase::Done && state.output().is_none());
        assert!(state.answer(&ToolResult::to(&call, "no", true)));
        assert!(state.phase() == Phase::Failed && state.revision() > before);
        assert!(!state.wait_for(Some(&ask)), "what has an answer waits for nothing");
        let go_on = ApprovalRequest { kind: ApprovalKind::GoOn { rounds: 5 }, ..(*ask).clone() };
        assert!(state.wait_for(Some(&Arc::new(go_on))), "but whether to go on is asked there");
        assert_eq!(state.phase(), Phase::Failed);
        assert!(state.wait_for(None));
        state.start(Duration::ZERO);
        assert_eq!(state.phase(), Phase::Failed, "what was told late begins nothing");
    }

    #[test]
    fn a_command_that_did_not_end_well_failed() {
        let phase = |exit| {
            let call = call("run_command", serde_json::json!({ "command": "cargo test" }));
            let mut state = ToolState::new(call.clone());
            let view = ToolView::Ran {
                command: "cargo test".to_owned(),
                exit,
                output: None,
                sandboxed: true,
                quarantined: Vec::new(),
            };
            state.answer(&ToolResult { view: Some(view), ..ToolResult::to(&call, "", false) });
            state.phase()
        };
        assert_eq!(phase(Some(CommandExit::Status(101))), Phase::Failed);
        assert_eq!(phase(Some(CommandExit::TimedOut)), Phase::Failed);
        assert_eq!(phase(Some(CommandExit::Status(0))), Phase::Done);
        assert_eq!(phase(Some(CommandExit::Stopped)), Phase::Done);
        assert_eq!(phase(None), Phase::Done, "it runs in the background");
    }

    #[test]
    fn a_call_waits_for_its_turn_until_it_has_it_or_never_will() {
        let mut state = ToolState::new(call("run_command", serde_json::json!({})));
        assert!(matches!(state.progress(), Progress::Lost), "a stored one waits for nothing");
        state.queue();
        assert!(matches!(state.progress(), Progress::Queued));
        let before = state.revision();
        state.queue();
        assert_eq!(state.revision(), before, "the same is not new");
        state.stop();
        assert!(matches!(state.progress(), Progress::Lost) && state.revision() > before);
        state.queue();
        state.start(Duration::ZERO);
        assert!(matches!(state.progress(), Progress::Running));
        state.wait_for(Some(&question()));
        assert!(matches!(state.progress(), Progress::Asking));
        let result = ToolResult::to(state.call(), "no", true);
        state.answer(&result);
        assert!(matches!(state.progress(), Progress::Ended(had) if *had == result));
        state.queue();
        assert!(matches!(state.progress(), Progress::Ended(_)));
    }

    #[test]
    fn a_call_that_began_before_it_was_seen_has_all_its_time() {
        let mut state = ToolState::new(call("run_command", serde_json::json!({})));
        let ran = Duration::from_secs(3);
        state.start(ran);
        assert!(state.phase() == Phase::Running && state.has_clock());
        assert!(state.time().is_some_and(|time| time >= ran));
        state.start(Duration::ZERO);
        assert!(state.time().is_some_and(|time| time >= ran), "it begins once");
    }
}
