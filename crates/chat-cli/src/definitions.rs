//! Reports on the agents, commands and skills in files, and asks whether to trust those of a project.

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

/// At most this many problems are reported.
const MOST_PROBLEMS: usize = 3;

/// Reports what is wrong with files, and that the definitions of a project are not in use. Gives the definitions that are.
pub async fn report(request: &ChatRequest, program: &Program) -> Result<Arc<Definitions>> {
    let definitions = of_request(request, program).await?;
    report_problems(&definitions, program);
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
    report_problems(&definitions, program);
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
                question = project.untrusted().map(trust::whole).collect();
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

fn report_problems(definitions: &Definitions, program: &Program) {
    for problem in words::problems_to_show(&definitions.problems).into_iter().take(MOST_PROBLEMS) {
        remark(&words::definition_problem(problem), program);
    }
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
            let shown = words::problems_to_show(&definitions.problems).into_iter();
            for problem in shown.filter(|problem| !known.contains(problem)).take(MOST_PROBLEMS) {
                remark(&words::definition_problem(problem), program);
            }
        }
        self.0 = Some(definitions.problems.clone());
    }
}

fn remark(text: &str, program: &Program) {
    terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(text))));
}
