//! Shows the best matches of a file search, with the matched letters highlighted.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_project::FileMatch;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::super::project::ProjectFiles;
use crate::letters::plain;
use crate::{accessible, found_row};

/// The maximum number of results: typing another letter narrows them down.
const MOST: usize = 40;

/// The list.
#[derive(Clone)]
pub(super) struct FoundList {
    inner: Rc<Inner>,
}

type Taking = Box<dyn FnOnce(PathBuf)>;

struct Inner {
    root: gtk::Stack,
    list: gtk::ListBox,
    found: RefCell<Vec<FileMatch>>,
    given_up: RefCell<Arc<AtomicBool>>,
    /// Whether an earlier query's results are still shown.
    looking: Cell<bool>,
    /// Waits for the best result.
    waiting: RefCell<Option<Taking>>,
}

impl FoundList {
    pub(super) fn new() -> Self {
        let list = gtk::ListBox::builder().css_classes(["files-found"]).build();
        accessible::set_label(&list, &gettext("Matching Files"));
        for _ in 0..MOST {
            list.append(&found_row::row(false));
        }
        let scroller = gtk::ScrolledWindow::builder()
            .child(&list)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .build();
        let nothing = gtk::Label::builder()
            .label(gettext("No matching files."))
            .css_classes(["dim-label"])
            .build();
        let root = gtk::Stack::new();
        root.add_named(&scroller, Some("list"));
        root.add_named(&nothing, Some("nothing"));
        let inner = Rc::new(Inner {
            root,
            list,
            found: RefCell::default(),
            given_up: RefCell::default(),
            looking: Cell::default(),
            waiting: RefCell::default(),
        });
        Self { inner }
    }

    pub(super) fn widget(&self) -> &gtk::Stack {
        &self.inner.root
    }

    /// `opened` receives the file whose row was clicked.
    pub(super) fn connect(&self, opened: impl Fn(PathBuf) + 'static) {
        let weak = Rc::downgrade(&self.inner);
        self.inner.list.connect_row_activated(move |_, row| {
            let Some(inner) = weak.upgrade() else { return };
            let path =
                inner.found.borrow().get(row.index() as usize).map(|found| found.path.clone());
            if let Some(path) = path {
                opened(path);
            }
        });
    }

    /// Searches for files; an earlier search is cancelled.
    pub(super) fn search(&self, project: Rc<ProjectFiles>, query: String) {
        let inner = &self.inner;
        let given_up = Arc::<AtomicBool>::default();
        inner.given_up.replace(Arc::clone(&given_up)).store(true, Ordering::Relaxed);
        inner.looking.set(true);
        let weak = Rc::downgrade(inner);
        glib::spawn_future_local(async move {
            let found = project.search(query, MOST, Arc::clone(&given_up)).await;
            let Some(inner) = weak.upgrade() else { return };
            if !given_up.load(Ordering::Relaxed) {
                inner.show(found.unwrap_or_default());
            }
        });
    }

    /// Clears the results.
    pub(super) fn clear(&self) {
        self.inner.given_up.borrow().store(true, Ordering::Relaxed);
        self.inner.looking.set(false);
        self.inner.waiting.take();
        self.inner.found.borrow_mut().clear();
    }

    /// Calls back with the selected file, once the search is done.
    pub(super) fn chosen(&self, take: impl FnOnce(PathBuf) + 'static) {
        let inner = &self.inner;
        if inner.looking.get() {
            inner.waiting.replace(Some(Box::new(take)));
            return;
        }
        let at = inner.list.selected_row().map_or(0, |row| row.index() as usize);
        let path = inner.found.borrow().get(at).map(|found| found.path.clone());
        if let Some(path) = path {
            take(path);
        }
    }

    /// Selects the next or previous result.
    pub(super) fn step(&self, by: i32) {
        let inner = &self.inner;
        let count = inner.found.borrow().len() as i32;
        let at = inner.list.selected_row().map_or(-1, |row| row.index());
        let Some(row) = inner.list.row_at_index((at + by).clamp(0, (count - 1).max(0))) else {
            return;
        };
        found_row::select(&inner.list, &row);
    }
}

impl Inner {
    fn show(&self, found: Vec<FileMatch>) {
        self.looking.set(false);
        self.root.set_visible_child_name(if found.is_empty() { "nothing" } else { "list" });
        for at in 0..MOST {
            let Some(row) = self.list.row_at_index(at as i32) else { break };
            row.set_visible(at < found.len());
            if let Some(found) = found.get(at) {
                let (name, folder) = found_row::of_path(&found.display_path, &found.positions);
                found_row::describe(&row, &name, &folder, &plain(&found.display_path));
            }
        }
        self.list.select_row(self.list.row_at_index(0).as_ref());
        let first = found.first().map(|found| found.path.clone());
        self.found.replace(found);
        if let (Some(take), Some(path)) = (self.waiting.take(), first) {
            take(path);
        }
    }
}
