//! Shows the panel next to the conversation: pages about the project that a chat works in.
//!
//! Each page has its own file here and a line in [`Panel::new`].

pub(crate) mod adaptive_layout;
mod files;
pub(crate) mod project;
mod switcher;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::accessible;
use crate::changes::{self, ChangesPage};
use crate::editor::{self, Editor, Outline, TextPosition};
use files::FilesPage;
use project::{News, ProjectFiles};
use switcher::Switcher;

/// The minimum usable width of the panel, in pixels.
const NARROWEST: i32 = 320;
/// For how many kinds of files to prepare.
const KINDS: usize = 5;

/// A page.
struct Page {
    /// Its internal name.
    name: &'static str,
    /// Its visible title.
    title: String,
    widget: gtk::Widget,
}

/// Messages of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Other files are open, or the cursor has moved.
    Moved(Outline),
    /// Unsaved text from an earlier run was restored on the current page, with this message.
    DraftsRestored(String),
    /// Show this message briefly.
    Note(String),
    /// The project's files have changed, or another project is shown.
    Files,
    /// The project's folder cannot be read: where more is known, [`Panel::say_gone`] says it.
    Gone(PathBuf),
    /// The user answers changes.
    Answer(changes::ReviewAction),
    /// The user undoes their last answer.
    Undo,
    /// Whether to show old and new side by side from now on.
    SideBySide(bool),
    /// Return to the conversation.
    Back,
}

/// The panel.
#[derive(Clone)]
pub(crate) struct Panel {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::Box,
    header: adw::HeaderBar,
    back: gtk::Button,
    places: gtk::Stack,
    pages: gtk::Stack,
    switcher: Switcher,
    files: FilesPage,
    editor: Editor,
    changes: ChangesPage,
    project: RefCell<Option<Rc<ProjectFiles>>>,
    output: Rc<dyn Fn(Output)>,
}

impl std::fmt::Debug for Panel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Panel").finish_non_exhaustive()
    }
}

impl Panel {
    /// Creates a panel without a project. The editor's state files are in folders of the window's
    /// state.
    pub(crate) fn new(state: &Path, output: impl Fn(Output) + 'static) -> Self {
        let output: Rc<dyn Fn(Output)> = Rc::new(output);
        let inner = Rc::new_cyclic(|weak: &std::rc::Weak<Inner>| {
            let (told, owner) = (Rc::clone(&output), weak.clone());
            let editor = Editor::new(state, move |said| match said {
                editor::Output::Moved(outline) => {
                    if let Some(inner) = owner.upgrade() {
                        inner.moved(&outline);
                    }
                    told(Output::Moved(outline));
                }
                editor::Output::Reopened => {
                    if let Some(inner) = owner.upgrade() {
                        Self { inner }.reopened();
                    }
                }
                editor::Output::DraftsRestored(words) => {
                    if let Some(inner) = owner.upgrade() {
                        Self { inner }.show_page("editor");
                    }
                    told(Output::DraftsRestored(words));
                }
                editor::Output::Note(words) => told(Output::Note(words)),
            });
            let owner = weak.clone();
            let files = FilesPage::new(move |path| {
                if let Some(inner) = owner.upgrade() {
                    Self { inner }.open(&path, None);
                }
            });
            let (told, owner) = (Rc::clone(&output), weak.clone());
            let changes = ChangesPage::new(move |said| match said {
                changes::Output::Answer(action) => told(Output::Answer(action)),
                changes::Output::Undo => told(Output::Undo),
                changes::Output::SideBySide(side_by_side) => told(Output::SideBySide(side_by_side)),
                changes::Output::Open { path, line } => {
                    if let Some(inner) = owner.upgrade() {
                        let line = u32::try_from(line).unwrap_or(1);
                        Self { inner }.open(&path, Some(TextPosition { line, column: 1 }));
                    }
                }
            });
            let pages = gtk::Stack::builder().vexpand(true).build();
            let all = [
                Page { name: "files", title: gettext("Files"), widget: files.widget().clone() },
                Page {
                    name: "editor",
                    title: gettext("Editor"),
                    widget: editor.widget().clone().upcast(),
                },
                Page {
                    name: "changes",
                    title: gettext("Changes"),
                    widget: changes.widget().clone().upcast(),
                },
            ];
            let switcher = Switcher::new(&pages);
            for Page { name, title, widget } in &all {
                pages.add_named(widget, Some(name));
                switcher.add(name, title);
            }
            Inner::new(pages, switcher, (files, editor, changes), Rc::clone(&output))
        });
        inner.back.connect_clicked(move |_| output(Output::Back));
        Self { inner }
    }

    pub(crate) fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    pub(crate) fn header(&self) -> &adw::HeaderBar {
        &self.inner.header
    }

    pub(crate) fn editor(&self) -> &Editor {
        &self.inner.editor
    }

    /// The files of the current project.
    pub(crate) fn project(&self) -> Option<Rc<ProjectFiles>> {
        self.inner.project.borrow().clone()
    }

