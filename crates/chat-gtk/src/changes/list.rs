//! Shows the list of changes, with widgets only for visible rows, and handles the keys that move
//! from change to change.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::gtk::prelude::*;

use super::item::Item;
use super::listing::Verdict;
use super::row::{Act, ActHandler, Row};
use crate::accessible;
use crate::models::has_keyboard;

/// For how many frames to look for the target row, until the list is laid out.
const FRAMES: u32 = 10;

/// The list.
pub(super) struct List {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::ScrolledWindow,
    view: gtk::ListView,
    model: gio::ListStore,
    /// The rows that exist, most of which show an item.
    rows: Rc<RefCell<Vec<glib::WeakRef<gtk::ListItem>>>>,
    width: Cell<i32>,
    pointer: gtk::EventControllerMotion,
    /// An answer is being given by key, wherever the pointer is.
    by_key: Cell<bool>,
    /// The last answer was given with the pointer, so the list does not scroll.
    still: Cell<bool>,
    on_act: ActHandler,
}

impl List {
    pub(super) fn new(on_act: ActHandler) -> Self {
        let model = gio::ListStore::new::<glib::BoxedAnyObject>();
        let rows: Rc<RefCell<Vec<glib::WeakRef<gtk::ListItem>>>> = Rc::default();
        let factory = gtk::SignalListItemFactory::new();
        let (made, on_row_act) = (Rc::clone(&rows), Rc::clone(&on_act));
        factory.connect_setup(move |_, item| {
            let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
            item.set_child(Some(&Row::new(&on_row_act)));
            let mut made = made.borrow_mut();
            made.retain(|item| item.upgrade().is_some());
            made.push(item.downgrade());
        });
        factory.connect_bind(|_, item| {
            let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
            let (Some(row), Some(shown)) = (row_of(item), item.item()) else { return };
            if let Some(shown) = shown.downcast_ref::<glib::BoxedAnyObject>() {
                row.show(&shown.borrow::<Item>());
            }
        });
        let selection = gtk::NoSelection::new(Some(model.clone()));
        let view = gtk::ListView::builder()
            .model(&selection)
            .factory(&factory)
            .css_classes(["changes"])
            .build();
        accessible::set_label(&view, &gettext("Changes"));
        let root = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Never)
            .vexpand(true)
            .child(&view)
            .build();
        let pointer = gtk::EventControllerMotion::new();
        root.add_controller(pointer.clone());
        let (width, by_key, still) = (Cell::new(0), Cell::new(false), Cell::new(false));
        let inner =
            Rc::new(Inner { root, view, model, rows, width, pointer, by_key, still, on_act });
        inner.connect();
        Self { inner }
    }

    pub(super) fn widget(&self) -> &gtk::ScrolledWindow {
        &self.inner.root
    }

    /// Its width, in pixels.
    pub(super) fn width(&self) -> i32 {
        self.inner.width.get()
    }

    /// Calls this when the width changes.
    pub(super) fn connect_width(&self, changed: impl Fn() + 'static) {
        let weak = Rc::downgrade(&self.inner);
        let changed = Rc::new(changed);
        self.inner.root.hadjustment().connect_page_size_notify(move |across| {
            let Some(inner) = weak.upgrade() else { return };
            let width = across.page_size() as i32;
            if inner.width.replace(width) != width {
                // Not during the layout that changed it.
                let changed = Rc::clone(&changed);
                glib::idle_add_local_once(move || changed());
            }
        });
    }

    /// Called before an answer. Returns whether the pointer is used: then nothing may move below
    /// it.
    pub(super) fn begin_answer(&self) -> bool {
        let is_by_pointer = self.inner.pointer.contains_pointer() && !self.inner.by_key.get();
        self.inner.still.set(is_by_pointer);
        is_by_pointer
    }

    /// Calls this when the pointer leaves, or a key is pressed.
    pub(super) fn connect_away(&self, away: impl Fn() + 'static) {
        let away = Rc::new(away);
        // The pointer may also leave while other rows are being shown.
        let later = move || {
            let away = Rc::clone(&away);
            glib::idle_add_local_once(move || away());
        };
        let left = later.clone();
        self.inner.pointer.connect_leave(move |_| left());
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        keys.connect_key_pressed(move |_, _, _, _| {
            later();
            glib::Propagation::Proceed
        });
        self.inner.root.add_controller(keys);
    }

    /// The heights of the rows of a file or change, and of the row of its file, as far as they
    /// exist.
    pub(super) fn heights(&self, stop: &Item) -> (i32, i32) {
        let inner = &self.inner;
        let all: Vec<Item> =
            (0..inner.model.n_items() as usize).map_while(|at| inner.item(at)).collect();
        let key = stop.file().key();
        let is_file = |item: &Item| matches!(item, Item::File { .. });
        let head = all.iter().position(|item| is_file(item) && item.file().key() == key);
        let start = match stop.hunk() {
            Some(hunk) => all.iter().position(|item| item.hunk() == Some(hunk)),
            None => head,
        };
        let (Some(head), Some(start)) = (head, start) else { return (0, 0) };
        let is_end = |item: &&Item| is_file(item) || stop.hunk().is_some() && item.is_stop();
        let length = all[start + 1..].iter().take_while(|item| !is_end(item)).count();
        let height = |at: usize| {
            let row = inner.row_at(at as u32).and_then(|row| WidgetExt::parent(&row));
            row.map_or(0, |place| place.height())
        };
        // Gaps in between stay.
        let rows = (start..=start + length).filter(|at| !matches!(all[*at], Item::Gap { .. }));
        // The gap gets the same margins as a row.
        let around = inner.row_at(start as u32).map_or(0, |row| height(start) - row.height());
        ((rows.map(height).sum::<i32>() - around).max(0), height(head))
    }

    /// Shows these rows. Unchanged ones keep their widgets and positions.
    pub(super) fn show(&self, items: &[Item]) {
        let inner = &self.inner;
        let before = inner.model.n_items() as usize;
        let like = |at: usize, item: &Item| inner.item(at).is_some_and(|old| old.is_like(item));
        let start = (0..before.min(items.len())).take_while(|&at| like(at, &items[at])).count();
        let most = before.min(items.len()) - start;
        let same = |back: &usize| like(before - 1 - back, &items[items.len() - 1 - back]);
        let end = (0..most).take_while(same).count();
        if (start, start) == (before - end, items.len() - end) {
            return;
        }
        let at = inner.at_keyboard();
        let is_hunk = |place: usize| matches!(inner.item(place), Some(Item::Hunk { .. }));
        let was_hunk = at.is_some_and(|at| is_hunk(at as usize));
        let new: Vec<_> = items[start..items.len() - end]
            .iter()
            .map(|item| glib::BoxedAnyObject::new(item.clone()))
            .collect();
        inner.model.splice(start as u32, (before - end - start) as u32, &new);
        // After an answer, the focus moves to the next change.
        if let Some(at) = at.filter(|at| *at >= start as u32) {
            // Pressing the same key again must not answer a whole file.
            let hunks = was_hunk && (at as usize..items.len()).any(is_hunk);
            let is_next = |place: u32, item: &Item| {
                place >= at
                    && if hunks { matches!(item, Item::Hunk { .. }) } else { item.is_stop() }
            };
            match inner.find(is_next) {
                Some(next) if inner.still.get() => inner.go_where_seen(next),
                Some(next) => inner.go_to(next, FRAMES),
                None => {}
            }
        }
    }

    /// Moves the focus to the first row for which this is true, or to the last stop.
    pub(super) fn go(&self, is_it: impl Fn(u32, &Item) -> bool) {
        self.inner.go(is_it);
    }
}

