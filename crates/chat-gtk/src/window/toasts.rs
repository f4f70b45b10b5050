//! What is said in passing, above what the person writes: it covers neither the composer nor what
//! stands over it.

use std::cell::RefCell;

use adw::prelude::*;
use gettextrs::gettext;
use gtk::{gio, glib};

use crate::chat_widget::ESCAPE_TWICE;

/// Between a toast and what is below it, in pixels.
const SPACE: i32 = 12;

/// How long something is offered, in seconds.
const OFFER: u32 = 10;

/// An overlay whose toasts stand above the foot of what is below them.
#[derive(Debug)]
pub(super) struct Toasts {
    overlay: adw::ToastOverlay,
    /// What was answered last, by its number, as long as it is offered to be taken back.
    answered: RefCell<Option<(u64, adw::Toast)>>,
    /// What asks for another Esc, as long as one would stop the reply.
    escape: RefCell<Option<adw::Toast>>,
    /// Tells of the toasts' widgets as long as it is kept.
    _children: gio::ListModel,
}

impl Toasts {
    pub(super) fn new(child: &impl IsA<gtk::Widget>, foot: &impl IsA<gtk::Widget>) -> Self {
        let overlay = adw::ToastOverlay::new();
        overlay.set_child(Some(child));
        let below = child.upcast_ref::<gtk::Widget>().downgrade();
        // What was said over another page is still there when this one comes back. Pages change in the middle of
        // a layout, in which no size can become another.
        let (weak, kept) = (overlay.downgrade(), below.clone());
        foot.upcast_ref::<gtk::Widget>().connect_map(move |foot| {
            let (overlay, below, foot) = (weak.clone(), kept.clone(), foot.downgrade());
            glib::idle_add_local_once(move || {
                let (Some(overlay), Some(foot)) = (overlay.upgrade(), foot.upgrade()) else {
                    return;
                };
                let below = below.upgrade();
                let all = std::iter::successors(overlay.first_child(), gtk::Widget::next_sibling);
                let toasts = all.filter(|widget| below.as_ref() != Some(widget));
                toasts.for_each(|toast| lift(&toast, &foot));
            });
        });
        let foot = foot.upcast_ref::<gtk::Widget>().downgrade();
        // Each toast gets a widget when it is its turn. libadwaita counts a widget's own margin twice
        // there, and that of its style once.
        let children = overlay.observe_children();
        children.connect_items_changed(move |children, at, _, added| {
            let Some(foot) = foot.upgrade().filter(gtk::Widget::is_mapped) else { return };
            let came = (at..at + added).filter_map(|at| children.item(at)?.downcast().ok());
            for toast in
                came.filter(|widget: &gtk::Widget| below.upgrade().as_ref() != Some(widget))
            {
                lift(&toast, &foot);
            }
        });
        Self {
            overlay,
            answered: RefCell::default(),
            escape: RefCell::default(),
            _children: children,
        }
    }

    pub(super) fn widget(&self) -> &adw::ToastOverlay {
        &self.overlay
    }

    /// Says what was answered, in the place of what was answered before, and offers to take it back.
    pub(super) fn offer_undo(&self, answer: u64, words: &str, then: impl Fn() + 'static) {
        let toast = adw::Toast::builder()
            .title(glib::markup_escape_text(words))
            .button_label(gettext("Undo"))
            .priority(adw::ToastPriority::High)
            .timeout(OFFER)
            .build();
        toast.connect_button_clicked(move |_| then());
        let former = self.answered.replace(Some((answer, toast.clone())));
        if let Some((_, former)) = former {
            former.dismiss();
        }
        self.overlay.add_toast(toast);
    }

    /// An answer was taken back, and is offered no longer.
    pub(super) fn undone(&self, answer: u64) {
        let offered = self.answered.borrow_mut().take_if(|(offered, _)| *offered == answer);
        if let Some((_, toast)) = offered {
            toast.dismiss();
        }
    }

    /// Something came after what was answered last, which is offered no longer in passing.
    pub(super) fn pass_on(&self) {
        if let Some((_, toast)) = self.answered.take() {
            toast.dismiss();
        }
    }

    /// Says that another Esc stops the reply, or takes that back. It is about the chat that is shown: over another
    /// one it would be a lie.
    pub(super) fn ask_escape(&self, asked: bool) {
        let toast = asked.then(|| {
            let toast = adw::Toast::new(&gettext("Press Esc again to stop the reply"));
            toast.set_priority(adw::ToastPriority::High);
            // No longer than it counts as the second one.
            toast.set_timeout(ESCAPE_TWICE);
            toast
        });
        if let Some(former) = self.escape.replace(toast.clone()) {
            former.dismiss();
        }
        if let Some(toast) = toast {
            self.overlay.add_toast(toast);
        }
    }

    /// Asks something of one line, at once; `then` is done where the button is pressed.
    pub(super) fn offer(&self, words: &str, button: &str, then: impl Fn() + 'static) {
        let toast = adw::Toast::builder()
            .title(glib::markup_escape_text(words))
            .button_label(button)
            .priority(adw::ToastPriority::High)
            .timeout(OFFER)
            .build();
        toast.connect_button_clicked(move |_| then());
        self.overlay.add_toast(toast);
    }

    /// Says something of one line.
    pub(super) fn say(&self, words: &str) {
        self.overlay.add_toast(adw::Toast::new(&glib::markup_escape_text(words)));
    }
}

/// Has a toast stand above the foot.
fn lift(toast: &gtk::Widget, foot: &gtk::Widget) {
    let around = foot.margin_top() + foot.margin_bottom();
    let below = foot.height() + around + SPACE;
    let provider = gtk::CssProvider::new();
    provider.load_from_data(&format!("toast {{ margin-bottom: {below}px; }}"));
    toast.style_context().add_provider(&provider, gtk::STYLE_PROVIDER_PRIORITY_APPLICATION);
}
