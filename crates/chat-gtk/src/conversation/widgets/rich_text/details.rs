//! Draws a folded part of a reply: its summary as a line that opens, and what is inside once it is
//! open.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;

use super::RichText;
use crate::accessible;
use crate::conversation::model::piece_source::piece_text;
use crate::conversation::widgets::context::WidgetContext;
use crate::conversation::widgets::tags::Tags;
use crate::markdown::flow::{Details, Piece};

/// A folded part of a reply.
pub struct DetailsBlock {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::Box,
    button: gtk::Button,
    arrow: gtk::Image,
    title: gtk::Label,
    shown: RefCell<Option<Details>>,
    /// How many letters its text has, once somebody asked.
    letters: Cell<Option<usize>>,
    /// What is inside, while it is open.
    body: RefCell<Option<RichText>>,
    context: WidgetContext,
}

impl DetailsBlock {
    /// An empty, closed part.
    pub fn new(context: &WidgetContext) -> Self {
        let arrow = gtk::Image::from_icon_name("pan-end-symbolic");
        arrow.add_css_class("dim-label");
        let title = gtk::Label::builder().xalign(0.0).wrap(true).hexpand(true).build();
        let line = gtk::Box::builder().spacing(9).build();
        line.append(&arrow);
        line.append(&title);
        let button =
            gtk::Button::builder().child(&line).css_classes(["flat", "details-line"]).build();
        accessible::set_expanded(&button, false);
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(&button);
        let inner = Rc::new(Inner {
            root,
            button,
            arrow,
            title,
            shown: RefCell::default(),
            letters: Cell::default(),
            body: RefCell::default(),
            context: context.clone(),
        });
        let weak = Rc::downgrade(&inner);
        inner.button.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                (inner.context.hold)();
                if !inner.open() {
                    inner.close();
                }
            }
        });
        Self { inner }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    /// Shows this part; `grows`: whether more of it may come. Whether anything changed.
    pub fn update(&self, details: &Details, grows: bool) -> bool {
        if self.inner.shown.borrow().as_ref() == Some(details) {
            return false;
        }
        let summary =
            if details.summary.is_empty() { gettext("Details") } else { details.summary.clone() };
        self.inner.title.set_text(&summary);
        // A child that is no label gives a button no name.
        accessible::set_label(&self.inner.button, &summary);
        self.inner.letters.set(None);
        if let Some(body) = &mut *self.inner.body.borrow_mut() {
            body.update(&details.source, grows);
        }
        self.inner.shown.replace(Some(details.clone()));
        true
    }

    /// How many letters its text has, with what is inside.
    pub fn letter_count(&self) -> usize {
        self.inner.letters.get().unwrap_or_else(|| {
            let shown = self.inner.shown.borrow().clone();
            let text = shown.map(|details| piece_text(&Piece::Details(details)));
            let count = text.map_or(0, |text| text.chars().count());
            self.inner.letters.set(Some(count));
            count
        })
    }

    /// Opens it, if it is not.
    pub fn open(&self) {
        self.inner.open();
    }

    /// Marks the line if something was found inside.
    pub fn highlight(&self, is_found: bool, is_current: bool) {
        for (is_so, class) in [(is_found, "found"), (is_current, "found-current")] {
            if is_so {
                self.inner.button.add_css_class(class);
            } else {
                self.inner.button.remove_css_class(class);
            }
        }
    }

    /// Takes the theme's colors.
    pub fn recolour(&self, tags: &Tags) {
        if let Some(body) = &*self.inner.body.borrow() {
            body.recolour(tags);
        }
    }

    /// The project has other files: their names lead there, and others do not any more.
    pub fn mark_files(&self) {
        if let Some(body) = &*self.inner.body.borrow() {
            body.mark_files();
        }
    }
}

impl Inner {
    /// Opens it. Whether it was closed.
    fn open(&self) -> bool {
        if self.body.borrow().is_some() {
            return false;
        }
        let source = self.shown.borrow().as_ref().map(|shown| shown.source.clone());
        let body = RichText::new(&source.unwrap_or_default(), &gettext("Reply"), &self.context);
        body.widget().add_css_class("details-body");
        self.root.append(body.widget());
        self.body.replace(Some(body));
        self.arrow.set_icon_name(Some("pan-down-symbolic"));
        accessible::set_expanded(&self.button, true);
        true
    }

    /// Closes it. Whether it was open.
    fn close(&self) -> bool {
        let Some(body) = self.body.take() else { return false };
        self.root.remove(body.widget());
        self.arrow.set_icon_name(Some("pan-end-symbolic"));
        accessible::set_expanded(&self.button, false);
        true
    }
}
