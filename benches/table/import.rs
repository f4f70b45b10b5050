//! What importing chats costs the real window, in which a reply streams meanwhile.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use chat_testkit::server::{End, Gate, Script, Server, text};
use chat_testkit::ui::Desktop;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use super::Plan;
use super::process::{diagnostics, longest_turn, settle, terminate};
use super::report::{Goal, Row};
use super::seed;

/// The export's size, in bytes.
const BYTES: usize = 30_000_000;
/// The messages of each chat in it, and the bytes of each answer.
const MESSAGES: usize = 20;
const ANSWER: usize = 1_500;

/// The chunks of the reply, how many come in a second, and the bytes of all.
const CHUNKS: usize = 6_000;
const RATE: f64 = 100.0;
const REPLY: usize = 180_000;

/// How long the user looks at the switcher and at the dialog.
const STEP: Duration = Duration::from_secs(1);
/// Where the export is dropped on the dialog.
const PLACE: (i32, i32) = (230, 200);
/// How often it is looked how far the import is, and how long it may take.
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_mins(2);
/// Until the last chats are in the list.
const REST: Duration = Duration::from_millis(600);

/// How fast an export is imported, and how long the main loop turns meanwhile.
pub async fn import(plan: &Plan) -> Result<Vec<Row>> {
    let what = "an export of 30 MB is imported while a reply streams";
    let mut speed = Row::new(what, "MB/s", Goal::AtLeast(3.0));
    let what = "the longest turn of the main loop meanwhile";
    let mut turn = Row::new(what, "ms CPU", Goal::AtMost(16.0));
    let (export, chats) = export();
    for _ in 0..plan.rounds.div_ceil(3) {
        let (seconds, longest) = run(plan, &export, chats).await?;
        speed.natter.push(export.len() as f64 / 1e6 / seconds);
        turn.natter.push(longest);
    }
    Ok(vec![speed, turn])
}

/// How many seconds an import takes, and the longest turn of the main loop meanwhile, in milliseconds.
async fn run(plan: &Plan, export: &[u8], chats: usize) -> Result<(f64, f64)> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    let path = desktop.folder().join("conversations.json");
    fs::write(&path, export)?;
    let gate = Gate::new();
    let reply = text::pieces(&text::markdown(REPLY, 0), CHUNKS);
    server.push(Script::new().gate_first(&gate).paced(reply, RATE));
    let file = desktop.folder().join("diagnostics.json");
    let began = Instant::now();
    let mut child = desktop.spawn(&plan.natter().env("NATTER_DIAGNOSTICS", &file))?;
    settle(&mut child)?;
    let input = desktop.input();
    input.type_text("Tell me").await?;
    input.keys(&["Return"]).await?;
    server.wait_for_chats(1).await;
    settle(&mut child)?;
    input.keys(&["ctrl+k"]).await?;
    input.type_text("Import chats").await?;
    // The window does not rest while somebody looks for something and a reply is due.
    tokio::time::sleep(STEP).await;
    input.keys(&["Return"]).await?;
    tokio::time::sleep(STEP).await;
    ensure!(input.drop_files(&[&path], PLACE.0, PLACE.1).await?, "the dialog refused the export");
    settle(&mut child)?;

    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let store = Connection::open_with_flags(seed::folders(&desktop).database(), flags)?;
    let all = stored(&store)? + chats;
    let from = began.elapsed();
    gate.open();
    // The button has the keyboard.
    input.keys(&["Return"]).await?;
    while stored(&store)? < all {
        ensure!(began.elapsed() < from + PATIENCE, "{} of {all} chats are there", stored(&store)?);
        tokio::time::sleep(LOOK).await;
    }
    let took = began.elapsed().saturating_sub(from);
    tokio::time::sleep(REST).await;
    let until = began.elapsed();
    let streams = server.chats().first().is_some_and(|chat| chat.sent().end == End::Running);
    ensure!(streams, "the reply was over before the import");
    terminate(&mut child)?;
    let told = diagnostics(&file)?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    // The list of the reply does not hold the turns of the window's start.
    let turn = longest_turn(&told["replies"][0]["stalls"], ms(from)..ms(until))?;
    Ok((took.as_secs_f64(), turn))
}

/// How many chats are stored.
fn stored(store: &Connection) -> Result<usize> {
    let count: u32 = store.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
    Ok(count as usize)
}

/// An export as `ChatGPT` makes it, and how many chats are in it.
fn export() -> (Vec<u8>, usize) {
    let mut out = b"[".to_vec();
    let mut chats = 0;
    while out.len() < BYTES {
        if chats > 0 {
            out.push(b',');
        }
        out.extend(chat(chats).to_string().into_bytes());
        chats += 1;
    }
    out.push(b']');
    (out, chats)
}

/// A chat of an export. None says the same as another.
fn chat(number: usize) -> Value {
    let begun = 1_600_000_000 + 50_000 * number;
    let id = |message: usize| format!("chat-{number}-node-{message}");
    let children = |message: usize| match message {
        MESSAGES => Vec::new(),
        _ => vec![id(message + 1)],
    };
    let root = json!({ "id": id(0), "message": null, "parent": null, "children": children(0) });
    let mut nodes = Map::from_iter([(id(0), root)]);
    for message in 1..=MESSAGES {
        let (role, said) = match message % 2 {
            1 => ("user", format!("Question {message} of chat {number}?")),
            _ => ("assistant", format!("Answer {number}.\n\n{}", text::markdown(ANSWER, 1))),
        };
        let node = json!({
            "id": id(message),
            "parent": id(message - 1),
            "children": children(message),
            "message": {
                "id": id(message),
                "author": { "role": role, "name": null, "metadata": {} },
                "create_time": begun + 60 * message,
                "content": { "content_type": "text", "parts": [said] },
                "status": "finished_successfully",
                "metadata": { "model_slug": "gpt-y" },
                "recipient": "all",
            },
        });
        nodes.insert(id(message), node);
    }
    json!({
        "title": format!("Chat {number}"),
        "create_time": begun,
        "update_time": begun + 60 * MESSAGES,
        "conversation_id": format!("chat-{number}"),
        "current_node": id(MESSAGES),
        "mapping": nodes,
    })
}
