//! Shows the whole of what would go out with the next message.

use adw::prelude::*;
use chat_core::message::PromptPreview;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gdk, glib};

use super::text_of;
use crate::accessible;

/// The size that it wants, in pixels; a smaller window gives it less.
const SIZE: (i32, i32) = (720, 620);

/// Shows it in a window of its own above this one.
pub(super) fn show(preview: &PromptPreview, above: Option<&gtk::Window>) {
    let size = gtk::Label::builder()
        .label(words::prompt_size(preview))
        .xalign(0.0)
        .wrap(true)
        .css_classes(["prompt-size"])
        .build();
    let view = gtk::TextView::builder()
        .editable(false)
        .accepts_tab(false)
        .monospace(true)
        .wrap_mode(gtk::WrapMode::WordChar)
        .css_classes(["prompt-text"])
        .build();
    view.buffer().set_text(&text_of(preview));
    view.buffer().place_cursor(&view.buffer().start_iter());
    accessible::set_label(&view, &gettext("Full Prompt"));
    let scroller = gtk::ScrolledWindow::builder()
        .child(&view)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .vexpand(true)
        .build();
    let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
    column.append(&adw::HeaderBar::new());
    column.append(&size);
    column.append(&scroller);
    let room = above.map_or(SIZE, |above| (SIZE.0.min(above.width()), SIZE.1.min(above.height())));
    let window = adw::Window::builder()
        .title(gettext("Full Prompt"))
        .default_width(room.0)
        .default_height(room.1)
        .width_request(300)
        .modal(true)
        .destroy_with_parent(true)
        .content(&column)
        .build();
    // Added to the classes that it has: without "background" the window would be seen through.
    window.add_css_class("prompt");
    window.set_transient_for(above);
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let weak = window.downgrade();
    keys.connect_key_pressed(move |_, key, _, _| {
        if key != gdk::Key::Escape {
            return glib::Propagation::Proceed;
        }
        if let Some(window) = weak.upgrade() {
            window.close();
        }
        glib::Propagation::Stop
    });
    window.add_controller(keys);
    window.present();
    view.grab_focus();
}
