//! Shows what waits for the user in all chats in one list, behind a button of the header bars.

mod guard;
mod item;
mod list;
mod routing;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::{Error, Result};
use chat_core::event::SessionApproval;
use chat_core::message::{Answer, ApprovalId, Fid};
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use gtk::glib;

use crate::accessible;
use crate::conversation::ApprovalCards;
use crate::models::has_keyboard;
use guard::HOLD;
use item::Waiting;
use list::ApprovalList;

/// The width of the list, in pixels.
const WIDTH: i32 = 480;
/// The least space around the list in a small window, in pixels.
const ASIDE: i32 = 24;
/// The space above and below the list, in pixels: the header bar, and a margin.
const ABOVE: i32 = 90;

/// What the user does with the list.
#[derive(Debug)]
pub(crate) enum Output {
    /// Answer this.
    Answer { fid: Fid, ask: ApprovalId, answer: Answer },
    /// Show this in its chat.
    Show(Fid, ApprovalId),
    /// This text was typed and has lost its place. It belongs to the draft of this chat.
    GiveBack(Fid, String),
    /// The list was opened.
    Opened,
    /// The widget that had the focus is gone.
    KeyboardLost,
}

/// The header bar that a button is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Chat,
    /// Where the chat list is shown alone.
    List,
    /// Where the panel covers the conversation.
    Panel,
}

/// The list and its buttons. Cheap to clone.
#[derive(Clone)]
pub(super) struct WaitingApprovals {
    inner: Rc<Inner>,
}

impl std::fmt::Debug for WaitingApprovals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitingApprovals").finish_non_exhaustive()
    }
}

struct Inner {
    /// All that waits, the oldest first.
    asks: RefCell<Vec<SessionApproval>>,
    /// The same, as it is shown.
    waiting: RefCell<Vec<Waiting>>,
    list: Rc<ApprovalList>,
    popover: gtk::Popover,
    buttons: RefCell<Vec<Button>>,
    /// Whether the chat list may be shown alone, and whether the panel covers the conversation.
    places: Cell<(bool, bool)>,
    /// The button that gives its space to that of a narrow chat.
    yielding: RefCell<Option<gtk::Widget>>,
    /// The widget that had the focus before the list was opened.
    before: glib::WeakRef<gtk::Widget>,
    output: Rc<dyn Fn(Output)>,
}

struct Button {
    place: Place,
    widget: gtk::MenuButton,
    count: gtk::Label,
    /// The count on the icon, where there is no room next to it.
    badge: gtk::Label,
}

