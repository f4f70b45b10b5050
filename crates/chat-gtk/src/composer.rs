//! Where a person writes: a text field that grows, the line of controls below it, Send and Stop.

mod at;
mod chips;
mod joining;
mod keys;
mod pages;
mod pasting;
mod pinning;
mod plain_words;
mod popover_focus;
mod room;
mod suggestions;
mod written;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use chat_core::message::AtTarget;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::{accessible, adaptive_pair};
use chips::Chips;
pub(crate) use chips::{Along, Chip};
pub(crate) use pinning::icon;
pub(crate) use plain_words::PlainWords;
use suggestions::Suggestions;
pub(crate) use suggestions::{MOST as MOST_SUGGESTIONS, Suggestion};
pub(crate) use written::{Pin, Pinned, Written};

/// The field's height before the window's is known, in pixels.
const FIRST_HEIGHT: i32 = 240;

/// What a person does with the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// This is to be sent. It has left the field: what is typed by now is the next one.
    Submit(Written),
    /// The reply is to be stopped.
    Stop,
    /// The text changed.
    Changed,
    /// This is not to go along with the message.
    LeaveOut(Along),
    /// A text was to be sent, and this says why it cannot be.
    Hindered(String),
    /// What is typed behind an `@`; none where nothing is.
    LookFor(Option<String>),
    /// The pages at these addresses are to go along and are not there yet, and no others.
    Pages(Vec<String>),
    /// The conversation is to be scrolled up by a page: there is no text that the key could move in.
    ScrollUp,
    /// The conversation is to be scrolled down by a page.
    ScrollDown,
}

/// The composer. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Composer {
    inner: Rc<Inner>,
}

/// What lies at a path, from a project's folder on.
type Target = Box<dyn Fn(&Path) -> Option<AtTarget>>;

/// The files and folders of a project, by their paths.
pub(crate) struct Names {
    folder: PathBuf,
    target: Target,
}

impl Names {
    pub(crate) fn new(
        folder: PathBuf,
        target: impl Fn(&Path) -> Option<AtTarget> + 'static,
    ) -> Self {
        Self { folder, target: Box::new(target) }
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Names").field(&self.folder).finish()
    }
}

#[derive(Debug)]
struct Inner {
    root: gtk::Box,
    text: gtk::TextView,
    scroller: gtk::ScrolledWindow,
    /// What a person should know, quietly, below what they write.
    note: gtk::Label,
    chips: Chips,
    suggestions: RefCell<Option<Rc<Suggestions>>>,
    /// What was pinned to the text since it was put there. What has lost its word stays here: the word
    /// may come back.
    pins: RefCell<Vec<Arc<Pin>>>,
    /// The words behind an `@` that were pasted.
    plain: RefCell<PlainWords>,
    /// Those that were typed and pointed at something: they still do where they are pasted.
    meant: RefCell<PlainWords>,
    /// What a name that is written out behind an `@` leads to.
    names: RefCell<Option<Names>>,
    /// The text as it was read last.
    read: RefCell<Read>,
    requested_pages: RefCell<Vec<String>>,
    /// What goes along besides.
    along: RefCell<Vec<Chip>>,
    /// What was looked for last.
    searched_for: RefCell<Option<String>>,
    output: OutputHandler,
    send: gtk::Button,
    stop: gtk::Button,
    enter_sends: Cell<bool>,
    busy: Cell<bool>,
    /// Why nothing can be sent, where that is so.
    hindrance: RefCell<Option<String>>,
    setting_text: Cell<bool>,
    /// Whether text comes from elsewhere just now.
    putting_in: Cell<bool>,
}

/// What stands in the field: read once for each change, since a text may be long and much pinned to it.
#[derive(Debug, Default)]
struct Read {
    text: glib::GString,
    /// What is pinned to the text and goes along with it.
    live: Vec<Arc<Pin>>,
    is_blank: bool,
}

/// Who hears what a person does.
struct OutputHandler(Box<dyn Fn(Output)>);

impl std::fmt::Debug for OutputHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OutputHandler").finish()
    }
}

