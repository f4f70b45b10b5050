//! Tests agents while another process has the same database.

use super::*;
use crate::error::Kind;

#[tokio::test]
async fn an_agent_that_another_process_runs_is_not_closed() {
    let (folder, world) = world().await;
    let _gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    let below = world.agent(&a, "below").await;
    world.say(&below, "Look at a").await;
    world.begins(&below).await;
    let other = start(folder.path()).await;
    let refused = other.manager.agents().close(&a).await.unwrap_err().kind;
    assert_eq!(refused, Kind::SessionInUse);
    for agent in [&a, &below] {
        assert!(!other.session(agent).await.is_halted());
        assert!(!other.session(agent).await.placeholder().closed);
    }
    world.manager.agents().close(&a).await.unwrap();
    other.manager.agents().close(&a).await.unwrap();
}

#[tokio::test]
async fn where_another_process_runs_one_of_them_none_is_stopped() {
    let (folder, world) = world().await;
    let _gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    let below = world.agent(&a, "below").await;
    world.say(&below, "Look at below").await;
    world.begins(&below).await;
    let other = start(folder.path()).await;
    let _other_gate = other.client.hold("Look at");
    other.say(&a, "Look at a").await;
    other.begins(&a).await;
    let refused = other.manager.agents().close(&a).await.unwrap_err().kind;
    assert_eq!(refused, Kind::SessionInUse);
    assert!(other.session(&a).await.is_busy());
    // It is still its own.
    let refused = world.manager.agents().close(&a).await.unwrap_err().kind;
    assert_eq!(refused, Kind::SessionInUse);
    assert!(world.session(&below).await.is_busy());
}

#[tokio::test]
async fn a_report_is_not_told_by_another_process_while_its_chat_is_at_work() {
    let (folder, world) = world().await;
    let gate = world.client.hold("Wait");
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    world.say(&a, "Look").await;
    world.session(&a).await.idle().await;
    world.say(&chat, "Wait").await;
    world.begins(&chat).await;
    world.manager.inner.shared.store.owe_last_work(&a, &chat).await.unwrap();
    let other = start(folder.path()).await;
    other.manager.report_left_over(None).await.unwrap();
    assert!(world.owes(&a).await);
    // Nor where it had looked at it before.
    let agent = other.session(&a).await;
    let other_chat = other.session(&chat).await;
    agent.hand_in(&other_chat, true).await.unwrap();
    assert!(world.owes(&a).await);
    gate.close();
    world.session(&chat).await.idle().await;
    other.manager.report_left_over(None).await.unwrap();
    assert!(!world.owes(&a).await);
    assert_eq!(world.messages(&chat).await.len(), 1);
}
