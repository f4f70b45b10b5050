//! Finding words in a conversation: what is counted, where the view goes, what stays where it is.

use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{Ending, Message, ModelRef, Part, Role};
use chat_core::store::Page;
use chat_gtk::conversation::{Output, SearchStatus};
use gtk::prelude::*;

use crate::reports::report;
use crate::scene::{Scene, added, chat, reply, snapshot, until, walk};

impl Scene {
    /// Looks for words and waits until all that is loaded was read.
    fn find(&self, words: &str) -> SearchStatus {
        self.told.borrow_mut().clear();
        self.conversation.find(words);
        self.status("the search to end", |status| !status.searching)
    }

    fn next(&self, forward: bool, current: usize) -> SearchStatus {
        self.conversation.find_next(forward);
        self.status("the next place", |status| status.current == Some(current))
    }

    /// Waits until what was told last fulfils a condition, and the view is drawn.
    fn status(&self, what: &str, holds: impl Fn(SearchStatus) -> bool) -> SearchStatus {
        let last = || {
            self.told.borrow().iter().rev().find_map(|told| match told {
                Output::SearchStatus(status) => Some(*status),
                _ => None,
            })
        };
        until(what, || last().is_some_and(&holds));
        self.settle();
        last().expect("it was told")
    }

    /// Where marked words stand in the window: their text, whether they are the current place, and
    /// their top.
    fn marked(&self) -> Vec<(String, bool, f64)> {
        let root = self.conversation.widget();
        let mut out = Vec::new();
        walk(root, &mut |widget| {
            if let Some(view) = widget.downcast_ref::<gtk::TextView>() {
                let buffer = view.buffer();
                for name in ["found", "found-current"] {
                    let Some(tag) = buffer.tag_table().lookup(name) else { continue };
                    let mut at = buffer.start_iter();
                    while at.starts_tag(Some(&tag)) || at.forward_to_tag_toggle(Some(&tag)) {
                        let start = at;
                        if !at.forward_to_tag_toggle(Some(&tag)) && !at.is_end() {
                            break;
                        }
                        let place = view.iter_location(&start);
                        let (x, y) = view.buffer_to_window_coords(
                            gtk::TextWindowType::Widget,
                            place.x(),
                            place.y(),
                        );
                        let y = view
                            .translate_coordinates(root, f64::from(x), f64::from(y))
                            .map_or(f64::NAN, |(_, y)| y);
                        let text = buffer.text(&start, &at, true).to_string();
                        out.push((text, name == "found-current", y));
                    }
                }
            } else if let Some(label) = widget.downcast_ref::<gtk::Label>() {
                let Some(attributes) = label.attributes() else { return };
                let all = attributes.attributes();
                for ground in &all {
                    if ground.type_() != gtk::pango::AttrType::Background {
                        continue;
                    }
                    let place = label.layout().index_to_pos(ground.start_index() as i32);
                    let y = label.layout_offsets().1 + place.y() / gtk::pango::SCALE;
                    let y = widget
                        .translate_coordinates(root, 0.0, f64::from(y))
                        .map_or(f64::NAN, |(_, y)| y);
                    let range = ground.start_index() as usize..ground.end_index() as usize;
                    let current = all.iter().any(|other| {
                        other.type_() == gtk::pango::AttrType::Foreground
                            && other.start_index() == ground.start_index()
                    });
                    out.push((label.text()[range].to_owned(), current, y));
                }
            }
        });
        out
    }

    /// The words of the current place, which must be one and come into sight.
    fn current(&self) -> String {
        let current = || {
            let mut marked: Vec<_> =
                self.marked().into_iter().filter(|(_, current, _)| *current).collect();
            let one = marked.pop();
            assert!(marked.is_empty(), "one current place: {one:?}, {marked:?}");
            one
        };
        until("the current place comes into sight", || {
            let height = f64::from(self.conversation.widget().height());
            current().is_some_and(|(_, _, y)| (0.0..height - 10.0).contains(&y))
        });
        current().expect("a current place").0
    }
}

fn answer(text: &str) -> Message {
    Message::text(Role::Assistant, None, text)
}

#[gtk::test]
fn words_are_found_as_they_are_shown_in_all_that_was_said() {
    let scene = Scene::new();
    let mut thinking = Message::reply(None, ModelRef::new("here", "model"));
    let lines = "needles come later\n".repeat(60);
    thinking.parts = vec![
        Part::Thinking {
            text: format!("{lines}one NEEDLE"),
            took: Some(Duration::from_secs(1)),
            provider: None,
        },
        Part::Text(
            "Prose with **nee**dle, and `needle`.\n\n```rust\nlet needle = 1;\n```\n\n\
             | a | b |\n|---|---|\n| x | a [needle](https://example.org/needle) |\n"
                .to_owned(),
        ),
    ];
    thinking.ended = Some(Ending::Complete);
    let said = Message::text(Role::User, None, "Where is the Nèedle?");
    scene.conversation.show(&snapshot(vec![said, thinking, answer("Nothing.")], false));
    scene.settle();
    assert_eq!(scene.find("needle").total, 66);
    // Markers and addresses are not shown.
    assert_eq!(scene.find("**nee").total, 0);
    assert_eq!(scene.find("example.org").total, 0);
    let status = scene.find("needle");
    let mut at = status.current.expect("a current place");
    let mut texts = vec![scene.current()];
    for _ in 1..66 {
        at = at % 66 + 1;
        scene.next(true, at);
        texts.push(scene.current());
    }
    texts.retain(|text| text != "needle");
    texts.sort();
    assert_eq!(texts, ["NEEDLE", "Nèedle"], "every other one is in small letters");
    scene.next(false, if at == 1 { 66 } else { at - 1 });
    scene.conversation.find("");
    scene.settle();
    assert_eq!(scene.marked(), [], "nothing stays marked");
}

