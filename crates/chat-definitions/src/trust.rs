//! Says what a project's definitions may do, and remembers which of them the user trusts.

mod files;
mod store;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_permission::Mode;

use crate::merge::Definition;
use crate::{AgentDefinition, CommandDefinition, Digest, Place, Skill};

pub use files::{SkillFileChange, SkillFileChangeKind};
pub use store::{ForgottenTrust, TrustStore};
use texts::Before;

/// All definitions of a project, for the question whether to trust them.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectDefinitions {
    /// The project's real path.
    pub root: PathBuf,
    /// The definitions, by kind and name.
    pub items: Vec<ProjectItem>,
    /// The hash of the sorted hashes of all of them.
    pub digest: Digest,
}

/// One definition of a project, and what it may do.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectItem {
    /// What it is.
    pub kind: ItemKind,
    /// Its name.
    pub name: String,
    /// What it says it is for, without hidden characters.
    pub description: Option<String>,
    /// Its file, absolute.
    pub path: PathBuf,
    /// The hash of its files.
    pub digest: Digest,
    /// The patterns of the tools that an agent may use; all if there is none. Those of a skill are only what its
    /// author expects, and allow nothing.
    pub tools: Option<Vec<String>>,
    /// The permission mode that it sets.
    pub mode: Option<Mode>,
    /// The model that it uses.
    pub model: Option<String>,
    /// The agent that a command uses.
    pub agent: Option<String>,
    /// How many files a skill has besides its own.
    pub files: usize,
    /// Whether the user trusts it as it is. If not, it is not in use.
    pub is_trusted: bool,
    /// Whether the user trusted an earlier version of its file.
    pub was_trusted: bool,
    /// The text of its file, as it was hashed.
    pub text: Arc<str>,
    /// The text that the user trusted before, if it is known and this one is not trusted.
    pub text_before: Option<Arc<str>>,
    /// What became of the files next to a skill's own since the user trusted it, by path: all are new where the skill
    /// is, and nothing is where it is trusted. None if it is not known.
    pub changed_files: Option<Vec<SkillFileChange>>,
    /// The hashes of all of them.
    pub(crate) file_hashes: BTreeMap<PathBuf, Digest>,
    /// Whether the user has one of this kind and name, in place of which it is used.
    pub replaces_own: bool,
}

/// The kinds of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// An agent.
    Agent,
    /// A command.
    Command,
    /// A skill.
    Skill,
}

impl ProjectDefinitions {
    pub(crate) fn new(
        root: &Path,
        mut items: Vec<ProjectItem>,
        trusted: &BTreeSet<Digest>,
        before: impl Fn(&Path) -> Option<Before>,
    ) -> Self {
        for item in &mut items {
            item.is_trusted = trusted.contains(&item.digest);
            let before = before(&item.path);
            item.was_trusted = before.is_some();
            let before = before.filter(|_| !item.is_trusted);
            item.changed_files = match &before {
                _ if item.is_trusted => Some(Vec::new()),
                None => Some(files::changes(&BTreeMap::new(), &item.file_hashes)),
                Some(_) if item.kind != ItemKind::Skill => Some(Vec::new()),
                Some(before) => {
                    before.files().map(|before| files::changes(&before, &item.file_hashes))
                }
            };
            item.text_before = before.and_then(|before| before.text());
        }
        items.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        let digest = Digest::of_all(items.iter().map(|item| item.digest));
        Self { root: root.to_owned(), items, digest }
    }

    /// Whether there is nothing to ask: everything is trusted, or there is nothing.
    pub fn is_trusted(&self) -> bool {
        self.items.iter().all(|item| item.is_trusted)
    }

    /// What is new or changed since the user trusted the project.
    pub fn untrusted(&self) -> impl Iterator<Item = &ProjectItem> {
        self.items.iter().filter(|item| !item.is_trusted)
    }
}

fn item(kind: ItemKind, name: &str, place: &Place) -> ProjectItem {
    ProjectItem {
        kind,
        name: name.to_owned(),
        description: None,
        path: place.path.clone(),
        digest: place.digest,
        tools: None,
        mode: None,
        model: None,
        agent: None,
        files: 0,
        is_trusted: false,
        was_trusted: false,
        text: place.text.clone().unwrap_or_default(),
        text_before: None,
        changed_files: None,
        file_hashes: BTreeMap::new(),
        replaces_own: false,
    }
}

impl Definition for AgentDefinition {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn item(&self) -> ProjectItem {
        ProjectItem {
            description: self.description.clone(),
            tools: self.tools.as_ref().map(|tools| tools.patterns().to_vec()),
            mode: self.mode,
            model: self.model.clone(),
            ..item(ItemKind::Agent, &self.name, &self.place)
        }
    }
}

impl Definition for CommandDefinition {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn item(&self) -> ProjectItem {
        ProjectItem {
            description: self.description.clone(),
            model: self.model.clone(),
            agent: self.agent.clone(),
            ..item(ItemKind::Command, &self.name, &self.place)
        }
    }
}

impl Definition for Skill {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn item(&self) -> ProjectItem {
        ProjectItem {
            description: Some(self.description.clone()),
            tools: (!self.allowed_tools.is_empty()).then(|| self.allowed_tools.clone()),
            files: self.files.len(),
            file_hashes: self.file_hashes.clone(),
            ..item(ItemKind::Skill, &self.name, &self.place)
        }
    }
}
