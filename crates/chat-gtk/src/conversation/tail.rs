//! What stands below the last message: what the request at work does, what went wrong before a
//! reply began, and the messages that wait.

use std::cell::RefCell;
use std::rc::Rc;

use gtk::prelude::*;
use jiff::Timestamp;

use chat_core::error::Error;
use chat_core::event::Stage;
use chat_core::message::{Ending, Queued};
use chat_edge::words;

use super::card::{self, Notice};
use super::{Output, user};

/// The widgets below the last message.
pub struct Tail {
    root: gtk::Box,
    stage: gtk::Label,
    failure: gtk::Box,
    queue: gtk::Box,
    output: Rc<dyn Fn(Output)>,
    shown_error: RefCell<Option<Error>>,
    shown_queue: RefCell<Vec<Queued>>,
}

impl Tail {
    /// Nothing yet.
    pub fn new(output: Rc<dyn Fn(Output)>) -> Self {
        let stage = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .visible(false)
            .css_classes(["stage"])
            .build();
        let failure = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let queue = gtk::Box::new(gtk::Orientation::Vertical, 6);
        let root = gtk::Box::new(gtk::Orientation::Vertical, 12);
        root.add_css_class("tail");
        for child in [stage.upcast_ref::<gtk::Widget>(), failure.upcast_ref(), queue.upcast_ref()] {
            root.append(child);
        }
        let tail = Self {
            root,
            stage,
            failure,
            queue,
            output,
            shown_error: RefCell::default(),
            shown_queue: RefCell::default(),
        };
        tail.show(&Stage::Idle, None, &[], true);
        tail
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows how things are. `visible`: whether the last message is there to stand below.
    pub fn show(&self, stage: &Stage, error: Option<&Error>, queue: &[Queued], visible: bool) {
        let words = words::stage(stage, Timestamp::now()).unwrap_or_default();
        if self.stage.text() != words {
            self.stage.set_text(&words);
            self.stage.set_visible(!words.is_empty());
        }
        if self.shown_error.borrow().as_ref() != error {
            self.show_error(error);
        }
        if *self.shown_queue.borrow() != queue {
            self.show_queue(queue);
        }
        let empty = words.is_empty() && error.is_none() && queue.is_empty();
        self.failure.set_visible(error.is_some());
        self.queue.set_visible(!queue.is_empty());
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

    fn show_queue(&self, queue: &[Queued]) {
        empty(&self.queue);
        for queued in queue {
            let (output, id) = (Rc::clone(&self.output), queued.id);
            self.queue.append(&user::queued(&queued.content, move || output(Output::Unqueue(id))));
        }
        self.shown_queue.replace(queue.to_vec());
    }
}

fn empty(root: &gtk::Box) {
    while let Some(child) = root.first_child() {
        root.remove(&child);
    }
}
