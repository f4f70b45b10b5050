//! Shows the button with the chat's project folder, and the list to choose another one.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::worktree::Worktree;
use chat_presentation::words::{fill, one_line};
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::{accessible, file_dialog, popover, projects};

/// How many letters of the folder's name are always visible; the maximum follows.
const LEAST: i32 = 4;
const MOST: i32 = 30;

/// The user's choice: a folder, or none.
pub(crate) type Choice = Option<PathBuf>;

/// The button with its list. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ProjectPicker {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    button: gtk::MenuButton,
    label: gtk::Label,
    popover: gtk::Popover,
    list: gtk::ListBox,
    none: gtk::Button,
    recent: RefCell<Vec<PathBuf>>,
    chosen: RefCell<Option<PathBuf>>,
    /// The worktree that the chosen folder is in.
    worktree: RefCell<Option<Worktree>>,
    /// Counts how often the list was opened: late results for an earlier opening are ignored.
    opened: Cell<u64>,
}

impl ProjectPicker {
    pub(crate) fn new(output: impl Fn(Choice) + 'static) -> Self {
        let output: Rc<dyn Fn(Choice)> = Rc::new(output);
        let label = gtk::Label::builder().max_width_chars(MOST).build();
        let face = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        face.append(&gtk::Image::from_icon_name("folder-symbolic"));
        face.append(&label);
        let popover = gtk::Popover::new();
        let button =
            gtk::MenuButton::builder().child(&face).popover(&popover).css_classes(["flat"]).build();
        accessible::set_label(&button, &gettext("Project"));
        popover::silence_tooltip(&button);

        let list = gtk::ListBox::builder()
            .selection_mode(gtk::SelectionMode::None)
            .css_classes(["folders"])
            .build();
        accessible::set_label(&list, &gettext("Recent Folders"));
        let open = flat_button(&gettext("Open Folder…"));
        let none = flat_button(&gettext("No Folder"));
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(2)
            .width_request(250)
            .build();
        column.append(&list);
        column.append(&open);
        column.append(&none);
        popover.set_child(Some(&column));

        let inner = Rc::new(Inner {
            button,
            label,
            popover,
            list,
            none,
            recent: RefCell::default(),
            chosen: RefCell::default(),
            worktree: RefCell::default(),
            opened: Cell::default(),
        });
        inner.connect(&open, &output);
        inner.show_label();
        Self { inner }
    }

    pub(crate) fn widget(&self) -> &gtk::MenuButton {
        &self.inner.button
    }

    /// Sets the recently used folders.
    pub(crate) fn set_recent(&self, folders: &[PathBuf]) {
        self.inner.recent.replace(folders.to_owned());
    }

    /// Shows the current project folder.
    pub(crate) fn show(&self, folder: Option<&Path>) {
        if self.inner.chosen.borrow().as_deref() != folder {
            self.inner.chosen.replace(folder.map(Path::to_owned));
            self.inner.worktree.take();
            self.inner.show_label();
        }
    }

    /// Shows the worktree that a folder is in, if that is the current one.
    pub(crate) fn show_worktree(&self, folder: &Path, worktree: Option<Worktree>) {
        if self.inner.chosen.borrow().as_deref() == Some(folder) {
            self.inner.worktree.replace(worktree);
            self.inner.show_label();
        }
    }

    /// Opens the list by keyboard.
    pub(crate) fn open(&self) {
        self.inner.button.popup();
    }
}

