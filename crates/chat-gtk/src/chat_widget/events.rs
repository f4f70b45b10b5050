//! What the engine tells, and how it shows.

use chat_core::agent::EDITOR_PANEL;
use chat_core::client::Capabilities;
use chat_core::error::{Kind, Result};
use chat_core::event::{Event, Health, SessionEvent, Snapshot};
use chat_core::manager::Manager;
use chat_core::message::{Fid, MessageId, ModelRef};
use chat_core::models::CONNECTION;
use chat_core::store;
use chat_edge::diagnostics::Moment;
use chat_edge::words;
use gettextrs::gettext;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::hint::{self, Hint};
use super::local::Local;
use super::requests::note;
use super::shown::Shown;
use super::start_page::{self, StartPage};
use super::view::{Page, View};
use super::{ChatWidget, Input, Output, PAGE, Part, Told, tell};
use crate::bridge::about;
use crate::{choices, paint};

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
                view.show_work();
                let Snapshot { session, .. } = *snapshot;
                // What is new stands at the end: until the person comes there it is not seen.
                if session.unread && view.conversation.is_at_end() {
                    self.mark_read(sender);
                }
                self.shown = Shown::Open(session);
                self.look_at_changes(view, sender);
                self.ask_siblings(sender);
                self.diagnostics.mark("chat");
                self.take_wanted_project(view, sender);
                self.show_state(view, sender);
                self.send_next(sender);
                if self.sought.is_some() {
                    self.show_sought(view, sender);
                } else if !renewed {
                    view.find.find_again();
                }
            }
            Err(error) => {
                self.sought = None;
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
                    view.show_work();
                }
                self.measure(&events, view);
            }
        }
        if state_changed {
            self.show_state(view, sender);
        }
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
                    self.changes.keep(session);
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
                    SessionEvent::Reset => {
                        if let Some(bridge) = &self.bridge {
                            bridge.open(fid.clone(), PAGE);
                        }
                    }
                    SessionEvent::FilesChanged => self.look_at_changes(view, sender),
                    SessionEvent::ContextUsageChanged { usage } => {
                        self.meter_changed(fid, usage, view);
                    }
                    _ => {}
                }
                false
            }
            Event::DownloadsChanged => {
                self.look_at_stock(sender);
                false
            }
            Event::ModelsChanged | Event::ConnectionsChanged | Event::AgentsChanged => {
                if matches!(event, Event::ModelsChanged) {
                    self.look_at_stock(sender);
                }
                self.take_models(view);
                if let (Shown::New(session), Some(manager)) = (&mut self.shown, &self.manager)
                    && session.model.as_ref().is_none_or(|model| was_removed(model, manager))
                {
                    session.model = manager.sessions().empty().model;
                }
                true
            }
            Event::SettingsChanged => {
                self.take_settings(view);
                self.take_default_mode();
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
        let capabilities = self.known_capabilities();
        let title = match shown {
            Shown::New(_) => gettext("New Chat"),
            Shown::Opening(_) => String::new(),
            Shown::Open(_) => shown.title().unwrap_or_default().to_owned(),
        };
        if !matches!(shown, Shown::Opening(_)) {
            tell(sender, Output::Titled(title));
            view.model.set_chosen(shown.model().cloned(), &shown.options(), capabilities);
            view.thinking.show(&shown.thinking());
        }
        if let Some(manager) = &self.manager {
            choices::set_agents(&view.agents, &manager.agents().list(), shown.agent());
        }
        view.thinking.widget().set_visible(capabilities.thinking != Some(false));
        if capabilities.thinking.is_none() && shown.model().is_some() {
            let model = shown.model().cloned();
            if model != view.asked.replace(model.clone()) {
                self.ask_capabilities(sender);
            }
        }
        self.show_project(view);
        self.learn_bounds(view, sender);
        view.composer.set_busy(shown.is_busy());
        view.composer.set_hindrance(self.hindrance());
        self.show_hint(view);
        self.show_plan_ready(view);
        self.look_at_meter(view, sender);
        self.show_page(view, sender);
        self.tell_project(view, sender);
    }

    pub(super) fn take_settings(&self, view: &View) {
        if let Some(settings) = self.settings() {
            view.composer.set_enter_sends(settings.ui.enter_sends);
            view.model.set_favourites(&settings.ui.favourites);
        }
    }

    pub(super) fn take_models(&self, view: &View) {
        if let Some(manager) = &self.manager {
            view.model.set_models(manager.models().list());
        }
    }

    pub(super) fn known_capabilities(&self) -> Capabilities {
        let Some(model) = self.shown.model() else { return Capabilities::default() };
        if let Some(known) = self.capabilities.get(model) {
            return *known;
        }
        let models =
            self.manager.as_ref().map(|manager| manager.models().list()).unwrap_or_default();
        let entry = models.iter().find(|entry| entry.model == *model);
        entry.map(|entry| entry.info.capabilities).unwrap_or_default()
    }

    /// Why nothing can be sent now.
    fn hindrance(&self) -> Option<String> {
        if self.manager.is_none() {
            return Some(gettext("Natter is still starting"));
        }
        match &self.shown {
            shown if shown.is_in_use() => Some(hint::in_use()),
            shown if shown.model().is_none() => Some(gettext("Choose a model first")),
            _ => None,
        }
    }

    /// Says above the composer what a person must know before they write: that another program
    /// writes the chat, or that its server does not answer.
    fn show_hint(&self, view: &View) {
        let name = self.shown.model().map(|model| model.connection.as_str());
        let states =
            self.manager.as_ref().map(|manager| manager.connections().list()).unwrap_or_default();
        let state = name.map(|name| states.iter().find(|s| s.connection.name == name));
        let words = match (state, self.shown.is_busy()) {
            (Some(Some(state)), false) => match &state.health {
                Health::Failed(error) => Some(words::sentence(error)),
                Health::Checking | Health::Ready { .. } => None,
            },
            // A connection that is not there: the engine may still be looking for it.
            _ => None,
        };
        let said = view.conversation.last_error().filter(|_| matches!(self.shown, Shown::Open(_)));
        let said = said.as_ref().map(words::sentence);
        let known = self.manager.as_ref().is_some_and(|m| m.settings().current().ui.tiny_is_known);
        let model = self.shown.model().filter(|model| !(known && hint::is_tiny(model)));
        view.show_hint(Hint::of(self.shown.is_in_use(), words, said.as_deref(), model));
    }

    fn show_page(&self, view: &View, sender: &ComponentSender<Self>) {
        view.look_out(self.has_nobody(), sender);
        if !matches!(self.shown, Shown::New(_)) {
            view.show_page(Page::Conversation);
            return;
        }
        let Some(manager) = &self.manager else {
            view.show_page(Page::Blank);
            return;
        };
        let local = self.local.as_ref().map(Local::standing);
        let page = StartPage {
            connections: manager.connections().list(),
            models: manager.models().list(),
            local,
            chosen: self.shown.model().cloned(),
            thinks: self.known_capabilities().thinking == Some(true),
            first_run: !self.has_chats,
            codes: self.shown.project().is_some() && self.panel() == Some(EDITOR_PANEL),
        };
        if view.start.borrow().as_ref() != Some(&page) {
            let fetch = self.local.as_ref().and_then(Local::fetch);
            let had_keyboard = view.start_has_keyboard();
            view.show_start(&start_page::build(&page, fetch, sender));
            if had_keyboard {
                // Who waits for a download stays there; everybody else can write at once.
                let stays = fetch.is_some_and(|fetch| fetch.widget().grab_focus());
                if !stays {
                    view.composer.focus();
                }
            }
            view.start.replace(Some(page));
        }
        view.show_page(Page::Start);
    }

    /// Whether a new chat is shown that no server answers.
    fn has_nobody(&self) -> bool {
        let Some(manager) = &self.manager else { return false };
        matches!(self.shown, Shown::New(_)) && manager.models().list().is_empty()
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
    Input::Part(Part(Told::Gone(fid.clone())))
}
