//! The recorded conversations in which the model works with tools.

use std::path::PathBuf;

use chat_core::agent::CODE_ASSISTANT;
use chat_core::event::StopReason;
use chat_core::message::{Answer, ChatRequest, Context, Fid, Mention, OpenFile, Selection};
use chat_core::permission::{Mode, Scope};
use chat_core::review::ReviewScope;
use chat_testkit::server::{Gate, Model, Script};
use serde_json::{Value, json};

use super::super::talk::Talk;
use super::{LINES, answer, looks, page, puts, says};
use crate::engine::world::request;

/// Two calls at once, one of which fails, another round, and what follows.
pub async fn tools(talk: &mut Talk) {
    talk.write("a.txt", "alpha\n");
    talk.write("b.txt", "beta\n");
    let both = says("I look.").tool_call("c1", "look", json!({ "path": "a.txt" }));
    talk.push(both.tool_call("c2", "look", json!({ "path": "missing.txt" })));
    talk.push(looks("c3", "b.txt"));
    talk.push(says("Alpha and beta."));
    talk.push(says("Yes."));
    let fid = talk.ask(talk.in_project("What is there?"), StopReason::Complete).await;
    talk.say(&fid, "Is that all?").await;
}

/// Calls without an id, with broken arguments, with other names for them, with too many, with
/// none that make sense, and of a tool that is not there.
pub async fn repaired(talk: &mut Talk) {
    talk.write("a.txt", LINES);
    let broken = Value::String("{'path': 'a.txt', 'lines': '2',}".to_owned());
    let hopeless = Value::String("{\"path\": \"a.t".to_owned());
    talk.push(
        Script::new()
            .tool_call("c1", "look", broken)
            .tool_call("c2", "look", json!({ "file": "a.txt", "lines": "3", "colour": "red" }))
            .tool_call("c3", "look", hopeless)
            .tool_call("c4", "look", json!({ "lines": 1 }))
            .tool_call("c5", "paint", json!({})),
    );
    talk.push(
        Script::new().tool_call_without_id("look", json!({ "path": "a.txt", "lines": null })),
    );
    talk.push(says("Nine lines."));
    talk.ask(talk.in_project("Read it"), StopReason::Complete).await;
}

/// The code assistant: the project's rules, what the person points at and has open, a file that it
/// changes, and its plan.
pub async fn code(talk: &mut Talk) {
    let (earlier, context) = code_project(talk).await;
    talk.push(
        says("I begin with the plan.")
            .tool_call("c1", "plan", json!({ "steps": ["Look", "Change"] }))
            .tool_call("c2", "look", json!({ "path": "src/main.rs" }))
            .tool_call("c3", "put", json!({ "path": "src/main.rs", "text": "fn main() {}\n" })),
    );
    talk.push(says("Changed src/main.rs:1."));
    talk.push(says("It does nothing."));
    talk.push(says("Fine."));
    let asked = ChatRequest {
        agent: Some(CODE_ASSISTANT.to_owned()),
        mode: Some(Mode::Edits),
        context: Context { mentions: mentions(talk, earlier), ..context.clone() },
        ..talk.in_project("Empty @main, please")
    };
    let fid = talk.ask(asked, StopReason::Complete).await;
    // Another file is open, then none.
    let mut other = context;
    other.open_files.remove(0);
    let asked = ChatRequest {
        session: Some(fid.clone()),
        context: other,
        ..request(None, "What does it do now?")
    };
    talk.ask(asked, StopReason::Complete).await;
    talk.say(&fid, "Thanks").await;
}

/// A project with rules, an earlier chat, and what the person has open.
async fn code_project(talk: &mut Talk) -> (Fid, Context) {
    std::fs::create_dir_all(talk.at("src/deep")).unwrap();
    talk.write("AGENTS.md", "Use four spaces.\n");
    talk.write("src/deep/AGENTS.md", "Here use tabs.\n");
    talk.write("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n");
    talk.write("src/deep/mod.rs", "pub fn deep() {}\n");
    talk.push(says("The sea is blue."));
    let earlier = talk.ask(request(None, "What colour is the sea?"), StopReason::Complete).await;
    let selection = Selection { from: 2, to: 2, text: "    println!(\"hello\");\n".to_owned() };
    let active = OpenFile {
        path: talk.at("src/main.rs"),
        active: true,
        line: Some(2),
        column: Some(5),
        selection: Some(selection),
        unsaved: true,
        ..OpenFile::default()
    };
    let deep = OpenFile { path: talk.at("src/deep/mod.rs"), ..OpenFile::default() };
    (earlier, Context { open_files: vec![active, deep], ..Context::default() })
}

