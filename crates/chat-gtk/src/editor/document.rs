//! Defines an open file: its text, its relation to the file on disk, and the notices above it.

mod external_changes;
mod loading;
mod merging;
mod saving;
mod undoing;

use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use gettextrs::gettext;
use gtk::gio;
use relm4::gtk::prelude::*;

use super::chunked_insert::ChunkedInsert;
use super::disk::{self, DiskState, Format};
use super::find::Find;
use super::go_to::GoTo;
use super::notice::Notice;
use super::unsaved_files::Draft;
use super::{Engine, TextPosition, source_view};
use crate::accessible;
use undoing::Merges;

/// Messages of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DocumentEvent {
    /// Its unsaved state changed.
    Title,
    /// Its text changed.
    Text,
    /// The cursor or the selection moved.
    Cursor,
    /// Show this message about it briefly, wherever the user is by then.
    Note(String),
    /// The user wants to save it under another name.
    SaveAs,
    /// It is now another file; this was its path before.
    Became(PathBuf),
}

/// The loading state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadState {
    /// Not loaded yet.
    Unread,
    /// The text is being loaded.
    Loading,
    /// The whole text is loaded.
    Open,
    /// A part of it is loaded, read-only.
    Partial,
    /// It has no text that can be shown.
    Refused,
}

/// Called with whether the file was saved.
type Saved = Box<dyn FnOnce(bool)>;

/// Receives a document's messages.
type Listener = Box<dyn Fn(&Rc<Document>, DocumentEvent)>;

/// An open file.
pub(super) struct Document {
    project: PathBuf,
    /// Relative to the project, or the full path if it is elsewhere.
    path: RefCell<PathBuf>,
    root: gtk::Box,
    view: sourceview5::View,
    buffer: sourceview5::Buffer,
    notice: Notice,
    status: gtk::Label,
    position: gtk::Button,
    find: OnceCell<Rc<Find>>,
    go_to: OnceCell<Rc<GoTo>>,
    load_state: Cell<LoadState>,
    format: Cell<Format>,
    /// The file on disk that the text is based on; none if there is none.
    disk_state: RefCell<Option<DiskState>>,
    pending_insert: RefCell<Option<ChunkedInsert>>,
    /// Where to go once the text is loaded.
    aim: Cell<Option<TextPosition>>,
    /// Unsaved text from an earlier run, to be inserted once the text is loaded.
    draft: RefCell<Option<Draft>>,
    /// The text is being set by the program, not by the user.
    setting: Cell<bool>,
    /// Counts the changes to the text.
    changes: Cell<u64>,
    checking_disk: Cell<bool>,
    check_disk_again: Cell<bool>,
    saving: Cell<bool>,
    /// Saving was requested while the file was being saved; called with the outcome of the second
    /// save.
    save_next: RefCell<Option<Saved>>,
    /// The file no longer is the one that this text is based on: saving asks first.
    outdated: Cell<bool>,
    /// The common base of this text and the text on disk; none if it is unknown.
    common: RefCell<Option<Arc<str>>>,
    /// The earlier base, from before the user decided to overwrite the file.
    overwrites: RefCell<Option<Arc<str>>>,
    /// The changes from disk that were merged into the text, which may be undone.
    merges: RefCell<Merges>,
    monitor: RefCell<Option<gio::FileMonitor>>,
    engine: Engine,
    listener: Listener,
}

