//! One open file: its text, how that stands to the disk, and what is said about it above.

mod disk_news;
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
use super::{Engine, TextPosition, look};
use crate::accessible;
use undoing::Merges;

/// What a file tells the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DocumentEvent {
    /// Whether it is unsaved changed.
    Title,
    /// Its text changed.
    Text,
    /// The cursor or the selection moved.
    Cursor,
    /// This is to be said of it in passing, wherever the person is by then.
    Note(String),
    /// The person wants it written somewhere else.
    SaveAs,
    /// It is another file now, and was the one of this path before.
    Became(PathBuf),
}

/// How far a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadState {
    /// Nobody has looked at it yet.
    Unread,
    /// Its text is on its way.
    Loading,
    /// All of it is there.
    Open,
    /// A part of it is there, which can only be read.
    Partial,
    /// It has no text that can be shown.
    Refused,
}

/// Learns whether a file was saved.
type Saved = Box<dyn FnOnce(bool)>;

/// Hears what a file tells.
type Listener = Box<dyn Fn(&Rc<Document>, DocumentEvent)>;

/// An open file.
pub(super) struct Document {
    project: PathBuf,
    /// From the project on; whole where it lies elsewhere.
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
    /// The file on disk that the text comes from; none where there is none.
    disk_state: RefCell<Option<DiskState>>,
    pending_insert: RefCell<Option<ChunkedInsert>>,
    /// Where to go once the text is there.
    aim: Cell<Option<TextPosition>>,
    /// What was not saved in an earlier run, to be put in once the text is there.
    draft: RefCell<Option<Draft>>,
    /// The text is being set, and not by the person.
    setting: Cell<bool>,
    /// Counts the changes of the text.
    changes: Cell<u64>,
    looking: Cell<bool>,
    look_again: Cell<bool>,
    saving: Cell<bool>,
    /// Saving was asked for while the file was being saved; this learns what comes of it.
    save_next: RefCell<Option<Saved>>,
    /// The file has changed since what is here was written: saving asks first.
    outdated: Cell<bool>,
    /// The text of the file from which both what is here and what is on disk come; none where nobody knows it.
    common: RefCell<Option<Arc<str>>>,
    /// The same as it was before what is on disk was to be overwritten.
    overwrites: RefCell<Option<Arc<str>>>,
    /// What came from disk into the text, which may be undone.
    merges: RefCell<Merges>,
    monitor: RefCell<Option<gio::FileMonitor>>,
    engine: Engine,
    listener: Listener,
}

impl Document {
    /// A file of a project, which is read when it is [loaded](Self::load).
    pub(super) fn new(
        project: &Path,
        path: &Path,
        engine: Engine,
        listener: impl Fn(&Rc<Self>, DocumentEvent) + 'static,
    ) -> Rc<Self> {
        let buffer = sourceview5::Buffer::new(None);
        buffer.set_max_undo_levels(0);
        buffer.set_max_undo_levels(1000);
        look::follow_theme(&buffer);
        let view = look::view(&buffer);
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
            looking: Cell::default(),
            look_again: Cell::default(),
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

    /// Its path from the project on, or whole where it lies elsewhere.
    pub(super) fn path(&self) -> PathBuf {
        self.path.borrow().clone()
    }

    /// Where it lies.
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

    /// Whether it holds what is not on disk.
    pub(super) fn is_unsaved(&self) -> bool {
        self.load_state.get() == LoadState::Open && self.buffer.is_modified()
    }

    /// Whether its text is there.
    pub(super) fn has_text(&self) -> bool {
        matches!(self.load_state.get(), LoadState::Open | LoadState::Partial) && !self.setting.get()
    }

    /// Whether it is no longer being read.
    pub(super) fn is_settled(&self) -> bool {
        self.load_state.get() == LoadState::Refused || self.has_text()
    }

    /// Says something about it.
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

    /// What would be lost; none where all is on disk.
    pub(super) fn draft_to_save(&self) -> Option<Draft> {
        self.is_unsaved().then(|| Draft {
            text: self.text(),
            cursor: self.buffer.cursor_position(),
            base: self.disk_state.borrow().as_ref().map(|disk_state| disk_state.sum.clone()),
            common: self.common.borrow().as_deref().map(str::to_owned),
        })
    }

    /// Where the person is in it, or will be once the text is there.
    pub(super) fn place(&self) -> TextPosition {
        if let Some(aim) = self.aim.get().filter(|_| !self.has_text()) {
            return aim;
        }
        let at = self.buffer.iter_at_mark(&self.buffer.get_insert());
        TextPosition { line: at.line() as u32 + 1, column: at.line_offset() as u32 + 1 }
    }

    /// Goes to a place once the text is there, unless somebody went to one before.
    pub(super) fn expect_at(&self, place: TextPosition) {
        if !self.is_settled() && self.aim.get().is_none() {
            self.aim.set(Some(place));
        }
    }

    /// Goes to a place, now or once the text is there.
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

    /// A place in the text, both counted from 0; the nearest one where there is none.
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

    /// Scrolls to the cursor, once the lines above it have their height: to a third of the view, and no further to the
    /// right than it must be to be seen.
    pub(super) fn reveal(&self) {
        super::reveal::cursor(&self.view);
    }

    /// Opens the bar of finding, and with it that of replacing.
    pub(super) fn open_find(self: &Rc<Self>, replace: bool) {
        if self.has_text() {
            self.find_bar().open(replace && self.load_state.get() == LoadState::Open);
        }
    }

    /// Goes to the next match, or the one before.
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

    /// The file's place, and how it is written where that is not as usual.
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
