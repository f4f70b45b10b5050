//! Holds the widgets of the conversation, and draws what changed.

pub(super) mod agents;
mod clock;
pub(super) mod edits;
mod footnotes;
mod listening;
mod loading;
mod menu;
mod own_messages;
mod selection;
mod start;
mod switching;

pub use loading::ReadingPosition;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use gettextrs::gettext;
use gtk::glib;
use gtk::prelude::*;

use chat_core::message::{Fid, MessageId};

use selection::Press;
use switching::Switch;

use super::column::Column;
use super::rows::Rows;
use crate::accessible;
use crate::conversation::model::answer_drafts::AnswerDrafts;
use crate::conversation::model::entry;
use crate::conversation::model::files::{Files, KnownFiles};
use crate::conversation::model::message_edits::MessageEdits;
use crate::conversation::model::one_time_note::OneTimeNote;
use crate::conversation::model::selection::Selection;
use crate::conversation::model::transcript::Transcript;
use crate::conversation::search::{Finder, MatchPosition};
use crate::conversation::widgets::context::{Links, Output, Prices, WidgetContext};
use crate::conversation::widgets::floating::{jump_button, target_label};
use crate::conversation::widgets::style_tags::StyleTags;
use crate::conversation::widgets::tags::Tags;
use crate::conversation::widgets::tail::Tail;
use crate::markdown::flow::NotePlace;
use crate::markdown::{is_picture_address, is_safe_address, visible_address};
use crate::pictures::{Pictures, Source};

pub(super) struct Inner {
    pub(super) root: gtk::Overlay,
    pub(super) column: Column,
    pub(super) jump: gtk::Button,
    jump_label: gtk::Label,
    pub(super) tags: Tags,
    style_tags: StyleTags,
    pub(super) files: Files,
    /// Whether the session has a project.
    pub(super) has_project: Rc<Cell<bool>>,
    pub(super) bounds: Rc<OneTimeNote>,
    pub(super) tail: Tail,
    pub(super) output: Rc<dyn Fn(Output)>,
    /// The session that is shown, for what is told.
    pub(super) session: Rc<RefCell<Option<Fid>>>,
    pub(super) state: RefCell<State>,
    /// Whether a frame is asked for.
    scheduled: Cell<bool>,
    clock: RefCell<Option<glib::SourceId>>,
    /// Whether text came that the reader has not seen.
    pub(super) unseen: Cell<bool>,
    /// Whether messages are being read for a search.
    pub(super) searching: Cell<bool>,
    /// Called when everything that came was drawn.
    painted: RefCell<Option<Box<dyn Fn()>>>,
    /// The switch to another version that is on its way.
    switch: Cell<Option<Switch>>,
    /// Whether the reader is on the way to the first message, and since which of the column's moves.
    to_start: Cell<Option<u64>>,
    /// Whether messages are being read for that.
    reading_start: Cell<bool>,
    /// The press of the pointer that selects.
    press: RefCell<Option<Press>>,
    /// Where the keyboard selects up and down, in pixels from the left.
    goal_x: Cell<Option<f64>>,
}

pub(super) struct State {
    pub(super) transcript: Transcript,
    pub(super) rows: Rows,
    /// What is selected.
    pub(super) selection: Option<Selection>,
    /// What its stamp was then.
    selection_stamp: Option<u64>,
    /// What is looked for.
    pub(super) finder: Option<Finder>,
    /// How many searches there were.
    pub(super) searches: u64,
    /// The last reply when the rows were made.
    pub(super) last: Option<usize>,
    /// The message before which more was asked for.
    pub(super) asked: Option<MessageId>,
    /// How much was above the sight when that could not be had.
    pub(super) failed: Option<f64>,
}

impl State {
    /// Drops what can be made again of messages that nobody is near. (A search reads all of them.)
    fn forget_far(&mut self) {
        let near = self.rows.near(&self.transcript.entries);
        for (index, entry) in self.transcript.entries.iter_mut().enumerate() {
            if !near.contains(&index) {
                entry.forget_pieces();
            }
        }
    }

    /// Takes from the messages what agents in the background have spent.
    pub(super) fn read_reports(&self) {
        let messages = self.transcript.entries.iter().map(|entry| &*entry.message);
        self.rows.context.agents.borrow_mut().read_reports(messages);
    }

