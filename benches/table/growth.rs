//! How much more memory a window takes while it is answered.

use std::process::Stdio;

use anyhow::{Context, Result, anyhow, ensure};
use chat_core::models::Library;
use chat_testkit::real::MODEL;
use chat_testkit::server::{Script, Server, text};
use chat_testkit::ui::Desktop;
use serde_json::Value;

use super::Plan;
use super::process::{memory, settle, settle_watched, terminate};
use super::report::{Goal, Row};
use super::seed;

/// What is asked: the small model says little to it.
const QUESTION: &str = "Name a fruit";

/// A window that the built-in engine answers, against one that a server answers: what text, fonts
/// and code blocks take belongs to every first reply.
pub async fn window(plan: &Plan) -> Result<Vec<Row>> {
    let what = "window, grown by the built-in engine's first reply";
    let mut first = Row::new(what, "MB", Goal::Above(5.0)).against("a server's first reply");
    let mut second = Row::new("the same, by the second reply", "MB", Goal::AtMost(5.0));
    for _ in 0..plan.rounds.div_ceil(3) {
        first.floor.push(grown(plan, false).await?.0);
        let (once, again) = grown(plan, true).await?;
        first.natter.push(once);
        second.natter.push(again);
    }
    Ok(vec![first, second])
}

/// How much the window's memory grows at most in the first reply, and in the second, in MB.
async fn grown(plan: &Plan, engine: bool) -> Result<(f64, f64)> {
    let desktop = Desktop::start().await?;
    let server = Server::start();
    let told = text::pieces(&text::markdown(2_000, 0), 400);
    server.always(Script::new().paced(told, 60.0));
    seed::configure(&desktop, &server.url())?;
    if engine {
        let folders = seed::folders(&desktop);
        // The only connection there is.
        std::fs::write(
            folders.config.join("config.toml"),
            "[chat]\nbetter_titles = false\n\
             find_local_servers = false\n\n[engine]\nthreads = 1\n",
        )?;
        let model = std::env::var_os(MODEL).with_context(|| format!("{MODEL} names no model"))?;
        Library::of(&folders).add(model.as_ref()).map_err(|error| anyhow!("{error}"))?;
    }
    let mut child = desktop.spawn(&plan.natter())?;
    settle(&mut child)?;
    let mut grown = [0.0; 2];
    for grown in &mut grown {
        let before = memory(&child)?;
        desktop.input().type_text(QUESTION).await?;
        desktop.input().keys(&["Return"]).await?;
        let mut most = before;
        settle_watched(&mut child, |child| {
            most = f64::max(most, memory(child)?);
            Ok(())
        })?;
        *grown = (most - before) * 1024.0 * 1024.0 / 1e6;
    }
    terminate(&mut child)?;
    let replies = replies(plan, &desktop)?;
    ensure!(replies == 2, "there were {replies} replies, and not two");
    Ok((grown[0], grown[1]))
}

/// How many replies with something in them are stored.
fn replies(plan: &Plan, desktop: &Desktop) -> Result<usize> {
    let read = |arguments: &[&str]| -> Result<Value> {
        let mut command = desktop.command(plan.program("natter-cli"));
        let output = command.args(arguments).stdout(Stdio::piped()).output()?;
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let fid = read(&["sessions", "--json"])?["fid"].as_str().context("no chat")?.to_owned();
    let chat = read(&["show", &fid, "--json"])?;
    let messages = chat["messages"].as_array().context("no messages")?;
    let said = |message: &&Value| {
        message["role"] == "assistant" && message["text"].as_str().is_some_and(|t| !t.is_empty())
    };
    Ok(messages.iter().filter(said).count())
}
