//! What a window costs that nobody uses, and chats that nobody looks at.

use std::time::Duration;

use anyhow::Result;
use chat_testkit::server::{Gate, Script, Server, text};
use chat_testkit::ui::Desktop;

use super::Plan;
use super::process::{cpu, settle, terminate, wakeups, wakeups_between};
use super::report::{Goal, Row};
use super::seed;

/// How long an idle window is watched.
const WATCH: Duration = Duration::from_secs(10);

/// Wake-ups of a window with an open chat, against those of an empty one.
pub async fn window(plan: &Plan) -> Result<Vec<Row>> {
    let mut row = Row::new("idle window with an open chat", "wake-ups in 10 s", Goal::Above(1.0))
        .against("an empty window");
    let server = Server::start();
    let desktop = Desktop::start().await?;
    seed::configure(&desktop, &server.url())?;
    let fid = seed::long_chat(&desktop, 50).await?;
    for _ in 0..plan.rounds.div_ceil(3) {
        for (launch, samples) in [
            (plan.empty_window(), &mut row.floor),
            (plan.natter().arg("--session").arg(fid.as_str()), &mut row.natter),
        ] {
            let mut child = desktop.spawn(&launch)?;
            settle(&mut child)?;
            let before = wakeups(&child)?;
            std::thread::sleep(WATCH);
            samples.push(wakeups_between(&before, &wakeups(&child)?));
            terminate(&mut child)?;
        }
    }
    Ok(vec![row])
}

/// Two sessions that stream while a third is shown, against one that streams and is shown.
pub async fn unseen_sessions(plan: &Plan) -> Result<Vec<Row>> {
    let what = "two sessions streaming while a third is shown";
    let mut row = Row::new(what, "ms CPU", Goal::Times(1.3)).against("one session shown");
    for _ in 0..plan.rounds.div_ceil(3) {
        row.floor.push(streaming(plan, &["one"]).await?);
        row.natter.push(streaming(plan, &["one", "two", "shown"]).await?);
    }
    Ok(vec![row])
}

/// The CPU time of a window while all sessions but one called `shown` stream.
async fn streaming(plan: &Plan, sessions: &[&str]) -> Result<f64> {
    let server = Server::start();
    let gate = Gate::new();
    let pieces = text::pieces(&text::markdown(40_000, 10), 2000);
    let stream = Script::new().gate_first(&gate).paced(pieces, 200.0);
    server.when("one", stream.clone());
    server.when("two", stream);
    server.when("shown", Script::new().text("Here I am."));
    let desktop = Desktop::start().await?;
    seed::configure(&desktop, &server.url())?;
    let mut child = desktop.spawn(&plan.natter())?;
    settle(&mut child)?;
    for (index, session) in sessions.iter().enumerate() {
        if index > 0 {
            desktop.input().keys(&["ctrl+n"]).await?;
        }
        desktop.input().type_text(session).await?;
        desktop.input().keys(&["Return"]).await?;
        server.wait_for_chats(index + 1).await;
    }
    settle(&mut child)?;
    let before = cpu(&child)?;
    gate.open();
    for index in 0..sessions.len() {
        server.wait_for_end(index).await;
    }
    settle(&mut child)?;
    let used = cpu(&child)?.saturating_sub(before);
    terminate(&mut child)?;
    Ok(used.as_secs_f64() * 1e3)
}
