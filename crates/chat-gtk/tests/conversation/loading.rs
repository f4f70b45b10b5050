//! What is read again or comes late: what is read stays where it is, and nothing is left out.

use std::sync::Arc;

use chat_core::event::Stage;
use chat_core::message::{Message, MessageId, Part, Role};
use chat_core::store::Page;
use chat_gtk::conversation::Output;
use chat_presentation::diagnostics::thread_cpu;
use gtk::prelude::*;

use crate::scene::{Scene, added, chat, reply, snapshot, until};

impl Scene {
    fn asked(&self, before: MessageId) -> usize {
        let wanted = Output::NeedEarlier { before };
        self.told.borrow().iter().filter(|told| **told == wanted).count()
    }

    /// Scrolls up until the messages before this one are asked for.
    fn go_up(&self, before: MessageId) {
        let adjustment = self.adjustment();
        until("earlier messages are asked for", || {
            adjustment.set_value(adjustment.value() - 300.0);
            self.settle();
            self.asked(before) > 0
        });
        self.settle();
    }

    fn has(&self, beginning: &str) -> bool {
        self.texts().iter().any(|text| text.starts_with(beginning))
    }
}

fn page(messages: &[Message], more: bool) -> Page {
    Page { messages: messages.iter().cloned().map(Arc::new).collect(), more }
}

#[gtk::test]
fn a_chat_that_is_read_again_keeps_the_readers_place_and_shows_what_came() {
    let scene = Scene::new();
    let mut messages = chat(120);
    let first = messages[70].id;
    scene.conversation.show(&snapshot(messages[70..].to_vec(), true));
    scene.settle();
    scene.go_up(first);
    scene.conversation.prepend(first, &page(&messages[..70], false));
    scene.settle();
    scene.conversation.find("Message 60");
    let before =
        |scene: &Scene| scene.place_of("Message 60\n").filter(|y| (0.0..600.0).contains(y));
    until("the place is found", || before(&scene).is_some());
    scene.settle();
    let place = before(&scene).expect("it is in sight");

    let mut growing = reply();
    messages.push(Message::text(Role::User, None, "Said in another program"));
    let mut text = String::new();
    for step in 0..10 {
        text += &["Line ", &step.to_string(), " of the other program.\n\n"].concat();
        growing.parts = vec![Part::Text(text.clone())];
        let mut end = messages[messages.len() - 49..].to_vec();
        end.push(growing.clone());
        let mut anew = snapshot(end, true);
        anew.stage = Stage::Streaming;
        scene.told.borrow_mut().clear();
        assert!(scene.conversation.renew(&anew));
        scene.settle();
        let now = before(&scene).expect("it stays in sight");
        assert!((now - place).abs() <= 1.0, "moved from {place} to {now}");
        assert_eq!(scene.conversation.last_reply().as_deref(), Some(text.as_str()));
        let found =
            |told: &Output| matches!(told, Output::SearchStatus(at) if at.current != Some(1));
        assert!(!scene.told.borrow().iter().any(found), "the search begins anew");
    }
    assert!(scene.has("New Text"), "the reader is told that there is more");
    scene.conversation.go_to_end();
    scene.settle();
    assert!(scene.has("Line 0 of the other program.\nLine 1"), "{:?}", scene.texts());
    assert!(scene.has("Said in another program"));
    // What streams on in this program goes on from there.
    scene.conversation.apply(&[added(growing.id, text.len(), "And the end.")]);
    scene.settle();
    assert!(scene.texts().iter().any(|text| text.ends_with("And the end.")));
}

#[gtk::test]
fn who_follows_the_end_goes_on_following_it_when_the_chat_is_read_again() {
    let scene = Scene::new();
    let mut messages = chat(30);
    scene.conversation.show(&snapshot(messages.clone(), false));
    scene.settle();
    for step in 0..5 {
        messages.push(Message::text(Role::Assistant, None, format!("Answer {step}")));
        assert!(scene.conversation.renew(&snapshot(messages.clone(), false)));
        scene.settle();
        assert!(scene.is_at_end());
        assert!(scene.texts().iter().any(|text| *text == format!("Answer {step}")));
    }
}

