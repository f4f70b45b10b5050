//! Provides a project in a temporary folder, and a session with scripted answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chat_core::message::{Preview, Question, Todo, ToolCallId};
use chat_core::settings::ToolSettings;
use chat_core::tool::{
    Changes, Denied, Memory, PermissionCheck, PermissionGrant, ToolContext, ToolFailure, ToolHost,
    ToolInfo, ToolOutput,
};
use chat_permission::path::{PathEnvironment, Project};
use chat_permission::{
    Action, Decision, Effect, Entry, Mode, Request, Scope, Why, decide, decide_all,
};
use chat_sandbox::Preference;
use chat_tools::{Machine, Trash};
use serde_json::Value;

/// A project, and all that is around it.
pub struct World {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
    pub project: PathBuf,
    pub host: Arc<Host>,
    pub context: ToolContext,
    pub sandbox: Preference,
}

/// What the person does when they are asked.
type Answer = Box<dyn FnMut(&PermissionCheck) -> Result<(), Denied> + Send>;

/// A session: the real policy, and a person who answers.
#[derive(Default)]
pub struct Host {
    pub mode: Mutex<Mode>,
    pub rules: Mutex<Vec<Entry>>,
    answer: Mutex<Option<Answer>>,
    /// What the person was asked: the action and the path, or the command.
    pub asked: Mutex<Vec<String>>,
    pub previews: Mutex<Vec<Preview>>,
    pub questions: Mutex<Vec<Question>>,
    pub todos: Mutex<Vec<Todo>>,
    pub tails: Mutex<Vec<(String, u64)>>,
    /// Whether the person has commands that they allow leave the sandbox.
    pub leaves_sandbox: AtomicBool,
    /// The permissions that tools asked for, whoever gave them.
    wanted: Mutex<Vec<Action>>,
    written: tokio::sync::Notify,
}

#[async_trait]
impl ToolHost for Host {
    async fn permit(&self, check: PermissionCheck) -> Result<PermissionGrant, Denied> {
        self.wanted.lock().unwrap().extend(check.requests.iter().map(action));
        let decision =
            decide_all(&self.rules.lock().unwrap(), *self.mode.lock().unwrap(), &check.requests);
        match decision {
            Decision::Pass => Ok(PermissionGrant::ByRule),
            Decision::Refuse { why, allowed_by } => Err(Denied::ByRule { why, allowed_by }),
            Decision::Ask { .. } => {
                let told: Vec<_> = check.requests.iter().map(told).collect();
                self.asked.lock().unwrap().push(told.join(", "));
                self.previews.lock().unwrap().push(check.preview.clone());
                let mut answer = self.answer.lock().unwrap();
                let answer = answer.as_mut().map_or(Err(Denied::Nobody), |answer| answer(&check));
                let leaves = self.leaves_sandbox.load(Ordering::Relaxed);
                answer.map(|()| {
                    if leaves { PermissionGrant::OutsideSandbox } else { PermissionGrant::ByPerson }
                })
            }
        }
    }

    fn refusal(&self, request: &Request) -> Option<Why> {
        match decide(&self.rules.lock().unwrap(), *self.mode.lock().unwrap(), request) {
            Decision::Refuse { why, .. } => Some(why),
            Decision::Pass | Decision::Ask { .. } => None,
        }
    }

    fn passes(&self, request: &Request) -> bool {
        let decision = decide(&self.rules.lock().unwrap(), *self.mode.lock().unwrap(), request);
        decision == Decision::Pass
    }

    async fn ask(&self, question: Question) -> Result<String, Denied> {
        self.questions.lock().unwrap().push(question);
        Ok("blue".to_owned())
    }

    fn on_output(&self, tail: &str, bytes: u64) {
        self.tails.lock().unwrap().push((tail.to_owned(), bytes));
        self.written.notify_one();
    }

    fn on_todos(&self, todos: Vec<Todo>) {
        *self.todos.lock().unwrap() = todos;
    }
}

/// What a request is about.
pub fn action(request: &Request) -> Action {
    match request {
        Request::Read { .. } => Action::Read,
        Request::Write { .. } => Action::Write,
        Request::Run(_) => Action::Run,
        Request::Network { .. } => Action::Network,
        Request::Mcp { .. } => Action::Mcp,
    }
}

