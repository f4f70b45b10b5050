//! Shows the open files of one project in tabs.

mod titles;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::document::{Document, DocumentEvent};
use super::open_tabs::{Tab, Tabs};
use super::{Inner, Output, closing};

/// The open files of a project.
pub(super) struct Group {
    project: PathBuf,
    view: adw::TabView,
    documents: RefCell<Vec<Rc<Document>>>,
    /// Files of an earlier run are still being opened.
    restoring: Cell<bool>,
}

impl Group {
    pub(super) fn new(project: &Path, editor: Weak<Inner>) -> Rc<Self> {
        let view = adw::TabView::new();
        // The other shortcuts would take keys from the text, wherever the focus is.
        view.set_shortcuts(
            adw::TabViewShortcuts::CONTROL_PAGE_UP
                | adw::TabViewShortcuts::CONTROL_PAGE_DOWN
                | adw::TabViewShortcuts::CONTROL_SHIFT_PAGE_UP
                | adw::TabViewShortcuts::CONTROL_SHIFT_PAGE_DOWN,
        );
        let group = Rc::new(Self {
            project: project.to_owned(),
            view,
            documents: RefCell::default(),
            restoring: Cell::default(),
        });
        let weak = Rc::downgrade(&group);
        group.view.connect_close_page(move |view, page| {
            let document = weak.upgrade().and_then(|group| group.document(page));
            match document.filter(|document| document.is_unsaved()) {
                Some(document) => {
                    closing::ask(view, page, &document);
                    glib::Propagation::Stop
                }
                None => glib::Propagation::Proceed,
            }
        });
        let (weak, owner) = (Rc::downgrade(&group), editor.clone());
        group.view.connect_page_detached(move |_, page, _| {
            let (Some(group), Some(editor)) = (weak.upgrade(), owner.upgrade()) else { return };
            group.page_closed(page, &editor);
        });
        let (weak, owner) = (Rc::downgrade(&group), editor.clone());
        group.view.connect_selected_page_notify(move |_| {
            let (Some(group), Some(editor)) = (weak.upgrade(), owner.upgrade()) else { return };
            if let Some(document) = group.active() {
                document.load();
                group.take_keyboard_along(&document);
            }
            editor.tell_moved();
            editor.save_tabs_soon();
        });
        group.view.connect_page_reordered(move |_, _, _| {
            if let Some(editor) = editor.upgrade() {
                editor.save_tabs_soon();
            }
        });
        group
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    pub(super) fn view(&self) -> &adw::TabView {
        &self.view
    }

    pub(super) fn is_empty(&self) -> bool {
        self.documents.borrow().is_empty()
    }

    /// The open files, in the order of their tabs.
    pub(super) fn documents(&self) -> Vec<Rc<Document>> {
        let mut all = self.documents.borrow().clone();
        all.sort_by_key(|document| self.view.page_position(&self.view.page(document.widget())));
        all
    }

    pub(super) fn active(&self) -> Option<Rc<Document>> {
        self.view.selected_page().and_then(|page| self.document(&page))
    }

    /// Whether files of an earlier run are still being opened.
    pub(super) fn is_restoring(&self) -> bool {
        self.restoring.get()
    }

    pub(super) fn set_restoring(&self, restoring: bool) {
        self.restoring.set(restoring);
    }

    /// The open files and their cursor positions.
    pub(super) fn tabs(&self) -> Tabs {
        let documents = self.documents();
        let active = self.active();
        let is_active = |document: &Rc<Document>| {
            active.as_ref().is_some_and(|active| Rc::ptr_eq(active, document))
        };
        Tabs {
            active: documents.iter().position(is_active).unwrap_or_default(),
            files: documents.iter().map(|file| Tab::new(file.path(), file.place())).collect(),
        }
    }

    /// Shows a file, which loads it if needed.
    pub(super) fn select(&self, document: &Rc<Document>) {
        self.view.set_selected_page(&self.view.page(document.widget()));
        document.load();
    }

    /// If the focus was in one file's text, it moves to the next one's.
    fn take_keyboard_along(&self, document: &Rc<Document>) {
        if self.view.state_flags().contains(gtk::StateFlags::FOCUS_WITHIN) {
            let document = Rc::downgrade(document);
            glib::idle_add_local_once(move || {
                if let Some(document) = document.upgrade() {
                    document.focus();
                }
            });
        }
    }

    /// Closes a file without unsaved changes.
    pub(super) fn close(&self, document: &Document) {
        self.view.close_page(&self.view.page(document.widget()));
    }

    pub(super) fn close_active(&self) {
        if let Some(page) = self.view.selected_page() {
            self.view.close_page(&page);
        }
    }

    fn document(&self, page: &adw::TabPage) -> Option<Rc<Document>> {
        let child = page.child();
        let documents = self.documents.borrow();
        documents.iter().find(|document| *document.widget() == child).cloned()
    }

    /// The open file of this path.
    pub(super) fn by_path(&self, path: &Path) -> Option<Rc<Document>> {
        self.documents.borrow().iter().find(|document| document.path() == path).cloned()
    }

    /// Adds a file at a position among the tabs, or at the end.
    fn add(&self, document: Rc<Document>, position: Option<usize>) {
        let last = self.view.n_pages();
        let position = position.and_then(|position| i32::try_from(position).ok()).unwrap_or(last);
        self.view.insert(document.widget(), position.min(last));
        self.documents.borrow_mut().push(document);
        self.show_titles();
    }

    /// A tab was closed.
    fn page_closed(&self, page: &adw::TabPage, editor: &Rc<Inner>) {
        let Some(document) = self.document(page) else { return };
        self.documents.borrow_mut().retain(|other| !Rc::ptr_eq(other, &document));
        editor.drop_draft((self.project.clone(), document.path()));
        self.show_titles();
        editor.show_pages();
    }

    /// Updates the titles: files of one name are told apart by their folders, and unsaved ones are
    /// marked.
    pub(super) fn show_titles(&self) {
        let documents = self.documents.borrow();
        let paths: Vec<_> = documents.iter().map(|document| document.path()).collect();
        for (document, title) in documents.iter().zip(titles::of(&paths)) {
            let path = document.path().display().to_string();
            let page = self.view.page(document.widget());
            if document.is_unsaved() {
                page.set_title(&format!("• {title}"));
                let text = gettext("{path} (unsaved)");
                page.set_tooltip(&glib::markup_escape_text(&fill(&text, &[("path", &path)])));
            } else {
                page.set_title(&title);
                page.set_tooltip(&glib::markup_escape_text(&path));
            }
        }
    }
}

impl Inner {
    /// Opens a file in a new tab at a position among the others, or finds its existing tab. It is
    /// loaded when it becomes visible.
    pub(super) fn open(
        self: &Rc<Self>,
        project: &Path,
        path: &Path,
        position: Option<usize>,
    ) -> Rc<Document> {
        let group = self.group_of(project);
        if let Some(open) = group.by_path(path) {
            return open;
        }
        let (weak, engine) = (Rc::downgrade(self), Rc::clone(&self.engine));
        let document = Document::new(project, path, engine, move |document, event| {
            if let Some(editor) = weak.upgrade() {
                editor.document_event(document, event);
            }
        });
        group.add(Rc::clone(&document), position);
        if group.active().is_some_and(|active| Rc::ptr_eq(&active, &document)) {
            document.load();
        }
        self.show_pages();
        self.save_tabs_soon();
        document
    }

    fn document_event(self: &Rc<Self>, document: &Rc<Document>, event: DocumentEvent) {
        let file = || (document.project().to_owned(), document.path());
        match event {
            DocumentEvent::Title => {
                if let Some(group) = self.group(document.project()) {
                    group.show_titles();
                }
                self.save_draft_soon(file());
                self.tell_moved();
            }
            DocumentEvent::Text => self.save_draft_soon(file()),
            DocumentEvent::Cursor => {
                self.tell_moved();
                self.save_tabs_soon();
            }
            DocumentEvent::Note(words) => (self.output)(Output::Note(words)),
            DocumentEvent::SaveAs => self.save_as(document),
            DocumentEvent::Became(before) => self.became(document, before),
        }
    }
}
