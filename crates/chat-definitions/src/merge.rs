//! Puts the definitions of user and project together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_permission::path::Project;

use crate::scan::{Memory, Scan};
use crate::tree::Tree;
use crate::visible::quoted;
use crate::watch_list::WatchList;
use crate::{
    AgentDefinition, CommandDefinition, Digest, Origin, Place, Problem, ProblemKind,
    ProjectDefinitions, ProjectItem, Severity, Skill, TrustStore, agent, command,
};

/// Where definitions are looked for.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Natter's config folder, with `agents`, `commands` and `skills`.
    pub config: Option<PathBuf>,
    /// The home folder, with `.agents/skills` and `.claude/skills`.
    pub home: Option<PathBuf>,
    /// The project, with `.natter/agents`, `.natter/commands`, `.agents/skills` and `.claude/skills`.
    pub project: Option<Project>,
    /// The names of the built-in agents, which no file may take.
    pub built_in: Vec<String>,
    /// The names of all tools. A pattern of an agent that matches none of them is a problem; with no names here nothing
    /// is checked.
    pub tools: Vec<String>,
    /// Remembers what is trusted. Without it nothing of a project is.
    pub trust: Option<TrustStore>,
}

/// All definitions that count at a moment, each list sorted by name. The project's are in it if they are trusted, in
/// place of the user's of the same names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// The agents, none of them with the name of a built-in one.
    pub agents: Vec<Arc<AgentDefinition>>,
    /// The commands.
    pub commands: Vec<Arc<CommandDefinition>>,
    /// The skills.
    pub skills: Vec<Arc<Skill>>,
    /// What is wrong, sorted by file and line; folders that are not watched come last.
    pub problems: Vec<Problem>,
    /// What the project brings, trusted or not, if there is a project.
    pub project: Option<Arc<ProjectDefinitions>>,
}

/// Reads all definitions once. Blocks.
pub fn load(sources: &Sources) -> Definitions {
    Loader::new(sources.clone()).scan().0
}

/// Reads all definitions, again and again.
pub(crate) struct Loader {
    sources: Sources,
    agents: Memory<AgentDefinition>,
    commands: Memory<CommandDefinition>,
    skills: Memory<Skill>,
}

/// What is the same for agents, commands and skills.
pub(crate) trait Definition {
    fn name(&self) -> &str;
    fn place(&self) -> &Place;
    fn item(&self) -> ProjectItem;
}

impl Loader {
    pub fn new(sources: Sources) -> Self {
        Self { sources, agents: Memory::new(), commands: Memory::new(), skills: Memory::new() }
    }

    /// The definitions as they are now, and what is to be watched to know when they change.
    pub fn scan(&mut self) -> (Definitions, WatchList) {
        let mut scan = Scan::new();
        let user = |path: &Option<PathBuf>| path.clone().map(|base| Arc::new(Tree::User(base)));
        let config = user(&self.sources.config);
        let home = user(&self.sources.home);
        let project = self.sources.project.clone().map(|project| Arc::new(Tree::Project(project)));

        let in_config = |folder| config.iter().map(move |tree| (tree, Path::new(folder)));
        let in_home = |folder| home.iter().map(move |tree| (tree, Path::new(folder)));
        let in_project = |folder| project.iter().map(move |tree| (tree, Path::new(folder)));
        let skill_folders: Vec<_> = in_config("skills")
            .chain(in_home(".agents/skills"))
            .chain(in_home(".claude/skills"))
            .collect();
        // A home folder can be a project, too: what is there is the user's own.
        let real =
            |(tree, folder): &(&Arc<Tree>, &Path)| fs::canonicalize(tree.base().join(folder)).ok();
        let own: BTreeSet<_> = skill_folders.iter().filter_map(real).collect();
        let project_skill_folders = in_project(".agents/skills")
            .chain(in_project(".claude/skills"))
            .filter(|folder| real(folder).is_none_or(|real| !own.contains(&real)));

        let mut agents = Vec::new();
        for (tree, folder) in in_config("agents").chain(in_project(".natter/agents")) {
            agents.extend(scan.markdown(tree, folder, &mut self.agents, agent::parse));
        }
        let mut commands = Vec::new();
        for (tree, folder) in in_config("commands").chain(in_project(".natter/commands")) {
            commands.extend(scan.markdown(tree, folder, &mut self.commands, command::parse));
        }
        let mut skills = Vec::new();
        for (tree, folder) in skill_folders.iter().copied().chain(project_skill_folders) {
            skills.extend(scan.skills(tree, folder, &mut self.skills));
        }
        let Scan { mut problems, mut watched, .. } = scan;

        agents.retain(|agent| !self.takes_built_in(agent, &mut problems));
        self.check_tools(&agents, &mut problems);
        unique(&mut agents, &mut problems);
        unique(&mut commands, &mut problems);
        unique(&mut skills, &mut problems);

        let mut trusted = BTreeSet::new();
        let mut definitions = None;
        if let Some(project) = &self.sources.project {
            if let Some(store) = &self.sources.trust {
                trusted = store.trusted(project.root());
                if let (Some(folder), Some(name)) =
                    (store.path().parent(), store.path().file_name())
                {
                    watched.name(folder, name);
                }
            }
            let items = items(&agents).chain(items(&commands)).chain(items(&skills));
            let before = self.sources.trust.as_ref().map(|store| store.files(project.root()));
            let before = |path: &Path| before.as_ref()?.get(path).cloned();
            let items = items.collect();
            definitions = Some(ProjectDefinitions::new(project.root(), items, &trusted, before));
        }
        problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        let snapshot = Definitions {
            agents: in_use(agents, &trusted),
            commands: in_use(commands, &trusted),
            skills: in_use(skills, &trusted),
            problems,
            project: definitions.map(Arc::new),
        };
        (snapshot, watched)
    }

