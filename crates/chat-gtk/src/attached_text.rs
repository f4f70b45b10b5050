//! Shows the text of a file that went with a message.

use adw::prelude::*;
use chat_presentation::words::{bytes, fill, one_line};
use gettextrs::gettext;

use crate::accessible;

/// So much of a text is shown, in bytes: a view of more is slow.
const MOST: usize = 1 << 20;

/// Opens a file's text above the window of this widget.
pub(crate) fn open(from: &impl IsA<gtk::Widget>, name: &str, text: &str) {
    let shown = &text[..text.floor_char_boundary(MOST)];
    let name = one_line(name);
    let window = adw::Window::builder()
        .title(&name)
        .default_width(720)
        .default_height(620)
        .width_request(360)
        .height_request(294)
        .destroy_with_parent(true)
        .modal(true)
        .build();
    window.set_transient_for(from.root().and_downcast::<gtk::Window>().as_ref());
    let close = gtk::ShortcutController::new();
    let closing = gtk::ShortcutAction::parse_string("action(window.close)");
    for key in ["Escape", "<Control>w"] {
        let trigger = gtk::ShortcutTrigger::parse_string(key);
        close.add_shortcut(gtk::Shortcut::new(trigger, closing.clone()));
    }
    window.add_controller(close);
    let view = gtk::TextView::builder()
        .editable(false)
        .monospace(true)
        .wrap_mode(gtk::WrapMode::WordChar)
        .top_margin(12)
        .bottom_margin(12)
        .left_margin(14)
        .right_margin(14)
        .build();
    view.buffer().set_text(shown);
    view.buffer().place_cursor(&view.buffer().start_iter());
    accessible::set_label(&view, &name);
    let copy = gtk::Button::builder()
        .icon_name("edit-copy-symbolic")
        .tooltip_text(gettext("Copy All"))
        .build();
    accessible::set_label(&copy, &gettext("Copy All"));
    let whole = text.to_owned();
    copy.connect_clicked(move |copy| copy.clipboard().set_text(&whole));
    let header = adw::HeaderBar::new();
    header.pack_start(&copy);
    let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
    column.append(&header);
    if shown.len() < text.len() {
        let words =
            gettext("Only the first {shown} of {size} are shown here. The model got all of it.");
        let sizes = [("shown", &*bytes(shown.len() as u64)), ("size", &*bytes(text.len() as u64))];
        let note = gtk::Label::builder()
            .label(fill(&words, &sizes))
            .wrap(true)
            .xalign(0.0)
            .css_classes(["cut-text"])
            .build();
        column.append(&note);
    }
    column.append(&gtk::ScrolledWindow::builder().child(&view).vexpand(true).build());
    window.set_content(Some(&column));
    window.present();
}
