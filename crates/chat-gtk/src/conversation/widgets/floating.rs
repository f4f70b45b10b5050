//! Draws what floats over the conversation: the button that leads to its end, and the target of a link.

use gettextrs::gettext;
use gtk::prelude::*;

use crate::accessible;

/// Says where the link leads that has the keyboard.
pub fn target_label() -> gtk::Label {
    gtk::Label::builder()
        .halign(gtk::Align::Start)
        .valign(gtk::Align::End)
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .visible(false)
        .can_target(false)
        .css_classes(["link-target"])
        .build()
}

/// The button that leads to the end.
pub fn jump_button() -> (gtk::Button, gtk::Label) {
    let label = gtk::Label::builder().label(gettext("New Text")).visible(false).build();
    let inside = gtk::Box::builder().spacing(6).halign(gtk::Align::Center).build();
    inside.append(&gtk::Image::from_icon_name("go-down-symbolic"));
    inside.append(&label);
    let button = gtk::Button::builder()
        .child(&inside)
        .halign(gtk::Align::Center)
        .valign(gtk::Align::End)
        .margin_bottom(12)
        .visible(false)
        .css_classes(["jump", "osd", "pill"])
        .build();
    accessible::set_label(&button, &gettext("Jump to End"));
    (button, label)
}
