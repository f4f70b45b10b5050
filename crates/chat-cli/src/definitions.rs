//! Reports on the agents, commands and skills in files, and asks whether to trust those of a project.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::sync::Arc;

use chat_core::definitions::{Definitions, Problem, ProjectDefinitions};
use chat_core::message::ChatRequest;
use chat_presentation::words;

use crate::engine::Program;
use crate::error::Result;
use crate::keyboard::{Reading, Typed};
use crate::say;
use crate::terminal;
use crate::trust;

/// At most this many problems are reported, and all of the agent in use.
const MOST_PROBLEMS: usize = 3;

/// Reports what is wrong with files, and that the definitions of a project are not in use. Gives the definitions that are.
pub async fn report(request: &ChatRequest, program: &Program) -> Result<Arc<Definitions>> {
    let definitions = of_request(request, program).await?;
    report_problems(&definitions, request, program).await;
    if untrusted(&definitions).is_some() {
        remark(&say::definitions_untrusted(), program);
    }
    Ok(definitions)
}

/// The same, but asks the user whether to trust them, if they can answer. Waits for the answer. What was
/// typed and is none is added to `typed`.
pub async fn ask_for_trust(
    request: &ChatRequest,
    program: &Program,
    typed: &mut String,
) -> Result<()> {
    let definitions = of_request(request, program).await?;
    report_problems(&definitions, request, program).await;
    let Some(project) = untrusted(&definitions) else { return Ok(()) };
    if !Reading::is_possible(program.terminal) {
        remark(&say::definitions_untrusted(), program);
        return Ok(());
    }
    let mut question = format!("{}\n", words::trust_explanation());
    for item in project.untrusted() {
        let _ = writeln!(question, "  {}", words::project_item(item));
        let _ = writeln!(question, "    {}", words::project_item_state(item));
    }
    loop {
        question.push_str(&say::ask_trust());
        // Before the question is there: what is typed after it counts.
        let Some(mut reading) = Reading::begin_after(typed) else { return Ok(()) };
        terminal::say(&terminal::clean(&question));
        match reading.typed().await {
            Typed::Line(answer) if say::is_yes(&answer) => {
                program.manager.definitions().trust(project).await?;
            }
            Typed::Line(answer) if say::is_show(&answer) => {
                let whole = |item| trust::whole(item, &definitions.problems);
                question = project.untrusted().map(whole).collect();
                continue;
            }
            Typed::Line(answer) if say::is_no(&answer) => remark(&say::left_untrusted(), program),
            Typed::Line(text) => {
                remark(&say::no_answer(&text), program);
                typed.push_str(&text);
                typed.push('\n');
                question.clear();
                continue;
            }
            Typed::End => {
                terminal::say("\n");
                remark(&say::left_untrusted(), program);
            }
        }
        return Ok(());
    }
}

async fn of_request(request: &ChatRequest, program: &Program) -> Result<Arc<Definitions>> {
    let definitions = program.manager.definitions();
    match (&request.project, &request.session) {
        (None, Some(fid)) => Ok(definitions.of_session(fid).await?),
        (project, _) => Ok(definitions.of_project(project.as_deref()).await),
    }
}

fn untrusted(definitions: &Definitions) -> Option<&Arc<ProjectDefinitions>> {
    definitions.project.as_ref().filter(|project| !project.is_trusted())
}

async fn report_problems(definitions: &Definitions, request: &ChatRequest, program: &Program) {
    let problems = words::problems_to_show(&definitions.problems);
    if !problems.is_empty() {
        let agent = agent(request, program).await;
        report_some(problems, agent.as_deref(), definitions, program);
    }
}

/// The name of the agent that answers, if it is known before the request.
async fn agent(request: &ChatRequest, program: &Program) -> Option<String> {
    if request.agent.is_some() {
        return request.agent.clone();
    }
    let fid = request.session.as_ref()?;
    // What is wrong with the chat is said when it is used.
    let chats = program.manager.sessions().list().await.ok()?;
    chats.into_iter().find(|chat| chat.fid == *fid).map(|chat| chat.meta.agent)
}

/// Reports all problems of an agent, then some of the others and how many more there are.
fn report_some(
    problems: Vec<&Problem>,
    agent: Option<&str>,
    definitions: &Definitions,
    program: &Program,
) {
    let is_own = |problem: &&Problem| agent.is_some_and(|name| is_of(problem, name, definitions));
    let (mut shown, mut others): (Vec<_>, Vec<_>) = problems.into_iter().partition(is_own);
    let room = MOST_PROBLEMS.saturating_sub(shown.len()).min(others.len());
    shown.extend(others.drain(..room));
    for problem in shown {
        remark(&words::definition_problem(problem), program);
    }
    if !others.is_empty() {
        remark(&say::more_problems(others.len()), program);
    }
}

/// Whether a problem is one of the file of this agent, which is not among the definitions if it was never right.
fn is_of(problem: &Problem, name: &str, definitions: &Definitions) -> bool {
    let mut known = definitions.agents.iter().filter(|agent| agent.name == name);
    let is_in_agents = || problem.path.parent().is_some_and(|folder| folder.ends_with("agents"));
    known.any(|agent| agent.place.path == problem.path)
        || problem.path.file_stem() == Some(OsStr::new(name)) && is_in_agents()
}

/// The problems that the user of a conversation has seen.
#[derive(Default)]
pub struct Reported(Option<Vec<Problem>>);

impl Reported {
    /// Reports the problems that are new since the last time. The first time only remembers them: they were
    /// reported when the conversation began.
    pub async fn report_new(&mut self, request: &ChatRequest, program: &Program) {
        // What is wrong with the chat is said when it is used.
        let Ok(definitions) = of_request(request, program).await else { return };
        if let Some(known) = &self.0 {
            let mut new = words::problems_to_show(&definitions.problems);
            new.retain(|problem| !known.contains(problem));
            if !new.is_empty() {
                let agent = agent(request, program).await;
                report_some(new, agent.as_deref(), &definitions, program);
            }
        }
        self.0 = Some(definitions.problems.clone());
    }
}

fn remark(text: &str, program: &Program) {
    terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(text))));
}
