//! Shows the switcher (Ctrl+K): finds chats, commands, models and settings by a few letters of their names.

mod found;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gdk, glib};

use self::found::{Asked, Kind, Line, found};
pub(super) use self::found::{Entry, Target};
use super::Input;
use crate::{accessible, paint};

/// The most height of the list, in pixels; more is scrolled to.
const MOST_HEIGHT: i32 = 440;

/// What a row leads to.
#[derive(Clone, Debug)]
enum Row {
    To(Entry),
    /// More rows of this kind.
    More(Kind),
}

impl Row {
    fn kind(&self) -> Kind {
        match self {
            Self::To(entry) => entry.kind(),
            Self::More(kind) => *kind,
        }
    }
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
    let scroller = gtk::ScrolledWindow::builder()
        .child(&list)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .build();
    column.append(&entry);
    column.append(&scroller);
    let window = adw::Window::builder()
        .transient_for(parent)
        .modal(true)
        .default_width(440)
        .resizable(false)
        .title(gettext("Go to a chat"))
        .content(&column)
        .build();

    let shown: Rc<RefCell<Vec<Row>>> = Rc::default();
    let of_rows = Rc::clone(&shown);
    list.set_header_func(move |row, before| {
        let shown = of_rows.borrow();
        let kind = |row: &gtk::ListBoxRow| shown.get(row.index() as usize).map(Row::kind);
        let (kind, above) = (kind(row), before.and_then(kind));
        let heading = kind.filter(|kind| above != Some(*kind)).map(|kind| {
            let heading = gtk::Label::builder().label(kind.title()).xalign(0.0).build();
            heading.add_css_class("switcher-heading");
            heading
        });
        row.set_header(heading.as_ref());
    });
    let asked = Rc::new(Cell::new(Asked::default()));
    let fill = {
        let (rows, scroller) = (list.downgrade(), scroller.downgrade());
        let (shown, asked) = (Rc::clone(&shown), Rc::clone(&asked));
        move |query: &str, select: i32| {
            let (Some(list), Some(scroller)) = (rows.upgrade(), scroller.upgrade()) else { return };
            while let Some(row) = list.row_at_index(0) {
                list.remove(&row);
            }
            let lines = found(query, &entries, asked.get());
            shown.replace(lines.iter().map(leads_to).collect());
            for line in lines {
                list.append(&row(line));
            }
            list.select_row(list.row_at_index(select).as_ref());
            // The window grows and shrinks with the least height of what is in it.
            let (_, height, _, _) = list.measure(gtk::Orientation::Vertical, -1);
            scroller.set_min_content_height(height.min(MOST_HEIGHT));
        }
    };
    fill("", 0);
    let fill = Rc::new(fill);
    let (refill, asked_before) = (Rc::clone(&fill), Rc::clone(&asked));
    entry.connect_changed(move |entry| {
        asked_before.take();
        refill(&entry.text(), 0);
    });

    let go = {
        let (window, typed, rows) = (window.downgrade(), entry.downgrade(), list.downgrade());
        move |row: &gtk::ListBoxRow| {
            let at = row.index();
            let chosen = shown.borrow().get(at as usize).cloned();
            let (Some(window), Some(chosen)) = (window.upgrade(), chosen) else { return };
            let target = match chosen {
                Row::To(entry) => entry.target,
                Row::More(kind) => {
                    let mut more = asked.get();
                    more.add(kind);
                    asked.set(more);
                    let (Some(typed), Some(rows)) = (typed.upgrade(), rows.upgrade()) else {
                        return;
                    };
                    // The first of the new rows stands where this one did.
                    fill(&typed.text(), at);
                    typed.grab_focus();
                    typed.set_position(-1);
                    paint::after_next(&rows.clone(), move || show_selected(&rows));
                    return;
                }
            };
            window.close();
            match target {
                Target::Chat(fid) => input.emit(Input::Show(fid)),
                Target::Action(action) => input.emit(Input::Do(action)),
                Target::Command(name) => input.emit(Input::Run(name)),
                Target::Model(model) => input.emit(Input::Choose(model)),
                Target::Setting(page) => input.emit(Input::Prefer(page)),
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

fn leads_to(line: &Line<'_>) -> Row {
    match line {
        Line::Entry(entry) => Row::To((*entry).clone()),
        Line::More { kind, .. } => Row::More(*kind),
    }
}

fn row(line: Line<'_>) -> gtk::Widget {
    let (name, aside) = match line {
        Line::Entry(entry) => (entry.name.clone(), entry.aside.clone()),
        Line::More { shown, all, .. } => {
            let numbers = [("shown", shown.to_string()), ("all", all.to_string())];
            let numbers = numbers.each_ref().map(|(name, number)| (*name, number.as_str()));
            (gettext("Show More"), fill(&gettext("{shown} of {all}"), &numbers))
        }
    };
    let name = gtk::Label::builder()
        .label(name)
        .xalign(0.0)
        .hexpand(true)
        .ellipsize(gtk::pango::EllipsizeMode::End)
        .build();
    if aside.is_empty() {
        return name.upcast();
    }
    let aside = gtk::Label::builder()
        .label(aside)
        .css_classes(["dim-label"])
        .ellipsize(gtk::pango::EllipsizeMode::End)
        .build();
    let line = gtk::Box::builder().spacing(12).build();
    line.append(&name);
    line.append(&aside);
    line.upcast()
}

/// Scrolls to the selected row, which does not have the keyboard.
fn show_selected(list: &gtk::ListBox) {
    let (Some(row), Some(adjustment)) = (list.selected_row(), list.adjustment()) else { return };
    let Some(bounds) = row.compute_bounds(list) else { return };
    let heading = row.header().and_then(|heading| heading.compute_bounds(list));
    let top = heading.map_or(bounds.y(), |heading| heading.y());
    adjustment.clamp_page(top.into(), (bounds.y() + bounds.height()).into());
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
            show_selected(&list);
        }
        glib::Propagation::Stop
    });
    entry.add_controller(keys);
}
