//! Tracks recently deleted chats. One toast covers all that can be restored, so that Undo always
//! restores the latest.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::message::Fid;
use chat_presentation::words;
use gettextrs::{gettext, ngettext};
use gtk::{gdk, glib};

use super::toasts;
use crate::chat_list::DeletedChat;

/// How long a deletion can be undone, in seconds.
const UNDO: u32 = 8;

/// The deletions that can be undone now. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Deletions {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    toasts: adw::ToastOverlay,
    chats: RefCell<Vec<Fid>>,
    /// How many agents were deleted with them.
    agents: Cell<u32>,
    toast: RefCell<Option<adw::Toast>>,
    /// The texts that had the focus since the last deletion.
    texts: RefCell<Vec<WatchedText>>,
}

/// Tracks whether the user edited a text since the last deletion.
#[derive(Debug)]
struct WatchedText {
    widget: gtk::Widget,
    /// What emits changes: the text itself, or its buffer.
    source: glib::Object,
    handler: Option<glib::SignalHandlerId>,
    edited: Rc<Cell<bool>>,
}

impl Deletions {
    pub(super) fn new(toasts: &adw::ToastOverlay) -> Self {
        let inner = Inner {
            toasts: toasts.clone(),
            chats: RefCell::default(),
            agents: Cell::default(),
            toast: RefCell::default(),
            texts: RefCell::default(),
        };
        Self { inner: Rc::new(inner) }
    }

    /// Reports that one more chat was deleted; `undo` receives the chats to restore.
    pub(super) fn add(&self, chat: &DeletedChat, undo: impl Fn(Vec<Fid>) + 'static) {
        let count = {
            let mut chats = self.inner.chats.borrow_mut();
            chats.push(chat.fid.clone());
            u32::try_from(chats.len()).unwrap_or(u32::MAX)
        };
        let agents = self.inner.agents.get().saturating_add(chat.agents);
        self.inner.agents.set(agents);
        let words = deleted(count, &chat.title, agents);
        let toast = toasts::offer(&words, &gettext("Undo"), UNDO);
        let this = self.clone();
        toast.connect_button_clicked(move |_| undo(this.take()));
        let inner = Rc::downgrade(&self.inner);
        toast.connect_dismissed(move |toast| {
            if let Some(inner) = inner.upgrade() {
                inner.forget(toast);
            }
        });
        self.inner.texts.take();
        self.inner.watch_focus();
        // The former toast is replaced before it is dismissed, so that its chats are not forgotten.
        let former = self.inner.toast.replace(Some(toast.clone()));
        if let Some(former) = former {
            toasts::dismiss(&self.inner.toasts.observe_children(), former);
        }
        self.inner.toasts.add_toast(toast);
    }

    /// Takes the chats to restore, and removes the toast.
    fn take(&self) -> Vec<Fid> {
        let chats = self.inner.chats.take();
        self.inner.agents.take();
        self.inner.texts.take();
        let toast = self.inner.toast.take();
        if let Some(toast) = toast {
            toasts::dismiss(&self.inner.toasts.observe_children(), toast);
        }
        chats
    }

    /// Ctrl+Z undoes deletions wherever the focus is, except in a text that the user has edited
    /// since: there it undoes the edit.
    pub(super) fn connect_key(
        &self,
        window: &adw::ApplicationWindow,
        undo: impl Fn(Vec<Fid>) + 'static,
    ) {
        let inner = Rc::downgrade(&self.inner);
        window.connect_focus_widget_notify(move |_| {
            if let Some(inner) = inner.upgrade().filter(|inner| inner.toast.borrow().is_some()) {
                inner.watch_focus();
            }
        });
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let (this, weak) = (self.clone(), window.downgrade());
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let held = modifiers & gtk::accelerator_get_default_mod_mask();
            let is_undo = key.to_lower() == gdk::Key::z && held == gdk::ModifierType::CONTROL_MASK;
            let focus = weak.upgrade().and_then(|window| gtk::prelude::RootExt::focus(&window));
            if !is_undo || focus.is_some_and(|focus| this.inner.is_edited(&focus)) {
                return glib::Propagation::Proceed;
            }
            let chats = this.take();
            if chats.is_empty() {
                return glib::Propagation::Proceed;
            }
            undo(chats);
            glib::Propagation::Stop
        });
        window.add_controller(keys);
    }
}

impl Inner {
    /// The toast was dismissed: its chats stay deleted.
    fn forget(&self, toast: &adw::Toast) {
        if self.toast.borrow().as_ref() == Some(toast) {
            self.toast.take();
            self.chats.take();
            self.agents.take();
            self.texts.take();
        }
    }

    /// Watches for edits in the focused widget, if it is a text.
    fn watch_focus(&self) {
        let focus = self.toasts.root().and_then(|root| root.focus());
        let mut texts = self.texts.borrow_mut();
        if let Some(focus) = focus.filter(|focus| texts.iter().all(|text| text.widget != *focus)) {
            texts.extend(WatchedText::of(focus));
        }
    }

    /// Whether the user edited this text since the last deletion, and can undo that.
    fn is_edited(&self, focus: &gtk::Widget) -> bool {
        let texts = self.texts.borrow();
        texts.iter().any(|text| text.widget == *focus && text.has_undo())
    }
}

impl WatchedText {
    /// Watches a widget; none if it is not an editable text.
    fn of(widget: gtk::Widget) -> Option<Self> {
        let edited = Rc::new(Cell::new(false));
        // What changes in a text without the focus was not typed.
        let (weak, changed) = (widget.downgrade(), Rc::clone(&edited));
        let mark = move || {
            if weak.upgrade().is_some_and(|text| text.has_focus()) {
                changed.set(true);
            }
        };
        let (source, handler) = if let Some(text) = widget.downcast_ref::<gtk::Text>() {
            (text.clone().upcast(), text.connect_changed(move |_| mark()))
        } else {
            let view = widget.downcast_ref::<gtk::TextView>().filter(|view| view.is_editable())?;
            let buffer = view.buffer();
            let handler = buffer.connect_changed(move |_| mark());
            (buffer.upcast(), handler)
        };
        Some(Self { widget, source, handler: Some(handler), edited })
    }

    fn has_undo(&self) -> bool {
        let buffer = self.source.downcast_ref::<gtk::TextBuffer>();
        self.edited.get() && buffer.is_none_or(gtk::TextBuffer::can_undo)
    }
}

impl Drop for WatchedText {
    fn drop(&mut self) {
        if let Some(handler) = self.handler.take() {
            self.source.disconnect(handler);
        }
    }
}

/// What was deleted: the chat of this title, if it is one, and agents.
fn deleted(chats: u32, title: &str, agents: u32) -> String {
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

/// Why the chat of this title was not deleted. It may stand over another chat, so it names this one.
pub(super) fn in_use(title: &str) -> String {
    let text =
        gettext("“{title}” can’t be deleted: another Natter window or terminal is writing in it.");
    words::fill(&text, &[("title", title)])
}

#[cfg(test)]
mod tests {
    use super::deleted;

    #[test]
    fn the_agents_of_deleted_chats_are_counted() {
        assert_eq!(deleted(1, "Fruit", 0), "“Fruit” deleted");
        assert_eq!(deleted(1, "Fruit", 2), "“Fruit” and 2 agents deleted");
        assert_eq!(deleted(3, "Fruit", 0), "3 chats deleted");
        assert_eq!(deleted(2, "Fruit", 1), "2 chats and 1 agent deleted");
    }
}
