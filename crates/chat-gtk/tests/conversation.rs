//! The conversation view in a window. Needs a display; `scripts/lib/headless` gives one.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::error::{Error, Kind};
use chat_core::event::{Event, SessionPlaceholder, Snapshot, Stage, Status, TextKind};
use chat_core::message::{Ending, Fid, Message, MessageId, ModelRef, Options, Role, Thinking};
use chat_core::store::Page;
use chat_gtk::conversation::{Conversation, Output};
use gtk::glib;
use gtk::prelude::*;

const TEXT: &str = "# Head\n\nSome *text* with `code` and [a link](https://example.org/).\n\n- one\n- two\n  ```rust\n  fn \
a() {}\n  ```\n- three\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | <b>2</b> |\n\nEnd &amp; <i>all</i>.\n";

/// A window with a conversation in it.
struct Scene {
    window: gtk::Window,
    conversation: Conversation,
    told: Rc<RefCell<Vec<Output>>>,
}

impl Scene {
    fn new() -> Self {
        adw::init().expect("a display");
        // GTK warns where a widget is drawn without a place, or is given none that it can use.
        glib::log_set_always_fatal(
            glib::LogLevels::LEVEL_WARNING | glib::LogLevels::LEVEL_CRITICAL,
        );
        sourceview5::init();
        let told: Rc<RefCell<Vec<Output>>> = Rc::default();
        let tell = Rc::clone(&told);
        let conversation = Conversation::new(move |output| tell.borrow_mut().push(output));
        let window = gtk::Window::builder().default_width(700).default_height(600).build();
        window.set_child(Some(conversation.widget()));
        window.present();
        let scene = Self { window, conversation, told };
        let widget = scene.conversation.widget().clone();
        until("the window is drawn", || widget.height() > 100);
        scene
    }

    /// Runs the main loop until nothing moves any more.
    fn settle(&self) {
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

    /// Everything that can be read, from the top.
    fn texts(&self) -> Vec<String> {
        let mut out = Vec::new();
        walk(self.conversation.widget(), &mut |widget| {
            if let Some(text) = widget.downcast_ref::<gtk::TextView>() {
                let buffer = text.buffer();
                out.push(buffer.text(&buffer.start_iter(), &buffer.end_iter(), true).to_string());
            } else if let Some(label) = widget.downcast_ref::<gtk::Label>() {
                out.push(label.text().to_string());
            }
        });
        out
    }

    fn adjustment(&self) -> gtk::Adjustment {
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

    fn is_at_end(&self) -> bool {
        let adjustment = self.adjustment();
        (adjustment.upper() - adjustment.page_size() - adjustment.value()).abs() < 1.0
    }

    /// Where the text that begins so stands in the window.
    fn place_of(&self, beginning: &str) -> Option<f64> {
        let root = self.conversation.widget();
        let mut found = None;
        walk(root, &mut |widget| {
            let text = match widget.downcast_ref::<gtk::Label>() {
                Some(label) => label.text().to_string(),
                None => return,
            };
            if text.starts_with(beginning) && widget.is_mapped() {
                found = widget.translate_coordinates(root, 0.0, 0.0).map(|(_, y)| y);
            }
        });
        found
    }
}

/// Runs the main loop until this holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let context = glib::MainContext::default();
    let deadline = Instant::now() + Duration::from_secs(20);
    let bell = glib::timeout_add_local(Duration::from_millis(20), || glib::ControlFlow::Continue);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        context.iteration(true);
    }
    bell.remove();
}

fn walk(widget: &gtk::Widget, visit: &mut dyn FnMut(&gtk::Widget)) {
    visit(widget);
    let mut child = widget.first_child();
    while let Some(inner) = child {
        walk(&inner, visit);
        child = inner.next_sibling();
    }
}

fn fid() -> Fid {
    Fid::new("2026-01-15-14-30-45")
}

