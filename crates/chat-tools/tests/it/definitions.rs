//! Tests agents and skills in files, in a running engine with all tools.

use std::fs;
use std::path::Path;

use chat_core::error::{Kind, NoAgent};
use chat_core::event::{Event, StopReason};
use chat_core::manager::NewAgent;
use chat_core::message::{ChatRequest, Content, Fid, ModelRef};
use chat_core::permission::{Effect, Mode};
use chat_core::settings::Remembered;
use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use crate::agents::world::{World, offered, spawn, task};

const REVIEWER: &str = "\
---
description: Reviews changes
tools: read_*, search_files, write_file
mode: plan
model: test/scripted
temperature: 0.2
---
You review code.

<rules>
{rules}
</rules>
";

/// Writes a file below a folder.
fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // In one step, so that nobody reads half of it.
    let new = folder.join("being-written");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

/// An engine whose user has these files in their config folder.
async fn world_with(server: &Server, files: &[(&str, &str)]) -> World {
    let mut world = World::new(server).await;
    let config = world.folder.path().join("config");
    for (name, text) in files {
        write(&config, name, text);
    }
    let expected = files.len();
    let manager = world.manager.clone();
    let count = || {
        let now = manager.definitions().current(None);
        now.agents.len() + now.skills.len() + now.problems.len()
    };
    while count() < expected {
        world.until(changed).await;
    }
    world
}

fn changed(event: &Event) -> Option<()> {
    matches!(event, Event::DefinitionsChanged { .. }).then_some(())
}

/// A request to an agent in the world's project.
fn to(world: &World, agent: &str, text: &str) -> ChatRequest {
    ChatRequest {
        agent: Some(agent.to_owned()),
        content: Content::text(text),
        project: Some(world.project.path().canonicalize().unwrap()),
        model: Some(ModelRef::new("test", "scripted")),
        ..ChatRequest::default()
    }
}

async fn ask(world: &World, agent: &str, text: &str) -> Fid {
    world.manager.send(to(world, agent, text)).await.unwrap().fid
}

#[tokio::test]
async fn an_agent_in_a_file_works_as_its_author_wrote() {
    let server = Server::start();
    let mut world = world_with(&server, &[("agents/reviewer.md", REVIEWER)]).await;
    write(world.project.path(), "AGENTS.md", "Use tabs.");
    let kinds = world.manager.agent_kinds().list();
    let kind = kinds.iter().find(|kind| kind.name == "reviewer").unwrap();
    assert_eq!((kind.title.as_str(), kind.description.as_str()), ("reviewer", "Reviews changes"));
    assert_eq!((kind.ceiling, kind.model.as_deref()), (Some(Mode::Plan), Some("test/scripted")));

    server.push(Script::new().text("Fine."));
    let request =
        ChatRequest { model: None, mode: Some(Mode::Auto), ..to(&world, "reviewer", "Review") };
    let fid = world.manager.send(request).await.unwrap().fid;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let sent = &server.chats()[0];
    let system = sent.texts_of("system").concat();
    assert!(system.starts_with("You review code.\n\n<rules>\n"), "{system}");
    for part in ["Use tabs.", "<environment>\nSystem: ", "<mode>\nYou are in plan mode"] {
        assert!(system.contains(part), "{part}: {system}");
    }
    assert_eq!(offered(sent), ["read_file", "read_output", "search_files"], "and none that writes");
    assert_eq!((sent.model(), &sent.body["temperature"]), ("scripted", &json!(0.2)));
    // The chat is the user's as before.
    assert_eq!(world.manager.sessions().list().await.unwrap()[0].mode, Mode::Auto);
}

#[tokio::test]
async fn an_agent_may_never_do_more_than_its_chat() {
    let server = Server::start();
    let agent = "---\nmode: unattended\n---\nWrite.";
    let mut world = world_with(&server, &[("agents/writer.md", agent)]).await;
    server.push(Script::new().tool_call(
        "c1",
        "write_file",
        json!({ "path": "a", "content": "b" }),
    ));
    let fid = ask(&world, "writer", "Write").await;
    world
        .until(|event| match event {
            Event::ApprovalsChanged { asks } => (!asks.is_empty()).then_some(()),
            _ => None,
        })
        .await;
    world.manager.sessions().stop(&fid);
    world.finished(&fid).await;
    assert!(!world.project.path().join("a").exists());
}

