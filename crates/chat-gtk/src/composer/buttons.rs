//! Shows Send and Stop as far as they can be used now, and says why not.

use chat_core::settings::WhileBusy;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::Inner;
use crate::accessible;

impl Inner {
    /// Why nothing can be sent now.
    pub(super) fn hindrance(&self) -> Option<String> {
        let fetches = || self.is_fetching().then(|| gettext("The page is still loading"));
        let reads = || self.is_reading().then(|| gettext("A file is still being read"));
        self.hindrance.borrow().clone().or_else(fetches).or_else(reads)
    }

    /// Idle: Send. Busy: Stop, and Send next to it once there is something to queue.
    pub(super) fn show_buttons(&self) {
        let busy = self.busy.get();
        let blank = self.is_blank();
        self.stop.set_visible(busy);
        self.send.set_visible(!busy || !blank);
        let hindrance = self.hindrance();
        self.send.set_sensitive(hindrance.is_none() && !blank);
        let hint = match hindrance {
            Some(words) => words,
            None if blank => gettext("Write a message first"),
            None if busy => match self.while_busy.get() {
                WhileBusy::Steer => gettext("Send after this step"),
                WhileBusy::Queue => gettext("Send when this reply is done"),
            },
            None => gettext("Send"),
        };
        self.send.set_tooltip_text(Some(&hint));
        accessible::set_description(&self.send, &hint);
    }
}

pub(super) fn row_of(controls: &[gtk::Widget]) -> gtk::Box {
    let row = gtk::Box::builder().spacing(4).build();
    for control in controls {
        control.set_valign(gtk::Align::Center);
        row.append(control);
    }
    row
}

/// The button that attaches files.
pub(super) fn attach_button() -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name("mail-attachment-symbolic")
        .tooltip_text(gettext("Attach Files (Ctrl+Shift+A)"))
        .valign(gtk::Align::Center)
        .css_classes(["flat", "attach"])
        .build();
    accessible::set_label(&button, &gettext("Attach Files"));
    button
}

pub(super) fn round_button(icon: &str, name: &str, class: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(name)
        .valign(gtk::Align::Center)
        .css_classes(["round", class])
        .build();
    accessible::set_label(&button, name);
    button
}
