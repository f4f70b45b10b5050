//! Shows the page of the project's files: the branch, a search field, and the tree or the search
//! results.

mod found;
mod mark;
mod model;
mod row;
mod tree;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use chat_presentation::words::fill;
use chat_project::git::Head;
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::project::{News, ProjectFiles};
use crate::accessible;
use found::FoundList;
use tree::TreeView;

/// The page.
#[derive(Clone)]
pub(super) struct FilesPage {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::Box,
    branch: gtk::Label,
    entry: gtk::SearchEntry,
    stack: gtk::Stack,
    tree: TreeView,
    found: FoundList,
    project: RefCell<Option<Rc<ProjectFiles>>>,
}

impl FilesPage {
    /// Creates a page without a project. `opened` receives the path of a file to open.
    pub(super) fn new(opened: impl Fn(PathBuf) + 'static) -> Self {
        let opened: Rc<dyn Fn(PathBuf)> = Rc::new(opened);
        let branch = gtk::Label::builder()
            .xalign(0.0)
            .ellipsize(gtk::pango::EllipsizeMode::Middle)
            .css_classes(["branch"])
            .visible(false)
            .build();
        let entry = gtk::SearchEntry::builder()
            .placeholder_text(gettext("Find a file (Ctrl+P)"))
            .hexpand(true)
            .build();
        accessible::set_label(&entry, &gettext("Find a File"));
        let head = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["files-head"])
            .spacing(4)
            .build();
        head.append(&entry);
        head.append(&branch);
        let tree = TreeView::new(Rc::clone(&opened));
        let found = FoundList::new();
        let stack = gtk::Stack::builder().vexpand(true).build();
        stack.add_named(tree.widget(), Some("tree"));
        stack.add_named(found.widget(), Some("found"));
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(&head);
        root.append(&stack);
        let inner =
            Rc::new(Inner { root, branch, entry, stack, tree, found, project: RefCell::default() });
        inner.connect(&opened);
        Self { inner }
    }

    pub(super) fn widget(&self) -> &gtk::Widget {
        self.inner.root.upcast_ref()
    }

    pub(super) fn set_project(&self, project: Option<Rc<ProjectFiles>>) {
        let inner = &self.inner;
        inner.entry.set_text("");
        if let Some(project) = &project {
            let weak = Rc::downgrade(inner);
            project.connect(move |news| hear(&weak, news));
        }
        inner.tree.set_project(project.clone());
        inner.project.replace(project);
        inner.show_git();
    }

    /// Says why the project's folder is gone.
    pub(super) fn say_gone(&self, why: &str) {
        self.inner.tree.say_gone(why);
    }

    /// Focuses the search field.
    pub(super) fn find(&self) {
        self.inner.entry.grab_focus();
        self.inner.entry.select_region(0, -1);
    }

    /// Focuses the tree, or the search results.
    pub(super) fn focus(&self) {
        if self.inner.is_finding() {
            self.find();
        } else {
            self.inner.tree.focus();
        }
    }
}

fn hear(inner: &Weak<Inner>, news: News) {
    let Some(inner) = inner.upgrade() else { return };
    match news {
        News::Files => {
            inner.tree.renew();
            if inner.is_finding() {
                inner.search();
            }
        }
        News::Git => inner.show_git(),
        News::Gone => inner.tree.show_gone(),
    }
}

impl Inner {
    fn is_finding(&self) -> bool {
        !self.entry.text().trim().is_empty()
    }

    fn show_git(&self) {
        let project = self.project.borrow().clone();
        let git = project.map(|project| project.git()).unwrap_or_default();
        let words = git.head.as_ref().map(|head| match head {
            Head::Branch(name) => name.clone(),
            Head::Unborn(name) => fill(&gettext("{branch} (no commits yet)"), &[("branch", name)]),
            Head::Detached(commit) => {
                let short: String = commit.chars().take(8).collect();
                fill(&gettext("at commit {commit}"), &[("commit", &short)])
            }
        });
        self.branch.set_visible(words.is_some());
        if let Some(words) = words {
            self.branch.set_label(&words);
            let text = gettext("Git branch: {branch}");
            self.branch.set_tooltip_text(Some(&fill(&text, &[("branch", &words)])));
        }
        self.tree.show_git(git);
    }

    fn search(self: &Rc<Self>) {
        let Some(project) = self.project.borrow().clone() else { return };
        self.found.search(project, self.entry.text().trim().to_owned());
    }

    fn connect(self: &Rc<Self>, opened: &Rc<dyn Fn(PathBuf)>) {
        let weak = Rc::downgrade(self);
        self.entry.connect_changed(move |_| {
            let Some(inner) = weak.upgrade() else { return };
            let finding = inner.is_finding();
            inner.stack.set_visible_child_name(if finding { "found" } else { "tree" });
            if finding {
                inner.search();
            } else {
                inner.found.clear();
            }
        });
        let (weak, told) = (Rc::downgrade(self), Rc::clone(opened));
        let take = Rc::new(move |path: PathBuf| {
            if let Some(inner) = weak.upgrade() {
                inner.entry.set_text("");
            }
            told(path);
        });
        let (weak, taken) = (Rc::downgrade(self), Rc::clone(&take));
        self.entry.connect_activate(move |_| {
            let Some(inner) = weak.upgrade() else { return };
            let taken = Rc::clone(&taken);
            // A fast typist presses Enter before the search is done.
            inner.found.chosen(move |path| taken(path));
        });
        self.found.connect(move |path| take(path));
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, _| {
            let Some(inner) = weak.upgrade() else { return glib::Propagation::Proceed };
            match key {
                gdk::Key::Down | gdk::Key::Up if inner.is_finding() => {
                    inner.found.step(if key == gdk::Key::Down { 1 } else { -1 });
                }
                gdk::Key::Down => inner.tree.focus(),
                gdk::Key::Escape => {
                    inner.entry.set_text("");
                    inner.tree.focus();
                }
                _ => return glib::Propagation::Proceed,
            }
            glib::Propagation::Stop
        });
        self.entry.add_controller(keys);
    }
}
