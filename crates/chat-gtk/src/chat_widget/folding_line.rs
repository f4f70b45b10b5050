//! Builds a line above the composer that opens into a list, and closes again.

use relm4::gtk::pango;
use relm4::gtk::prelude::*;

/// The greatest height of the open list, in pixels; more scrolls.
const TALLEST: i32 = 190;

/// The line and its list. It is made closed and hidden.
pub(super) struct FoldingLine {
    root: gtk::Box,
    line: gtk::Button,
    arrow: gtk::Image,
    summary: gtk::Label,
    frame: gtk::ScrolledWindow,
}

impl FoldingLine {
    /// A line with these labels before its summary, above this list.
    pub(super) fn new(labels: &[&gtk::Label], list: &gtk::Box) -> Self {
        let arrow = gtk::Image::from_icon_name("pan-end-symbolic");
        arrow.add_css_class("dim-label");
        let summary = gtk::Label::builder()
            .xalign(0.0)
            .hexpand(true)
            .use_markup(false)
            .ellipsize(pango::EllipsizeMode::End)
            .css_classes(["plan-now"])
            .build();
        let all = gtk::Box::builder().spacing(8).build();
        all.append(&arrow);
        for label in labels {
            all.append(*label);
        }
        all.append(&summary);
        let line = gtk::Button::builder().child(&all).css_classes(["flat", "plan-line"]).build();
        let frame = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .max_content_height(TALLEST)
            .child(list)
            .visible(false)
            .build();
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .visible(false)
            .css_classes(["plan"])
            .build();
        root.append(&line);
        root.append(&frame);
        let weak = (frame.downgrade(), summary.downgrade(), arrow.downgrade());
        line.connect_clicked(move |_| {
            let (Some(frame), Some(summary), Some(arrow)) =
                (weak.0.upgrade(), weak.1.upgrade(), weak.2.upgrade())
            else {
                return;
            };
            set_open(&frame, &summary, &arrow, !frame.is_visible());
        });
        Self { root, line, arrow, summary, frame }
    }

    pub(super) fn root(&self) -> &gtk::Box {
        &self.root
    }

    /// What is pressed to open it.
    pub(super) fn line(&self) -> &gtk::Button {
        &self.line
    }

    /// What stands in the line while the list is closed.
    pub(super) fn summary(&self) -> &gtk::Label {
        &self.summary
    }

    pub(super) fn close(&self) {
        set_open(&self.frame, &self.summary, &self.arrow, false);
    }
}

fn set_open(frame: &gtk::ScrolledWindow, summary: &gtk::Label, arrow: &gtk::Image, open: bool) {
    frame.set_visible(open);
    // The open list says the same.
    summary.set_opacity(if open { 0.0 } else { 1.0 });
    arrow.set_icon_name(Some(if open { "pan-down-symbolic" } else { "pan-end-symbolic" }));
}
