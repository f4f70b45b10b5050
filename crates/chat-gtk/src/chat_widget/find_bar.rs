//! Shows the bar above the conversation in which a person looks for words: the entry, how many places
//! there are, and the buttons that go from one to the next. Brings what a chat was opened for into sight.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::{ApprovalId, Fid, MessageId};
use chat_presentation::words::{self, fill};
use gettextrs::{gettext, ngettext};
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages::{self, Find};
use crate::accessible;
use crate::conversation::{Conversation, SearchStatus};

/// The widest that the bar's contents become, in pixels.
const WIDEST: i32 = 520;

/// What a chat is opened for.
#[derive(Debug)]
pub(super) enum Target {
    /// These words of a message.
    Words(MessageId, String),
    /// This approval request, or the newest that waits.
    Ask(Option<ApprovalId>),
    /// The call that is about this agent.
    Agent(Fid),
}

/// What the person does with the bar, and what its work brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// It was closed, and what had the keyboard before is gone.
    Closed,
    /// The branch is shown that has these words, or was before, or could not be.
    BranchShown { fid: Fid, message: MessageId, words: String, result: Result<bool> },
}

/// What the bar wants of others.
#[derive(Debug)]
pub(super) enum Output {
    /// The keyboard is to go somewhere.
    KeyboardLost,
    /// This chat shows another branch: it is to be read again.
    BranchChanged(Fid),
}

/// The bar of the chat that is shown.
pub(super) struct FindBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    conversation: Conversation,
    bar: Rc<Widgets>,
    /// The chat that is shown, or being read.
    fid: Option<Fid>,
    /// What is to be found in it.
    target: Option<Target>,
}

impl FindBar {
    /// A closed bar.
    pub(super) fn new(conversation: &Conversation, handle: Handle<Msg>) -> Self {
        let closed = handle.callback(|()| Msg::Closed);
        Self {
            bar: Widgets::new(conversation, move || closed(())),
            conversation: conversation.clone(),
            handle,
            manager: None,
            fid: None,
            target: None,
        }
    }

    pub(super) fn widget(&self) -> &gtk::SearchBar {
        &self.bar.bar
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Another chat is shown, or being read.
    pub(super) fn leave_for(&mut self, fid: Option<Fid>) {
        self.fid = fid;
        self.target = None;
        self.bar.close();
    }

    /// Opens the bar, or goes from one place to the next.
    pub(super) fn act(&self, find: Find) {
        match find {
            Find::Open => self.bar.open(),
            Find::Next => self.bar.step(true),
            Find::Previous => self.bar.step(false),
        }
    }

    /// Whether the bar is open.
    pub(super) fn is_open(&self) -> bool {
        self.bar.bar.is_search_mode()
    }

    /// Closes the bar. The focus stays where it is.
    pub(super) fn close(&self) {
        self.bar.close();
    }

    /// Says how far the search is.
    pub(super) fn show(&self, status: SearchStatus) {
        self.bar.show(status);
    }

    /// Looks again for what the bar says, if it is open: the chat was read again.
    pub(super) fn find_again(&self) {
        self.bar.find_again();
    }

    /// This is to be found in the chat.
    pub(super) fn set_target(&mut self, target: Target) {
        self.target = Some(target);
    }

    /// The chat could not be read: nothing is to be found in it.
    pub(super) fn forget_target(&mut self) {
        self.target = None;
    }

    /// Brings what is to be found into sight, now that the chat is there. Whether anything is.
    pub(super) fn show_target(&mut self) -> bool {
        let Some(target) = self.target.take() else { return false };
        match target {
            Target::Words(message, words) if self.conversation.has(message) => {
                self.bar.open_at(&words, message);
            }
            Target::Words(message, words) => self.show_branch(message, words),
            Target::Ask(wanted) if !self.conversation.focus_ask(wanted) => {
                self.handle.output(messages::Output::NothingAsked);
            }
            Target::Ask(_) => {}
            Target::Agent(agent) => drop(self.conversation.agents().go_to(&agent)),
        }
        true
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        match msg {
            Msg::Closed => Some(Output::KeyboardLost),
            Msg::BranchShown { fid, .. } if self.fid.as_ref() != Some(&fid) => None,
            // It is read again, and then the words are there.
            Msg::BranchShown { fid, message, words, result: Ok(true) } => {
                self.target = Some(Target::Words(message, words));
                Some(Output::BranchChanged(fid))
            }
            Msg::BranchShown { message, words, result, .. } => {
                if let Err(error) = result {
                    self.handle.output(messages::Output::Note(words::sentence(&error)));
                }
                self.bar.open_at(&words, message);
                None
            }
        }
    }

    /// Has the branch shown that this message is in: it is not among those that are loaded.
    fn show_branch(&self, message: MessageId, words: String) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.fid.clone()) else { return };
        self.handle.spawn(async move {
            let result = manager.messages().show_branch(&fid, message).await;
            Msg::BranchShown { fid, message, words, result }
        });
    }
}