#[tokio::test]
async fn a_request_keeps_the_limits_of_an_agent_that_goes_meanwhile() {
    let server = Server::start();
    let agent = "---\nmode: plan\n---\nPlan.";
    let mut world = world_with(&server, &[("agents/planner.md", agent)]).await;
    let gate = Gate::new();
    let call = json!({ "path": "a", "content": "b" });
    server.push(Script::new().text("I").gate(&gate).tool_call("c1", "write_file", call));
    server.push(Script::new().text("Then not."));
    let request = ChatRequest { mode: Some(Mode::Auto), ..to(&world, "planner", "Write") };
    let fid = world.manager.send(request).await.unwrap().fid;
    gate.reached().await;
    fs::remove_file(world.folder.path().join("config/agents/planner.md")).unwrap();
    while !world.manager.definitions().current(None).agents.is_empty() {
        world.until(changed).await;
    }
    let project = world.project.path().canonicalize().unwrap();
    let definitions = world.manager.definitions();
    while !definitions.current(Some(&project)).agents.is_empty() {
        world.until(changed).await;
    }
    gate.open();
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    assert!(!project.join("a").exists());

    // There is nobody to answer the next message.
    let content = Content::text("And now?");
    let next = ChatRequest { session: Some(fid), content, ..ChatRequest::default() };
    let refused = world.manager.send(next).await.unwrap_err();
    let why = NoAgent::default();
    assert_eq!(refused.kind, Kind::AgentMissing { name: "planner".to_owned(), why });
}

#[tokio::test]
async fn an_agent_only_reads_once_nobody_knows_what_that_of_its_chat_may_do() {
    let server = Server::start();
    let agent = "---\nmode: edits\n---\nEdit.";
    let mut world = world_with(&server, &[("agents/editor.md", agent)]).await;
    let project = world.project.path().canonicalize().unwrap();
    server.push(Script::new().text("Hello."));
    let request = ChatRequest { mode: Some(Mode::Edits), ..to(&world, "editor", "Hello") };
    let fid = world.manager.send(request).await.unwrap().fid;
    world.finished(&fid).await;
    let below = NewAgent {
        parent: Some(fid),
        name: Some("below".to_owned()),
        agent: Some("code-assistant".to_owned()),
        ..NewAgent::default()
    };
    let below = world.manager.agents().create(below).await.unwrap().meta.fid;
    let file = world.folder.path().join("config/agents/editor.md");
    for (name, passes) in [("with", true), ("without", false)] {
        let call = json!({ "path": name, "content": "x" });
        server.push(Script::new().tool_call(name, "write_file", call));
        server.push(Script::new().text("Done."));
        world.say(&below, "Write").await;
        assert_eq!(world.finished(&below).await, StopReason::Complete);
        assert_eq!(project.join(name).exists(), passes, "{name}");
        if passes {
            fs::remove_file(&file).unwrap();
        }
        let definitions = world.manager.definitions();
        while !definitions.current(Some(&project)).agents.is_empty() {
            world.until(changed).await;
        }
    }
}

#[tokio::test]
async fn agents_in_files_can_be_spawned() {
    let server = Server::start();
    let mut world = world_with(&server, &[("agents/reviewer.md", REVIEWER)]).await;
    server.when("Review all", Script::new().text("All is fine."));
    let mut arguments = task("checker", "Review all");
    arguments["agent"] = json!("reviewer");
    server.push(spawn("c1", arguments));
    let mut other = task("nobody", "Do it");
    other["agent"] = json!("pirate");
    server.push(spawn("c2", other));
    server.push(Script::new().text("Done."));
    let fid = world.ask("Have it reviewed").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let results = world.results(&fid).await;
    assert!(results[0].text.ends_with("All is fine."), "{}", results[0].text);
    assert!(results[1].failed && results[1].text.contains("reviewer"), "{}", results[1].text);
    let child = server
        .chats()
        .into_iter()
        .find(|chat| chat.texts_of("system").concat().starts_with("You review code."));
    let child = child.unwrap();
    assert!(child.texts_of("system").concat().contains("You are the agent “checker”"));
    assert_eq!(child.body["temperature"], json!(0.2));
}

