//! Lists what waits for the user in all chats, the oldest first. Nothing moves under the pointer: an
//! item that was answered keeps its place until the pointer has left the list.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use adw::prelude::*;
use chat_core::error::{Error, Kind, Result};
use chat_core::message::{ApprovalId, Fid};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::Output;
use super::guard::InputGuard;
use super::item::{ApprovalItem, Progress, Waiting};
use crate::accessible;
use crate::conversation::{self, ApprovalCard, ApprovalCards};
use crate::models::has_keyboard;

/// The list.
pub(super) struct ApprovalList {
    scroller: gtk::ScrolledWindow,
    column: gtk::Box,
    cards: ApprovalCards,
    items: RefCell<Vec<ApprovalItem>>,
    /// The cards whose answers are on their way.
    sent: RefCell<HashMap<ApprovalId, Rc<ApprovalCard>>>,
    guard: Rc<InputGuard>,
    /// The width, and the greatest height, in pixels.
    room: Cell<(i32, i32)>,
    output: Rc<dyn Fn(Output)>,
}

impl ApprovalList {
    pub(super) fn new(cards: ApprovalCards, output: Rc<dyn Fn(Output)>) -> Rc<Self> {
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(14)
            .css_classes(["waiting-list"])
            .build();
        let scroller = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Never)
            .child(&column)
            .build();
        accessible::set_label(&scroller, &gettext("Waiting for You"));
        let guard = InputGuard::install(&column);
        let list = Rc::new(Self {
            scroller,
            column,
            cards,
            items: RefCell::default(),
            sent: RefCell::default(),
            guard,
            room: Cell::default(),
            output,
        });
        list.connect();
        list
    }

    fn connect(self: &Rc<Self>) {
        let pointer = gtk::EventControllerMotion::new();
        let weak = Rc::downgrade(self);
        pointer.connect_leave(move |_| {
            later(&weak, |list| {
                if !list.has_pointer() {
                    list.remove_over();
                }
            });
        });
        self.scroller.add_controller(pointer);
        let weak = Rc::downgrade(self);
        self.scroller.vadjustment().connect_changed(move |_| later(&weak, Self::fit));
        // The conversation has taken the new colors by then.
        let weak = Rc::downgrade(self);
        let restyle = move || later(&weak, Self::recolour);
        let style = adw::StyleManager::default();
        let changed = restyle.clone();
        style.connect_dark_notify(move |_| changed());
        style.connect_high_contrast_notify(move |_| restyle());
    }

    pub(super) fn widget(&self) -> &gtk::ScrolledWindow {
        &self.scroller
    }

    /// Whether the pointer is over the list. The controller does not know that while another popover
    /// takes the pointer, and when what is under it can no longer be clicked.
    pub(super) fn has_pointer(&self) -> bool {
        let inside = || {
            let native = self.scroller.native().filter(|_| self.scroller.is_mapped())?;
            let pointer = self.scroller.display().default_seat()?.pointer()?;
            let (x, y, _) = native.surface()?.device_position(&pointer)?;
            let (left, top) = native.surface_transform();
            let bounds = self.scroller.compute_bounds(&native)?;
            let at = gtk::graphene::Point::new((x - left) as f32, (y - top) as f32);
            Some(bounds.contains_point(&at))
        };
        inside() == Some(true)
    }

    /// Sets the width, and the greatest height, in pixels.
    pub(super) fn set_room(&self, width: i32, height: i32) {
        self.room.set((width, height));
        self.scroller.set_width_request(width);
        self.fit();
    }

    /// Makes the list as tall as it needs. A scrolled window does not know that before it has a width.
    fn fit(&self) {
        let (width, tallest) = self.room.get();
        let wanted = self.column.measure(gtk::Orientation::Vertical, width).1.min(tallest);
        if wanted > 0 && self.scroller.min_content_height() != wanted {
            // The other limit must never be lower.
            self.scroller.set_max_content_height(-1);
            self.scroller.set_min_content_height(wanted);
            self.scroller.set_max_content_height(wanted);
        }
    }

    /// Shows what waits, the oldest first. `adds` says whether what is new gets an item now.
    pub(super) fn show(self: &Rc<Self>, waiting: &[Waiting], adds: bool) {
        let of = |id| waiting.iter().find(|waiting| waiting.approval.ask.id == id);
        let mut typed = Vec::new();
        for item in self.items.borrow().iter() {
            let id = item.approval.ask.id;
            if let Some(waiting) = of(id) {
                item.update(waiting);
                // Its answer could not be stored.
                if item.is_over() && !self.sent.borrow().contains_key(&id) {
                    item.set_progress(Progress::Waits);
                }
            } else {
                typed.extend(item.card.end().map(|text| (item.approval.fid.clone(), text)));
                self.end(item, Progress::Ended);
            }
        }
        for (fid, text) in typed {
            (self.output)(Output::GiveBack(fid, text));
        }
        if !self.has_pointer() {
            self.remove_over();
        }
        if adds {
            for waiting in waiting {
                self.add(waiting);
            }
        }
        self.fit();
    }

    /// An item no longer waits. If it has the focus, the next one gets it.
    fn end(&self, item: &ApprovalItem, progress: Progress) {
        if item.is_over() {
            return;
        }
        let had_keyboard = has_keyboard(&item.root);
        if had_keyboard {
            self.focus_next_to(item.approval.ask.id);
        }
        item.set_progress(progress);
    }

    /// Focuses the item after this one, or the last one before it.
    fn focus_next_to(&self, id: ApprovalId) {
        let items = self.items.borrow();
        let others = || items.iter().filter(|item| !item.is_over());
        let next = others()
            .find(|item| item.approval.ask.id > id)
            .or_else(|| others().rfind(|item| item.approval.ask.id < id));
        if let Some(next) = next {
            self.guard.hold_keys();
            // With the mouse, the list is not scrolled to it: it would move below the pointer.
            let window = self.column.root().and_downcast::<gtk::Window>();
            let by_keyboard = window.is_some_and(|window| window.gets_focus_visible());
            let viewport = self.scroller.child().and_downcast::<gtk::Viewport>();
            let scrolls = by_keyboard || !self.has_pointer();
            if let Some(viewport) = &viewport {
                viewport.set_scroll_to_focus(scrolls);
            }
            self.guard.hold_clicks();
            next.card.focus();
            if let Some(viewport) = &viewport {
                viewport.set_scroll_to_focus(true);
            }
        }
    }

    /// Focuses the first item.
    pub(super) fn focus(&self) {
        let items = self.items.borrow();
        if let Some(first) = items.iter().find(|item| !item.is_over()) {
            // The key that opened the list may still be held down.
            self.guard.hold_keys();
            first.card.focus();
        }
    }

    /// Removes the items that were answered, except those whose answers may still fail.
    fn remove_over(&self) {
        let sent = self.sent.borrow();
        let is_over =
            |item: &ApprovalItem| item.is_over() && !sent.contains_key(&item.approval.ask.id);
        let mut items = self.items.borrow_mut();
        let gone: Vec<_> = items.extract_if(.., |item| is_over(item)).collect();
        drop((items, sent));
        if !gone.is_empty() {
            self.guard.hold_clicks();
        }
        for item in &gone {
            self.column.remove(&item.root);
        }
        self.fit();
    }

    fn add(self: &Rc<Self>, waiting: &Waiting) {
        let approval = &waiting.approval;
        let id = approval.ask.id;
        let place = self.items.borrow().partition_point(|item| item.approval.ask.id < id);
        let is_there = |item: &ApprovalItem| item.approval.ask.id == id;
        if self.items.borrow().get(place).is_some_and(is_there) {
            return;
        }
        let weak = Rc::downgrade(self);
        let fid = approval.fid.clone();
        let used = move |output| {
            if let Some(list) = weak.upgrade() {
                list.used(&fid, output);
            }
        };
        let card = self.cards.card(&approval.fid, &approval.ask, waiting.folder.is_some(), used);
        let (output, fid) = (Rc::clone(&self.output), approval.fid.clone());
        let item = ApprovalItem::new(waiting, card, move || output(Output::Show(fid.clone(), id)));
        let before = place.checked_sub(1);
        let before = before.map(|before| self.items.borrow()[before].root.clone());
        self.column.insert_child_after(&item.root, before.as_ref());
        if place < self.items.borrow().len() {
            self.guard.hold_clicks();
        }
        self.items.borrow_mut().insert(place, item);
    }

    /// Handles what the user does with a card.
    fn used(&self, fid: &Fid, output: conversation::Output) {
        match output {
            conversation::Output::Answer { ask, answer } => {
                let items = self.items.borrow();
                let Some(item) = items.iter().find(|item| item.approval.ask.id == ask) else {
                    return;
                };
                self.sent.borrow_mut().insert(ask, Rc::clone(&item.card));
                self.end(item, Progress::Answered);
                drop(items);
                (self.output)(Output::Answer { fid: fid.clone(), ask, answer });
            }
            conversation::Output::OpenLink(url) => {
                let window = self.column.root().and_downcast::<gtk::Window>();
                gtk::show_uri(window.as_ref(), &url, gtk::gdk::CURRENT_TIME);
            }
            _ => {}
        }
    }

    /// An answer has arrived, or failed to. Returns the error if the card does not show it.
    pub(super) fn answered(
        &self,
        fid: &Fid,
        ask: ApprovalId,
        result: Result<bool>,
    ) -> Option<Error> {
        let card = self.sent.borrow_mut().remove(&ask)?;
        if let Some(text) = card.answered(matches!(result, Ok(true))) {
            (self.output)(Output::GiveBack(fid.clone(), text));
        }
        let Err(error) = result else {
            if !self.has_pointer() {
                self.remove_over();
            }
            return None;
        };
        if let Some(item) = self.items.borrow().iter().find(|item| item.approval.ask.id == ask) {
            item.set_progress(Progress::Waits);
        }
        match error.kind {
            Kind::RuleMismatch | Kind::FormMismatch => {
                card.refuse(&words::sentence(&error));
                None
            }
            Kind::SessionNotFound { .. } => None,
            _ => Some(error),
        }
    }

    /// Takes what was typed and not sent, with its chat.
    pub(super) fn take_typed(&self) -> Vec<(Fid, String)> {
        let items = self.items.borrow();
        let typed = |item: &ApprovalItem| {
            item.card.take_typed().map(|text| (item.approval.fid.clone(), text))
        };
        items.iter().filter_map(typed).collect()
    }

    fn recolour(&self) {
        for item in self.items.borrow().iter() {
            item.card.recolour();
        }
    }
}

/// Does this when the program is idle: widgets must not change while sizes or crossings are handled.
fn later(list: &Weak<ApprovalList>, what: impl Fn(&ApprovalList) + 'static) {
    let list = list.clone();
    glib::idle_add_local_once(move || {
        if let Some(list) = list.upgrade() {
            what(&list);
        }
    });
}
