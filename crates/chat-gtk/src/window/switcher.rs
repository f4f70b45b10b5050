//! Shows the switcher (Ctrl+K): finds chats, commands, models and settings by a few letters of their names.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::message::{Fid, ModelRef};
use chat_presentation::fuzzy;
use gettextrs::gettext;
use gtk::{gdk, glib};

use super::Input;
use super::keys::Action;
use crate::{accessible, preferences};

/// As many of a kind as can be taken in at a glance.
const LIMIT: usize = 9;
/// As many of a kind while all kinds are shown.
const LIMIT_AMONG_OTHERS: usize = 5;

/// What can be gone to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Chat(Fid),
    Action(Action),
    /// A slash command of the shown chat.
    Command(String),
    Model(ModelRef),
    Setting(preferences::Page),
}

/// The kinds of targets, each with a sign that leads to it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Chats,
    Commands,
    Models,
    Settings,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Chats, Self::Commands, Self::Models, Self::Settings];

    fn sign(self) -> Option<char> {
        match self {
            Self::Chats => None,
            Self::Commands => Some('>'),
            Self::Models => Some('@'),
            Self::Settings => Some('#'),
        }
    }

    fn title(self) -> String {
        match self {
            Self::Chats => gettext("Chats"),
            Self::Commands => gettext("Commands"),
            Self::Models => gettext("Models"),
            Self::Settings => gettext("Settings"),
        }
    }
}

/// Something that can be gone to.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) target: Target,
    pub(super) name: String,
    /// A remark at the end of its row, such as a key.
    pub(super) aside: String,
}

impl Entry {
    fn kind(&self) -> Kind {
        match self.target {
            Target::Chat(_) => Kind::Chats,
            Target::Action(_) | Target::Command(_) => Kind::Commands,
            Target::Model(_) => Kind::Models,
            Target::Setting(_) => Kind::Settings,
        }
    }
}

/// The entries that a query finds, kind by kind. Without a query these are the latest chats; a sign at its
/// beginning asks for one kind alone.
fn found<'a>(query: &str, entries: &'a [Entry]) -> Vec<&'a Entry> {
    let query = query.trim_start();
    let only =
        Kind::ALL.into_iter().find(|kind| kind.sign().is_some_and(|it| query.starts_with(it)));
    let text = query.strip_prefix(|c| only.and_then(Kind::sign) == Some(c)).unwrap_or(query);
    let kinds: Vec<Kind> = match only {
        Some(kind) => vec![kind],
        None if text.trim().is_empty() => vec![Kind::Chats],
        None => Kind::ALL.to_vec(),
    };
    let limit = if kinds.len() == 1 { LIMIT } else { LIMIT_AMONG_OTHERS };
    let mut all = Vec::new();
    for kind in kinds {
        let of_kind: Vec<&Entry> = entries.iter().filter(|entry| entry.kind() == kind).collect();
        let best = fuzzy::best(text, &of_kind, |entry| &entry.name, limit);
        all.extend(best.into_iter().copied());
    }
    all
}

