//! The built-in engine against llama.cpp itself, and against a server around it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use chat_core::client::{BuiltIn, Client, Delta, EngineOptions, Request, Timeouts, connect};
use chat_core::message::{Message, Options, Role};
use chat_core::models::Library;
use chat_core::settings::{Connection, ConnectionKind, EngineSettings, Folders, KeySource};
use chat_testkit::real::{MODEL, RealServer};
use futures_util::StreamExt;

use super::Plan;
use super::report::{Goal, Row};

/// As many tokens each side writes.
pub const TOKENS: u32 = 128;
/// The window of all of them.
pub const WINDOW: u32 = 4096;

/// How long a reply took.
pub struct Took {
    /// Until its first text, in milliseconds.
    first: f64,
    /// For each token after that, in milliseconds.
    each: f64,
    text: String,
}

/// Speed, start, and what the second turn of a long chat costs.
pub async fn built_in(plan: &Plan) -> Result<Vec<Row>> {
    // Of both the inverse is the goal: tokens a second at least 0.95 and 1.2 times as many.
    let mut bare = Row::new("built-in engine, a token", "ms", Goal::Times(1.0 / 0.95));
    bare.floor_is = "a bare loop over llama.cpp";
    let mut server =
        Row::new("the same", "ms", Goal::Times(1.0 / 1.2)).against("llama.cpp's server");
    let first = Row::new("first token of a prompt of 500", "ms", Goal::Times(1.2));
    let mut first = first.against("a bare loop");
    let turn = Row::new("first token of the second turn of 3,000 tokens", "ms", Goal::Times(0.15));
    let mut turn = turn.against("the first turn");
    let mut start = Row::new("engine start to ready", "ms", Goal::AtMost(100.0));

    let model = std::env::var_os(MODEL).with_context(|| format!("{MODEL} names no model"))?;
    for round in 0..plan.rounds {
        let folder = tempfile::tempdir()?;
        start.natter.push(started(plan, folder.path())?);
        let folders = Folders::below(folder.path());
        let library = Library::of(&folders);
        let name = library.add(model.as_ref()).map_err(|error| anyhow!("{error}"))?.name;
        let settings = EngineSettings { threads: Some(1), ..EngineSettings::default() };
        let options = EngineOptions {
            program: Some(plan.program("natter-engine")),
            ..EngineOptions::of(&folders, &settings)
        };
        let own = BuiltIn::new(library, options, Timeouts::default());
        // Loads the model.
        reply(&own, &name, &[(Role::User, "Hi")], 1).await?;
        let question = words(round, 400);
        let told = [(Role::User, question.as_str())];
        let natter = reply(&own, &name, &told, TOKENS).await?;
        let floor = bare_loop(plan, &model, &question)?;
        first.natter.push(natter.first);
        first.floor.push(floor.0);
        bare.natter.push(natter.each);
        bare.floor.push(floor.1);
        server.natter.push(reply(&own, &name, &[(Role::User, "Hello")], TOKENS).await?.each);
        server.floor.push(served().await?);

        let long = words(round + 100, 2_700);
        let one = reply(&own, &name, &[(Role::User, &long)], 32).await?;
        let turns = [(Role::User, &*long), (Role::Assistant, &one.text), (Role::User, "Go on.")];
        turn.natter.push(reply(&own, &name, &turns, 1).await?.first);
        turn.floor.push(one.first);
    }
    Ok(vec![bare, server, first, turn, start])
}

/// About as many tokens of plain words, another text each round.
pub fn words(round: usize, count: usize) -> String {
    let words = ["river", "stone", "cloud", "garden", "window", "letter", "winter", "music"];
    let all: Vec<_> = (0..count).map(|n| words[(n * (round + 3) + n / 7) % words.len()]).collect();
    format!("Go on with this list, many more words: {}", all.join(" "))
}

pub async fn reply(
    client: &dyn Client,
    model: &str,
    messages: &[(Role, &str)],
    tokens: u32,
) -> Result<Took> {
    let messages = messages.iter().map(|(role, text)| Arc::new(Message::text(*role, None, *text)));
    let options = Options {
        temperature: Some(0.0),
        max_tokens: Some(tokens),
        context_window: Some(WINDOW),
        ..Options::default()
    };
    let request = Request { options, ..Request::new(model, messages.collect()) };
    let begun = Instant::now();
    let mut reply = client.chat(request).await.map_err(|error| anyhow!("{error}"))?;
    let (mut first, mut last) = (None, Duration::ZERO);
    let (mut text, mut written) = (String::new(), 0);
    while let Some(batch) = reply.next().await {
        for delta in batch.map_err(|error| anyhow!("{error}"))? {
            match delta {
                Delta::Text(more) => {
                    last = begun.elapsed();
                    first.get_or_insert(last);
                    text.push_str(&more);
                }
                // A model may have nothing to say: then its end is its first word.
                Delta::Finish(_) => {
                    first.get_or_insert_with(|| begun.elapsed());
                }
                Delta::Usage(usage) => written = usage.completion_tokens.unwrap_or(0),
                _ => {}
            }
        }
    }
    let first = first.context("the model said nothing")?;
    let each =
        last.saturating_sub(first).as_secs_f64() * 1e3 / f64::from(written.max(2) as u32 - 1);
    Ok(Took { first: first.as_secs_f64() * 1e3, each, text })
}

pub fn bare_loop(plan: &Plan, model: &std::ffi::OsStr, text: &str) -> Result<(f64, f64)> {
    let mut command = Command::new(plan.program("examples/bare_loop"));
    command.arg(model).args(["1", &TOKENS.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    child.stdin.take().context("no pipe")?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "bare_loop failed");
    let said = String::from_utf8(output.stdout)?;
    let (first, each) = said.trim().split_once(' ').context("bare_loop said nothing")?;
    Ok((first.parse()?, each.parse()?))
}

/// A token through llama.cpp's own server, in milliseconds.
async fn served() -> Result<f64> {
    let server = RealServer::start().context("there is no real server")?;
    let connection = Connection {
        name: "real".to_owned(),
        kind: None,
        url: server.url(),
        key: KeySource::None,
        models: Vec::new(),
        requests: None,
        ..Connection::default()
    };
    let client = connect(&connection, ConnectionKind::OpenAi, None, Timeouts::default())
        .map_err(|error| anyhow!("{error}"))?;
    reply(&*client, "any", &[(Role::User, "Hi")], 1).await?;
    Ok(reply(&*client, "any", &[(Role::User, "Hello")], TOKENS).await?.each)
}

/// From the start of the program until it says that it is there, in milliseconds.
fn started(plan: &Plan, folder: &std::path::Path) -> Result<f64> {
    let begun = Instant::now();
    let mut child = Command::new(plan.program("natter-engine"))
        .arg("--socket")
        .arg(folder.join("start.sock"))
        .stdout(Stdio::piped())
        .stderr(File::create(folder.join("start.log"))?)
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no pipe")?).read_line(&mut line)?;
    let took = begun.elapsed();
    child.kill()?;
    child.wait()?;
    ensure!(line.trim() == "ready", "the engine said {line:?}");
    Ok(took.as_secs_f64() * 1e3)
}