impl Document {
    /// Creates a file of a project, which is read when it is [loaded](Self::load).
    pub(super) fn new(
        project: &Path,
        path: &Path,
        engine: Engine,
        listener: impl Fn(&Rc<Self>, DocumentEvent) + 'static,
    ) -> Rc<Self> {
        let buffer = sourceview5::Buffer::new(None);
        buffer.set_max_undo_levels(0);
        buffer.set_max_undo_levels(1000);
        source_view::follow_theme(&buffer);
        let view = source_view::view(&buffer);
        view.set_editable(false);
        accessible::set_label(&view, &name_of(path));
        let scroller = gtk::ScrolledWindow::builder().child(&view).vexpand(true).build();
        let notice = Notice::new();
        let status = gtk::Label::builder()
            .label(path.display().to_string())
            .xalign(0.0)
            .hexpand(true)
            .ellipsize(gtk::pango::EllipsizeMode::Start)
            .css_classes(["file-status"])
            .build();
        let position = gtk::Button::builder()
            .label("")
            .css_classes(["flat", "file-position", "numeric"])
            .tooltip_text(gettext("Go to Line (Ctrl+I)"))
            .build();
        let foot = gtk::Box::builder().css_classes(["file-foot"]).spacing(6).build();
        foot.append(&status);
        foot.append(&position);
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(notice.widget());
        root.append(&scroller);
        root.append(&foot);
        let document = Rc::new(Self {
            project: project.to_owned(),
            path: RefCell::new(path.to_owned()),
            root,
            view,
            buffer,
            notice,
            status,
            position,
            find: OnceCell::new(),
            go_to: OnceCell::new(),
            load_state: Cell::new(LoadState::Unread),
            format: Cell::new(disk::usual()),
            disk_state: RefCell::default(),
            pending_insert: RefCell::default(),
            aim: Cell::default(),
            draft: RefCell::default(),
            setting: Cell::default(),
            changes: Cell::default(),
            checking_disk: Cell::default(),
            check_disk_again: Cell::default(),
            saving: Cell::default(),
            save_next: RefCell::default(),
            outdated: Cell::default(),
            common: RefCell::default(),
            overwrites: RefCell::default(),
            merges: RefCell::default(),
            monitor: RefCell::default(),
            engine,
            listener: Box::new(listener),
        });
        document.connect();
        document
    }