impl Composer {
    /// A composer with `about` at the beginning of the line below the text, and `to` before its Send
    /// button.
    pub(crate) fn new(
        about: &[gtk::Widget],
        to: &[gtk::Widget],
        output: impl Fn(Output) + 'static,
    ) -> Self {
        let text = gtk::TextView::builder()
            .wrap_mode(gtk::WrapMode::WordChar)
            .accepts_tab(false)
            .top_margin(8)
            .bottom_margin(4)
            .left_margin(10)
            .right_margin(10)
            .build();
        accessible::set_label(&text, &gettext("Message"));
        let scroller = gtk::ScrolledWindow::builder()
            .child(&text)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .max_content_height(FIRST_HEIGHT)
            .build();
        let placeholder = gtk::Label::builder()
            .label(gettext("Message Natter…"))
            .xalign(0.0)
            .valign(gtk::Align::Start)
            .margin_top(8)
            .margin_start(10)
            .can_target(false)
            .css_classes(["placeholder"])
            .build();
        let field = gtk::Overlay::builder().child(&scroller).build();
        field.add_overlay(&placeholder);

        let send = round_button("go-up-symbolic", &gettext("Send"), "suggested-action");
        let stop = round_button("media-playback-stop-symbolic", &gettext("Stop"), "stop");
        let sending = row_of(to);
        sending.append(&stop);
        sending.append(&send);
        let line = adaptive_pair::controls(&row_of(about), &sending);
        line.add_css_class("send-line");
        let note = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .visible(false)
            .css_classes(["composer-note"])
            .build();
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(2)
            .css_classes(["composer"])
            .build();
        root.append(&field);
        root.append(&note);
        let chips = Chips::default();
        root.append(chips.widget());
        root.append(&line);

        let inner = Rc::new(Inner {
            root,
            text,
            scroller,
            note,
            chips,
            suggestions: RefCell::default(),
            pins: RefCell::default(),
            plain: RefCell::default(),
            meant: RefCell::default(),
            names: RefCell::default(),
            read: RefCell::new(Read { is_blank: true, ..Read::default() }),
            requested_pages: RefCell::default(),
            along: RefCell::default(),
            searched_for: RefCell::default(),
            output: OutputHandler(Box::new(output)),
            send,
            stop,
            enter_sends: Cell::new(true),
            busy: Cell::new(false),
            hindrance: RefCell::default(),
            setting_text: Cell::new(false),
            putting_in: Cell::new(false),
        });
        inner.connect(&placeholder);
        inner.show_buttons();
        Self { inner }
    }

    pub(crate) fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    pub(crate) fn content(&self) -> Written {
        self.inner.content()
    }

    /// Replaces what is written without telling, with the cursor at its end.
    pub(crate) fn set_content(&self, written: &Written) {
        self.inner.set_content(written);
    }

    /// Takes what is written out of the field without telling.
    pub(crate) fn take(&self) -> Written {
        self.inner.take()
    }

    /// What may be meant by what is looked for, the best first; more may come below. Answers to
    /// earlier questions are late.
    pub(crate) fn suggest(&self, query: &str, suggestions: Vec<Suggestion>) {
        self.inner.suggest(query, suggestions);
    }

    /// Names that are written out behind an `@` lead to the files of this project.
    pub(crate) fn set_names(&self, names: Option<Names>) {
        self.inner.names.replace(names);
        self.inner.look_again();
    }

    /// The names behind an `@` in a text that nothing has, as far as they look like paths.
    pub(crate) fn unknown_names(&self, written: &Written) -> Vec<String> {
        self.inner.unknown_names(written)
    }

    pub(crate) fn focus(&self) {
        self.inner.text.grab_focus();
    }

    /// Has the focus return here when the popover of a menu button or dropdown closes.
    pub(crate) fn focus_after_popover(&self, button: &impl IsA<gtk::Widget>) {
        popover_focus::connect(button.upcast_ref(), &self.inner.text);
    }

    pub(crate) fn set_enter_sends(&self, enter_sends: bool) {
        self.inner.enter_sends.set(enter_sends);
    }

    /// Whether a reply is being written.
    pub(crate) fn set_busy(&self, busy: bool) {
        let inner = &self.inner;
        if inner.busy.replace(busy) != busy {
            // The button that goes away must not take the focus with it.
            if inner.stop.has_focus() || inner.send.has_focus() {
                self.focus();
            }
            inner.show_buttons();
        }
    }

    /// Says why nothing can be sent; none where it can.
    pub(crate) fn set_hindrance(&self, words: Option<String>) {
        if *self.inner.hindrance.borrow() != words {
            self.inner.hindrance.replace(words);
            self.inner.show_buttons();
        }
    }

    /// Says something quietly below the text; none says nothing.
    pub(crate) fn set_note(&self, words: Option<&str>) {
        self.inner.note.set_visible(words.is_some());
        if let Some(words) = words {
            self.inner.note.set_label(words);
        }
    }

    /// Shows what goes along with the message besides what is pinned to it.
    pub(crate) fn set_chips(&self, chips: Vec<Chip>) {
        self.inner.along.replace(chips);
        self.inner.show_chips();
    }

    /// The field grows to a third of this height.
    pub(crate) fn set_height_of_all(&self, height: i32) {
        let third = (height / 3).max(48);
        if self.inner.scroller.max_content_height() != third {
            self.inner.scroller.set_max_content_height(third);
        }
    }
}

