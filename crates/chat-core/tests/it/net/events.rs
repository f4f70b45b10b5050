//! What a subscription that watches a chat is told of a request from its beginning to its end. It
//! takes everything at the end at once: so each thing is told in its last state, whatever the speed
//! of the machine.

use chat_core::event::{StopReason, Subscription};
use chat_core::message::{Answer, Fid};
use chat_core::settings::ConnectionKind;
use chat_testkit::recording::indented;
use chat_testkit::server::{Gate, Script};
use serde_json::json;

use super::talk::Talk;
use super::{talks, telling};

/// A chat with one turn, which is watched from now on.
async fn begun(talk: &mut Talk) -> (Fid, Subscription) {
    talk.push(Script::new().text("Hello."));
    let fid = talk.ask(talk.in_project("Hi"), StopReason::Complete).await;
    // Whoever opens a chat waits until its last turn has told everything.
    talk.world.open(&fid).await;
    let watching = talk.world.manager.subscribe();
    talk.world.manager.sessions().open(&fid, 50, &watching).await.unwrap();
    (fid, watching)
}

/// All that came of it, in the order in which a late reader gets it.
async fn told(talk: &Talk, mut watching: Subscription) -> String {
    talk.end().await;
    let mut placeholders = talk.placeholders();
    let events = watching.take();
    let lines = events.iter().map(|event| {
        let json = serde_json::to_string(&telling::event(event)).unwrap();
        indented(&placeholders.apply(&json))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn of_a_reply() {
    let mut talk = Talk::new(ConnectionKind::Ollama).await;
    let (fid, watching) = begun(&mut talk).await;
    talk.push(Script::new().thinking("The user ").thinking("asks.").text("For").text("ty-two"));
    talk.say(&fid, "6 × 7?").await;
    insta::assert_snapshot!("of_a_reply", told(&talk, watching).await);
}

#[tokio::test]
async fn of_tools() {
    let mut talk = Talk::new(ConnectionKind::Ollama).await;
    let (fid, watching) = begun(&mut talk).await;
    let steps = json!({ "steps": ["Write"] });
    let put = json!({ "path": "a.txt", "text": "alpha\n" });
    let calls = Script::new().text("I write.").tool_call("c1", "plan", steps);
    talk.push(calls.tool_call("c2", "put", put));
    talk.push(Script::new().text("Written."));
    talk.world.say(&fid, "Write it").await;
    talks::answer(&mut talk, &fid, Answer::Allow(None)).await;
    talk.ends(&fid, StopReason::Complete).await;
    insta::assert_snapshot!("of_tools", told(&talk, watching).await);
}

#[tokio::test]
async fn of_what_waits() {
    let mut talk = Talk::new(ConnectionKind::Ollama).await;
    let (fid, watching) = begun(&mut talk).await;
    let (first, second) = (Gate::new(), Gate::new());
    talk.push(Script::new().text("One.").gate(&first));
    talk.push(Script::new().text("Half of").gate(&second).error("out of memory"));
    talk.world.say(&fid, "Say one").await;
    talk.world.events.shows(&fid, "One.").await;
    talk.world.say(&fid, "Say two").await;
    talk.world.say(&fid, "Say three").await;
    first.open();
    talk.ends(&fid, StopReason::Complete).await;
    talk.world.events.shows(&fid, "Half of").await;
    second.open();
    talk.ends(&fid, StopReason::Error).await;
    insta::assert_snapshot!("of_what_waits", told(&talk, watching).await);
}
