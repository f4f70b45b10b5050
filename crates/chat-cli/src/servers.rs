//! Reports which servers of tools a reply has to do without, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chat_core::definitions::Severity;
use chat_mcp::client::Fault;
use chat_mcp::config::Problem;
use chat_mcp::connection::{StartFault, State};
use chat_mcp::servers::{ServerKey, ServerStatus};
use chat_presentation::words;

use crate::engine::Program;
use crate::say;
use crate::terminal;

/// At most this many problems of the file are reported.
const MOST_PROBLEMS: usize = 3;

/// What was reported of servers.
#[derive(Debug, Default)]
pub struct Reported {
    problems: Vec<Problem>,
    faults: BTreeMap<ServerKey, StartFault>,
    /// The projects of which it was said that their servers are not trusted.
    untrusted: BTreeSet<PathBuf>,
}

impl Reported {
    /// Reports what is wrong with the servers that a reply in this project, or in none, needed: each thing once.
    pub async fn report_new(&mut self, project: Option<&Path>, program: &Program) {
        if let Some(project) = project
            && program.servers.project(project).await.has_untrusted()
            && self.untrusted.insert(project.to_owned())
        {
            remark(&say::servers_not_trusted_yet(), program);
        }
        let mut problems = program.servers.config().problems;
        problems.retain(|problem| problem.severity() == Severity::Error);
        if problems != self.problems {
            let file = program.servers.file().path().display();
            let new: Vec<_> = problems.iter().filter(|it| !self.problems.contains(it)).collect();
            for problem in new.iter().take(MOST_PROBLEMS) {
                remark(&format!("{file}: {}", words::mcp_problem(problem)), program);
            }
            if let Some(more) = new.len().checked_sub(MOST_PROBLEMS).filter(|more| *more > 0) {
                remark(&say::more_problems(more), program);
            }
            self.problems = problems;
        }
        for status in program.servers.list() {
            match fault(&status) {
                None => drop(self.faults.remove(&status.key)),
                Some(fault) if self.faults.get(&status.key) == Some(&fault) => {}
                Some(fault) => {
                    let name = &status.key.name;
                    let words = say::server_unavailable(name, &why(name, &fault));
                    remark(&words, program);
                    self.faults.insert(status.key, fault);
                }
            }
        }
    }
}

/// Why a server does not run, though it was started.
fn fault(status: &ServerStatus) -> Option<StartFault> {
    match &status.state {
        State::Failed { why, .. } => Some(why.clone()),
        // It takes longer than a reply waits.
        State::Starting if status.trouble.is_none() => {
            status.tools.is_none().then_some(StartFault::Client(Fault::TimedOut))
        }
        State::Starting => status.trouble.clone(),
        State::Stopped | State::Running => None,
    }
}

/// Why a server does not run, and what to do.
pub fn why(name: &str, fault: &StartFault) -> String {
    let words = words::mcp_start_fault(fault);
    match fault {
        StartFault::Client(Fault::Unauthorized(_)) => {
            format!("{words} {}", say::sign_in_first(name))
        }
        _ => words,
    }
}

fn remark(text: &str, program: &Program) {
    terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(text))));
}
