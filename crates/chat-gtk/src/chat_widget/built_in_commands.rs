//! Carries out the commands that are typed in place of a message, by what the buttons of the window do.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chat_core::manager::{AgentKind, Manager};
use chat_core::message::{Content, Fid};
use chat_core::permission::Mode;
use chat_presentation::slash_commands::{
    BuiltIn, CommandKind, ServerPrompt, SlashCommand, Typed, invalid_words, unexpected_words,
    unknown_words,
};
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::chat_composer::Outgoing;
use super::context_meter::MeterAction;
use super::prompt_form::Completing;
use super::{ChatWidget, FrameMsg, Output, command_list, context_meter, project_bar, prompt_form};
use crate::composer::Written;

/// What is to be done with what was written.
enum Order {
    /// It goes to the model.
    Send,
    /// It is not known yet.
    Wait,
    /// The window does this.
    Do(BuiltIn, String),
    /// It goes back to the composer, and the user reads why.
    Refuse(String),
    /// A value is missing: it goes back to the composer, and the user is asked for it.
    Ask(Arc<ServerPrompt>, String, BTreeMap<String, String>),
}

impl ChatWidget {
    /// Carries out a command of the window. Gives back what is to be sent, if anything is.
    pub(super) fn obey(&mut self, mut outgoing: Outgoing) -> Option<Outgoing> {
        let failure = self.commands.failure(&outgoing.written.text).map(words::sentence);
        let order = match self.commands.typed(&outgoing.written.text) {
            Some(_) if failure.is_some() => Order::Refuse(failure.unwrap_or_default()),
            None => Order::Wait,
            Some(Typed::Command(command, arguments)) => missing(command, arguments),
            Some(Typed::Message(_)) => Order::Send,
            Some(Typed::BuiltIn(command, arguments)) => Order::Do(command, arguments.to_owned()),
            Some(Typed::Unknown(name, nearest)) => Order::Refuse(unknown_words(name, nearest)),
            Some(Typed::Unusable(words)) => Order::Refuse(words),
            Some(Typed::Unexpected(command)) => Order::Refuse(unexpected_words(command)),
        };
        match order {
            Order::Send => return Some(outgoing),
            Order::Wait => {
                self.commands.ask_server(&outgoing.written.text);
                self.composer.put_back(outgoing);
                return None;
            }
            Order::Do(BuiltIn::Plan, message) if !message.is_empty() => {
                if self.set_mode(Mode::Plan) {
                    outgoing.written.text = message;
                    outgoing.mode = Some(Mode::Plan);
                    return Some(outgoing);
                }
                self.refuse(outgoing, None);
            }
            Order::Do(command, arguments) => {
                let is_done = self.carry_out(command, &arguments, &outgoing.written);
                match is_done {
                    Ok(()) => {
                        self.editor_context.leave_out_again(outgoing.without);
                        self.keep_pins(outgoing.written);
                    }
                    Err(words) => self.refuse(outgoing, Some(words)),
                }
            }
            Order::Refuse(words) => self.refuse(outgoing, Some(words)),
            Order::Ask(prompt, name, values) => {
                let typed = outgoing.written.text.clone();
                self.refuse(outgoing, None);
                self.ask_arguments(&prompt, name, typed, &values);
            }
        }
        self.show_chips();
        None
    }

    /// The commands of the shown chat.
    pub(crate) fn slash_commands(&self) -> &[SlashCommand] {
        self.commands.all()
    }

    /// Runs a command that was chosen from a list. One that goes to the model is put before what is written, so that
    /// more can be added.
    pub(super) fn run_command(&mut self, name: &str) {
        let Some(command) = self.commands.all().iter().find(|it| it.name == name) else { return };
        let built_in = match &command.kind {
            CommandKind::BuiltIn(built_in) => *built_in,
            CommandKind::Prompt(prompt) if command.waits_for_arguments() => {
                let prompt = Arc::clone(prompt);
                return self.ask_arguments(
                    &prompt,
                    name.to_owned(),
                    String::new(),
                    &BTreeMap::new(),
                );
            }
            kind => {
                // The name of a server is written on.
                let space = if matches!(kind, CommandKind::Server) { "" } else { " " };
                let changed = self.composer.begin(&format!("/{name}{space}"));
                if changed {
                    self.conversation.expect_reply();
                }
                return;
            }
        };
        if let Err(words) = self.carry_out(built_in, "", &Written::default()) {
            self.handle.output(Output::Note(words));
        }
    }

