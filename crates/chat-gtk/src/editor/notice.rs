//! Shows a notice above a file's text: a sentence, and buttons. It stays until the user answers it.

use std::rc::Rc;

use relm4::gtk::prelude::*;

use crate::wrap::wrap;
use crate::{accessible, adaptive_pair};

/// A button of the notice.
pub(super) struct Choice {
    /// The button's label.
    pub(super) label: String,
    /// Its action.
    pub(super) act: Rc<dyn Fn()>,
}

/// The bar.
pub(super) struct Notice {
    root: gtk::Box,
    words: gtk::Label,
    actions: gtk::Box,
}

impl Notice {
    pub(super) fn new() -> Self {
        let words = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .hexpand(true)
            .build();
        let actions = wrap();
        actions.set_halign(gtk::Align::End);
        let line = adaptive_pair::words(&words, &actions);
        line.add_css_class("notice");
        line.add_css_class("file-notice");
        line.set_visible(false);
        Self { root: line, words, actions }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Replaces the current notice.
    pub(super) fn say(&self, words: &str, choices: Vec<Choice>) {
        self.words.set_label(words);
        while let Some(button) = self.actions.first_child() {
            self.actions.remove(&button);
        }
        self.actions.set_visible(!choices.is_empty());
        for Choice { label, act } in choices {
            let button = gtk::Button::builder().label(&label).valign(gtk::Align::Center).build();
            button.connect_clicked(move |_| act());
            self.actions.append(&button);
        }
        accessible::set_label(&self.root, words);
        self.root.set_visible(true);
    }

    #[cfg(test)]
    pub(super) fn words(&self) -> String {
        self.words.label().into()
    }

    pub(super) fn close(&self) {
        self.root.set_visible(false);
    }
}
