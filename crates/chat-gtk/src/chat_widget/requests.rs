//! Routes what the person asks for in the conversation, and makes the choices of the shown chat.

use std::path::{Path, PathBuf};

use chat_core::agent::CODE_ASSISTANT;
use chat_core::error::{Error, Kind};
use chat_core::manager::{Manager, Regenerate, SessionChange};
use chat_core::message::{ChatRequest, Context, Fid, MessageId, ModelRef};
use chat_core::permission::Mode;
use chat_presentation::diagnostics::Moment;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::shown_chat::ShownChat;
use super::{ChatWidget, FrameMsg, Output, find_bar, session_requests};
use crate::composer::{PlainWords, Written};
use crate::conversation::{self, Conversation, EditedMessage, FileLocation};

impl ChatWidget {
    pub(super) fn stop(&mut self) {
        self.escape_key.forget();
        if let Some(fid) = self.shown.fid() {
            self.meter.stopped(fid);
            self.requests.stop(fid);
        }
    }

    /// Shows the chat that the shown agent works for, where it has the call for that.
    pub(super) fn show_parent(&mut self) {
        let (Some(agent), Some(parent)) =
            (self.shown.fid().cloned(), self.agents.parent().cloned())
        else {
            return;
        };
        self.recalled = None;
        self.show(Some(parent), None);
        self.seek(find_bar::Target::Agent(agent));
    }

    pub(super) fn conversation_used(
        &mut self,
        session: Option<&Fid>,
        output: conversation::Output,
    ) {
        use conversation::Output as Used;
        if output == Used::EditChanged {
            return self.keep_edits();
        }
        // Words are kept for their chat, whichever is shown by now.
        if let Used::GiveBack(text) = output {
            let written = Written::text(text);
            let fid = session.or(self.shown.fid()).cloned();
            return self.composer.give_back(fid.as_ref(), &written);
        }
        let Some(fid) = self.shown.fid().cloned() else { return };
        if !self.shown.concerns(session, &output) {
            if let Used::Answer { ask, .. } = output {
                // Nobody is given it.
                let kept = self.requests.close_answer(ask, false);
                self.give_back(kept);
            }
            return;
        }
        if matches!(
            output,
            Used::Retry
                | Used::Regenerate { .. }
                | Used::SendEdit(_)
                | Used::Resume
                | Used::ThinkAsModel
                | Used::DeliverNow(_)
        ) {
            self.diagnostics.reply(fid.as_str(), Moment::Request);
        }
        if matches!(
            output,
            Used::Retry
                | Used::Regenerate { .. }
                | Used::Resume
                | Used::ThinkAsModel
                | Used::EnlargeWindow { .. }
        ) {
            // The button goes away with its card: the focus must not fall onto some text.
            self.composer.field().focus();
            // Who asks for an answer wants to see it.
            self.conversation.go_to_end();
        }
        match output {
            Used::NeedEarlier { before } => self.requests.read_earlier(fid, before),
            Used::Stop => self.stop(),
            Used::Retry => self.requests.retry(fid),
            Used::Regenerate { reply, agent } => {
                let with = Regenerate { agent, ..Regenerate::default() };
                self.requests.regenerate(fid, reply, with);
            }
            Used::RegenerateWithModel(reply) => {
                self.model.open_models_to_regenerate();
                self.regenerates = Some((fid, reply));
            }
            Used::Edit(message) => self.requests.begin_edit(fid, message),
            Used::CancelEdit(message) => {
                self.conversation.edits().cancel(message);
                self.keep_edits();
                self.composer.field().focus();
            }
            Used::SendEdit(message) => self.send_edit(fid, message),
            Used::Fork(message) => {
                self.requests.fork(fid, message, self.shown.title());
            }
            Used::Delete { message, scope } => {
                // The row that had the keyboard goes away.
                self.composer.field().focus();
                self.requests.delete(fid, message, scope);
            }
            Used::ShowBranch { message, keyboard } => {
                // The button goes away with its reply, and another comes with the other one.
                self.conversation.switch_version(message, keyboard);
                if keyboard.is_none() {
                    self.composer.field().focus();
                }
                self.diagnostics.switch_began(fid.as_str());
                self.requests.show_branch(fid, message);
            }
            Used::Resume if self.agents.has_interrupted() => self.requests.resume_agents(fid),
            Used::Resume => self.requests.resume(fid),
            Used::OpenChat(agent) => {
                self.recalled = None;
                self.show(Some(agent), None);
            }
            Used::StopAgent(agent) => self.requests.stop(&agent),
            Used::StopAllAgents => self.requests.stop_agents(&fid),
            Used::ThinkAsModel => self.requests.retry_without_thinking(fid),
            Used::ChooseModel => self.model.open_models(),
            Used::ChooseAgent => self.model.open_agents(),
            Used::NewChat => self.show_next(),
            Used::OpenSettings => {
                let name = self.shown.model().map(|model| model.connection.clone());
                self.handle.output(Output::Connections(name));
            }
            Used::EnlargeWindow { tokens } => {
                self.requests.retry_with_window(fid, self.shown.options(), tokens);
            }
            Used::Quote(text) => {
                if self.composer.quote(&text) {
                    self.conversation.expect_reply();
                }
            }
            Used::DeliverNow(id) => self.requests.deliver_now(fid, id),
            Used::MoveWaiting { id, before } => self.requests.move_waiting(fid, id, before),
            Used::RemoveWaiting { id, before } => self.requests.remove_waiting(fid, id, before),
            Used::Unqueue { id, before } => {
                let project = self.shown.project().map(Path::to_owned);
                self.requests.unqueue(fid, id, before, project);
            }
            Used::Answer { ask, answer } => {
                // The card goes away with what has the keyboard in it.
                self.composer.field().focus();
                // Who answers wants to see what comes of it.
                self.conversation.go_to_end();
                self.requests.answer(fid, ask, answer);
            }
            Used::Restore(message) => {
                self.review.ask_restore(fid, message, self.agents.parent().is_some());
            }
            Used::GiveBack(_) | Used::EditChanged => {}
            Used::KeyboardLost => self.composer.field().focus(),
            Used::OpenLink(url) => open_link(&url, self.layout.root()),
            Used::OpenFile(FileLocation { path, place }) => {
                self.handle.output(Output::OpenFile { path, place });
            }
            Used::Seen => self.requests.mark_read(fid),
            Used::SearchStatus(status) => self.find.show(status),
        }
    }

