//! Tests agents that work for a chat, by the tools of models, in a running engine.

mod places;
mod waiting;
pub mod world;

use chat_core::error::{BudgetLimit, Error, Kind};
use chat_core::event::{CallState, Event, OpenCall, Status, StopReason};
use chat_core::message::{AgentState, FromAgent, Part, ReplyFailure, Role};
use chat_testkit::server::{Gate, PATIENCE, Script, Server};
use serde_json::json;

use world::{World, last_text, offered, reports, spawn, task};

#[tokio::test]
async fn two_agents_work_at_once_and_their_reports_outlive_them() {
    let server = Server::start();
    // None is done before both have begun.
    let gates = [Gate::new(), Gate::new()];
    server.when("Look at a", Script::new().text("A is ").gate(&gates[0]).text("fine."));
    server.when("Look at b", Script::new().text("B is ").gate(&gates[1]).text("broken."));
    let calls = spawn("c1", task("explorer", "Look at a"));
    let calls = calls.tool_call("c2", "spawn_agent", task("explorer", "Look at b"));
    server.push(calls);
    let mut world = World::new(&server).await;
    let fid = world.ask("Check both").await;
    let reached = gates.clone();
    tokio::task::spawn_blocking(move || reached.iter().for_each(Gate::wait_reached)).await.unwrap();
    server.push(Script::new().text("B is broken."));
    gates.iter().for_each(Gate::open);
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let results = world.results(&fid).await;
    let told: Vec<_> = results.iter().map(|result| (result.failed, result.text.as_str())).collect();
    assert!(told.iter().any(|(_, text)| text.ends_with("is done:\nA is fine.")), "{told:?}");
    assert!(told.iter().any(|(_, text)| text.ends_with("is done:\nB is broken.")), "{told:?}");
    assert!(results.iter().all(|result| reports(result)[0].state == AgentState::Done));
    let last = server.chats().last().unwrap().body["messages"].to_string();
    assert!(last.contains("A is fine.") && last.contains("B is broken."), "{last}");

    let agent = world.agent(&fid, "explorer").await;
    world.agent(&fid, "explorer-2").await;
    let transcript = world.messages(&agent).await;
    let from =
        |part: &Part| *part == Part::FromAgent(FromAgent::Message { name: "main".to_owned() });
    assert!(transcript[0].parts.iter().any(from), "{:?}", transcript[0].parts);
    let chats = server.chats();
    let child = chats.iter().find(|chat| chat.body["messages"].to_string().contains("Look at a"));
    let tools = offered(child.unwrap());
    assert!(!tools.contains(&"spawn_agent".to_owned()), "{tools:?}");
    assert!(tools.contains(&"ask_agent".to_owned()) && tools.contains(&"read_file".to_owned()));
    assert!(offered(&chats[0]).contains(&"spawn_agent".to_owned()));

    world.manager.sessions().delete(&agent).await.unwrap();
    let world = world.restart().await;
    assert_eq!(world.results(&fid).await, results);
}

#[tokio::test]
async fn a_running_call_names_its_agent_and_all_hear_what_that_runs() {
    let server = Server::start();
    let command = json!({ "command": "touch a" });
    let runs = Script::new().tool_call("c9", "run_command", command).usage(100, 20);
    server.when("Look at a", runs);
    server.push(spawn("c1", task("explorer", "Look at a")));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    let (agent, activity) = world
        .until(|event| match event {
            Event::SessionChanged(row) if row.status == Status::NeedsInput => {
                Some((row.meta.clone(), row.activity.clone()?))
            }
            _ => None,
        })
        .await;
    assert_eq!((agent.name.as_deref(), agent.parent.as_ref()), (Some("explorer"), Some(&fid)));
    assert_eq!(activity.call.as_ref().map(|call| call.name.as_str()), Some("run_command"));
    assert_eq!(activity.tokens, 120);
    let opened = world.manager.sessions().open(&fid, 10, &world.events).await.unwrap();
    assert_eq!(opened.session.activity, None, "it is no agent");
    let [OpenCall { state: CallState::Running { agents, .. }, .. }] = &opened.calls[..] else {
        panic!("{:?}", opened.calls);
    };
    assert_eq!(agents.as_slice(), std::slice::from_ref(&agent.fid));
    world.manager.sessions().stop(&fid);
    assert_eq!(world.finished(&fid).await, StopReason::Stopped);
    let after = world.manager.agents().find_by_name(&fid, "explorer").await.unwrap().unwrap();
    assert_eq!((after.status, after.activity.clone()), (Status::Idle, None));
}

