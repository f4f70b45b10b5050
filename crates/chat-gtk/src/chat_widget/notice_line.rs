//! Shows a line with an icon, words and buttons above the composer.

use adw::prelude::*;
use gettextrs::gettext;
use relm4::gtk::{self, pango};

use crate::models::has_keyboard;
use crate::{accessible, adaptive_pair};

/// The line.
pub(super) struct NoticeLine {
    pub(super) root: gtk::Box,
    words: gtk::Label,
}

impl NoticeLine {
    pub(super) fn new(icon: &str, buttons: &gtk::Box) -> Self {
        let words = gtk::Label::builder()
            .xalign(0.0)
            .use_markup(false)
            .wrap(true)
            .wrap_mode(pango::WrapMode::WordChar)
            .hexpand(true)
            .build();
        let root = gtk::Box::builder().spacing(10).css_classes(["problem"]).visible(false).build();
        root.append(&gtk::Image::builder().icon_name(icon).valign(gtk::Align::Center).build());
        root.append(&adaptive_pair::words(&words, buttons));
        Self { root, words }
    }

    /// Shows these words, or nothing. Whether what had the keyboard is gone.
    pub(super) fn show(&self, words: Option<&str>) -> bool {
        let is_lost = words.is_none() && has_keyboard(&self.root);
        if let Some(words) = words {
            self.words.set_label(words);
        }
        self.root.set_visible(words.is_some());
        is_lost
    }
}

/// A button that closes a line, with its name for screen readers.
pub(super) fn close_button(name: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name("window-close-symbolic")
        .css_classes(["flat", "circular"])
        .tooltip_text(gettext("Close this notice"))
        .build();
    accessible::set_label(&button, name);
    button
}
