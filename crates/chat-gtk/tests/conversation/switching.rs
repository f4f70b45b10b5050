//! Another version of a message is shown: what is seen of the message stays where it is, and so does the keyboard.

use chat_core::message::{Message, MessageId, Role};
use chat_gtk::conversation::{Output, Side};
use gtk::prelude::*;

use crate::scene::{Scene, chat, snapshot, until, walk};

impl Scene {
    /// The button with this name, if it is among those near the sight.
    fn arrow(&self, name: &str) -> Option<gtk::Button> {
        let mut found = None;
        walk(self.conversation.widget(), &mut |widget| {
            let button = widget.downcast_ref::<gtk::Button>();
            if let Some(button) = button.filter(|it| it.tooltip_text().as_deref() == Some(name)) {
                found = found.take().or_else(|| button.is_mapped().then(|| button.clone()));
            }
        });
        found
    }

    /// Where the button with this name stands in the window.
    fn place_of_arrow(&self, name: &str) -> Option<f64> {
        let arrow = self.arrow(name)?;
        arrow.translate_coordinates(self.conversation.widget(), 0.0, 0.0).map(|(_, y)| y)
    }

    /// Scrolls up until what this finds stands about so far below the top.
    fn scroll(&self, find: impl Fn(&Self) -> Option<f64>, below: f64) {
        let adjustment = self.adjustment();
        until("the place", || {
            let by = find(self).map_or(-300.0, |at| at - below);
            adjustment.set_value(adjustment.value() + by);
            self.settle();
            find(self).is_some_and(|at| (at - below).abs() < 5.0)
        });
        self.settle();
    }

    /// Presses a button by keyboard, and has the conversation wait for the version that it asks for.
    fn press_by_keyboard(&self, name: &str) {
        let arrow = self.arrow(name).expect("an arrow");
        arrow.grab_focus();
        self.told.borrow_mut().clear();
        arrow.emit_clicked();
        let told = self.told.borrow().clone();
        let [Output::ShowBranch { message, keyboard }] = told[..] else { panic!("{told:?}") };
        assert!(keyboard.is_some());
        self.conversation.switch_version(message, keyboard);
    }

    fn keyboard_is_on(&self, name: &str) -> bool {
        self.arrow(name).is_some_and(|arrow| arrow.is_focus())
    }
}

fn said(text: &str) -> Message {
    Message::text(Role::User, None, text)
}

/// Nothing moved by more than a pixel.
#[track_caller]
fn close(one: Option<f64>, other: Option<f64>) {
    let (Some(one), Some(other)) = (one, other) else { panic!("{one:?} {other:?}") };
    assert!((one - other).abs() <= 1.0, "moved from {one} to {other}");
}

/// Where the first text of a reply is that begins so, from the top of the conversation.
fn top_of_text(scene: &Scene, beginning: &str) -> Option<f64> {
    let mut tops = Vec::new();
    walk(scene.conversation.widget(), &mut |widget| {
        let Some(view) = widget.downcast_ref::<gtk::TextView>() else { return };
        let buffer = view.buffer();
        if buffer.text(&buffer.start_iter(), &buffer.end_iter(), true).starts_with(beginning) {
            let place = view.translate_coordinates(scene.conversation.widget(), 0.0, 0.0);
            tops.extend(place.map(|(_, y)| y));
        }
    });
    tops.into_iter().reduce(f64::min)
}

/// Two branches that go on differently from a message of the user's, with so many messages before it and behind
/// it in either.
fn branches(before: usize, behind: usize) -> ([Vec<Message>; 2], Vec<Vec<MessageId>>) {
    let common = chat(before);
    let versions = [said("Version one"), said("Version two")];
    let group = versions.iter().map(|message| message.id).collect();
    let branches = versions.map(|version| {
        let mut branch = common.clone();
        branch.push(version);
        branch.extend(chat(behind + 1).into_iter().skip(1));
        branch
    });
    (branches, vec![group])
}

#[gtk::test]
fn a_message_far_up_stays_where_it_is_and_its_button_keeps_the_keyboard() {
    let scene = Scene::new();
    let ([one, two], siblings) = branches(20, 21);
    scene.conversation.show(&snapshot(one.clone(), false));
    scene.conversation.set_siblings(&siblings);
    scene.scroll(|scene| scene.place_of("Version one"), 200.0);
    let place = scene.place_of("Version one");
    scene.press_by_keyboard("Next Version");
    assert_eq!(scene.conversation.below_switch(), 22);
    assert!(scene.conversation.renew(&snapshot(two.clone(), false)));
    scene.settle();
    close(place, scene.place_of("Version two"));
    assert!(scene.keyboard_is_on("Previous Version"), "the last one has no next one");
    scene.press_by_keyboard("Previous Version");
    assert!(scene.conversation.renew(&snapshot(one, false)));
    scene.settle();
    close(place, scene.place_of("Version one"));
    assert!(scene.keyboard_is_on("Next Version"));
    // With the mouse it stays there, too: then the keyboard is in the message that is being written.
    gtk::prelude::GtkWindowExt::set_focus(&scene.window, gtk::Widget::NONE);
    scene.conversation.switch_version(siblings[0][1], None);
    assert!(scene.conversation.renew(&snapshot(two, false)));
    scene.settle();
    close(place, scene.place_of("Version two"));
}