    /// Shows this project; none if the chat has no project.
    pub(crate) fn set_project(&self, folder: Option<&Path>) {
        let inner = &self.inner;
        if inner.project.borrow().as_ref().map(|project| project.folder()) == folder {
            return;
        }
        let project = folder.map(|folder| Rc::new(ProjectFiles::open(folder)));
        if let Some(project) = &project {
            let (told, folder) = (Rc::clone(&inner.output), project.folder().to_owned());
            project.connect(move |news| match news {
                News::Files => told(Output::Files),
                News::Gone => told(Output::Gone(folder.clone())),
                News::Git => {}
            });
        }
        inner.project.replace(project.clone());
        (inner.output)(Output::Files);
        inner.files.set_project(project);
        inner.editor.set_project(folder);
        inner.places.set_visible_child_name(if folder.is_some() { "project" } else { "none" });
        inner.switcher.widget().set_visible(folder.is_some());
        if folder.is_some() && inner.editor.is_empty() {
            self.show_page("files");
        }
    }

    /// Says why this project's folder is gone, if it is still the current one.
    pub(crate) fn say_gone(&self, folder: &Path, why: &str) {
        if self.project().is_some_and(|project| project.folder() == folder) {
            self.inner.files.say_gone(why);
        }
    }

    /// Opens a file by its path relative to the project.
    pub(crate) fn open(&self, path: &Path, place: Option<TextPosition>) {
        self.show_page("editor");
        self.inner.editor.open(path, place);
    }

    /// Opens the file search.
    pub(crate) fn find_file(&self) {
        self.expect_files();
        self.show_page("files");
        self.inner.files.find();
    }

    /// Prepares for files that will soon be opened, most likely of the project's most frequent
    /// kinds.
    fn expect_files(&self) {
        let editor = self.inner.editor.clone();
        editor.expect();
        let Some(project) = self.project() else { return };
        glib::spawn_future_local(async move {
            editor.expect_kinds(project.kinds(KINDS).await);
        });
    }

    pub(crate) fn changes(&self) -> &ChangesPage {
        &self.inner.changes
    }

    /// Shows the review, and focuses it.
    pub(crate) fn review(&self) {
        self.show_page("changes");
        self.focus();
    }

    /// Focuses the current page.
    pub(crate) fn focus(&self) {
        self.expect_files();
        match self.inner.pages.visible_child_name().as_deref() {
            _ if self.inner.project.borrow().is_none() => {
                self.inner.places.child_focus(gtk::DirectionType::TabForward);
            }
            Some("editor") => self.inner.editor.focus(),
            Some("changes") => self.inner.changes.focus(),
            _ => self.inner.files.focus(),
        }
    }

    /// Whether a file's text, or something that belongs to it, has the focus.
    pub(crate) fn edits(&self) -> bool {
        let focus = self.inner.root.root().and_then(|root| root.focus());
        focus.is_some_and(|focus| focus.is_ancestor(self.inner.editor.widget()))
    }

    /// Whether the panel has the focus.
    pub(crate) fn has_keyboard(&self) -> bool {
        let focus = self.inner.root.root().and_then(|root| root.focus());
        focus.is_some_and(|focus| focus.is_ancestor(&self.inner.root))
    }

    /// Sets whether the panel covers the conversation, and so needs a way back.
    pub(crate) fn set_covers(&self, covers: bool, at_start: bool) {
        self.inner.back.set_visible(covers);
        self.inner.header.set_show_start_title_buttons(covers && at_start);
    }

    /// The files from an earlier run are open: show them, unless the user is working elsewhere.
    fn reopened(&self) {
        if !self.has_keyboard() {
            self.show_page("editor");
        }
    }

    fn show_page(&self, name: &str) {
        self.inner.pages.set_visible_child_name(name);
    }
}

impl Inner {
    fn new(
        pages: gtk::Stack,
        switcher: Switcher,
        (files, editor, changes): (FilesPage, Editor, ChangesPage),
        output: Rc<dyn Fn(Output)>,
    ) -> Self {
        // In the middle of the header it has all the space there is; at the side it would get at
        // most half of that. If it expanded, it would be cut to what is free on both sides.
        let header =
            adw::HeaderBar::builder().css_classes(["flat"]).title_widget(switcher.widget()).build();
        let back = gtk::Button::builder()
            .icon_name("go-previous-symbolic")
            .tooltip_text(gettext("Back to Chat"))
            .visible(false)
            .build();
        accessible::set_label(&back, &gettext("Back to Chat"));
        header.pack_start(&back);
        switcher.widget().set_visible(false);
        let places = gtk::Stack::builder().vexpand(true).build();
        places.add_named(&no_project(), Some("none"));
        places.add_named(&pages, Some("project"));
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["side-panel"])
            .width_request(NARROWEST)
            .build();
        root.append(&header);
        root.append(&places);
        Self {
            root,
            header,
            back,
            places,
            pages,
            switcher,
            files,
            editor,
            changes,
            project: RefCell::default(),
            output,
        }
    }

    /// Open files are watched first for changes, and ranked first in searches.
    fn moved(&self, outline: &Outline) {
        if let Some(project) = self.project.borrow().as_ref() {
            let active = outline.active.iter().map(|at| at.path.clone());
            let open = active.chain(outline.others.iter().cloned());
            // Files outside the project are not among its files.
            project.set_open(open.filter(|path| path.is_relative()).collect());
        }
    }
}

/// The placeholder for a chat without a project.
fn no_project() -> adw::StatusPage {
    let choose = gtk::Button::builder()
        .label(gettext("Choose a Folder…"))
        .action_name("win.choose-project")
        .halign(gtk::Align::Center)
        .css_classes(["pill"])
        .build();
    adw::StatusPage::builder()
        .icon_name("folder-symbolic")
        .title(gettext("No Folder"))
        .description(gettext("Choose a project folder to see its files here."))
        .child(&choose)
        .css_classes(["compact"])
        .build()
}
