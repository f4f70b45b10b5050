//! What tools ask of the person: asked, answered, remembered, refused.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::event::{SessionApproval, Status, StopReason};
use chat_core::message::{
    Answer, ApprovalKind, ChatRequest, Fid, Part, Preview, Question, Todo, TodoState, ToolResult,
    ToolSpec, ToolView, Verdict,
};
use chat_core::permission::{Effect, Mode, Request, Scope};
use chat_core::settings::{ConnectionKind, Remembered, Settings};
use chat_core::tool::{Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolKind, ToolOutput};
use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::world::{World, request, timeouts};

/// Writes nothing, but asks for leave to.
struct Touch(ToolInfo);

/// Asks the person.
struct Wonder(ToolInfo);

/// Has a bug.
struct Breaks(ToolInfo);

fn info(name: &str, argument: &str) -> ToolInfo {
    ToolInfo::foreign(ToolSpec {
        name: name.to_owned(),
        description: "For tests".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { argument: { "type": "string" } },
            "required": [argument],
            "additionalProperties": false,
        }),
    })
}

#[async_trait]
impl Tool for Touch {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let path = arguments["path"].as_str().unwrap();
        let path = context.project()?.resolve(path);
        let path = path.map_err(|error| ToolFailure::new(error.to_string()))?;
        let wish = Request::Write { path };
        if context.host.refuses(&wish) {
            return Err(ToolFailure::new("This is not allowed, as is known before it is asked."));
        }
        context.permit(wish, Preview::Target).await?;
        Ok(ToolOutput::text("touched"))
    }
}

#[async_trait]
impl Tool for Wonder {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let text = arguments["question"].as_str().unwrap().to_owned();
        let todos = vec![Todo { text: text.clone(), state: TodoState::Doing }];
        context.host.on_todos(todos.clone());
        context.host.on_output("a tail", 6);
        let answer = context.ask(Question { text, choices: vec!["red".into()] }).await?;
        Ok(ToolOutput::text(answer).view(ToolView::Todos { todos }))
    }
}

#[async_trait]
impl Tool for Breaks {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, _: Value, _: ToolContext) -> Result<ToolOutput, ToolFailure> {
        panic!("a bug in a tool")
    }
}

fn tools() -> Registry {
    let tools: [Arc<dyn Tool>; 3] = [
        Arc::new(Touch(ToolInfo { needs_project: true, ..info("touch", "path") })),
        Arc::new(Wonder(info("wonder", "question"))),
        Arc::new(Breaks(ToolInfo { kind: ToolKind::Reads, ..info("breaks", "how") })),
    ];
    tools.into_iter().collect()
}

pub struct Scene {
    pub world: World,
    project: TempDir,
}

impl Scene {
    pub async fn new(server: &Server) -> Self {
        Self::of(World::with_tools(server, ConnectionKind::OpenAi, timeouts(), tools()).await)
    }

    /// The same in a world of other tools.
    pub fn of(world: World) -> Self {
        Self { world, project: TempDir::new().unwrap() }
    }

    /// The same after another start of the program.
    pub async fn restart(self) -> Self {
        Self { world: self.world.restart_with(tools()).await, ..self }
    }

    pub fn root(&self) -> PathBuf {
        self.project.path().to_owned()
    }

    /// Begins a chat in the project.
    pub async fn ask(&mut self, mode: Mode) -> Fid {
        let request = ChatRequest {
            project: Some(self.root()),
            mode: Some(mode),
            ..request(None, "Touch it")
        };
        let fid = self.world.manager.send(request).await.unwrap().fid;
        self.world.open(&fid).await;
        fid
    }

    /// Waits until so much waits for the person.
    pub async fn waits(&mut self, fid: &Fid, count: usize) {
        let asks = |asks: &Vec<_>| asks.len() == count;
        self.world.events.until(|told| told.asks.get(fid).is_some_and(asks)).await;
    }

    pub async fn answer(&mut self, fid: &Fid, answer: Answer) {
        self.waits(fid, 1).await;
        let id = self.world.events.asks[fid][0].id;
        assert!(self.world.manager.permissions().answer(fid, id, answer).await.unwrap());
    }