fn mentions(talk: &Talk, earlier: Fid) -> Vec<Mention> {
    let main = talk.at("src/main.rs");
    vec![
        Mention::File { path: main.clone(), lines: None },
        Mention::File { path: main.clone(), lines: Some((1, 2)) },
        Mention::Symbol { path: main, name: "main".to_owned(), lines: (1, 3) },
        Mention::Folder { path: talk.at("src") },
        Mention::File { path: talk.at("missing.rs"), lines: None },
        Mention::Chat { fid: earlier },
        page(),
    ]
}

/// A change that the person rejects, and then wants after all: the model hears of both.
pub async fn rejected(talk: &mut Talk) {
    talk.write("a.txt", LINES);
    talk.push(puts("c1", "a.txt", &LINES.replace("2\n", "two\n").replace("8\n", "eight\n")));
    talk.push(says("Written."));
    talk.push(says("I see."));
    talk.push(says("So be it."));
    let asked = ChatRequest { mode: Some(Mode::Edits), ..talk.in_project("Spell it out") };
    let fid = talk.ask(asked, StopReason::Complete).await;
    let changes = talk.world.manager.review().changes(&fid).await.unwrap();
    let hunk = ReviewScope::Hunks(vec![changes[0].hunks[0].id]);
    let what = Some((PathBuf::from("a.txt"), hunk));
    let answer = talk.world.manager.review().reject(&fid, what).await.unwrap().undo.unwrap();
    talk.say(&fid, "I took one back").await;
    talk.world.manager.review().undo_answer(&fid, answer).await.unwrap();
    talk.say(&fid, "I want it after all").await;
}

/// Long results of tools go out in short.
pub async fn shortened(talk: &mut Talk) {
    talk.server.set_models([Model::new("scripted").context(6_144)]);
    for at in 1..=5 {
        let name = format!("{at}.txt");
        let line = |line| {
            let words = (0..20).map(|word| format!("word {word} of {line} in {name}, "));
            words.collect::<String>() + "\n"
        };
        talk.write(&name, &(0..9).map(line).collect::<String>());
        talk.push(looks(&format!("c{at}"), &name));
    }
    talk.push(says("All read."));
    talk.ask(talk.in_project("Read them all"), StopReason::Complete).await;
}

/// The limit of rounds, and the person who lets it go on.
pub async fn limit(talk: &mut Talk) {
    talk.world.manager.settings().change(|settings| settings.tools.rounds = 1).await.unwrap();
    talk.write("a.txt", "alpha\n");
    talk.push(looks("c1", "a.txt"));
    talk.push(looks("c2", "a.txt"));
    talk.push(says("Twice."));
    let fid = talk.send(talk.in_project("Read it twice")).await;
    answer(talk, &fid, Answer::Allow(None)).await;
    answer(talk, &fid, Answer::Nobody).await;
    talk.ends(&fid, StopReason::Limit).await;
    talk.world.manager.messages().resume(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
}

/// Plan mode, and then the work.
pub async fn plan(talk: &mut Talk) {
    talk.push(puts("c1", "a.txt", "alpha\n"));
    talk.push(says("1. Write a.txt"));
    talk.push(puts("c2", "a.txt", "alpha\n"));
    talk.push(says("Written."));
    let asked = ChatRequest {
        agent: Some(CODE_ASSISTANT.to_owned()),
        mode: Some(Mode::Plan),
        ..talk.in_project("Plan it")
    };
    let fid = talk.ask(asked, StopReason::Complete).await;
    let asked = ChatRequest { mode: Some(Mode::Edits), ..request(Some(&fid), "Do it") };
    talk.ask(asked, StopReason::Complete).await;
}

/// A tool is switched off while a round runs.
pub async fn switched(talk: &mut Talk) {
    let gate = Gate::new();
    talk.write("a.txt", "alpha\n");
    talk.push(looks("c1", "a.txt").gate(&gate));
    talk.push(puts("c2", "a.txt", "beta\n"));
    talk.push(says("Then not."));
    let asked = ChatRequest {
        agent: Some(CODE_ASSISTANT.to_owned()),
        ..talk.in_project("Look, then write")
    };
    let fid = talk.send(asked).await;
    gate.reached().await;
    let off = |settings: &mut chat_core::settings::Settings| settings.tools.set_on("put", false);
    talk.world.manager.settings().change(off).await.unwrap();
    gate.open();
    talk.ends(&fid, StopReason::Complete).await;
}

/// What the person allows for the chat, and what they deny with a word.
pub async fn permissions(talk: &mut Talk) {
    talk.push(puts("c1", "a.txt", "alpha\n"));
    talk.push(puts("c2", "a.txt", "beta\n"));
    talk.push(puts("c3", "b.txt", "gamma\n"));
    talk.push(says("As you wish."));
    let fid = talk.send(talk.in_project("Write")).await;
    answer(talk, &fid, Answer::Allow(Some(Scope::Session))).await;
    let message = Some("Not that one".to_owned());
    answer(talk, &fid, Answer::Deny { scope: None, message }).await;
    talk.ends(&fid, StopReason::Complete).await;
}
