//! Lays out the conversation and the panel: side by side where both fit, otherwise only one of
//! them. The handle between them can be dragged.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::subclass::prelude::*;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::{accessible, layout};

/// From this width on, in pixels, both fit: the width next to the chat list in a window of 1000.
const BOTH_FIT: i32 = 739;
/// The minimum width of either when dragged, in pixels.
const MIN_WIDTH: i32 = 340;
/// The panel's width until it is dragged, in pixels: enough for a line of code.
const DEFAULT_WIDTH: i32 = 560;
/// The conversation's minimum width while the panel has its default width, in pixels.
const READABLE: i32 = 400;
/// The width of the handle, which overlaps the border between the two.
const HANDLE: i32 = 8;
/// How far an arrow key moves the handle, in pixels.
const STEP: i32 = 20;

/// Which of the two are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VisiblePanes {
    /// Only the conversation.
    Conversation,
    /// Both, side by side.
    Both,
    /// The panel instead of the conversation.
    Panel,
}

mod imp {
    use super::{
        Cell, DEFAULT_WIDTH, HANDLE, LayoutManagerImpl, MIN_WIDTH, ObjectImpl, ObjectSubclass,
        ObjectSubclassExt, READABLE, Rc, RefCell, RootExt, VisiblePanes, WidgetExt, glib, layout,
        three,
    };

    #[derive(Default)]
    pub struct AdaptiveLayout {
        pub changed: RefCell<Option<Rc<dyn Fn()>>>,
        pub shown: Cell<bool>,
        pub front: Cell<bool>,
        /// The panel's width that the user chose.
        pub wanted: Cell<Option<i32>>,
        pub width: Cell<i32>,
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
                // A hidden widget would lose the focus to the first button in the window.
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
            let place = |pane, x, wide| layout::place(pane, width, x, 0, (wide, height));
            match visible {
                VisiblePanes::Conversation => place(&chat, 0, width),
                VisiblePanes::Panel => place(&panel, 0, width),
                VisiblePanes::Both => {
                    let border = width - self.panel_within(width);
                    place(&chat, 0, border);
                    place(&panel, border, width - border);
                    place(&handle, border - HANDLE / 2, HANDLE);
                }
            }
            if visible != was {
                super::notify_changed_soon(&self.obj());
            }
        }
    }

    impl AdaptiveLayout {
        /// The panel's width if both are shown in this width.
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

/// Reports after the layout: nothing may be changed during it.
fn notify_changed_soon(layout: &AdaptiveLayout) {
    let layout = layout.clone();
    glib::idle_add_local_full(glib::Priority::HIGH, move || {
        layout.notify_changed();
        glib::ControlFlow::Break
    });
}

impl AdaptiveLayout {
    /// Creates a box with the panel and the handle; the conversation is to be prepended.
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

    /// Calls this when something else becomes visible.
    pub(crate) fn connect(&self, changed: impl Fn() + 'static) {
        self.imp().changed.replace(Some(Rc::new(changed)));
    }

    fn notify_changed(&self) {
        let changed = self.imp().changed.borrow().clone();
        if let Some(changed) = changed {
            changed();
        }
    }

    /// What is visible.
    pub(crate) fn visible_panes(&self) -> VisiblePanes {
        self.imp().visible_panes()
    }

    /// Whether the panel is open at all, visible or behind the conversation.
    pub(crate) fn is_shown(&self) -> bool {
        self.imp().shown.get()
    }

    /// Shows the panel, in front of the conversation if both do not fit; or the conversation.
    pub(crate) fn show_panel(&self, shown: bool) {
        self.imp().front.set(shown);
        self.set_shown(shown);
    }

    /// Opens or closes the panel; if both do not fit, it stays behind the conversation.
    pub(crate) fn set_shown(&self, shown: bool) {
        self.imp().shown.set(shown);
        self.renew();
    }

    /// Shows the conversation, if only one is visible.
    pub(crate) fn show_conversation(&self) {
        if self.visible_panes() == VisiblePanes::Panel {
            self.imp().front.set(false);
            self.renew();
        }
    }

    /// The panel's width that the user chose, in pixels.
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
        // The handle moves during the drag, and pointer positions are relative to the handle.
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

    /// The panel's width next to the conversation.
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