    pub async fn results(&self, fid: &Fid) -> Vec<ToolResult> {
        let messages = self.world.manager.sessions().transcript(fid).await.unwrap();
        let parts = messages.iter().flat_map(|message| message.parts.clone());
        parts
            .filter_map(|part| match part {
                Part::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect()
    }
}

pub fn touches(id: &str, path: &str) -> Script {
    Script::new().tool_call(id, "touch", json!({ "path": path }))
}

#[tokio::test]
async fn whoever_only_has_the_list_hears_of_all_that_waits_in_any_session() {
    let server = Server::start();
    for name in ["a.txt", "b.txt"] {
        server.push(touches(name, name));
    }
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let request = || ChatRequest {
        project: Some(scene.root()),
        mode: Some(Mode::Ask),
        ..request(None, "Touch it")
    };
    let manager = scene.world.manager.clone();
    let first = manager.send(request()).await.unwrap().fid;
    let second = manager.send(request()).await.unwrap().fid;
    let waits = |told: &super::world::Mirror| {
        told.all_asks.iter().map(|waiting| waiting.fid.clone()).collect::<Vec<_>>()
    };
    let mut both = [first.clone(), second.clone()];
    both.sort();
    scene.world.events.until(|told| waits(told) == both).await;
    let of_first = scene.world.events.all_asks.iter().find(|waiting| waiting.fid == first);
    let id = of_first.unwrap().ask.id;
    assert!(manager.permissions().answer(&first, id, Answer::Allow(None)).await.unwrap());
    scene.world.events.until(|told| waits(told) == [second.clone()]).await;
    manager.sessions().stop(&second);
    scene.world.events.until(|told| told.all_asks.is_empty()).await;
}

#[tokio::test]
async fn a_write_waits_for_the_person_and_goes_on_with_their_leave() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let ask = scene.world.events.asks[&fid][0].clone();
    let ApprovalKind::Permission(asked) = &ask.kind else { panic!("{ask:?}") };
    assert_eq!(ask.tool, "touch");
    assert!(asked.target.ends_with("new.txt"), "{}", asked.target);
    // Who opens the session meanwhile is told, too, and so is who only has the list.
    assert_eq!(scene.world.open(&fid).await.asks.as_slice(), std::slice::from_ref(&ask));
    let all = [SessionApproval { fid: fid.clone(), ask }];
    assert_eq!(scene.world.manager.permissions().pending(), all);
    scene.world.events.until(|told| told.all_asks == all).await;
    let needs = Some(Status::NeedsInput);
    scene.world.events.until(|told| told.rows.get(&fid).map(|row| row.status) == needs).await;
    scene.answer(&fid, Answer::Allow(None)).await;
    let finished = scene.world.events.finished(&fid).await;
    assert_eq!(finished.reason, StopReason::Complete);
    assert_eq!(scene.world.events.asks[&fid], []);
    let results = scene.results(&fid).await;
    assert_eq!((results[0].text.as_str(), results[0].failed), ("touched", false));
    assert_eq!(results[0].verdict, Some(Verdict::Allowed));
}

#[tokio::test]
async fn leave_for_the_session_is_asked_for_once_and_outlives_the_program() {
    let server = Server::start();
    for id in ["c1", "c2"] {
        server.push(touches(id, "new.txt"));
    }
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.answer(&fid, Answer::Allow(Some(Scope::Session))).await;
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let verdicts: Vec<_> = scene.results(&fid).await.into_iter().map(|r| r.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Allowed), None]);
    // Another session asks again.
    server.push(touches("c3", "new.txt"));
    let other = scene.ask(Mode::Ask).await;
    scene.waits(&other, 1).await;
    scene.world.manager.sessions().stop(&other);
    assert_eq!(scene.world.events.finished(&other).await.reason, StopReason::Stopped);
    assert_eq!(scene.world.events.asks[&other], []);
}

#[tokio::test]
async fn leave_for_the_project_holds_for_its_next_session_and_stands_in_the_settings() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    server.push(touches("c2", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.answer(&fid, Answer::Allow(Some(Scope::Project))).await;
    scene.world.events.finished(&fid).await;
    let rules = scene.world.manager.settings().current().permissions.rules.clone();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0].project, Some(scene.root()));
    assert_eq!(scene.results(&fid).await[0].verdict, Some(Verdict::Allowed));
    let other = scene.ask(Mode::Ask).await;
    assert_eq!(scene.world.events.finished(&other).await.reason, StopReason::Complete);
    assert_eq!(scene.results(&other).await[0].text, "touched");
}