    /// Asks for the arguments of a prompt that was chosen by its name.
    pub(super) fn ask_arguments_of(&mut self, name: String) {
        let command = self.commands.all().iter().find(|it| it.name == name);
        if let Some(CommandKind::Prompt(prompt)) = command.map(|command| &command.kind) {
            let prompt = Arc::clone(prompt);
            self.ask_arguments(&prompt, name, String::new(), &BTreeMap::new());
        }
    }

    /// Asks for the arguments of a prompt. They are written behind its name, in place of what was typed, so that more
    /// can be added.
    fn ask_arguments(
        &self,
        prompt: &Arc<ServerPrompt>,
        name: String,
        typed: String,
        values: &BTreeMap<String, String>,
    ) {
        let window = self.layout.root().root().and_downcast::<gtk::Window>();
        let (field, given) = (self.composer.field().clone(), Arc::clone(prompt));
        let servers = self.manager.as_ref().map(Manager::server_content);
        let project = self.shown.project().map(Path::to_owned);
        let complete = move |typed| {
            let (servers, project) = (servers.clone(), project.clone());
            let completing = async move {
                match servers {
                    Some(servers) => servers.complete(project.as_deref(), typed).await,
                    None => Vec::new(),
                }
            };
            Box::pin(completing) as Completing
        };
        prompt_form::ask(window.as_ref(), prompt, values, complete, move |values| match values {
            Some(values) => {
                let line = format!("/{name} {}", given.typed(&values));
                field.write_command(&typed, line.trim_end());
            }
            None => field.focus(),
        });
    }

    /// The command whose text is sent with a message, and its arguments. Of a text with two slashes one is taken.
    pub(super) fn command_of(&self, content: &mut Content) -> Option<(SlashCommand, String)> {
        let text = content.text.clone();
        match self.commands.typed(&text)? {
            Typed::Command(command, arguments) => Some((command.clone(), arguments.to_owned())),
            Typed::Message(text) => {
                content.text = text.into_owned();
                None
            }
            _ => None,
        }
    }

    /// Looks a command up that a text begins with and that is not known yet. Says why it cannot be sent now, if so.
    pub(super) fn look_up(&mut self, text: &str) -> Option<String> {
        if let Some(error) = self.commands.failure(text) {
            return Some(words::sentence(error));
        }
        if self.commands.typed(text).is_some() {
            return None;
        }
        self.commands.ask_server(text);
        Some(gettext("Natter is still looking up this command. Try again in a moment."))
    }

    /// What was written goes back to the composer.
    fn refuse(&mut self, outgoing: Outgoing, why: Option<String>) {
        self.editor_context.leave_out_again(outgoing.without);
        self.composer.give_back(self.shown.fid().cloned().as_ref(), &outgoing.written);
        if let Some(words) = why {
            self.noted = true;
            self.handle.output(Output::ChatNote(words));
        }
    }

    /// What was attached to a command of the window is for the next message.
    fn keep_pins(&mut self, mut written: Written) {
        written.text.clear();
        written.pins.retain(|pin| pin.word.is_none());
        if written.pins.is_empty() {
            self.composer.changed();
        } else {
            self.composer.give_back(self.shown.fid().cloned().as_ref(), &written);
        }
    }

    /// Carries out a command, or says why it cannot.
    fn carry_out(
        &mut self,
        command: BuiltIn,
        arguments: &str,
        written: &Written,
    ) -> Result<(), String> {
        match command {
            BuiltIn::Clear => {
                self.show_next();
                self.composer.field().focus();
            }
            BuiltIn::Compact => {
                let action = match arguments {
                    "" => MeterAction::Compact,
                    "undo" => MeterAction::Undo,
                    other => return Err(invalid_words(command, other, "undo")),
                };
                self.begun()?;
                self.receive(FrameMsg::Meter(context_meter::Msg::Asked(action)));
            }
            BuiltIn::Plan => {
                self.set_mode(Mode::Plan);
            }
            BuiltIn::Review => {
                self.begun()?;
                self.handle.output(Output::Review);
            }
            BuiltIn::Export => {
                self.begun()?;
                self.handle.output(Output::Export);
            }
            BuiltIn::Model if arguments.is_empty() => self.model.open_models(),
            BuiltIn::Model => {
                let generation = self.composer.generation();
                self.commands.find_model(arguments.to_owned(), generation, written.clone());
            }
            BuiltIn::Agent if arguments.is_empty() => self.model.open_agents(),
            BuiltIn::Agent => self.agent_named(command, arguments)?,
            BuiltIn::Mode => self.mode_named(command, arguments)?,
            BuiltIn::Undo => {
                let fid = self.begun()?;
                let is_agent = self.agents.parent().is_some();
                let message = self.conversation.last_request(is_agent);
                let message = message.filter(|_| self.shown.project().is_some());
                let message = message.ok_or_else(no_project)?;
                self.review.ask_restore(fid, message, is_agent);
            }
            BuiltIn::Help => self.composer.field().show_commands(),
        }
        Ok(())
    }

