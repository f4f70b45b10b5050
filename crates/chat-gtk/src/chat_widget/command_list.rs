//! Knows the commands of the chat that is shown, and finds the models that they name.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::definitions::Definitions;
use chat_core::error::{Error, Result};
use chat_core::manager::Manager;
use chat_core::message::ModelRef;
use chat_core::tool::ServerOffer;
use chat_presentation::slash_commands::{
    FrontEnd, SlashCommand, SlashCommands, Typed, shadowed_words,
};

use super::handle::Handle;
use super::messages;
use crate::composer::Written;

/// What reading brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// The commands and skills of this project.
    Read { project: Option<PathBuf>, definitions: Arc<Definitions> },
    /// What a server has that was asked for this project.
    Asked { project: Option<PathBuf>, server: String, result: Result<Arc<ServerOffer>> },
    /// The model that was named in the chat that was shown at this time.
    Model { generation: u64, written: Written, result: Result<ModelRef> },
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Output {
    /// There are other commands: those of these definitions.
    Changed(SlashCommands, Arc<Definitions>),
    /// There are other prompts of servers among these.
    Prompts(SlashCommands),
    /// A server did not say which prompts it has.
    Failed(Error),
    /// This model was chosen.
    Model(ModelRef),
    /// No model has the name that was written.
    NoModel(Written, Error),
}

/// The commands of the shown chat.
pub(super) struct CommandList {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    commands: SlashCommands,
    /// Whether a chat was shown.
    has_shown: bool,
    /// The project of that.
    project: Option<PathBuf>,
    is_reading: bool,
    /// The files that are known not to be used.
    shadowed: Vec<String>,
    /// The servers in use, as the commands know them.
    servers: Vec<Arc<ServerOffer>>,
    /// The servers that are being asked, and those that did not say what they have.
    asking: HashSet<String>,
    silent: HashMap<String, Error>,
}

impl CommandList {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        Self {
            handle,
            manager: None,
            commands: SlashCommands::default(),
            has_shown: false,
            project: None,
            is_reading: false,
            shadowed: Vec::new(),
            servers: Vec::new(),
            asking: HashSet::new(),
            silent: HashMap::new(),
        }
    }

    /// The commands.
    pub(super) fn all(&self) -> &[SlashCommand] {
        self.commands.all()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// A chat of this project is shown. Whether its commands are to be read first.
    pub(super) fn show(&mut self, project: Option<&Path>) -> bool {
        let is_known = self.has_shown && self.project.as_deref() == project;
        let is_new = !is_known && self.manager.is_some();
        if is_new {
            self.has_shown = true;
            self.project = project.map(Path::to_owned);
            self.read();
        }
        is_new
    }

    /// Files changed.
    pub(super) fn read(&mut self) {
        let Some(manager) = self.manager.clone().filter(|_| self.has_shown) else { return };
        let project = self.project.clone();
        self.is_reading = true;
        self.handle.spawn(async move {
            let definitions = manager.definitions().of_project(project.as_deref()).await;
            Msg::Read { project, definitions }
        });
    }

    /// What a text is that was typed as a message. None where that is not known yet.
    pub(super) fn typed<'a>(&'a self, text: &'a str) -> Option<Typed<'a>> {
        let unasked = self.commands.unasked(text);
        let is_awaited = unasked.is_some_and(|server| !self.silent.contains_key(server));
        let is_known = !text.starts_with('/') || !(self.is_reading || is_awaited);
        is_known.then(|| self.commands.read(text))
    }

    /// Why it is not known whether a text is a command: its server did not say which prompts it has.
    pub(super) fn failure(&self, text: &str) -> Option<&Error> {
        self.silent.get(self.commands.unasked(text)?)
    }

    /// The person types this command, or none any more. Only a server that they name is asked for its prompts.
    pub(super) fn look_for(&mut self, query: Option<&str>) -> Option<Output> {
        let Some(query) = query else {
            self.silent.clear();
            return None;
        };
        let changed = self.take_servers();
        self.ask_server(&format!("/{query}"));
        changed.then(|| Output::Prompts(self.commands.clone()))
    }

    /// Asks the server with whose name a text begins for its prompts, if these are not known.
    pub(super) fn ask_server(&mut self, text: &str) {
        let (Some(server), Some(manager)) = (self.commands.unasked(text), self.manager.clone())
        else {
            return;
        };
        let (server, project) = (server.to_owned(), self.project.clone());
        if self.silent.contains_key(&server) || !self.asking.insert(server.clone()) {
            return;
        }
        self.handle.spawn(async move {
            let result = manager.server_content().ask(project.as_deref(), &server).await;
            Msg::Asked { project, server, result }
        });
    }

    /// Takes over what is known of the servers by now. Whether that is something else.
    fn take_servers(&mut self) -> bool {
        let Some(manager) = &self.manager else { return false };
        let servers = manager.server_content().known(self.project.as_deref());
        let is_new = servers != self.servers;
        if is_new {
            self.servers = servers;
            self.commands = std::mem::take(&mut self.commands).with_servers(&self.servers);
        }
        is_new
    }

    /// Finds the model of this name, which was written in the chat that was shown at this time.
    pub(super) fn find_model(&self, name: String, generation: u64, written: Written) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.models().find(&name).await;
            Msg::Model { generation, written, result }
        });
    }

    /// Takes a message at this time.
    pub(super) fn update(&mut self, msg: Msg, now: u64) -> Option<Output> {
        match msg {
            Msg::Read { project, definitions } => {
                if self.project != project {
                    return None;
                }
                self.is_reading = false;
                self.commands = SlashCommands::new(&definitions, FrontEnd::Window);
                self.servers.clear();
                self.take_servers();
                let shadowed = self.commands.shadowed().to_vec();
                if self.shadowed != shadowed {
                    if let Some(words) = shadowed_words(&shadowed) {
                        self.handle.output(messages::Output::Note(words));
                    }
                    self.shadowed = shadowed;
                }
                Some(Output::Changed(self.commands.clone(), definitions))
            }
            Msg::Asked { project, server, result } => {
                self.asking.remove(&server);
                let failed = result.err();
                if let Some(error) = &failed {
                    self.silent.insert(server, error.clone());
                }
                self.take_servers();
                match failed.filter(|_| self.project == project) {
                    Some(error) => Some(Output::Failed(error)),
                    None => Some(Output::Prompts(self.commands.clone())),
                }
            }
            Msg::Model { generation, .. } if generation != now => None,
            Msg::Model { result: Ok(model), .. } => Some(Output::Model(model)),
            Msg::Model { written, result: Err(error), .. } => Some(Output::NoModel(written, error)),
        }
    }
}
