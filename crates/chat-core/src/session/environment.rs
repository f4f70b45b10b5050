//! Gathers the environment of a request: the project as it is now, its rules, and what the model can do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_permission::Mode;
use chat_permission::path::{Error as PathError, Project};
use chat_worktree::Worktrees;
use jiff::Zoned;

use super::Session;
use crate::agent::{Agent, ProjectStart, RuleFile, Surroundings, system_name};
use crate::client::Capabilities;
use crate::error::{Error, Kind, Result, WorktreeFault};
use crate::message::{ChatRequest, ModelRef};
use crate::settings::ToolSettings;
use crate::tool::{Registry, SourceScope};

/// Where a request is made, and how far it may go.
#[derive(Clone)]
pub(super) struct RequestScope {
    pub project: Option<PathBuf>,
    /// The file that the person works on.
    active: Option<PathBuf>,
    mode: Mode,
    /// The folder of the project that the session's work is about.
    folder: Option<PathBuf>,
    /// What the model is told in this chat alone.
    instructions: Option<String>,
}

impl RequestScope {
    /// Where a request would be made that is sent now.
    pub(super) fn of(self, request: &ChatRequest) -> Self {
        Self {
            project: request.project.clone().or(self.project),
            active: request.context.active().map(|file| file.path.clone()),
            mode: request.mode.unwrap_or(self.mode),
            folder: self.folder,
            instructions: request.instructions.clone().or(self.instructions),
        }
    }
}

/// What is done to know the tools of servers.
#[derive(Clone, Copy)]
pub(super) enum ServerTools<'a> {
    /// Servers are started whose tools nobody knows. Told which are waited for.
    Found(&'a (dyn Fn(Vec<String>) + Sync)),
    /// No server is started.
    AsKnown,
}

/// What a request is made in.
pub(super) struct RequestEnvironment {
    pub project: Option<Arc<Project>>,
    pub capabilities: Capabilities,
    mode: Mode,
    folder: Option<PathBuf>,
    instructions: Vec<String>,
    name: Option<String>,
    rules: Vec<RuleFile>,
    skills: Arc<str>,
    branch: Option<String>,
    start: Option<Arc<ProjectStart>>,
}

impl RequestEnvironment {
    /// What an agent's instructions are made of.
    pub(super) fn surroundings(&self, tools: Registry) -> Surroundings {
        Surroundings {
            project: self.project.as_ref().map(|project| project.root().to_owned()),
            tools,
            mode: self.mode,
            folder: self.folder.clone(),
            name: self.name.clone(),
            skills: Arc::clone(&self.skills),
            rules: self.rules.clone(),
            branch: self.branch.clone(),
            start: self.start.clone(),
            system: system_name().to_owned(),
            instructions: self.instructions.clone(),
            today: Some(Zoned::now().date()),
        }
    }
}

/// A project as it is on disk.
struct Folder {
    project: Project,
    rules: Vec<RuleFile>,
    branch: Option<String>,
    start: Arc<ProjectStart>,
}

impl Session {
    /// Where its last request was made.
    pub(super) fn scope(&self) -> RequestScope {
        let folder = self.folder();
        let mode = self.effective_mode();
        let state = self.lock();
        RequestScope {
            project: state.record.project.clone(),
            active: state.active_file.clone(),
            mode,
            folder,
            instructions: state.record.instructions.clone(),
        }
    }

    /// What the user tells the model: in all chats, in those of the project, in this one.
    fn instructions(&self, project: Option<&Path>, own: Option<String>) -> Vec<String> {
        let settings = self.services.clients.settings();
        let of_project = project.map(|project| settings.project_instructions(project).to_owned());
        [settings.chat.instructions.clone()].into_iter().chain(of_project).chain(own).collect()
    }

    /// The project's folder as it is now, and what the model can do with tools, where there are
    /// any to offer.
    pub(super) async fn gather_environment(
        &self,
        model: &ModelRef,
        scope: RequestScope,
        server_tools: ServerTools<'_>,
    ) -> Result<RequestEnvironment> {
        let RequestScope { project: folder, active, mode, folder: part, instructions } = scope;
        let instructions = self.instructions(folder.as_deref(), instructions);
        let skills = self.listed_skills(model, folder.clone()).await;
        let about = active.or_else(|| Some(folder.as_ref()?.join(part.as_ref()?)));
        let folder = match folder {
            Some(folder) => {
                let kept = self.services.path_environment.clone();
                let worktrees = self.services.worktrees.clone();
                let secrets = self.services.clients.settings().permissions.secrets.clone();
                let first = Arc::clone(&self.project_start);
                let looking = tokio::task::spawn_blocking(move || {
                    let project = Project::open(&folder, &kept);
                    let project = project.map_err(|error| refused(&error, folder, &worktrees))?;
                    let project = project.with_secrets(secrets);
                    let start = first.at(&project);
                    Ok::<_, Error>(read_folder(project, about.as_deref(), start))
                });
                Some(looking.await.map_err(|_| Kind::Internal)??)
            }
            None => None,
        };
        let root = folder.as_ref().map(|folder| folder.project.root().to_owned());
        if let Some(source) = &self.services.tool_source {
            match server_tools {
                ServerTools::Found(waits_for) => source.prepare(root.as_deref(), waits_for).await,
                ServerTools::AsKnown => source.recall(root.as_deref()).await,
            }
        }
        let offers = !self.offered(root.as_deref(), None).is_empty();
        let capabilities = if offers {
            self.services.clients.capabilities(model).await
        } else {
            Capabilities::default()
        };
        let (project, rules, branch, start) = match folder {
            Some(Folder { project, rules, branch, start }) => {
                (Some(Arc::new(project)), rules, branch, Some(start))
            }
            None => (None, Vec::new(), None, None),
        };
        let name = self.lock().record.name.clone().filter(|_| self.parent.is_some());
        Ok(RequestEnvironment {
            project,
            capabilities,
            mode,
            folder: part,
            instructions,
            name,
            rules,
            skills,
            branch,
            start,
        })
    }