    /// Sends the edited version of a message. What is open and what is left out belongs to the message that is being
    /// written, and not to this one.
    fn send_edit(&mut self, fid: Fid, message: MessageId) {
        let Some(EditedMessage { mut content, before }) = self.conversation.edits().send(message)
        else {
            return;
        };
        // It would go out without the text of its command.
        if let Some(words) = self.look_up(&content.text) {
            self.conversation.edits().failed(message);
            return self.handle.output(Output::Note(words));
        }
        if self.shown.is_busy() {
            // The reply to the earlier version is stopped for it.
            self.escape_key.forget();
            self.meter.stopped(&fid);
        }
        self.composer.field().focus();
        self.conversation.go_to_end();
        // What the earlier version mentioned is attached to it.
        let mentions = self.composer.field().mentions(&content.text, &PlainWords::of(&before));
        let context = Context { mentions, ..Context::default() };
        let command = self.command_of(&mut content);
        let request =
            ChatRequest { session: Some(fid.clone()), content, context, ..ChatRequest::default() };
        self.requests.send_edit(fid, message, request, command);
    }

    /// Has what was typed in edited messages written soon.
    pub(super) fn keep_edits(&mut self) {
        self.composer.keep_edits(self.conversation.edits().unsent());
    }

    /// Does what a request in a stored chat brought: gives back to the composer what was not needed, or shows a chat.
    pub(super) fn give_back(&mut self, output: Option<session_requests::Output>) {
        match output {
            Some(session_requests::Output::Waiting { fid, written, before }) => {
                self.composer.set_place(&fid, before);
                self.composer.give_back(Some(&fid), &written);
                if self.shown.fid() == Some(&fid) {
                    self.composer.field().focus();
                }
            }
            Some(session_requests::Output::Message(fid, written)) => {
                self.composer.give_back(Some(&fid), &written);
                if self.shown.fid() == Some(&fid) {
                    self.composer.field().focus();
                }
            }
            Some(session_requests::Output::Words(fid, written)) => {
                self.composer.give_back(fid.as_ref(), &written);
            }
            Some(session_requests::Output::Forked(fid)) => {
                self.recalled = None;
                self.show(Some(fid), None);
            }
            Some(session_requests::Output::KeyboardLost) => self.composer.field().focus(),
            None => {}
        }
    }

    /// Has the plan of the shown chat carried out, in this mode from now on.
    pub(super) fn start_plan(&mut self, mode: Mode) {
        let Some(fid) = self.shown.fid().cloned() else { return };
        self.composer.field().focus();
        self.conversation.go_to_end();
        let without = self.editor_context.leave_behind(self.shown.project());
        self.show_chips();
        self.plan.start(fid, mode, self.editor_context.now(self.shown.project(), &without));
    }

    /// Makes a choice for the shown chat. That of a stored chat goes to the engine at once, that of a new one
    /// with its first message.
    pub(super) fn choose(&mut self, change: SessionChange) {
        if self.shown.choose(change.clone())
            && let Some(fid) = self.shown.fid()
        {
            self.session_changes.change(fid.clone(), change);
        }
    }

