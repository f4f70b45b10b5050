//! The recorded conversations.

use std::path::PathBuf;
use std::sync::Arc;

use chat_core::agent::CODE_ASSISTANT;
use chat_core::event::StopReason;
use chat_core::message::{
    Answer, Ask, Attachment, ChatRequest, Content, Context, Fid, Mention, OpenFile, Options,
    Selection, Thinking,
};
use chat_core::permission::{Mode, Scope};
use chat_core::review::ReviewScope;
use chat_testkit::server::{Gate, Model, Script};
use serde_json::{Value, json};

use super::talk::Talk;
use crate::engine::world::request;

/// The smallest picture that there is: one dot.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\
    \0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82";

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn says(text: &str) -> Script {
    Script::new().text(text)
}

fn looks(id: &str, path: &str) -> Script {
    Script::new().tool_call(id, "look", json!({ "path": path }))
}

fn puts(id: &str, path: &str, text: &str) -> Script {
    Script::new().tool_call(id, "put", json!({ "path": path, "text": text }))
}

/// A question, and one that follows it.
pub async fn plain(talk: &mut Talk) {
    talk.push(Script::new().text("It is ").text("blue ✓").usage(21, 3));
    talk.push(says("Because of the air."));
    let options = Options { temperature: Some(0.25), max_tokens: Some(300), ..Options::default() };
    let asked = ChatRequest { options, ..request(None, "What colour is the \"sky\"?\nBriefly.") };
    let fid = talk.ask(asked, StopReason::Complete).await;
    talk.say(&fid, "Why?").await;
}

/// A model that thinks.
pub async fn thinking(talk: &mut Talk) {
    talk.push(Script::new().thinking("The user ").thinking("asks.\n").text("42"));
    talk.push(says("<think>Again?</think>Still 42"));
    talk.push(says("Yes."));
    let asked = ChatRequest { thinking: Some(Thinking::High), ..request(None, "6 × 7?") };
    let fid = talk.ask(asked, StopReason::Complete).await;
    talk.say(&fid, "Sure?").await;
    talk.say(&fid, "Really?").await;
}

/// A picture and a text file go along.
pub async fn attachments(talk: &mut Talk) {
    talk.push(says("A dot, and a list."));
    talk.push(says("Two."));
    let fid = talk.ask(attached(), StopReason::Complete).await;
    talk.say(&fid, "How many things?").await;
}

fn attached() -> ChatRequest {
    let picture = Attachment::Image { mime: "image/png".to_owned(), data: PICTURE.into() };
    let file = Attachment::File { name: "list.txt".to_owned(), text: "milk\n<eggs>\n".to_owned() };
    let mut asked = request(None, "What is this?");
    asked.content.attachments = vec![picture, file];
    asked
}

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

