//! Takes what the engine tells, and has the parts of the chat show it.

use std::sync::Arc;

use chat_core::agent::EDITOR_PANEL;
use chat_core::error::{Kind, Result};
use chat_core::event::{Event, SessionEvent, Snapshot};
use chat_core::manager::Manager;
use chat_core::message::{Fid, ModelRef};
use chat_core::models::CONNECTION;
use chat_presentation::diagnostics::{Diagnostics, Moment};
use chat_presentation::words;
use gettextrs::gettext;

use super::reading_positions::MOST_OPENED;
use super::requests::{note, panel};
use super::shown_chat::ShownChat;
use super::start_page::NewChat;
use super::view::Page;
use super::{ChatWidget, FrameMsg, Output, PAGE};
use crate::bridge::about;
use crate::{appearance, paint};

/// Where too few messages were opened, so many times as many are.
const MORE: usize = 4;

/// Whether this is a model of this computer that is not there any more.
fn was_removed(model: &ModelRef, manager: &Manager) -> bool {
    model.connection == CONNECTION
        && !manager.models().list().iter().any(|entry| entry.model == *model)
}

impl ChatWidget {
    /// A chat was read, or could not be.
    pub(super) fn opened(&mut self, fid: &Fid, result: Result<Box<Snapshot>>) {
        if self.shown.fid() != Some(fid) {
            return;
        }
        match result {
            Ok(snapshot) if self.is_cut(&snapshot) => {
                self.open_last(fid.clone(), MORE * snapshot.messages.len());
            }
            Ok(snapshot) => {
                // What another program writes is read again again and again.
                let open = matches!(&self.shown, ShownChat::Open(session) if session.fid == *fid);
                let renewed = open && self.conversation.renew(&snapshot);
                // What waits for an answer stands at the end.
                let place = self.reading.get(fid).filter(|_| !open && snapshot.asks.is_empty());
                match place {
                    _ if renewed => {}
                    Some(place) => self.conversation.show_at(&snapshot, place),
                    None => self.conversation.show(&snapshot),
                }
                self.show_work();
                let Snapshot { session, .. } = *snapshot;
                // What is new stands at the end: until the person comes there it is not seen.
                if session.unread && self.conversation.is_at_end() {
                    self.requests.mark_read(fid.clone());
                }
                if !open {
                    self.agents.open(&session);
                }
                self.shown = ShownChat::Open(session);
                self.give_model();
                self.show_review();
                self.review.look();
                self.requests.find_siblings(fid.clone());
                self.diagnostics.mark("chat");
                measure_switch(&self.diagnostics, fid, self.layout.root());
                if let Some(folder) = self.project.take_wanted(fid) {
                    self.set_project(Some(folder));
                }
                self.show_state();
                self.send_next();
                if !self.find.show_target() && !renewed {
                    self.find.find_again();
                }
            }
            Err(error) => {
                self.find.forget_target();
                self.composer.give_back_waiting(None);
                let missing = matches!(error.kind, Kind::SessionNotFound { .. });
                if !(missing && self.recalled.as_ref() == Some(fid)) {
                    self.handle.output(note(&error));
                }
                self.handle.send(FrameMsg::Gone(fid.clone()));
            }
        }
    }

    /// Shows what goes along with the message besides what is pinned to it.
    pub(super) fn show_chips(&self) {
        self.composer.field().set_chips(self.editor_context.chips(self.shown.project()));
    }

    /// Reads a chat again.
    pub(super) fn read_again(&self, fid: Fid) {
        // The other version of a message may be followed by as much.
        self.open_last(fid, PAGE.max(self.conversation.below_switch() + PAGE / 2));
    }

    /// Opens so many of a chat's last messages.
    fn open_last(&self, fid: Fid, count: usize) {
        if let Some(bridge) = &self.bridge {
            bridge.open(fid, count.min(MOST_OPENED));
        }
    }

    /// Whether what was read begins after the version that is to be shown, and more can be opened.
    fn is_cut(&self, snapshot: &Snapshot) -> bool {
        snapshot.messages.len() < MOST_OPENED && self.conversation.begins_after_version(snapshot)
    }