#[tokio::test]
async fn interrupted_agents_continue_and_their_chat_with_what_they_report() {
    let server = Server::start();
    let gate = Gate::new();
    server.when("Look at a", Script::new().gate_first(&gate).text("A is ").cut());
    let background = json!({ "name": "explorer", "task": "Look at a", "background": true });
    server.push(spawn("c1", background));
    let mut world = World::new(&server).await;
    world.limit(|agents| agents.wake = false).await;
    let fid = world.ask("Have it looked at").await;
    // Otherwise the chat would still hear that its agent was cut off.
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    gate.open();
    world.until(|event| matches!(event, Event::RequestFinished { .. }).then_some(())).await;
    let agent = world.manager.agents().find_by_name(&fid, "explorer").await.unwrap().unwrap();
    assert_eq!(agent.trouble, Some(ReplyFailure::Interrupted));
    let agent = agent.meta.fid;
    server.when("cut off", Script::new().text("fine."));
    server.push(Script::new().text("So it is fine."));
    world.manager.agents().resume_all(&fid).await.unwrap();
    assert_eq!(world.finished(&agent).await, StopReason::Complete);
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let messages = world.messages(&fid).await;
    let told = messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::FromAgent(FromAgent::Report(report)) => Some((report.state, report.text.as_str())),
        _ => None,
    });
    // Not that it was interrupted, and not its last words alone.
    assert_eq!(told.collect::<Vec<_>>(), [(AgentState::Done, "A is fine.")]);
    // Nobody is left that would.
    world.manager.agents().interrupt_all(&fid).await.unwrap();
    while !world.manager.sessions().busy().is_empty() {
        world.until(|_| Some(())).await;
    }
}

#[tokio::test]
async fn an_agent_in_the_background_reports_by_a_message_once() {
    let server = Server::start();
    let gate = Gate::new();
    server.when("Look at a", Script::new().gate_first(&gate).text("A is fine."));
    let background = json!({ "name": "explorer", "task": "Look at a", "background": true });
    server.push(spawn("c1", background));
    server.push(Script::new().text("It is being looked at."));
    server.push(Script::new().text("So it is fine."));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    assert_eq!(reports(&world.results(&fid).await[0])[0].state, AgentState::Working);
    gate.open();
    // It goes on by itself.
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let messages = world.messages(&fid).await;
    assert_eq!(last_text(&messages), "So it is fine.");
    let told = messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::FromAgent(FromAgent::Report(report)) => Some((report.state, report.text.as_str())),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(AgentState::Done, "A is fine.")]);
    assert!(messages.iter().filter(|message| message.role == Role::User).count() == 2);
    // After a restart nothing is told again.
    let world = world.restart().await;
    assert_eq!(world.messages(&fid).await.len(), messages.len());
    assert_eq!(server.chats().len(), 4);
}

#[tokio::test]
async fn who_waits_for_an_agent_gets_its_report_and_no_message() {
    let server = Server::start();
    server.when("Look at a", Script::new().text("A is fine."));
    let background = json!({ "name": "explorer", "task": "Look at a", "background": true });
    let calls = spawn("c1", background).tool_call("c2", "wait_agents", json!({}));
    // Calls that have agents work run at once, so that the second may find nobody at work.
    server.push(calls);
    server.push(Script::new().tool_call("c3", "wait_agents", json!({ "names": ["explorer"] })));
    server.push(Script::new().text("Fine."));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[2].text.ends_with("A is fine."), "{results:?}");
    let unknown = json!({ "names": ["nobody"] });
    server.push(Script::new().tool_call("c4", "wait_agents", unknown));
    server.push(Script::new().text("Right."));
    world.say(&fid, "Wait for nobody").await;
    world.finished(&fid).await;
    let result = world.results(&fid).await.pop().unwrap();
    assert_eq!(result.text, "tool_call_fail: There is no agent “nobody”. There are: explorer.");
}

