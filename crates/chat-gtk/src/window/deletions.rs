//! The chats that were deleted last: one toast speaks of all that can be taken back, so that Undo
//! always means the latest.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::message::Fid;
use chat_edge::words;
use gettextrs::{gettext, ngettext};
use gtk::{gdk, glib};

/// How long a deletion can be taken back, in seconds.
const UNDO: u32 = 8;

/// What can be taken back now. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Deletions {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    toasts: adw::ToastOverlay,
    chats: RefCell<Vec<Fid>>,
    toast: RefCell<Option<adw::Toast>>,
}

impl Deletions {
    pub(super) fn new(toasts: &adw::ToastOverlay) -> Self {
        let toasts = toasts.clone();
        Self {
            inner: Rc::new(Inner { toasts, chats: RefCell::default(), toast: RefCell::default() }),
        }
    }

    /// Says that one more chat was deleted; `undo` is told which ones are to come back.
    pub(super) fn add(&self, fid: Fid, title: &str, undo: impl Fn(Vec<Fid>) + 'static) {
        let count = {
            let mut chats = self.inner.chats.borrow_mut();
            chats.push(fid);
            u32::try_from(chats.len()).unwrap_or(u32::MAX)
        };
        let words = if count == 1 {
            words::fill(&gettext("“{title}” deleted"), &[("title", title)])
        } else {
            let text = ngettext("{n} chat deleted", "{n} chats deleted", count);
            words::fill(&text, &[("n", &count.to_string())])
        };
        let toast = adw::Toast::builder()
            .title(glib::markup_escape_text(&words))
            .button_label(gettext("Undo"))
            .priority(adw::ToastPriority::High)
            .timeout(UNDO)
            .build();
        let this = self.clone();
        toast.connect_button_clicked(move |_| undo(this.take()));
        let inner = Rc::downgrade(&self.inner);
        toast.connect_dismissed(move |toast| {
            if let Some(inner) = inner.upgrade() {
                inner.forget(toast);
            }
        });
        // The former toast is none any more when it goes, so that its chats are not forgotten.
        let former = self.inner.toast.replace(Some(toast.clone()));
        if let Some(former) = former {
            former.dismiss();
        }
        self.inner.toasts.add_toast(toast);
    }

    /// What is to come back; the toast goes.
    fn take(&self) -> Vec<Fid> {
        let chats = self.inner.chats.take();
        let toast = self.inner.toast.take();
        if let Some(toast) = toast {
            toast.dismiss();
        }
        chats
    }

    /// Ctrl+Z takes deletions back, where no text is being edited that has an undo of its own.
    pub(super) fn connect_key(
        &self,
        window: &adw::ApplicationWindow,
        undo: impl Fn(Vec<Fid>) + 'static,
    ) {
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let (this, weak) = (self.clone(), window.downgrade());
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let is_undo = key == gdk::Key::z && modifiers == gdk::ModifierType::CONTROL_MASK;
            let edits = weak
                .upgrade()
                .and_then(|window| gtk::prelude::RootExt::focus(&window))
                .is_some_and(is_edited);
            if !is_undo || edits {
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
    /// The toast is gone: what it spoke of stays deleted.
    fn forget(&self, toast: &adw::Toast) {
        if self.toast.borrow().as_ref() == Some(toast) {
            self.toast.take();
            self.chats.take();
        }
    }
}

fn is_edited(focus: gtk::Widget) -> bool {
    focus.is::<gtk::Text>()
        || focus.downcast::<gtk::TextView>().is_ok_and(|text| text.is_editable())
}
