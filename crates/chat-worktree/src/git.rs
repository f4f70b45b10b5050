//! Runs `git` on the user's repositories without any of their settings.
//!
//! As in `chat-project`, git never works in the repository's own folder, whose settings may name
//! programs (`core.fsmonitor`, filters, hooks, merge drivers, and whatever a later git may add). It
//! gets a [private folder](private::GitDir) in which objects and references are links to the
//! repository's, and the settings are ours. Commit graphs are not read either: a command that may
//! write objects could forge one.

pub mod private;
mod run;
mod settings;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use run::{Output, pipe, run, run_with, succeeded};

use crate::Error;

/// The program, by its whole path: a project must not bring one of its own.
#[derive(Clone, Debug)]
pub struct Git(PathBuf);

impl Git {
    /// Finds it, but not below `project`.
    pub fn find(project: &Path) -> Result<Self, Error> {
        chat_project::program("git", project).map(Self).ok_or(Error::NoGit)
    }

    /// A call of it, in an environment with nothing but what it needs.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.env_clear().current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = std::env::var_os("TMPDIR") {
            command.env("TMPDIR", folder);
        }
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("HOME", "/nonexistent"),
            ("LC_ALL", "C"),
            // A program that is not found cannot be started by its name.
            ("PATH", "/nonexistent"),
        ] {
            command.env(name, value);
        }
        for setting in [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.attributesFile=/dev/null",
            "core.commitGraph=false",
            "core.splitIndex=false",
            "core.untrackedCache=false",
            "gc.auto=0",
            "maintenance.auto=false",
        ] {
            command.args(["-c", setting]);
        }
        command.arg("--no-pager");
        command
    }
}

/// The user's name and address in a list of settings.
pub fn user(listed: &[u8]) -> (Option<String>, Option<String>) {
    settings::Settings::read(listed).user
}