impl WaitingApprovals {
    pub(super) fn new(cards: ApprovalCards, output: impl Fn(Output) + 'static) -> Self {
        let output: Rc<dyn Fn(Output)> = Rc::new(output);
        let list = ApprovalList::new(cards, Rc::clone(&output));
        let popover = gtk::Popover::builder().child(list.widget()).css_classes(["waiting"]).build();
        accessible::set_label(&popover, &gettext("Waiting for You"));
        let inner = Rc::new(Inner {
            asks: RefCell::default(),
            waiting: RefCell::default(),
            list,
            popover,
            buttons: RefCell::default(),
            places: Cell::default(),
            yielding: RefCell::default(),
            before: glib::WeakRef::new(),
            output,
        });
        let weak = Rc::downgrade(&inner);
        inner.popover.connect_show(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.list.focus();
                (inner.output)(Output::Opened);
            }
        });
        let weak = Rc::downgrade(&inner);
        inner.popover.connect_closed(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.closed();
            }
        });
        Self { inner }
    }

    /// Creates the button for a header bar. It is visible while something waits.
    pub(super) fn button(&self, place: Place) -> gtk::MenuButton {
        let face = gtk::Box::builder().spacing(6).build();
        let icon = gtk::Image::from_icon_name("dialog-question-symbolic");
        let badge = gtk::Label::builder()
            .halign(gtk::Align::End)
            .valign(gtk::Align::Start)
            .visible(false)
            .css_classes(["numeric", "waiting-badge"])
            .build();
        let marked = gtk::Overlay::builder().child(&icon).build();
        marked.add_overlay(&badge);
        face.append(&marked);
        let count = gtk::Label::builder().css_classes(["numeric"]).build();
        face.append(&count);
        let widget = gtk::MenuButton::builder()
            .child(&face)
            .visible(false)
            .focus_on_click(false)
            .css_classes(["flat", "waiting"])
            .build();
        let weak = Rc::downgrade(&self.inner);
        widget.set_create_popup_func(move |button| {
            if let Some(inner) = weak.upgrade() {
                inner.open_below(button);
            }
        });
        let open = self.inner.popover.downgrade();
        widget.connect_query_tooltip(move |widget, _, _, _, _| {
            // GTK would show it over the list, which is inside the button.
            if open.upgrade().is_some_and(|open| open.is_visible()) {
                widget.stop_signal_emission_by_name("query-tooltip");
            }
            false
        });
        let button = Button { place, widget: widget.clone(), count, badge };
        self.inner.buttons.borrow_mut().push(button);
        widget
    }

    /// In a narrow window, this button is hidden while the chat's button is visible: there is no room
    /// for both.
    pub(super) fn set_yielding(&self, button: &impl IsA<gtk::Widget>) {
        self.inner.yielding.replace(Some(button.clone().upcast()));
    }

    /// All that waits, the oldest first.
    pub(super) fn asks(&self) -> Vec<SessionApproval> {
        self.inner.asks.borrow().clone()
    }

    /// Takes all that waits.
    pub(super) fn set_asks(&self, asks: &[SessionApproval]) {
        let mut asks = asks.to_vec();
        asks.sort_by_key(|approval| approval.ask.id);
        self.inner.asks.replace(asks);
    }

    /// Shows what waits.
    fn show(&self, waiting_of: impl Fn(&SessionApproval) -> Waiting) {
        let waiting: Vec<_> = self.inner.asks.borrow().iter().map(waiting_of).collect();
        self.inner.waiting.replace(waiting);
        self.inner.show();
    }

    /// An answer has arrived, or failed to. Returns the error if it is not shown in the list.
    pub(super) fn answered(
        &self,
        fid: &Fid,
        ask: ApprovalId,
        result: Result<bool>,
    ) -> Option<Error> {
        if result.is_ok() {
            self.inner.asks.borrow_mut().retain(|approval| approval.ask.id != ask);
            self.inner.waiting.borrow_mut().retain(|waiting| waiting.approval.ask.id != ask);
        }
        let error = self.inner.list.answered(fid, ask, result);
        self.inner.show();
        error
    }

    /// Whether the list is open.
    pub(super) fn is_open(&self) -> bool {
        self.inner.popover.is_visible()
    }

    pub(super) fn close(&self) {
        self.inner.popover.popdown();
    }

    /// Says whether the chat list may be shown alone, and whether the panel covers the conversation.
    pub(super) fn set_places(&self, folded: bool, covered: bool) {
        self.inner.places.set((folded, covered));
        self.inner.show_buttons();
    }

    /// Takes what was typed and not sent, with its chat.
    pub(super) fn take_typed(&self) -> Vec<(Fid, String)> {
        self.inner.list.take_typed()
    }
}

impl Inner {
    fn show(self: &Rc<Self>) {
        let waiting = self.waiting.borrow().clone();
        let is_open = self.popover.is_visible();
        self.list.show(&waiting, is_open);
        if waiting.is_empty() && is_open {
            self.close_empty();
        }
        self.show_buttons();
    }

    /// Closes the list after the last answer. A second click must not hit what is below the list.
    fn close_empty(self: &Rc<Self>) {
        if !self.list.has_pointer() {
            self.popover.popdown();
            return;
        }
        let weak = Rc::downgrade(self);
        glib::timeout_add_local_once(HOLD, move || {
            let empty = weak.upgrade().filter(|inner| inner.waiting.borrow().is_empty());
            if let Some(inner) = empty {
                inner.popover.popdown();
            }
        });
    }

    /// Moves the list to the button that was pressed.
    fn open_below(self: &Rc<Self>, button: &gtk::MenuButton) {
        for other in self.buttons.borrow().iter().filter(|other| other.widget != *button) {
            other.widget.set_popover(gtk::Popover::NONE);
        }
        if button.popover().is_none() {
            button.set_popover(Some(&self.popover));
        }
        let Some(root) = button.root() else { return };
        self.before.set(root.focus().as_ref());
        let (width, height) = (root.width() - ASIDE, root.height() - ABOVE);
        self.list.show(&self.waiting.borrow(), true);
        self.list.set_room(width.min(WIDTH), height);
    }

