//! Defines a part of the form, which says below its rows what is wrong with it.

use adw::prelude::*;

use crate::accessible;

/// A part of the form.
pub(super) struct Section {
    pub(super) group: adw::PreferencesGroup,
    problem: gtk::Label,
}

impl Section {
    pub(super) fn new(title: &str, description: &str) -> Self {
        let group = adw::PreferencesGroup::builder().title(title).description(description).build();
        let problem = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .visible(false)
            .margin_top(6)
            .css_classes(["error"])
            .build();
        // What is no row of a list stands below all rows, also below those that are added later.
        group.add(&problem);
        Self { group, problem }
    }

    /// Says what is wrong, or that nothing is.
    pub(super) fn say(&self, sentence: Option<&str>) {
        self.problem.set_label(sentence.unwrap_or_default());
        self.problem.set_visible(sentence.is_some());
    }
}

/// Shows of a row itself whether something is wrong with it, and tells screen readers what.
pub(super) fn mark(row: &adw::EntryRow, sentence: Option<&str>) {
    if sentence.is_some() {
        row.add_css_class("error");
    } else {
        row.remove_css_class("error");
    }
    if let Some(text) = row.delegate() {
        accessible::set_description(&text, sentence.unwrap_or_default());
    }
}

/// A row to type in.
pub(super) fn entry(title: &str) -> adw::EntryRow {
    let row = adw::EntryRow::builder().use_markup(false).title(title).build();
    name(&row, title);
    row
}

/// Names what is typed in a row, for screen readers.
pub(super) fn name(row: &impl IsA<gtk::Editable>, name: &str) {
    if let Some(text) = row.delegate() {
        accessible::set_label(&text, name);
    }
}