    /// Shows in the widgets what was found.
    pub(super) fn highlight_matches(&mut self) {
        let Self { transcript, rows, finder, .. } = self;
        let (search, current) = match finder {
            Some(finder) => (finder.search, finder.current),
            None => (0, None),
        };
        rows.highlight(&transcript.entries, |entry, row| {
            let is_current =
                |place: &MatchPosition| place.message == entry.id() && place.row == row;
            let hits = if search > 0 { entry.hits.in_row(row) } else { &[] };
            (hits, current.filter(is_current).map(|place| place.hit))
        });
    }
}

impl Inner {
    pub(super) fn new(weak: &Weak<Self>, tell: impl Fn(Option<Fid>, Output) + 'static) -> Self {
        let session: Rc<RefCell<Option<Fid>>> = Rc::default();
        let of = Rc::clone(&session);
        let output: Rc<dyn Fn(Output)> = Rc::new(move |output| {
            let session = of.borrow().clone();
            tell(session, output);
        });
        let column = Column::new();
        accessible::set_label(&column, &gettext("Conversation"));
        let scroller = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Never)
            .vexpand(true)
            .hexpand(true)
            .child(&column)
            .build();
        let (jump, jump_label) = jump_button();
        let root = gtk::Overlay::builder().child(&scroller).build();
        root.add_overlay(&jump);

