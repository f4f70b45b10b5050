//! What is drawn, what stays where it is, and what costs nothing.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::error::{Error, Kind};
use chat_core::message::{Ending, Message, Role};
use chat_core::store::Page;
use chat_gtk::conversation::Output;
use chat_presentation::diagnostics::thread_cpu;
use gtk::glib;
use gtk::prelude::*;

use crate::scene::{Scene, added, chat, reply, snapshot, until, walk};

const TEXT: &str = "# Head\n\nSome *text* with `code` and [a link](https://example.org/).\n\n- one\n- two\n  ```rust\n  fn \
a() {}\n  ```\n- three\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | <b>2</b> |\n\nEnd &amp; <i>all</i>.\n";

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
    scene.conversation.prepend(first, &page);
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

#[gtk::test]
fn no_frame_is_without_a_place_while_one_jumps_about_in_what_was_just_laid_out() {
    let scene = Scene::new();
    let growing = reply();
    let id = growing.id;
    let code =
        "let a_long_name = another_long_name_that_is_called(with, many, arguments);\n".repeat(150);
    let part = format!(
        "Some *prose* of [a link](https://a.b).\n\n```rust\n{code}```\n\n> quoted\n\n{TEXT}\n\n"
    );
    let mut messages = chat(20);
    messages.push(Message::text(Role::Assistant, None, part.repeat(6)));
    messages.push(growing);
    scene.conversation.show(&snapshot(messages, false));
    scene.settle();
    let adjustment = scene.adjustment();
    let mut at = 0;
    // Warnings end the test. See `Scene::new`.
    for step in 0..20 {
        let text = "More text, and `code`.\n\n```sh\nls\n```\n\n";
        scene.conversation.apply(&[added(id, at, text)]);
        at += text.len();
        let way = adjustment.upper() - adjustment.page_size();
        adjustment.set_value(way * f64::from(step * 7 % 20) / 20.0);
        scene.settle();
        if step % 7 == 0 {
            scene.conversation.go_to_end();
            scene.window.set_default_size(500 + step * 5, 600);
        }
    }
}

#[gtk::test]
fn the_buttons_below_the_last_reply_are_always_seen() {
    let scene = Scene::new();
    scene.conversation.show(&snapshot(chat(6), false));
    scene.settle();
    let mut always_seen = Vec::new();
    walk(scene.conversation.widget(), &mut |widget| {
        if widget.has_css_class("reply-footer") {
            always_seen.push(widget.has_css_class("last"));
        }
    });
    assert_eq!(always_seen, [false, false, true]);
}

#[gtk::test]
fn long_messages_beside_a_button_have_a_width_for_every_height() {
    // GTK warns where a widget needs more width at a great height than it said it needs, which ends the test.
    let scene = Scene::new();
    let text = |index: usize| {
        format!("Apple {index} {}", "and some more words that fill lines ".repeat(6))
    };
    let messages: Vec<_> = (0..160)
        .map(|index| {
            let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
            Message::text(role, None, text(index))
        })
        .collect();
    scene.conversation.show(&snapshot(messages, false));
    scene.conversation.set_project(true);
    for width in [380, 700, 1100] {
        scene.window.set_default_size(width, 600);
        scene.conversation.go_to_end();
        scene.settle();
        for _ in 0..40 {
            scene.conversation.scroll_pages(-1.0);
            scene.settle();
        }
    }
}

#[gtk::test]
fn a_long_paragraph_is_laid_out_within_a_frame_while_it_grows() {
    let scene = Scene::new();
    let growing = reply();
    scene.conversation.show(&snapshot(vec![growing.clone()], false));
    scene.settle();
    let clock = scene.window.frame_clock().expect("a clock");
    // GTK's own handlers come first: what lies between these is the layout.
    let (begun, layouts) = (Rc::new(Cell::new(Duration::ZERO)), Rc::new(RefCell::new(Vec::new())));
    let before = Rc::clone(&begun);
    clock.connect_update(move |_| before.set(thread_cpu()));
    let (before, all) = (Rc::clone(&begun), Rc::clone(&layouts));
    clock.connect_layout(move |_| all.borrow_mut().push(thread_cpu().saturating_sub(before.get())));
    let sentence = "The reader follows every word that appears, one after the other. ";
    let mut text = String::new();
    let mut longest = Vec::new();
    while text.len() + sentence.len() < 16_000 {
        let start = text.len();
        text.push_str(sentence);
        layouts.borrow_mut().clear();
        scene.conversation.apply(&[added(growing.id, start, sentence)]);
        scene.settle();
        if start > 14_000 {
            longest.extend(layouts.borrow().iter().max().copied());
        }
    }
    // The one in the middle: on a busy machine a single one may take twice as long.
    longest.sort_unstable();
    let usual = longest[longest.len() / 2];
    println!("the layout of one of the last {} sentences takes {usual:?}", longest.len());
    // A build without optimization needs 12 to 19 ms.
    let frame = Duration::from_millis(if cfg!(debug_assertions) { 32 } else { 16 });
    assert!(usual > Duration::ZERO && usual < frame, "{usual:?}");
}