#[tokio::test]
async fn a_model_hears_why_an_agent_cannot_be_spawned() {
    let server = Server::start();
    let broken = [("agents/planner.md", "---\ntols: []\n---\nPlan.")];
    let mut world = world_with(&server, &broken).await;
    write(world.project.path(), ".natter/agents/builder.md", "Build.");
    for (id, agent) in [("c1", "builder"), ("c2", "planner")] {
        let mut arguments = task(id, "Do it");
        arguments["agent"] = json!(agent);
        server.push(spawn(id, arguments));
    }
    server.push(Script::new().text("Done."));
    let fid = world.ask("Have it done").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let texts: Vec<_> = world.results(&fid).await.into_iter().map(|it| it.text).collect();
    assert!(texts[0].contains("does not trust the project’s agents yet"), "{texts:?}");
    assert!(texts[1].contains("planner.md” has a mistake in line 2"), "{texts:?}");
}

#[tokio::test]
async fn an_agent_of_a_project_answers_once_it_is_trusted() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    write(world.project.path(), ".natter/agents/builder.md", "Build.");
    let request = to(&world, "builder", "Build");
    let refused = world.manager.send(request.clone()).await.unwrap_err();
    let why = NoAgent::Untrusted;
    assert_eq!(refused.kind, Kind::AgentMissing { name: "builder".to_owned(), why });

    let definitions = world.manager.definitions();
    let project = request.project.clone().unwrap();
    let seen = definitions.of_project(Some(&project)).await.project.clone().unwrap();
    definitions.trust(&seen).await.unwrap();
    let kinds = world.manager.agent_kinds().of_project(Some(&project));
    assert!(kinds.iter().any(|kind| kind.name == "builder"));
    server.push(Script::new().text("Built."));
    let fid = world.manager.send(request).await.unwrap().fid;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    assert!(server.chats()[0].texts_of("system").concat().starts_with("Build."));
}

/// A skill with a file.
const SKILL: &str =
    "---\nname: release\ndescription: How releases are made\n---\n\nTag it first.\n";

fn skill_files() -> [(&'static str, &'static str); 2] {
    [("skills/release/SKILL.md", SKILL), ("skills/release/steps.txt", "One step.")]
}

#[tokio::test]
async fn a_skill_is_listed_and_its_text_loaded_when_needed() {
    let server = Server::start();
    let mut world = world_with(&server, &skill_files()[..1]).await;
    let config = world.folder.path().join("config");
    write(&config, skill_files()[1].0, skill_files()[1].1);
    let manager = world.manager.clone();
    while manager.definitions().current(None).skills[0].files.is_empty() {
        world.until(changed).await;
    }
    server.push(Script::new().tool_call("c1", "use_skill", json!({ "name": "release" })));
    let file = json!({ "name": "release", "file": "steps.txt" });
    server.push(Script::new().tool_call("c2", "use_skill", file));
    server.push(Script::new().tool_call("c3", "use_skill", json!({ "name": "relaese" })));
    server.push(Script::new().text("Tagged."));
    let fid = ask(&world, "code-assistant", "Release it").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let sent = &server.chats()[0];
    let system = sent.texts_of("system").concat();
    assert!(system.contains("use_skill before you begin"), "{system}");
    assert!(system.contains("\n- release: How releases are made\n</skills>"), "{system}");
    assert!(!system.contains("Tag it first"), "{system}");
    assert!(offered(sent).contains(&"use_skill".to_owned()));
    let results = world.results(&fid).await;
    let folder = config.join("skills/release");
    assert_eq!(
        results[0].text,
        format!(
            "Skill “release”, in {}:\n\nTag it first.\n\nIts files, to be loaded by name: steps.txt",
            folder.display()
        )
    );
    assert!(results[0].lasting && !results[1].lasting);
    assert_eq!(results[1].text, "One step.");
    assert!(results[2].failed && results[2].text.contains("Skills: release."), "{:?}", results[2]);

    // The list stays in this chat, so that its requests begin with the same bytes, and is another in a new one.
    fs::remove_dir_all(&folder).unwrap();
    let project = world.project.path().canonicalize().unwrap();
    while !manager.definitions().current(Some(&project)).skills.is_empty() {
        world.until(changed).await;
    }
    server.push(Script::new().tool_call("c4", "use_skill", json!({ "name": "release" })));
    server.push(Script::new().text("Then not."));
    world.say(&fid, "Again").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    assert_eq!(server.chats()[4].texts_of("system").concat(), system);
    assert_eq!(server.chats()[4].body["tools"], sent.body["tools"]);
    assert!(world.results(&fid).await[3].text.contains("Skills: none."));
    server.push(Script::new().text("Hm."));
    let other = ask(&world, "code-assistant", "And here?").await;
    assert_eq!(world.finished(&other).await, StopReason::Complete);
    let sent = server.chats().pop().unwrap();
    assert!(!sent.texts_of("system").concat().contains("<skills>"));
    assert!(!offered(&sent).contains(&"use_skill".to_owned()), "only where there are skills");
}