        let tags = Tags::new();
        let copied = weak.clone();
        let copy = move |id| {
            if let Some(inner) = copied.upgrade() {
                let text = inner.state.borrow().transcript.text_of(id);
                if let Some(text) = text {
                    inner.root.clipboard().set_text(&text);
                }
            }
        };
        let opening_menu = weak.clone();
        let menu = move |button: &gtk::Button| {
            if let Some(inner) = opening_menu.upgrade() {
                inner.open_menu_of(button);
            }
        };
        let target = target_label();
        root.add_overlay(&target);
        let told = Rc::clone(&output);
        let open = move |wanted: Option<Output>| wanted.into_iter().for_each(|wanted| told(wanted));
        let files = Files::default();
        let known = files.clone();
        let noted = weak.clone();
        let pictures = Pictures::default();
        let (opened, opens_on) = (pictures.clone(), column.downgrade());
        let revealing = weak.clone();
        let links = Links {
            revealed: Rc::new(move |view: &gtk::TextView, letter| {
                if let Some(inner) = revealing.upgrade() {
                    // What the keyboard chooses is another selection.
                    inner.select(None);
                    inner.column.reveal_letter(view, letter);
                }
            }),
            opened: Rc::new(move |address: &str| match NotePlace::of_address(address) {
                None if is_picture_address(address) => {
                    if let Some(column) = opens_on.upgrade() {
                        opened.open(&column, Source::Address(address.into()));
                    }
                }
                Some(place) => {
                    if let Some(inner) = noted.upgrade() {
                        inner.go_to_note(place);
                    }
                }
                None => open(opening(address, &known)),
            }),
            files: files.clone(),
            aimed: Rc::new(move |address: Option<&str>| {
                target.set_text(&address.map(named_address).unwrap_or_default());
                target.set_visible(address.is_some());
            }),
        };
        let style_tags = StyleTags::new();
        let (has_project, bounds) = (Rc::default(), Rc::<OneTimeNote>::default());
        let holding = column.downgrade();
        let hold = move || {
            if let Some(column) = holding.upgrade() {
                column.hold();
            }
        };
        let showing = column.downgrade();
        let show_keyboard = move || {
            if let Some(column) = showing.upgrade() {
                column.reveal_keyboard();
            }
        };
        let context = WidgetContext {
            hold: Rc::new(hold),
            show_keyboard: Rc::new(show_keyboard),
            links,
            tags: tags.clone(),
            style_tags: style_tags.clone(),
            tools: Rc::default(),
            agents: Rc::default(),
            has_project: Rc::clone(&has_project),
            bounds: Rc::clone(&bounds),
            drafts: Rc::new(AnswerDrafts::of(Rc::clone(&session))),
            edits: Rc::new(MessageEdits::of(Rc::clone(&session))),
            enter_sends: Rc::new(Cell::new(true)),
            kinds: Rc::default(),
            errors: Rc::default(),
            output: Rc::clone(&output),
            copy: Rc::new(copy),
            menu: Rc::new(menu),
            prices: Prices::default(),
            pictures: pictures.clone(),
            code_blocks: Rc::default(),
        };
        let tail = Tail::new(&context);
        column.set_tail(tail.widget().upcast_ref());
        let rows = Rows::new(column.clone(), context);
        let state = State {
            transcript: Transcript::default(),
            rows,
            selection: None,
            selection_stamp: None,
            finder: None,
            searches: 0,
            last: None,
            asked: None,
            failed: None,
        };
        Self {
            root,
            column,
            jump,
            jump_label,
            tags,
            style_tags,
            files,
            has_project,
            bounds,
            tail,
            output,
            session,
            state: RefCell::new(state),
            scheduled: Cell::new(false),
            clock: RefCell::default(),
            unseen: Cell::new(false),
            searching: Cell::new(false),
            painted: RefCell::default(),
            switch: Cell::default(),
            to_start: Cell::default(),
            reading_start: Cell::default(),
            press: RefCell::default(),
            goal_x: Cell::default(),
        }
    }

    /// The project has these files now.
    pub(super) fn set_files(&self, known: Option<KnownFiles>) {
        self.files.set(known);
        if let Ok(state) = self.state.try_borrow() {
            state.rows.mark_files();
        }
    }

    /// Calls back when everything that came was drawn.
    pub(super) fn connect_painted(&self, painted: impl Fn() + 'static) {
        self.painted.replace(Some(Box::new(painted)));
    }

    /// Asks for a frame, in which everything that came by then is drawn.
    pub(super) fn schedule(self: &Rc<Self>) {
        if self.scheduled.replace(true) {
            return;
        }
        let weak = Rc::downgrade(self);
        self.column.add_tick_callback(move |_, _| {
            if let Some(inner) = weak.upgrade() {
                inner.scheduled.set(false);
                inner.paint();
            }
            glib::ControlFlow::Break
        });
    }

    /// Draws what changed.
    pub(super) fn paint(self: &Rc<Self>) {
        let mut state = self.state.borrow_mut();
        let State { transcript, rows, last, asked, .. } = &mut *state;
        transcript.find_stopped();
        transcript.join_continued();
        transcript.show_edits(&rows.context.edits);
        transcript.hold_versions();
        let now = transcript.last();
        if now != *last {
            for index in [*last, now].into_iter().flatten() {
                if let Some(entry) = transcript.entries.get_mut(index) {
                    entry.dirty = true;
                }
            }
            *last = now;
        }
        let unread = transcript.unread();
        rows.read_near(&mut transcript.entries[..unread]);
        let mut start = 0;
        let mut again = false;
        let unread = transcript.unread();
        for (index, entry) in transcript.entries.iter_mut().enumerate().skip(unread) {
            if entry.dirty {
                rows.set(start, entry, now == Some(index));
                entry.dirty = !entry.is_settled();
                again |= entry.dirty;
            }
            start += entry.rows;
        }
        self.place_version(transcript, rows, now);
        let near_start = rows.tend(&transcript.entries, now);
        rows.set_caret(transcript.is_live());
        self.tail.show(transcript, rows.reach_end());
        let need = near_start && unread == 0 && transcript.more && asked.is_none();
        let before = transcript.entries.first().map(entry::Entry::id).filter(|_| need);
        if before.is_some() {
            *asked = before;
        }
        let clock = transcript.has_clock();
        state.drop_changed_selection();
        if state.finder.is_some() {
            state.highlight_matches();
        } else {
            state.forget_far();
        }
        let button = self.version_button(&state);
        drop(state);
        self.hold_while_dragged();
        if let Some(button) = button {
            self.return_keyboard(&button);
        }
        if let Some(painted) = &*self.painted.borrow() {
            painted();
        }
        if again {
            self.schedule();
        }
        self.run_clock(clock);
        if let Some(before) = before {
            (self.output)(Output::NeedEarlier { before });
        }
        self.seek_start();
    }
}

/// What is said of where a link leads. A picture in its own address may have megabytes.
fn named_address(address: &str) -> String {
    if is_picture_address(address) { gettext("Open Image") } else { visible_address(address) }
}

/// What opening a link means: an address outside, or what is a file of the project at this moment.
fn opening(address: &str, files: &Files) -> Option<Output> {
    if is_safe_address(address) {
        return Some(Output::OpenLink(address.to_owned()));
    }
    files.find(address).map(Output::OpenFile)
}

#[cfg(test)]
mod tests;
