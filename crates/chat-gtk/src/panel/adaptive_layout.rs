//! The layout of the conversation and the panel: beside each other where both have room, else one in
//! the place of the other. A handle between them is dragged.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::subclass::prelude::*;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::accessible;

/// From this width on both have room, in pixels: that of a window of 1000 beside the list of chats.
const BOTH_FIT: i32 = 739;
/// The narrowest that dragging makes either, in pixels.
const MIN_WIDTH: i32 = 340;
/// The panel's width until it is dragged, in pixels: room for a line of code.
const DEFAULT_WIDTH: i32 = 560;
/// The conversation keeps this width while the panel has the usual one, in pixels.
const READABLE: i32 = 400;
/// Narrower than this the conversation's header has no room for whole names, in pixels. With the usual widths it has.
const NARROW: i32 = 380;
/// The width of the handle, which stands over the border between the two.
const HANDLE: i32 = 8;
/// How far an arrow key moves the handle, in pixels.
const STEP: i32 = 20;

/// Which of the two are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VisiblePanes {
    /// The conversation alone.
    Conversation,
    /// Both, beside each other.
    Both,
    /// The panel in the conversation's place.
    Panel,
}

mod imp {
    use super::{
        Cell, DEFAULT_WIDTH, HANDLE, LayoutManagerImpl, MIN_WIDTH, ObjectImpl, ObjectSubclass,
        ObjectSubclassExt, READABLE, Rc, RefCell, RootExt, VisiblePanes, WidgetExt, glib, three,
    };

    pub struct AdaptiveLayout {
        pub changed: RefCell<Option<Rc<dyn Fn()>>>,
        pub shown: Cell<bool>,
        pub front: Cell<bool>,
        /// The width that the person gave the panel.
        pub wanted: Cell<Option<i32>>,
        pub width: Cell<i32>,
        /// Whether the conversation has little width.
        pub narrow: Cell<bool>,
    }

