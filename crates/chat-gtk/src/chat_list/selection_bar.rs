//! The bar below the list while chats are marked: how many, and what can be done with them.

use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::{Act, ChatList, Input};
use crate::accessible;

/// The bar.
#[derive(Debug)]
pub(super) struct SelectionBar {
    revealer: gtk::Revealer,
    count: gtk::Label,
    pin: gtk::Button,
    archive: gtk::Button,
}

impl SelectionBar {
    pub(super) fn new(sender: &ComponentSender<ChatList>) -> Self {
        let count = gtk::Label::builder().xalign(0.0).hexpand(true).build();
        let close = gtk::Button::builder()
            .icon_name("window-close-symbolic")
            .css_classes(["flat", "circular"])
            .tooltip_text(gettext("Clear the Selection (Esc)"))
            .build();
        accessible::set_label(&close, &gettext("Clear the Selection"));
        let input = sender.input_sender().clone();
        close.connect_clicked(move |_| input.emit(Input::UnmarkAll));
        let top = gtk::Box::builder().spacing(6).build();
        top.append(&count);
        top.append(&close);

        // Two by two: the list is too narrow for four words in a line.
        let actions =
            gtk::Grid::builder().row_spacing(6).column_spacing(6).column_homogeneous(true).build();
        let add = |(column, row): (i32, i32), make: fn() -> Input| {
            let label = gtk::Label::builder().ellipsize(gtk::pango::EllipsizeMode::End).build();
            let button = gtk::Button::builder().child(&label).hexpand(true).build();
            let input = sender.input_sender().clone();
            button.connect_clicked(move |_| input.emit(make()));
            actions.attach(&button, column, row, 1, 1);
            button
        };
        let pin = add((0, 0), || Input::WithMarked(Act::Pin));
        let archive = add((1, 0), || Input::WithMarked(Act::Archive));
        let export = add((0, 1), || Input::ExportMarked);
        let delete = add((1, 1), || Input::WithMarked(Act::Delete));
        set_text(&export, &gettext("Export…"));
        set_text(&delete, &gettext("Delete"));

        let bar = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["selection-bar"])
            .spacing(6)
            .build();
        bar.append(&top);
        bar.append(&actions);
        let revealer = gtk::Revealer::builder()
            .child(&bar)
            .transition_type(gtk::RevealerTransitionType::SlideUp)
            .build();
        Self { revealer, count, pin, archive }
    }

    pub(super) fn widget(&self) -> &gtk::Revealer {
        &self.revealer
    }

    /// Shows how many chats are marked, and whether all of them are pinned or archived.
    pub(super) fn show(&self, marked: usize, pinned: bool, archived: bool) {
        self.revealer.set_reveal_child(marked > 0);
        if marked == 0 {
            return;
        }
        let n = u32::try_from(marked).unwrap_or(u32::MAX);
        let text = ngettext("{n} chat selected", "{n} chats selected", n);
        self.count.set_label(&fill(&text, &[("n", &n.to_string())]));
        set_text(&self.pin, &if pinned { gettext("Unpin") } else { gettext("Pin") });
        let archive = if archived { gettext("Unarchive") } else { gettext("Archive") };
        set_text(&self.archive, &archive);
    }
}

fn set_text(button: &gtk::Button, text: &str) {
    if let Some(label) = button.child().and_downcast::<gtk::Label>() {
        label.set_label(text);
    }
    button.set_tooltip_text(Some(text));
    accessible::set_label(button, text);
}
