//! Shows in a quiet line above the composer how much there is to review, and the way there.

use gettextrs::gettext;
use relm4::gtk::pango;
use relm4::gtk::prelude::*;

use crate::accessible;
use crate::changes::{Listing, counted, files_changed};

/// The line.
#[derive(Debug)]
pub(super) struct ChangedLine {
    root: gtk::Button,
    files: gtk::Label,
    count: gtk::Label,
}

impl ChangedLine {
    /// Nothing to review, which is not seen. `review` is called when the changes are to be seen.
    pub(super) fn new(review: impl Fn() + 'static) -> Self {
        let icon = gtk::Image::from_icon_name("document-edit-symbolic");
        icon.add_css_class("dim-label");
        let files = gtk::Label::builder()
            .xalign(0.0)
            .ellipsize(pango::EllipsizeMode::End)
            .css_classes(["heading"])
            .build();
        let count =
            gtk::Label::builder().hexpand(true).xalign(0.0).css_classes(["plan-count"]).build();
        let way = gtk::Label::builder().label(gettext("Review")).css_classes(["accent"]).build();
        let line = gtk::Box::builder().spacing(8).build();
        line.append(&icon);
        line.append(&files);
        line.append(&count);
        line.append(&way);
        let root = gtk::Button::builder()
            .child(&line)
            .visible(false)
            .css_classes(["flat", "plan-line", "changed-line"])
            .build();
        root.connect_clicked(move |_| review());
        Self { root, files, count }
    }

    pub(super) fn widget(&self) -> &gtk::Button {
        &self.root
    }

    /// Shows how much this is; nothing is not seen.
    pub(super) fn show(&self, listing: &Listing) {
        let count = listing.count();
        let (added, removed) = listing.counts();
        let (files, lines) = (files_changed(count), counted(added, removed));
        let name = format!("{files} {lines} · {}", gettext("Review"));
        accessible::set_label(&self.root, &name);
        self.files.set_label(&files);
        self.count.set_label(&lines);
        self.root.set_visible(count > 0);
    }
}