impl Inner {
    fn connect(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.view.connect_activate(move |_, at| {
            let Some(inner) = weak.upgrade() else { return };
            match inner.item(at as usize) {
                Some(item @ Item::File { .. }) => (inner.on_act)(&item, Act::Toggle),
                Some(item @ Item::Hunk { .. }) => (inner.on_act)(&item, Act::Open),
                _ => {}
            }
        });
        let keys = gtk::EventControllerKey::new();
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            match weak.upgrade().filter(|_| modifiers.is_empty()) {
                Some(inner) if inner.press(key) => glib::Propagation::Stop,
                _ => glib::Propagation::Proceed,
            }
        });
        self.view.add_controller(keys);
    }

    /// Handles a key press in the list. Returns whether it was handled.
    fn press(self: &Rc<Self>, key: gdk::Key) -> bool {
        let Some(at) = self.at_keyboard() else { return false };
        match key {
            gdk::Key::j => self.go(|place, item| place > at && item.is_stop()),
            gdk::Key::k => {
                let before = (0..at)
                    .rev()
                    .find(|&place| self.item(place as usize).is_some_and(|item| item.is_stop()));
                self.go(|place, _| place == before.unwrap_or_default());
            }
            gdk::Key::a => self.answer(at, Verdict::Accept),
            gdk::Key::r => self.answer(at, Verdict::Reject),
            _ => return false,
        }
        self.by_key.set(false);
        // After a click no row is marked, so the user could not see what the next key answers.
        if let Some(window) = self.view.root().and_downcast::<gtk::Window>() {
            window.set_focus_visible(true);
        }
        true
    }

    /// Answers the change or the file of this row.
    fn answer(&self, at: u32, verdict: Verdict) {
        self.by_key.set(true);
        let head = (0..=at)
            .rev()
            .find(|&place| self.item(place as usize).is_some_and(|item| item.is_stop()));
        if let Some(item) = head.and_then(|head| self.item(head as usize)) {
            (self.on_act)(&item, Act::Answer(verdict));
        }
    }

    fn item(&self, at: usize) -> Option<Item> {
        let item = self.model.item(at as u32)?.downcast::<glib::BoxedAnyObject>().ok()?;
        Some(item.borrow::<Item>().clone())
    }

    fn row_at(&self, at: u32) -> Option<Row> {
        let rows = self.rows.borrow();
        let mut shown = rows.iter().filter_map(glib::WeakRef::upgrade);
        shown.find(|item| item.position() == at).and_then(|item| row_of(&item))
    }

    /// The position of the row with the keyboard focus.
    fn at_keyboard(&self) -> Option<u32> {
        let rows = self.rows.borrow();
        rows.iter().filter_map(glib::WeakRef::upgrade).find_map(|item| {
            let place = WidgetExt::parent(&row_of(&item)?)?;
            has_keyboard(&place).then(|| item.position())
        })
    }

    /// Moves to the first row for which this is true, or to the last stop.
    fn go(self: &Rc<Self>, is_it: impl Fn(u32, &Item) -> bool) {
        if let Some(at) = self.find(is_it) {
            self.go_to(at, FRAMES);
        }
    }

    /// The first row for which this is true, or the last stop.
    fn find(&self, is_it: impl Fn(u32, &Item) -> bool) -> Option<u32> {
        let mut last = None;
        for at in 0..self.model.n_items() {
            let Some(item) = self.item(at as usize) else { break };
            if is_it(at, &item) {
                return Some(at);
            }
            if item.is_stop() {
                last = Some(at);
            }
        }
        last
    }

    /// Moves to a row if all of it is visible, so that nothing moves under the pointer.
    fn go_where_seen(self: &Rc<Self>, at: u32) {
        let weak = Rc::downgrade(self);
        self.view.add_tick_callback(move |_, _| {
            let Some(inner) = weak.upgrade() else { return glib::ControlFlow::Break };
            let place = inner.row_at(at).and_then(|row| WidgetExt::parent(&row));
            let is_seen = |place: &gtk::Widget| {
                let high = inner.root.height() as f32;
                place
                    .compute_bounds(&inner.root)
                    .is_some_and(|bounds| bounds.y() >= 0.0 && bounds.y() + bounds.height() <= high)
            };
            if let Some(place) = place.filter(is_seen) {
                place.grab_focus();
            }
            glib::ControlFlow::Break
        });
    }

    fn go_to(self: &Rc<Self>, at: u32, frames: u32) {
        let _ = self.view.activate_action("list.scroll-to-item", Some(&at.to_variant()));
        let weak = Rc::downgrade(self);
        self.view.add_tick_callback(move |_, _| {
            let Some(inner) = weak.upgrade() else { return glib::ControlFlow::Break };
            let place = inner.row_at(at).and_then(|row| WidgetExt::parent(&row));
            let there = place.is_some_and(|place| place.grab_focus());
            if !there && frames > 0 {
                inner.go_to(at, frames - 1);
            }
            glib::ControlFlow::Break
        });
    }
}

fn row_of(item: &gtk::ListItem) -> Option<Row> {
    item.child().and_downcast()
}

#[cfg(test)]
impl List {
    /// How many row widgets were created.
    pub(super) fn rows(&self) -> usize {
        self.inner.rows.borrow().len()
    }

    /// Presses a key in the row of this change.
    pub(super) fn press_at(&self, hunk: chat_core::review::HunkId, key: gdk::Key) {
        let at = (0..self.inner.model.n_items())
            .find(|at| self.inner.item(*at as usize).is_some_and(|item| item.hunk() == Some(hunk)));
        let place = at.and_then(|at| self.inner.row_at(at)).and_then(|row| WidgetExt::parent(&row));
        assert!(place.is_some_and(|place| place.grab_focus()), "it takes the keyboard");
        assert!(self.inner.press(key), "the key means something");
    }

    /// Whether the keyboard focus is on a change rather than on a file.
    pub(super) fn is_at_hunk(&self) -> bool {
        let at = self.inner.at_keyboard().and_then(|at| self.inner.item(at as usize));
        at.is_some_and(|item| item.hunk().is_some())
    }
}