    fn connect(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.buffer.connect_modified_changed(move |_| tell(&weak, DocumentEvent::Title));
        let weak = Rc::downgrade(self);
        self.buffer.connect_changed(move |_| {
            if let Some(document) = weak.upgrade() {
                document.changes.set(document.changes.get() + 1);
                tell(&weak, DocumentEvent::Text);
            }
        });
        let weak = Rc::downgrade(self);
        self.buffer.connect_cursor_position_notify(move |_| {
            if let Some(document) = weak.upgrade() {
                document.show_position();
                tell(&weak, DocumentEvent::Cursor);
            }
        });
        let weak = Rc::downgrade(self);
        self.buffer.connect_has_selection_notify(move |_| tell(&weak, DocumentEvent::Cursor));
        let weak = Rc::downgrade(self);
        self.position.connect_clicked(move |_| {
            if let Some(document) = weak.upgrade() {
                document.ask_line();
            }
        });
        self.connect_undo();
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    fn tell(self: &Rc<Self>, event: DocumentEvent) {
        (self.listener)(self, event);
    }

    /// Its path relative to the project, or the full path if it is elsewhere.
    pub(super) fn path(&self) -> PathBuf {
        self.path.borrow().clone()
    }

    /// Its full path.
    pub(super) fn location(&self) -> PathBuf {
        self.project.join(&*self.path.borrow())
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    pub(super) fn buffer(&self) -> &sourceview5::Buffer {
        &self.buffer
    }

    pub(super) fn name(&self) -> String {
        name_of(&self.path.borrow())
    }

    /// Whether it has unsaved changes.
    pub(super) fn is_unsaved(&self) -> bool {
        self.load_state.get() == LoadState::Open && self.buffer.is_modified()
    }

    /// Whether its text is loaded.
    pub(super) fn has_text(&self) -> bool {
        matches!(self.load_state.get(), LoadState::Open | LoadState::Partial) && !self.setting.get()
    }

    /// Whether loading has finished.
    pub(super) fn is_settled(&self) -> bool {
        self.load_state.get() == LoadState::Refused || self.has_text()
    }

    /// Shows a message about it.
    pub(super) fn say(&self, words: &str) {
        self.notice.say(words, Vec::new());
    }

    pub(super) fn focus(&self) {
        self.view.grab_focus();
    }

    /// The whole text.
    pub(super) fn text(&self) -> String {
        let (start, end) = self.buffer.bounds();
        self.buffer.text(&start, &end, true).to_string()
    }

    /// What would be lost; none if everything is on disk.
    pub(super) fn draft_to_save(&self) -> Option<Draft> {
        self.is_unsaved().then(|| Draft {
            text: self.text(),
            cursor: self.buffer.cursor_position(),
            base: self.disk_state.borrow().as_ref().map(|disk_state| disk_state.sum.clone()),
            common: self.common.borrow().as_deref().map(str::to_owned),
        })
    }

    /// The cursor position, or the position to go to once the text is loaded.
    pub(super) fn place(&self) -> TextPosition {
        if let Some(aim) = self.aim.get().filter(|_| !self.has_text()) {
            return aim;
        }
        let at = self.buffer.iter_at_mark(&self.buffer.get_insert());
        TextPosition { line: at.line() as u32 + 1, column: at.line_offset() as u32 + 1 }
    }

    /// Goes to a position once the text is loaded, unless another one was already requested.
    pub(super) fn expect_at(&self, place: TextPosition) {
        if !self.is_settled() && self.aim.get().is_none() {
            self.aim.set(Some(place));
        }
    }

    /// Goes to a position, now or once the text is loaded.
    pub(super) fn go(&self, place: TextPosition) {
        if !self.has_text() {
            self.aim.set(Some(place));
            return;
        }
        let (line, column) = (place.line.saturating_sub(1), place.column.saturating_sub(1));
        let whole = |count| i32::try_from(count).unwrap_or(i32::MAX);
        let at = self.iter_at(whole(line), whole(column));
        self.buffer.place_cursor(&at);
        self.reveal();
    }

    /// A position in the text, both counted from 0; the nearest one if it does not exist.
    fn iter_at(&self, line: i32, column: i32) -> gtk::TextIter {
        let line = line.min(self.buffer.line_count() - 1);
        let mut at = self.buffer.iter_at_line(line).unwrap_or_else(|| self.buffer.end_iter());
        let mut end = at;
        if !end.ends_line() {
            end.forward_to_line_end();
        }
        at.set_line_offset(column.min(end.line_offset()));
        at
    }

    /// Scrolls to the cursor, once the lines above it have their height: to a third of the view,
    /// and to the right only as far as needed.
    pub(super) fn reveal(&self) {
        super::reveal::cursor(&self.view);
    }

    /// Opens the find bar, and the replace bar if wanted.
    pub(super) fn open_find(self: &Rc<Self>, replace: bool) {
        if self.has_text() {
            self.find_bar().open(replace && self.load_state.get() == LoadState::Open);
        }
    }

    /// Goes to the next or previous match.
    pub(super) fn find_next(self: &Rc<Self>, forward: bool) {
        if self.has_text() {
            self.find_bar().step(forward);
        }
    }

    fn find_bar(&self) -> &Rc<Find> {
        self.find.get_or_init(|| {
            let find = Find::new(&self.view, &self.buffer);
            self.root.insert_child_after(find.widget(), Some(self.notice.widget()));
            find
        })
    }

    /// Asks for a line to go to.
    pub(super) fn ask_line(self: &Rc<Self>) {
        if !self.has_text() {
            return;
        }
        let weak = Rc::downgrade(self);
        let go_to = self.go_to.get_or_init(|| {
            GoTo::new(&self.position, move |place| {
                if let Some(document) = weak.upgrade() {
                    document.go(place);
                    document.focus();
                }
            })
        });
        go_to.open(self.buffer.line_count());
    }

    fn show_position(&self) {
        if self.setting.get() {
            return;
        }
        let TextPosition { line, column } = self.place();
        self.position.set_label(&format!("{line}:{column}"));
        let text = gettext("Line {line}, column {column}");
        let fields = [("line", &*line.to_string()), ("column", &*column.to_string())];
        accessible::set_label(&self.position, &chat_presentation::words::fill(&text, &fields));
    }

    /// Shows the file's path, and its format if it is unusual.
    fn show_status(&self) {
        let mut words = self.path.borrow().display().to_string();
        for unusual in disk::unusual(self.format.get()) {
            words.push_str(" · ");
            words.push_str(&unusual);
        }
        self.status.set_label(&words);
        self.status.set_tooltip_text(Some(&words));
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn tell(document: &Weak<Document>, event: DocumentEvent) {
    if let Some(document) = document.upgrade().filter(|document| !document.setting.get()) {
        document.tell(event);
    }
}

#[cfg(test)]
mod scene;
