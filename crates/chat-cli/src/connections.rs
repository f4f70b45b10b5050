//! Runs `natter-cli connections`: the servers.

use std::fmt::Write as _;
use std::io::BufRead as _;

use chat_core::client::{self, Preset, preset};
use chat_core::error::{Error, Kind};
use chat_core::event::{ConnectionState, Health};
use chat_core::settings::{Connection, ConnectionKind, HeaderSource, Key, KeySource, KeyStorage};
use chat_presentation::words;
use serde::Serialize;

use crate::args::{AddConnection, Connections};
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::json::ErrorView;
use crate::output::line_of;
use crate::say;
use crate::signals::Signals;
use crate::terminal::{self, HiddenInput};

/// Runs the requested action on the connections.
pub async fn run(action: Option<Connections>, json: bool, program: &Program) -> Result<Outcome> {
    match action {
        None => list(json, program).await,
        Some(Connections::List { json }) => list(json, program).await,
        Some(Connections::Add(new)) => add(*new, program).await,
        Some(Connections::Presets { json }) => presets(json, program).await,
        Some(Connections::Key { name, env, remove }) => {
            change_key(&name, env, remove, program).await
        }
        Some(Connections::Test { name }) => test(&name, program).await,
        Some(Connections::Remove { name }) => {
            program.manager.connections().remove(&name).await.map_err(named)?;
            remark(&say::connection_removed(&name));
            Ok(Outcome::Done)
        }
    }
}

/// Adds a known server by its name, or any by its address.
async fn add(new: AddConnection, program: &Program) -> Result<Outcome> {
    let known = if new.url.is_none() { preset(&new.name) } else { None };
    let mut connection = match (&new.url, known) {
        (Some(url), _) => {
            Connection { name: new.name.clone(), url: url.clone(), ..Connection::default() }
        }
        (None, Some(preset)) => preset.connection(),
        (None, None) => return Err(CliError::Usage(say::no_preset(&new.name))),
    };
    if let Some(name) = new.other_name {
        connection.name = name;
    }
    let name = connection.name.clone();
    if name.trim().is_empty() || name.contains('/') {
        return Err(CliError::Usage(say::name_with_slash()));
    }
    if words::is_engine_name(&name) {
        return Err(CliError::Engine(Kind::NameTaken { name }.into()));
    }
    let wants_key = known.filter(|preset| preset.key_url.is_some());
    let variable = wants_key.and_then(Preset::key_variable).filter(|_| !new.key_stdin);
    let asks = wants_key.is_some() && program.terminal.input;
    let (source, key) = match new.key_env.or_else(|| variable.map(str::to_owned)) {
        Some(variable) => {
            if known.is_some() {
                remark(&say::key_from_variable(&variable));
            }
            (KeySource::Env(variable), None)
        }
        None if new.key_stdin || asks => {
            if let Some(url) = wants_key.and_then(|preset| preset.key_url.as_deref()) {
                remark(&say::get_a_key(url));
            }
            (KeySource::Keyring, Some(read_key(&name, program).await?))
        }
        None => (KeySource::None, None),
    };
    let keyless = source.is_none();
    connection.kind = new.kind.or(connection.kind);
    connection.key = source;
    connection.models = new.models;
    connection.proxy = new.proxy;
    connection.ca = new.ca;
    let values = new.headers.into_iter().map(|(name, value)| (name, HeaderSource::Value(value)));
    let variables = new.header_variables.into_iter();
    let variables = variables.map(|(name, env)| (name, HeaderSource::Env { env }));
    connection.headers = values.chain(variables).collect();
    let stored = program.manager.connections().save(connection, key, None).await?;
    remark(&say::connection_added(&name));
    report_key_storage(stored, &name);
    if let Some(url) = wants_key.filter(|_| keyless).and_then(|preset| preset.key_url.as_deref()) {
        remark(&say::get_a_key(url));
        remark(&say::key_is_missing(&name));
    }
    Ok(Outcome::Done)
}

/// A known server as JSON.
#[derive(Serialize)]
struct PresetView<'a> {
    id: &'a str,
    name: &'a str,
    kind: &'static str,
    url: &'a str,
    key_url: Option<&'a str>,
    env: &'a [String],
}

