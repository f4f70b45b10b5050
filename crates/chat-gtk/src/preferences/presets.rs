//! Chooses the server for a new connection: a known one, or any other.

use adw::prelude::*;
use chat_core::client::{Preset, presets};
use chat_core::manager::Manager;
use gettextrs::gettext;
use gtk::{gdk, glib};

use super::editor;
use super::rows::plain_row;
use crate::accessible;
use crate::close_keys::close_with_escape;

/// The dialog's size, in pixels at the default font.
const SIZE: (i32, i32) = (420, 560);

/// Opens the list of servers above a window.
pub(super) fn open(parent: &gtk::Window, manager: &Manager) {
    let words = gettext("Add Connection");
    let search = gtk::SearchEntry::builder()
        .placeholder_text(gettext("Search servers"))
        .margin_start(12)
        .margin_end(12)
        .margin_bottom(6)
        .build();
    accessible::set_label(&search, &gettext("Search Servers"));
    let list = gtk::ListBox::builder()
        .selection_mode(gtk::SelectionMode::None)
        .css_classes(["boxed-list"])
        .valign(gtk::Align::Start)
        .margin_top(12)
        .margin_bottom(24)
        .margin_start(12)
        .margin_end(12)
        .build();
    accessible::set_label(&list, &gettext("Servers"));
    let window = adw::Window::builder()
        .transient_for(parent)
        .modal(true)
        .destroy_with_parent(true)
        .default_width(SIZE.0)
        .default_height(SIZE.1)
        .title(&words)
        .build();
    for preset in presets() {
        let row = choice(&preset.name, &preset.url);
        lead(&row, &window, parent, manager, Some(preset));
        list.append(&row);
    }
    let other = choice(
        &gettext("Other Server…"),
        &gettext("Any that speaks the protocol of Ollama, OpenAI or Anthropic"),
    );
    lead(&other, &window, parent, manager, None);
    list.append(&other);
    let (typed, last) = (search.clone(), other.clone());
    list.set_filter_func(move |row| {
        let wanted = typed.text().trim().to_lowercase();
        let row = row.downcast_ref::<adw::ActionRow>();
        // Who finds nothing adds another one.
        row.is_none_or(|row| {
            *row == last
                || row.title().to_lowercase().contains(&wanted)
                || row.subtitle().is_some_and(|line| line.to_lowercase().contains(&wanted))
        })
    });
    let shown = list.clone();
    // At once: Enter may follow before the entry reports a search.
    search.connect_changed(move |_| shown.invalidate_filter());
    let rows = list.clone();
    search.connect_activate(move |_| {
        if let Some(row) = first_found(&rows) {
            row.activate();
        }
    });
    connect_arrows(&search, &list);

    let scroller = gtk::ScrolledWindow::builder()
        .child(&list)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .vexpand(true)
        .build();
    let header = adw::HeaderBar::builder()
        .css_classes(["flat"])
        .title_widget(&adw::WindowTitle::new(&words, ""))
        .build();
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&header);
    content.append(&search);
    content.append(&scroller);
    window.set_content(Some(&content));
    close_with_escape(&window);
    window.present();
    search.grab_focus();
}

fn first_found(list: &gtk::ListBox) -> Option<gtk::ListBoxRow> {
    let mut rows = (0..).map_while(|at| list.row_at_index(at));
    rows.find(gtk::prelude::WidgetExt::is_child_visible)
}

/// Down leads from the search to the first result, and Up from there back.
fn connect_arrows(search: &gtk::SearchEntry, list: &gtk::ListBox) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let rows = list.clone();
    keys.connect_key_pressed(move |_, key, _, _| {
        if !matches!(key, gdk::Key::Down | gdk::Key::KP_Down) {
            return glib::Propagation::Proceed;
        }
        if let Some(row) = first_found(&rows) {
            row.grab_focus();
        }
        glib::Propagation::Stop
    });
    search.add_controller(keys);
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let (rows, back) = (list.clone(), search.clone());
    keys.connect_key_pressed(move |_, key, _, _| {
        let is_up = matches!(key, gdk::Key::Up | gdk::Key::KP_Up);
        if is_up && first_found(&rows).is_some_and(|row| row.has_focus()) {
            back.grab_focus();
            return glib::Propagation::Stop;
        }
        glib::Propagation::Proceed
    });
    list.add_controller(keys);
}

fn choice(title: &str, line: &str) -> adw::ActionRow {
    let row = plain_row(title, line);
    row.set_activatable(true);
    row.set_subtitle_lines(2);
    row.add_suffix(&gtk::Image::from_icon_name("go-next-symbolic"));
    row
}

/// Makes a row lead to the dialog for its server, in place of this one.
fn lead(
    row: &adw::ActionRow,
    window: &adw::Window,
    parent: &gtk::Window,
    manager: &Manager,
    preset: Option<&'static Preset>,
) {
    let (window, parent) = (window.downgrade(), parent.downgrade());
    let manager = manager.clone();
    row.connect_activated(move |_| {
        if let Some(window) = window.upgrade() {
            window.close();
        }
        let (parent, manager): (glib::WeakRef<gtk::Window>, _) = (parent.clone(), manager.clone());
        if let Some(parent) = parent.upgrade() {
            match preset {
                Some(preset) => editor::open_preset(&parent, &manager, preset),
                None => editor::open(&parent, &manager, None),
            }
        }
    });
}
