//! The conversation: what was said, drawn calmly while it grows.
//!
//! It stands in layers, and each knows only those before it: `model` has the messages, `search` finds text in them,
//! `widgets` draw single parts, `column` places rows, `rows` says which of them have widgets, `view` draws what
//! events changed, once a frame, and `find` brings the reader to what was found.

mod approval_card;
mod column;
mod find;
mod model;
mod rows;
mod search;
mod view;
mod widgets;

use std::cell::Cell;
use std::rc::{Rc, Weak};

use gtk::gdk;
use gtk::prelude::*;

use chat_core::client::Price;
use chat_core::error::Error;
use chat_core::event::{Event, SessionEvent, Snapshot};
use chat_core::message::{ApprovalId, BackgroundCommand, Fid, MessageId, ModelRef, Todo};
use chat_core::store::Page;
use chat_core::tool::Toolbox;

pub use approval_card::{ApprovalCard, ApprovalCards};
pub(crate) use model::copies::as_quote;
pub use model::files::{FileLocation, Files, KnownFiles};
pub use model::message_edits::EditedMessage;
use model::transcript::{Change, Transcript};
pub use search::{Pattern, SearchStatus};
use view::Inner;
pub use view::ReadingPosition;
pub use view::agents::Agents;
pub use view::edits::Edits;
pub use widgets::context::{Output, Side};
pub(crate) use widgets::diff_text::show_diff;
pub use widgets::waiting::move_focused as move_focused_waiting;

use crate::style;

/// The view of one conversation at a time. Cheap to clone.
#[derive(Clone)]
pub struct Conversation {
    inner: Rc<Inner>,
}

/// Adds the styles of the conversation to the display. Once is enough; more does no harm.
pub fn load_css() {
    thread_local!(static LOADED: Cell<bool> = const { Cell::new(false) });
    let Some(display) = gdk::Display::default().filter(|_| !LOADED.replace(true)) else { return };
    // Above the style schemes of code, which would paint a ground of their own.
    let priority = gtk::STYLE_PROVIDER_PRIORITY_APPLICATION + 1;
    style::add(
        &display,
        include_str!("../data/conversation.css"),
        include_str!("../data/conversation-hc.css"),
        priority,
    );
}

