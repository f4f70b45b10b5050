//! Folds what is long to its first lines, with a button that shows the rest.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;

use crate::accessible;
use crate::layout::{self, Layout, height_of, width_of};

/// How many lines a folded text shows.
const LINES: i32 = 12;
/// How much taller a text must be to be folded, in lines: a button that shows one more line helps nobody.
const SPARE: i32 = 3;

/// A folded text. Cheap to clone.
#[derive(Clone)]
pub struct Fold {
    root: gtk::Box,
    button: gtk::Button,
    open: Rc<Cell<bool>>,
    /// Draws what is not drawn yet, where that is so.
    rest: Rc<RefCell<Option<DrawRest>>>,
}

type DrawRest = Box<dyn FnOnce()>;

impl Fold {
    /// Folds a text, if it is long. `hold` keeps what is seen in its place while it opens; `rest` draws what is not drawn
    /// before that.
    pub fn new(text: &gtk::Widget, hold: &Rc<dyn Fn()>, rest: Option<DrawRest>) -> Self {
        let open = Rc::<Cell<bool>>::default();
        let rest = Rc::new(RefCell::new(rest));
        let root = gtk::Box::builder().overflow(gtk::Overflow::Hidden).build();
        root.append(text);
        let button = gtk::Button::builder()
            .halign(gtk::Align::Start)
            .visible(false)
            .css_classes(["flat", "caption"])
            .build();
        let fold = Self { root, button, open, rest };
        let layout = Folded {
            open: Rc::clone(&fold.open),
            rest: Rc::clone(&fold.rest),
            button: fold.button.downgrade(),
        };
        fold.root.set_layout_manager(Some(layout::manager(layout)));
        fold.show();
        let (weak, hold) = (fold.root.downgrade(), Rc::clone(hold));
        let (open, rest) = (Rc::clone(&fold.open), Rc::clone(&fold.rest));
        fold.button.connect_clicked(move |button| {
            if let Some(root) = weak.upgrade() {
                hold();
                let (open, rest) = (Rc::clone(&open), Rc::clone(&rest));
                let fold = Self { root, button: button.clone(), open, rest };
                fold.set_open(!fold.open.get());
            }
        });
        fold
    }

    /// The text, or its first lines.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The button below it, seen where there is more.
    pub fn button(&self) -> &gtk::Button {
        &self.button
    }

    /// Shows all of it.
    pub fn open(&self) {
        self.set_open(true);
    }

    fn set_open(&self, open: bool) {
        if self.open.replace(open) != open {
            if let Some(draw) = self.rest.take().filter(|_| open) {
                draw();
            }
            self.show();
            self.root.queue_resize();
        }
    }

    fn show(&self) {
        let open = self.open.get();
        self.button.set_label(&if open { gettext("Show Less") } else { gettext("Show More") });
        accessible::set_expanded(&self.button, open);
    }
}

/// As tall as the first lines.
struct Folded {
    open: Rc<Cell<bool>>,
    rest: Rc<RefCell<Option<DrawRest>>>,
    button: gtk::glib::WeakRef<gtk::Button>,
}

impl Layout for Folded {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(child) = widget.first_child() else { return (0, 0) };
        if orientation == gtk::Orientation::Horizontal {
            return width_of(&child);
        }
        let height = height_of(&child, for_size);
        let height = if self.open.get() { height } else { shown(&child, height) };
        (height, height)
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        let Some(child) = widget.first_child() else { return };
        let all = height_of(&child, width);
        child.size_allocate(&gtk::Allocation::new(0, 0, width, all.max(height)), -1);
        let is_long = shown(&child, all) < all || self.rest.borrow().is_some();
        if let Some(button) = self.button.upgrade().filter(|it| it.get_visible() != is_long) {
            // Widgets must not change their size while sizes are being given out.
            gtk::glib::idle_add_local_once(move || button.set_visible(is_long));
        }
    }
}

/// How much of a text is shown that is so tall, in pixels.
fn shown(text: &gtk::Widget, height: i32) -> i32 {
    let letters = text.create_pango_layout(Some("Ag"));
    let line = f64::from(letters.pixel_size().1) * 1.45;
    let most = |lines: i32| (line * f64::from(lines)) as i32;
    if height > most(LINES + SPARE) { most(LINES) } else { height }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn only_a_long_text_is_folded_and_opens() {
        crate::init();
        let fold_of = |lines: usize| {
            let label = gtk::Label::new(Some(&"word\n".repeat(lines)));
            let hold: Rc<dyn Fn()> = Rc::new(|| {});
            Fold::new(label.upcast_ref(), &hold, None)
        };
        let (short, long) = (fold_of(8), fold_of(60));
        let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
        for fold in [&short, &long] {
            column.append(fold.widget());
            column.append(fold.button());
        }
        let window = gtk::Window::builder().child(&column).build();
        window.present();
        until("the button", || long.button().is_mapped());
        assert!(!short.button().is_visible());
        let folded = long.widget().height();
        long.button().emit_clicked();
        until("all of it", || long.widget().height() > 2 * folded);
        long.button().emit_clicked();
        until("its first lines", || long.widget().height() == folded);
        window.destroy();
    }

    #[gtk::test]
    fn what_is_not_drawn_is_drawn_once_it_is_opened() {
        crate::init();
        let text = gtk::Box::new(gtk::Orientation::Vertical, 0);
        text.append(&gtk::Label::new(Some("the first words")));
        let (hold, all): (Rc<dyn Fn()>, _) = (Rc::new(|| {}), text.clone());
        let rest = move || all.append(&gtk::Label::new(Some("and more")));
        let fold = Fold::new(text.upcast_ref(), &hold, Some(Box::new(rest)));
        let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
        column.append(fold.widget());
        column.append(fold.button());
        let window = gtk::Window::builder().child(&column).build();
        window.present();
        until("the button of a short text", || fold.button().is_mapped());
        assert_eq!(text.observe_children().n_items(), 1);
        fold.button().emit_clicked();
        assert_eq!(text.observe_children().n_items(), 2);
        until("no button, since all is seen", || !fold.button().is_visible());
        window.destroy();
    }
}