    /// The problem that a folder cannot be watched.
    pub fn unwatched(&self, path: &Path) -> Problem {
        let is_project =
            self.sources.project.as_ref().is_some_and(|project| path.starts_with(project.root()));
        let origin = if is_project { Origin::Project } else { Origin::User };
        Problem { path: path.to_owned(), line: None, origin, kind: ProblemKind::Unwatched }
    }

    /// Complains of patterns that no tool matches.
    fn check_tools(&self, agents: &[Arc<AgentDefinition>], problems: &mut Vec<Problem>) {
        if self.sources.tools.is_empty() {
            return;
        }
        for agent in agents {
            let Place { origin, path, .. } = &agent.place;
            // The lines of an earlier version are not those of the file as it is now.
            let is_old = |it: &Problem| it.path == *path && it.kind.severity() == Severity::Error;
            let Some(tools) = agent.tools.as_ref().filter(|_| !problems.iter().any(is_old)) else {
                continue;
            };
            for (line, glob) in tools.without_tool(&self.sources.tools) {
                let kind = ProblemKind::NoSuchTool { glob: quoted(glob) };
                let (path, origin) = (path.clone(), *origin);
                problems.push(Problem { path, line: Some(line), origin, kind });
            }
        }
    }

    /// Whether an agent has the name of a built-in one.
    fn takes_built_in(&self, agent: &AgentDefinition, problems: &mut Vec<Problem>) -> bool {
        let Place { origin, path, .. } = &agent.place;
        let takes = self.sources.built_in.contains(&agent.name);
        if takes {
            let kind = ProblemKind::BuiltInName { name: agent.name.clone() };
            problems.push(Problem { path: path.clone(), line: None, origin: *origin, kind });
        }
        takes
    }
}

/// Keeps the first definition of each name and origin. The same skill in two folders is no problem.
fn unique<T: Definition + Same>(definitions: &mut Vec<Arc<T>>, problems: &mut Vec<Problem>) {
    let mut first: BTreeMap<(Origin, String), Arc<T>> = BTreeMap::new();
    definitions.retain(|definition| {
        let place = definition.place();
        let key = (place.origin, definition.name().to_owned());
        let Some(used) = first.get(&key) else {
            first.insert(key, Arc::clone(definition));
            return true;
        };
        if !definition.is_same(used) {
            let name = definition.name().to_owned();
            let kind = ProblemKind::DuplicateName { name, used: used.place().path.clone() };
            let (path, origin) = (place.path.clone(), place.origin);
            problems.push(Problem { path, line: None, origin, kind });
        }
        false
    });
}

/// Whether two definitions of the same name say the same.
trait Same {
    fn is_same(&self, _: &Self) -> bool {
        false
    }
}

impl Same for AgentDefinition {}
impl Same for CommandDefinition {}
impl Same for Skill {
    fn is_same(&self, other: &Self) -> bool {
        self.has_text_of(other)
    }
}

fn items<T: Definition>(definitions: &[Arc<T>]) -> impl Iterator<Item = ProjectItem> {
    let of = |origin| definitions.iter().filter(move |it| it.place().origin == origin);
    let own: BTreeSet<_> = of(Origin::User).map(|it| it.name()).collect();
    of(Origin::Project).map(move |definition| {
        let replaces_own = own.contains(definition.name());
        ProjectItem { replaces_own, ..definition.item() }
    })
}

/// The user's, and the project's that are trusted in place of those, by name.
fn in_use<T: Definition>(definitions: Vec<Arc<T>>, trusted: &BTreeSet<Digest>) -> Vec<Arc<T>> {
    let mut by_name: BTreeMap<String, Arc<T>> = BTreeMap::new();
    for definition in definitions {
        let Place { origin, digest, .. } = definition.place();
        let counts = *origin == Origin::User || trusted.contains(digest);
        let name = definition.name();
        let is_weaker = by_name.get(name).is_some_and(|known| known.place().origin > *origin);
        if counts && !is_weaker {
            by_name.insert(name.to_owned(), definition);
        }
    }
    by_name.into_values().collect()
}