#[tokio::test]
async fn a_failure_is_never_told_as_success_and_keeps_what_was_done() {
    let server = Server::start();
    server.when("Look at a", Script::new().text("I found half").cut());
    server.push(spawn("c1", task("explorer", "Look at a")));
    server.push(Script::new().text("It broke."));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    world.finished(&fid).await;
    let result = &world.results(&fid).await[0];
    assert!(result.failed && result.text.contains("interrupted"), "{}", result.text);
    assert!(result.text.ends_with("What it had said until then:\nI found half"), "{}", result.text);
    assert_eq!(reports(result)[0].state, AgentState::Interrupted);
}

#[tokio::test]
async fn agents_that_would_wait_for_each_other_are_refused_and_told_why() {
    let server = Server::start();
    let ask = |id: &str, name: &str| {
        Script::new().tool_call(id, "ask_agent", json!({ "name": name, "message": "Well?" }))
    };
    let idle =
        spawn("c1", json!({ "name": "a" })).tool_call("c2", "spawn_agent", json!({ "name": "b" }));
    for script in [idle, ask("c3", "a"), ask("c4", "b"), ask("c5", "a"), ask("c6", "main")] {
        server.push(script);
    }
    for text in ["b says", "a says", "main says"] {
        server.push(Script::new().text(text));
    }
    let mut world = World::new(&server).await;
    let fid = world.ask("Ask around").await;
    world.finished(&fid).await;
    let b = world.agent(&fid, "b").await;
    let refused: Vec<_> = world.results(&b).await.into_iter().map(|result| result.text).collect();
    assert!(refused[0].ends_with("wait for each other: b → a → b."), "{refused:?}");
    assert!(refused[1].contains("You work for “main”"), "{refused:?}");
    let asked = world.results(&fid).await.pop().unwrap();
    assert!(!asked.failed && asked.text.ends_with("is done:\na says"), "{asked:?}");
    assert_eq!(last_text(&world.messages(&fid).await), "main says");
}

#[tokio::test]
async fn a_stop_of_the_chat_stops_who_works_for_its_call_and_keeps_what_arrived() {
    let server = Server::start();
    let gate = Gate::new();
    server.when("Look at a", Script::new().text("half").gate(&gate));
    server.push(spawn("c1", task("explorer", "Look at a")));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    world.shows("explorer", &fid, "half").await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.finished(&fid).await, StopReason::Stopped);
    let result = &world.results(&fid).await[0];
    assert!(result.failed && result.stopped, "{result:?}");
    assert_eq!(
        (reports(result)[0].state, reports(result)[0].text.as_str()),
        (AgentState::Stopped, "half")
    );
    let agent = world.agent(&fid, "explorer").await;
    assert_eq!(last_text(&world.messages(&agent).await), "half");
    assert!(world.manager.sessions().busy().is_empty());
}

#[tokio::test]
async fn an_agent_that_the_end_of_the_program_interrupts_is_told_of_after_the_next_start() {
    let server = Server::start();
    let gate = Gate::new();
    server.when("Look at a", Script::new().text("half").gate(&gate));
    let background = json!({ "name": "explorer", "task": "Look at a", "background": true });
    server.push(spawn("c1", background));
    server.push(Script::new().text("It is being looked at."));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    world.finished(&fid).await;
    world.shows("explorer", &fid, "half").await;
    let mut world = world.restart().await;
    let sessions = world.manager.sessions();
    let waits = async |world: &World| sessions.open(&fid, 10, &world.events).await.unwrap().queue;
    let mut queue = waits(&world).await;
    while queue.is_empty() {
        world.until(|_| Some(())).await;
        queue = waits(&world).await;
    }
    let Some(FromAgent::Report(report)) = &queue[0].content.agent else { panic!("{queue:?}") };
    assert_eq!((report.name.as_str(), report.text.as_str()), ("explorer", "half"));
    assert!(!report.state.is_well());
    assert_eq!(server.chats().len(), 3, "the user decides when it goes on");
    server.push(Script::new().text("Half is enough."));
    sessions.send_waiting(&fid).await.unwrap();
    world.finished(&fid).await;
    assert_eq!(last_text(&world.messages(&fid).await), "Half is enough.");
}