#[gtk::test]
fn the_next_place_is_brought_into_sight_though_its_row_does_not_exist_yet() {
    let scene = Scene::new();
    let mut messages = chat(2_000);
    messages[3] = answer("A far needle.");
    messages[1_001] = answer(&format!("{}\n\nthe middle needle", "Some words.\n\n".repeat(400)));
    messages[1_997] = answer("A near needle.");
    scene.conversation.show(&snapshot(messages, false));
    scene.settle();
    let status = scene.find("needle");
    assert_eq!((status.current, status.total), (Some(3), 3), "the nearest one first");
    for current in [2, 1, 3, 2] {
        scene.next(false, current);
        assert_eq!(scene.current(), "needle");
    }
    assert!(scene.texts().len() < 300, "rows far away have no widgets");
}

#[gtk::test]
fn what_arrives_is_found_and_what_is_read_stays_where_it_is() {
    let scene = Scene::new();
    let growing = reply();
    let id = growing.id;
    let mut messages = chat(60);
    messages[21] = answer("The first needle.");
    messages.push(growing);
    scene.conversation.show(&snapshot(messages, false));
    scene.settle();
    assert_eq!(scene.find("needle").current, Some(1));
    let adjustment = scene.adjustment();
    let place = |scene: &Scene| scene.marked().into_iter().find(|(_, current, _)| *current);
    let before = place(&scene).expect("the current place");
    let mut at = 0;
    for total in 2..12 {
        for text in ["Text with a nee", "dle in it.\n\n"] {
            scene.conversation.apply(&[added(id, at, text)]);
            at += text.len();
        }
        let status = scene.status("the new place", |status| status.total == total);
        assert_eq!(status.current, Some(1));
        let now = place(&scene).expect("the current place");
        assert!((now.2 - before.2).abs() <= 1.0, "moved from {before:?} to {now:?}");
    }
    // The reader scrolls away: more that is found does not bring them back.
    adjustment.set_value(adjustment.value() + 300.0);
    scene.settle();
    let value = adjustment.value();
    scene.conversation.apply(&[added(id, at, "Another needle.\n\n")]);
    scene.status("the new place", |status| status.total == 12);
    assert!((adjustment.value() - value).abs() <= 1.0);
}

#[gtk::test]
fn earlier_messages_are_asked_for_until_all_were_read() {
    let scene = Scene::new();
    let mut messages = chat(120);
    messages[5] = answer("The only needle.");
    let wanted = messages[5].id;
    let later = messages.split_off(80);
    let middle = messages.split_off(40);
    let (first, second) = (later[0].id, middle[0].id);
    scene.conversation.show(&snapshot(later, true));
    scene.settle();
    scene.conversation.find_in("needle", wanted);
    let asked = |before| scene.told.borrow().contains(&Output::NeedEarlier { before });
    until("the second page is asked for", || asked(first));
    let page = |messages: Vec<Message>, more| Page {
        messages: messages.into_iter().map(Arc::new).collect(),
        more,
    };
    scene.conversation.prepend(first, &page(middle, true));
    until("the first page is asked for", || asked(second));
    assert_eq!(scene.status("news", |_| true).total, 0);
    scene.conversation.prepend(second, &page(messages, false));
    let status = scene.status("the place", |status| !status.searching);
    assert_eq!((status.current, status.total), (Some(1), 1));
    assert_eq!(scene.current(), "needle");
}

#[gtk::test]
fn a_long_message_is_shown_whole_where_the_place_is_in_what_was_left_out() {
    let scene = Scene::new();
    let long = format!("{}the needle", "A line of the person's.\n".repeat(800));
    scene
        .conversation
        .show(&snapshot(vec![Message::text(Role::User, None, long), answer("Yes.")], false));
    scene.settle();
    assert_eq!(scene.find("needle").current, Some(1));
    assert_eq!(scene.current(), "needle");
}

#[gtk::test]
fn words_below_a_report_are_found_and_those_of_the_report_are_not_counted() {
    let scene = Scene::new();
    let mut message = Message::text(Role::User, None, "It is here, too");
    message.parts.insert(0, Part::FromAgent(report()));
    scene.conversation.show(&snapshot(vec![message], false));
    scene.settle();
    let status = scene.find("it is");
    assert_eq!((status.current, status.total), (Some(1), 1));
    let marked = scene.marked();
    assert_eq!(marked.len(), 1, "{marked:?}");
    assert!(marked[0].0 == "It is" && marked[0].1, "{marked:?}");
}