    pub(super) fn choose_model(&mut self, model: ModelRef) {
        if self.shown.is_opening() {
            return;
        }
        self.choose(SessionChange { model: Some(model.clone()), ..SessionChange::default() });
        self.show_state();
        self.composer.field().focus();
        if let Some((fid, reply)) = self.regenerates.take()
            && self.shown.fid() == Some(&fid)
        {
            self.conversation.go_to_end();
            let with = Regenerate { model: Some(model), ..Regenerate::default() };
            self.requests.regenerate(fid, reply, with);
        }
    }

    pub(super) fn choose_agent(&mut self, agent: String) {
        if !self.shown.is_opening() {
            self.choose(SessionChange { agent: Some(agent), ..SessionChange::default() });
            self.offer_panel();
        }
    }

    /// Works in this folder from now on, once it is known where it really is; or in none.
    pub(super) fn choose_project(&mut self, folder: Option<PathBuf>) {
        let Some(folder) = folder else {
            self.set_project(None);
            self.composer.field().focus();
            return;
        };
        // Before the engine is there another chat may have been asked for than the one in sight.
        let fid = match (&self.manager, &self.wanted) {
            (None, Some(wanted)) => Some(wanted.clone()),
            _ => self.shown.fid().cloned(),
        };
        self.project.find(fid, folder);
    }

    pub(super) fn set_project(&mut self, project: Option<PathBuf>) {
        if self.shown.is_opening() {
            return;
        }
        self.choose(SessionChange { project: Some(project.clone()), ..SessionChange::default() });
        if let Some(folder) = project {
            self.find_agent_of(folder);
        } else if let (ShownChat::New(session), Some(manager)) = (&mut self.shown, &self.manager)
            && session.agent == CODE_ASSISTANT
        {
            // There is no code to work on any more.
            session.agent = manager.sessions().empty().agent;
        }
        self.show_state();
        // Only after the window knows the folder, which decides whether its panel was open.
        if self.shown.project().is_some() {
            self.offer_panel();
        }
    }

    /// Finds out who works in a folder that a new chat was given, where nobody was chosen for it.
    pub(super) fn find_agent_of(&mut self, folder: PathBuf) {
        if let (Some(manager), ShownChat::New(session)) = (&self.manager, &self.shown)
            && session.agent == manager.sessions().empty().agent
        {
            self.project.find_agent(self.composer.generation(), folder);
        }
    }

    /// Shows the panel that the agent of the shown chat brings, where it brings one.
    pub(super) fn offer_panel(&self) {
        if let Some(panel) = panel(self.manager.as_ref(), &self.shown) {
            self.handle.output(Output::Panel(panel));
        }
    }

    /// Esc: pressed twice, it stops the reply; where nothing runs it belongs to the window.
    pub(super) fn escape(&mut self) {
        // The bar is what Esc closes first; the next one is for the reply.
        if self.find.is_open() {
            self.find.close();
            return;
        }
        if !self.shown.is_busy() {
            self.handle.output(Output::Escaped);
            return;
        }
        if self.escape_key.press() {
            self.stop();
        }
    }
}

/// Pressed twice, or the chat was deleted meanwhile: there is nothing to say.
pub(super) fn is_gone(error: &Error) -> bool {
    matches!(error.kind, Kind::SessionNotFound { .. })
}

/// Opens what a browser or mail program may be given, and nothing else.
fn open_link(url: &str, root: &gtk::Box) {
    let allowed = ["https://", "http://", "mailto:"];
    let lower = url.to_ascii_lowercase();
    if allowed.iter().any(|scheme| lower.starts_with(scheme)) {
        let window = root.root().and_downcast::<gtk::Window>();
        gtk::show_uri(window.as_ref(), url, gtk::gdk::CURRENT_TIME);
    }
}

/// Says an error in passing.
pub(super) fn note(error: &Error) -> Output {
    Output::Note(words::sentence(error))
}

/// Copies the last reply of a chat, and says so.
pub(super) fn copy_last_reply(conversation: &Conversation, handle: &Handle<FrameMsg>) {
    let words = match conversation.last_reply() {
        Some(reply) => {
            conversation.widget().clipboard().set_text(&reply);
            gettext("Reply copied")
        }
        None => gettext("No reply yet"),
    };
    handle.output(Output::Note(words));
}

/// The panel that the agent of a chat brings, where it brings one.
pub(super) fn panel(manager: Option<&Manager>, shown: &ShownChat) -> Option<&'static str> {
    let agents = manager?.agent_kinds().of_project(shown.project());
    agents.iter().find(|info| info.name == shown.agent()).and_then(|info| info.panel)
}
