//! Where a person writes: a text field that grows, the line of controls below it, Send and Stop.

mod chips;
mod keys;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use relm4::gtk::prelude::*;

use crate::{accessible, beside};
use chips::Chips;
pub(crate) use chips::{Along, Chip};

/// The field's height before the window's is known, in pixels.
const FIRST_HEIGHT: i32 = 240;

/// What a person does with the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// This text is to be sent. It has left the field: what is typed by now is the next one.
    Submit(String),
    /// The reply is to be stopped.
    Stop,
    /// The text changed.
    Changed,
    /// This is not to go along with the message.
    LeaveOut(Along),
    /// A text was to be sent, and this says why it cannot be.
    Hindered(String),
}

/// The composer. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Composer {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: gtk::Box,
    text: gtk::TextView,
    scroller: gtk::ScrolledWindow,
    /// What a person should know, quietly, below what they write.
    note: gtk::Label,
    chips: Chips,
    told: Told,
    send: gtk::Button,
    stop: gtk::Button,
    enter_sends: Cell<bool>,
    busy: Cell<bool>,
    /// Why nothing can be sent, where that is so.
    hindrance: RefCell<Option<String>>,
    setting_text: Cell<bool>,
}

/// Who hears of the chips.
#[derive(Default)]
struct Told(RefCell<Option<Removed>>);

/// Told which chip is taken away.
type Removed = Rc<dyn Fn(Along)>;

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Told").finish()
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
        let line = beside::controls(&row_of(about), &sending);
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
        let chips = Chips::new();
        root.append(chips.widget());
        root.append(&line);

        let inner = Rc::new(Inner {
            root,
            text,
            scroller,
            note,
            chips,
            told: Told::default(),
            send,
            stop,
            enter_sends: Cell::new(true),
            busy: Cell::new(false),
            hindrance: RefCell::default(),
            setting_text: Cell::new(false),
        });
        inner.connect(&placeholder, output);
        inner.show_buttons();
        Self { inner }
    }

    pub(crate) fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    pub(crate) fn content(&self) -> String {
        self.inner.content()
    }

    /// Replaces the text without telling, with the cursor at its end.
    pub(crate) fn set_content(&self, text: &str) {
        self.inner.set_content(text);
    }

    /// Takes the text out of the field without telling.
    pub(crate) fn take(&self) -> String {
        self.inner.take()
    }

    pub(crate) fn focus(&self) {
        self.inner.text.grab_focus();
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

    /// Shows what goes along with the message.
    pub(crate) fn set_chips(&self, chips: Vec<Chip>) {
        let told = self.inner.told.0.borrow().clone();
        if let Some(told) = told {
            self.inner.chips.show(chips, &told);
        }
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
    fn connect(self: &Rc<Self>, placeholder: &gtk::Label, output: impl Fn(Output) + 'static) {
        let output: Rc<dyn Fn(Output)> = Rc::new(output);
        let told = Rc::clone(&output);
        self.stop.connect_clicked(move |_| told(Output::Stop));
        let told = Rc::clone(&output);
        self.told.0.replace(Some(Rc::new(move |along| told(Output::LeaveOut(along)))));
        let submit = {
            let inner = Rc::downgrade(self);
            let told = Rc::clone(&output);
            move || {
                let Some(inner) = inner.upgrade().filter(|inner| !inner.is_blank()) else { return };
                let hindrance = inner.hindrance.borrow().clone();
                told(hindrance.map_or_else(|| Output::Submit(inner.take()), Output::Hindered));
            }
        };
        let pressed = submit.clone();
        self.send.connect_clicked(move |_| pressed());
        let inner = Rc::downgrade(self);
        let enter_sends = move || inner.upgrade().is_some_and(|inner| inner.enter_sends.get());
        keys::connect(&self.text, enter_sends, submit);

        let inner = Rc::downgrade(self);
        let hint = placeholder.clone();
        self.text.buffer().connect_changed(move |buffer| {
            hint.set_visible(buffer.char_count() == 0);
            if let Some(inner) = inner.upgrade() {
                inner.show_buttons();
                if !inner.setting_text.get() {
                    output(Output::Changed);
                }
            }
        });
        // What an input method is still composing stands in the field, too.
        let hint = placeholder.clone();
        self.text.connect_preedit_changed(move |text, preedit| {
            hint.set_visible(preedit.is_empty() && text.buffer().char_count() == 0);
        });
    }

    fn content(&self) -> String {
        let buffer = self.text.buffer();
        let (start, end) = buffer.bounds();
        buffer.text(&start, &end, false).to_string()
    }

    fn set_content(&self, text: &str) {
        self.setting_text.set(true);
        let buffer = self.text.buffer();
        // A draft put back is not an edit to be undone.
        buffer.begin_irreversible_action();
        buffer.set_text(text);
        buffer.end_irreversible_action();
        buffer.place_cursor(&buffer.end_iter());
        self.setting_text.set(false);
    }

    fn take(&self) -> String {
        let text = self.content();
        self.set_content("");
        text
    }

    fn is_blank(&self) -> bool {
        self.text.buffer().char_count() == 0 || self.content().trim().is_empty()
    }

    fn can_send(&self) -> bool {
        self.hindrance.borrow().is_none() && !self.is_blank()
    }

    /// Idle: Send. Busy: Stop; and Send beside it once there is something to queue.
    fn show_buttons(&self) {
        let busy = self.busy.get();
        let blank = self.is_blank();
        self.stop.set_visible(busy);
        self.send.set_visible(!busy || !blank);
        self.send.set_sensitive(self.can_send());
        let hindrance = self.hindrance.borrow();
        let hint = match &*hindrance {
            Some(words) => words.clone(),
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
mod tests {
    use std::path::Path;

    use super::*;
    use crate::choices;
    use crate::project_picker::ProjectPicker;

    /// The narrowest window, without what is around the composer.
    const NARROWEST: i32 = 360 - 2 * 14;

    #[gtk::test]
    fn all_controls_fit_the_narrowest_window() {
        crate::init();
        let project = ProjectPicker::new(|_| {});
        project.show(Some(Path::new("/projects/a-folder-with-a-rather-long-name")));
        let modes = choices::modes(|_| {});
        modes.show(&chat_core::permission::Mode::Unattended);
        let thinking = choices::thinking(|_| {});
        thinking.show(&chat_core::message::Thinking::High);
        let model = gtk::Label::builder()
            .label("a-model-with-a-rather-long-name")
            .ellipsize(gtk::pango::EllipsizeMode::Middle)
            .build();
        // How full the window of the model is.
        let meter = gtk::MenuButton::builder().label("⭘ 100 %").css_classes(["flat"]).build();
        let about =
            [project.widget().clone().upcast(), modes.widget().clone().upcast(), meter.upcast()];
        let to = [thinking.widget().clone().upcast(), model.upcast()];
        let composer = Composer::new(&about, &to, |_| {});
        composer.set_note(Some("This model cannot use tools"));
        composer.set_busy(true);
        composer.set_content("and one more");
        let window = gtk::Window::builder().child(composer.widget()).build();
        window.present();
        let (least, ..) = composer.widget().measure(gtk::Orientation::Horizontal, -1);
        assert!(least <= NARROWEST, "{least} of {NARROWEST}");
    }
}
