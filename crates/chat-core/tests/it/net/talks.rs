//! The recorded conversations.

mod work;

use std::sync::Arc;

use chat_core::event::StopReason;
use chat_core::message::{
    Answer, ApprovalRequest, Attachment, ChatRequest, Content, Context, Fid, Mention, Options,
    Thinking,
};
use chat_testkit::server::{Gate, Model, Script};
use serde_json::json;

pub use self::work::{
    code, limit, permissions, plan, rejected, repaired, shortened, switched, tools,
};
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
    talk.world.manager.messages().resume(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
    talk.say(&fid, "Thanks").await;
}

/// A reply that is asked for again, the first one shown again, and gone on from.
pub async fn branch(talk: &mut Talk) {
    talk.push(says("Heads."));
    talk.push(says("Tails."));
    talk.push(says("It was heads."));
    let fid = talk.ask(request(None, "Throw a coin"), StopReason::Complete).await;
    talk.world.manager.messages().retry(&fid).await.unwrap();
    talk.ends(&fid, StopReason::Complete).await;
    talk.world.open(&fid).await;
    let replies = talk.world.manager.messages().branches(&fid).await.unwrap();
    assert!(talk.world.manager.messages().show_branch(&fid, replies[0][0]).await.unwrap());
    talk.world.open(&fid).await;
    talk.say(&fid, "What was it?").await;
}

/// A failure in the middle of a reply, and another try.
pub async fn failed(talk: &mut Talk) {
    talk.push(says("Half of").error("out of memory"));
    talk.push(says("All of it."));
    talk.push(says("Yes."));
    let fid = talk.ask(request(None, "Tell me"), StopReason::Error).await;
    talk.world.manager.messages().retry(&fid).await.unwrap();
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

/// Answers the next question of the chat.
pub async fn answer(talk: &mut Talk, fid: &Fid, answer: Answer) {
    let events = &mut talk.world.events;
    events.until(|told| told.asks.get(fid).is_some_and(|asks| asks.len() == 1)).await;
    let id = events.asks[fid][0].id;
    assert!(talk.world.manager.permissions().answer(fid, id, answer).await.unwrap());
    // Another question must not be taken for this one.
    let gone = |asks: &Vec<Arc<ApprovalRequest>>| asks.iter().all(|ask| ask.id != id);
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

/// A server that refuses one request too many, and takes it later.
pub async fn limited(talk: &mut Talk) {
    let refused = Script::status(429, r#"{"error":"slow down"}"#);
    talk.push(refused.header("Retry-After", "1"));
    talk.push(says("Now."));
    talk.ask(request(None, "Now?"), StopReason::Complete).await;
}

/// All that a stored chat can have, for the fixture: tools, branches, attachments, a summary, and a
/// message that waits.
pub async fn everything(talk: &mut Talk) {
    tools(talk).await;
    let gate = Gate::new();
    talk.push(says("A dot."));
    talk.push(says("A list."));
    let fid = talk.ask(attached(), StopReason::Complete).await;
    talk.world.manager.messages().retry(&fid).await.unwrap();
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
