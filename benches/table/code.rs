//! What the code assistant costs: its prompt, opening a large project and finding in it, keeping a
//! project's state, and the diff of a large change.

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use chat_core::agent::{Agent, CodeAssistant, KnownContext, PromptContext, RuleFile, Surroundings};
use chat_core::message::{Context, Excerpt, OpenFile, Selection};
use chat_core::permission::path::{PathEnvironment, Project};
use chat_core::review::diff::Diff;
use chat_core::review::{Journal, Limits};
use chat_project::{Event, Files, PreferredFiles};
use chat_testkit::server::text;

use super::Plan;
use super::editor;
use super::report::{Goal, Row};
use super::review;

/// Files of the project that is opened.
pub const MANY: usize = 100_000;

/// Files of the one whose state is kept.
const KEPT: usize = 10_000;

/// Lines of the change that is shown.
const LINES: usize = 5_000;

/// All rows of the code assistant.
pub async fn code(plan: &Plan) -> Result<Vec<Row>> {
    let mut rows = vec![prompt(plan), diff(plan), checkpoint(plan)?];
    rows.extend(open(plan)?);
    rows.extend(review::review(plan).await?);
    rows.extend(editor::editor(plan).await?);
    Ok(rows)
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// Instructions, and what the person has before them, with twenty open files.
fn prompt(plan: &Plan) -> Row {
    let mut row = Row::new("a prompt with 20 open files", "ms", Goal::AtMost(5.0));
    let around = Surroundings {
        project: Some("/home/ada/garden".into()),
        tools: chat_tools::all().into_iter().collect(),
        rules: vec![RuleFile {
            path: "AGENTS.md".to_owned(),
            text: text::markdown(30_000, 1),
            cut: false,
        }],
        ..Surroundings::default()
    };
    let excerpt = text::markdown(6_000, 2);
    let file = |at: usize| OpenFile {
        path: format!("/home/ada/garden/src/part{at}.rs").into(),
        active: at == 0,
        line: Some(40),
        selection: Some(Selection { from: 1, to: 80, text: excerpt.clone() }),
        around: Some(Excerpt { from: 1, text: excerpt.clone() }),
        ..OpenFile::default()
    };
    let context = Context { open_files: (0..20).map(file).collect(), ..Context::default() };
    let known = KnownContext::default();
    for _ in 0..plan.rounds {
        let began = Instant::now();
        let context = PromptContext {
            known: &known,
            context: &context,
            todos: &[],
            rejected: None,
            regained: None,
            project: around.project.as_deref(),
        };
        black_box((CodeAssistant.system_prompt(&around), CodeAssistant.context(&context)));
        black_box(around.tools.specs());
        row.natter.push(milliseconds(began));
    }
    row
}

/// The lines of a change, with the words that are other.
fn diff(plan: &Plan) -> Row {
    let what = format!("the diff of a change of {LINES} lines");
    let mut row = Row::new(what, "ms", Goal::AtMost(30.0));
    let line = |word: &str, at: usize| format!("    let {word}{at} = call(at, {});", at * 7);
    let lines = |word: &str| (0..LINES).map(|at| line(word, at)).collect::<Vec<_>>().join("\n");
    let (old, new) = (lines("before"), lines("after"));
    for _ in 0..plan.rounds {
        let began = Instant::now();
        let diff = Diff::new(old.as_bytes(), new.as_bytes());
        black_box(diff.rows());
        row.natter.push(milliseconds(began));
    }
    row
}

/// Makes so many files.
pub fn fill(folder: &Path, files: usize) -> Result<()> {
    for at in 0..files {
        let below = folder.join(format!("crates/part{}/src/inner{}", at % 97, at % 11));
        if at < 97 * 11 {
            std::fs::create_dir_all(&below)?;
        }
        std::fs::write(below.join(format!("file{at}.rs")), format!("fn number_{at}() {{}}\n"))?;
    }
    Ok(())
}

/// The state of a project that did not change since it was last kept.
fn checkpoint(plan: &Plan) -> Result<Row> {
    let what = format!("keeping the state of {KEPT} unchanged files");
    let mut row = Row::new(what, "ms", Goal::AtMost(150.0));
    let (folder, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fill(folder.path(), KEPT)?;
    let project = Project::open(folder.path(), &PathEnvironment::default())?;
    let journal = Journal::open(&project, None, state.path(), Limits::default())?;
    journal.checkpoint("bench", "first")?;
    for round in 0..plan.rounds {
        let began = Instant::now();
        black_box(journal.checkpoint("bench", &round.to_string())?);
        row.natter.push(milliseconds(began));
    }
    Ok(row)
}

/// A large project: until its tree is whole, what that takes, and a search in it.
fn open(plan: &Plan) -> Result<Vec<Row>> {
    let mut opened = Row::new(format!("opening {MANY} files"), "ms", Goal::AtMost(1000.0));
    let mut memory = Row::new("the memory that their tree takes", "MB", Goal::AtMost(80.0));
    let mut found = Row::new("a fuzzy search in them", "ms", Goal::AtMost(10.0));
    let folder = tempfile::tempdir()?;
    fill(folder.path(), MANY)?;
    for _ in 0..plan.rounds {
        let project = Project::open(folder.path(), &PathEnvironment::default())?;
        let (told, events) = mpsc::channel();
        let began = Instant::now();
        let files = Files::open(project, move |event| drop(told.send(event)))?;
        let tree = loop {
            if let Event::Rescanned = events.recv().context("the project is gone")? {
                let tree = files.tree();
                if tree.root().files() == MANY {
                    break tree;
                }
            }
        };
        opened.natter.push(milliseconds(began));
        let paths = tree.paths();
        let began = Instant::now();
        let hits = chat_project::search(
            paths,
            "part42 file",
            &PreferredFiles::default(),
            50,
            &AtomicBool::new(false),
        );
        found.natter.push(milliseconds(began));
        let hits = hits.ok_or_else(|| anyhow!("the search gave up"))?;
        anyhow::ensure!(hits.len() == 50, "only {} were found", hits.len());
        memory.natter.push(tree.memory() as f64 / 1e6);
    }
    Ok(vec![opened, memory, found])
}
