//! Routes the messages of the widget's parts: each part takes its own, and the frame does what it reports.

use chat_core::manager::SessionChange;
use chat_core::message::Context;
use chat_presentation::words::{self, Action};

use super::messages::{FrameMsg, Output};
use super::{
    ChatWidget, agent_bar, attaching, context_meter, find_bar, hint_bar, model_bar, plan_bar,
    project_bar, session_requests, start_page,
};
use crate::bridge::Arrival;

impl ChatWidget {
    pub(super) fn receive(&mut self, msg: FrameMsg) {
        match msg {
            FrameMsg::Agents(agent_bar::Msg::Found { of, agents, above }) => {
                self.agents.found(&of, agents, above);
            }
            FrameMsg::Agents(agent_bar::Msg::Next { from, place }) => {
                if self.agents.wants_next(&from) {
                    self.show(None, place);
                }
            }
            FrameMsg::Agents(agent_bar::Msg::ToParent) => self.show_parent(),
            FrameMsg::Agents(agent_bar::Msg::Continue) => {
                // The button goes away with its line.
                self.composer.field().focus();
                if let Some(fid) = self.shown.fid() {
                    self.requests.resume_agents(fid.clone());
                }
            }
            FrameMsg::Background(msg) => self.background.update(msg),
            FrameMsg::Meter(msg) => match self.meter.update(msg) {
                Some(context_meter::Output::Message) => {
                    let (mut content, mentions) = self.composer.field().content().content();
                    let command = self.command_of(&mut content);
                    self.meter.preview(
                        content,
                        Context { mentions, ..self.editor_context.of_next(self.shown.project()) },
                        command,
                    );
                }
                Some(context_meter::Output::ConversationEnd) => self.conversation.go_to_end(),
                Some(context_meter::Output::KeyboardLost) => self.composer.field().focus(),
                None => {}
            },
            FrameMsg::Review(msg) => {
                let taken_out = self.review.update(msg);
                self.give_back(
                    taken_out.map(|(fid, said)| session_requests::Output::Message(fid, said)),
                );
            }
            FrameMsg::Requests(msg) => {
                let output = self.requests.update(msg, self.shown.fid());
                self.give_back(output);
                self.keep_edits();
                self.finish();
            }
            FrameMsg::Find(msg) => match self.find.update(msg) {
                Some(find_bar::Output::KeyboardLost) => self.composer.field().focus(),
                Some(find_bar::Output::BranchChanged(fid)) => self.read_again(fid),
                None => {}
            },
            FrameMsg::Mentions(msg) => {
                let found = self.mentions.update(msg);
                self.show_mentions(found);
            }
            FrameMsg::Attaching(msg) => {
                if let Some(attaching::Output { id, read }) = self.attaching.update(msg) {
                    self.composer.field().file_came(id, read);
                }
            }
            FrameMsg::Commands(msg) => {
                let output = self.commands.update(msg, self.composer.generation());
                self.commands_changed(output);
            }
            FrameMsg::Start(msg) => match self.start.update(msg) {
                Some(start_page::Output::Chosen(model)) => self.choose_model(model),
                Some(start_page::Output::Begun(words)) => {
                    let changed = self.composer.begin(&words);
                    if changed {
                        self.conversation.expect_reply();
                    }
                }
                Some(start_page::Output::KeyboardLost) => self.composer.field().focus(),
                None => {}
            },
            FrameMsg::Hint(msg) => {
                // The button that has the keyboard may go.
                if matches!(msg, hint_bar::Msg::TinyIsKnown) {
                    self.composer.field().focus();
                }
                match self.hint.update(msg) {
                    Some(hint_bar::Output::Seeing(Some(model))) => self.choose_model(model),
                    Some(hint_bar::Output::Seeing(None)) => self.model.open_models(),
                    None => {}
                }
            }
            FrameMsg::Definitions(msg) => {
                if self.definitions.update(msg) {
                    self.composer.field().focus();
                }
            }
            FrameMsg::Servers(msg) => {
                if self.servers.update(msg) {
                    self.composer.field().focus();
                }
            }
            FrameMsg::Changes(msg) => self.session_changes.update(msg),
            FrameMsg::Project(msg) => {
                match self.project.update(msg, &self.shown, self.composer.generation()) {
                    Some(project_bar::Output::Chosen(folder)) => self.choose_project(folder),
                    Some(project_bar::Output::Work(folder)) => {
                        self.set_project(Some(folder));
                        self.composer.field().focus();
                    }
                    Some(project_bar::Output::Mode(mode)) => {
                        self.choose(SessionChange { mode: Some(mode), ..SessionChange::default() });
                        self.show_state();
                        self.composer.field().focus();
                    }
                    Some(project_bar::Output::Agent(agent)) => {
                        self.choose_agent(agent);
                        self.show_state();
                    }
                    Some(project_bar::Output::Bounds(words)) => self.conversation.set_bounds(words),
                    Some(project_bar::Output::KeyboardLost) => self.composer.field().focus(),
                    None => {}
                }
                self.send_next();
            }
            FrameMsg::ModelsClosed => self.regenerates = None,
            FrameMsg::Model(msg) => match self.model.update(msg) {
                Some(model_bar::Output::Model(model)) => self.choose_model(model),
                Some(model_bar::Output::Options(options)) => {
                    self.choose(SessionChange {
                        options: Some(options),
                        ..SessionChange::default()
                    });
                }
                // What was chosen is for the message: its next letters must not reach the closed list.
                Some(model_bar::Output::Agent(agent)) => {
                    self.choose_agent(agent);
                    self.composer.field().focus();
                }
                Some(model_bar::Output::Thinking(thinking)) => {
                    self.choose(SessionChange {
                        thinking: Some(thinking),
                        ..SessionChange::default()
                    });
                    self.composer.field().focus();
                }
                Some(model_bar::Output::Instructions) => self.edit_instructions(),
                Some(model_bar::Output::CapabilitiesKnown) => self.show_state(),
                None => {}
            },
            FrameMsg::Instructions { fid, project, instructions } => {
                self.take_instructions(fid, project, instructions);
            }
            FrameMsg::Plan(plan_bar::Msg::Start(mode)) => self.start_plan(mode),
            FrameMsg::Failed { fid, error } => {
                self.handle.output(Output::Note(words::sentence(&error)));
                // The list of models opens where that chat is still shown.
                let asks_for_model =
                    words::advice(&error).actions.first() == Some(&Action::ChooseModel);
                if asks_for_model && self.shown.fid() == fid.as_ref() {
                    self.model.open_models();
                }
            }
            FrameMsg::Composer(output) => self.composer_used(output),
            FrameMsg::Drafts(msg) => {
                let output = self.composer.update(msg);
                self.composer_changed(output);
            }
            FrameMsg::Conversation(session, output) => {
                self.conversation_used(session.as_ref(), output);
            }
            // Another chat may have been asked for meanwhile.
            FrameMsg::Gone(fid) => {
                if self.shown.fid() == Some(&fid) {
                    self.show(None, None);
                }
            }
            FrameMsg::Arrived(Arrival::Events(events)) => self.apply(events),
            FrameMsg::Arrived(Arrival::Opened { fid, result }) => {
                self.opened(&fid, result);
            }
            FrameMsg::Chosen(files) => self.attach(files),
            FrameMsg::Escape => self.escape(),
            FrameMsg::Height(height) => self.composer.field().set_height_of_all(height),
        }
    }
}