/// Opens the switcher over these entries, chats newest first.
pub(super) fn open(
    parent: &adw::ApplicationWindow,
    entries: Vec<Entry>,
    input: relm4::Sender<Input>,
) {
    let hint = gettext("Chats, > commands, @ models, # settings");
    let entry = gtk::SearchEntry::builder().placeholder_text(&hint).build();
    accessible::set_label(&entry, &gettext("Go to a chat, command, model or setting"));
    let list = gtk::ListBox::builder().selection_mode(gtk::SelectionMode::Browse).build();
    accessible::set_label(&list, &gettext("Matches"));
    let column = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .css_classes(["switcher"])
        .margin_bottom(8)
        .build();
    column.append(&entry);
    column.append(&list);
    let window = adw::Window::builder()
        .transient_for(parent)
        .modal(true)
        .default_width(440)
        .resizable(false)
        .title(gettext("Go to a chat"))
        .content(&column)
        .build();

    let shown: Rc<RefCell<Vec<Entry>>> = Rc::default();
    let of_rows = Rc::clone(&shown);
    list.set_header_func(move |row, before| {
        let shown = of_rows.borrow();
        let kind = |row: &gtk::ListBoxRow| shown.get(row.index() as usize).map(Entry::kind);
        let (kind, above) = (kind(row), before.and_then(kind));
        let heading = kind.filter(|kind| above != Some(*kind)).map(|kind| {
            let heading = gtk::Label::builder().label(kind.title()).xalign(0.0).build();
            heading.add_css_class("switcher-heading");
            heading
        });
        row.set_header(heading.as_ref());
    });
    let fill = {
        let (list, shown) = (list.clone(), Rc::clone(&shown));
        move |query: &str| {
            let best: Vec<Entry> = found(query, &entries).into_iter().cloned().collect();
            while let Some(row) = list.row_at_index(0) {
                list.remove(&row);
            }
            shown.replace(best.clone());
            for entry in &best {
                list.append(&row(entry));
            }
            list.select_row(list.row_at_index(0).as_ref());
        }
    };
    fill("");
    entry.connect_changed(move |entry| fill(&entry.text()));

    let go = {
        let window = window.downgrade();
        move |row: &gtk::ListBoxRow| {
            let chosen = shown.borrow().get(row.index() as usize).cloned();
            if let Some(window) = window.upgrade() {
                window.close();
            }
            match chosen.map(|entry| entry.target) {
                Some(Target::Chat(fid)) => input.emit(Input::Show(fid)),
                Some(Target::Action(action)) => input.emit(Input::Do(action)),
                Some(Target::Command(name)) => input.emit(Input::Run(name)),
                Some(Target::Model(model)) => input.emit(Input::Choose(model)),
                Some(Target::Setting(page)) => input.emit(Input::Prefer(page)),
                None => {}
            }
        }
    };
    let chosen = go.clone();
    list.connect_row_activated(move |_, row| chosen(row));
    let rows = list.clone();
    entry.connect_activate(move |_| {
        if let Some(row) = rows.selected_row() {
            go(&row);
        }
    });
    connect_keys(&entry, &list, &window);
    window.present();
    entry.grab_focus();
}

fn row(entry: &Entry) -> gtk::Widget {
    let name = gtk::Label::builder()
        .label(&entry.name)
        .xalign(0.0)
        .hexpand(true)
        .ellipsize(gtk::pango::EllipsizeMode::End)
        .build();
    if entry.aside.is_empty() {
        return name.upcast();
    }
    let aside = gtk::Label::builder()
        .label(&entry.aside)
        .css_classes(["dim-label"])
        .ellipsize(gtk::pango::EllipsizeMode::End)
        .build();
    let line = gtk::Box::builder().spacing(12).build();
    line.append(&name);
    line.append(&aside);
    line.upcast()
}

/// The arrows move in the list while the cursor stays in the entry; Esc closes.
fn connect_keys(entry: &gtk::SearchEntry, list: &gtk::ListBox, window: &adw::Window) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let list = list.clone();
    let closed = window.downgrade();
    keys.connect_key_pressed(move |_, key, _, _| {
        let by = match key {
            gdk::Key::Down => 1,
            gdk::Key::Up => -1,
            gdk::Key::Escape => {
                if let Some(window) = closed.upgrade() {
                    window.close();
                }
                return glib::Propagation::Stop;
            }
            _ => return glib::Propagation::Proceed,
        };
        let at = list.selected_row().map_or(-1, |row| row.index());
        if let Some(row) = list.row_at_index(at + by) {
            list.select_row(Some(&row));
        }
        glib::Propagation::Stop
    });
    entry.add_controller(keys);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(target: Target, name: &str) -> Entry {
        Entry { target, name: name.to_owned(), aside: String::new() }
    }

    #[test]
    fn signs_lead_to_one_kind_and_without_one_all_are_found() {
        let mut entries: Vec<Entry> = (0..20)
            .map(|at| entry(Target::Chat(Fid::new(at.to_string())), &format!("Models {at}")))
            .collect();
        entries.push(entry(Target::Action(Action::NewChat), "New chat"));
        entries.push(entry(Target::Command("model".to_owned()), "/model"));
        entries.push(entry(Target::Model(ModelRef::new("local", "smol")), "smol"));
        entries.push(entry(Target::Setting(preferences::Page::Models), "Models"));
        let names = |query: &str| -> Vec<String> {
            found(query, &entries).into_iter().map(|entry| entry.name.clone()).collect()
        };
        let latest: Vec<String> = (0..LIMIT).map(|at| format!("Models {at}")).collect();
        assert_eq!(names(""), latest);
        assert_eq!(names(">"), ["New chat", "/model"]);
        assert_eq!(names("> nc"), ["New chat"]);
        assert_eq!(
            (names("@sm"), names("#")),
            (vec!["smol".to_owned()], vec!["Models".to_owned()])
        );
        let all = names("model");
        assert_eq!(all.len(), LIMIT_AMONG_OTHERS + 2);
        assert_eq!(all[LIMIT_AMONG_OTHERS..], ["/model", "Models"]);
    }
}