#[gtk::test]
fn so_does_one_with_nothing_before_it_that_both_versions_have() {
    let scene = Scene::new();
    let ([one, two], siblings) = branches(0, 40);
    scene.conversation.show(&snapshot(one, false));
    scene.conversation.set_siblings(&siblings);
    scene.scroll(|scene| scene.place_of("Version one"), 10.0);
    let place = scene.place_of("Version one");
    scene.press_by_keyboard("Next Version");
    let cut = snapshot(two[20..].to_vec(), true);
    assert!(scene.conversation.begins_after_version(&cut));
    let whole = snapshot(two, false);
    assert!(!scene.conversation.begins_after_version(&whole));
    assert!(!scene.conversation.renew(&whole), "they have nothing in common");
    scene.conversation.show(&whole);
    scene.settle();
    close(place, scene.place_of("Version two"));
    assert!(scene.keyboard_is_on("Previous Version"));
}

#[gtk::test]
fn of_a_reply_that_begins_above_what_is_seen_the_button_stays_where_it_is() {
    let scene = Scene::new();
    let question = said("What is it?");
    let long = "A paragraph of some length.\n\n".repeat(60);
    let replies = [long.as_str(), "It is short."]
        .map(|text| Message::text(Role::Assistant, None, text.to_owned()));
    let siblings = vec![replies.iter().map(|reply| reply.id).collect::<Vec<_>>()];
    let before = chat(20);
    let [one, two] = replies.map(|reply| {
        let mut branch = before.clone();
        branch.extend([question.clone(), reply]);
        branch.extend(chat(20));
        snapshot(branch, false)
    });
    scene.conversation.show(&one);
    scene.conversation.set_siblings(&siblings);
    scene.scroll(|scene| scene.place_of_arrow("Next Reply"), 400.0);
    let place = scene.place_of_arrow("Next Reply");
    scene.press_by_keyboard("Next Reply");
    assert!(scene.conversation.renew(&two));
    scene.settle();
    close(place, scene.place_of_arrow("Previous Reply"));
    assert!(scene.keyboard_is_on("Previous Reply"));
    // The short one begins in sight: so does the long one, and its button has the keyboard out of sight.
    let top = top_of_text(&scene, "It is short.");
    scene.press_by_keyboard("Previous Reply");
    assert!(scene.conversation.renew(&one));
    scene.settle();
    let first = top_of_text(&scene, "A paragraph");
    close(first.map(f64::round), top.map(f64::round));
    until("the keyboard on the button", || scene.keyboard_is_on("Next Reply"));
}

#[gtk::test]
fn a_button_out_of_sight_keeps_the_keyboard_while_another_window_is_active() {
    let scene = Scene::new();
    let ([one, _], siblings) = branches(20, 21);
    scene.conversation.show(&snapshot(one, false));
    scene.conversation.set_siblings(&siblings);
    scene.scroll(|scene| scene.place_of("Version one"), 200.0);
    let arrow = scene.arrow("Next Version").expect("an arrow");
    arrow.grab_focus();
    let other = gtk::Window::builder().default_width(2000).default_height(2000).build();
    other.present();
    until("the other window is active", || !scene.window.is_active());
    let adjustment = scene.adjustment();
    adjustment.set_value(adjustment.value() + 2.0 * adjustment.page_size());
    scene.settle();
    assert!(arrow.is_mapped());
    assert_eq!(gtk::prelude::GtkWindowExt::focus(&scene.window), Some(arrow.upcast()));
}

#[gtk::test]
fn a_version_that_is_not_shown_after_all_moves_nothing() {
    let scene = Scene::new();
    let ([one, _], siblings) = branches(20, 21);
    scene.conversation.show(&snapshot(one.clone(), false));
    scene.conversation.set_siblings(&siblings);
    scene.scroll(|scene| scene.place_of("Version one"), 200.0);
    let place = scene.place_of("Version one");
    scene.conversation.switch_version(siblings[0][1], Some(Side::Behind));
    assert!(scene.conversation.give_up_switch(), "the keyboard is with nothing");
    assert_eq!(scene.conversation.below_switch(), 0);
    assert!(scene.conversation.renew(&snapshot(one, false)));
    scene.settle();
    close(place, scene.place_of("Version one"));
}
