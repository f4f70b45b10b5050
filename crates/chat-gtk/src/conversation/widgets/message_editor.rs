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
use crate::wrap::wrap;

/// The field, its attachments and its buttons.
pub struct MessageEditor {
    root: gtk::Box,
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
        root.append(&text);
        let chips = wrap();
        for attachment in content.attachments {
            chips.append(&chip(message, attachment, context));
        }
        if chips.first_child().is_some() {
            root.append(&chips);
        }
        let (cancel, send) = buttons();
        let line = gtk::Box::builder().spacing(8).halign(gtk::Align::End).build();
        line.append(&cancel);
        line.append(&send);
        root.append(&line);

        let (edits, shown) = (Rc::clone(&context.edits), send.downgrade());
        let show = move || {
            let is_empty = edits.content(message).is_none_or(|content| content.is_empty());
            if let Some(send) = shown.upgrade() {
                send.set_sensitive(!is_empty);
            }
        };
        show();
        let edits = Rc::clone(&context.edits);
        text.buffer().connect_changed(move |buffer| {
            let (start, end) = buffer.bounds();
            edits.set_text(message, buffer.text(&start, &end, false).into());
            show();
        });
        let output = Rc::clone(&context.output);
        send.connect_clicked(move |_| output(Output::SendEdit(message)));
        let output = Rc::clone(&context.output);
        cancel.connect_clicked(move |_| output(Output::CancelEdit(message)));
        let output = Rc::clone(&context.output);
        let sends = Rc::clone(&context.enter_sends);
        let submit = move |_| output(Output::SendEdit(message));
        connect_send_keys(&text, move || sends.get(), |_, _| false, submit);
        let keys = gtk::EventControllerKey::new();
        let output = Rc::clone(&context.output);
        keys.connect_key_pressed(move |_, key, _, _| {
            if key != gdk::Key::Escape {
                return glib::Propagation::Proceed;
            }
            output(Output::CancelEdit(message));
            glib::Propagation::Stop
        });
        root.add_controller(keys);
        let edits = Rc::clone(&context.edits);
        text.connect_map(move |text| {
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
        Self { root }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }
}

fn buttons() -> (gtk::Button, gtk::Button) {
    let cancel = gtk::Button::builder().label(gettext("Cancel")).build();
    let send =
        gtk::Button::builder().label(gettext("Send")).css_classes(["suggested-action"]).build();
    (cancel, send)
}

/// An attachment, with a button that removes it.
fn chip(message: MessageId, attachment: Attachment, context: &WidgetContext) -> gtk::Box {
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
        context.pictures.show_small(&icon, Arc::clone(data));
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
    let (edits, weak) = (Rc::clone(&context.edits), chip.downgrade());
    remove.connect_clicked(move |_| {
        edits.remove_attachment(message, &attachment);
        if let Some(chip) = weak.upgrade() {
            chip.set_visible(false);
        }
    });
    chip.append(&remove);
    chip
}