#[tokio::test]
async fn limits_are_kept_and_said() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    world.limit(|limits| (limits.per_session, limits.turns) = (2, 1)).await;
    let calls =
        spawn("c1", json!({ "name": "a" })).tool_call("c2", "spawn_agent", json!({ "name": "b" }));
    server.push(calls);
    server.push(spawn("c3", task("c", "Look")));
    let ask = |id: &str| {
        Script::new().tool_call(id, "ask_agent", json!({ "name": "a", "message": "Well?" }))
    };
    server.push(ask("c4"));
    server.push(Script::new().text("a says"));
    server.push(ask("c5"));
    server.push(Script::new().text("Enough."));
    let fid = world.ask("Have it looked at").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[2].text.contains("You have 2 agents, which is the limit"), "{results:?}");
    assert!(!results[3].failed);
    let error = Kind::AgentBudget { limit: BudgetLimit::Turns(1) };
    let error = Error::from(error).for_model();
    assert!(results[4].failed && results[4].text.ends_with(&error), "{results:?}");
    // What the user says gives them as much again, and closing an agent makes room.
    server.push(Script::new().tool_call("c6", "close_agent", json!({ "name": "b" })));
    server.push(spawn("c7", task("d", "Look")));
    server.push(Script::new().text("d says"));
    server.push(Script::new().text("Good."));
    world.say(&fid, "Go on").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[6].text.ends_with("d says"), "{results:?}");
    // Their tokens are counted, too.
    world.limit(|limits| (limits.tokens, limits.turns) = (5_000, 100)).await;
    server.push(ask("c8"));
    server.push(Script::new().text("a says").usage(4_000, 2_000));
    server.push(ask("c9"));
    server.push(Script::new().text("Enough."));
    world.say(&fid, "Go on").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(!results[7].failed && results[8].failed, "{results:?}");
    assert!(results[8].text.ends_with("limit of 5000 tokens."), "{results:?}");
}

#[tokio::test]
async fn a_closed_agent_is_opened_by_a_question_and_remembers() {
    let server = Server::start();
    server.push(spawn("c1", task("explorer", "Look at a")));
    server.push(Script::new().text("A is fine."));
    server.push(Script::new().tool_call("c2", "close_agent", json!({ "name": "explorer" })));
    let ask = json!({ "name": "explorer", "message": "And b?" });
    server.push(Script::new().tool_call("c3", "ask_agent", ask));
    server.push(Script::new().text("B too."));
    server.push(Script::new().tool_call("c4", "list_agents", json!({})));
    server.push(Script::new().text("All fine."));
    let mut world = World::new(&server).await;
    let fid = world.ask("Look").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert_eq!(results[1].text, "Agent “explorer” is closed.");
    assert!(results[2].text.ends_with("B too."), "{results:?}");
    assert_eq!(results[3].text, "Agent “explorer” is done.");
    let agent = world.agent(&fid, "explorer").await;
    assert_eq!(world.messages(&agent).await.len(), 4);
}

#[tokio::test]
async fn a_message_reaches_an_agent_at_work_and_the_one_above() {
    let server = Server::start();
    let gate = Gate::new();
    server.when("Look at a", Script::new().text("half").gate(&gate));
    let background = json!({ "name": "explorer", "task": "Look at a", "background": true });
    server.push(spawn("c1", background));
    let message = json!({ "name": "explorer", "message": "Rather at b", "interrupt": true });
    server.push(Script::new().tool_call("c2", "message_agent", message));
    let up = json!({ "name": "main", "message": "Which b?" });
    server.when("Rather at b", Script::new().text("Asking").tool_call("c3", "message_agent", up));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have it looked at").await;
    let reached = gate.clone();
    tokio::task::spawn_blocking(move || reached.wait_reached()).await.unwrap();
    server.when("Which b?", Script::new().text("The first."));
    server.push(Script::new().text("It looks at b."));
    let explorer = loop {
        let found = world.manager.agents().find_by_name(&fid, "explorer").await.unwrap();
        match found {
            Some(found) => break found.meta.fid,
            None => world.until(|_| Some(())).await,
        }
    };
    let rounds = world.until(|event| match event {
        Event::RequestFinished { fid, reason, .. } if *fid == explorer => Some(*reason),
        _ => None,
    });
    assert_eq!(rounds.await, StopReason::Stopped);
    // It repeats itself until it is stopped; what it said reached the chat.
    let above = async {
        loop {
            let messages = world.messages(&fid).await;
            if messages.iter().any(|message| message.plain_text().contains("Which b?")) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, above).await.unwrap();
    world.manager.agents().close_all(&fid).await.unwrap();
    assert_eq!(
        last_text(
            &world
                .messages(&explorer)
                .await
                .into_iter()
                .filter(|m| m.role == Role::User)
                .collect::<Vec<_>>()
        ),
        "Rather at b"
    );
}
