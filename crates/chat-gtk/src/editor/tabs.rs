//! The open files of one project, in tabs.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use chat_edge::words::fill;
use gettextrs::gettext;
use gtk::glib;

use super::document::{Document, Told};
use super::unsaved::Draft;
use super::{Inner, closing};

/// The open files of a project.
pub(super) struct Group {
    project: PathBuf,
    view: adw::TabView,
    documents: RefCell<Vec<Rc<Document>>>,
}

impl Group {
    pub(super) fn new(project: &Path, editor: Weak<Inner>) -> Rc<Self> {
        let view = adw::TabView::new();
        // The others would take keys from the text, wherever the keyboard is.
        view.set_shortcuts(
            adw::TabViewShortcuts::CONTROL_PAGE_UP
                | adw::TabViewShortcuts::CONTROL_PAGE_DOWN
                | adw::TabViewShortcuts::CONTROL_SHIFT_PAGE_UP
                | adw::TabViewShortcuts::CONTROL_SHIFT_PAGE_DOWN,
        );
        let group =
            Rc::new(Self { project: project.to_owned(), view, documents: RefCell::default() });
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
            group.forget(page, &editor);
        });
        group.view.connect_selected_page_notify(move |_| {
            if let Some(editor) = editor.upgrade() {
                editor.tell_moved();
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

    pub(super) fn select(&self, document: &Document) {
        self.view.set_selected_page(&self.view.page(document.widget()));
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

    fn add(&self, document: Rc<Document>) {
        let page = self.view.append(document.widget());
        page.set_title(&document.name());
        self.documents.borrow_mut().push(document);
        self.show_titles();
    }

    /// A tab was closed.
    fn forget(&self, page: &adw::TabPage, editor: &Rc<Inner>) {
        let Some(document) = self.document(page) else { return };
        self.documents.borrow_mut().retain(|other| !Rc::ptr_eq(other, &document));
        editor.forget((self.project.clone(), document.path().to_owned()));
        self.show_titles();
        editor.show_pages();
    }

    /// Files of one name are told apart by their folders, and what is not saved has a mark.
    pub(super) fn show_titles(&self) {
        let documents = self.documents.borrow();
        for document in documents.iter() {
            let name = document.name();
            let is_alone = documents.iter().filter(|other| other.name() == name).count() == 1;
            let folder = document.path().parent().and_then(Path::file_name);
            let title = match folder.filter(|_| !is_alone) {
                Some(folder) => format!("{name} ({})", folder.to_string_lossy()),
                None => name,
            };
            let path = document.path().display().to_string();
            let page = self.view.page(document.widget());
            if document.is_unsaved() {
                page.set_title(&format!("• {title}"));
                let text = gettext("{path}, not saved");
                page.set_tooltip(&glib::markup_escape_text(&fill(&text, &[("path", &path)])));
            } else {
                page.set_title(&title);
                page.set_tooltip(&glib::markup_escape_text(&path));
            }
        }
    }
}

impl Inner {
    /// Opens a file in a tab of its own, or finds the tab that it has.
    pub(super) fn open(
        self: &Rc<Self>,
        project: &Path,
        path: &Path,
        draft: Option<Draft>,
    ) -> Rc<Document> {
        let group = self.group_of(project);
        if let Some(open) = group.by_path(path) {
            if let Some(draft) = draft {
                open.offer(draft);
            }
            return open;
        }
        let (weak, file) = (Rc::downgrade(self), (project.to_owned(), path.to_owned()));
        let engine = Rc::clone(&self.engine);
        let document = Document::open(project, path, draft, engine, move |told| {
            if let Some(editor) = weak.upgrade() {
                editor.heard(&file, told);
            }
        });
        group.add(Rc::clone(&document));
        self.show_pages();
        document
    }

    fn heard(self: &Rc<Self>, file: &super::unsaved::File, told: Told) {
        match told {
            Told::Title => {
                if let Some(group) = self.group(&file.0) {
                    group.show_titles();
                }
                self.keep(file.clone());
                self.tell_moved();
            }
            Told::Text => self.keep(file.clone()),
            Told::Cursor => self.tell_moved(),
        }
    }
}
