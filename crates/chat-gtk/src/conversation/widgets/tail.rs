//! Draws what stands below the last message: what the request at work does, what went wrong before a reply began,
//! and the messages that wait.

use std::cell::RefCell;
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;
use jiff::Timestamp;

use chat_core::error::Error;
use chat_core::event::Stage;
use chat_core::message::Ending;
use chat_presentation::words;

use super::card;
use super::waiting::WaitingMessages;
use crate::conversation::model::notice::Notice;
use crate::conversation::model::transcript::Transcript;
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::conversation::widgets::tags::Tags;

/// The widgets below the last message.
pub struct Tail {
    root: gtk::Box,
    stage: gtk::Label,
    /// Beside it, where the reply looks like a loop.
    stop: gtk::Button,
    failure: gtk::Box,
    queue: WaitingMessages,
    output: Rc<dyn Fn(Output)>,
    shown_error: RefCell<Option<Error>>,
}

impl Tail {
    /// Nothing yet.
    pub fn new(context: &WidgetContext) -> Self {
        let output = Rc::clone(&context.output);
        let stage = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .visible(false)
            .css_classes(["stage"])
            .build();
        let stop = gtk::Button::builder()
            .label(gettext("Stop"))
            .valign(gtk::Align::Center)
            .visible(false)
            .css_classes(["flat", "loop-stop"])
            .build();
        let stops = Rc::clone(&output);
        stop.connect_clicked(move |_| stops(Output::Stop));
        let line = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        line.append(&stage);
        line.append(&stop);
        let failure = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let queue = WaitingMessages::new(context);
        let root = gtk::Box::new(gtk::Orientation::Vertical, 12);
        root.add_css_class("tail");
        for child in [&line, &failure, queue.widget()] {
            root.append(child);
        }
        root.set_visible(false);
        Self { root, stage, stop, failure, queue, output, shown_error: RefCell::default() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        self.queue.recolour(tags);
    }

    /// Shows how things are. `visible`: whether the last message is there to stand below.
    pub fn show(&self, transcript: &Transcript, visible: bool) {
        let (error, queue) = (transcript.error.as_ref(), &transcript.queue[..]);
        let words = activity(transcript);
        if self.stage.text() != words {
            self.stage.set_text(&words);
            self.stage.set_visible(!words.is_empty());
        }
        self.stop.set_visible(transcript.stage == Stage::Looping && !transcript.is_asking());
        if self.shown_error.borrow().as_ref() != error {
            self.show_error(error);
        }
        self.queue.show(queue, transcript.stage == Stage::Idle);
        let empty = words.is_empty() && error.is_none() && queue.is_empty();
        self.failure.set_visible(error.is_some());
        self.root.set_visible(visible && !empty);
    }

    fn show_error(&self, error: Option<&Error>) {
        empty(&self.failure);
        if let Some(error) = error {
            let error = Some(error.clone());
            let notice = Notice { ending: Ending::Failed, error, last: true, continues: false };
            self.failure.append(&card::card(&notice, &self.output));
        }
        self.shown_error.replace(error.cloned());
    }
}

/// What the request at work does; nothing where nothing is to be said of it.
fn activity(transcript: &Transcript) -> String {
    if transcript.is_asking() {
        return gettext("Waiting for your answer");
    }
    words::stage(&transcript.stage, Timestamp::now()).unwrap_or_default()
}

fn empty(root: &gtk::Box) {
    while let Some(child) = root.first_child() {
        root.remove(&child);
    }
}
