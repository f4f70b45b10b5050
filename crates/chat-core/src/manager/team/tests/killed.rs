//! Tests that a program that is killed neither loses a report nor has it delivered twice.

use rusqlite::Connection;

use super::*;
use crate::message::AgentState;

/// What a program finds that starts after this one was killed now. All but these sessions are left out.
pub(super) async fn killed(folder: &Path, sessions: &[&Fid]) -> (TempDir, World) {
    let copy = TempDir::new().unwrap();
    let (from, to) = (Folders::below(folder).database(), Folders::below(copy.path()));
    let kept = sessions.iter().map(|fid| format!("'{fid}'")).collect::<Vec<_>>().join(", ");
    let copies = move || {
        std::fs::create_dir_all(&to.data).unwrap();
        let now = Connection::open(from).unwrap();
        now.busy_timeout(PATIENCE).unwrap();
        // What is committed, and no more.
        now.execute("VACUUM INTO ?1", [to.database().to_str().unwrap()]).unwrap();
        let then = Connection::open(to.database()).unwrap();
        then.pragma_update(None, "foreign_keys", true).unwrap();
        then.execute(&format!("DELETE FROM sessions WHERE fid NOT IN ({kept})"), []).unwrap();
    };
    tokio::task::spawn_blocking(copies).await.unwrap();
    let world = start(copy.path()).await;
    world.manager.report_left_over(None).await.unwrap();
    (copy, world)
}

/// What the chat hears of after a kill, in order.
async fn heard_after_kill(folder: &TempDir, chat: &Fid, agent: &Fid) -> Vec<String> {
    let (_copy, world) = killed(folder.path(), &[chat, agent]).await;
    until("the reports", async || {
        let owed = world.manager.inner.shared.store.owed_reports(agent).await.unwrap();
        owed.is_empty().then_some(())
    })
    .await;
    world.messages(chat).await.into_iter().map(|report| report.text).collect()
}

#[tokio::test]
async fn an_answer_is_owed_until_the_result_that_carries_it_is_stored() {
    let (folder, world) = world().await;
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    let answer = world.asks(&chat, "a", "Look").answer().await.unwrap();
    assert_eq!(answer.state, AgentState::Done);
    assert_eq!(heard_after_kill(&folder, &chat, &a).await, std::slice::from_ref(&answer.text));
    assert_eq!(world.messages(&chat).await, [], "here the call tells it");
    world.keep(&chat, vec![answer]).await;
    assert_eq!(heard_after_kill(&folder, &chat, &a).await, [""; 0]);
    assert!(world.manager.inner.shared.store.owed_reports(&a).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_report_that_waits_stays_until_the_result_of_the_call_that_took_it_is_stored() {
    let (folder, world) = world().await;
    let _gate = world.client.hold("begin");
    let chat = world.chat("test").await;
    world.say(&chat, "begin").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let a = team.start(background("a", "Look"), &cancel).await.unwrap().session;
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    let names = ["a".to_owned()];
    let reports = team.wait(Some(&names), PATIENCE, &cancel).await.unwrap();
    assert_eq!(reports, std::slice::from_ref(&told));
    let session = world.session(&chat).await;
    assert!(session.first_waiting().is_none(), "the call tells it");
    session.show_waiting().await.unwrap();
    assert!(session.first_waiting().is_none());
    assert_eq!(heard_after_kill(&folder, &chat, &a).await, [told.text]);
    world.keep(&chat, reports).await;
    assert_eq!(heard_after_kill(&folder, &chat, &a).await, [""; 0]);
    assert_eq!(world.messages(&chat).await, []);
}

#[tokio::test]
async fn reports_that_were_not_delivered_come_in_their_order_after_a_kill() {
    let (folder, world) = world().await;
    let gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let a = team.start(background("a", "Look at a"), &cancel).await.unwrap().session;
    world.begins(&a).await;
    team.tell("a", "Look at b", false).await.unwrap();
    // While a call waits, no message tells it.
    let agent = world.session(&a).await;
    let waits =
        world.session(&chat).await.tree().wait_for(&chat, std::slice::from_ref(&a)).unwrap();
    gate.close();
    agent.idle().await;
    let heard = heard_after_kill(&folder, &chat, &a).await;
    let heard: Vec<_> = heard.iter().map(|text| text.split(" to ").last().unwrap()).collect();
    assert_eq!(heard, ["Look at a", "Look at b"]);
    drop(waits);
}

#[tokio::test]
async fn an_agent_that_is_killed_with_the_call_that_waits_for_it_has_nothing_to_report() {
    let (folder, world) = world().await;
    let _gate = world.client.hold("Look");
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    let asked = world.asks(&chat, "a", "Look");
    world.begins(&a).await;
    assert_eq!(heard_after_kill(&folder, &chat, &a).await, [""; 0]);
    asked.cancel.cancel();
    asked.answer().await.unwrap();
}
