//! How many agents of a tree work at once, whoever gave them work.

use chat_core::event::StopReason;
use chat_core::message::{AgentState, Fid, FromAgent, Part};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::{Value, json};

use super::world::{World, last_text, spawn, task};

async fn reached(gate: &Gate) {
    let gate = gate.clone();
    tokio::task::spawn_blocking(move || gate.wait_reached()).await.unwrap();
}

fn message(id: &str, name: &str, text: &str) -> Script {
    Script::new().tool_call(id, "message_agent", json!({ "name": name, "message": text }))
}

fn background(name: &str, task: &str) -> Value {
    json!({ "name": name, "task": task, "background": true })
}

/// The reports that came into a session as messages.
async fn reported(world: &World, fid: &Fid) -> Vec<(String, AgentState, String)> {
    let messages = world.messages(fid).await;
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::FromAgent(FromAgent::Report(report)) => {
                Some((report.name.clone(), report.state, report.text.clone()))
            }
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn an_agent_that_another_one_sends_a_message_takes_a_place_and_reports_to_it() {
    let server = Server::start();
    let gate = Gate::new();
    server.when("Look at it", Script::new().gate_first(&gate).text("b looked"));
    let idle = ["a", "b", "c"].into_iter().enumerate().fold(Script::new(), |script, (at, name)| {
        script.tool_call(&format!("s{at}"), "spawn_agent", json!({ "name": name }))
    });
    server.push(idle);
    server.push(Script::new().tool_call(
        "c1",
        "ask_agent",
        json!({ "name": "a", "message": "Go" }),
    ));
    server.push(message("c2", "b", "Look at it"));
    server.push(message("c3", "c", "You too"));
    server.push(Script::new().text("a says"));
    server.push(Script::new().text("main says"));
    let mut world = World::new(&server).await;
    world.limit(|limits| limits.at_once = 2).await;
    let fid = world.ask("Begin").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    reached(&gate).await;
    let a = world.agent(&fid, "a").await;
    let results = world.results(&a).await;
    assert!(!results[0].failed, "{results:?}");
    assert!(results[1].failed && results[1].text.contains("2 agents are working"), "{results:?}");

    server.push(Script::new().text("a has it"));
    server.push(Script::new().text("main has it"));
    gate.open();
    // Each goes on with what it was told, up to the top.
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let report = |name: &str, text: &str| (name.to_owned(), AgentState::Done, text.to_owned());
    assert_eq!(reported(&world, &a).await, [report("b", "b looked")]);
    assert_eq!(reported(&world, &fid).await, [report("a", "a has it")]);
    assert_eq!(last_text(&world.messages(&fid).await), "main has it");
}

#[tokio::test]
async fn an_agent_that_goes_on_by_itself_takes_a_place_and_reports() {
    let server = Server::start();
    let [low, busy, woken] = [Gate::new(), Gate::new(), Gate::new()];
    server.when("Look at it", Script::new().gate_first(&low).text("low looked"));
    server.when("Take long", Script::new().gate_first(&busy).text("It took long"));
    server.when("low looked", Script::new().gate_first(&woken).text("a has it"));
    server.push(spawn("c1", task("a", "Lead")));
    server.push(spawn("c2", background("low", "Look at it")));
    server.push(Script::new().text("It is being looked at."));
    server.push(spawn("c3", background("busy", "Take long")));
    server.push(Script::new().text("Waiting."));
    let mut world = World::new(&server).await;
    world.limit(|limits| (limits.at_once, limits.depth) = (2, 2)).await;
    let fid = world.ask("Begin").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    reached(&low).await;
    reached(&busy).await;
    low.open();
    reached(&woken).await;
    server.push(message("c4", "low", "Again"));
    server.push(Script::new().text("Later."));
    world.say(&fid, "Have it looked at again").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let refused = world.results(&fid).await.pop().unwrap();
    assert!(refused.failed && refused.text.contains("2 agents are working"), "{refused:?}");

    server.push(Script::new().text("main has it"));
    woken.open();
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let report = ("a".to_owned(), AgentState::Done, "a has it".to_owned());
    assert_eq!(reported(&world, &fid).await, [report]);
    assert_eq!(last_text(&world.messages(&fid).await), "main has it");
    world.manager.agents().close_all(&fid).await.unwrap();
}