/// A tool says what it asks permission for.
pub fn asks_only_for_what_it_says(info: &ToolInfo, wanted: &[Action]) {
    for action in wanted {
        assert!(info.permissions.contains(action), "{} asks leave to {action:?}", info.name());
    }
}

fn told(request: &Request) -> String {
    match request {
        Request::Read { path } => format!("read {}", path.display_path().display()),
        Request::Write { path } => format!("write {}", path.display_path().display()),
        Request::Run(run) => format!("run {}", run.command()),
        Request::Network { host, .. } => format!("network {host}"),
        Request::Mcp { server, tool, .. } => format!("mcp {server} {tool}"),
    }
}

impl Host {
    /// The person allows all that they are asked.
    pub fn allows(&self) {
        self.answers(|_| Ok(()));
    }

    pub fn answers(
        &self,
        answer: impl FnMut(&PermissionCheck) -> Result<(), Denied> + Send + 'static,
    ) {
        *self.answer.lock().unwrap() = Some(Box::new(answer));
    }

    pub fn has_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    pub fn allowed(&self, rule: &str) {
        self.rules.lock().unwrap().push(Entry::allow(rule.parse().unwrap(), Scope::Session));
    }

    pub fn denies(&self, rule: &str) {
        let rule = rule.parse().unwrap();
        self.rules.lock().unwrap().push(Entry {
            rule,
            effect: Effect::Deny,
            scope: Scope::Session,
        });
    }

    /// Waits until a running command has written something.
    pub async fn sees(&self, text: &str) {
        while !self.tails.lock().unwrap().iter().any(|(tail, _)| tail.contains(text)) {
            self.written.notified().await;
        }
    }

    pub fn was_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        let surroundings =
            PathEnvironment { home: Some(root.join("home")), own: vec![root.join("own")] };
        let host = Arc::new(Host::default());
        let context = ToolContext {
            cancel: tokio_util::sync::CancellationToken::new(),
            call: ToolCallId::new("call"),
            project: Some(Arc::new(Project::open(&project, &surroundings).unwrap())),
            memory: Arc::new(Memory::default()),
            outputs: root.join("outputs"),
            settings: Arc::new(ToolSettings::default()),
            sees: true,
            most: 256 * 1024,
            host: Arc::<Host>::clone(&host),
            team: None,
            skills: Vec::new(),
            changes: Changes::default(),
            asked: Arc::default(),
        };
        Self { root, project, host, context, sandbox: Preference::Best, _folder: folder }
    }

    /// Writes a file of the project.
    pub fn put(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// Writes a file outside the project.
    pub fn put_outside(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        self.put(&format!("../{path}"), contents);
        self.root.join(path)
    }

    pub fn get(&self, path: &str) -> String {
        fs::read_to_string(self.project.join(path)).unwrap()
    }

    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// Calls a tool, with arguments that fit its schema.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolOutput, ToolFailure> {
        let tools =
            chat_tools::all_on(Machine { trash: Trash::at(self.trash()), sandbox: self.sandbox });
        let tool = tools.iter().find(|tool| tool.info().name() == name).unwrap();
        let info = tool.info();
        let checked =
            chat_core::tool::check(&arguments, &info.spec.parameters, info.aliases).unwrap();
        assert!(checked.ignored.is_empty(), "{:?}", checked.ignored);
        let result = tool.run(checked.value, self.context.clone()).await;
        asks_only_for_what_it_says(info, &std::mem::take(&mut *self.host.wanted.lock().unwrap()));
        result
    }

    /// What a tool says.
    pub async fn says(&self, name: &str, arguments: Value) -> String {
        match self.call(name, arguments).await {
            Ok(output) => output.text,
            Err(failure) => panic!("{name} failed: {}", failure.text),
        }
    }

    /// Why a tool fails.
    pub async fn fails(&self, name: &str, arguments: Value) -> String {
        match self.call(name, arguments).await {
            Ok(output) => panic!("{name} did it: {}", output.text),
            Err(failure) => failure.text,
        }
    }

    /// The names in a folder.
    pub fn names(path: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
