//! What drafts gain, by kind of text: the engine with them, the engine without, the bare loop, and
//! llama.cpp's server, each in turn. What is measured is a token of the answer, as each side itself tells it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result, anyhow, ensure};
use chat_core::client::{BuiltIn, EngineOptions, Timeouts};
use chat_core::message::Role;
use chat_core::models::Library;
use chat_core::settings::{EngineSettings, Folders};
use chat_testkit::real::{MODEL, RealServer};
use serde_json::{Value, json};

use super::Plan;
use super::engine::{self, TOKENS, WINDOW};
use super::report::{Goal, Row};

/// A file to be changed, as somebody would give it.
const CODE: &str = include_str!("../../crates/chat-engine/src/memory.rs");
const ARTICLE: &str = "The Wadden Sea is an intertidal zone in the southeastern part of the North Sea. It lies \
    between the coast of northwestern continental Europe and the range of low-lying Frisian Islands, forming a \
    shallow body of water with tidal flats and wetlands. It has a high biological diversity and is an important \
    area for both breeding and migrating birds. In 2009, the Dutch and German parts of the Wadden Sea were \
    inscribed on UNESCO's World Heritage List, and the Danish part was added in June 2014.";
const CITIES: &str = "Turn this into JSON with a list of cities, each with name, country and population: Paris \
    in France has 2.1 million people, Rome in Italy 2.8 million, Madrid in Spain 3.3 million, Berlin in Germany \
    3.6 million, Vienna in Austria 1.9 million.";

/// Kinds of text, and what each is asked with.
fn kinds() -> [(&'static str, String); 6] {
    [
        ("the greeting of `engine`", "Hello".to_owned()),
        ("the list of `engine`", engine::words(0, 400)),
        (
            "prose",
            "Tell me about the sea, its colours, its animals and the people who live by it."
                .to_owned(),
        ),
        (
            "a file with a small change",
            format!(
                "Rename the function `read` to `count` in this file and repeat the whole file:\n\n{CODE}"
            ),
        ),
        (
            "an answer from a text",
            format!(
                "Answer from this text: when and where were which parts put on the list?\n\n{ARTICLE}"
            ),
        ),
        ("JSON", CITIES.to_owned()),
    ]
}

/// A row for each kind and each other side.
pub async fn drafts(plan: &Plan) -> Result<Vec<Row>> {
    let model = std::env::var_os(MODEL).with_context(|| format!("{MODEL} names no model"))?;
    let folder = tempfile::tempdir()?;
    let folders = Folders::below(folder.path());
    let library = Library::of(&folders);
    let name = library.add(model.as_ref()).map_err(|error| anyhow!("{error}"))?.name;
    let settings = EngineSettings { threads: Some(1), ..EngineSettings::default() };
    let program = Some(plan.program("natter-engine"));
    let options = EngineOptions { program, ..EngineOptions::of(&folders, &settings) };
    let sockets = options.runtime.clone();
    let own = BuiltIn::new(library, options, Timeouts::default());
    // It lives as long as this holds it.
    engine::reply(&own, &name, &[(Role::User, "Hi")], 1).await?;
    let entries = std::fs::read_dir(sockets)?.flatten().map(|entry| entry.path());
    let mut sockets = entries.filter(|path| path.extension().is_some_and(|kind| kind == "sock"));
    let socket = sockets.next().context("the engine has no socket")?;
    let server = RealServer::start().context("there is no real server")?;
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");

    let mut rows = Vec::new();
    for (kind, text) in kinds() {
        let row = |goal| Row::new(format!("a token of {kind}"), "ms", Goal::Times(goal));
        let mut without = row(1.02).against("without drafts");
        let mut bare = row(1.0 / 0.95).against("a bare loop");
        let mut served = row(1.0 / 1.2).against("llama.cpp's server");
        for round in 0..plan.rounds {
            let engine = |drafts: u32| {
                let mut body = body(&text, &json!(model.to_string_lossy()));
                body["speculative.n_max"] = json!(drafts);
                each(UnixStream::connect(&socket)?, &body)
            };
            // Who is first changes.
            let (with, alone) = if round % 2 == 0 {
                (engine(8)?, engine(0)?)
            } else {
                let alone = engine(0)?;
                (engine(8)?, alone)
            };
            for row in [&mut without, &mut bare, &mut served] {
                row.natter.push(with);
            }
            without.floor.push(alone);
            bare.floor.push(engine::bare_loop(plan, &model, &text)?.1);
            served.floor.push(each(TcpStream::connect(address)?, &body(&text, &json!("any")))?);
        }
        rows.extend([without, bare, served]);
    }
    Ok(rows)
}

fn body(text: &str, model: &Value) -> Value {
    json!({
        "model": model,
        "messages": [{ "role": "user", "content": text }],
        "temperature": 0,
        "max_tokens": TOKENS,
        "context_window": WINDOW,
    })
}

/// Asks, and gives how long each token took by what the answer tells, in milliseconds.
fn each(mut stream: impl Read + Write, body: &Value) -> Result<f64> {
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, object) = answer.split_once("\r\n\r\n").context("no body")?;
    let answer: Value = serde_json::from_str(object)?;
    let timing = |name: &str| answer["timings"][name].as_f64().context("no timings");
    let (took, written) = (timing("predicted_ms")?, timing("predicted_n")?);
    ensure!(written > 1.0, "the model said nothing: {answer}");
    Ok(took / written)
}