async fn presets(json: bool, program: &Program) -> Result<Outcome> {
    let mut out = String::new();
    for preset in client::presets() {
        if json {
            out.push_str(&line_of(&PresetView {
                id: &preset.id,
                name: &preset.name,
                kind: preset.kind.name(),
                url: &preset.url,
                key_url: preset.key_url.as_deref(),
                env: &preset.env,
            }));
        } else {
            // Writing into a string cannot fail.
            let _ = writeln!(out, "{:12}  {:12}  {}", preset.id, preset.name, preset.url);
        }
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

/// Changes or removes the key of a configured connection.
async fn change_key(
    name: &str,
    env: Option<String>,
    remove: bool,
    program: &Program,
) -> Result<Outcome> {
    let missing = || CliError::Said(say::no_connection(name));
    let connection = configured(name, program).ok_or_else(missing)?;
    let (source, key) = match env {
        Some(variable) => (KeySource::Env(variable), None),
        None if remove => (KeySource::None, None),
        None => (KeySource::Keyring, Some(read_key(name, program).await?)),
    };
    let changed = Connection { key: source, ..connection };
    let stored = program.manager.connections().save(changed, key, Some(name)).await?;
    remark(&if remove { say::key_removed(name) } else { say::key_changed(name) });
    report_key_storage(stored, name);
    Ok(Outcome::Done)
}

fn report_key_storage(stored: Option<KeyStorage>, name: &str) {
    if let Some(stored) = stored {
        remark(&words::key_storage(stored));
        if matches!(stored, KeyStorage::ThisRun(_)) {
            remark(&say::key_will_be_lost(name));
        }
    }
}

async fn test(name: &str, program: &Program) -> Result<Outcome> {
    let connection = if let Some(connection) = configured(name, program) {
        connection
    } else {
        // The connection may be one that is discovered on this machine.
        program.settled().await;
        let all = program.manager.connections().list();
        let found = all.into_iter().map(|state| state.connection).find(|c| c.name == name);
        found.ok_or_else(|| CliError::Said(say::no_connection(name)))?
    };
    let report = program.manager.connections().test(&connection, None).await?;
    let kind = report.kind.name();
    let words = say::connection_answers(kind, report.models.len(), report.took.as_millis());
    remark(&words);
    if report.models.is_empty() && report.kind != ConnectionKind::Ollama {
        remark(&say::lists_no_models());
    }
    let mut list = report.models.join("\n");
    if !list.is_empty() {
        list.push('\n');
    }
    program.output.print(program.terminal.clean_output(&list).into_owned()).await?;
    Ok(Outcome::Done)
}

/// Here an unknown connection is one that the user named, not one that a chat uses.
fn named(error: Error) -> CliError {
    match &error.kind {
        Kind::ConnectionMissing { name } => CliError::Said(say::no_connection(name)),
        _ => CliError::Engine(error),
    }
}

fn configured(name: &str, program: &Program) -> Option<Connection> {
    program.manager.settings().current().connections.iter().find(|c| c.name == name).cloned()
}

/// A connection as JSON. It names where its key comes from, never the key.
#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    url: &'a str,
    kind: Option<&'static str>,
    key: &'static str,
    /// The names of its headers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<String>,
    found: bool,
    models: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView<'a>>,
}

async fn list(json: bool, program: &Program) -> Result<Outcome> {
    program.settled().await;
    let mut out = String::new();
    for state in program.manager.connections().list() {
        out.push_str(&if json { json_line(&state) } else { line(&state) + "\n" });
    }
    if out.is_empty() {
        remark(&say::add_server());
    }
    let out = if json { out } else { program.terminal.clean_output(&out).into_owned() };
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

fn line(state: &ConnectionState) -> String {
    let connection = &state.connection;
    let mut out = format!("{:16}  {:32}", connection.name, connection.shown_url());
    // Writing into a string cannot fail.
    let _ = write!(out, "  {}", words::health(&state.health));
    if state.discovered {
        let _ = write!(out, " ({})", say::discovered_here());
    }
    out
}

fn json_line(state: &ConnectionState) -> String {
    let (models, sentence) = match &state.health {
        Health::Ready { models } => (Some(*models), None),
        Health::Failed(error) => (None, Some((error, words::sentence(error)))),
        Health::Checking => (None, None),
    };
    let url = state.connection.shown_url();
    let view = View {
        name: &state.connection.name,
        url: &url,
        kind: state.connection.kind.map(ConnectionKind::name),
        key: match state.connection.key {
            KeySource::None => "none",
            KeySource::Keyring => "keyring",
            KeySource::Env(_) => "env",
            KeySource::Command(_) => "command",
        },
        headers: state.connection.headers.keys().map(String::as_str).collect(),
        proxy: state.connection.shown_proxy().map(std::borrow::Cow::into_owned),
        ca: state.connection.ca.as_ref().map(|path| path.display().to_string()),
        found: state.discovered,
        models,
        error: sentence.as_ref().map(|(error, sentence)| ErrorView::new(error, sentence)),
    };
    line_of(&view)
}

/// Reads a key as one line. At a terminal it prompts for the key, and hides what is typed.
async fn read_key(name: &str, program: &Program) -> Result<Key> {
    // A signal must turn the terminal's echo on again.
    let mut signals = Signals::new()?;
    let _unseen = program.terminal.input.then(|| {
        let unseen = HiddenInput::begin();
        terminal::say(&terminal::clean(&say::connection_key(name)));
        unseen
    });
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let read = tokio::select! {
        read = reading => read,
        () = signals.next() => return Err(CliError::Stopped),
    };
    match read {
        Ok(Ok(line)) if !line.trim().is_empty() => Ok(Key::new(&line)),
        Ok(Ok(_)) => Err(CliError::Usage(say::empty_key())),
        Ok(Err(error)) => Err(CliError::Said(say::input_failed(&error.to_string()))),
        Err(_) => Err(CliError::Stopped),
    }
}

fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}