    /// Takes a batch: one update of everything that it touches.
    pub(super) fn apply(&mut self, mut events: Vec<Event>) {
        self.agents.take(&events);
        let mut state_changed = false;
        for event in &events {
            state_changed |= self.take(event);
        }
        if matches!(self.shown, ShownChat::Open(_)) {
            events.retain(|event| about(event).is_some_and(|fid| self.shown.fid() == Some(fid)));
            if !events.is_empty() {
                self.conversation.apply(&events);
                let about_work = |event: &Event| {
                    let Event::Session { event, .. } = event else { return false };
                    matches!(
                        event,
                        SessionEvent::TodosChanged { .. } | SessionEvent::CommandsChanged { .. }
                    )
                };
                if events.iter().any(about_work) {
                    self.show_work();
                }
                if let Some(fid) = self.shown.fid() {
                    measure(&self.diagnostics, fid, &events, self.layout.root());
                }
            }
        }
        if state_changed {
            self.show_state();
        }
    }

    /// Shows the session's plan, and what runs in its background.
    pub(super) fn show_work(&mut self) {
        self.plan.show(&self.conversation.todos());
        let (fid, commands) = (self.conversation.session(), self.conversation.commands());
        if self.background.show(fid, &commands) {
            self.composer.field().focus();
        }
    }

    /// Has the review be of the chat that is shown.
    pub(super) fn show_review(&mut self) {
        let has_project =
            matches!(&self.shown, ShownChat::Open(session) if session.project.is_some());
        self.review.show(self.shown.fid(), has_project);
    }