/// The widgets.
struct Widgets {
    bar: gtk::SearchBar,
    entry: gtk::SearchEntry,
    count: gtk::Label,
    steps: [gtk::Button; 2],
    close: gtk::Button,
    conversation: Conversation,
    /// What had the focus when the bar was opened.
    before: glib::WeakRef<gtk::Widget>,
    /// What was looked for last: GTK empties the entry when the bar is closed.
    last: RefCell<String>,
    /// The entry's text is being set, and not by the person.
    filling: Cell<bool>,
}

impl Widgets {
    /// A closed bar. `closed` is called when the person closes it, and what had the focus is gone.
    fn new(conversation: &Conversation, closed: impl Fn() + 'static) -> Rc<Self> {
        let entry = gtk::SearchEntry::builder()
            .placeholder_text(gettext("Find in this chat"))
            .hexpand(true)
            .width_chars(8)
            .build();
        accessible::set_label(&entry, &gettext("Find in Chat"));
        let count = gtk::Label::builder().css_classes(["dim-label", "numeric"]).build();
        let steps = [
            step_button("go-up-symbolic", &gettext("Previous Match (Shift+Enter)")),
            step_button("go-down-symbolic", &gettext("Next Match (Enter)")),
        ];
        accessible::set_label(&steps[0], &gettext("Previous Match"));
        accessible::set_label(&steps[1], &gettext("Next Match"));
        let line = gtk::Box::builder().spacing(6).build();
        line.append(&entry);
        line.append(&count);
        for button in &steps {
            line.append(button);
        }
        let close = step_button("window-close-symbolic", &gettext("Close (Esc)"));
        accessible::set_label(&close, &gettext("Close Find Bar"));
        line.append(&close);
        let clamp = adw::Clamp::builder().maximum_size(WIDEST).child(&line).hexpand(true).build();
        let bar = gtk::SearchBar::builder().child(&clamp).css_classes(["find-bar"]).build();
        bar.connect_entry(&entry);
        let find = Rc::new(Self {
            bar,
            entry,
            count,
            steps,
            close,
            conversation: conversation.clone(),
            before: glib::WeakRef::new(),
            last: RefCell::default(),
            filling: Cell::default(),
        });
        find.show(SearchStatus::default());
        find.connect(closed);
        find
    }