/// A reply that is stopped in its middle, and goes on.
pub async fn stopped(talk: &mut Talk) {
    let gate = Gate::new();
    talk.push(says("The first half").gate(&gate).text("never"));
    talk.push(says(" and the second."));
    talk.push(says("You are welcome."));
    let fid = talk.send(request(None, "A story, please")).await;
    talk.world.events.shows(&fid, "The first half").await;
    talk.world.manager.sessions().stop(&fid);
    talk.ends(&fid, StopReason::Stopped).await;
    talk.world.manager.sessions().resume(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
    talk.say(&fid, "Thanks").await;
}

/// A reply that is asked for again, the first one shown again, and gone on from.
pub async fn branch(talk: &mut Talk) {
    talk.push(says("Heads."));
    talk.push(says("Tails."));
    talk.push(says("It was heads."));
    let fid = talk.ask(request(None, "Throw a coin"), StopReason::Complete).await;
    talk.world.manager.sessions().retry(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
    talk.world.open(&fid).await;
    let replies = talk.world.manager.sessions().siblings(&fid).await.unwrap();
    assert!(talk.world.manager.sessions().show_branch(&fid, replies[0][0]).await.unwrap());
    talk.world.open(&fid).await;
    talk.say(&fid, "What was it?").await;
}

/// A failure in the middle of a reply, and another try.
pub async fn failed(talk: &mut Talk) {
    talk.push(says("Half of").error("out of memory"));
    talk.push(says("All of it."));
    talk.push(says("Yes."));
    let fid = talk.ask(request(None, "Tell me"), StopReason::Error).await;
    talk.world.manager.sessions().retry(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
    talk.world.open(&fid).await;
    talk.say(&fid, "All?").await;
}

/// Messages that wait and go out, and one that still waits at the end.
pub async fn queue(talk: &mut Talk) {
    let (first, last) = (Gate::new(), Gate::new());
    talk.push(says("One.").gate(&first));
    talk.push(says("Two."));
    talk.push(says("Three.").gate(&last));
    let fid = talk.send(request(None, "Say one")).await;
    talk.world.events.shows(&fid, "One.").await;
    talk.world.say(&fid, "Say two").await;
    talk.world.say(&fid, "Say three").await;
    first.open();
    talk.ends(&fid, StopReason::Complete).await;
    talk.ends(&fid, StopReason::Complete).await;
    talk.world.events.shows(&fid, "Three.").await;
    let mut waits = attached();
    waits.session = Some(fid.clone());
    waits.context.mentions = vec![page()];
    talk.world.manager.send(waits).await.unwrap();
    talk.world.manager.sessions().stop(&fid);
    talk.ends(&fid, StopReason::Stopped).await;
}

fn page() -> Mention {
    Mention::Page { url: "https://example.org/".to_owned(), text: "A page.".to_owned() }
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

/// A history that is too long for its window is summed up on the way; then the person has it summed
/// up, and takes that back.
pub async fn compaction(talk: &mut Talk) {
    talk.server.set_models([Model::new("scripted").context(2_048)]);
    talk.server.when("Summarize the conversation above", says("- they talked about numbers"));
    let mut fid = None;
    for turn in 1..=5 {
        // Words that never come again: a reply that goes round in circles would be ended.
        let words = (0..150).map(|at| format!("{}-{at} ", turn * 1_000 + at));
        talk.push(says(&words.collect::<String>()));
        let asked = request(fid.as_ref(), &format!("Numbers, part {turn}"));
        fid = Some(talk.ask(asked, StopReason::Complete).await);
    }
    let fid = fid.unwrap();
    assert!(talk.world.manager.context().compact(&fid).await.unwrap());
    talk.push(says("Six."));
    talk.say(&fid, "And now?").await;
    assert!(talk.world.manager.context().undo_compaction(&fid).await.unwrap());
    talk.push(says("Seven."));
    talk.say(&fid, "And all of it?").await;
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
    talk.world.manager.sessions().resume(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
}

/// Answers the next question of the chat.
pub async fn answer(talk: &mut Talk, fid: &Fid, answer: Answer) {
    let events = &mut talk.world.events;
    events.until(|told| told.asks.get(fid).is_some_and(|asks| asks.len() == 1)).await;
    let id = events.asks[fid][0].id;
    assert!(talk.world.manager.permissions().answer(fid, id, answer).await.unwrap());
    // Another question must not be taken for this one.
    let gone = |asks: &Vec<Arc<Ask>>| asks.iter().all(|ask| ask.id != id);
    talk.world.events.until(|told| told.asks.get(fid).is_some_and(gone)).await;
}

/// A better title is asked for.
pub async fn title(talk: &mut Talk) {
    talk.world
        .manager
        .settings()
        .change(|settings| settings.chat.better_titles = true)
        .await
        .unwrap();
    talk.push(Script::new().thinking("Air.").text("Because of the air."));
    talk.push(says("\"Blue Sky\""));
    talk.push(says("Yes."));
    let fid = talk.ask(talk.in_project("Why is the sky blue?"), StopReason::Complete).await;
    let named = |row: &chat_core::event::SessionPlaceholder| row.title == "Blue Sky";
    talk.world.events.until(|told| told.rows.get(&fid).is_some_and(named)).await;
    talk.say(&fid, "Only?").await;
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

/// A server that refuses one request too many, and takes it later.
pub async fn limited(talk: &mut Talk) {
    let refused = Script::status(429, r#"{"error":"slow down"}"#);
    talk.push(refused.header("Retry-After", "1"));
    talk.push(says("Now."));
    talk.ask(request(None, "Now?"), StopReason::Complete).await;
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

/// All that a stored chat can have, for the fixture: tools, branches, attachments, a summary, and a
/// message that waits.
pub async fn everything(talk: &mut Talk) {
    tools(talk).await;
    let gate = Gate::new();
    talk.push(says("A dot."));
    talk.push(says("A list."));
    let fid = talk.ask(attached(), StopReason::Complete).await;
    talk.world.manager.sessions().retry(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
    talk.world.open(&fid).await;
    for turn in 1..=2 {
        talk.push(Script::new().thinking("Well.").text(&format!("Answer {turn}.")));
        talk.say(&fid, &format!("Question {turn}?")).await;
    }
    talk.push(says("- they talked about a dot"));
    assert!(talk.world.manager.context().compact(&fid).await.unwrap());
    talk.push(says("Half").gate(&gate));
    talk.world.say(&fid, "More?").await;
    talk.world.events.shows(&fid, "Half").await;
    let waits = ChatRequest {
        content: Content::text("And this?"),
        context: Context { mentions: vec![page()], ..Context::default() },
        ..request(Some(&fid), "")
    };
    talk.world.manager.send(waits).await.unwrap();
    talk.world.manager.sessions().stop(&fid);
    talk.ends(&fid, StopReason::Stopped).await;
}

/// Hands the names of all recorded conversations to a macro.
macro_rules! each {
    ($recorded:ident) => {
        $recorded!(
            plain,
            thinking,
            attachments,
            tools,
            repaired,
            stopped,
            branch,
            failed,
            queue,
            code,
            rejected,
            compaction,
            shortened,
            limit,
            title,
            plan,
            switched,
            limited,
            permissions
        );
    };
}
pub(super) use each;
