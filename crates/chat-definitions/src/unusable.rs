//! Says why something with a file is not among the definitions that count.

use std::ffi::OsStr;
use std::path::Path;

use crate::{Definitions, ItemKind, Problem, Severity};

/// Why a definition that has a file is not in use.
#[derive(Clone, Debug, PartialEq)]
pub enum Unusable {
    /// It belongs to the project, and the user does not trust it as it is.
    Untrusted,
    /// Its file is wrong, and never was right since it is read.
    Broken(Problem),
}

impl Definitions {
    /// Why the agent, command or skill of this name is not in use. None if it is, or if there is no file of it. A
    /// file that is wrong counts by its own name, since nobody knows what it says.
    pub fn unusable(&self, kind: ItemKind, name: &str) -> Option<Unusable> {
        if self.has(kind, name) {
            return None;
        }
        let broken = self.problems.iter().filter(|it| it.severity() == Severity::Error);
        let mut broken = broken.filter(|it| named(kind, &it.path) == Some(name));
        if let Some(problem) = broken.next() {
            return Some(Unusable::Broken(problem.clone()));
        }
        let mut items = self.project.iter().flat_map(|project| project.untrusted());
        items.any(|item| item.kind == kind && item.name == name).then_some(Unusable::Untrusted)
    }

    fn has(&self, kind: ItemKind, name: &str) -> bool {
        match kind {
            ItemKind::Agent => self.agents.iter().any(|agent| agent.name == name),
            ItemKind::Command => self.commands.iter().any(|command| command.name == name),
            ItemKind::Skill => self.skills.iter().any(|skill| skill.name == name),
        }
    }
}

/// The name of what a file defines, by the file's own.
fn named(kind: ItemKind, path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let is_in = |name: &str| folder.file_name() == Some(OsStr::new(name));
    match kind {
        ItemKind::Agent if is_in("agents") => path.file_stem()?.to_str(),
        ItemKind::Command if is_in("commands") => path.file_stem()?.to_str(),
        ItemKind::Skill if path.file_name() == Some(OsStr::new("SKILL.md")) => {
            folder.file_name()?.to_str()
        }
        ItemKind::Agent | ItemKind::Command | ItemKind::Skill => None,
    }
}
