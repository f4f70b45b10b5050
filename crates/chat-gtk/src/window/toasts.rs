//! Shows toasts centred over the conversation and no wider than it. They cover neither the composer
//! and what is above it, nor the buttons in the conversation.

mod area;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use gettextrs::gettext;
use gtk::glib;

pub(super) use area::ToastArea;

use crate::chat_widget::ESCAPE_TWICE;
use crate::conversation::Conversation;

/// The space between a toast and what is below it, in pixels.
const SPACE: i32 = 12;

/// How long something is offered, in seconds.
const OFFER: u32 = 10;

/// How long it is said that nothing waits, in seconds.
const NOTHING_WAITS: u32 = 2;

/// The widgets that toasts are shown above, and centred over.
pub(super) struct Ground {
    foot: glib::WeakRef<gtk::Widget>,
    conversation: Conversation,
}

/// A toast's distance from the edges, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Margins {
    left: i32,
    right: i32,
    below: i32,
}

/// An overlay that shows toasts above the bottom of its content.
#[derive(Debug)]
pub(super) struct Toasts {
    area: ToastArea,
    /// The toast of the last answer, with the answer's number, while it can be undone.
    answered: RefCell<Option<(u64, adw::Toast)>>,
    /// The toast that asks for another Esc, while that would stop the reply.
    escape: RefCell<Option<adw::Toast>>,
    /// The toast that says that nothing waits for the user.
    nothing_waits: RefCell<Option<adw::Toast>>,
}

impl Toasts {
    pub(super) fn new(child: &impl IsA<gtk::Widget>, ground: Ground) -> Self {
        let area = ToastArea::new(child);
        let below = child.upcast_ref::<gtk::Widget>().downgrade();
        let ground = Rc::new(ground);
        let weak = area.widget().downgrade();
        area.children().connect_items_changed(move |children, at, _, added| {
            let came = (at..at + added).filter_map(|at| children.item(at)?.downcast().ok());
            for toast in
                came.filter(|widget: &gtk::Widget| below.upgrade().as_ref() != Some(widget))
            {
                keep_above(&toast, &weak, &ground);
            }
        });
        Self {
            area,
            answered: RefCell::default(),
            escape: RefCell::default(),
            nothing_waits: RefCell::default(),
        }
    }

    pub(super) fn widget(&self) -> &adw::ToastOverlay {
        self.area.widget()
    }

    pub(super) fn area(&self) -> &ToastArea {
        &self.area
    }

    /// Shows the latest answer instead of the one before, and offers to undo it.
    pub(super) fn offer_undo(&self, answer: u64, words: &str, then: impl Fn() + 'static) {
        let toast = offer(words, &gettext("Undo"), OFFER);
        toast.connect_button_clicked(move |_| then());
        let former = self.answered.replace(Some((answer, toast.clone())));
        if let Some((_, former)) = former {
            self.area.dismiss(former);
        }
        self.area.add(toast);
    }

    /// An answer was undone, so it is no longer offered.
    pub(super) fn undone(&self, answer: u64) {
        let offered = self.answered.borrow_mut().take_if(|(offered, _)| *offered == answer);
        if let Some((_, toast)) = offered {
            self.area.dismiss(toast);
        }
    }

    /// Something followed the last answer, so its undo is no longer offered in a toast.
    pub(super) fn pass_on(&self) {
        if let Some((_, toast)) = self.answered.take() {
            self.area.dismiss(toast);
        }
    }

    /// Shows or removes the hint that another Esc stops the reply. It is about the current chat:
    /// over another one it would be wrong.
    pub(super) fn ask_escape(&self, asked: bool) {
        // Only as long as a second Esc counts.
        let words = || gettext("Press Esc again to stop the reply");
        self.replace(&self.escape, asked.then(|| brief(&words(), ESCAPE_TWICE)));
    }

    /// Shows briefly that nothing waits for the user, once however often they ask. Something that
    /// does wait takes it back.
    pub(super) fn nothing_waits(&self, nothing: bool) {
        let words = || gettext("Nothing is waiting for your answer");
        self.replace(&self.nothing_waits, nothing.then(|| brief(&words(), NOTHING_WAITS)));
    }

    /// Shows a toast in place of the former one of its kind.
    fn replace(&self, kind: &RefCell<Option<adw::Toast>>, toast: Option<adw::Toast>) {
        if let Some(former) = kind.replace(toast.clone()) {
            self.area.dismiss(former);
        }
        if let Some(toast) = toast {
            self.area.add(toast);
        }
    }

