//! A window with a conversation in it, and what is shown there.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::event::{
    Event, SessionEvent, SessionPlaceholder, Snapshot, Stage, Status, TextKind,
};
use chat_core::message::{Fid, Message, MessageId, ModelRef, Role, SessionMeta};
use chat_core::tool::Registry;
use chat_gtk::conversation::{Conversation, Output};
use gtk::glib;
use gtk::prelude::*;

/// A window with a conversation in it.
pub struct Scene {
    pub window: gtk::Window,
    pub conversation: Conversation,
    pub told: Rc<RefCell<Vec<Output>>>,
}

impl Scene {
    pub fn new() -> Self {
        adw::init().expect("a display");
        // GTK warns where a widget is drawn without a place, or is given none that it can use.
        glib::log_set_always_fatal(
            glib::LogLevels::LEVEL_WARNING | glib::LogLevels::LEVEL_CRITICAL,
        );
        chat_gtk::init();
        let told: Rc<RefCell<Vec<Output>>> = Rc::default();
        let tell = Rc::clone(&told);
        let conversation = Conversation::new(move |_, output| tell.borrow_mut().push(output));
        conversation.set_tools(chat_tools::all().into_iter().collect::<Registry>().toolbox());
        let window = gtk::Window::builder().default_width(700).default_height(600).build();
        window.set_child(Some(conversation.widget()));
        window.present();
        let scene = Self { window, conversation, told };
        let widget = scene.conversation.widget().clone();
        until("the window is drawn", || widget.height() > 100);
        scene
    }

    /// Runs the main loop until nothing moves any more.
    pub fn settle(&self) {
        let clock = self.window.frame_clock().expect("a clock");
        let painted = Rc::new(RefCell::new(0));
        for _ in 0..3 {
            let count = Rc::clone(&painted);
            let before = *painted.borrow();
            let watch = clock.connect_after_paint(move |_| *count.borrow_mut() += 1);
            self.conversation.widget().queue_draw();
            until("a frame", || *painted.borrow() > before);
            clock.disconnect(watch);
        }
    }

    /// Everything that can be read, from the top. A sentence in several parts is one text.
    pub fn texts(&self) -> Vec<String> {
        let mut out = Vec::new();
        walk(self.conversation.widget(), &mut |widget| {
            if let Some(sentence) = sentence(widget) {
                out.push(sentence);
            } else if let Some(text) = widget.downcast_ref::<gtk::TextView>() {
                let buffer = text.buffer();
                out.push(buffer.text(&buffer.start_iter(), &buffer.end_iter(), true).to_string());
            } else if let Some(label) = widget.downcast_ref::<gtk::Label>() {
                out.push(label.text().to_string());
            }
        });
        out
    }

    pub fn adjustment(&self) -> gtk::Adjustment {
        let mut found = None;
        walk(self.conversation.widget(), &mut |widget| {
            if found.is_none() {
                found = widget
                    .downcast_ref::<gtk::ScrolledWindow>()
                    .map(gtk::ScrolledWindow::vadjustment);
            }
        });
        found.expect("a scrolled window")
    }

    pub fn is_at_end(&self) -> bool {
        let adjustment = self.adjustment();
        (adjustment.upper() - adjustment.page_size() - adjustment.value()).abs() < 1.0
    }

    /// Where the text that begins so stands in the window.
    pub fn place_of(&self, beginning: &str) -> Option<f64> {
        let root = self.conversation.widget();
        let mut found = None;
        walk(root, &mut |widget| {
            let label = || widget.downcast_ref::<gtk::Label>().map(|label| label.text().into());
            let Some(text) = sentence(widget).or_else(label) else { return };
            if text.starts_with(beginning) && widget.is_mapped() {
                found = widget.translate_coordinates(root, 0.0, 0.0).map(|(_, y)| y);
            }
        });
        found
    }
}

/// Runs the main loop until this holds.
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let context = glib::MainContext::default();
    let deadline = Instant::now() + Duration::from_secs(20);
    let bell = glib::timeout_add_local(Duration::from_millis(20), || glib::ControlFlow::Continue);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        context.iteration(true);
    }
    bell.remove();
}

pub fn walk(widget: &gtk::Widget, visit: &mut dyn FnMut(&gtk::Widget)) {
    visit(widget);
    let mut child = widget.first_child();
    while let Some(inner) = child {
        walk(&inner, visit);
        child = inner.next_sibling();
    }
}

/// What the line of a tool says, without its note.
pub fn sentence(widget: &gtk::Widget) -> Option<String> {
    let first = widget.first_child().filter(|_| widget.has_css_class("expander-title"));
    let parts = std::iter::successors(first, WidgetExt::next_sibling).take(3);
    let parts = parts.filter_map(|part| part.downcast::<gtk::Label>().ok());
    let sentence: String = parts.map(|part| part.text().to_string()).collect();
    (!sentence.is_empty()).then_some(sentence)
}

pub fn fid() -> Fid {
    Fid::new("2026-01-15-14-30-45")
}

pub fn snapshot(messages: Vec<Message>, more: bool) -> Snapshot {
    let now = jiff::Timestamp::now();
    Snapshot {
        session: SessionPlaceholder {
            meta: SessionMeta {
                fid: fid(),
                agent: "just-ask".to_owned(),
                created: now,
                updated: now,
                ..SessionMeta::default()
            },
            status: Status::Idle,
            activity: None,
        },
        messages: messages.into_iter().map(Arc::new).collect(),
        more,
        queue: Vec::new(),
        stage: Stage::Idle,
        asks: Vec::new(),
        calls: Vec::new(),
        commands: Vec::new(),
        todos: Vec::new(),
        seq: 0,
    }
}

pub fn reply() -> Message {
    Message::reply(None, ModelRef::new("here", "model"))
}

pub fn added(message: MessageId, start: usize, text: &str) -> Event {
    let event = SessionEvent::TextAdded {
        message,
        part: 0,
        kind: TextKind::Text,
        range: start..start + text.len(),
        text: text.to_owned(),
    };
    in_session(1, event)
}

/// Something that happened in the chat.
pub fn in_session(seq: u64, event: SessionEvent) -> Event {
    Event::Session { fid: fid(), seq, event }
}

pub fn chat(count: usize) -> Vec<Message> {
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
        Message::text(
            role,
            None,
            format!("Message {index}\n\nwith a second paragraph of some length"),
        )
    };
    (0..count).map(message).collect()
}