impl Inner {
    fn connect(self: &Rc<Self>, placeholder: &gtk::Label) {
        let weak = Rc::downgrade(self);
        self.stop.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.tell(Output::Stop);
            }
        });
        let weak = Rc::downgrade(self);
        let submit = move || {
            if let Some(inner) = weak.upgrade() {
                inner.submit();
            }
        };
        let pressed = submit.clone();
        self.send.connect_clicked(move |_| pressed());
        let weak = Rc::downgrade(self);
        let enter_sends = move || weak.upgrade().is_some_and(|inner| inner.enter_sends.get());
        let weak = Rc::downgrade(self);
        let first = move |key, modifiers| {
            let Some(inner) = weak.upgrade() else { return false };
            let list = inner.suggestions.borrow().clone();
            list.is_some_and(|list| list.press(key, modifiers))
                || keys::scroll(&inner, key, modifiers)
        };
        keys::connect(&self.text, enter_sends, first, submit);
        room::connect(&self.scroller, &self.text);
        self.connect_chips();
        self.connect_suggestions();
        self.connect_pasting();

        let weak = Rc::downgrade(self);
        let hint = placeholder.clone();
        self.text.buffer().connect_changed(move |buffer| {
            hint.set_visible(buffer.char_count() == 0);
            if let Some(inner) = weak.upgrade().filter(|inner| !inner.setting_text.get()) {
                inner.pins_changed();
            }
        });
        // What an input method is still composing stands in the field, too.
        let hint = placeholder.clone();
        self.text.connect_preedit_changed(move |text, preedit| {
            hint.set_visible(preedit.is_empty() && text.buffer().char_count() == 0);
        });
    }

    fn tell(&self, output: Output) {
        (self.output.0)(output);
    }

    fn submit(&self) {
        if self.is_blank() {
            return;
        }
        let hindrance = self.hindrance();
        self.tell(hindrance.map_or_else(|| Output::Submit(self.take()), Output::Hindered));
    }

    fn content_text(&self) -> glib::GString {
        let buffer = self.text.buffer();
        let (start, end) = buffer.bounds();
        buffer.text(&start, &end, false)
    }

    /// Reads what stands in the field, and shows it everywhere.
    fn look_again(&self) {
        let text = self.content_text();
        let live = self.live(&text, self.written_at());
        self.meant.borrow_mut().extend(live.iter().filter_map(|pin| pin.word.as_deref()));
        let is_blank = !self.goes_alone() && text.trim().is_empty();
        self.read.replace(Read { text, live, is_blank });
        self.show_chips();
        self.show_buttons();
        self.tell_pages();
    }

    fn content(&self) -> Written {
        let read = self.read.borrow();
        Written {
            text: read.text.to_string(),
            pins: read.live.clone(),
            plain: self.plain.borrow().clone(),
        }
    }

    fn set_content(&self, written: &Written) {
        self.setting_text.set(true);
        self.set_pins(&written.pins);
        self.plain.replace(written.plain.clone());
        let buffer = self.text.buffer();
        // A draft put back is not an edit to be undone.
        buffer.begin_irreversible_action();
        buffer.set_text(&written.text);
        buffer.end_irreversible_action();
        buffer.place_cursor(&buffer.end_iter());
        self.setting_text.set(false);
        self.look_again();
    }

    fn take(&self) -> Written {
        let text = self.content_text();
        let pins = self.live(&text, None);
        let written = Written { text: text.into(), pins, plain: self.plain.take() };
        self.set_content(&Written::default());
        written
    }

    fn is_blank(&self) -> bool {
        self.read.borrow().is_blank
    }

    /// Why nothing can be sent now.
    fn hindrance(&self) -> Option<String> {
        let fetches = || self.is_fetching().then(|| gettext("The page is still loading"));
        self.hindrance.borrow().clone().or_else(fetches)
    }

    /// Idle: Send. Busy: Stop; and Send beside it once there is something to queue.
    fn show_buttons(&self) {
        let busy = self.busy.get();
        let blank = self.is_blank();
        self.stop.set_visible(busy);
        self.send.set_visible(!busy || !blank);
        let hindrance = self.hindrance();
        self.send.set_sensitive(hindrance.is_none() && !blank);
        let hint = match hindrance {
            Some(words) => words,
            None if blank => gettext("Write a message first"),
            None if busy => gettext("Send when this reply is done"),
            None => gettext("Send"),
        };
        self.send.set_tooltip_text(Some(&hint));
        accessible::set_description(&self.send, &hint);
    }
}

fn row_of(controls: &[gtk::Widget]) -> gtk::Box {
    let row = gtk::Box::builder().spacing(4).build();
    for control in controls {
        control.set_valign(gtk::Align::Center);
        row.append(control);
    }
    row
}

fn round_button(icon: &str, name: &str, class: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(name)
        .valign(gtk::Align::Center)
        .css_classes(["round", class])
        .build();
    accessible::set_label(&button, name);
    button
}

#[cfg(test)]
mod tests;
