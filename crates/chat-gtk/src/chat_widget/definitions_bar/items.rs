//! Lists what a project has, for the question whether to trust it: what each may do, whether it is new, and its text.

use std::cell::Cell;

use adw::prelude::*;
use chat_core::definitions::ProjectItem;
use chat_presentation::words::{self, fill};
use gettextrs::gettext;
use relm4::gtk::{self, pango};

use crate::accessible;

/// The height from which the list scrolls, in pixels.
const HIGHEST: i32 = 360;

/// A block for each definition.
pub(super) fn list<'a>(items: impl Iterator<Item = &'a ProjectItem>) -> gtk::ScrolledWindow {
    let blocks = gtk::Box::new(gtk::Orientation::Vertical, 12);
    for item in items {
        blocks.append(&block(item));
    }
    // Arrow keys scroll it.
    let list = gtk::ScrolledWindow::builder()
        .child(&blocks)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .propagate_natural_height(true)
        .max_content_height(HIGHEST)
        .focusable(true)
        .build();
    accessible::set_label(&list, &gettext("Agents, commands, and skills"));
    list
}

/// What a definition is and may do, whether it is new, which of a skill's files changed, and its text to open.
fn block(item: &ProjectItem) -> gtk::Box {
    let block = gtk::Box::new(gtk::Orientation::Vertical, 3);
    block.append(&line(&words::project_item(item), &[]));
    block.append(&line(&words::project_item_state(item), &["dim-label", "caption"]));
    let files = words::project_item_files(item);
    if !files.is_empty() {
        block.append(&line(&files.join("\n"), &["caption"]));
    }
    let diff = words::project_item_diff(item);
    let (title, long_title, name) = if diff.is_some() {
        let long_title = gettext("Show changes of {name}");
        (gettext("Show Changes"), long_title, gettext("Changes of {name}"))
    } else {
        (gettext("Show Text"), gettext("Show text of {name}"), gettext("Text of {name}"))
    };
    let text = diff.unwrap_or_else(|| words::project_item_text(item));
    let expander = gtk::Expander::new(Some(&title));
    let of_item = |text: &str| fill(text, &[("name", &words::one_line(&item.name))]);
    let name = of_item(&name);
    accessible::set_label(&expander, &of_item(&long_title));
    let is_filled = Cell::new(false);
    expander.connect_expanded_notify(move |expander| {
        if expander.is_expanded() && !is_filled.replace(true) {
            expander.set_child(Some(&content(&text, &name)));
        }
    });
    block.append(&expander);
    block
}

fn line(words: &str, classes: &[&str]) -> gtk::Label {
    gtk::Label::builder()
        .label(words)
        .use_markup(false)
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .css_classes(classes.iter().copied().map(str::to_owned).collect::<Vec<_>>())
        .build()
}

/// A text to read. Tab leaves it.
fn content(text: &str, name: &str) -> gtk::TextView {
    let view = gtk::TextView::builder()
        .editable(false)
        .cursor_visible(false)
        .monospace(true)
        .accepts_tab(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .top_margin(6)
        .bottom_margin(6)
        .left_margin(6)
        .right_margin(6)
        .build();
    view.buffer().set_text(text);
    accessible::set_label(&view, name);
    view
}