impl Conversation {
    /// An empty conversation. `output` is told what a person wants, and of which session: that which
    /// was shown when it was wanted. A new chat is none.
    pub fn new(output: impl Fn(Option<Fid>, Output) + 'static) -> Self {
        load_css();
        let inner = Rc::new_cyclic(|weak: &Weak<Inner>| Inner::new(weak, output));
        inner.listen();
        inner.listen_for_find();
        inner.listen_for_selection();
        Self { inner }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Widget {
        self.inner.root.upcast_ref()
    }

    /// Sets the widest that messages become, in pixels, and measures them again: the size of their texts may
    /// have changed, too.
    pub(crate) fn set_width(&self, widest: i32) {
        self.inner.column.set_widest(widest);
        self.inner.restyle_soon();
    }

    /// Shows a session: its end, at once.
    pub fn show(&self, snapshot: &Snapshot) {
        self.set_project(snapshot.session.project.is_some());
        self.inner.begin(Transcript::of(snapshot), None);
    }

    /// Shows a session where the person read it before; its end, where that is not among what was
    /// opened.
    pub fn show_at(&self, snapshot: &Snapshot, place: ReadingPosition) {
        self.set_project(snapshot.session.project.is_some());
        self.inner.begin(Transcript::of(snapshot), Some(place));
        self.inner.unseen.set(snapshot.session.unread && !self.is_at_end());
    }

    /// Where the person reads; none where they have the end before them, or nothing was drawn yet.
    pub fn reading_position(&self) -> Option<ReadingPosition> {
        self.inner.reading_position()
    }

    /// Shows the session as it was read again. What is still there stays as it is: the reader's
    /// place, what they opened, earlier messages, the search. Whether it goes on from what is
    /// shown; otherwise nothing happens, and it is to be given to [`show`](Self::show).
    pub fn renew(&self, snapshot: &Snapshot) -> bool {
        self.inner.renew(snapshot)
    }

    /// Says whether the session has a project: only then an answer can hold for it.
    pub fn set_project(&self, has_project: bool) {
        if self.inner.has_project.replace(has_project) != has_project {
            self.inner.state.borrow().rows.set_project(has_project);
        }
    }

    /// Takes what is known of the tools, before a session is shown.
    pub fn set_tools(&self, tools: Toolbox) {
        self.inner.state.borrow().rows.context.tools.replace(tools);
    }

    /// Takes why commands are not held as well as they could be, which the next question about one
    /// says; none where there is nothing to say.
    pub fn set_bounds(&self, words: Option<String>) {
        self.inner.bounds.set(words);
    }

    /// Says which files the project has: their names lead there. To be called again when it has others.
    pub fn set_files(&self, known: Option<KnownFiles>) {
        self.inner.set_files(known);
    }

    /// Looks up what models cost, for the details of replies.
    pub fn set_prices(&self, lookup: impl Fn(&ModelRef) -> Option<Price> + 'static) {
        self.inner.state.borrow().rows.context.prices.set(lookup);
    }

    /// Shows a new chat.
    pub fn clear(&self) {
        self.inner.begin(Transcript::default(), None);
    }

    /// Loads what the first code block of a reply needs, when there is nothing else to do. To be
    /// called once somebody begins to write, so that a window that is only open stays small.
    pub fn expect_reply(&self) {
        let weak = Rc::downgrade(&self.inner);
        let is_busy = |inner: Rc<Inner>| inner.state.borrow().transcript.is_busy();
        widgets::code::warm_up(&self.inner.tags, move || weak.upgrade().is_some_and(is_busy));
    }

    /// Takes what happened. Events of other sessions are ignored; all are drawn with the next
    /// frame.
    pub fn apply(&self, events: &[Event]) {
        let mut state = self.inner.state.borrow_mut();
        let mut drawn = false;
        let mut said = false;
        let mut finished = false;
        for event in events {
            let change = state.transcript.take(event);
            drawn |= change != Change::Nothing;
            said |= change == Change::Said;
            finished |= change == Change::Finished;
        }
        drop(state);
        if events.iter().any(is_of_asks) {
            self.inner.give_back();
        }
        if said {
            // Who just said something wants to see the answer.
            self.inner.column.follow();
            self.expect_reply();
        }
        if drawn {
            self.inner.unseen.set(!self.inner.column.follows());
            self.inner.schedule();
        }
        if finished && self.inner.column.follows() && self.inner.root.is_mapped() {
            (self.inner.output)(Output::Seen);
        }
    }

    /// An answer came in time, or did not. Gives what was typed for it and has no place any more, with
    /// its session.
    pub fn answered(&self, ask: ApprovalId, in_time: bool) -> Option<(Option<Fid>, String)> {
        self.inner.state.borrow().rows.context.drafts.answered(ask, in_time)
    }

    /// The answer to a question was refused, which still waits. Whether that is said at the question.
    pub fn refuse_answer(&self, ask: ApprovalId, why: &str) -> bool {
        let errors = Rc::clone(&self.inner.state.borrow().rows.context.errors);
        errors.refuse(ask, why)
    }

    /// Takes what was typed below questions and not sent, with its session: the program ends.
    pub fn take_typed(&self) -> Vec<(Option<Fid>, String)> {
        self.inner.state.borrow().rows.context.drafts.take_all()
    }

    /// Says whether Enter sends, or breaks the line.
    pub fn set_enter_sends(&self, enter_sends: bool) {
        self.inner.state.borrow().rows.context.enter_sends.set(enter_sends);
    }

    /// Says which other agents replies can be asked of, each with its name and its title.
    pub fn set_kinds(&self, kinds: Vec<(String, String)>) {
        self.inner.state.borrow().rows.context.kinds.replace(kinds);
    }

    /// The messages that the user edits in their place.
    pub fn edits(&self) -> Edits<'_> {
        self.inner.edits()
    }

