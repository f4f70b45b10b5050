//! Shows the tree of the project's files. Folders load their entries when they are opened, and only
//! visible rows have widgets.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_project::tree::{Kind, State};
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::gtk::prelude::*;

use super::super::project::{GitState, ProjectFiles};
use super::model::{FolderModel, Node};
use super::row;
use crate::accessible;

/// The tree.
pub(super) struct TreeView {
    inner: Rc<Inner>,
}

struct Inner {
    stack: gtk::Stack,
    list: gtk::ListView,
    selection: gtk::SingleSelection,
    problem: gtk::Label,
    project: RefCell<Option<Rc<ProjectFiles>>>,
    /// The expanded folders.
    folders: RefCell<Vec<glib::WeakRef<FolderModel>>>,
    git: RefCell<Rc<GitState>>,
    rows: Rc<row::Rows>,
    opened: Rc<dyn Fn(PathBuf)>,
}

impl TreeView {
    /// Creates a tree without a project. `opened` receives the path of a file to open.
    pub(super) fn new(opened: Rc<dyn Fn(PathBuf)>) -> Self {
        let selection =
            gtk::SingleSelection::builder().autoselect(false).can_unselect(true).build();
        let rows = Rc::new(row::Rows::default());
        let list = gtk::ListView::builder().model(&selection).css_classes(["files"]).build();
        accessible::set_label(&list, &gettext("Files"));
        let scroller = gtk::ScrolledWindow::builder().child(&list).vexpand(true).build();
        let problem = gtk::Label::builder().wrap(true).css_classes(["dim-label"]).build();
        let spinner = gtk::Label::builder()
            .label(gettext("Reading the folder…"))
            .css_classes(["dim-label"])
            .build();
        let stack = gtk::Stack::builder().vexpand(true).build();
        stack.add_named(&spinner, Some("reading"));
        stack.add_named(&scroller, Some("list"));
        stack.add_named(&problem, Some("problem"));
        let inner = Rc::new(Inner {
            stack,
            list,
            selection,
            problem,
            project: RefCell::default(),
            folders: RefCell::default(),
            git: RefCell::default(),
            rows,
            opened,
        });
        inner.connect();
        Self { inner }
    }

    pub(super) fn widget(&self) -> &gtk::Stack {
        &self.inner.stack
    }

    pub(super) fn set_project(&self, project: Option<Rc<ProjectFiles>>) {
        self.inner.project.replace(project);
        self.inner.folders.borrow_mut().clear();
        self.inner.selection.set_model(gio::ListModel::NONE);
        self.inner.stack.set_visible_child_name("reading");
        self.renew();
    }

    /// The files have changed.
    pub(super) fn renew(&self) {
        let inner = &self.inner;
        let Some(tree) = inner.project.borrow().as_ref().and_then(|project| project.tree()) else {
            return;
        };
        if tree.root().state() == State::Ahead {
            return;
        }
        if inner.selection.model().is_none() {
            inner.begin();
        }
        let folders: Vec<_> =
            inner.folders.borrow().iter().filter_map(glib::WeakRef::upgrade).collect();
        for folder in folders {
            folder.set(tree.folder(&folder.path()).cloned());
        }
        let is_empty = tree.root().is_empty();
        if is_empty {
            inner.problem.set_label(&gettext("This folder is empty."));
        }
        inner.stack.set_visible_child_name(if is_empty { "problem" } else { "list" });
    }

    pub(super) fn show_gone(&self) {
        self.say_gone(&gettext("Can’t read this folder."));
    }

    /// Says why the folder is gone.
    pub(super) fn say_gone(&self, why: &str) {
        self.inner.problem.set_label(why);
        self.inner.stack.set_visible_child_name("problem");
    }

    pub(super) fn show_git(&self, git: Rc<GitState>) {
        self.inner.git.replace(git);
        let git = self.inner.git.borrow().clone();
        self.inner.rows.mark(&git);
    }

    pub(super) fn focus(&self) {
        let inner = &self.inner;
        if inner.selection.selected() == gtk::INVALID_LIST_POSITION {
            inner.selection.set_selected(0);
        }
        inner.list.grab_focus();
    }
}

