//! Keeps the deletions that can be undone, of chats and of messages, for as long as the window is
//! there. Each is offered in a toast at first; Ctrl+Z undoes the latest one.

mod edited_texts;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::message::{DeletedMessages, Fid};
use chat_presentation::words;
use edited_texts::EditedTexts;
use gettextrs::{gettext, ngettext};
use gtk::{gdk, glib};

use super::toasts::{self, ToastArea};
use crate::chat_list::DeletedChat;
use crate::chat_widget::DeletedInChat;

/// How long a toast offers to undo a deletion, in seconds.
const OFFER: u32 = 10;

/// What one undo brings back.
#[derive(Clone, Debug)]
pub(crate) enum Deleted {
    /// Chats that were deleted one right after the other.
    Chats(Vec<Fid>),
    /// Messages of a chat.
    Messages(DeletedInChat),
}

/// The deletions that can be undone. Cheap to clone.
#[derive(Clone)]
pub(super) struct Deletions {
    inner: Rc<Inner>,
}

struct Inner {
    toasts: ToastArea,
    /// Brings back what was deleted.
    undo: Box<dyn Fn(Deleted)>,
    /// The oldest first.
    steps: RefCell<Vec<Step>>,
    /// How many there have been.
    count: Cell<u64>,
    texts: EditedTexts,
}

#[derive(Debug)]
struct Step {
    number: u64,
    deleted: Deleted,
    /// How many agents were deleted with it.
    agents: u32,
    /// What offers to undo it, while that is shown or waits for its turn.
    toast: Option<adw::Toast>,
}

impl std::fmt::Debug for Deletions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Deletions")
            .field("steps", &self.inner.steps)
            .finish_non_exhaustive()
    }
}

impl Deletions {
    /// `undo` brings back what was deleted.
    pub(super) fn new(toasts: &ToastArea, undo: impl Fn(Deleted) + 'static) -> Self {
        let inner = Inner {
            toasts: toasts.clone(),
            undo: Box::new(undo),
            steps: RefCell::default(),
            count: Cell::default(),
            texts: EditedTexts::default(),
        };
        Self { inner: Rc::new(inner) }
    }

    /// Reports that a chat was deleted. While the toast of chats that were deleted before it is in
    /// sight, one undo brings all of them back.
    pub(super) fn add_chat(&self, chat: &DeletedChat) {
        let (mut chats, mut agents) = self.inner.take_offered_chats();
        chats.push(chat.fid.clone());
        agents = agents.saturating_add(chat.agents);
        let count = u32::try_from(chats.len()).unwrap_or(u32::MAX);
        self.add(Deleted::Chats(chats), agents, &deleted_chats(count, &chat.title, agents), OFFER);
    }

    /// Reports that messages were deleted.
    pub(super) fn add_messages(&self, deleted: DeletedInChat) {
        let words =
            messages(&deleted, |n| ngettext("{n} message deleted", "{n} messages deleted", n));
        self.add(Deleted::Messages(deleted), 0, &words, OFFER);
    }

    /// Reports that messages could not be brought back now. They are offered again until the toast
    /// is closed: nobody knows how long a reply takes that is in the way.
    pub(super) fn put_back(&self, deleted: DeletedInChat, why: &str) {
        let words = gettext("Couldn’t bring the messages back. {reason}");
        let words = words::fill(&words, &[("reason", why)]);
        self.add(Deleted::Messages(deleted), 0, &words, 0);
    }

    /// A chat is there again: there is nothing to undo.
    pub(super) fn forget_chat(&self, fid: &Fid) {
        self.inner.retain(|deleted| {
            let Deleted::Chats(chats) = deleted else { return true };
            chats.retain(|chat| chat != fid);
            !chats.is_empty()
        });
    }

    /// Messages are there again: there is nothing to undo.
    pub(super) fn forget_messages(&self, messages: &DeletedMessages) {
        self.inner.retain(
            |deleted| !matches!(deleted, Deleted::Messages(deleted) if deleted.are(messages)),
        );
    }

    /// Adds a deletion, and offers to undo it for so many seconds; with none, until the toast is
    /// closed.
    fn add(&self, deleted: Deleted, agents: u32, words: &str, seconds: u32) {
        let number = self.inner.count.get() + 1;
        self.inner.count.set(number);
        let toast = toasts::offer(words, &gettext("Undo"), seconds);
        let inner = Rc::downgrade(&self.inner);
        toast.connect_button_clicked(move |_| {
            if let Some(inner) = inner.upgrade() {
                inner.undo(number);
            }
        });
        let inner = Rc::downgrade(&self.inner);
        toast.connect_dismissed(move |_| {
            if let Some(inner) = inner.upgrade() {
                inner.pass(number);
            }
        });
        let step = Step { number, deleted, agents, toast: Some(toast.clone()) };
        self.inner.steps.borrow_mut().push(step);
        self.inner.texts.note_deletion(number);
        self.inner.watch_focus();
        self.inner.toasts.add(toast);
    }