#[tokio::test]
async fn a_denial_carries_its_word_to_the_model_and_does_not_end_the_reply() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Then not."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    let message = Some("Use old.txt".to_owned());
    scene.answer(&fid, Answer::Deny { scope: None, message: message.clone() }).await;
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let results = scene.results(&fid).await;
    assert!(results[0].failed && results[0].text.contains("Use old.txt"), "{results:?}");
    assert_eq!(results[0].verdict, Some(Verdict::Denied { message }));
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("Use old.txt"), "{sent}");
    assert_eq!(scene.world.events.last_text(&fid), "Then not.");
}

#[tokio::test]
async fn another_mode_settles_what_waits() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let change = chat_core::manager::SessionChange {
        mode: Some(Mode::Edits),
        ..chat_core::manager::SessionChange::default()
    };
    scene.world.manager.sessions().change(&fid, change).await.unwrap();
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(scene.results(&fid).await[0].text, "touched");
    assert_eq!(scene.world.events.rows[&fid].mode, Mode::Edits);
}

#[tokio::test]
async fn what_is_denied_by_a_link_is_denied_where_it_leads() {
    let server = Server::start();
    for _ in 0..2 {
        server.push(touches("c1", "link/new.txt"));
        server.push(Script::new().text("Not so."));
    }
    let mut scene = Scene::new(&server).await;
    std::fs::create_dir(scene.root().join("store")).unwrap();
    std::os::unix::fs::symlink("store", scene.root().join("link")).unwrap();
    let rule =
        |text: &str, effect| Remembered { rule: text.parse().unwrap(), effect, project: None };
    // The rules come while it waits.
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let rules = vec![rule("write:**", Effect::Allow), rule("write:link/**", Effect::Deny)];
    let change = move |settings: &mut Settings| settings.permissions.rules = rules;
    scene.world.manager.settings().change(change).await.unwrap();
    scene.world.events.finished(&fid).await;
    // They are there before it asks.
    let other = scene.ask(Mode::Edits).await;
    scene.world.events.finished(&other).await;
    for fid in [&fid, &other] {
        let results = scene.results(fid).await;
        assert!(results[0].failed && results[0].text != "touched", "{}", results[0].text);
    }
    // What is shown of a folder leaves it out, too.
    let text = &scene.results(&other).await[0].text;
    assert!(text.contains("known before it is asked"), "{text}");
}

#[tokio::test]
async fn plan_refuses_without_asking() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Then not."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Plan).await;
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let results = scene.results(&fid).await;
    assert!(results[0].failed && results[0].text.contains("there is no tool"), "{results:?}");
    assert_eq!(results[0].verdict, None);
}

#[tokio::test]
async fn a_question_of_the_models_is_answered_in_words() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "wonder", json!({ "question": "Which colour?" })));
    server.push(Script::new().text("Red it is."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let ApprovalKind::Question(question) = &scene.world.events.asks[&fid][0].kind else { panic!() };
    assert_eq!(question.choices, ["red"]);
    let plan = [Todo { text: "Which colour?".to_owned(), state: TodoState::Doing }];
    assert_eq!(scene.world.events.todos[&fid], plan);
    assert_eq!(scene.world.events.outputs, [("a tail".to_owned(), 6)]);
    scene.answer(&fid, Answer::Text("a dark red".to_owned())).await;
    scene.world.events.finished(&fid).await;
    assert_eq!(scene.results(&fid).await[0].text, "a dark red");
    // The plan is found again in what is stored.
    assert_eq!(scene.world.open(&fid).await.todos, plan);
}

#[tokio::test]
async fn a_tool_with_a_bug_is_a_call_that_failed() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "breaks", json!({ "how": "badly" })));
    server.push(Script::new().text("On I go."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let results = scene.results(&fid).await;
    assert!(results[0].failed && results[0].text.starts_with("tool_call_fail"), "{results:?}");
}

#[tokio::test]
async fn a_wrong_call_comes_back_with_a_sentence_and_no_question() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "touch", json!({ "file": "new.txt" })));
    server.push(Script::new().text("Oh."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.world.events.finished(&fid).await;
    let results = scene.results(&fid).await;
    assert!(results[0].text.starts_with("tool_call_invalid"), "{results:?}");
    assert!(results[0].text.contains("path"), "{results:?}");
}

#[tokio::test]
async fn words_are_no_leave() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Then not."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.answer(&fid, Answer::Text("no, don’t".to_owned())).await;
    scene.world.events.finished(&fid).await;
    let results = scene.results(&fid).await;
    assert!(results[0].failed && results[0].text.contains("no, don’t"), "{results:?}");
}
