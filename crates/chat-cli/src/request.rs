//! Builds a request from the command line.

use std::path::{Path, PathBuf};

use chat_core::attachment::AttachmentReader;
use chat_core::error::Kind;
use chat_core::event::{Event, Health};
use chat_core::message::{Attachment, ChatRequest, Content, Context, Fid, ModelRef, Options};
use chat_core::models::display_name;
use chat_core::settings::ConnectionKind;

use crate::args::Request;
use crate::engine::Program;
use crate::error::{CliError, Result};
use crate::say;
use crate::terminal;

/// At most this many unknown names are reported.
const MOST_UNKNOWN: usize = 3;

/// Builds a request without text from the command line.
pub async fn make(args: &Request, program: &Program) -> Result<ChatRequest> {
    let project = args.project.as_deref().map(folder).transpose()?;
    let agent = match (&args.agent, &project, &args.session) {
        (None, Some(project), None) => Some(program.manager.sessions().agent_for(project).await),
        (agent, ..) => agent.clone(),
    };
    let mut options = Options {
        temperature: args.temperature,
        context_window: args.context_window,
        ..Options::default()
    };
    for (option, value) in &args.options {
        // Checked when the command line was parsed.
        let _ = options.set_text(*option, Some(value));
    }
    Ok(ChatRequest {
        session: args.session.as_deref().map(Fid::new),
        model: model(args, program).await?,
        agent,
        content: Content::default(),
        thinking: args.thinking,
        options,
        instructions: args.instructions.clone(),
        context: Context::default(),
        project,
        mode: args.mode,
        allow: args.allow.clone(),
        temporary: args.temporary,
        delivery: None,
    })
}

/// Attaches what the text mentions with `@`. Some of the unknown names are reported.
pub async fn point_at(request: &mut ChatRequest, program: &Program) -> Result<()> {
    request.context.mentions.clear();
    if !request.content.text.contains('@') {
        return Ok(());
    }
    let words = program.manager.context().at_words(request, &request.content.text).await?;
    request.context.mentions = words.mentions.into_iter().map(|word| word.mention).collect();
    let text = &request.content.text;
    for name in words.unknown.into_iter().take(MOST_UNKNOWN).map(|place| &text[place]) {
        let terminal = program.terminal;
        let words = terminal::clean(&say::no_such_name(name)).into_owned();
        terminal::say(&format!("{}\n", terminal.dim(&words)));
    }
    Ok(())
}

/// The real path of a folder to work in.
pub fn folder(given: &Path) -> Result<PathBuf> {
    let unusable = |system: &str| CliError::Usage(say::no_folder(given, system));
    let path = given.canonicalize().map_err(|error| unusable(&error.to_string()))?;
    if path.is_dir() { Ok(path) } else { Err(CliError::Usage(say::not_a_folder(given))) }
}

/// The requested model. Waits for servers only if the name alone does not identify it.
async fn model(args: &Request, program: &Program) -> Result<Option<ModelRef>> {
    match (&args.connection, &args.model) {
        (None, None) => Ok(None),
        (Some(connection), Some(model)) => {
            let prefix = format!("{connection}/");
            let model = model.strip_prefix(&prefix).unwrap_or(model);
            Ok(Some(on(connection, model, program).await?))
        }
        (None, Some(name)) => Ok(Some(find(name, program).await?)),
        (Some(connection), None) => Ok(Some(first_of(connection, program).await?)),
    }
}

/// Finds a model by its name, with or without its connection's name.
pub async fn find(name: &str, program: &Program) -> Result<ModelRef> {
    let settings = program.manager.settings().current();
    let exact = settings.connections.iter().find_map(|connection| {
        let model = name.strip_prefix(&connection.name)?.strip_prefix('/')?;
        (!model.is_empty()).then_some((&connection.name, model))
    });
    if let Some((connection, model)) = exact {
        return on(connection, model, program).await;
    }
    program.settled().await;
    // A discovered server can be named, too.
    let found = program.manager.connections().list().into_iter().find_map(|state| {
        let model = name.strip_prefix(&state.connection.name)?.strip_prefix('/')?;
        Some((state.connection.name, model))
    });
    match found {
        Some((connection, model)) => on(&connection, model, program).await,
        None => Ok(program.manager.models().find(name).await?),
    }
}

