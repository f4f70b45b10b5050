//! Tests that reports are told once, to the one that they are for, whatever comes in between.

use super::*;
use crate::error::{BudgetLimit, Kind};
use crate::message::{AgentState, MessageId};
use crate::store::OwedReport;

/// Longer than any test takes.
const LONG: Duration = Duration::from_hours(1);

#[tokio::test]
async fn a_chat_is_at_rest_once_it_has_answered_the_reports_of_its_agents() {
    let (_folder, world) = world().await;
    let gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    let rests = tokio::spawn({
        let (agents, chat) = (world.manager.agents(), chat.clone());
        async move { agents.at_rest(&chat).await }
    });
    let a = world.agent_of(&chat, "a").await;
    world.begins(&a).await;
    assert!(!rests.is_finished());
    gate.close();
    tokio::time::timeout(PATIENCE, rests).await.expect("it hangs").unwrap().unwrap();
    let session = world.session(&chat).await;
    assert!(!session.is_busy_or_begins_next());
    let said = session.transcript().await.unwrap();
    assert!(said.last().unwrap().plain_text().starts_with("reply"), "it answered the report");
}

#[tokio::test]
async fn a_question_of_another_agent_takes_no_report_from_the_chat() {
    let (_folder, world) = world().await;
    let gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let a = team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    let b = world.agent(&chat, "b").await;
    world.begins(&a.session).await;
    let asked = world.asks(&b, "a", "What is a?");
    until("the question", async || (world.waiting(&a.session).await == 1).then_some(())).await;
    gate.close();
    assert!(asked.answer().await.unwrap().text.contains("What is a?"));
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert_eq!((told.name.as_str(), told.state), ("a", AgentState::Done));
    assert!(!world.owes(&a.session).await);
}

#[tokio::test]
async fn an_answer_and_the_report_of_the_work_before_it_are_both_told() {
    let (_folder, world) = world().await;
    let gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let a = team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    world.begins(&a.session).await;
    let asked = world.asks(&chat, "a", "And b?");
    until("the question", async || (world.waiting(&a.session).await == 1).then_some(())).await;
    gate.close();
    assert!(asked.answer().await.unwrap().text.contains("And b?"));
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert!(told.text.contains("Look at a"), "{told:?}");
    assert!(!world.owes(&a.session).await);
    assert_eq!(world.messages(&chat).await.len(), 1);
}

#[tokio::test]
async fn a_question_that_cannot_be_asked_is_not_answered_with_an_old_reply() {
    let (_folder, world) = world().await;
    let settings = world.manager.settings();
    settings.change(|settings| settings.agents.turns = 1).await.unwrap();
    let gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let a = team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    world.begins(&a.session).await;
    let asked = world.asks(&chat, "a", "And b?");
    until("the question", async || (world.waiting(&a.session).await == 1).then_some(())).await;
    gate.close();
    let answer = asked.answer().await.unwrap();
    assert_eq!((answer.state, answer.text.as_str()), (AgentState::Failed, ""));
    let limit = Kind::AgentBudget { limit: BudgetLimit::Turns(1) };
    assert_eq!(answer.error.unwrap().kind, limit);
    assert_eq!(world.waiting(&a.session).await, 0, "it is not asked later");
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert!(told.text.contains("Look at a"), "{told:?}");
}

#[tokio::test]
async fn a_stopped_agent_that_takes_long_is_told_as_stopped_and_again_when_it_has_ended() {
    let (_folder, world) = world().await;
    let _gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    let asked = world.asks(&chat, "a", "Look at a");
    world.begins(&a).await;
    let session = world.session(&a).await;
    // It cannot end while something is read from the store.
    let busy = session.gate_of_living().await.unwrap();
    asked.cancel.cancel();
    let answer = asked.answer().await.unwrap();
    assert_eq!(answer.state, AgentState::Stopped);
    assert!(answer.text.starts_with("reply"), "{answer:?}");
    assert!(world.owes(&a).await);
    drop(busy);
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert_eq!((told.state, told.text), (AgentState::Stopped, answer.text));
}

#[tokio::test]
async fn agents_that_an_earlier_start_left_are_reported_to_their_chats() {
    let (folder, world) = world().await;
    let store = &world.manager.inner.shared.store;
    let mut agents = Vec::new();
    for _ in 0..2 {
        let chat = world.chat("test").await;
        let agent = world.agent(&chat, "a").await;
        world.say(&agent, "Look").await;
        world.session(&agent).await.idle().await;
        store.owe_last_work(&agent, &chat).await.unwrap();
        agents.push((chat, agent));
    }
    world.manager.shutdown().await;
    let again = start(folder.path()).await;
    for (chat, agent) in agents {
        let told = until("the report", async || again.messages(&chat).await.pop()).await;
        assert_eq!((told.session, told.state), (agent, AgentState::Done));
    }
}

