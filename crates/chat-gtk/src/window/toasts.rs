//! What is said in passing, in the middle of the conversation's width and above what the person writes:
//! it covers neither the composer nor what stands over it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use gettextrs::gettext;
use gtk::{gio, glib};

use crate::chat_widget::ESCAPE_TWICE;

/// Between a toast and what is below it, in pixels.
const SPACE: i32 = 12;

/// How long something is offered, in seconds.
const OFFER: u32 = 10;

/// What toasts stand above, in the middle of its width.
#[derive(Debug)]
pub(super) struct Ground {
    foot: glib::WeakRef<gtk::Widget>,
    jump: glib::WeakRef<gtk::Widget>,
}

/// How far a toast stays from the edges, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Margins {
    left: i32,
    right: i32,
    below: i32,
}

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
    pub(super) fn new(child: &impl IsA<gtk::Widget>, ground: Ground) -> Self {
        let overlay = adw::ToastOverlay::new();
        overlay.set_child(Some(child));
        let below = child.upcast_ref::<gtk::Widget>().downgrade();
        let ground = Rc::new(ground);
        // Each toast gets a widget when it is its turn.
        let children = overlay.observe_children();
        let weak = overlay.downgrade();
        children.connect_items_changed(move |children, at, _, added| {
            let came = (at..at + added).filter_map(|at| children.item(at)?.downcast().ok());
            for toast in
                came.filter(|widget: &gtk::Widget| below.upgrade().as_ref() != Some(widget))
            {
                keep_above(&toast, &weak, &ground);
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

/// Keeps a toast above the ground as long as it is there: panes come and go, and the composer grows.
fn keep_above(
    toast: &gtk::Widget,
    overlay: &glib::WeakRef<adw::ToastOverlay>,
    ground: &Rc<Ground>,
) {
    // libadwaita counts a widget's own margin twice here, and that of its style once.
    let provider = gtk::CssProvider::new();
    toast.style_context().add_provider(&provider, gtk::STYLE_PROVIDER_PRIORITY_APPLICATION);
    let (overlay, ground, placed) = (overlay.clone(), Rc::clone(ground), Cell::new(None));
    let place = move || {
        let Some(overlay) = overlay.upgrade() else { return };
        let margins = ground.margins(overlay.upcast_ref());
        if placed.replace(Some(margins)) != Some(margins) {
            let Margins { left, right, below } = margins;
            provider.load_from_data(&format!(
                "toast {{ margin-left: {left}px; margin-right: {right}px; margin-bottom: {below}px; }}"
            ));
        }
    };
    place();
    toast.add_tick_callback(move |_, _| {
        place();
        glib::ControlFlow::Continue
    });
}

impl Ground {
    /// `foot` is what stands below the conversation, and `jump` the button that floats over its end.
    pub(super) fn new(foot: &impl IsA<gtk::Widget>, jump: &impl IsA<gtk::Widget>) -> Self {
        Self { foot: foot.upcast_ref().downgrade(), jump: jump.upcast_ref().downgrade() }
    }

    /// How far a toast stays from the edges of the overlay.
    fn margins(&self, overlay: &gtk::Widget) -> Margins {
        let seen =
            |widget: &glib::WeakRef<gtk::Widget>| widget.upgrade().filter(gtk::Widget::is_mapped);
        let place = |widget: &gtk::Widget| widget.compute_bounds(overlay);
        let foot = seen(&self.foot);
        let chat = foot.as_ref().and_then(gtk::Widget::parent).as_ref().and_then(place);
        // Another page is seen: there the edges of the window are what counts.
        let (Some(foot), Some(chat)) = (foot, chat) else {
            return Margins { left: SPACE, right: SPACE, below: SPACE };
        };
        let foot_top = place(&foot).map(|place| place.y() - foot.margin_top() as f32);
        let jump_top = seen(&self.jump).as_ref().and_then(place).map(|place| place.y());
        let height = overlay.height() as f32;
        let top = [foot_top, jump_top].into_iter().flatten().fold(height, f32::min);
        let right = overlay.width() as f32 - chat.x() - chat.width();
        Margins {
            left: (chat.x() as i32).max(0) + SPACE,
            right: (right as i32).max(0) + SPACE,
            below: (height - top) as i32 + SPACE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    /// The widgets below this one.
    fn parts(widget: &gtk::Widget) -> Vec<gtk::Widget> {
        std::iter::successors(widget.first_child(), gtk::Widget::next_sibling).collect()
    }

    #[gtk::test]
    fn a_toast_that_was_seen_is_gone_with_all_that_kept_it_in_its_place() {
        crate::init();
        let page = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let ground = Ground::new(&page, &page);
        let kept = Rc::new(());
        let toasts = Toasts::new(&page, ground);
        let window = gtk::Window::builder().child(toasts.widget()).build();
        window.present();
        until("the page in the window", || page.is_mapped());
        let before = parts(toasts.widget().upcast_ref());
        let mut gone = Vec::new();
        for answer in 0..3 {
            let told = Rc::clone(&kept);
            toasts.offer_undo(answer, "Denied", move || drop(Rc::clone(&told)));
            let all = parts(toasts.widget().upcast_ref());
            let toast = all.iter().find(|part| !before.contains(part)).expect("a toast");
            gone.push(toast.downgrade());
            drop(all);
            toasts.undone(answer);
            until("the toast to be gone", || gone.iter().all(|toast| toast.upgrade().is_none()));
        }
        assert_eq!(Rc::strong_count(&kept), 1, "what the button did is gone, too");
        window.destroy();
    }
}
