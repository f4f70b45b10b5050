//! How fast and how small Natter is: each figure next to its floor, taken in turn in one run.
//!
//! `scripts/bench [ROW…] [--rounds N]`: prints a table in Markdown, and keeps the raw samples.

mod agents;
mod attachments;
mod branches;
mod code;
mod conversation;
mod drafts;
mod editor;
mod engine;
mod growth;
mod idle;
mod import;
mod loaded;
mod process;
mod report;
mod review;
mod seed;
mod servers;
mod start;
mod terminal;
mod tools;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use chat_testkit::ui::Launch;

use report::Row;

/// What is to be measured, and with which programs.
#[derive(Debug)]
pub struct Plan {
    /// How often each side is measured.
    pub rounds: usize,
    /// The names of rows; all where there are none.
    wanted: Vec<String>,
    /// Where the programs lie.
    programs: PathBuf,
}

/// The names of the groups of rows.
const GROUPS: [&str; 16] = [
    "window",
    "conversation",
    "stored-chat",
    "branches",
    "attachments",
    "import",
    "terminal",
    "idle",
    "sessions",
    "agents",
    "engine",
    "drafts",
    "growth",
    "tools",
    "servers",
    "code",
];

impl Plan {
    fn from_arguments() -> Result<Self> {
        // Beside this program's own folder, `examples`.
        let here = std::env::current_exe()?;
        let programs = here.parent().and_then(|folder| folder.parent());
        let programs = programs.context("this program lies in no folder")?.to_owned();
        let mut plan = Self { rounds: 9, wanted: Vec::new(), programs };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--rounds" => {
                    plan.rounds = arguments.next().context("--rounds wants a number")?.parse()?;
                }
                group if GROUPS.contains(&group) => plan.wanted.push(argument),
                _ => bail!("no such group: {argument}. There are: {}", GROUPS.join(", ")),
            }
        }
        Ok(plan)
    }

    fn wants(&self, group: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == group)
    }

    /// A program that was built beside this one.
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Natter's window, without accessibility: its floor has as little.
    pub fn natter(&self) -> Launch {
        Launch::new(self.program("natter")).env("GTK_A11Y", "none")
    }

    /// A window with nothing in it.
    pub fn empty_window(&self) -> Launch {
        Launch::new(self.program("examples/empty_window")).env("GTK_A11Y", "none")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    if let (Some(first), Some(count)) = (arguments.next(), arguments.next())
        && first == loaded::HOLD
    {
        return loaded::hold(count.parse()?).await;
    }
    let plan = Plan::from_arguments()?;
    let mut rows: Vec<Row> = Vec::new();
    let kept = plan.programs.parent().context("no target folder")?.join("bench");
    for group in GROUPS.into_iter().filter(|group| plan.wants(group)) {
        eprintln!("measuring: {group}");
        let measured = match group {
            "window" => start::window(&plan).await,
            "conversation" => conversation::streaming(&plan).await,
            "stored-chat" => start::stored_chat(&plan).await,
            "branches" => branches::branches(&plan).await,
            "attachments" => attachments::photo(&plan).await,
            "import" => import::import(&plan).await,
            "terminal" => terminal::ask(&plan).await,
            "idle" => idle::window(&plan).await,
            "agents" => agents::agents(&plan).await,
            "engine" => engine::built_in(&plan).await,
            "drafts" => drafts::drafts(&plan).await,
            "growth" => growth::window(&plan).await,
            "tools" => tools::tools(&plan).await,
            "servers" => servers::servers(&plan).await,
            "code" => code::code(&plan).await,
            _ => idle::unseen_sessions(&plan).await,
        };
        rows.extend(measured.with_context(|| format!("measuring {group}"))?);
        // What was measured stays, whatever becomes of the rest.
        report::keep(&rows, &kept)?;
    }
    print!("{}", report::table(&rows));
    eprintln!("raw samples: {}", kept.join("samples.json").display());
    Ok(())
}