    /// Returns the focus to where it was, unless something else has it by now.
    fn closed(self: &Rc<Self>) {
        let focus = self.popover.root().and_then(|root| root.focus());
        if focus.is_none_or(|focus| focus.is_ancestor(&self.popover)) {
            let before = self.before.upgrade().filter(gtk::Widget::is_mapped);
            match before.as_ref().and_then(|before| before.downcast_ref::<gtk::Text>()) {
                Some(entry) => drop(entry.grab_focus_without_selecting()),
                None => drop(before.map(|before| before.grab_focus())),
            }
        }
        let weak = Rc::downgrade(self);
        glib::idle_add_local_once(move || {
            if let Some(inner) = weak.upgrade() {
                inner.show_buttons();
            }
        });
    }

    /// Shows how much waits. The button of the open list stays.
    fn show_buttons(&self) {
        let (count, is_open) = (self.waiting.borrow().len(), self.popover.is_visible());
        let (folded, covered) = self.places.get();
        for button in self.buttons.borrow().iter() {
            let is_here = match button.place {
                Place::Chat => true,
                Place::List => folded,
                Place::Panel => covered,
            };
            let has_list = is_open && button.widget.popover().is_some();
            let visible = is_here && (count > 0 || has_list);
            if !visible && button.widget.is_visible() && has_keyboard(&button.widget) {
                (self.output)(Output::KeyboardLost);
            }
            if count > 0 {
                button.show(count);
            }
            let is_tight = folded && button.place == Place::Chat;
            button.count.set_visible(!is_tight);
            button.badge.set_visible(is_tight);
            if let Some(yielding) = &*self.yielding.borrow()
                && button.place == Place::Chat
            {
                yielding.set_visible(!(is_tight && visible));
            }
            button.widget.set_visible(visible);
        }
    }
}

impl Button {
    fn show(&self, count: usize) {
        let n = count.to_string();
        let text = ngettext(
            "{n} waiting for you",
            "{n} waiting for you",
            count.try_into().unwrap_or(u32::MAX),
        );
        let name = fill(&text, &[("n", &n)]);
        self.count.set_label(&n);
        self.badge.set_label(&n);
        accessible::set_label(&self.widget, &name);
        let tooltip = fill(&gettext("{waiting}. Ctrl+. goes to the next."), &[("waiting", &name)]);
        self.widget.set_tooltip_text(Some(&tooltip));
    }
}

/// Chooses what Ctrl+. goes to: what follows the item with the focus, otherwise the first of the
/// shown chat, otherwise the first of all.
fn next<'a>(
    asks: &'a [SessionApproval],
    shown: Option<&Fid>,
    focused: Option<ApprovalId>,
) -> Option<&'a SessionApproval> {
    let at = focused.and_then(|id| asks.iter().position(|approval| approval.ask.id == id));
    match at {
        Some(at) => asks.get((at + 1) % asks.len()),
        None => asks.iter().find(|approval| Some(&approval.fid) == shown).or(asks.first()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chat_core::message::{ApprovalKind, ApprovalRequest, ToolCallId};

    use super::*;

    fn asked(fid: &str) -> SessionApproval {
        let ask = ApprovalRequest {
            id: ApprovalId::generate(),
            call: ToolCallId::new("c1"),
            tool: String::new(),
            kind: ApprovalKind::GoOn { rounds: 1 },
        };
        SessionApproval { fid: Fid::new(fid), ask: Arc::new(ask) }
    }

    #[test]
    fn the_next_one_is_that_of_the_shown_chat_and_then_each_in_turn() {
        let asks = ["a", "b", "b", "c"].map(asked);
        let at = |shown: &str, focused: Option<usize>| {
            let focused = focused.map(|at| asks[at].ask.id);
            let next = next(&asks, Some(&Fid::new(shown)), focused).expect("something waits");
            asks.iter().position(|approval| approval == next)
        };
        assert_eq!(at("b", None), Some(1));
        assert_eq!(at("x", None), Some(0));
        assert_eq!(at("b", Some(1)), Some(2));
        assert_eq!(at("b", Some(2)), Some(3));
        assert_eq!(at("c", Some(3)), Some(0));
        assert_eq!(next(&[], None, Some(asks[0].ask.id)), None);
    }
}
