//! Lays out the children of a widget as a plain Rust value says, which needs no class of its own.

use std::cell::OnceCell;

use gtk::glib;
use gtk::subclass::prelude::*;
use relm4::gtk::prelude::*;

/// Says how large a widget is, and where its children are.
pub(crate) trait Layout: 'static {
    /// Whether the height depends on the width.
    fn wraps(&self) -> bool {
        true
    }

    /// The minimum and the natural size.
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32);

    /// Places the children. An only child fills the widget.
    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        if let Some(child) = widget.first_child() {
            child.size_allocate(&gtk::Allocation::new(0, 0, width, height), -1);
        }
    }
}

mod imp {
    use super::{Layout, LayoutManagerImpl, ObjectImpl, ObjectSubclass, OnceCell, glib};

    #[derive(Default)]
    pub struct Manager {
        pub(super) layout: OnceCell<Box<dyn Layout>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Manager {
        const NAME: &'static str = "NatterLayout";
        type Type = super::Manager;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for Manager {}

    impl LayoutManagerImpl for Manager {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            if self.layout.get().is_some_and(|layout| layout.wraps()) {
                gtk::SizeRequestMode::HeightForWidth
            } else {
                gtk::SizeRequestMode::ConstantSize
            }
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let size = |layout: &dyn Layout| layout.measure(widget, orientation, for_size);
            let (least, wanted) = self.layout.get().map_or((0, 0), |layout| size(&**layout));
            (least, wanted, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            if let Some(layout) = self.layout.get() {
                layout.allocate(widget, width, height);
            }
        }
    }
}

glib::wrapper! {
    /// The layout manager of a layout.
    pub struct Manager(ObjectSubclass<imp::Manager>) @extends gtk::LayoutManager;
}

/// The layout manager of a layout, for one widget.
pub(crate) fn manager(layout: impl Layout) -> Manager {
    let manager = glib::Object::new::<Manager>();
    let _ = manager.imp().layout.set(Box::new(layout));
    manager
}

/// The children that take space.
pub(crate) fn children(widget: &gtk::Widget) -> impl Iterator<Item = gtk::Widget> {
    std::iter::successors(widget.first_child(), WidgetExt::next_sibling)
        .filter(gtk::Widget::should_layout)
}

/// The minimum and the natural width.
pub(crate) fn width_of(widget: &gtk::Widget) -> (i32, i32) {
    let (least, wanted, ..) = widget.measure(gtk::Orientation::Horizontal, -1);
    (least, wanted)
}

/// The natural height at a width.
pub(crate) fn height_of(widget: &gtk::Widget, width: i32) -> i32 {
    widget.measure(gtk::Orientation::Vertical, width).1
}

/// Places a child in a widget of this width. Where text runs to the left, all is mirrored.
pub(crate) fn place(child: &gtk::Widget, within: i32, x: i32, y: i32, (width, height): (i32, i32)) {
    let to_left =
        child.parent().is_some_and(|parent| parent.direction() == gtk::TextDirection::Rtl);
    let x = if to_left { within - x - width } else { x };
    child.size_allocate(&gtk::Allocation::new(x, y, width, height), -1);
}
