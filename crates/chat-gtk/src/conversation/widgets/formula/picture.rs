//! Defines the widget that draws a formula, or one of its parts.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use gtk::glib;
use gtk::subclass::prelude::*;

use chat_formula::{Drawing, Formula};

use super::paint;

/// The size of formulas, as a part of the text's: the letters of their fonts are small.
const SCALE: f64 = 1.15;
/// How far signs may reach beyond their box, in em.
const OVERHANG: f64 = 0.5;

/// What a picture shows.
pub struct Shown {
    formula: Arc<Formula>,
    part: usize,
    /// The size of the text, in pixels.
    text_size: Rc<Cell<f64>>,
    zoom: f64,
}

impl Shown {
    fn drawing(&self) -> &Drawing {
        &self.formula.drawings[self.part]
    }

    fn em(&self) -> f64 {
        self.text_size.get() * self.zoom * SCALE
    }

    /// How far it reaches above and below the baseline, in pixels.
    fn heights(&self) -> (i32, i32) {
        let pixels = |length: f64| (length * self.em()).ceil().max(0.0) as i32;
        (pixels(self.drawing().ascent).max(1), pixels(self.drawing().depth))
    }

    fn width(&self) -> i32 {
        width_of(self.drawing(), self.text_size.get() * self.zoom)
    }
}

/// How wide a part of a formula is in a text of this size, in pixels.
pub fn width_of(drawing: &Drawing, text_size: f64) -> i32 {
    (drawing.width * text_size * SCALE).ceil().max(1.0) as i32
}

mod imp {
    use std::cell::RefCell;

    use gtk::prelude::*;
    use gtk::subclass::prelude::*;
    use gtk::{glib, graphene};

    use super::{OVERHANG, Shown, paint};

    #[derive(Default)]
    pub struct Picture {
        pub shown: RefCell<Option<Shown>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Picture {
        const NAME: &'static str = "NatterFormula";
        type Type = super::Picture;
        type ParentType = gtk::Widget;

        fn class_init(class: &mut Self::Class) {
            class.set_css_name("formula");
            class.set_accessible_role(gtk::AccessibleRole::Img);
        }
    }

    impl ObjectImpl for Picture {}

    impl WidgetImpl for Picture {
        fn measure(&self, orientation: gtk::Orientation, _for_size: i32) -> (i32, i32, i32, i32) {
            let shown = self.shown.borrow();
            let Some(shown) = &*shown else { return (0, 0, -1, -1) };
            if orientation == gtk::Orientation::Horizontal {
                return (shown.width(), shown.width(), -1, -1);
            }
            let (ascent, depth) = shown.heights();
            (ascent + depth, ascent + depth, ascent, ascent)
        }

        fn snapshot(&self, snapshot: &gtk::Snapshot) {
            let shown = self.shown.borrow();
            let Some(shown) = &*shown else { return };
            let widget = self.obj();
            let context = widget.style_context();
            let text = context.color();
            let ground = context.lookup_color("view_bg_color");
            let em = shown.em();
            let margin = (OVERHANG * em) as f32;
            let (width, height) =
                (WidgetExt::width(&*widget) as f32, WidgetExt::height(&*widget) as f32);
            let bounds =
                graphene::Rect::new(-margin, -margin, width + 2.0 * margin, height + 2.0 * margin);
            let canvas = snapshot.append_cairo(&bounds);
            // The baseline lies on a whole pixel, as that of the text does.
            let (ascent, _) = shown.heights();
            canvas.translate(0.0, f64::from(ascent) - shown.drawing().ascent * em);
            paint::shapes(&canvas, shown.drawing(), em, paint::Colors { text, ground });
            paint::letters(snapshot, &*widget, shown.drawing(), em, text);
        }
    }
}

glib::wrapper! {
    /// A formula, or one of its parts, as a picture. A screen reader reads its name.
    pub struct Picture(ObjectSubclass<imp::Picture>)
        @extends gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget;
}

impl Picture {
    /// Shows a part of a formula at the size of a text, in pixels, times `zoom`. `is_named`: whether
    /// it is given a name; otherwise screen readers pass over it.
    pub fn new(
        formula: Arc<Formula>,
        part: usize,
        text_size: &Rc<Cell<f64>>,
        zoom: f64,
        is_named: bool,
    ) -> Self {
        let role =
            if is_named { gtk::AccessibleRole::Img } else { gtk::AccessibleRole::Presentation };
        let picture: Self = glib::Object::builder().property("accessible-role", role).build();
        let shown = Shown { formula, part, text_size: Rc::clone(text_size), zoom };
        picture.imp().shown.replace(Some(shown));
        picture
    }

    /// How far it reaches below the baseline, in pixels.
    pub fn depth(&self) -> i32 {
        self.imp().shown.borrow().as_ref().map_or(0, |shown| shown.heights().1)
    }
}
