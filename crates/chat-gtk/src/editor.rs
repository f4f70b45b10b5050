//! Shows the editor: the open files of each project in tabs.
//!
//! [`Editor`] owns the list of open files; each [`document::Document`] owns its text. [`unsaved`]
//! stores text that is not saved yet.

mod autosave;
mod chunked_insert;
mod closing;
mod comment;
mod context;
mod disk;
mod document;
mod find;
mod go_to;
mod indent;
mod notice;
mod open_tabs;
mod preload;
mod reveal;
mod saving_as;
mod source_view;
mod state_files;
mod tabs;
mod unsaved_files;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::manager::Manager;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

pub(crate) use autosave::EditorState;
pub use context::{At, Outline};
use document::Document;
use open_tabs::Tabs;
use tabs::Group;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

/// The engine, once it has started. The user's saves are reported to it.
type Engine = Rc<RefCell<Option<Manager>>>;

/// Messages of the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Other files are open, or the cursor has moved.
    Moved(Outline),
    /// The files from an earlier run are open again.
    Reopened,
    /// Unsaved text from an earlier run was restored, with this message.
    DraftsRestored(String),
    /// Show this message briefly.
    Note(String),
}

/// The editor. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Editor {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::Box,
    bar: adw::TabBar,
    pages: gtk::Stack,
    groups: RefCell<Vec<Rc<Group>>>,
    project: RefCell<Option<PathBuf>>,
    engine: Engine,
    state: EditorState,
    /// Files whose text changed since it was last stored.
    changed_files: RefCell<HashSet<unsaved_files::File>>,
    draft_save_pending: Cell<bool>,
    /// The tabs that were last stored for each project.
    saved_tabs: RefCell<HashMap<PathBuf, Tabs>>,
    tabs_save_pending: Cell<bool>,
    /// The outline that was last reported.
    outline: RefCell<Outline>,
    telling: Cell<bool>,
    preloader: Rc<preload::Preloader>,
    output: Box<dyn Fn(Output)>,
}

/// The action of a key.
type Act = fn(&Editor);

impl std::fmt::Debug for Editor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor").finish_non_exhaustive()
    }
}

impl Editor {
    /// Creates an editor without a project. Its state files are in folders of the window's state.
    pub(crate) fn new(state: &Path, output: impl Fn(Output) + 'static) -> Self {
        let bar = adw::TabBar::builder().autohide(false).visible(false).build();
        bar.add_css_class("file-tabs");
        let pages = gtk::Stack::builder().vexpand(true).build();
        pages.add_named(&empty(), Some("empty"));
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(&bar);
        root.append(&pages);
        let inner = Rc::new(Inner {
            root,
            bar,
            pages,
            groups: RefCell::default(),
            project: RefCell::default(),
            engine: Engine::default(),
            state: EditorState::new(state),
            changed_files: RefCell::default(),
            draft_save_pending: Cell::default(),
            saved_tabs: RefCell::default(),
            tabs_save_pending: Cell::default(),
            outline: RefCell::default(),
            telling: Cell::default(),
            preloader: Rc::default(),
            output: Box::new(output),
        });
        let editor = Self { inner };
        editor.connect_keys();
        editor
    }

    pub(crate) fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    /// The engine has started.
    pub(crate) fn connect(&self, manager: &Manager) {
        self.inner.engine.replace(Some(manager.clone()));
    }

    /// Prepares for files that will soon be opened.
    pub(crate) fn expect(&self) {
        self.inner.preloader.start();
    }

    /// Prepares for such files: their languages are loaded while the user is idle.
    pub(crate) fn expect_kinds(&self, files: Vec<PathBuf>) {
        self.inner.preloader.read(files, &self.inner.root);
    }

    /// Shows the open files of this project. Those of other projects stay open, but hidden.
    pub(crate) fn set_project(&self, project: Option<&Path>) {
        if self.inner.project.borrow().as_deref() == project {
            return;
        }
        self.inner.project.replace(project.map(Path::to_owned));
        if let Some(project) = project {
            let is_new = self.inner.group(project).is_none();
            let group = self.inner.group_of(project);
            self.inner.bar.set_view(Some(group.view()));
            if is_new {
                self.inner.reopen_files(project);
            }
        }
        self.inner.show_pages();
    }

