//! Tests what becomes of messages that wait in an agent which is stopped or deleted.

use super::*;
use crate::error::Kind;
use crate::message::AgentState;

/// A chat, its agent “a” that is at work, and what lets that end; a second message waits in it.
async fn busy_agent(world: &World) -> (Fid, Fid, Arc<Semaphore>) {
    let gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    let a = world.agent_of(&chat, "a").await;
    world.begins(&a).await;
    team.tell("a", "Look at b", false).await.unwrap();
    assert_eq!(world.waiting(&a).await, 1);
    (chat, a, gate)
}

#[tokio::test]
async fn a_message_that_waits_in_a_stopped_agent_is_reported_once_it_was_answered() {
    let (_folder, world) = world().await;
    let (chat, a, gate) = busy_agent(&world).await;
    world.manager.agents().interrupt(&a);
    until("two reports", async || (world.messages(&chat).await.len() == 2).then_some(())).await;
    world.manager.agents().at_rest(&chat).await.unwrap();
    let told = world.messages(&chat).await;
    assert!(told.iter().all(|report| report.state == AgentState::Stopped));
    assert_eq!(told[1].text, "");
    gate.close();
    assert!(world.session(&a).await.send_waiting().await, "the user sends it");
    until("the answer", async || (world.messages(&chat).await.len() == 3).then_some(())).await;
    let told = world.messages(&chat).await.pop().unwrap();
    assert_eq!(told.state, AgentState::Done);
    assert!(told.text.contains("Look at b"), "{}", told.text);
    assert!(!world.owes(&a).await);
}

#[tokio::test]
async fn a_message_that_is_taken_back_from_a_stopped_agent_is_reported_no_more() {
    let (_folder, world) = world().await;
    let (chat, a, _gate) = busy_agent(&world).await;
    world.manager.agents().interrupt(&a);
    until("two reports", async || (world.messages(&chat).await.len() == 2).then_some(())).await;
    assert!(world.owes(&a).await);
    let waiting = world.manager.inner.shared.store.waiting(&a).await.unwrap();
    world.session(&a).await.unqueue(waiting[0].id).await.unwrap().unwrap();
    until("the end", async || (!world.owes(&a).await).then_some(())).await;
    assert_eq!(world.messages(&chat).await.len(), 2);
}

#[tokio::test]
async fn nobody_uses_the_session_of_an_agent_that_was_deleted_and_restored() {
    let (_folder, world) = world().await;
    let (chat, a, _gate) = busy_agent(&world).await;
    let before = world.session(&a).await;
    world.manager.sessions().delete(&a).await.unwrap();
    world.manager.sessions().restore(&a).await.unwrap();
    let request = ChatRequest { content: Content::text("Look at c"), ..ChatRequest::default() };
    let error = before.send(request).await.unwrap_err();
    assert!(matches!(error.kind, Kind::SessionNotFound { .. }), "{error}");
    assert_eq!(world.waiting(&a).await, 1);
    // Who waits for the end of that one does not wait for ever.
    world.manager.inner.shared.store.owe_last_work(&a, &chat).await.unwrap();
    world.manager.report_when_idle(world.session(&chat).await, before, None, false);
    let rests = world.manager.agents();
    let rests = tokio::time::timeout(PATIENCE, rests.at_rest(&chat)).await;
    rests.expect("it hangs").unwrap();
}