#[tokio::test]
async fn what_a_call_began_is_carried_out_though_nobody_waits_for_it() {
    let (_folder, world) = world().await;
    let _gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    // One that is started, at every step of that.
    for steps in 0..12 {
        let mut call = team.start(background("b", "Look at b"), &cancel);
        for _ in 0..steps {
            if futures_util::poll!(&mut call).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(call);
        world.manager.agents().close_all(&chat).await.unwrap();
    }
    let tree = Arc::clone(world.session(&chat).await.tree());
    until("an end", async || tree.is_at_rest().then_some(())).await;
    let a = team.start(background("a", "Look at a"), &cancel).await.unwrap().session;
    world.begins(&a).await;
    let session = world.session(&a).await;
    let busy = session.gate_of_living().await.unwrap();
    let mut closing = team.close("a");
    until("the halt", async || {
        assert!(futures_util::poll!(&mut closing).is_pending());
        session.is_halted().then_some(())
    })
    .await;
    drop((closing, busy));
    until("the end", async || (!session.is_halted()).then_some(())).await;
    assert!(session.placeholder().closed && !world.owes(&a).await);
    assert_eq!(world.messages(&chat).await.iter().filter(|told| told.name == "a").count(), 0);
}

#[tokio::test]
async fn the_report_of_a_call_that_nobody_waits_for_comes_as_a_message() {
    let (_folder, world) = world().await;
    let gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let a = team.start(background("a", "Look at a"), &cancel).await.unwrap().session;
    world.begins(&a).await;
    let mut waiting = team.wait(None, LONG, &cancel);
    let tree = Arc::clone(world.session(&chat).await.tree());
    until("the claim", async || {
        assert!(futures_util::poll!(&mut waiting).is_pending());
        tree.waits(&chat, &a).then_some(())
    })
    .await;
    let session = world.session(&a).await;
    // The call is given up when its report is being read.
    let disturbs = session.undisturbed().await;
    gate.close();
    session.idle().await;
    drop(waiting);
    drop(disturbs);
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert!(told.text.contains("Look at a"), "{told:?}");
}

#[tokio::test]
async fn a_report_waits_for_the_end_of_a_halt_and_comes_after_a_deletion_is_taken_back() {
    let (_folder, world) = world().await;
    let gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let a = team.start(background("a", "Look at a"), &cancel).await.unwrap().session;
    world.begins(&a).await;
    let session = world.session(&a).await;
    session.halt();
    session.idle().await;
    assert_eq!(world.messages(&chat).await, []);
    session.go_on();
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert_eq!(told.state, AgentState::Stopped);

    let b = team.start(background("b", "Look at b"), &cancel).await.unwrap().session;
    world.begins(&b).await;
    world.manager.sessions().delete(&chat).await.unwrap();
    world.manager.sessions().restore(&chat).await.unwrap();
    let told = until("the report", async || {
        world.messages(&chat).await.into_iter().find(|told| told.name == "b")
    })
    .await;
    assert_eq!(told.state, AgentState::Stopped);
    gate.close();
}

#[tokio::test]
async fn a_restored_agent_reports_on_the_work_that_it_owed_a_report_on() {
    let (_folder, world) = world().await;
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    for text in ["One", "Two"] {
        world.say(&a, text).await;
        world.session(&a).await.idle().await;
    }
    let agent = world.session(&a).await;
    let about = agent.transcript().await.unwrap().first().map(|message| message.id);
    let owed = OwedReport { id: MessageId::new(), to: chat.clone(), about, by_call: false };
    world.manager.inner.shared.store.owe_report(&a, owed).await.unwrap();
    drop(agent);
    world.manager.sessions().delete(&chat).await.unwrap();
    world.manager.sessions().restore(&chat).await.unwrap();
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert!(told.text.ends_with("to One"), "{told:?}");
    assert!(!world.owes(&a).await);
}

#[tokio::test]
async fn a_stop_withdraws_a_question_that_waits_and_wakes_nobody() {
    let (_folder, world) = world().await;
    let _gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let a = team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    let a = a.session;
    let b = world.agent(&chat, "b").await;
    world.begins(&a).await;
    // Another agent's: what the chat has it do goes on.
    let asked = world.asks(&b, "a", "What is a?");
    until("the question", async || (world.waiting(&a).await == 1).then_some(())).await;
    asked.cancel.cancel();
    assert_eq!(asked.answer().await.unwrap().state, AgentState::Stopped);
    assert_eq!(world.waiting(&a).await, 0);
    let session = world.session(&a).await;
    assert!(session.is_busy());
    // The chat's: all that it waits for stops.
    world.say(&chat, "Look at all").await;
    world.begins(&chat).await;
    let asked = world.asks(&chat, "a", "And b?");
    until("the question", async || (world.waiting(&a).await == 1).then_some(())).await;
    asked.cancel.cancel();
    world.manager.sessions().stop(&chat);
    assert_eq!(asked.answer().await.unwrap().state, AgentState::Stopped);
    session.idle().await;
    assert_eq!(world.waiting(&a).await, 0);
    until("the report", async || world.messages(&chat).await.pop()).await;
    let told = world.session(&chat).await;
    until("the end", async || (!world.owes(&a).await && !told.is_busy()).then_some(())).await;
    assert_eq!(world.waiting(&chat).await, 1, "it waits until the user sends it");
}

#[tokio::test]
async fn an_agent_that_is_stopped_before_it_begins_is_closed_again() {
    let (_folder, world) = world().await;
    world.manager.settings().change(|settings| settings.agents.at_once = 1).await.unwrap();
    let _gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let a = team.start(background("a", "Look at a"), &CancellationToken::new()).await.unwrap();
    world.begins(&a.session).await;
    for is_background in [true, false] {
        let cancel = CancellationToken::new();
        let task = AgentTask { background: is_background, ..background("b", "Look at b") };
        let mut call = team.start(task, &cancel);
        let b = until("the agent", async || {
            assert!(futures_util::poll!(&mut call).is_pending());
            let agents = world.manager.agents().list(Some(&chat)).await.unwrap();
            agents.into_iter().find(|agent| agent.fid != a.session && !agent.closed)
        })
        .await;
        cancel.cancel();
        assert_eq!(call.await.unwrap_err(), TeamError::Stopped);
        assert!(world.session(&b.fid).await.placeholder().closed);
    }
    assert!(world.session(&a.session).await.is_busy());
}

#[tokio::test]
async fn a_list_says_that_an_agent_was_stopped() {
    let (_folder, world) = world().await;
    let _gate = world.client.hold("Look at a");
    let chat = world.chat("test").await;
    let a = world.agent(&chat, "a").await;
    let team = world.team(&chat);
    assert_eq!(team.list().await.unwrap()[0].0.state, AgentState::Idle);
    world.say(&a, "Look at a").await;
    world.begins(&a).await;
    assert_eq!(team.list().await.unwrap()[0].0.state, AgentState::Working);
    world.manager.agents().interrupt(&a);
    world.session(&a).await.idle().await;
    let listed = team.list().await.unwrap();
    assert_eq!((listed[0].0.state, listed[0].0.text.as_str()), (AgentState::Stopped, ""));
    world.say(&a, "Go on").await;
    world.session(&a).await.idle().await;
    assert_eq!(team.list().await.unwrap()[0].0.state, AgentState::Done);
}

#[tokio::test]
async fn agents_that_a_stopped_chat_waits_for_stop_too() {
    let (_folder, world) = world().await;
    let _gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let mut agents = Vec::new();
    for name in ["a", "b"] {
        let task = background(name, &format!("Look at {name}"));
        agents.push(team.start(task, &cancel).await.unwrap().session);
        world.begins(agents.last().unwrap()).await;
    }
    let tree = Arc::clone(world.session(&chat).await.tree());
    let token = cancel.clone();
    let waiting = tokio::spawn(async move { team.wait(None, LONG, &token).await });
    until("the claim", async || tree.waits(&chat, &agents[1]).then_some(())).await;
    cancel.cancel();
    let told = waiting.await.unwrap().unwrap();
    let told: Vec<_> = told.iter().map(|told| (told.name.as_str(), told.state)).collect();
    assert_eq!(told, [("a", AgentState::Stopped), ("b", AgentState::Stopped)]);
    for agent in &agents {
        assert!(!world.session(agent).await.is_busy() && !world.owes(agent).await);
    }
    until("an end", async || tree.is_at_rest().then_some(())).await;
    assert_eq!(world.messages(&chat).await, []);
}

#[tokio::test]
async fn each_of_several_pieces_of_work_is_reported_in_their_order() {
    let (_folder, world) = world().await;
    let gate = world.client.hold("Look at");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let a = team.start(background("a", "Look at a"), &cancel).await.unwrap().session;
    world.begins(&a).await;
    team.tell("a", "Look at b", false).await.unwrap();
    assert_eq!(world.manager.inner.shared.store.owed_reports(&a).await.unwrap().len(), 2);
    gate.close();
    until("the reports", async || (!world.owes(&a).await).then_some(())).await;
    let told = world.messages(&chat).await;
    let told: Vec<_> = told.iter().map(|it| it.text.split(" to ").last().unwrap()).collect();
    assert_eq!(told, ["Look at a", "Look at b"]);
}

#[tokio::test]
async fn equal_words_are_reports_of_their_own() {
    let (_folder, world) = world().await;
    world.client.same.store(true, Ordering::SeqCst);
    let gate = world.client.hold("Look");
    let chat = world.chat("test").await;
    let team = world.team(&chat);
    let cancel = CancellationToken::new();
    let a = team.start(background("a", "Look"), &cancel).await.unwrap().session;
    world.begins(&a).await;
    let asked = world.asks(&chat, "a", "Look");
    until("the question", async || (world.waiting(&a).await == 1).then_some(())).await;
    gate.close();
    let answer = asked.answer().await.unwrap();
    world.keep(&chat, vec![answer.clone()]).await;
    let told = until("the report", async || world.messages(&chat).await.pop()).await;
    assert_eq!((&told.text, told.state), (&answer.text, answer.state));
    assert_ne!(told.ids, answer.ids);
    assert_eq!(world.messages(&chat).await.len(), 1);
}
