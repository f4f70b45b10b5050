//! What the engine tells, and how it shows.

use chat_core::agent::EDITOR_PANEL;
use chat_core::error::{Kind, Result};
use chat_core::event::{Event, SessionEvent, Snapshot};
use chat_core::manager::Manager;
use chat_core::message::{Fid, MessageId, ModelRef};
use chat_core::models::CONNECTION;
use chat_core::store;
use chat_edge::diagnostics::Moment;
use chat_edge::words;
use gettextrs::gettext;
use relm4::ComponentSender;

use super::hint_bar;
use super::requests::note;
use super::shown::Shown;
use super::start_page::NewChat;
use super::view::{Page, View};
use super::{ChatWidget, Done, FrameMsg, Input, Output, PAGE, Part, done, tell};
use crate::bridge::about;
use crate::paint;

/// Whether this is a model of this computer that is not there any more.
fn was_removed(model: &ModelRef, manager: &Manager) -> bool {
    model.connection == CONNECTION
        && !manager.models().list().iter().any(|entry| entry.model == *model)
}

impl ChatWidget {
    /// A chat was read, or could not be.
    pub(super) fn opened(
        &mut self,
        fid: &Fid,
        result: Result<Box<Snapshot>>,
        view: &mut View,
        sender: &ComponentSender<Self>,
    ) {
        if self.shown.fid() != Some(fid) {
            return;
        }
        match result {
            Ok(snapshot) => {
                // What another program writes is read anew again and again.
                let open = matches!(&self.shown, Shown::Open(session) if session.fid == *fid);
                let renewed = open && view.conversation.renew(&snapshot);
                // What waits for an answer stands at the end.
                let place = self.reading.get(fid).filter(|_| !open && snapshot.asks.is_empty());
                match place {
                    _ if renewed => {}
                    Some(place) => view.conversation.show_at(&snapshot, place),
                    None => view.conversation.show(&snapshot),
                }
                self.show_work(view);
                let Snapshot { session, .. } = *snapshot;
                // What is new stands at the end: until the person comes there it is not seen.
                if session.unread && view.conversation.is_at_end() {
                    self.mark_read(sender);
                }
                self.shown = Shown::Open(session);
                self.look_at_changes();
                self.ask_siblings(sender);
                self.diagnostics.mark("chat");
                if let Some(folder) = self.project.take_wanted(fid) {
                    self.set_project(Some(folder), view, sender);
                }
                self.show_state(view, sender);
                self.send_next(sender);
                if !self.find.show_target() && !renewed {
                    self.find.find_again();
                }
            }
            Err(error) => {
                self.find.forget_target();
                self.give_back_waiting(None);
                let missing = matches!(error.kind, Kind::SessionNotFound { .. });
                if !(missing && self.recalled.as_ref() == Some(fid)) {
                    tell(sender, note(&error));
                }
                sender.input(gone(fid));
            }
        }
    }

    /// Earlier messages were read, or could not be.
    pub(super) fn earlier_came(
        &self,
        fid: &Fid,
        before: MessageId,
        result: Result<store::Page>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        if self.shown.fid() != Some(fid) {
            return;
        }
        match result {
            Ok(page) => view.conversation.prepend(before, &page),
            Err(error) => {
                view.conversation.earlier_failed(before);
                tell(sender, note(&error));
            }
        }
    }

    /// Shows what goes along with the message besides what is pinned to it.
    pub(super) fn show_chips(&self, view: &View) {
        view.composer.set_chips(self.editor_context.chips(self.shown.project()));
    }

    /// Reads a chat anew.
    pub(super) fn read_again(&self, fid: Fid) {
        if let Some(bridge) = &self.bridge {
            bridge.open(fid, PAGE);
        }
    }

