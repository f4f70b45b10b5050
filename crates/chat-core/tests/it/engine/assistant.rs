//! The code assistant: its instructions, what the person has before them, and what they point at.

use chat_core::agent::{CODE_ASSISTANT, EDITOR_PANEL};
use chat_core::message::{ChatRequest, Context, Mention, OpenFile, Part, Selection};
use chat_permission::Mode;
use chat_testkit::server::{Script, Server};
use serde_json::Value;

use super::world::{World, request};

/// The texts of what was sent the last time, by role.
fn sent(server: &Server) -> Vec<(String, String)> {
    let chat = server.chats().pop().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = chat.body["messages"].as_array().unwrap().iter();
    messages.map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

fn asked(text: &str, context: Context, project: Option<&std::path::Path>) -> ChatRequest {
    ChatRequest {
        agent: Some(CODE_ASSISTANT.to_owned()),
        project: project.map(Into::into),
        context,
        ..request(None, text)
    }
}

#[tokio::test]
async fn what_the_person_has_before_them_goes_with_their_message_and_stays_as_it_was() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let project = tempfile::tempdir().unwrap();
    let open = |path: &str| OpenFile { path: project.path().join(path), ..OpenFile::default() };
    let selection = Selection { from: 3, to: 4, text: "let a = 1;\nlet b = 2;\n".to_owned() };
    let active =
        OpenFile { active: true, line: Some(4), selection: Some(selection), ..open("src/main.rs") };
    let context = Context { open_files: vec![active, open("b.rs")], ..Context::default() };
    server.push(Script::new().text("I see."));
    let request = asked("What is this?", context, Some(project.path()));
    let fid = world.manager.send(request).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    let first = sent(&server);
    let [(system, prompt), (user, said)] = &first[..] else { panic!("{first:?}") };
    assert_eq!((system.as_str(), user.as_str()), ("system", "user"));
    assert!(prompt.contains("coding assistant"), "{prompt}");
    assert!(prompt.contains(&format!("Folder: {}", project.path().display())), "{prompt}");
    assert!(said.contains("Active file: src/main.rs, cursor at line 4"), "{said}");
    assert!(said.contains("lines=\"3-4\">\nlet a = 1;\nlet b = 2;\n</selection>"), "{said}");
    assert!(said.ends_with("\n\nWhat is this?"), "{said}");
    // What the person sees is what they wrote.
    assert_eq!(world.transcript(&fid).await[0].1, "What is this?");
    // The next request begins with the same bytes: nothing of it is read again.
    server.push(Script::new().text("Yes."));
    world.say_and_wait(&fid, "Sure?").await;
    assert_eq!(sent(&server)[..2], first[..]);
}

#[tokio::test]
async fn what_a_message_points_at_is_gathered_and_sent_as_it_was() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(project.path().join(name), text).unwrap();
    write("a.txt", "one\ntwo\nthree\n");
    std::os::unix::fs::symlink("/etc/hostname", project.path().join("out")).unwrap();
    server.push(Script::new().text("The sea is blue."));
    let (earlier, _) = world.ask_and_wait("What colour is the sea?").await;
    let at = |name: &str| project.path().join(name);
    let mentions = vec![
        Mention::File { path: at("a.txt"), lines: None },
        Mention::File { path: at("a.txt"), lines: Some((2, 3)) },
        Mention::Symbol { path: at("a.txt"), name: "two".to_owned(), lines: (2, 2) },
        Mention::File { path: at("missing"), lines: None },
        Mention::File { path: at("out"), lines: None },
        Mention::Chat { fid: earlier.clone() },
        Mention::Page { url: "https://example.org/".to_owned(), text: "A page.".to_owned() },
    ];
    server.push(Script::new().text("Thanks."));
    let context = Context { mentions, ..Context::default() };
    let fid = world.manager.send(asked("Look", context, Some(project.path()))).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    let files: Vec<_> = messages[0]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::File { name, text } => Some((name.as_str(), text.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(files[0], ("a.txt", "one\ntwo\nthree\n"));
    assert_eq!(files[1], ("a.txt:2-3", "two\nthree\n"));
    assert_eq!(files[2], ("two, a.txt:2-2", "two\n"));
    assert!(files[3].1.starts_with("(could not be read: "), "{:?}", files[3]);
    assert_eq!(files[4], ("out", "(could not be read: it is outside the project)"));
    assert!(files[5].1.contains("User:\nWhat colour is the sea?"), "{:?}", files[5]);
    assert!(files[5].1.contains("Assistant:\nThe sea is blue."), "{:?}", files[5]);
    assert_eq!(files[6], ("https://example.org/", "A page."));
    // What is on disk now changes nothing of what was said.
    write("a.txt", "changed\n");
    server.push(Script::new().text("Yes."));
    world.say_and_wait(&fid, "Sure?").await;
    assert!(sent(&server)[1].1.contains("one\ntwo\nthree"), "{:?}", sent(&server)[1]);
}

#[tokio::test]
async fn in_plan_mode_the_model_is_told_so() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let project = tempfile::tempdir().unwrap();
    server.push(Script::new().text("1. Do it."));
    let request = asked("Plan it", Context::default(), Some(project.path()));
    let request = ChatRequest { mode: Some(Mode::Plan), ..request };
    let fid = world.manager.send(request).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    assert!(sent(&server)[0].1.contains("You are in plan mode"));
}

#[tokio::test]
async fn the_code_assistant_names_its_panel() {
    let server = Server::start();
    let world = World::new(&server).await;
    let agents = world.manager.agent_kinds().list();
    let names: Vec<_> = agents.iter().map(|agent| (agent.name.as_str(), agent.panel)).collect();
    assert_eq!(names, [("just-ask", None), (CODE_ASSISTANT, Some(EDITOR_PANEL))]);
}