    /// What calls say of the agents that they are about.
    pub fn agents(&self) -> Agents<'_> {
        self.inner.agents()
    }

    /// Adds the messages before this one, if they are still asked for. What is being read stays
    /// where it is.
    pub fn prepend(&self, before: MessageId, page: &Page) {
        self.inner.prepend(before, page);
    }

    /// The messages before this one could not be had: they are asked for again once the reader
    /// moves.
    pub fn earlier_failed(&self, before: MessageId) {
        self.inner.earlier_failed(before);
    }

    /// Takes which replies stand beside each other, each time the oldest first.
    pub fn set_siblings(&self, siblings: &[Vec<MessageId>]) {
        if self.inner.state.borrow_mut().transcript.set_siblings(siblings) {
            self.inner.schedule();
        }
    }

    /// Another version of a message is shown next, this one: what is seen of the message stays where it is, as far as
    /// there is enough above and below it. `keyboard`: the button that has the keyboard and keeps it, unless the user
    /// moves it elsewhere by then. Until then no other widget has it: a key that is pressed again must not send what
    /// is in the composer.
    pub fn switch_version(&self, message: MessageId, keyboard: Option<Side>) {
        self.inner.begin_switch(message, keyboard);
    }

    /// The version is not shown after all. Whether the keyboard is with nothing since then.
    pub fn give_up_switch(&self) -> bool {
        self.inner.give_up_switch()
    }

    /// How many messages there were from the one on whose other version is shown next; 0 where none is.
    pub fn below_switch(&self) -> usize {
        self.inner.below_switch()
    }

    /// Whether this snapshot begins after the version that is shown next: then more of the session is to be opened.
    pub fn begins_after_version(&self, snapshot: &Snapshot) -> bool {
        self.inner.begins_after_version(snapshot)
    }

    /// Whether this message is loaded.
    pub fn has(&self, id: MessageId) -> bool {
        self.inner.state.borrow_mut().transcript.entry(id).is_some()
    }

    /// The text of a message, as the model or the person wrote it.
    pub fn text_of(&self, id: MessageId) -> Option<String> {
        self.inner.state.borrow().transcript.text_of(id)
    }

    /// The text that is selected, across blocks and messages: with bullets and numbers, code as it is, a tab between
    /// the cells of tables. None where nothing is.
    pub fn selected_text(&self) -> Option<String> {
        self.inner.selected_text()
    }

    /// The same as Markdown: as it was written where all of a message is selected, else what reads the same. What is
    /// selected within a single block is its text.
    pub fn selected_markdown(&self) -> Option<String> {
        self.inner.selected_markdown()
    }

    /// The text of the last reply, as the model wrote it.
    pub fn last_reply(&self) -> Option<String> {
        self.inner.state.borrow().transcript.last_reply()
    }

    /// The last message that asked for work: the user’s, or in an agent’s chat that of another agent.
    pub fn last_request(&self, of_agent: bool) -> Option<MessageId> {
        self.inner.state.borrow().transcript.last_request(of_agent)
    }

    /// The reply at its end, if that was finished and may be a plan.
    pub fn last_plan(&self) -> Option<MessageId> {
        self.inner.state.borrow().transcript.last_plan()
    }

    /// The session that is shown; none is a new one.
    pub fn session(&self) -> Option<Fid> {
        self.inner.session.borrow().clone()
    }

    /// The session's plan.
    pub fn todos(&self) -> Vec<Todo> {
        self.inner.state.borrow().transcript.todos.clone()
    }

    /// The commands that run in the background of the session, the oldest first.
    pub fn commands(&self) -> Vec<BackgroundCommand> {
        self.inner.state.borrow().transcript.commands.clone()
    }

    /// What the end of the conversation says went wrong.
    pub fn last_error(&self) -> Option<Error> {
        self.inner.state.borrow().transcript.last_error().cloned()
    }

    /// Looks for these words, without regard to case and accents, and goes to the first place from
    /// where the person reads; no words end the search. Told by [`Output::SearchStatus`].
    pub fn find(&self, words: &str) {
        self.inner.find(words, None);
    }

    /// Looks for these words, and goes to the first place in this message.
    pub fn find_in(&self, words: &str, message: MessageId) {
        self.inner.find(words, Some(message));
    }

    /// Goes to the next place that was found, or the one before.
    pub fn find_next(&self, forward: bool) {
        self.inner.find_next(forward);
    }

    /// Focuses the card of this approval request; without one, or if it no longer waits, that of
    /// the newest. Returns whether something waits.
    pub fn focus_ask(&self, wanted: Option<ApprovalId>) -> bool {
        self.inner.focus_ask(wanted)
    }

    /// The approval request whose card has the focus.
    pub fn focused_ask(&self) -> Option<ApprovalId> {
        self.inner.state.borrow().rows.focused_prompt()
    }

    /// Makes cards of what waits in any session, with the styles of this conversation.
    pub fn approval_cards(&self) -> ApprovalCards {
        ApprovalCards::new(&self.inner.state.borrow().rows.context)
    }

    /// Goes to the first message, once all before what is loaded has come.
    pub fn go_to_start(&self) {
        self.inner.go_to_start();
    }

    /// Goes to the end, and stays there while text is added.
    pub fn go_to_end(&self) {
        self.inner.column.follow();
    }

    /// The button that leads to the end. What floats over the conversation must leave it free.
    pub(crate) fn jump_button(&self) -> &gtk::Button {
        &self.inner.jump
    }

    /// The area of the buttons below the last reply, as far as they are in sight, in the coordinates of another
    /// widget. What floats over the conversation must leave them free, too.
    pub(crate) fn last_buttons_bounds(&self, target: &gtk::Widget) -> Option<gtk::graphene::Rect> {
        let seen =
            self.inner.root.compute_bounds(target).filter(|_| self.inner.root.is_mapped())?;
        let bounds = self.inner.state.try_borrow().ok()?.rows.last_buttons_bounds(target)?;
        bounds.intersection(&seen)
    }

    /// Goes to the user's next message, or the one before, and gives it the keyboard.
    pub fn step_message(&self, forward: bool) {
        self.inner.step_message(forward);
    }

    /// Scrolls by so many pages.
    pub fn scroll_pages(&self, pages: f64) {
        self.inner.column.scroll_pages(pages);
    }

    /// Whether the end is in sight.
    pub fn is_at_end(&self) -> bool {
        self.inner.column.follows()
    }
}

/// Whether what waits for the user's answer changed.
fn is_of_asks(event: &Event) -> bool {
    matches!(event, Event::Session { event: SessionEvent::ApprovalsChanged { .. }, .. })
}