    /// Ctrl+Z undoes the latest deletion wherever the focus is, except in a text that the user has
    /// edited since: there it undoes the edit. Once its toast is gone, the key is also left to
    /// `others`, which has an undo of its own.
    pub(super) fn connect_key(&self, window: &adw::ApplicationWindow, others: &gtk::Widget) {
        let inner = Rc::downgrade(&self.inner);
        window.connect_focus_widget_notify(move |_| {
            if let Some(inner) = inner.upgrade().filter(|inner| !inner.steps.borrow().is_empty()) {
                inner.watch_focus();
            }
        });
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let (inner, weak, others) =
            (Rc::downgrade(&self.inner), window.downgrade(), others.downgrade());
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let held = modifiers & gtk::accelerator_get_default_mod_mask();
            let is_undo = key.to_lower() == gdk::Key::z && held == gdk::ModifierType::CONTROL_MASK;
            let Some(inner) = inner.upgrade().filter(|_| is_undo) else {
                return glib::Propagation::Proceed;
            };
            let focus = weak.upgrade().and_then(|window| gtk::prelude::RootExt::focus(&window));
            match inner.latest_from(focus.as_ref(), others.upgrade().as_ref()) {
                Some(number) => {
                    inner.undo(number);
                    glib::Propagation::Stop
                }
                None => glib::Propagation::Proceed,
            }
        });
        window.add_controller(keys);
    }
}

impl Inner {
    /// The deletion that Ctrl+Z undoes while `focus` has the keyboard, if it undoes one.
    fn latest_from(
        &self,
        focus: Option<&gtk::Widget>,
        others: Option<&gtk::Widget>,
    ) -> Option<u64> {
        let steps = self.steps.borrow();
        let latest = steps.last()?;
        let is_elsewhere = |focus: &gtk::Widget| {
            others.is_some_and(|others| focus == others || focus.is_ancestor(others))
        };
        let is_left = focus.is_some_and(|focus| {
            self.texts.is_edited_since(focus, latest.number)
                || (latest.toast.is_none() && is_elsewhere(focus))
        });
        (!is_left).then_some(latest.number)
    }

    /// Brings back what was deleted then.
    fn undo(&self, number: u64) {
        let step = {
            let mut steps = self.steps.borrow_mut();
            let at = steps.iter().position(|step| step.number == number);
            at.map(|at| steps.remove(at))
        };
        // The button may be pressed twice.
        let Some(step) = step else { return };
        if self.steps.borrow().is_empty() {
            self.texts.clear();
        }
        if let Some(toast) = step.toast {
            self.toasts.dismiss(toast);
        }
        (self.undo)(step.deleted);
    }

    /// The toast of a deletion is gone. Ctrl+Z still undoes it.
    fn pass(&self, number: u64) {
        let mut steps = self.steps.borrow_mut();
        if let Some(step) = steps.iter_mut().find(|step| step.number == number) {
            step.toast = None;
        }
    }

    /// Forgets deletions, and takes back what offers to undo them.
    fn retain(&self, stays: impl Fn(&mut Deleted) -> bool) {
        let mut passed = Vec::new();
        self.steps.borrow_mut().retain_mut(|step| {
            let stays = stays(&mut step.deleted);
            if !stays {
                passed.extend(step.toast.take());
            }
            stays
        });
        for toast in passed {
            self.toasts.dismiss(toast);
        }
    }

    /// Takes the chats that are offered right now, if they are what was deleted last, with the
    /// number of agents that were deleted with them. Their toast is replaced.
    fn take_offered_chats(&self) -> (Vec<Fid>, u32) {
        let offered =
            |step: &mut Step| step.toast.is_some() && matches!(step.deleted, Deleted::Chats(_));
        let former = self.steps.borrow_mut().pop_if(offered);
        let Some(Step { deleted: Deleted::Chats(chats), agents, toast, .. }) = former else {
            return Default::default();
        };
        if let Some(toast) = toast {
            self.toasts.dismiss(toast);
        }
        (chats, agents)
    }

    fn watch_focus(&self) {
        self.texts.watch(self.toasts.widget().root().and_then(|root| root.focus()));
    }
}

/// What was deleted: the chat of this title, if it is one, and agents.
fn deleted_chats(chats: u32, title: &str, agents: u32) -> String {
    let number = |text: &str, n: u32| words::fill(text, &[("n", &n.to_string())]);
    match (chats, agents) {
        (1, 0) => words::fill(&gettext("“{title}” deleted"), &[("title", title)]),
        (1, agents) => {
            let text = ngettext(
                "“{title}” and {n} agent deleted",
                "“{title}” and {n} agents deleted",
                agents,
            );
            words::fill(&text, &[("title", title), ("n", &agents.to_string())])
        }
        (chats, 0) => number(&ngettext("{n} chat deleted", "{n} chats deleted", chats), chats),
        (chats, agents) => {
            let chats = number(&ngettext("{n} chat", "{n} chats", chats), chats);
            let agents = number(&ngettext("{n} agent", "{n} agents", agents), agents);
            let values = [("chats", chats.as_str()), ("agents", agents.as_str())];
            words::fill(&gettext("{chats} and {agents} deleted"), &values)
        }
    }
}

/// A sentence about deleted messages, in the form for their number.
fn messages(deleted: &DeletedInChat, words: impl Fn(u32) -> String) -> String {
    let count = u32::try_from(deleted.count()).unwrap_or(u32::MAX);
    words::fill(&words(count), &[("n", &count.to_string())])
}

/// Tells that messages are back in a chat that is not shown.
pub(super) fn back_in(deleted: &DeletedInChat, title: &str) -> String {
    let words = messages(deleted, |n| {
        ngettext("{n} message is back in “{title}”", "{n} messages are back in “{title}”", n)
    });
    words::fill(&words, &[("title", title)])
}

/// Why a chat was not brought back.
pub(super) fn chat_gone() -> String {
    gettext("Couldn’t bring the chat back: it was deleted for good.")
}

/// Why the chat of this title was not deleted. It may stand over another chat, so it names this one.
pub(super) fn in_use(title: &str) -> String {
    let text =
        gettext("“{title}” can’t be deleted: another Natter window or terminal is writing in it.");
    words::fill(&text, &[("title", title)])
}

#[cfg(test)]
mod tests;