    impl Default for AdaptiveLayout {
        fn default() -> Self {
            Self {
                changed: RefCell::default(),
                shown: Cell::new(false),
                front: Cell::new(false),
                wanted: Cell::new(None),
                width: Cell::new(0),
                narrow: Cell::new(false),
            }
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for AdaptiveLayout {
        const NAME: &'static str = "NatterAdaptiveLayout";
        type Type = super::AdaptiveLayout;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for AdaptiveLayout {}

    impl LayoutManagerImpl for AdaptiveLayout {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::ConstantSize
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            _for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let Some([chat, panel, _]) = three(widget) else { return (0, 0, -1, -1) };
            let (least, natural, ..) = chat.measure(orientation, -1);
            if !self.shown.get() {
                return (least, natural, -1, -1);
            }
            let (other, ..) = panel.measure(orientation, -1);
            let natural = match orientation {
                gtk::Orientation::Horizontal => {
                    natural + self.wanted.get().unwrap_or(DEFAULT_WIDTH)
                }
                _ => natural,
            };
            let least = least.max(other);
            (least, natural.max(least), -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            let Some([chat, panel, handle]) = three(widget) else { return };
            let was = self.visible_panes();
            self.width.set(width);
            if was == VisiblePanes::Both && self.visible_panes() != was {
                // What is hidden would lose the keyboard to the first button in the window.
                if let Some(focus) = widget.root().and_then(|root| root.focus()) {
                    if focus.is_ancestor(&panel) {
                        self.front.set(true);
                    } else if focus.is_ancestor(&chat) {
                        self.front.set(false);
                    }
                }
            }
            let visible = self.visible_panes();
            chat.set_child_visible(visible != VisiblePanes::Panel);
            panel.set_child_visible(visible != VisiblePanes::Conversation);
            handle.set_child_visible(visible == VisiblePanes::Both);
            let mut chat_width = width;
            let place = |widget: &gtk::Widget, x: i32, width: i32| {
                widget.size_allocate(&gtk::Allocation::new(x, 0, width, height), -1);
            };
            match visible {
                VisiblePanes::Conversation => place(&chat, 0, width),
                VisiblePanes::Panel => place(&panel, 0, width),
                VisiblePanes::Both => {
                    let wide = self.panel_within(width);
                    let to_left = widget.direction() == gtk::TextDirection::Rtl;
                    chat_width = width - wide;
                    let border = if to_left { wide } else { width - wide };
                    place(&chat, if to_left { wide } else { 0 }, width - wide);
                    place(&panel, if to_left { 0 } else { width - wide }, wide);
                    place(&handle, border - HANDLE / 2, HANDLE);
                }
            }
            let narrow = chat_width < super::NARROW;
            if self.narrow.replace(narrow) != narrow || visible != was {
                super::notify_changed_soon(&self.obj());
            }
        }
    }

    impl AdaptiveLayout {
        /// The panel's width where both stand in this one.
        pub(crate) fn panel_within(&self, width: i32) -> i32 {
            let wanted = self.wanted.get().unwrap_or_else(|| DEFAULT_WIDTH.min(width - READABLE));
            wanted.clamp(MIN_WIDTH, (width - MIN_WIDTH).max(MIN_WIDTH))
        }

        pub(crate) fn visible_panes(&self) -> VisiblePanes {
            match (self.shown.get(), self.width.get() >= super::BOTH_FIT) {
                (true, true) => VisiblePanes::Both,
                (true, false) if self.front.get() => VisiblePanes::Panel,
                _ => VisiblePanes::Conversation,
            }
        }
    }
}

glib::wrapper! {
    /// The layout.
    pub struct AdaptiveLayout(ObjectSubclass<imp::AdaptiveLayout>) @extends gtk::LayoutManager;
}

/// Tells after the layout is done: nothing may be changed in its middle.
fn notify_changed_soon(layout: &AdaptiveLayout) {
    let layout = layout.clone();
    glib::idle_add_local_full(glib::Priority::HIGH, move || {
        layout.notify_changed();
        glib::ControlFlow::Break
    });
}

impl AdaptiveLayout {
    /// A box of the panel and the handle, to which the conversation is to be prepended.
    pub(crate) fn new(panel: &gtk::Box) -> (gtk::Box, Self) {
        let handle = handle();
        let root = gtk::Box::builder().hexpand(true).build();
        root.append(panel);
        root.append(&handle);
        let layout = glib::Object::new::<Self>();
        root.set_layout_manager(Some(layout.clone()));
        layout.connect_handle(&handle);
        (root, layout)
    }

    /// Calls this when something else is seen.
    pub(crate) fn connect(&self, changed: impl Fn() + 'static) {
        self.imp().changed.replace(Some(Rc::new(changed)));
    }

    fn notify_changed(&self) {
        let changed = self.imp().changed.borrow().clone();
        if let Some(changed) = changed {
            changed();
        }
    }

    /// What is seen.
    pub(crate) fn visible_panes(&self) -> VisiblePanes {
        self.imp().visible_panes()
    }

    /// Whether the conversation has little width.
    pub(crate) fn is_narrow(&self) -> bool {
        self.imp().narrow.get()
    }

    /// Whether the panel is there at all, seen or behind the conversation.
    pub(crate) fn is_shown(&self) -> bool {
        self.imp().shown.get()
    }

    /// Shows the panel, in front of the conversation where both have no room; or the conversation.
    pub(crate) fn show_panel(&self, shown: bool) {
        self.imp().front.set(shown);
        self.set_shown(shown);
    }

    /// Whether the panel is there; where both have no room it stays behind the conversation.
    pub(crate) fn set_shown(&self, shown: bool) {
        self.imp().shown.set(shown);
        self.renew();
    }

    /// Puts the conversation in front, where only one is seen.
    pub(crate) fn show_conversation(&self) {
        if self.visible_panes() == VisiblePanes::Panel {
            self.imp().front.set(false);
            self.renew();
        }
    }

    /// The width that the person gave the panel, in pixels.
    pub(crate) fn panel_width(&self) -> Option<i32> {
        self.imp().wanted.get()
    }

    /// Sets that width.
    pub(crate) fn set_panel_width(&self, width: i32) {
        let room = self.imp().width.get() - MIN_WIDTH;
        let width = if room >= MIN_WIDTH { width.min(room) } else { width };
        self.imp().wanted.set(Some(width.max(MIN_WIDTH)));
        self.layout_changed();
    }

    fn renew(&self) {
        self.layout_changed();
        notify_changed_soon(self);
    }

    fn connect_handle(&self, handle: &gtk::Box) {
        let drag = gtk::GestureDrag::new();
        let weak = self.downgrade();
        // The handle moves along, and where the pointer is is told as seen from the handle.
        drag.connect_drag_update(move |_, x, _| {
            let Some(layout) = weak.upgrade() else { return };
            let to_left =
                layout.widget().is_some_and(|widget| widget.direction() == gtk::TextDirection::Rtl);
            let by = if to_left { x as i32 } else { -(x as i32) };
            layout.set_panel_width(layout.drawn_width() + by);
        });
        handle.add_controller(drag);
        let keys = gtk::EventControllerKey::new();
        let weak = self.downgrade();
        keys.connect_key_pressed(move |_, key, _, _| {
            let Some(layout) = weak.upgrade() else { return glib::Propagation::Proceed };
            let by = match key {
                gdk::Key::Left => STEP,
                gdk::Key::Right => -STEP,
                _ => return glib::Propagation::Proceed,
            };
            layout.set_panel_width(layout.drawn_width() + by);
            glib::Propagation::Stop
        });
        handle.add_controller(keys);
    }

    /// The width that the panel has beside the conversation.
    fn drawn_width(&self) -> i32 {
        self.imp().panel_within(self.imp().width.get())
    }
}

fn handle() -> gtk::Box {
    let handle = gtk::Box::builder()
        .focusable(true)
        .css_classes(["panel-handle"])
        .accessible_role(gtk::AccessibleRole::Separator)
        .build();
    handle.set_cursor_from_name(Some("col-resize"));
    accessible::set_label(&handle, &gettext("Panel Width"));
    handle
}

/// The conversation, the panel, and the handle.
fn three(widget: &gtk::Widget) -> Option<[gtk::Widget; 3]> {
    let chat = widget.first_child()?;
    let panel = chat.next_sibling()?;
    let handle = panel.next_sibling()?;
    Some([chat, panel, handle])
}