    fn connect(self: &Rc<Self>, closed: impl Fn() + 'static) {
        let weak = Rc::downgrade(self);
        self.entry.connect_changed(move |entry| {
            if let Some(find) = weak.upgrade().filter(|find| find.is_typed_in()) {
                entry.text().as_str().clone_into(&mut find.last.borrow_mut());
                find.conversation.find(&entry.text());
                find.show(SearchStatus { searching: true, ..SearchStatus::default() });
            }
        });
        let weak = Rc::downgrade(self);
        self.entry.connect_activate(move |_| {
            if let Some(find) = weak.upgrade() {
                find.step(true);
            }
        });
        for (button, forward) in self.steps.iter().zip([false, true]) {
            let weak = Rc::downgrade(self);
            button.connect_clicked(move |_| {
                if let Some(find) = weak.upgrade() {
                    find.step(forward);
                }
            });
        }
        let bar = self.bar.downgrade();
        self.close.connect_clicked(move |_| {
            if let Some(bar) = bar.upgrade() {
                bar.set_search_mode(false);
            }
        });
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let Some(find) = weak.upgrade() else { return glib::Propagation::Proceed };
            let enters = matches!(key, gdk::Key::Return | gdk::Key::KP_Enter | gdk::Key::ISO_Enter);
            if key == gdk::Key::Escape {
                find.bar.set_search_mode(false);
            } else if enters && modifiers.contains(gdk::ModifierType::SHIFT_MASK) {
                find.step(false);
            } else {
                return glib::Propagation::Proceed;
            }
            glib::Propagation::Stop
        });
        self.bar.add_controller(keys);
        let weak = Rc::downgrade(self);
        self.bar.connect_search_mode_enabled_notify(move |bar| {
            if let Some(find) = weak.upgrade().filter(|_| !bar.is_search_mode()) {
                find.conversation.find("");
                match find.before.upgrade().filter(gtk::Widget::is_mapped) {
                    Some(before) => drop(before.grab_focus()),
                    None => closed(),
                }
            }
        });
    }

    /// Opens the bar and puts the cursor there, all of what it says chosen.
    fn open(&self) {
        if !self.bar.is_search_mode() {
            self.before.set(self.focus().as_ref());
            self.bar.set_search_mode(true);
            self.fill(&self.last.borrow());
            self.find_again();
        }
        self.entry.grab_focus();
        self.entry.select_region(0, -1);
    }

    /// Opens the bar with these words, found in this message. The focus stays where it is.
    fn open_at(&self, words: &str, message: MessageId) {
        let focus = self.focus();
        self.before.set(focus.as_ref());
        self.bar.set_search_mode(true);
        self.fill(words);
        words.clone_into(&mut self.last.borrow_mut());
        if let Some(focus) = focus {
            focus.grab_focus();
        }
        self.conversation.find_in(words, message);
    }

    /// Closes the bar. The focus stays where it is.
    fn close(&self) {
        if self.bar.is_search_mode() {
            let focus = self.focus();
            self.before.set(focus.as_ref());
            self.bar.set_search_mode(false);
        }
    }

    /// Looks again for what the bar says, if it is open: the chat was read again.
    fn find_again(&self) {
        if self.bar.is_search_mode() {
            self.conversation.find(&self.entry.text());
        }
    }

    /// Goes to the next place, or the one before; opens the bar if it is closed.
    fn step(&self, forward: bool) {
        if self.bar.is_search_mode() {
            self.conversation.find_next(forward);
        } else {
            self.open();
        }
    }

    /// Says how far the search is.
    fn show(&self, status: SearchStatus) {
        let SearchStatus { current, total, searching } = status;
        let looks = !self.entry.text().trim().is_empty();
        let total_words = total.to_string();
        let mut words = match current {
            Some(current) => {
                let place = [("place", current.to_string()), ("total", total_words)];
                let place: Vec<_> = place.iter().map(|(name, n)| (*name, n.as_str())).collect();
                fill(&gettext("{place} of {total}"), &place)
            }
            None if total > 0 => {
                let count = u32::try_from(total).unwrap_or(u32::MAX);
                let text = ngettext("{total} found", "{total} found", count);
                fill(&text, &[("total", &total_words)])
            }
            None if looks && !searching => gettext("Not found"),
            None => String::new(),
        };
        if searching && total > 0 {
            words.push('…');
        }
        self.count.set_text(&words);
        self.count.set_visible(!words.is_empty());
        for button in &self.steps {
            button.set_sensitive(total > 0);
        }
        if looks && total == 0 && !searching {
            self.entry.add_css_class("error");
        } else {
            self.entry.remove_css_class("error");
        }
    }

    /// Whether the person changes the entry.
    fn is_typed_in(&self) -> bool {
        self.bar.is_search_mode() && !self.filling.get()
    }

    /// Sets the entry's text.
    fn fill(&self, words: &str) {
        self.filling.set(true);
        self.entry.set_text(words);
        self.filling.set(false);
    }

    fn focus(&self) -> Option<gtk::Widget> {
        self.bar.root().and_then(|root| root.focus())
    }
}

fn step_button(icon: &str, name: &str) -> gtk::Button {
    gtk::Button::builder().icon_name(icon).tooltip_text(name).css_classes(["flat"]).build()
}
