//! Shows the composer: a text field that grows, the row of controls below it, Send and Stop.

mod at;
mod attached;
mod buttons;
mod chips;
mod commands;
mod content;
mod copied_files;
mod joining;
mod keys;
mod pages;
mod pasting;
mod pin_chip;
mod pinning;
mod plain_words;
mod popover_focus;
mod room;
mod signals;
mod suggestions;
mod written;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use chat_core::message::{AtResource, AtTarget, Mention};
use chat_core::settings::WhileBusy;
use chat_presentation::slash_commands::SlashCommands;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::{accessible, adaptive_pair};
pub(crate) use attached::{Attached, Source, Unread};
use buttons::{attach_button, round_button, row_of};
use chips::Chips;
pub(crate) use chips::{Along, Chip};
pub(crate) use copied_files::not_pasted;
pub(crate) use keys::connect as connect_send_keys;
pub(crate) use pin_chip::icon;
pub(crate) use plain_words::PlainWords;
use suggestions::Suggestions;
pub(crate) use suggestions::{Choice, MOST as MOST_SUGGESTIONS, Suggestion};
pub(crate) use written::{Pin, Pinned, Written, resource_word};

/// The field's height before the window's is known, in pixels.
const FIRST_HEIGHT: i32 = 240;

/// Messages of the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Send this. It has left the field: what is typed now is the next message.
    Submit {
        written: Written,
        /// During a reply it is to be delivered otherwise than usual.
        other: bool,
    },
    /// Stop the reply.
    Stop,
    /// The text changed.
    Changed,
    /// Do not attach this to the message.
    LeaveOut(Along),
    /// A text was to be sent, but cannot be for this reason.
    Hindered(String),
    /// What is typed after an `@`; none if there is no `@`.
    LookFor(Option<String>),
    /// What is typed after a `/` at the start; none if there is no command.
    LookForCommand(Option<String>),
    /// The user chose a prompt that takes arguments, by its name.
    AskArguments(String),
    /// Exactly these pages are to be attached and have not arrived yet.
    Pages(Vec<String>),
    /// Exactly these files are to be attached and were not read yet.
    Files(Vec<Unread>),
    /// This was pasted under this id into a message that has left the field; none if it could not be had.
    Pasted { id: u64, what: Option<Pinned> },
    /// Pictures go with the message now, or none do any more.
    Pictures,
    /// The user wants to choose files to attach.
    ChooseFiles,
    /// Something to say in passing.
    Note(String),
    /// Scroll the conversation up by a page: the field has no text that the key could move in.
    ScrollUp,
    /// Scroll the conversation down by a page.
    ScrollDown,
    /// Go to the start of the conversation.
    ScrollToStart,
    /// Go to the end of the conversation.
    ScrollToEnd,
}

/// The composer. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Composer {
    inner: Rc<Inner>,
}

/// Looks up what is at a path, relative to a project's folder.
type Target = Box<dyn Fn(&Path) -> Option<AtTarget>>;

/// Looks up what a server's name and a URI lead to.
type Resource = Box<dyn Fn(&str, &str) -> Option<AtResource>>;

/// The files and folders of a project, by their paths, and the resources of servers.
pub(crate) struct Names {
    folder: Option<PathBuf>,
    target: Target,
    resource: Resource,
}

impl Names {
    pub(crate) fn new(
        folder: PathBuf,
        target: impl Fn(&Path) -> Option<AtTarget> + 'static,
    ) -> Self {
        Self { folder: Some(folder), target: Box::new(target), ..Self::default() }
    }

    #[must_use]
    pub(crate) fn with_resources(
        self,
        resource: impl Fn(&str, &str) -> Option<AtResource> + 'static,
    ) -> Self {
        Self { resource: Box::new(resource), ..self }
    }
}

impl Default for Names {
    /// Of no project and no server.
    fn default() -> Self {
        Self { folder: None, target: Box::new(|_| None), resource: Box::new(|_, _| None) }
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
    /// A quiet remark below the text.
    note: gtk::Label,
    chips: Chips,
    suggestions: RefCell<Option<Rc<Suggestions>>>,
    /// What was pinned since the text was set. A pin whose word was removed stays here, since the
    /// word may come back.
    pins: RefCell<Vec<Arc<Pin>>>,
    /// The `@` words that were pasted.
    plain: RefCell<PlainWords>,
    /// The typed words that mention something: they still do if they are pasted.
    meant: RefCell<PlainWords>,
    /// Looks up a name that is typed out after an `@`.
    names: RefCell<Option<Names>>,
    /// The text as it was last parsed.
    read: RefCell<Read>,
    requested_pages: RefCell<Vec<String>>,
    /// The files that were reported as unread, by their ids.
    requested_files: RefCell<Vec<u64>>,
    /// Whether it was reported that pictures are attached.
    had_pictures: Cell<bool>,
    /// What else is attached.
    along: RefCell<Vec<Chip>>,
    /// What was looked for last.
    searched_for: RefCell<Option<String>>,
    commands: RefCell<SlashCommands>,
    /// The command that is being typed, without its slash.
    typed_command: RefCell<Option<String>>,
    output: OutputHandler,
    attach: gtk::Button,
    send: gtk::Button,
    stop: gtk::Button,
    enter_sends: Cell<bool>,
    /// When a message reaches the model that is sent during a reply.
    while_busy: Cell<WhileBusy>,
    busy: Cell<bool>,
    /// Why nothing can be sent, if so.
    hindrance: RefCell<Option<String>>,
    setting_text: Cell<bool>,
    /// Whether text is being inserted that was not typed.
    putting_in: Cell<bool>,
}

/// The parsed content of the field. It is parsed once per change, since a text may be long and have
/// many pins.
#[derive(Debug, Default)]
struct Read {
    text: glib::GString,
    /// The pins that are in the text and thus attached.
    live: Vec<Arc<Pin>>,
    is_blank: bool,
}

/// Receives the user's actions.
struct OutputHandler(Box<dyn Fn(Output)>);

impl std::fmt::Debug for OutputHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OutputHandler").finish()
    }
}

