//! What the terminal program costs.

use std::process::Command;

use anyhow::Result;
use chat_testkit::server::{Script, Server, text};
use chat_testkit::ui::Desktop;

use super::Plan;
use super::process::{cpu_of, diagnostics};
use super::report::{Goal, Row};
use super::seed;

const CHUNKS: usize = 100_000;

/// A long reply as fast as the server can, against `curl` reading the same; and a short one.
pub async fn ask(plan: &Plan) -> Result<Vec<Row>> {
    let what = "natter-cli ask --json, 100,000 chunks flat out";
    let mut long = Row::new(what, "ms CPU", Goal::Times(10.0)).against("curl");
    let mut chunk = Row::new("the same, a chunk", "µs CPU", Goal::AtMost(5.0));
    let mut hello = Row::new("natter-cli ask hello", "ms CPU", Goal::AtMost(25.0));
    let mut memory = Row::new("the same, peak memory", "MB", Goal::AtMost(16.0));

    let server = Server::start();
    // Words that are numbered alone would be taken for a model that goes round in circles.
    let pieces: Vec<String> = text::words(CHUNKS);
    server.when("everything", Script::new().flat_out(pieces));
    server.when("hello", Script::new().text("Hello to you, too."));
    let desktop = Desktop::start().await?;
    seed::configure(&desktop, &server.url())?;
    let file = desktop.folder().join("diagnostics.json");
    let ask = |prompt: &str, json: bool| {
        let mut command = desktop.command(plan.program("natter-cli"));
        command.args(["ask", "--model", "bench/scripted"]).args(json.then_some("--json"));
        command.arg(prompt).env("NATTER_DIAGNOSTICS", &file);
        command
    };
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--no-buffer", "--header", "content-type: application/json"]);
    curl.args([
        "--data",
        r#"{"model":"scripted","stream":true,"messages":[{"role":"user","content":"everything"}]}"#,
    ]);
    curl.arg(format!("{}/v1/chat/completions", server.url()));

    cpu_of(&ask("hello", false))?;
    for _ in 0..plan.rounds {
        long.floor.push(cpu_of(&curl)?.as_secs_f64() * 1e3);
        let used = cpu_of(&ask("everything", true))?;
        long.natter.push(used.as_secs_f64() * 1e3);
        chunk.natter.push(used.as_secs_f64() * 1e6 / CHUNKS as f64);
        hello.natter.push(cpu_of(&ask("hello", false))?.as_secs_f64() * 1e3);
        let peak = diagnostics(&file)?["peak_memory_kib"].as_f64().unwrap_or(f64::NAN);
        memory.natter.push(peak * 1024.0 / 1e6);
    }
    Ok(vec![long, chunk, hello, memory])
}
