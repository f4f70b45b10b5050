//! A line that opens: thinking, and what a tool did.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gtk::pango;
use gtk::prelude::*;

use crate::accessible;

/// The greatest height of what is inside, in pixels; more scrolls.
const TALLEST: i32 = 320;

/// A line with an arrow; what is inside is made when it is opened.
#[derive(Clone)]
pub struct Fold {
    root: gtk::Box,
    button: gtk::Button,
    title: gtk::Label,
    aside: gtk::Label,
    inside: Rc<RefCell<String>>,
    text: Rc<RefCell<Option<gtk::TextView>>>,
}

impl Fold {
    /// A closed fold.
    pub fn new(icon: &str) -> Self {
        let arrow = gtk::Image::from_icon_name("pan-end-symbolic");
        arrow.add_css_class("dim-label");
        let title = gtk::Label::builder()
            .xalign(0.0)
            .hexpand(true)
            .ellipsize(pango::EllipsizeMode::End)
            .build();
        let aside = gtk::Label::builder().css_classes(["fold-aside"]).build();
        let line = gtk::Box::builder().spacing(9).build();
        line.append(&arrow);
        line.append(&gtk::Image::from_icon_name(icon));
        line.append(&title);
        line.append(&aside);
        let button = gtk::Button::builder().child(&line).css_classes(["flat", "fold-line"]).build();
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(&button);

        let inside: Rc<RefCell<String>> = Rc::default();
        let text: Rc<RefCell<Option<gtk::TextView>>> = Rc::default();
        let body: RefCell<Option<gtk::ScrolledWindow>> = RefCell::default();
        let open = Cell::new(false);
        let weak = root.downgrade();
        let (content, view) = (Rc::clone(&inside), Rc::clone(&text));
        button.connect_clicked(move |_| {
            let Some(root) = weak.upgrade() else { return };
            open.set(!open.get());
            arrow.set_icon_name(Some(if open.get() {
                "pan-down-symbolic"
            } else {
                "pan-end-symbolic"
            }));
            if let Some(body) = body.take() {
                root.remove(&body);
                view.replace(None);
            }
            if open.get() {
                let (scroller, inner) = make_body(&content.borrow());
                root.append(&scroller);
                view.replace(Some(inner));
                body.replace(Some(scroller));
            }
        });
        Self { root, button, title, aside, inside, text }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Sets what the line says, and what stands at its end.
    pub fn set_line(&self, title: &str, aside: &str) {
        if self.title.text() != title || self.aside.text() != aside {
            self.title.set_text(title);
            self.aside.set_text(aside);
            accessible::set_label(&self.button, &format!("{title} {aside}"));
        }
    }

    /// Sets what is inside, as plain text. What was added to the end is added to an open fold.
    pub fn set_inside(&self, text: &str) {
        let mut inside = self.inside.borrow_mut();
        if *inside == text {
            return;
        }
        if let Some(view) = &*self.text.borrow() {
            let buffer = view.buffer();
            match text.strip_prefix(inside.as_str()) {
                Some(added) => buffer.insert(&mut buffer.end_iter(), added),
                None => buffer.set_text(text),
            }
        }
        text.clone_into(&mut inside);
    }
}

fn make_body(text: &str) -> (gtk::ScrolledWindow, gtk::TextView) {
    let view = gtk::TextView::builder()
        .editable(false)
        .cursor_visible(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .accepts_tab(false)
        .pixels_inside_wrap(3)
        .css_classes(["fold-text"])
        .build();
    view.buffer().set_text(text);
    let scroller = gtk::ScrolledWindow::builder()
        .hscrollbar_policy(gtk::PolicyType::Never)
        .propagate_natural_height(true)
        .max_content_height(TALLEST)
        .child(&view)
        .css_classes(["fold-body"])
        .build();
    (scroller, view)
}