    /// What a request would be made in now, with the tools of servers that are known.
    pub(super) async fn current_surroundings(
        &self,
        agent: &dyn Agent,
        model: &ModelRef,
        scope: RequestScope,
    ) -> Result<Surroundings> {
        let mut environment = self.gather_environment(model, scope, ServerTools::AsKnown).await?;
        // The session may have another agent, or none yet.
        if let Some(ceiling) = agent.ceiling() {
            environment.mode = ceiling.within(environment.mode);
        }
        let plans = environment.mode == Mode::Plan;
        let settings = self.services.clients.settings();
        let root = environment.project.as_ref().map(|project| project.root());
        let model = (model, environment.capabilities);
        let offered = self.tools(agent.name(), root, model, &settings.tools);
        let offered = offered.only(|tool| !plans || tool.info().kind.in_plan_mode());
        let (tools, _) = agent.configure_tools(&offered);
        Ok(environment.surroundings(tools))
    }

    /// The tools that an agent can be offered with these settings and a model that can do this.
    pub(super) fn tools(
        &self,
        agent: &str,
        project: Option<&Path>,
        (model, capabilities): (&ModelRef, Capabilities),
        settings: &ToolSettings,
    ) -> Registry {
        if capabilities.tools == Some(false) {
            return Registry::default();
        }
        let plans = self.effective_mode() == Mode::Plan;
        let is_for = self.audience();
        let has_skills = self.lists_skills();
        let window = self.services.clients.longest_window(model);
        self.offered(project, window)
            .only(|tool| settings.is_on(agent, tool.info().name()))
            .only(|tool| !plans || tool.info().kind.in_plan_mode())
            .only(|tool| is_for(tool.info().audience))
            .only(|tool| has_skills || !tool.loads_skills())
    }

    /// The tools that there are to offer with these settings and such a window. Of the program's own a
    /// conversation without a project is given some only where the person set up a search of the web, and
    /// what reads on in long results where servers may give some.
    fn offered(&self, project: Option<&Path>, window: Option<u32>) -> Registry {
        let settings = &self.services.clients.settings().tools;
        let percent = settings.server_tools_percent;
        let scope = SourceScope { project, memory: &self.memory, window, percent };
        let foreign = self.services.tool_source.as_ref().map(|source| source.tools(scope));
        let foreign = foreign.unwrap_or_default();
        let own = self.services.tools.only(|tool| {
            let helps = settings.search.is_some() || (tool.reads_outputs() && !foreign.is_empty());
            let fits = project.is_some() || (helps && !tool.info().needs_project);
            fits && tool.is_set_up(settings)
        });
        own.with(foreign)
    }
}

/// The rules that count where the person works, and the branch.
fn read_folder(project: Project, active: Option<&Path>, start: Arc<ProjectStart>) -> Folder {
    let inside = active.and_then(|active| active.strip_prefix(project.root()).ok());
    let rules = chat_project::rules(&project, inside.unwrap_or(Path::new("")));
    let rules = rules.files.into_iter().map(|rule| RuleFile {
        path: rule.path.display().to_string(),
        text: rule.text,
        cut: rule.is_cut,
    });
    let rules = rules.collect();
    let branch = chat_project::git::find(&project).ok().flatten();
    let branch = branch.and_then(|repository| repository.head());
    Folder { project, rules, branch, start }
}

/// Why a folder cannot be worked in, for people.
fn refused(error: &PathError, path: PathBuf, worktrees: &Worktrees) -> Error {
    if let PathError::Own(_) = error {
        return Kind::ProjectRefused { path }.into();
    }
    match WorktreeFault::of_removed(worktrees, &path) {
        Some(fault) => Kind::Worktree { fault }.into(),
        None => Error::new(Kind::ProjectMissing { path }).with_detail(error.to_string()),
    }
}