    /// Opens a file by its path relative to the project, or switches to it if it is open.
    pub(crate) fn open(&self, path: &Path, place: Option<TextPosition>) {
        let project = self.inner.project.borrow().clone();
        let Some(project) = project else { return };
        let document = self.inner.open(&project, path, None);
        self.inner.group_of(&project).select(&document);
        if let Some(place) = place {
            document.go(place);
        }
        document.focus();
    }

    /// Whether no file is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.inner.shown().is_none_or(|group| group.is_empty())
    }

    /// Focuses the text.
    pub(crate) fn focus(&self) {
        match self.inner.active() {
            Some(document) => document.focus(),
            None => drop(self.inner.pages.child_focus(gtk::DirectionType::TabForward)),
        }
    }

    /// Opens the find bar, and the replace bar if wanted.
    pub(crate) fn find(&self, replace: bool) {
        if let Some(document) = self.inner.active() {
            document.open_find(replace);
        }
    }

    /// Goes to the next or previous match.
    pub(crate) fn find_next(&self, forward: bool) {
        if let Some(document) = self.inner.active() {
            document.find_next(forward);
        }
    }

    /// The state that has to be stored, to be written on another thread.
    pub(crate) fn state(&self) -> EditorState {
        self.inner.collect();
        self.inner.state.clone()
    }

    /// Asks where to save the file under another name.
    pub(crate) fn save_as(&self) {
        if let Some(document) = self.inner.active() {
            self.inner.save_as(&document);
        }
    }

    /// Closes the current file, and asks about unsaved changes. The focus stays in the editor.
    pub(crate) fn close_file(&self) {
        let Some(group) = self.inner.shown() else { return };
        group.close_active();
        let weak = Rc::downgrade(&self.inner);
        gtk::glib::idle_add_local_once(move || {
            if let Some(inner) = weak.upgrade() {
                Self { inner }.focus();
            }
        });
    }

    /// Connects the keys that work while the focus is in a file.
    fn connect_keys(&self) {
        let keys = gtk::ShortcutController::new();
        let acts: [(&str, Act); 7] = [
            ("<Control>s", |editor| {
                if let Some(document) = editor.inner.active() {
                    document.save(|_| {});
                }
            }),
            ("<Control>f", |editor| editor.find(false)),
            ("<Control>h", |editor| editor.find(true)),
            ("<Control>g", |editor| editor.find_next(true)),
            ("<Control><Shift>g", |editor| editor.find_next(false)),
            ("<Control>i", |editor| {
                if let Some(document) = editor.inner.active() {
                    document.ask_line();
                }
            }),
            ("<Control><Shift>w", Self::close_file),
        ];
        for (key, act) in acts {
            let weak = Rc::downgrade(&self.inner);
            let act = gtk::CallbackAction::new(move |_, _| {
                if let Some(inner) = weak.upgrade() {
                    act(&Self { inner });
                }
                gtk::glib::Propagation::Stop
            });
            let trigger = gtk::ShortcutTrigger::parse_string(key);
            keys.add_shortcut(gtk::Shortcut::new(trigger, Some(act)));
        }
        self.inner.root.add_controller(keys);
    }
}

impl Inner {
    fn group(&self, project: &Path) -> Option<Rc<Group>> {
        self.groups.borrow().iter().find(|group| group.project() == project).cloned()
    }

    /// The open files of a project.
    fn group_of(self: &Rc<Self>, project: &Path) -> Rc<Group> {
        self.group(project).unwrap_or_else(|| {
            let group = Group::new(project, Rc::downgrade(self));
            self.pages.add_child(group.view());
            self.groups.borrow_mut().push(Rc::clone(&group));
            group
        })
    }

    /// The open files of the current project.
    fn shown(&self) -> Option<Rc<Group>> {
        self.project.borrow().as_deref().and_then(|project| self.group(project))
    }

    /// The active file.
    fn active(&self) -> Option<Rc<Document>> {
        self.shown().and_then(|group| group.active())
    }

    fn show_pages(self: &Rc<Self>) {
        let group = self.shown().filter(|group| !group.is_empty());
        self.bar.set_visible(group.is_some());
        match group {
            Some(group) => self.pages.set_visible_child(group.view()),
            None => self.pages.set_visible_child_name("empty"),
        }
        self.tell_moved();
    }
}

/// The placeholder if no file is open.
fn empty() -> adw::StatusPage {
    adw::StatusPage::builder()
        .icon_name("document-edit-symbolic")
        .title(gettext("No File Open"))
        .description(gettext("Press Ctrl+P to find a file in the project."))
        .css_classes(["compact"])
        .build()
}
