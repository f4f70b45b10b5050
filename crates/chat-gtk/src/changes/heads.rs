//! Defines the heading rows of files and changes, with the buttons to accept and reject them.

use std::path::Path;
use std::rc::Rc;

use chat_core::review::FileKind;
use chat_presentation::words::{fill, one_line};
use gettextrs::gettext;
use gtk::pango;
use relm4::gtk::prelude::*;

use super::item::Item;
use super::listing::{Changed, Verdict};
use super::row::Act;
use crate::{accessible, adaptive_pair};

/// The widgets of a file's row.
#[derive(Debug)]
pub(super) struct FileView {
    root: gtk::Box,
    title: gtk::Button,
    arrow: gtk::Image,
    icon: gtk::Image,
    path: gtk::Label,
    what: gtk::Label,
    count: gtk::Label,
    accept: gtk::Button,
    reject: gtk::Button,
    note: gtk::Label,
}

/// The widgets of a change's row.
#[derive(Debug)]
pub(super) struct HunkView {
    root: gtk::Box,
    place: gtk::Button,
    accept: gtk::Button,
    reject: gtk::Button,
    note: gtk::Label,
}

impl FileView {
    pub(super) fn new(act: &Rc<dyn Fn(Act)>) -> Self {
        let arrow = gtk::Image::builder().css_classes(["dim-label"]).build();
        let icon = gtk::Image::new();
        let path = gtk::Label::builder()
            .xalign(0.0)
            .use_markup(false)
            .ellipsize(pango::EllipsizeMode::Start)
            .css_classes(["heading"])
            .build();
        let what = caption();
        what.set_ellipsize(pango::EllipsizeMode::Middle);
        let count = gtk::Label::builder().css_classes(["change-count"]).build();
        let line = gtk::Box::builder().spacing(8).build();
        for part in [arrow.upcast_ref(), icon.upcast_ref::<gtk::Widget>(), path.upcast_ref()] {
            line.append(part);
        }
        line.append(&what);
        line.append(&count);
        let title = button(&line, Act::Toggle, act);
        title.add_css_class("change-file");
        title.set_hexpand(true);
        let accept = icon_button("object-select-symbolic", Act::Answer(Verdict::Accept), act);
        let reject = icon_button("edit-undo-symbolic", Act::Answer(Verdict::Reject), act);
        let all = gtk::Box::builder().spacing(2).build();
        all.append(&title);
        all.append(&accept);
        all.append(&reject);
        let (root, note) = with_note(&all);
        Self { root, title, arrow, icon, path, what, count, accept, reject, note }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows a file. Returns its accessible name.
    pub(super) fn show(&self, file: &Changed, open: bool, note: Option<&str>) -> String {
        let change = &file.change;
        let path = shown_path(&change.path);
        self.arrow.set_icon_name(Some(if open { "pan-down-symbolic" } else { "pan-end-symbolic" }));
        let (icon, what) = match &change.kind {
            FileKind::Created => ("document-new-symbolic", gettext("New")),
            FileKind::Deleted => ("user-trash-symbolic", gettext("Deleted")),
            FileKind::Modified => ("document-edit-symbolic", String::new()),
            FileKind::Moved { from } => {
                let text = gettext("Moved from {path}");
                ("go-jump-symbolic", fill(&text, &[("path", &shown_path(from))]))
            }
        };
        let agent = file.agent.as_deref().map(one_line);
        let agent = agent.map(|agent| fill(&gettext("By {agent}"), &[("agent", &agent)]));
        let what = [what, agent.unwrap_or_default()];
        let what: Vec<_> = what.into_iter().filter(|words| !words.is_empty()).collect();
        let what = what.join(" · ");
        self.icon.set_icon_name(Some(icon));
        self.path.set_text(&path);
        self.title.set_tooltip_text(Some(&path));
        self.what.set_visible(!what.is_empty());
        self.what.set_text(&what);
        self.count.set_visible(!change.binary);
        self.count.set_text(&counted(change.added, change.removed));
        name(&self.accept, &fill(&gettext("Accept {path}"), &[("path", &path)]));
        name(&self.reject, &fill(&gettext("Reject {path}"), &[("path", &path)]));
        show_note(&self.note, note);
        let name = format!("{path} {what} {}", self.count.text());
        accessible::set_label(&self.title, &name);
        name
    }
}

impl HunkView {
    pub(super) fn new(act: &Rc<dyn Fn(Act)>) -> Self {
        let place = gtk::Button::builder().css_classes(["flat", "change-place"]).build();
        let told = Rc::clone(act);
        place.connect_clicked(move |_| told(Act::Open));
        place.set_halign(gtk::Align::Start);
        let accept = word_button(&gettext("Accept"), Act::Answer(Verdict::Accept), act);
        let reject = word_button(&gettext("Reject"), Act::Answer(Verdict::Reject), act);
        let buttons = gtk::Box::builder().spacing(4).build();
        buttons.append(&accept);
        buttons.append(&reject);
        let line = adaptive_pair::controls(&place, &buttons);
        line.add_css_class("change-head");
        let (root, note) = with_note(&line);
        Self { root, place, accept, reject, note }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows the heading of a change. Returns its accessible name.
    pub(super) fn show(&self, file: &Changed, number: usize, note: Option<&str>) -> String {
        let (from, to) = file.place(number);
        let (from, to) = (from.to_string(), to.to_string());
        let path = shown_path(&file.change.path);
        let (words, place) = if from == to {
            (gettext("Line {line}"), gettext("{path}, line {line}"))
        } else {
            (gettext("Lines {from}–{to}"), gettext("{path}, lines {from}–{to}"))
        };
        let lines: [(&str, &str); 4] =
            [("line", &from), ("from", &from), ("to", &to), ("path", &path)];
        let (words, place) = (fill(&words, &lines), fill(&place, &lines));
        self.place.set_label(&words);
        self.place.set_sensitive(file.exists());
        self.place.set_tooltip_text(Some(&gettext("Open in the editor")));
        name(&self.accept, &fill(&gettext("Accept {path}"), &[("path", &place)]));
        name(&self.reject, &fill(&gettext("Reject {path}"), &[("path", &place)]));
        let touched = file.change.hunks[number].touched;
        let said = touched.then(|| gettext("These lines have changed since"));
        show_note(&self.note, note.or(said.as_deref()));
        place
    }
}

/// A remark where there are no lines to show.
pub(super) fn remark(item: &Item) -> String {
    let change = &item.file().change;
    if change.binary {
        return gettext("This isn’t a text file, so you can only accept or reject it as a whole.");
    }
    match (&change.kind, change.modes()) {
        (FileKind::Created, _) => gettext("The file is empty."),
        (FileKind::Moved { .. }, _) => gettext("The contents are unchanged."),
        (_, Some(_)) => gettext("Only the executable bit changed."),
        _ => gettext("The contents are unchanged."),
    }
}

/// Added and removed lines: `+14 −3`.
pub(crate) fn counted(added: u64, removed: u64) -> String {
    format!("+{added} −{removed}")
}

/// A path without misleading characters.
pub(super) fn shown_path(path: &Path) -> String {
    one_line(&path.display().to_string())
}

fn caption() -> gtk::Label {
    gtk::Label::builder().use_markup(false).css_classes(["caption", "dim-label"]).build()
}

fn with_note(line: &gtk::Box) -> (gtk::Box, gtk::Label) {
    let note = gtk::Label::builder()
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .use_markup(false)
        .visible(false)
        .css_classes(["caption", "change-note"])
        .build();
    let root = gtk::Box::builder().orientation(gtk::Orientation::Vertical).build();
    root.append(line);
    root.append(&note);
    (root, note)
}

fn show_note(label: &gtk::Label, note: Option<&str>) {
    label.set_visible(note.is_some());
    label.set_text(note.unwrap_or_default());
}

fn button(child: &gtk::Box, does: Act, act: &Rc<dyn Fn(Act)>) -> gtk::Button {
    let button = gtk::Button::builder().child(child).css_classes(["flat"]).build();
    let told = Rc::clone(act);
    button.connect_clicked(move |_| told(does));
    button
}

fn icon_button(icon: &str, does: Act, act: &Rc<dyn Fn(Act)>) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .valign(gtk::Align::Center)
        .css_classes(["flat"])
        .build();
    let told = Rc::clone(act);
    button.connect_clicked(move |_| told(does));
    button
}

fn word_button(label: &str, does: Act, act: &Rc<dyn Fn(Act)>) -> gtk::Button {
    let button = gtk::Button::builder().label(label).css_classes(["flat", "caption"]).build();
    let told = Rc::clone(act);
    button.connect_clicked(move |_| told(does));
    button
}

fn name(button: &gtk::Button, words: &str) {
    button.set_tooltip_text(Some(words));
    accessible::set_label(button, words);
}
