//! Shows a row of the tree: an icon, a name, and its git status.

use std::cell::RefCell;
use std::rc::Rc;

use chat_presentation::words::fill;
use chat_project::tree::Kind;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::super::project::GitState;
use super::mark;
use super::model::Node;
use super::tree::node_of;
use crate::accessible;

/// The existing row widgets: only those of visible rows.
#[derive(Default)]
pub(super) struct Rows {
    all: RefCell<Vec<glib::WeakRef<gtk::ListItem>>>,
}

impl Rows {
    /// Shows the current git status.
    pub(super) fn mark(&self, git: &GitState) {
        for item in self.all.borrow().iter().filter_map(glib::WeakRef::upgrade) {
            if let (Some(row), Some(node)) = (widgets(&item), node(&item)) {
                show_mark(&row, &node, git);
            }
        }
    }

    /// Focuses a row.
    pub(super) fn focus(&self, position: u32) {
        let items = self.all.borrow();
        let mut items = items.iter().filter_map(glib::WeakRef::upgrade);
        let item = items.find(|item| item.position() == position && item.item().is_some());
        if let Some(row) = item.and_then(|item| item.child()).and_then(|child| child.parent()) {
            row.grab_focus();
        }
    }
}

struct Widgets {
    expander: gtk::TreeExpander,
    icon: gtk::Image,
    name: gtk::Label,
    mark: gtk::Label,
}

/// Creates rows and fills them.
pub(super) fn factory(
    rows: &Rc<Rows>,
    git: impl Fn() -> Rc<GitState> + 'static,
    clicked: impl Fn(u32) + 'static,
) -> gtk::SignalListItemFactory {
    let factory = gtk::SignalListItemFactory::new();
    let (all, clicked) = (Rc::clone(rows), Rc::new(clicked));
    factory.connect_setup(move |_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        let clicked = Rc::clone(&clicked);
        set_up(item, move |position| clicked(position));
        let mut all = all.all.borrow_mut();
        all.retain(|item| item.upgrade().is_some());
        all.push(item.downgrade());
    });
    factory.connect_bind(move |_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        let (Some(row), Some(node)) = (widgets(item), node(item)) else { return };
        row.expander.set_list_row(item.item().and_downcast_ref::<gtk::TreeListRow>());
        let name = node.path.file_name().unwrap_or(node.path.as_os_str()).to_string_lossy();
        // File names may contain line breaks.
        row.name.set_label(&name.replace(char::is_control, "�"));
        row.name.set_tooltip_text(Some(&node.path.display().to_string()));
        show_icon(&row.icon, &node, &name);
        show_mark(&row, &node, &git());
    });
    factory.connect_unbind(|_, item| {
        if let Some(row) = item.downcast_ref::<gtk::ListItem>().and_then(widgets) {
            row.expander.set_list_row(None);
        }
    });
    factory
}

fn set_up(item: &gtk::ListItem, clicked: impl Fn(u32) + 'static) {
    let icon = gtk::Image::new();
    let name = gtk::Label::builder()
        .xalign(0.0)
        .hexpand(true)
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .build();
    let mark = gtk::Label::builder().css_classes(["git-mark"]).build();
    let line = gtk::Box::builder().spacing(6).build();
    line.append(&icon);
    line.append(&name);
    line.append(&mark);
    let expander = gtk::TreeExpander::builder().child(&line).css_classes(["file-row"]).build();
    item.set_child(Some(&expander));
    // A single click opens, as in other file trees; the list would need two.
    let click = gtk::GestureClick::new();
    let weak = item.downgrade();
    click.connect_pressed(|click, _, _, _| {
        click.set_state(gtk::EventSequenceState::Claimed);
    });
    click.connect_released(move |_, _, x, y| {
        let Some(item) = weak.upgrade() else { return };
        let inside = item.child().is_some_and(|child| child.contains(x, y));
        if inside || item.child().is_none() {
            clicked(item.position());
        }
    });
    line.add_controller(click);
}

fn widgets(item: &gtk::ListItem) -> Option<Widgets> {
    let expander = item.child().and_downcast::<gtk::TreeExpander>()?;
    let icon = expander.child()?.first_child().and_downcast::<gtk::Image>()?;
    let name = icon.next_sibling().and_downcast::<gtk::Label>()?;
    let mark = name.next_sibling().and_downcast::<gtk::Label>()?;
    Some(Widgets { expander, icon, name, mark })
}

fn node(item: &gtk::ListItem) -> Option<Node> {
    let row = item.item().and_downcast::<gtk::TreeListRow>()?;
    node_of(&row.item()?)
}

fn show_icon(icon: &gtk::Image, node: &Node, name: &str) {
    match node.kind {
        Kind::Folder => icon.set_icon_name(Some("folder-symbolic")),
        Kind::Link => icon.set_icon_name(Some("emblem-symbolic-link")),
        Kind::File => {
            icon.set_from_gicon(&icon_of(name));
        }
    }
}

/// The icon for a file name. Unknown files get the text icon, since most of a project is text: the
/// generic icon is an empty sheet that is hardly visible next to the others.
fn icon_of(name: &str) -> gio::Icon {
    let (kind, _) = gio::content_type_guess(Some(name), None::<&[u8]>);
    let is_unknown = gio::content_type_is_unknown(&kind);
    gio::content_type_get_symbolic_icon(if is_unknown { "text/plain" } else { &kind })
}

fn show_mark(row: &Widgets, node: &Node, git: &GitState) {
    for style in mark::STYLES {
        row.name.remove_css_class(style);
        row.mark.remove_css_class(style);
    }
    let (letter, word, style) = match git.files.get(&node.path) {
        Some(change) => mark::of(change),
        None if git.folders.contains(&node.path) => {
            ("•", gettext("contains changes"), "git-inside")
        }
        None => ("", String::new(), ""),
    };
    row.mark.set_label(letter);
    row.mark.set_visible(!letter.is_empty());
    let description = match word.as_str() {
        "" => String::new(),
        word => fill(&gettext("Git: {state}"), &[("state", word)]),
    };
    row.mark.set_tooltip_text((!word.is_empty()).then_some(description.as_str()));
    accessible::set_description(&row.name, &description);
    if !style.is_empty() {
        row.name.add_css_class(style);
        row.mark.add_css_class(style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_no_known_kind_looks_like_text() {
        let same = |name| IconExt::equal(&icon_of(name), Some(&icon_of("notes.txt")));
        for name in [".gitignore", "Cargo.lock", "notes.of-a-kind"] {
            assert!(same(name), "{name}");
        }
        assert!(!same("picture.png"));
    }
}