    /// Takes what an event says about more than the conversation's text.
    fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::SessionChanged(changed) => {
                if let ShownChat::Open(session) = &mut self.shown
                    && session.fid == changed.fid
                {
                    session.clone_from(changed);
                    self.conversation.set_project(changed.project.is_some());
                    self.session_changes.keep(session);
                    self.give_model();
                    return true;
                }
                false
            }
            Event::SessionRemoved { fid } => {
                self.handle.send(FrameMsg::Gone(fid.clone()));
                false
            }
            Event::Session { fid, event, .. } if self.shown.fid() == Some(fid) => {
                match event {
                    SessionEvent::Reset => self.read_again(fid.clone()),
                    SessionEvent::FilesChanged => {
                        self.show_review();
                        self.review.look();
                    }
                    SessionEvent::ContextUsageChanged { usage } => {
                        let lost = self.meter.changed(fid, usage);
                        if lost {
                            self.composer.field().focus();
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
            Event::ToolsChanged => {
                if let Some(manager) = &self.manager {
                    self.conversation.set_tools(manager.tools());
                }
                false
            }
            Event::ModelsChanged | Event::ConnectionsChanged | Event::AgentKindsChanged => {
                if matches!(event, Event::ModelsChanged) {
                    self.start.look_at_stock();
                }
                self.model.take_models();
                if let (ShownChat::New(session), Some(manager)) = (&mut self.shown, &self.manager)
                    && session.model.as_ref().is_none_or(|model| was_removed(model, manager))
                {
                    session.model = manager.sessions().empty().model;
                }
                self.give_model();
                true
            }
            Event::DefinitionsChanged { .. } => {
                self.commands.read();
                false
            }
            Event::SettingsChanged => {
                self.take_settings();
                true
            }
            Event::Notice(failure) => {
                self.handle.output(Output::Note(words::notice(failure)));
                false
            }
            _ => false,
        }
    }

    fn give_model(&mut self) {
        if let Some(manager) = &self.manager {
            self.shown.give_model(|| manager.sessions().empty().model);
        }
    }

    /// Brings title, dropdowns, buttons and pages into line with the state.
    pub(super) fn show_state(&mut self) {
        if let Some(title) = self.shown.title() {
            self.handle.output(Output::Titled(title));
        }
        self.agents.show(&self.shown);
        self.model.show(&self.shown);
        self.conversation.set_kinds(self.model.other_agents(&self.shown));
        self.project.show(&self.shown);
        if !self.shown.is_opening() {
            // What another project brings is not said of this one.
            if self.commands.show(self.shown.project()) && self.definitions.show(Arc::default()) {
                self.composer.field().focus();
            }
            if self.servers.show(self.shown.project()) {
                self.composer.field().focus();
            }
            self.show_chips();
            let settings = self.manager.as_ref().map(|manager| manager.settings().current());
            let searches = settings.is_some_and(|settings| settings.tools.search.is_some());
            let needs_tools = self.shown.project().is_some() || searches;
            let capabilities = self.model.capabilities(self.shown.model());
            let note = (needs_tools && capabilities.tools == Some(false))
                .then(|| gettext("This model can’t use tools"));
            self.composer.field().set_note(note.as_deref());
        }
        self.composer.field().set_busy(self.shown.is_busy());
        let hindrance = match &self.manager {
            None => Some(gettext("Natter is still starting")),
            Some(_) => self.shown.hindrance(),
        };
        self.composer.field().set_hindrance(hindrance);
        self.show_hint();
        if self.plan.show_ready(&self.shown, self.conversation.last_plan()) {
            self.composer.field().focus();
        }
        self.show_review();
        if self.meter.show(&self.shown) {
            self.composer.field().focus();
        }
        self.show_page();
    }

    /// Says what the user must know before they write.
    pub(super) fn show_hint(&self) {
        let has_pictures = self.composer.field().has_pictures();
        let no_vision = self.model.no_vision(&self.shown).filter(|_| has_pictures);
        self.hint.show(&self.shown, self.conversation.last_error().as_ref(), no_vision);
    }

    pub(super) fn take_settings(&mut self) {
        let Some(manager) = &self.manager else { return };
        let settings = manager.settings().current();
        self.composer.field().set_enter_sends(settings.ui.enter_sends);
        self.conversation.set_enter_sends(settings.ui.enter_sends);
        self.composer.field().set_while_busy(settings.chat.while_busy);
        self.model.take_settings(&settings);
        let (zoom, width) = (settings.ui.zoom, appearance::column_width(&settings.ui));
        // All that is shown is measured again, which most changes of settings are no reason for.
        if self.sizes.replace((zoom, width)) != Some((zoom, width)) {
            if let Some(display) = gtk::gdk::Display::default() {
                appearance::set_zoom(&display, zoom);
            }
            self.conversation.set_width(width);
            self.layout.set_width(width);
        }
        // A new chat in sight follows them, as long as nothing else was chosen for it.
        let before = std::mem::replace(&mut self.default_mode, settings.permissions.mode);
        if let ShownChat::New(session) = &mut self.shown
            && session.mode == before
        {
            session.mode = self.default_mode;
        }
    }

    fn show_page(&mut self) {
        let chat = matches!(self.shown, ShownChat::New(_)).then(|| NewChat {
            chosen: self.shown.model().cloned(),
            thinks: self.model.capabilities(self.shown.model()).thinking == Some(true),
            first_run: !self.has_chats,
            codes: self.shown.project().is_some()
                && panel(self.manager.as_ref(), &self.shown) == Some(EDITOR_PANEL),
        });
        let page = match (&chat, &self.manager) {
            (None, _) => Page::Conversation,
            (Some(_), None) => Page::Blank,
            (Some(_), Some(_)) => Page::Start,
        };
        // Suggestions fit above a centered composer; the list of models needs all the space.
        let centred = match page {
            Page::Start => chat.as_ref().is_some_and(NewChat::can_begin),
            Page::Blank => self.has_chats && self.wanted.is_none(),
            Page::Conversation => false,
        };
        if self.start.show(chat) {
            self.composer.field().focus();
        }
        self.layout.show_page(page, centred);
    }
}

/// Notes when a chat or a branch to which the user switched was painted.
fn measure_switch(diagnostics: &Diagnostics, fid: &Fid, painted: &gtk::Box) {
    if !diagnostics.is_on() {
        return;
    }
    let (diagnostics, fid) = (diagnostics.clone(), fid.clone());
    paint::after_next(painted, move || diagnostics.switch_painted(fid.as_str()));
}

/// Notes when text came and when it was painted.
fn measure(diagnostics: &Diagnostics, fid: &Fid, events: &[Event], painted: &gtk::Box) {
    if !diagnostics.is_on() {
        return;
    }
    let is_text = |event: &Event| {
        matches!(event, Event::Session { event: SessionEvent::TextAdded { .. }, .. })
    };
    let text = events.iter().any(is_text);
    let ended = events.iter().any(|event| matches!(event, Event::RequestFinished { .. }));
    if text {
        diagnostics.reply(fid.as_str(), Moment::FirstByte);
    }
    if ended {
        diagnostics.reply(fid.as_str(), Moment::LastByte);
    }
    if !text && !ended {
        return;
    }
    let diagnostics = diagnostics.clone();
    let fid = fid.clone();
    paint::after_next(painted, move || {
        if text {
            diagnostics.reply(fid.as_str(), Moment::FirstPaint);
        }
        if ended {
            diagnostics.reply(fid.as_str(), Moment::LastPaint);
        }
    });
}
