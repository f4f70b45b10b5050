//! Provides a session for tests: rules and a mode that are really judged, and a user with scripted
//! answers.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chat_core::message::{Preview, Question, Todo, ToolCallId};
use chat_core::settings::ToolSettings;
use chat_core::tool::{
    Changes, Denied, Memory, PermissionCheck, PermissionGrant, Tool, ToolContext, ToolFailure,
    ToolHost, ToolOutput, check,
};
use chat_permission::path::{PathEnvironment, Project};
use chat_permission::{
    Action, Decision, Effect, Entry, Mode, Request, Scope, Why, decide, decide_all,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::world::{action, asks_only_for_what_it_says};

/// A session with an empty project.
pub struct Room {
    pub folder: TempDir,
    pub settings: ToolSettings,
    pub sees: bool,
    pub cancel: CancellationToken,
    person: Arc<Person>,
}

/// Judges as a session does, and answers for the person.
struct Person {
    rules: Vec<Entry>,
    mode: Mode,
    /// What they say to what they are asked; none is nobody.
    says: Option<bool>,
    asked: Mutex<Vec<PermissionCheck>>,
    /// The permissions that tools asked for, whoever gave them.
    wanted: Mutex<Vec<Action>>,
}

impl Room {
    /// A session with these rules, `network:*` among others, and a person who says no.
    pub fn new(rules: &[&str]) -> Self {
        Self::with(rules, Mode::Ask, Some(false))
    }

    pub fn with(rules: &[&str], mode: Mode, says: Option<bool>) -> Self {
        // One that denies begins with a minus.
        let rules = rules.iter().map(|rule| match rule.strip_prefix('-') {
            Some(rule) => (rule, Effect::Deny),
            None => (*rule, Effect::Allow),
        });
        let rules = rules.map(|(rule, effect)| Entry {
            rule: rule.parse().unwrap(),
            effect,
            scope: Scope::Session,
        });
        let person = Person {
            rules: rules.collect(),
            mode,
            says,
            asked: Mutex::default(),
            wanted: Mutex::default(),
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            settings: ToolSettings { fetch_seconds: 20, ..ToolSettings::default() },
            sees: false,
            cancel: CancellationToken::new(),
            person: Arc::new(person),
        }
    }

    /// The project's folder.
    pub fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    /// The names of the files in the project, in order.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = match std::fs::read_dir(self.project()) {
            Ok(files) => {
                files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
            }
            Err(_) => Vec::new(),
        };
        names.sort();
        names
    }

    /// What the person was asked: "network example.org (private)", and what they were shown.
    pub fn asked(&self) -> Vec<String> {
        let shown = |check: &PermissionCheck| {
            let what = match &check.requests[0] {
                Request::Network { host, private: false, .. } => format!("network {host}"),
                Request::Network { host, private: true, .. } => format!("network {host} (private)"),
                Request::Write { path } => format!("write {}", path.display_path().display()),
                other => format!("{other:?}"),
            };
            match &check.preview {
                Preview::Address { url } => format!("{what}: {url}"),
                Preview::Store { url, bytes } => format!("{what}: {bytes} bytes of {url}"),
                other => format!("{what}: {other:?}"),
            }
        };
        self.person.asked.lock().unwrap().iter().map(shown).collect()
    }

    /// Runs a tool as a session does.
    pub async fn run(&self, tool: &dyn Tool, arguments: Value) -> Result<ToolOutput, ToolFailure> {
        let project = self.project();
        std::fs::create_dir_all(&project).unwrap();
        let info = tool.info();
        let checked = check(&arguments, &info.spec.parameters, info.aliases);
        let checked = checked.map_err(ToolFailure::new)?;
        let result = tool.run(checked.value, self.context(&project)).await;
        asks_only_for_what_it_says(info, &std::mem::take(&mut *self.person.wanted.lock().unwrap()));
        result
    }

    fn context(&self, project: &Path) -> ToolContext {
        let project = Project::open(project, &PathEnvironment::default()).unwrap();
        ToolContext {
            cancel: self.cancel.clone(),
            call: ToolCallId::new("call"),
            project: Some(Arc::new(project)),
            memory: Arc::new(Memory::default()),
            outputs: self.folder.path().join("outputs"),
            settings: Arc::new(self.settings.clone()),
            sees: self.sees,
            most: 256 * 1024,
            host: self.person.clone(),
            team: None,
            skills: Vec::new(),
            changes: Changes::default(),
            asked: Arc::default(),
        }
    }
}

#[async_trait]
impl ToolHost for Person {
    async fn permit(&self, check: PermissionCheck) -> Result<PermissionGrant, Denied> {
        self.wanted.lock().unwrap().extend(check.requests.iter().map(action));
        match decide_all(&self.rules, self.mode, &check.requests) {
            Decision::Pass => Ok(PermissionGrant::ByRule),
            Decision::Refuse { why, allowed_by } => Err(Denied::ByRule { why, allowed_by }),
            Decision::Ask { .. } => {
                self.asked.lock().unwrap().push(check);
                match self.says {
                    Some(true) => Ok(PermissionGrant::ByPerson),
                    Some(false) => Err(Denied::ByPerson { message: None }),
                    None => Err(Denied::Nobody),
                }
            }
        }
    }

    fn refusal(&self, request: &Request) -> Option<Why> {
        match decide(&self.rules, self.mode, request) {
            Decision::Refuse { why, .. } => Some(why),
            Decision::Pass | Decision::Ask { .. } => None,
        }
    }

    fn passes(&self, request: &Request) -> bool {
        decide(&self.rules, self.mode, request) == Decision::Pass
    }

    async fn ask(&self, _: Question) -> Result<String, Denied> {
        Err(Denied::Nobody)
    }

    fn on_output(&self, _: &str, _: u64) {}

    fn on_todos(&self, _: Vec<Todo>) {}
}
