//! Draws a picture that stands in a text as data.

use std::cell::RefCell;
use std::rc::Rc;

use gtk::prelude::*;

use crate::accessible;
use crate::conversation::widgets::context::WidgetContext;
use crate::markdown::flow::Picture;
use crate::pictures::{Pictures, Source};

/// A picture on its own.
pub struct PictureBlock {
    root: gtk::Box,
    pictures: Pictures,
    shown: RefCell<Option<Rc<str>>>,
}

impl PictureBlock {
    /// None yet.
    pub fn new(context: &WidgetContext) -> Self {
        let root = gtk::Box::new(gtk::Orientation::Horizontal, 0);
        Self { root, pictures: context.pictures.clone(), shown: RefCell::default() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows this picture. Whether it is another one.
    pub fn update(&self, picture: &Picture) -> bool {
        if self.shown.borrow().as_ref() == Some(&picture.address) {
            return false;
        }
        self.shown.replace(Some(Rc::clone(&picture.address)));
        while let Some(child) = self.root.first_child() {
            self.root.remove(&child);
        }
        let button = self.pictures.button(Source::Address(Rc::clone(&picture.address)));
        if !picture.description.is_empty() {
            button.set_tooltip_text(Some(&picture.description));
            accessible::set_description(&button, &picture.description);
        }
        self.root.append(&button);
        true
    }
}