/// Finds a model of a connection. A model that the server lists under this exact name is preferred;
/// otherwise it may be the display name of a longer one. If the server cannot tell, the name is
/// used as given: a wrong name shows up when the model is used.
async fn on(connection: &str, model: &str, program: &Program) -> Result<ModelRef> {
    let exact = ModelRef::new(connection, model);
    if is_own_name(&exact, program) {
        return Ok(exact);
    }
    match answered(connection, program).await {
        Err(CliError::Engine(error)) if !matches!(error.kind, Kind::ConnectionMissing { .. }) => {
            return Ok(exact);
        }
        answered => answered?,
    }
    let models: Vec<ModelRef> =
        program.manager.models().list().into_iter().map(|m| m.model).collect();
    let of_it = || models.iter().filter(|model| model.connection == connection);
    if of_it().any(|model| *model == exact) {
        return Ok(exact);
    }
    let shown: Vec<_> = of_it().filter(|known| display_name(known) == model).collect();
    match shown[..] {
        [] => Ok(exact),
        [one] => Ok(one.clone()),
        _ => {
            let names: Vec<String> = shown.iter().map(ToString::to_string).collect();
            Err(CliError::Usage(say::ambiguous_model(model, &names)))
        }
    }
}

/// Whether this is known to be the model's own name without asking the server: what is known should
/// cause neither waiting nor work.
fn is_own_name(model: &ModelRef, program: &Program) -> bool {
    let settings = program.manager.settings().current();
    let connection = settings.connections.iter().find(|c| c.name == model.connection);
    // Ollama's models are shown under their own names.
    let ollama = connection.is_some_and(|c| c.kind == Some(ConnectionKind::Ollama));
    let shows_itself = connection.is_some() && !model.may_be_shown_of_another();
    // It was used before, or has settings.
    let used = program.manager.sessions().empty().model.as_ref() == Some(model);
    ollama || shows_itself || used || settings.chat.model.as_ref() == Some(model)
}

/// The default model of new chats if it is on this connection, otherwise the connection's first
/// model.
async fn first_of(connection: &str, program: &Program) -> Result<ModelRef> {
    if let Some(model) = &program.manager.settings().current().chat.model
        && model.connection == connection
    {
        return Ok(model.clone());
    }
    answered(connection, program).await?;
    let models = program.manager.models().list();
    let first = models.into_iter().find(|entry| entry.model.connection == connection);
    Ok(first.map(|entry| entry.model).ok_or(Kind::NoModel).map_err(chat_core::error::Error::new)?)
}

/// Asks only this connection for its models, and waits for its answer. An unknown connection may
/// still be discovered here.
async fn answered(connection: &str, program: &Program) -> Result<()> {
    let mut subscription = program.manager.subscribe();
    if program.manager.settings().current().connections.iter().any(|c| c.name == connection) {
        program.manager.connections().refresh_one(connection);
    } else {
        program.settled().await;
    }
    loop {
        let all = program.manager.connections().list();
        match all.into_iter().find(|state| state.connection.name == connection) {
            None => {
                let name = connection.to_owned();
                return Err(chat_core::error::Error::new(Kind::ConnectionMissing { name }).into());
            }
            Some(state) => match state.health {
                Health::Ready { .. } => return Ok(()),
                Health::Failed(error) => return Err(error.into()),
                Health::Checking => {}
            },
        }
        let changed = |events: &[Event]| {
            events.iter().any(|event| matches!(event, Event::ConnectionsChanged))
        };
        while !changed(&subscription.next().await.ok_or(CliError::Stopped)?) {}
    }
}

/// Reads the files to attach.
pub async fn attachments(args: &Request) -> Result<Vec<Attachment>> {
    let reader = AttachmentReader::default();
    let mut attachments = Vec::with_capacity(args.files.len());
    for path in &args.files {
        attachments.push(reader.read_file(path).await?.attachment);
    }
    Ok(attachments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_is_worked_in() {
        let place = tempfile::tempdir().expect("a folder");
        std::fs::write(place.path().join("a.txt"), "text").expect("written");
        assert_eq!(folder(place.path()).ok(), place.path().canonicalize().ok());
        for wrong in ["a.txt", "none"] {
            assert!(matches!(folder(&place.path().join(wrong)), Err(CliError::Usage(_))));
        }
    }
}
