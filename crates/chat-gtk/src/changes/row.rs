//! Defines a row of the list: one widget for every kind of content, so that a few widgets can be
//! reused for any number of lines.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::BinExt;
use adw::subclass::prelude::*;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::heads::{FileView, HunkView, remark};
use super::item::{Item, gutter, side_gutter};
use super::line::LineView;
use super::listing::Verdict;
use crate::accessible;

/// A user action in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Expand or collapse the file.
    Toggle,
    /// Answer the file or the change.
    Answer(Verdict),
    /// Show the change in the editor.
    Open,
}

/// Called with what the user does in a row.
pub(super) type ActHandler = Rc<dyn Fn(&Item, Act)>;

/// The widgets of a kind of row.
#[derive(Debug)]
enum View {
    File(FileView),
    Hunk(HunkView),
    Line(LineView),
    Pair(LineView, LineView),
    Remark(gtk::Label),
    Gap(gtk::Label),
}

mod imp {
    use super::{ActHandler, Item, RefCell, View, glib};
    use adw::subclass::prelude::*;

    #[derive(Default)]
    pub struct Row {
        pub(super) view: RefCell<Option<View>>,
        pub(super) item: RefCell<Option<Item>>,
        pub(super) on_act: RefCell<Option<ActHandler>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Row {
        const NAME: &'static str = "NatterChangeRow";
        type Type = super::Row;
        type ParentType = adw::Bin;
    }

    impl ObjectImpl for Row {}
    impl WidgetImpl for Row {}
    impl BinImpl for Row {}
}

glib::wrapper! {
    /// The row.
    pub struct Row(ObjectSubclass<imp::Row>) @extends adw::Bin, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget;
}

impl Row {
    pub(super) fn new(on_act: &ActHandler) -> Self {
        let row: Self = glib::Object::new();
        row.imp().on_act.replace(Some(Rc::clone(on_act)));
        row
    }

    /// Reports a user action in this row.
    fn act(&self, act: Act) {
        let on_act = self.imp().on_act.borrow().clone();
        if let (Some(on_act), Some(item)) = (on_act, self.imp().item.borrow().clone()) {
            on_act(&item, act);
        }
    }

    /// Shows this.
    pub(super) fn show(&self, item: &Item) {
        self.imp().item.replace(Some(item.clone()));
        let fits = matches!(
            (&*self.imp().view.borrow(), item),
            (Some(View::File(_)), Item::File { .. })
                | (Some(View::Hunk(_)), Item::Hunk { .. })
                | (Some(View::Line(_)), Item::Line { .. })
                | (Some(View::Pair(..)), Item::Pair { .. })
                | (Some(View::Remark(_)), Item::Remark { .. })
                | (Some(View::Gap(_)), Item::Gap { .. })
        );
        if !fits {
            let (view, widget) = self.build(item);
            self.imp().view.replace(Some(view));
            BinExt::set_child(self, Some(&widget));
        }
        let name = self.fill(item);
        if let (Some(name), Some(place)) = (name, WidgetExt::parent(self)) {
            accessible::set_label(&place, &name);
        }
    }

    fn build(&self, item: &Item) -> (View, gtk::Widget) {
        let weak = self.downgrade();
        let act: Rc<dyn Fn(Act)> = Rc::new(move |act| {
            if let Some(row) = weak.upgrade() {
                row.act(act);
            }
        });
        match item {
            Item::File { .. } => {
                let view = FileView::new(&act);
                let widget = view.widget().clone().upcast();
                (View::File(view), widget)
            }
            Item::Hunk { .. } => {
                let view = HunkView::new(&act);
                let widget = view.widget().clone().upcast();
                (View::Hunk(view), widget)
            }
            Item::Line { .. } => {
                let view = LineView::new();
                let widget = view.widget().clone().upcast();
                (View::Line(view), widget)
            }
            Item::Pair { .. } => {
                let (left, right) = (LineView::new(), LineView::new());
                let both = gtk::Box::builder().homogeneous(true).spacing(2).build();
                both.append(left.widget());
                both.append(right.widget());
                (View::Pair(left, right), both.upcast())
            }
            Item::Remark { .. } => {
                let label = gtk::Label::builder()
                    .xalign(0.0)
                    .wrap(true)
                    .css_classes(["dim-label", "change-remark"])
                    .build();
                (View::Remark(label.clone()), label.upcast())
            }
            Item::Gap { .. } => {
                let label = gtk::Label::builder()
                    .ellipsize(gtk::pango::EllipsizeMode::End)
                    .css_classes(["caption", "dim-label"])
                    .build();
                (View::Gap(label.clone()), label.upcast())
            }
        }
    }

    /// Fills the widgets. Returns the accessible name if the keyboard can move to the row.
    fn fill(&self, item: &Item) -> Option<String> {
        match (&*self.imp().view.borrow(), item) {
            (Some(View::File(view)), Item::File { file, open, note }) => {
                Some(view.show(file, *open, note.as_deref()))
            }
            (Some(View::Hunk(view)), Item::Hunk { file, number, note }) => {
                Some(view.show(file, *number, note.as_deref()))
            }
            (Some(View::Line(view)), Item::Line { file, line }) => {
                let line = &file.diff.lines[*line];
                view.show(&gutter(line, file.digits()), Some(line));
                Some(line.text.clone())
            }
            (Some(View::Pair(left, right)), Item::Pair { file, row }) => {
                let digits = file.digits();
                let line = |at: Option<usize>| at.map(|at| &file.diff.lines[at]);
                let (old, new) = (line(row.left), line(row.right));
                let empty = " ".repeat(digits + 2);
                let number = |line: &chat_core::review::diff::Line, at: Option<usize>| {
                    side_gutter(at, line.kind, digits)
                };
                left.show(&old.map_or(empty.clone(), |line| number(line, line.old)), old);
                right.show(&new.map_or(empty, |line| number(line, line.new)), new);
                new.or(old).map(|line| line.text.clone())
            }
            (Some(View::Gap(label)), Item::Gap { verdict, height, .. }) => {
                label.set_label(&match verdict {
                    Verdict::Accept => gettext("Accepted"),
                    Verdict::Reject => gettext("Rejected"),
                });
                label.set_height_request(*height);
                None
            }
            (Some(View::Remark(label)), item) => {
                label.set_label(&remark(item));
                None
            }
            _ => None,
        }
    }
}