impl Inner {
    /// Lists the project's own folder.
    fn begin(self: &Rc<Self>) {
        let root = self.folder(Path::new(""));
        let weak = Rc::downgrade(self);
        let tree = gtk::TreeListModel::new(root, false, false, move |item| {
            let node = node_of(item)?;
            let inner = weak.upgrade().filter(|_| node.kind == Kind::Folder)?;
            Some(inner.folder(&node.path).upcast())
        });
        self.selection.set_model(Some(&tree));
    }

    /// The list of a folder's entries.
    fn folder(&self, path: &Path) -> FolderModel {
        let project = self.project.borrow();
        let tree = project.as_ref().and_then(|project| project.tree());
        let folder = tree.and_then(|tree| tree.folder(path).cloned());
        let model = FolderModel::new(path, folder);
        let mut all = self.folders.borrow_mut();
        all.retain(|folder| folder.upgrade().is_some());
        all.push(model.downgrade());
        model
    }

    fn row(&self, position: u32) -> Option<gtk::TreeListRow> {
        self.selection.item(position).and_downcast()
    }

    /// Opens a file, or expands or collapses a folder.
    fn activate(&self, position: u32) {
        let Some(row) = self.row(position) else { return };
        let Some(node) = row.item().as_ref().and_then(node_of) else { return };
        if node.kind == Kind::Folder {
            self.expand(&row, !row.is_expanded());
        } else {
            (self.opened)(node.path);
        }
    }

    fn expand(&self, row: &gtk::TreeListRow, expanded: bool) {
        row.set_expanded(expanded);
        // Visible folders are watched first. A list lives as long as its folder is expanded.
        if let Some(project) = self.project.borrow().as_ref() {
            let folders = self.folders.borrow();
            let open = folders.iter().filter_map(glib::WeakRef::upgrade);
            project.set_shown(open.map(|folder| folder.path()).collect());
        }
    }

    fn connect(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        let clicked = move |position| {
            let Some(inner) = weak.upgrade() else { return };
            inner.selection.set_selected(position);
            inner.list.grab_focus();
            inner.activate(position);
        };
        let weak = Rc::downgrade(self);
        let git =
            move || weak.upgrade().map(|inner| inner.git.borrow().clone()).unwrap_or_default();
        self.list.set_factory(Some(&row::factory(&self.rows, git, clicked)));
        let weak = Rc::downgrade(self);
        self.list.connect_activate(move |_, position| {
            if let Some(inner) = weak.upgrade() {
                inner.activate(position);
            }
        });
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let taken = weak.upgrade().is_some_and(|inner| modifiers.is_empty() && inner.walk(key));
            if taken { glib::Propagation::Stop } else { glib::Propagation::Proceed }
        });
        self.list.add_controller(keys);
    }

    /// Right expands a folder, or moves into it; Left collapses it, or moves to its parent.
    fn walk(&self, key: gdk::Key) -> bool {
        let position = self.selection.selected();
        let Some(row) = self.row(position) else { return false };
        match key {
            gdk::Key::Right | gdk::Key::KP_Right if row.is_expandable() => {
                if row.is_expanded() {
                    self.go(position + 1);
                } else {
                    self.expand(&row, true);
                }
            }
            gdk::Key::Left | gdk::Key::KP_Left if row.is_expanded() => self.expand(&row, false),
            gdk::Key::Left | gdk::Key::KP_Left => {
                if let Some(parent) = row.parent() {
                    self.go(parent.position());
                }
            }
            gdk::Key::Return | gdk::Key::KP_Enter => self.activate(position),
            _ => return false,
        }
        true
    }

    /// Selects and focuses a row.
    fn go(&self, position: u32) {
        if position < self.selection.n_items() {
            self.selection.set_selected(position);
            let _ = self.list.activate_action("list.scroll-to-item", Some(&position.to_variant()));
            self.rows.focus(position);
        }
    }
}

/// The node of an item.
pub(super) fn node_of(item: &glib::Object) -> Option<Node> {
    let item = item.downcast_ref::<glib::BoxedAnyObject>()?;
    Some(item.borrow::<Node>().clone())
}
