//! `config.toml` with a person's comments, order and spelling: what a change writes, and that
//! nothing else moves.

use std::fmt::Write;
use std::sync::Arc;

use chat_core::error::{Error, Kind};
use chat_core::message::{ModelRef, Thinking};
use chat_core::permission::{Effect, Mode};
use chat_core::settings::{
    ColorScheme, ColumnWidth, Connection, ConnectionKind, Folders, KeySource, ModelUsage,
    Remembered, Settings, Zoom,
};
use chat_testkit::recording::indented;

use crate::engine::world::World;

const WRITTEN: &str = include_str!("../../fixtures/net/config.toml");

type Change = fn(&mut Settings);

const CHANGES: &[(&str, Change)] = &[
    ("another model for new chats", |it| it.chat.model = Some(ModelRef::new("work", "gpt-x"))),
    ("no model for new chats", |it| it.chat.model = None),
    ("another agent", |it| "just-ask".clone_into(&mut it.chat.agent)),
    ("no better titles", |it| it.chat.better_titles = false),
    ("compacted sooner", |it| it.chat.compact_at = 60),
    ("local servers are looked for", |it| it.chat.find_local_servers = true),
    ("Enter breaks the line", |it| it.ui.enter_sends = false),
    ("one more favourite", |it| it.ui.set_favourite(&ModelRef::new("work", "gpt-x"), true)),
    ("no favourites", |it| it.ui.favourites.clear()),
    ("no notifications", |it| it.ui.notifications = false),
    ("a dark window", |it| it.ui.color_scheme = ColorScheme::Dark),
    ("larger texts", |it| it.ui.zoom = Zoom::new(150)),
    ("a wide column", |it| it.ui.column = ColumnWidth::Wide),
    ("chats by project", |it| it.ui.group_by_project = true),
    ("the engine's threads", |it| it.engine.threads = None),
    ("the engine's memory", |it| it.engine.memory_mb = Some(8_000)),
    ("a tool is switched off", |it| it.tools.set_on("web_fetch", false)),
    ("a tool is switched on", |it| it.tools.set_on("run_command", true)),
    ("a tool is switched off for an agent", |it| it.tools.set_on_for("just-ask", "look", false)),
    ("more rounds", |it| it.tools.rounds = 99),
    ("no search", |it| it.tools.search = None),
    ("another mode", |it| it.permissions.mode = Mode::Auto),
    ("one more rule", |it| it.permissions.remember(rule("run:make"))),
    ("one rule fewer", |it| {
        let _ = it.permissions.rules.remove(0);
    }),
    ("a connection is added", |it| it.connections.push(connection("new"))),
    ("a connection is removed", |it| {
        let _ = it.connections.remove(0);
    }),
    ("a connection is renamed", |it| "cellar".clone_into(&mut it.connections[0].name)),
    ("a connection has another key", |it| it.connections[1].key = KeySource::Keyring),
    ("connections change places", |it| it.connections.swap(0, 1)),
    ("a model thinks more", |it| {
        it.models.get_mut("home/qwen3:8b").unwrap().thinking = Thinking::High;
    }),
    ("a model is new", |it| {
        let mut usage = ModelUsage::default();
        usage.options.seed = Some(7);
        it.models.insert("work/gpt-x".to_owned(), usage);
    }),
    ("a model is as it was", |it| {
        let _ = it.models.remove("home/qwen3:8b");
    }),
];

fn rule(text: &str) -> Remembered {
    Remembered { rule: text.parse().unwrap(), effect: Effect::Allow, project: None }
}

fn connection(name: &str) -> Connection {
    Connection {
        name: name.to_owned(),
        kind: Some(ConnectionKind::OpenAi),
        url: "http://127.0.0.1:9/v1".to_owned(),
        models: vec!["hidden".to_owned()],
        requests: None,
        key: KeySource::Env("KEY".to_owned()),
        ..Connection::default()
    }
}

/// An engine whose settings are this file.
async fn world() -> World {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let path = Folders::below(folder.path()).settings();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, WRITTEN).unwrap();
    World::start(folder).await
}

/// The file after a change of settings.
async fn changed(world: &World, change: impl FnOnce(&mut Settings) + Send + 'static) -> String {
    world.manager.settings().change(change).await.unwrap();
    std::fs::read_to_string(Folders::below(world.folder.path()).settings()).unwrap()
}

/// The lines from the first to the last that differ.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let lines = |sign: char, lines: &[&str]| {
        let lines = lines[..lines.len() - tail].iter();
        lines.map(|line| [&sign.to_string(), " ", line, "\n"].concat()).collect::<String>()
    };
    format!("line {}\n{}{}", head + 1, lines('-', old), lines('+', new))
}

#[tokio::test]
async fn what_is_written_is_read() {
    let world = world().await;
    let notices = world.manager.start_notices();
    let [Error { kind: Kind::ConfigUnknown { .. }, detail: Some(unknown), .. }] = &notices[..]
    else {
        panic!("{notices:?}");
    };
    assert_eq!(unknown.lines().count(), 3, "{unknown}");
    let settings = serde_json::to_string(&*world.manager.settings().current()).unwrap();
    insta::assert_snapshot!("read", indented(&settings));
}

#[tokio::test]
async fn what_is_not_changed_stays_byte_for_byte() {
    assert_eq!(changed(&world().await, |_| {}).await, WRITTEN);
}

#[tokio::test]
async fn a_change_writes_what_it_is_about() {
    let mut told = String::new();
    for (name, change) in CHANGES {
        let world = world().await;
        let text = changed(&world, *change).await;
        let _ = writeln!(told, "=== {name}\n{}", difference(WRITTEN, &text));
        // Another program reads the same.
        let settings = world.manager.settings().current();
        let read = World::start(Arc::clone(&world.folder)).await;
        assert_eq!(*read.manager.settings().current(), *settings, "{name}");
    }
    insta::assert_snapshot!("changed", told);
}

#[tokio::test]
async fn a_file_that_was_not_there_gets_what_was_set() {
    let world = World::start(Arc::new(tempfile::tempdir().unwrap())).await;
    let text = changed(&world, |settings| {
        settings.chat.model = Some(ModelRef::new("home", "qwen3:8b"));
        settings.ui.enter_sends = false;
        settings.connections.push(connection("home"));
        settings.permissions.remember(rule("run:make"));
        settings.tools.set_on("web_fetch", false);
        settings.models.insert("home/qwen3:8b".to_owned(), ModelUsage::default());
    });
    insta::assert_snapshot!("new", text.await);
}