#[gtk::test]
fn a_branch_that_became_shorter_ends_where_it_ends_and_begins_where_it_began() {
    let scene = Scene::new();
    let messages = chat(40);
    let first = messages[10].id;
    scene.conversation.show(&snapshot(messages[10..].to_vec(), true));
    scene.settle();
    // The last four are gone: the end that is read begins four earlier.
    assert!(scene.conversation.renew(&snapshot(messages[6..36].to_vec(), true)));
    scene.settle();
    assert!(!scene.has("Message 36") && !scene.has("Message 39"));
    assert!(scene.has("Message 35"));
    assert!(scene.is_at_end());
    scene.go_up(messages[6].id);
    assert!(scene.has("Message 6\n") && scene.has("Message 10\n"));
    assert_eq!(scene.asked(first), 0);
    // Another chat, and one that goes on elsewhere, do not go on from here.
    assert!(!scene.conversation.renew(&snapshot(chat(3), false)));
}

#[gtk::test]
fn a_page_that_comes_late_leaves_no_gap() {
    let scene = Scene::new();
    let messages = chat(120);
    let (old, first) = (messages[40].id, messages[80].id);
    scene.conversation.show(&snapshot(messages[80..].to_vec(), true));
    scene.settle();
    scene.go_up(first);
    scene.conversation.prepend(first, &page(&messages[40..80], true));
    scene.settle();
    scene.go_up(old);
    // Another chat and back, while the page is on its way.
    scene.conversation.clear();
    scene.conversation.show(&snapshot(messages[80..].to_vec(), true));
    scene.settle();
    scene.conversation.prepend(old, &page(&messages[..40], false));
    scene.told.borrow_mut().clear();
    scene.go_up(first);
    assert!(scene.conversation.text_of(messages[39].id).is_none(), "there is a gap");
    scene.conversation.prepend(first, &page(&messages[40..80], true));
    scene.settle();
    assert!(scene.conversation.text_of(messages[40].id).is_some());
}

#[gtk::test]
fn a_page_that_could_not_be_had_is_asked_for_again_once_the_reader_moves() {
    let scene = Scene::new();
    let messages = chat(120);
    let first = messages[60].id;
    scene.conversation.show(&snapshot(messages[60..].to_vec(), true));
    scene.settle();
    scene.go_up(first);
    let adjustment = scene.adjustment();
    adjustment.set_value(300.0);
    scene.settle();
    scene.conversation.earlier_failed(first);
    scene.settle();
    scene.settle();
    assert_eq!(scene.asked(first), 1, "not at once");
    adjustment.set_value(adjustment.value() - 20.0);
    until("it is asked for again", || scene.asked(first) == 2);
    scene.conversation.prepend(first, &page(&messages[..60], false));
    assert!(scene.conversation.text_of(messages[0].id).is_some());
}

#[gtk::test]
fn only_what_is_near_the_sight_is_read_and_the_rest_comes_without_a_jump() {
    let scene = Scene::new();
    // Text that was read has no bounds of its own; the CPU time of opening tells.
    let long = "A paragraph with **bold** words and `code` of some length.\n\n".repeat(1_700);
    let message = |index: usize| {
        Message::text(Role::Assistant, None, format!("Message {index} begins.\n\n{long}"))
    };
    let messages: Vec<Message> = (0..50).map(message).collect();
    let open = |messages: &[Message]| {
        let begun = thread_cpu();
        scene.conversation.show(&snapshot(messages.to_vec(), false));
        thread_cpu().saturating_sub(begun)
    };
    // The first time fills caches.
    open(&messages[49..]);
    let all = open(&messages);
    let one = open(&messages[49..]);
    assert!(all < one * 8, "opening fifty takes {all:?}, one {one:?}");
    open(&messages[40..]);
    scene.settle();
    assert!(scene.is_at_end());
    // Those above are read when they are looked through or scrolled to.
    scene.conversation.find("message 40 begins");
    let is_found =
        |told: &Output| matches!(told, Output::SearchStatus(at) if at.current == Some(1));
    until("the first message is found", || scene.told.borrow().iter().any(is_found));
    until("it is shown", || scene.has("Message 40 begins."));
}
