//! Builds the widgets of the find and replace bar.

use gettextrs::gettext;
use gtk::gdk;
use relm4::gtk::prelude::*;

use crate::accessible;

/// The widgets. A `GtkSearchBar` would unfold over several frames, in which keys get lost.
pub(super) struct Bar {
    pub(super) root: gtk::Box,
    pub(super) entry: gtk::SearchEntry,
    pub(super) count: gtk::Label,
    pub(super) previous: gtk::Button,
    pub(super) next: gtk::Button,
    pub(super) case: gtk::ToggleButton,
    pub(super) regex: gtk::ToggleButton,
    pub(super) close: gtk::Button,
    pub(super) replacement: gtk::Entry,
    pub(super) replace: gtk::Button,
    pub(super) replace_all: gtk::Button,
    line: gtk::Box,
}

impl Bar {
    pub(super) fn new() -> Self {
        let entry = gtk::SearchEntry::builder()
            .placeholder_text(gettext("Find"))
            .hexpand(true)
            .width_chars(6)
            .build();
        accessible::set_label(&entry, &gettext("Find in File"));
        let count = gtk::Label::builder().css_classes(["dim-label", "numeric"]).build();
        let case = toggle("Aa", &gettext("Match Case"));
        let regex = toggle(".*", &gettext("Regular Expression"));
        let previous = button("go-up-symbolic", &gettext("Previous Match (Shift+Enter)"));
        let next = button("go-down-symbolic", &gettext("Next Match (Enter)"));
        accessible::set_label(&previous, &gettext("Previous Match"));
        accessible::set_label(&next, &gettext("Next Match"));
        let close = button("window-close-symbolic", &gettext("Close"));
        accessible::set_label(&close, &gettext("Close Find Bar"));
        let first = gtk::Box::builder().spacing(4).build();
        first.append(&entry);
        first.append(&count);
        for widget in [case.upcast_ref(), regex.upcast_ref(), previous.upcast_ref::<gtk::Widget>()]
        {
            first.append(widget);
        }
        first.append(&next);
        first.append(&close);

        let replacement = gtk::Entry::builder()
            .placeholder_text(gettext("Replace with"))
            .hexpand(true)
            .width_chars(6)
            .build();
        accessible::set_label(&replacement, &gettext("Replace with"));
        let replace = gtk::Button::with_label(&gettext("Replace"));
        let replace_all = gtk::Button::with_label(&gettext("All"));
        replace_all.set_tooltip_text(Some(&gettext("Replace All")));
        accessible::set_label(&replace_all, &gettext("Replace All"));
        let line = gtk::Box::builder().spacing(4).build();
        line.append(&replacement);
        line.append(&replace);
        line.append(&replace_all);

        let both = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(6)
            .visible(false)
            .css_classes(["file-find"])
            .build();
        both.append(&first);
        both.append(&line);
        Self {
            root: both,
            entry,
            count,
            previous,
            next,
            case,
            regex,
            close,
            replacement,
            replace,
            replace_all,
            line,
        }
    }

    /// Shows or hides the replace row.
    pub(super) fn show_replace(&self, shown: bool) {
        self.line.set_visible(shown);
    }

    /// Enables the buttons if there are matches.
    pub(super) fn set_active(&self, active: bool) {
        for button in [&self.previous, &self.next, &self.replace, &self.replace_all] {
            button.set_sensitive(active);
        }
    }

    /// Tab moves from one entry to the other, skipping the buttons in between. Returns whether it
    /// did.
    pub(super) fn turn(&self, key: gdk::Key) -> bool {
        let to = match key {
            gdk::Key::Tab if self.has_focus(&self.entry) => {
                self.replacement.upcast_ref::<gtk::Widget>()
            }
            gdk::Key::ISO_Left_Tab if self.has_focus(&self.replacement) => self.entry.upcast_ref(),
            _ => return false,
        };
        self.line.is_visible() && to.grab_focus()
    }

    /// Whether one of the entries has the focus.
    pub(super) fn has_focus(&self, entry: &impl IsA<gtk::Widget>) -> bool {
        let focus = self.root.root().and_then(|root| root.focus());
        focus.is_some_and(|focus| focus.is_ancestor(entry))
    }
}

fn button(icon: &str, tooltip: &str) -> gtk::Button {
    gtk::Button::builder().icon_name(icon).tooltip_text(tooltip).css_classes(["flat"]).build()
}

fn toggle(label: &str, name: &str) -> gtk::ToggleButton {
    let button = gtk::ToggleButton::builder()
        .label(label)
        .tooltip_text(name)
        .css_classes(["flat", "find-way"])
        .build();
    accessible::set_label(&button, name);
    button
}
