//! What a request is made in, for an agent's instructions.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use chat_permission::Mode;
use jiff::civil::Date;

use crate::tool::Registry;

const PLAN: &str = "You are in plan mode: nothing may be changed or run. Study the project, then \
end with a plan: numbered steps, each naming the files and what changes in them, and how it will \
be checked. The person starts it with one click.";

/// What a request is made in.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The folder to work in, where there is one.
    pub project: Option<PathBuf>,
    /// The tools that are offered.
    pub tools: Registry,
    /// What tools may do without asking.
    pub mode: Mode,
    /// The project's own rules, those of the outermost folder first.
    pub rules: Vec<RuleFile>,
    /// The branch of the project's repository.
    pub branch: Option<String>,
    /// The system that commands run on, as it names itself.
    pub system: String,
    /// Today, where the person is.
    pub today: Option<Date>,
}

/// A file with rules of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Its path, relative to the project.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Whether there is more of it.
    pub cut: bool,
}

impl Surroundings {
    /// What the model must know of the session's mode.
    pub(super) fn mode(&self) -> &'static str {
        match self.mode {
            Mode::Plan => PLAN,
            Mode::Ask | Mode::Edits | Mode::Unattended => "",
        }
    }

    /// Where the work is done, a line each.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                let _ = writeln!(text, "{what}: {value}");
            }
        };
        line("System", Some(self.system.clone()));
        line("Folder", self.project.as_ref().map(|project| project.display().to_string()));
        line("Git branch", self.branch.clone());
        line("Date", self.today.map(|today| today.to_string()));
        text
    }
}

/// The system that commands run on, as it names itself.
pub(crate) fn system() -> &'static str {
    static SYSTEM: LazyLock<String> = LazyLock::new(|| {
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        let name = name.map_or(std::env::consts::OS, |name| name.trim_matches('"'));
        format!("{name}, {}", std::env::consts::ARCH)
    });
    &SYSTEM
}