impl Inner {
    fn connect(self: &Rc<Self>, open: &gtk::Button, output: &Rc<dyn Fn(Choice)>) {
        // Filled before it is shown: GTK 4.8 may keep the size of a list that is filled afterwards.
        let weak = Rc::downgrade(self);
        self.button.set_create_popup_func(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.fill();
                inner.leave_out_gone();
            }
        });
        let (weak, told) = (Rc::downgrade(self), Rc::clone(output));
        self.list.connect_row_activated(move |_, row| {
            let Some(inner) = weak.upgrade() else { return };
            let folder = inner.shown().nth(row.index() as usize);
            inner.popover.popdown();
            told(folder);
        });
        let (weak, told) = (Rc::downgrade(self), Rc::clone(output));
        self.none.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.popover.popdown();
                told(None);
            }
        });
        let (weak, told) = (Rc::downgrade(self), Rc::clone(output));
        open.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.popover.popdown();
                let told = Rc::clone(&told);
                inner.ask(move |folder| told(Some(folder)));
            }
        });
    }

    /// The folders in the order of the list, which always includes the current one.
    fn shown(&self) -> std::vec::IntoIter<PathBuf> {
        let recent = self.recent.borrow();
        let chosen = self.chosen.borrow().clone().filter(|chosen| !recent.contains(chosen));
        chosen.into_iter().chain(recent.iter().cloned()).collect::<Vec<_>>().into_iter()
    }

    fn fill(&self) {
        while let Some(row) = self.list.first_child() {
            self.list.remove(&row);
        }
        let chosen = self.chosen.borrow().clone();
        for folder in self.shown() {
            self.list.append(&row(&folder, chosen.as_ref() == Some(&folder)));
        }
        self.list.set_visible(self.list.first_child().is_some());
        self.none.set_visible(chosen.is_some());
    }

    /// Removes deleted folders from the list. Checked in the background, since a disk may be slow.
    fn leave_out_gone(self: &Rc<Self>) {
        let opened = self.opened.get() + 1;
        self.opened.set(opened);
        let (this, recent) = (Rc::clone(self), self.recent.borrow().clone());
        glib::spawn_future_local(async move {
            let there = |folders: Vec<PathBuf>| {
                folders.into_iter().filter(|folder| folder.is_dir()).collect::<Vec<_>>()
            };
            let before = recent.len();
            let Ok(recent) = gtk::gio::spawn_blocking(move || there(recent)).await else { return };
            if this.opened.get() == opened && recent.len() < before {
                this.recent.replace(recent);
                this.fill();
            }
        });
    }

    fn show_label(&self) {
        let chosen = self.chosen.borrow();
        let worktree = self.worktree.borrow();
        let (name, hint) = match (&*chosen, &*worktree) {
            (Some(folder), Some(worktree)) => in_worktree(folder, worktree),
            (Some(folder), None) => (projects::name(folder), folder.display().to_string()),
            (None, _) => (String::new(), gettext("Choose a folder to work in")),
        };
        self.label.set_visible(!name.is_empty());
        self.label.set_label(&name);
        // A shorter name is never cut off, and takes no more space than it needs.
        let is_long = name.chars().count() > LEAST as usize;
        self.label.set_width_chars(if is_long { LEAST } else { -1 });
        let cut = gtk::pango::EllipsizeMode::End;
        self.label.set_ellipsize(if is_long { cut } else { gtk::pango::EllipsizeMode::None });
        self.button.set_tooltip_text(Some(&hint));
        accessible::set_description(&self.button, &hint);
    }

    fn ask(&self, then: impl Fn(PathBuf) + 'static) {
        let parent = self.button.root().and_downcast::<gtk::Window>();
        let chooser = gtk::FileChooserNative::builder()
            .title(gettext("Open Folder"))
            .action(gtk::FileChooserAction::SelectFolder)
            .accept_label(gettext("_Open"))
            .modal(true)
            .build();
        chooser.set_transient_for(parent.as_ref());
        file_dialog::ask_paths(&chooser, move |folders| folders.into_iter().for_each(&then));
    }
}

/// How a worktree is called on the button, and its tooltip.
fn in_worktree(folder: &Path, worktree: &Worktree) -> (String, String) {
    let project = projects::name(worktree.parent_project());
    let branch = one_line(worktree.branch());
    let text = gettext("Worktree of {project} on the branch {branch}: {folder}");
    let values = [
        ("project", project.as_str()),
        ("branch", branch.as_str()),
        ("folder", &folder.display().to_string()),
    ];
    (format!("{project} · {branch}"), fill(&text, &values))
}

fn flat_button(words: &str) -> gtk::Button {
    let label = gtk::Label::builder().label(words).xalign(0.0).build();
    gtk::Button::builder().child(&label).css_classes(["flat"]).build()
}

/// A folder with its path, and a mark if it is the current one.
fn row(folder: &Path, chosen: bool) -> gtk::ListBoxRow {
    let lines = gtk::Box::builder().orientation(gtk::Orientation::Vertical).hexpand(true).build();
    let title = gtk::Label::builder()
        .label(projects::name(folder))
        .xalign(0.0)
        .ellipsize(gtk::pango::EllipsizeMode::End)
        .max_width_chars(28)
        .build();
    lines.append(&title);
    let below = gtk::Label::builder()
        .label(projects::display_path(folder))
        .xalign(0.0)
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .max_width_chars(34)
        .css_classes(["choice-description"])
        .build();
    lines.append(&below);
    let line = gtk::Box::new(gtk::Orientation::Horizontal, 10);
    line.append(&gtk::Image::from_icon_name("folder-symbolic"));
    line.append(&lines);
    let mark = gtk::Image::from_icon_name("object-select-symbolic");
    mark.set_opacity(if chosen { 1.0 } else { 0.0 });
    line.append(&mark);
    let place = folder.display().to_string();
    let row = gtk::ListBoxRow::builder().child(&line).tooltip_text(&place).build();
    accessible::set_label(&row, &projects::name(folder));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(picker: &ProjectPicker) -> usize {
        std::iter::successors(picker.inner.list.first_child(), WidgetExt::next_sibling).count()
    }

    #[gtk::test]
    fn the_folder_that_is_worked_in_is_on_the_list_though_it_is_not_recent() {
        crate::init();
        let picker = ProjectPicker::new(|_| {});
        assert!(!picker.inner.label.get_visible());
        picker.set_recent(&["/a".into(), "/b".into()]);
        picker.show(Some(Path::new("/projects/natter")));
        picker.inner.fill();
        assert_eq!((rows(&picker), picker.inner.label.label().as_str()), (3, "natter"));
        assert!(picker.inner.none.get_visible());
        picker.show(Some(Path::new("/b")));
        picker.inner.fill();
        assert_eq!(rows(&picker), 2);
        picker.show(None);
        picker.inner.fill();
        assert!(!picker.inner.none.get_visible() && !picker.inner.label.get_visible());
    }
}
