//! Tests what a model is asked when it continues.

use super::*;
use crate::message::Ending;

#[rstest::rstest]
// A program that is killed leaves a reply as interrupted, also where its words were whole.
#[case(Ending::Interrupted)]
#[case(Ending::Complete)]
#[tokio::test]
async fn a_reply_whose_calls_got_no_result_is_not_said_to_be_cut_off(#[case] ended: Ending) {
    let (_folder, world) = world().await;
    let chat = world.chat("test").await;
    let asked = Arc::new(Message::text(Role::User, None, "Look at a"));
    let model = ModelRef::new("test", "scripted");
    let call = ToolCall::new(ToolCallId::new("c1"), "run_command", json!({ "command": "ls" }));
    // Nobody had approved it when the program was killed.
    let reply = Arc::new(Message {
        parts: vec![Part::Text("I look.".to_owned()), Part::ToolCall(call)],
        ended: Some(ended),
        ..Message::reply(Some(asked.id), model)
    });
    let store = &world.manager.inner.shared.store;
    store.claim(&chat).await.unwrap();
    store.append(&chat, vec![Arc::clone(&asked), Arc::clone(&reply)], reply.id).await.unwrap();
    store.release(&chat).await.unwrap();
    world.manager.messages().resume(&chat).await.unwrap();
    let session = world.session(&chat).await;
    session.idle().await;
    let transcript = session.transcript().await.unwrap();
    let roles: Vec<_> = transcript.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Assistant]);
    assert_eq!(transcript[2].plain_text(), "reply 0 to Look at a");
}

/// A chat's agent that was asked, said something, was told to continue, and said what is given.
async fn continued(world: &World, first: Message, then: &[Message]) -> AgentReport {
    let chat = world.chat("test").await;
    let agent = world.agent(&chat, "a").await;
    let mut messages = vec![Arc::new(Message::text(Role::User, None, "Look at a"))];
    let go_on = Message {
        parts: vec![Part::Context { text: "Continue.".to_owned() }],
        ..Message::text(Role::User, None, "")
    };
    for message in [&first, &go_on].into_iter().chain(then) {
        let parent = messages.last().map(|message| message.id);
        messages.push(Arc::new(Message { parent, ..message.clone() }));
    }
    let head = messages[messages.len() - 1].id;
    let store = &world.manager.inner.shared.store;
    store.claim(&agent).await.unwrap();
    store.append(&agent, messages, head).await.unwrap();
    store.release(&agent).await.unwrap();
    world.session(&agent).await.report().await.unwrap()
}

fn reply(text: &str, ended: Ending) -> Message {
    let model = ModelRef::new("test", "scripted");
    Message {
        parts: vec![Part::Text(text.to_owned())],
        ended: Some(ended),
        ..Message::reply(None, model)
    }
}

#[tokio::test]
async fn a_reply_that_was_continued_is_reported_as_a_whole() {
    let (_folder, world) = world().await;
    let half = || reply("A is ", Ending::Interrupted);
    let report = continued(&world, half(), &[reply("fine.", Ending::Complete)]).await;
    assert_eq!(report.text, "A is fine.");
    // What it says after it looked is no continuation.
    let call = ToolCall::new(ToolCallId::new("c1"), "read_file", json!({}));
    let mut looks = reply("broken, I think.", Ending::Complete);
    looks.parts.push(Part::ToolCall(call.clone()));
    let result = Message::tool_result(ToolResult::to(&call, "fine", false));
    let then = [looks, result, reply("A is fine after all.", Ending::Complete)];
    assert_eq!(continued(&world, half(), &then).await.text, "A is fine after all.");
    let circles = Message {
        error: Some(crate::error::Kind::Repetition { fresh: None }.into()),
        ..reply("a a a a", Ending::Interrupted)
    };
    let report = continued(&world, circles, &[reply("A is fine.", Ending::Complete)]).await;
    assert_eq!(report.text, "A is fine.");
}
