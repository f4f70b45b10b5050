//! Draws the field in which a person edits a message in its place.

use std::rc::Rc;
use std::sync::Arc;

use gettextrs::gettext;
use gtk::prelude::*;
use gtk::{gdk, glib};

use chat_core::message::{Attachment, MessageId};

use crate::accessible;
use crate::composer::connect_send_keys;
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::conversation::widgets::fitted::fitted;
use crate::wrap::wrap;

/// The greatest height of the field, in pixels; more scrolls.
const TALLEST: i32 = 400;

/// The field, its attachments and its buttons.
pub struct MessageEditor {
    parts: Rc<Parts>,
}

struct Parts {
    root: gtk::Box,
    text: gtk::TextView,
    chips: gtk::Box,
    /// Takes the changes back.
    revert: gtk::Button,
    send: gtk::Button,
    message: MessageId,
    context: WidgetContext,
}

impl MessageEditor {
    /// The field of a message that is being edited.
    pub fn new(message: MessageId, context: &WidgetContext) -> Self {
        let content = context.edits.content(message).unwrap_or_default();
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(8)
            .css_classes(["user-message", "message-editor"])
            .build();
        let text =
            gtk::TextView::builder().wrap_mode(gtk::WrapMode::WordChar).accepts_tab(false).build();
        accessible::set_label(&text, &gettext("Edited Message"));
        text.buffer().set_text(&content.text);
        text.buffer().set_enable_undo(true);
        root.append(&fitted(&text, TALLEST, &[]));
        let chips = wrap();
        root.append(&chips);
        let revert = gtk::Button::builder()
            .label(gettext("Revert"))
            .tooltip_text(gettext("Go back to the message as it was"))
            .css_classes(["flat"])
            .build();
        let cancel = gtk::Button::builder().label(gettext("Cancel")).build();
        let send =
            gtk::Button::builder().label(gettext("Send")).css_classes(["suggested-action"]).build();
        let line = gtk::Box::builder().spacing(8).build();
        line.append(&revert);
        line.append(&gtk::Box::builder().hexpand(true).build());
        line.append(&cancel);
        line.append(&send);
        root.append(&line);

        let context = context.clone();
        let parts = Rc::new(Parts { root, text, chips, revert, send, message, context });
        parts.fill(content.attachments);
        parts.connect(&cancel);
        parts.show();
        Self { parts }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.parts.root
    }
}

impl Parts {
    fn connect(self: &Rc<Self>, cancel: &gtk::Button) {
        let message = self.message;
        let tell = |wanted: Output| {
            let output = Rc::clone(&self.context.output);
            move || output(wanted.clone())
        };
        let weak = Rc::downgrade(self);
        self.text.buffer().connect_changed(move |buffer| {
            let Some(parts) = weak.upgrade() else { return };
            let (start, end) = buffer.bounds();
            parts.context.edits.set_text(message, buffer.text(&start, &end, false).into());
            parts.changed();
        });
        let weak = Rc::downgrade(self);
        self.revert.connect_clicked(move |_| {
            if let Some(parts) = weak.upgrade() {
                parts.revert();
            }
        });
        let sent = tell(Output::SendEdit(message));
        self.send.connect_clicked(move |_| sent());
        let cancelled = tell(Output::CancelEdit(message));
        cancel.connect_clicked(move |_| cancelled());
        let sends = Rc::clone(&self.context.enter_sends);
        let sent = tell(Output::SendEdit(message));
        connect_send_keys(&self.text, move || sends.get(), |_, _| false, move |_| sent());
        let keys = gtk::EventControllerKey::new();
        let cancelled = tell(Output::CancelEdit(message));
        keys.connect_key_pressed(move |_, key, _, _| {
            if key != gdk::Key::Escape {
                return glib::Propagation::Proceed;
            }
            cancelled();
            glib::Propagation::Stop
        });
        self.root.add_controller(keys);
        let edits = Rc::clone(&self.context.edits);
        self.text.connect_map(move |text| {
            if edits.take_focus(message) {
                let text = text.downgrade();
                // It has its place by then.
                glib::idle_add_local_once(move || {
                    if let Some(text) = text.upgrade() {
                        text.buffer().place_cursor(&text.buffer().end_iter());
                        text.grab_focus();
                    }
                });
            }
        });
    }

    /// What stands in it is another.
    fn changed(&self) {
        self.show();
        (self.context.output)(Output::EditChanged);
    }

    fn show(&self) {
        let edits = &self.context.edits;
        let is_empty = edits.content(self.message).is_none_or(|content| content.is_empty());
        self.send.set_sensitive(!is_empty);
        self.revert.set_visible(edits.is_changed(self.message));
        self.chips.set_visible(self.chips.first_child().is_some());
    }

    /// Shows the attachments.
    fn fill(self: &Rc<Self>, attachments: Vec<Attachment>) {
        while let Some(chip) = self.chips.first_child() {
            self.chips.remove(&chip);
        }
        for attachment in attachments {
            self.chips.append(&self.chip(attachment));
        }
    }

    /// Takes all changes back. Undo brings the text back.
    fn revert(self: &Rc<Self>) {
        // The button goes.
        self.text.grab_focus();
        let Some(before) = self.context.edits.revert(self.message) else { return };
        let buffer = self.text.buffer();
        buffer.begin_user_action();
        let (mut start, mut end) = buffer.bounds();
        buffer.delete(&mut start, &mut end);
        buffer.insert(&mut start, &before.text);
        buffer.end_user_action();
        self.fill(before.attachments);
        self.changed();
    }

    /// An attachment, with a button that removes it.
    fn chip(self: &Rc<Self>, attachment: Attachment) -> gtk::Box {
        let name = match &attachment {
            Attachment::File { name, .. } => name.clone(),
            Attachment::Image { .. } => gettext("Image"),
            Attachment::Command(command) => format!("/{}", command.name),
        };
        let chip = gtk::Box::builder().spacing(6).css_classes(["chip"]).build();
        let label = gtk::Label::builder()
            .label(&name)
            .use_markup(false)
            .ellipsize(gtk::pango::EllipsizeMode::Middle)
            .build();
        if let Attachment::Image { data, .. } = &attachment {
            let icon = gtk::Image::builder()
                .icon_name("image-x-generic-symbolic")
                .pixel_size(32)
                .css_classes(["thumbnail"])
                .build();
            self.context.pictures.show_small(&icon, Arc::clone(data));
            chip.append(&icon);
        }
        chip.append(&label);
        let words = gettext("Remove");
        let remove = gtk::Button::builder()
            .icon_name("window-close-symbolic")
            .tooltip_text(&words)
            .css_classes(["flat", "circular", "footer-button"])
            .build();
        accessible::set_label(&remove, &words);
        accessible::set_description(&remove, &name);
        let (parts, weak) = (Rc::downgrade(self), chip.downgrade());
        remove.connect_clicked(move |_| {
            let (Some(parts), Some(chip)) = (parts.upgrade(), weak.upgrade()) else { return };
            // The button that has the keyboard goes.
            parts.text.grab_focus();
            parts.context.edits.remove_attachment(parts.message, &attachment);
            parts.chips.remove(&chip);
            parts.changed();
        });
        chip.append(&remove);
        chip
    }
}