    fn begun(&self) -> Result<Fid, String> {
        let fid = self.shown.fid().cloned();
        fid.ok_or_else(|| gettext("This chat hasn’t started yet."))
    }

    fn agent_named(&mut self, command: BuiltIn, name: &str) -> Result<(), String> {
        let project = self.shown.project();
        let agents = self.manager.as_ref().map(|it| it.agent_kinds().of_project(project));
        let agents = agents.unwrap_or_default();
        let is_it = |agent: &&AgentKind| {
            agent.name == name || words::agent_title(agent).to_lowercase() == name.to_lowercase()
        };
        let Some(agent) = agents.iter().find(is_it) else {
            let definitions = self.manager.as_ref().map(|it| it.definitions().current(project));
            let unusable = definitions.and_then(|it| words::unusable_agent(name, &it));
            let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
            return Err(unusable.unwrap_or_else(|| invalid_words(command, name, &names.join(", "))));
        };
        self.choose_agent(agent.name.clone());
        self.show_state();
        Ok(())
    }

    fn mode_named(&mut self, command: BuiltIn, name: &str) -> Result<(), String> {
        if self.shown.project().is_none() {
            return Err(no_project());
        }
        if name.is_empty() {
            self.project.open_modes();
            return Ok(());
        }
        let mode = name.parse().map_err(|_| {
            let names: Vec<_> = Mode::ALL.iter().map(|mode| mode.name()).collect();
            invalid_words(command, name, &names.join(", "))
        })?;
        self.set_mode(mode);
        Ok(())
    }

    /// Shows what the project of the shown chat has, to trust it or to look at it.
    pub(super) fn review_definitions(&self) {
        if self.shown.project().is_some() {
            self.definitions.review();
        } else {
            self.handle.output(Output::Note(no_project()));
        }
    }

    /// The shown chat works in this mode from now on. Whether it works in a project, where modes count.
    fn set_mode(&mut self, mode: Mode) -> bool {
        let has_project = self.shown.project().is_some();
        if has_project {
            self.receive(FrameMsg::Project(project_bar::Msg::Mode(mode)));
        } else {
            self.handle.output(Output::Note(no_project()));
        }
        has_project
    }

    /// What came of reading commands, and of those that take a while.
    pub(super) fn commands_changed(&mut self, output: Option<command_list::Output>) {
        match output {
            Some(command_list::Output::Changed(commands, definitions)) => {
                self.composer.field().set_commands(commands);
                if self.definitions.show(definitions) {
                    self.composer.field().focus();
                }
                // The agents in the same files are known now, too.
                self.show_state();
            }
            Some(command_list::Output::Prompts(commands)) => {
                self.composer.field().set_commands(commands);
            }
            // Of what waits to be sent, it is said when that comes back.
            Some(command_list::Output::Failed(_)) if self.composer.has_waiting() => {}
            Some(command_list::Output::Failed(error)) => {
                self.handle.output(Output::Note(words::sentence(&error)));
            }
            Some(command_list::Output::Model(model)) => self.choose_model(model),
            Some(command_list::Output::NoModel(written, error)) => {
                self.composer.give_back(self.shown.fid().cloned().as_ref(), &written);
                self.handle.output(Output::Note(words::sentence(&error)));
            }
            None => {}
        }
        self.send_next();
    }
}

/// Sends a command, or asks for a value that its prompt needs.
fn missing(command: &SlashCommand, arguments: &str) -> Order {
    let CommandKind::Prompt(prompt) = &command.kind else { return Order::Send };
    let values = prompt.values(arguments);
    if prompt.missing(&values).is_none() {
        return Order::Send;
    }
    Order::Ask(Arc::clone(prompt), command.name.clone(), values)
}

fn no_project() -> String {
    gettext("This chat has no project. Choose a folder first.")
}