    /// Asks which replies of the chat stand beside each other.
    fn ask_siblings(&self, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.shown.fid().cloned()) else {
            return;
        };
        sender.oneshot_command(async move {
            let result = manager.sessions().siblings(&fid).await;
            done(Done::Siblings { fid, result })
        });
    }

    /// Takes a batch: one update of everything that it touches.
    pub(super) fn apply(
        &mut self,
        mut events: Vec<Event>,
        view: &mut View,
        sender: &ComponentSender<Self>,
    ) {
        let mut state_changed = false;
        for event in &events {
            state_changed |= self.take(event, view, sender);
        }
        if matches!(self.shown, Shown::Open(_)) {
            events.retain(|event| about(event).is_some_and(|fid| self.shown.fid() == Some(fid)));
            if !events.is_empty() {
                view.conversation.apply(&events);
                let about_work = |event: &Event| {
                    let Event::Session { event, .. } = event else { return false };
                    matches!(
                        event,
                        SessionEvent::TodosChanged { .. } | SessionEvent::CommandsChanged { .. }
                    )
                };
                if events.iter().any(about_work) {
                    self.show_work(view);
                }
                self.measure(&events, view);
            }
        }
        if state_changed {
            self.show_state(view, sender);
        }
    }

    /// Shows the session's plan, and what runs in its background.
    pub(super) fn show_work(&mut self, view: &View) {
        self.plan.show(&view.conversation.todos());
        let (fid, commands) = (view.conversation.session(), view.conversation.commands());
        if self.background.show(fid, &commands) {
            view.composer.focus();
        }
    }

    /// Files were changed, or another chat is shown.
    fn look_at_changes(&mut self) {
        self.show_review();
        self.review.look();
    }

    pub(super) fn show_review(&mut self) {
        let has_project = matches!(&self.shown, Shown::Open(session) if session.project.is_some());
        self.review.show(self.shown.fid(), has_project);
    }

    /// Takes what an event says about more than the conversation's text.
    fn take(&mut self, event: &Event, view: &View, sender: &ComponentSender<Self>) -> bool {
        match event {
            Event::SessionChanged(changed) => {
                if let Shown::Open(session) = &mut self.shown
                    && session.fid == changed.fid
                {
                    session.clone_from(changed);
                    view.conversation.set_project(changed.project.is_some());
                    self.session_changes.keep(session);
                    return true;
                }
                false
            }
            Event::SessionRemoved { fid } => {
                sender.input(gone(fid));
                false
            }
            Event::Session { fid, event, .. } if self.shown.fid() == Some(fid) => {
                match event {
                    SessionEvent::Reset => self.read_again(fid.clone()),
                    SessionEvent::FilesChanged => self.look_at_changes(),
                    SessionEvent::MeterChanged { meter } => {
                        let lost = self.meter.changed(fid, meter);
                        if lost {
                            view.composer.focus();
                        }
                    }
                    _ => {}
                }
                false
            }
            Event::DownloadsChanged => {
                self.start.look_at_stock();
                false
            }
            Event::ModelsChanged | Event::ConnectionsChanged | Event::AgentsChanged => {
                if matches!(event, Event::ModelsChanged) {
                    self.start.look_at_stock();
                }
                self.model.take_models();
                if let (Shown::New(session), Some(manager)) = (&mut self.shown, &self.manager)
                    && session.model.as_ref().is_none_or(|model| was_removed(model, manager))
                {
                    session.model = manager.sessions().empty().model;
                }
                true
            }
            Event::SettingsChanged => {
                self.take_settings(view);
                true
            }
            Event::Notice(failure) => {
                tell(sender, Output::Note(words::notice(failure)));
                false
            }
            _ => false,
        }
    }

    /// Brings title, dropdowns, buttons and pages into line with the state.
    pub(super) fn show_state(&mut self, view: &View, sender: &ComponentSender<Self>) {
        let shown = &self.shown;
        let title = match shown {
            Shown::New(_) => gettext("New Chat"),
            Shown::Opening(_) => String::new(),
            Shown::Open(_) => shown.title().unwrap_or_default().to_owned(),
        };
        if !matches!(shown, Shown::Opening(_)) {
            tell(sender, Output::Titled(title));
        }
        self.model.show(&self.shown);
        self.project.show(&self.shown);
        if !self.shown.is_opening() {
            self.show_chips(view);
            let searches = self.settings().is_some_and(|settings| settings.tools.search.is_some());
            let needs_tools = self.shown.project().is_some() || searches;
            let capabilities = self.model.capabilities(self.shown.model());
            let note = (needs_tools && capabilities.tools == Some(false))
                .then(|| gettext("This model cannot use tools"));
            view.composer.set_note(note.as_deref());
        }
        view.composer.set_busy(self.shown.is_busy());
        view.composer.set_hindrance(self.hindrance());
        self.hint.show(&self.shown, view.conversation.last_error().as_ref());
        let is_ready = self.shown.is_planning() && view.conversation.ends_with_reply();
        if self.plan.show_ready(is_ready) {
            view.composer.focus();
        }
        self.show_review();
        if self.meter.show(&self.shown) {
            view.composer.focus();
        }
        self.show_page(view);
    }

    pub(super) fn take_settings(&mut self, view: &View) {
        let Some(settings) = self.settings() else { return };
        view.composer.set_enter_sends(settings.ui.enter_sends);
        self.model.take_settings(&settings);
        // A new chat in sight follows them, as long as nothing else was chosen for it.
        let before = std::mem::replace(&mut self.default_mode, settings.permissions.mode);
        if let Shown::New(session) = &mut self.shown
            && session.mode == before
        {
            session.mode = self.default_mode;
        }
    }

    /// Why nothing can be sent now.
    fn hindrance(&self) -> Option<String> {
        if self.manager.is_none() {
            return Some(gettext("Natter is still starting"));
        }
        match &self.shown {
            shown if shown.is_in_use() => Some(hint_bar::in_use()),
            shown if shown.model().is_none() => Some(gettext("Choose a model first")),
            _ => None,
        }
    }

    fn show_page(&mut self, view: &View) {
        let chat = matches!(self.shown, Shown::New(_)).then(|| NewChat {
            chosen: self.shown.model().cloned(),
            thinks: self.model.capabilities(self.shown.model()).thinking == Some(true),
            first_run: !self.has_chats,
            codes: self.shown.project().is_some() && self.panel() == Some(EDITOR_PANEL),
        });
        let page = match (&chat, &self.manager) {
            (None, _) => Page::Conversation,
            (Some(_), None) => Page::Blank,
            (Some(_), Some(_)) => Page::Start,
        };
        if self.start.show(chat) {
            view.composer.focus();
        }
        view.show_page(page);
    }

    /// Notes when text came and when it was painted.
    fn measure(&self, events: &[Event], view: &View) {
        if !self.diagnostics.is_on() {
            return;
        }
        let Some(fid) = self.shown.fid() else { return };
        let is_text = |event: &Event| {
            matches!(event, Event::Session { event: SessionEvent::TextAdded { .. }, .. })
        };
        let text = events.iter().any(is_text);
        let ended = events.iter().any(|event| matches!(event, Event::RequestFinished { .. }));
        if text {
            self.diagnostics.reply(fid.as_str(), Moment::FirstByte);
        }
        if ended {
            self.diagnostics.reply(fid.as_str(), Moment::LastByte);
        }
        if !text && !ended {
            return;
        }
        let diagnostics = self.diagnostics.clone();
        let fid = fid.clone();
        paint::after_next(&view.stack, move || {
            if text {
                diagnostics.reply(fid.as_str(), Moment::FirstPaint);
            }
            if ended {
                diagnostics.reply(fid.as_str(), Moment::LastPaint);
            }
        });
    }
}

/// A chat is not there any more. By the time that it is heard another may be shown.
fn gone(fid: &Fid) -> Input {
    Input::Part(Part(FrameMsg::Gone(fid.clone())))
}
