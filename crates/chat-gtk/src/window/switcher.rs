//! Shows the chat switcher (Ctrl+K): finds a chat by a few letters of its title.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::message::Fid;
use chat_presentation::fuzzy;
use gettextrs::gettext;
use gtk::{gdk, glib};

use super::Input;
use crate::accessible;

/// As many as can be taken in at a glance.
const LIMIT: usize = 9;

type Chat = (Fid, String);

/// Opens the switcher over these chats, newest first.
pub(super) fn open(parent: &adw::ApplicationWindow, chats: Vec<Chat>, input: relm4::Sender<Input>) {
    let entry = gtk::SearchEntry::builder().placeholder_text(gettext("Go to a chat")).build();
    accessible::set_label(&entry, &gettext("Go to a chat"));
    let list = gtk::ListBox::builder().selection_mode(gtk::SelectionMode::Browse).build();
    accessible::set_label(&list, &gettext("Matching chats"));
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

    let chats = Rc::new(chats);
    let found: Rc<RefCell<Vec<Fid>>> = Rc::default();
    let fill = {
        let (list, found) = (list.clone(), Rc::clone(&found));
        move |query: &str| {
            let best = fuzzy::best(query, &chats, |(_, title)| title, LIMIT);
            while let Some(row) = list.row_at_index(0) {
                list.remove(&row);
            }
            for (_, title) in &best {
                let label = gtk::Label::builder()
                    .label(title)
                    .xalign(0.0)
                    .ellipsize(gtk::pango::EllipsizeMode::End)
                    .build();
                list.append(&label);
            }
            list.select_row(list.row_at_index(0).as_ref());
            found.replace(best.into_iter().map(|(fid, _)| fid.clone()).collect());
        }
    };
    fill("");
    entry.connect_changed(move |entry| fill(&entry.text()));

    let go = {
        let window = window.downgrade();
        move |row: &gtk::ListBoxRow| {
            let fid = found.borrow().get(row.index() as usize).cloned();
            if let Some(window) = window.upgrade() {
                window.close();
            }
            if let Some(fid) = fid {
                input.emit(Input::Show(fid));
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