fn snapshot(messages: Vec<Message>, more: bool) -> Snapshot {
    let now = jiff::Timestamp::now();
    Snapshot {
        session: SessionPlaceholder {
            fid: fid(),
            title: String::new(),
            agent: "just-ask".to_owned(),
            model: None,
            thinking: Thinking::Habit,
            options: Options::default(),
            status: Status::Idle,
            unread: false,
            trouble: None,
            created: now,
            updated: now,
            in_use: false,
        },
        messages: messages.into_iter().map(Arc::new).collect(),
        more,
        queue: Vec::new(),
        stage: Stage::Idle,
        seq: 0,
    }
}

fn reply() -> Message {
    Message::reply(None, ModelRef::new("here", "model"))
}

fn added(message: MessageId, start: usize, text: &str) -> Event {
    Event::TextAdded {
        fid: fid(),
        seq: 1,
        message,
        part: 0,
        kind: TextKind::Text,
        range: start..start + text.len(),
        text: text.to_owned(),
    }
}

fn chat(count: usize) -> Vec<Message> {
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

#[gtk::test]
fn a_streamed_reply_looks_like_the_same_reply_stored() {
    let scene = Scene::new();
    scene.conversation.show(&snapshot(vec![Message::text(Role::Assistant, None, TEXT)], false));
    scene.settle();
    // Below a finished reply stand its details, which a growing one has not.
    let stored: Vec<String> = scene.texts().into_iter().filter(|text| !text.is_empty()).collect();

    let growing = reply();
    let id = growing.id;
    scene.conversation.show(&snapshot(vec![growing.clone()], false));
    let mut at = 0;
    for (index, letter) in TEXT.char_indices() {
        let end = index + letter.len_utf8();
        if end - at >= 7 || end == TEXT.len() {
            scene.conversation.apply(&[added(id, at, &TEXT[at..end])]);
            at = end;
            scene.settle();
        }
    }
    let streamed: Vec<String> = scene.texts().into_iter().filter(|text| !text.is_empty()).collect();
    assert_eq!(streamed, stored);
    assert_eq!(scene.conversation.last_reply().as_deref(), Some(TEXT));
}

#[gtk::test]
fn no_text_is_ever_taken_for_markup() {
    let scene = Scene::new();
    let nasty = "<b>bold</b> &lt; <span foreground='red'>red</span> </b>";
    let table =
        format!("{nasty}\n\n| {nasty} | [{nasty}](https://a.b/?q=<b>&c) |\n|---|---|\n| x | y |\n");
    let mut failed = reply();
    failed.parts = vec![chat_core::message::Part::Text(table)];
    failed.ended = Some(Ending::Failed);
    failed.error = Some(Error::new(Kind::ServerFailed).with_detail(nasty));
    scene.conversation.show(&snapshot(vec![Message::text(Role::User, None, nasty), failed], false));
    scene.settle();
    let texts = scene.texts();
    let literal = texts.iter().filter(|text| text.contains("<b>bold</b> &lt; <span")).count();
    assert_eq!(literal, 1, "the message as it is: {texts:#?}");
    // Markdown knows entities and raw HTML; the tags stay readable in prose and in cells.
    let shown =
        texts.iter().filter(|text| text.contains("<b>bold</b> < <span foreground='red'>")).count();
    assert_eq!(shown, 3, "prose and both cells: {texts:#?}");
}

#[gtk::test]
fn the_end_stays_in_sight_until_the_reader_leaves_it() {
    let scene = Scene::new();
    let growing = reply();
    let id = growing.id;
    let mut messages = chat(30);
    messages.push(growing);
    scene.conversation.show(&snapshot(messages, false));
    scene.settle();
    assert!(scene.is_at_end(), "a chat opens at its end");
    let mut at = 0;
    let mut grow = |scene: &Scene| {
        let text = "More text that takes a line of its own.\n\n";
        scene.conversation.apply(&[added(id, at, text)]);
        at += text.len();
        scene.settle();
    };
    for _ in 0..10 {
        grow(&scene);
        assert!(scene.is_at_end(), "the end stays in sight");
    }
    let adjustment = scene.adjustment();
    adjustment.set_value(adjustment.value() - 400.0);
    scene.settle();
    let before = scene.place_of("Message 28").expect("it is in sight");
    for _ in 0..10 {
        grow(&scene);
    }
    let after = scene.place_of("Message 28").expect("it is in sight");
    assert!((before - after).abs() <= 1.0, "what is read moved from {before} to {after}");
    assert!(!scene.is_at_end());
    assert!(scene.texts().contains(&"New Text".to_owned()));
    scene.conversation.go_to_end();
    scene.settle();
    assert!(scene.is_at_end());
}

#[gtk::test]
fn earlier_messages_come_without_a_jump() {
    let scene = Scene::new();
    let mut messages = chat(120);
    let later = messages.split_off(60);
    let first = later[0].id;
    scene.conversation.show(&snapshot(later, true));
    scene.settle();
    assert!(!scene.told.borrow().contains(&Output::NeedEarlier { before: first }));
    until("earlier messages are asked for", || {
        let adjustment = scene.adjustment();
        adjustment.set_value(adjustment.value() - 300.0);
        scene.settle();
        scene.told.borrow().contains(&Output::NeedEarlier { before: first })
    });
    scene.settle();
    let known = (60..120).step_by(2).map(|index| format!("Message {index}\n"));
    let (name, before) = known
        .filter_map(|name| scene.place_of(&name).map(|y| (name, y)))
        .find(|(_, y)| (0.0..600.0).contains(y))
        .expect("some message is in sight");
    let page = Page { messages: messages.into_iter().map(Arc::new).collect(), more: false };
    scene.conversation.prepend(&page);
    scene.settle();
    scene.settle();
    let after = scene.place_of(&name).expect("it is in sight");
    assert!((before - after).abs() <= 1.0, "{name} moved from {before} to {after}");
}

#[gtk::test]
fn only_what_is_near_the_sight_has_widgets() {
    let scene = Scene::new();
    scene.conversation.show(&snapshot(chat(2_000), false));
    scene.settle();
    let count = |scene: &Scene| scene.texts().len();
    assert!(count(&scene) < 200, "{}", count(&scene));
    let adjustment = scene.adjustment();
    for _ in 0..40 {
        adjustment.set_value(adjustment.value() - 500.0);
        scene.settle();
    }
    assert!(count(&scene) < 200, "{}", count(&scene));
    // Also in one message.
    let long = "A paragraph of a very long reply.\n\n```\ncode\n```\n\n".repeat(2_000);
    scene.conversation.show(&snapshot(vec![Message::text(Role::Assistant, None, long)], false));
    scene.settle();
    assert!(count(&scene) < 400, "{}", count(&scene));
}

/// How often the main loop turns in two seconds, the end of these included.
fn turns_in_two_seconds() -> usize {
    let over = Rc::new(RefCell::new(false));
    let ring = Rc::clone(&over);
    glib::timeout_add_local_once(Duration::from_secs(2), move || *ring.borrow_mut() = true);
    let context = glib::MainContext::default();
    let mut turns = 0;
    while !*over.borrow() {
        context.iteration(true);
        turns += 1;
    }
    turns
}

#[gtk::test]
fn an_idle_conversation_wakes_nobody() {
    let scene = Scene::new();
    scene.conversation.show(&snapshot(chat(20), false));
    scene.settle();
    // A caret blinks for ten seconds where the focus is; in the window it is in the composer.
    gtk::prelude::GtkWindowExt::set_focus(&scene.window, gtk::Widget::NONE);
    // Languages are loaded when idle, and GTK fades its scrollbar out: that ends after a while,
    // sooner or later as the machine is busy. A waker of ours would never end.
    let end = Instant::now() + Duration::from_mins(1);
    let mut turns = turns_in_two_seconds();
    while turns > 3 && Instant::now() < end {
        turns = turns_in_two_seconds();
    }
    assert!(turns <= 3, "the main loop turned {turns} times in two idle seconds");
}
