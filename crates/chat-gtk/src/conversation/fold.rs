//! A line that opens: thinking, and what a tool did.

use std::cell::RefCell;
use std::rc::Rc;

use gtk::pango;
use gtk::prelude::*;

use super::find::{Hit, Marks, mark_buffer};
use crate::accessible;

/// The greatest height of what is inside, in pixels; more scrolls.
const TALLEST: i32 = 320;

/// A line with an arrow; what is inside is made when it is opened.
#[derive(Clone)]
pub struct Fold {
    parts: Rc<Parts>,
}

struct Parts {
    root: gtk::Box,
    button: gtk::Button,
    arrow: gtk::Image,
    title: gtk::Label,
    aside: gtk::Label,
    inside: RefCell<String>,
    /// What is inside, while it is open.
    body: RefCell<Option<(gtk::ScrolledWindow, gtk::TextView)>>,
    marked: RefCell<Marked>,
}

/// What is marked inside.
#[derive(Default)]
struct Marked {
    hits: Vec<Hit>,
    current: Option<usize>,
    marks: Marks,
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
        let parts = Rc::new(Parts {
            root,
            button,
            arrow,
            title,
            aside,
            inside: RefCell::default(),
            body: RefCell::default(),
            marked: RefCell::default(),
        });
        let weak = Rc::downgrade(&parts);
        parts.button.connect_clicked(move |_| {
            if let Some(parts) = weak.upgrade() {
                let fold = Self { parts };
                if !fold.open() {
                    fold.close();
                }
            }
        });
        Self { parts }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.parts.root
    }

    /// Opens it. Whether it was closed.
    pub fn open(&self) -> bool {
        let mut body = self.parts.body.borrow_mut();
        if body.is_some() {
            return false;
        }
        let (scroller, view) = make_body(&self.parts.inside.borrow());
        self.parts.root.append(&scroller);
        self.parts.arrow.set_icon_name(Some("pan-down-symbolic"));
        let Marked { hits, current, marks } = &*self.parts.marked.borrow();
        mark_buffer(&view.buffer(), hits, *current, *marks);
        body.replace((scroller, view));
        true
    }

    fn close(&self) {
        if let Some((scroller, _)) = self.parts.body.take() {
            self.parts.root.remove(&scroller);
            self.parts.arrow.set_icon_name(Some("pan-end-symbolic"));
        }
    }

    /// Marks what was found inside, and nothing else.
    pub fn mark(&self, hits: &[Hit], current: Option<usize>, marks: Marks) {
        if let Some(view) = self.text_view() {
            mark_buffer(&view.buffer(), hits, current, marks);
        }
        self.parts.marked.replace(Marked { hits: hits.to_vec(), current, marks });
    }

    /// The text that is inside, while it is open.
    pub fn text_view(&self) -> Option<gtk::TextView> {
        self.parts.body.borrow().as_ref().map(|(_, view)| view.clone())
    }

    /// Sets what the line says, and what stands at its end.
    pub fn set_line(&self, title: &str, aside: &str) {
        let Parts { title: shown, aside: behind, button, .. } = &*self.parts;
        if shown.text() != title || behind.text() != aside {
            shown.set_text(title);
            behind.set_text(aside);
            accessible::set_label(button, &format!("{title} {aside}"));
        }
    }

    /// Sets what is inside, as plain text. What was added to the end is added to an open fold.
    pub fn set_inside(&self, text: &str) {
        let mut inside = self.parts.inside.borrow_mut();
        if *inside == text {
            return;
        }
        if let Some(view) = self.text_view() {
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