    /// Offers an action at once, with a one-line text; `then` runs if the button is pressed.
    pub(super) fn offer(&self, words: &str, button: &str, then: impl Fn() + 'static) {
        let toast = offer(words, button, OFFER);
        toast.connect_button_clicked(move |_| then());
        self.area.add(toast);
    }

    /// Shows a one-line text.
    pub(super) fn say(&self, words: &str) {
        self.area.add(toast(words));
    }
}

/// A toast with this text, which wraps if it does not fit on one line.
fn toast(words: &str) -> adw::Toast {
    let label = gtk::Label::builder()
        .label(words)
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(gtk::pango::WrapMode::WordChar)
        .css_classes(["heading"])
        .build();
    adw::Toast::builder().custom_title(&adw::Clamp::builder().child(&label).build()).build()
}

/// A toast that is shown at once, for this many seconds; with none, until it is closed.
fn brief(words: &str, seconds: u32) -> adw::Toast {
    let toast = toast(words);
    toast.set_priority(adw::ToastPriority::High);
    toast.set_timeout(seconds);
    toast
}

/// A toast with a button, shown for this many seconds; with none, until it is closed.
pub(super) fn offer(words: &str, button: &str, seconds: u32) -> adw::Toast {
    let toast = brief(words, seconds);
    toast.set_button_label(Some(button));
    toast
}

/// Keeps a toast above its ground while it is shown: panes appear and disappear, and the composer
/// grows.
fn keep_above(
    toast: &gtk::Widget,
    overlay: &glib::WeakRef<adw::ToastOverlay>,
    ground: &Rc<Ground>,
) {
    // libadwaita counts a widget's own margin twice here, but a style's margin once.
    let provider = gtk::CssProvider::new();
    toast.style_context().add_provider(&provider, gtk::STYLE_PROVIDER_PRIORITY_APPLICATION);
    let words = toast.first_child().and_then(|bin| bin.first_child()).and_downcast::<adw::Clamp>();
    let beside_words = words.as_ref().map_or(0, |words| width(toast) - width(words));
    let (overlay, ground, placed) = (overlay.clone(), Rc::clone(ground), Cell::new(None));
    let place = move |toast: &gtk::Widget| {
        let Some(overlay) = overlay.upgrade() else { return };
        let margins = ground.margins(toast, overlay.upcast_ref());
        let placing = Some((margins, overlay.width()));
        if placed.replace(placing) != placing {
            let Margins { left, right, below } = margins;
            provider.load_from_data(&format!(
                "toast {{ margin-left: {left}px; margin-right: {right}px; margin-bottom: {below}px; }}"
            ));
            if let Some(words) = &words {
                let room = (overlay.width() - left - right - beside_words).max(1);
                words.set_maximum_size(room);
                words.set_tightening_threshold(room);
            }
        }
    };
    place(toast);
    toast.add_tick_callback(move |toast, _| {
        place(toast);
        glib::ControlFlow::Continue
    });
}

/// The natural width of a widget.
fn width(widget: &impl IsA<gtk::Widget>) -> i32 {
    widget.measure(gtk::Orientation::Horizontal, -1).1
}

impl Ground {
    /// `foot` is the widget below the conversation.
    pub(super) fn new(foot: &impl IsA<gtk::Widget>, conversation: &Conversation) -> Self {
        Self { foot: foot.upcast_ref().downgrade(), conversation: conversation.clone() }
    }