impl Composer {
    /// Creates a composer with `about` at the start of the line below the text, and `to` before its
    /// Send button.
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
        let attach = attach_button();
        let about = row_of(about);
        about.prepend(&attach);
        // All of them fit a narrow window.
        about.set_spacing(2);
        let line = adaptive_pair::controls(&about, &sending);
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
            requested_files: RefCell::default(),
            had_pictures: Cell::new(false),
            along: RefCell::default(),
            searched_for: RefCell::default(),
            commands: RefCell::default(),
            typed_command: RefCell::default(),
            output: OutputHandler(Box::new(output)),
            attach,
            send,
            stop,
            enter_sends: Cell::new(true),
            while_busy: Cell::default(),
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

    /// Replaces the content without reporting it, with the cursor at its end.
    pub(crate) fn set_content(&self, written: &Written) {
        self.inner.set_content(written);
    }

    /// Takes the content out of the field without reporting it.
    pub(crate) fn take(&self) -> Written {
        self.inner.take()
    }

    /// Suggests what may be meant, the best first; more may be appended later. Suggestions for
    /// earlier queries are ignored.
    pub(crate) fn suggest(&self, query: &str, suggestions: Vec<Suggestion>) {
        self.inner.suggest(query, suggestions);
    }

    /// Looks up names that are typed out after an `@` among these.
    pub(crate) fn set_names(&self, names: Option<Names>) {
        self.inner.names.replace(names);
        self.inner.look_again();
    }

    /// What the `@` names in a text mention that is written elsewhere, except for these words.
    pub(crate) fn mentions(&self, text: &str, plain: &PlainWords) -> Vec<Mention> {
        self.inner.mentions(text, plain)
    }

    /// The `@` names in a text that look like paths but match nothing.
    pub(crate) fn unknown_names(&self, written: &Written) -> Vec<String> {
        self.inner.unknown_names(written)
    }

    pub(crate) fn focus(&self) {
        self.inner.text.grab_focus();
    }

    /// Returns the focus here when the popover of a menu button or dropdown closes.
    pub(crate) fn focus_after_popover(&self, button: &impl IsA<gtk::Widget>) {
        popover_focus::connect(button.upcast_ref(), &self.inner.text);
    }

    pub(crate) fn set_enter_sends(&self, enter_sends: bool) {
        self.inner.enter_sends.set(enter_sends);
    }

    /// Sets when a message reaches the model that is sent during a reply.
    pub(crate) fn set_while_busy(&self, while_busy: WhileBusy) {
        if self.inner.while_busy.replace(while_busy) != while_busy {
            self.inner.show_buttons();
        }
    }

    /// Sets whether a reply is being written.
    pub(crate) fn set_busy(&self, busy: bool) {
        let inner = &self.inner;
        if inner.busy.replace(busy) != busy {
            // The button that disappears must not take the focus with it.
            if inner.stop.has_focus() || inner.send.has_focus() {
                self.focus();
            }
            inner.show_buttons();
        }
    }

    /// Sets why nothing can be sent; none if it can.
    pub(crate) fn set_hindrance(&self, words: Option<String>) {
        if *self.inner.hindrance.borrow() != words {
            self.inner.hindrance.replace(words);
            self.inner.show_buttons();
        }
    }

    /// Shows a quiet remark below the text, or none.
    pub(crate) fn set_note(&self, words: Option<&str>) {
        self.inner.note.set_visible(words.is_some());
        if let Some(words) = words {
            self.inner.note.set_label(words);
        }
    }

    /// Shows what is attached to the message besides its pins.
    pub(crate) fn set_chips(&self, chips: Vec<Chip>) {
        self.inner.along.replace(chips);
        self.inner.show_chips();
    }

    /// Sets the height of which the field may take a third.
    pub(crate) fn set_height_of_all(&self, height: i32) {
        let third = (height / 3).max(48);
        if self.inner.scroller.max_content_height() != third {
            self.inner.scroller.set_max_content_height(third);
        }
    }
}

impl Inner {
    fn tell(&self, output: Output) {
        (self.output.0)(output);
    }

    /// Sends what is written; `other`: during a reply otherwise than usual.
    fn submit(&self, other: bool) {
        if self.is_blank() {
            return;
        }
        let hindrance = self.hindrance().filter(|_| !self.is_for_the_window());
        let submit = || Output::Submit { written: self.take(), other };
        self.tell(hindrance.map_or_else(submit, Output::Hindered));
    }
}

#[cfg(test)]
pub(crate) use attached::tests::text_file;

#[cfg(test)]
mod tests;