#[tokio::test]
async fn a_loaded_skill_outlives_a_summary() {
    let server = Server::start();
    let mut world = world_with(&server, &skill_files()[..1]).await;
    server.push(Script::new().tool_call("c1", "use_skill", json!({ "name": "release" })));
    server.push(Script::new().text("Tagged."));
    let fid = ask(&world, "code-assistant", "Release it").await;
    world.finished(&fid).await;
    server.push(Script::new().text("Hello."));
    world.say(&fid, "Hello").await;
    world.finished(&fid).await;
    server.push(Script::new().text("They released it."));
    assert!(world.manager.context().compact(&fid).await.unwrap());
    server.push(Script::new().text("Yes."));
    world.say(&fid, "Sure?").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let sent = server.chats().pop().unwrap();
    assert_eq!(sent.texts_of("tool"), [""; 0]);
    let said = sent.texts_of("user").concat();
    for part in ["They released it.", "still apply:", "Tag it first."] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test]
async fn skills_of_a_project_are_listed_once_it_is_trusted_also_in_open_chats() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    write(world.project.path(), ".agents/skills/release/SKILL.md", SKILL);
    server.push(Script::new().text("Hello."));
    let fid = ask(&world, "code-assistant", "Hello").await;
    world.finished(&fid).await;
    assert!(!server.chats()[0].texts_of("system").concat().contains("release"));

    let definitions = world.manager.definitions();
    let seen = definitions.of_session(&fid).await.unwrap().project.clone().unwrap();
    definitions.trust(&seen).await.unwrap();
    server.push(Script::new().text("I see."));
    world.say(&fid, "And now?").await;
    world.finished(&fid).await;
    assert!(server.chats()[1].texts_of("system").concat().contains("- release: "));
}

#[tokio::test]
async fn a_file_of_a_projects_skill_is_judged_as_any_other() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let project = world.project.path().canonicalize().unwrap();
    let files = [("SKILL.md", SKILL), ("steps.txt", "One step."), ("kept.txt", "Kept.")];
    for (name, text) in files {
        write(&project, &format!(".agents/skills/release/{name}"), text);
    }
    let definitions = world.manager.definitions();
    let seen = definitions.of_project(Some(&project)).await.project.clone().unwrap();
    definitions.trust(&seen).await.unwrap();
    let rule = Remembered {
        rule: "read:.agents/skills/release/kept.txt".parse().unwrap(),
        effect: Effect::Deny,
        project: Some(project),
    };
    world.manager.settings().change(|it| it.permissions.remember(rule)).await.unwrap();
    for file in ["steps.txt", "kept.txt"] {
        let file_of = json!({ "name": "release", "file": file });
        server.push(Script::new().tool_call(file, "use_skill", file_of));
    }
    server.push(Script::new().text("Done."));
    let fid = ask(&world, "code-assistant", "Release it").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let results = world.results(&fid).await;
    assert_eq!(results[0].text, "One step.");
    assert!(results[1].failed && !results[1].text.contains("Kept."), "{:?}", results[1]);
}
