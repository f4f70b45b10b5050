//! Shows a model's row in the list: the heading of its group where it is the first, its name, its
//! abilities, its size, and the star that makes it a favourite.

use chat_core::models::display_name;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::rows::{Heading, Row};
use crate::accessible;
use crate::models::words::connection;

/// Builds the row. A heading is part of a model's row, so that the arrow keys meet nothing that
/// cannot be chosen.
pub(super) fn build(row: &Row, chosen: bool, starred: impl Fn(bool) + 'static) -> gtk::Box {
    let line = gtk::Box::builder().spacing(8).css_classes(["model-row"]).build();
    line.append(&check(chosen));
    line.append(&name(row));
    let marks = gtk::Box::builder().spacing(4).css_classes(["marks"]).build();
    for (icon, words) in abilities(row) {
        marks.append(&gtk::Image::builder().icon_name(icon).tooltip_text(words).build());
    }
    line.append(&marks);
    if !row.size.is_empty() {
        line.append(&dim(&row.size));
    }
    line.append(&star(row.favourite, starred));

    let whole = gtk::Box::new(gtk::Orientation::Vertical, 0);
    if let Some(heading) = &row.heading {
        let words = match heading {
            Heading::Favourites => gettext("Favorites"),
            Heading::Connection(name) => connection(name),
        };
        let label = gtk::Label::builder()
            .label(words)
            .xalign(0.0)
            .ellipsize(gtk::pango::EllipsizeMode::End)
            .css_classes(["model-heading"])
            .build();
        whole.append(&label);
    }
    whole.append(&line);
    whole
}

/// What a screen reader says about the row.
pub(super) fn spoken(row: &Row) -> String {
    let mut words = vec![display_name(&row.model).to_owned()];
    words.extend(row.connection.clone());
    words.extend(abilities(row).into_iter().map(|(_, words)| words));
    if !row.size.is_empty() {
        words.push(row.size.clone());
    }
    if row.favourite {
        words.push(gettext("favorite"));
    }
    words.join(", ")
}

/// The icons of a model's known abilities, with their names.
fn abilities(row: &Row) -> Vec<(&'static str, String)> {
    let all = [
        (row.can.tools, "natter-tools-symbolic", gettext("Can use tools")),
        (row.can.vision, "natter-vision-symbolic", gettext("Can see images")),
        (row.can.thinking, "natter-thinking-symbolic", gettext("Can think before answering")),
    ];
    let known = all.into_iter().filter(|(has, ..)| *has == Some(true));
    known.map(|(_, icon, words)| (icon, words)).collect()
}

/// The mark on the chat's current model; other rows keep the space for it.
fn check(chosen: bool) -> gtk::Image {
    let check = gtk::Image::from_icon_name("object-select-symbolic");
    check.set_opacity(if chosen { 1.0 } else { 0.0 });
    check
}

fn name(row: &Row) -> gtk::Box {
    let name = gtk::Label::builder()
        .label(display_name(&row.model))
        .xalign(0.0)
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .tooltip_text(row.model.to_string())
        .build();
    let names = gtk::Box::builder().spacing(8).hexpand(true).build();
    names.append(&name);
    if let Some(connection) = &row.connection {
        names.append(&dim(connection));
    }
    names
}

fn dim(words: &str) -> gtk::Label {
    gtk::Label::builder().label(words).css_classes(["dim-label", "caption", "numeric"]).build()
}

/// The star never takes the focus, which would leave the list's rows. Its key belongs to the list.
fn star(favourite: bool, starred: impl Fn(bool) + 'static) -> gtk::ToggleButton {
    let (icon, hint) = if favourite {
        ("starred-symbolic", gettext("Remove from Favorites (Ctrl+D)"))
    } else {
        ("non-starred-symbolic", gettext("Add to Favorites (Ctrl+D)"))
    };
    let star = gtk::ToggleButton::builder()
        .icon_name(icon)
        .active(favourite)
        .focusable(false)
        .valign(gtk::Align::Center)
        .tooltip_text(hint)
        .css_classes(["flat", "circular", "star"])
        .build();
    accessible::set_label(&star, &gettext("Favorite"));
    star.connect_toggled(move |star| starred(star.is_active()));
    star
}
