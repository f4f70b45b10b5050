//! Tests what a model is asked when it continues.

use serde_json::json;

use super::*;
use crate::message::{Ending, Message, ToolCall, ToolCallId};

#[tokio::test]
async fn a_reply_whose_calls_got_no_result_is_not_said_to_be_cut_off() {
    let (_folder, world) = world().await;
    let chat = world.chat("test").await;
    let asked = Arc::new(Message::text(Role::User, None, "Look at a"));
    let model = ModelRef::new("test", "scripted");
    let call = ToolCall::new(ToolCallId::new("c1"), "run_command", json!({ "command": "ls" }));
    // Nobody had approved it when the program was killed.
    let reply = Arc::new(Message {
        parts: vec![Part::Text("I look.".to_owned()), Part::ToolCall(call)],
        ended: Some(Ending::Complete),
        ..Message::reply(Some(asked.id), model)
    });
    let store = &world.manager.inner.shared.store;
    store.claim(&chat).await.unwrap();
    store.append(&chat, vec![Arc::clone(&asked), Arc::clone(&reply)], reply.id).await.unwrap();
    store.release(&chat).await.unwrap();
    world.manager.sessions().resume(&chat).await.unwrap();
    let session = world.session(&chat).await;
    session.idle().await;
    let transcript = session.transcript().await.unwrap();
    let roles: Vec<_> = transcript.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Assistant]);
    assert_eq!(transcript[2].plain_text(), "reply 0 to Look at a");
}