    /// A toast's distance from the edges of the overlay.
    fn margins(&self, toast: &gtk::Widget, overlay: &gtk::Widget) -> Margins {
        let place = |widget: &gtk::Widget| widget.compute_bounds(overlay);
        let foot = self.foot.upgrade().filter(gtk::Widget::is_mapped);
        let chat = foot.as_ref().and_then(gtk::Widget::parent).as_ref().and_then(place);
        // Another page is shown: there the edges of the window count.
        let (Some(foot), Some(chat)) = (foot, chat) else {
            return Margins { left: SPACE, right: SPACE, below: SPACE };
        };
        let foot_bottom = place(&foot).map(|place| place.y() + place.height());
        let below = foot_bottom.map_or(0.0, |bottom| overlay.height() as f32 - bottom);
        // While the composer is in the middle, there is room below it.
        if below > toast.height() as f32 + 3.0 * SPACE as f32 {
            let (left, right) = beside_chat(chat.x(), chat.width(), overlay.width());
            return Margins { left: left + SPACE, right: right + SPACE, below: SPACE };
        }
        let jump: &gtk::Widget = self.conversation.jump_button().upcast_ref();
        let foot_top = place(&foot).map(|place| place.y() - foot.margin_top() as f32);
        let jump_top = Some(jump).filter(|jump| jump.is_mapped()).and_then(place);
        let jump_top = jump_top.map(|place| place.y());
        let height = overlay.height() as f32;
        let mut top = [foot_top, jump_top].into_iter().flatten().fold(height, f32::min);
        let buttons = self.conversation.last_buttons_bounds(overlay);
        if let (Some(buttons), Some(toast)) = (buttons, place(toast)) {
            let space = SPACE as f32;
            let middle = chat.x() + chat.width() / 2.0;
            let left = middle - toast.width() / 2.0 - space;
            let is_above = buttons.y() + buttons.height() <= top - toast.height() - 2.0 * space;
            if !is_above && buttons.x() + buttons.width() > left {
                top = top.min(buttons.y());
            }
        }
        let (left, right) = beside_chat(chat.x(), chat.width(), overlay.width());
        Margins { left: left + SPACE, right: right + SPACE, below: (height - top) as i32 + SPACE }
    }
}

/// How much of the window is to the left and to the right of the chat. A chat that slides out of the
/// window leaves no room for a toast: there the edges of the window count.
fn beside_chat(x: f32, width: f32, window: i32) -> (i32, i32) {
    let (left, right) = (x as i32, window - (x + width) as i32);
    if left < 0 || right < 0 { (0, 0) } else { (left, right) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[test]
    fn a_chat_that_slides_away_makes_no_toast_wider_than_the_window() {
        assert_eq!(beside_chat(260.0, 940.0, 1200), (260, 0));
        assert_eq!(beside_chat(260.0, 410.0, 1200), (260, 530));
        assert_eq!(beside_chat(0.0, 420.0, 420), (0, 0));
        for x in [300.0, -150.0] {
            assert_eq!(beside_chat(x, 420.0, 420), (0, 0), "at {x}");
        }
    }

    /// The children of this widget.
    fn parts(widget: &gtk::Widget) -> Vec<gtk::Widget> {
        std::iter::successors(widget.first_child(), gtk::Widget::next_sibling).collect()
    }

    /// What toasts are shown over: an empty chat, and what is below it.
    fn page() -> (gtk::Box, gtk::Entry) {
        let page = gtk::Box::builder().orientation(gtk::Orientation::Vertical).height_request(300);
        let (page, foot) = (page.build(), gtk::Entry::new());
        page.append(&gtk::Box::builder().vexpand(true).build());
        page.append(&foot);
        (page, foot)
    }

    #[gtk::test]
    fn that_nothing_waits_is_said_once_and_no_longer_than_it_is_true() {
        crate::init();
        let (page, foot) = page();
        let ground = Ground::new(&foot, &Conversation::new(|_, _| {}));
        let toasts = Toasts::new(&page, ground);
        let window = gtk::Window::builder().child(toasts.widget()).build();
        window.present();
        until("the page in the window", || page.is_mapped());
        let count = || parts(toasts.widget().upcast_ref()).len();
        let before = count();
        toasts.say("Something else");
        for _ in 0..3 {
            toasts.nothing_waits(true);
        }
        toasts.nothing_waits(false);
        let words = |widget: &gtk::Widget| {
            let mut found = Vec::new();
            let mut next = vec![widget.clone()];
            while let Some(widget) = next.pop() {
                found.extend(widget.downcast_ref::<gtk::Label>().map(gtk::Label::label));
                next.extend(parts(&widget));
            }
            found
        };
        until("the other toast alone", || {
            let shown = words(toasts.widget().upcast_ref());
            count() == before + 1 && shown.iter().any(|text| text == "Something else")
        });
        window.destroy();
    }

    #[gtk::test]
    fn a_toast_that_was_seen_is_gone_with_all_that_kept_it_in_its_place() {
        crate::init();
        let (page, foot) = page();
        let ground = Ground::new(&foot, &Conversation::new(|_, _| {}));
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
