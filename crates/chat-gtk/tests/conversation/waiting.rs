//! Messages that wait keep their widgets, the keyboard and their order.

use chat_core::event::SessionEvent;
use chat_core::message::{Content, Context, Delivery, Message, MessageId, Queued, Role};
use chat_gtk::conversation::{Output, move_focused_waiting};
use gtk::prelude::*;

use crate::reports::{cards, report};
use crate::scene::{Scene, in_session, snapshot, walk};

/// A message that waits.
fn waiting(text: &str) -> Queued {
    let (id, context) = (MessageId::new(), Context::default());
    Queued { id, content: Content::text(text), context, delivery: Delivery::Queue }
}

impl Scene {
    /// A conversation in which these wait.
    fn with_waiting(queue: &[Queued]) -> Self {
        let scene = Self::new();
        scene.conversation.show(&snapshot(vec![Message::text(Role::User, None, "Look")], false));
        scene.wait(queue);
        scene
    }

    /// These wait now.
    fn wait(&self, queue: &[Queued]) {
        let event = SessionEvent::QueueChanged { queue: queue.to_vec() };
        self.conversation.apply(&[in_session(6, event)]);
        self.settle();
    }

    /// The widgets of the messages that wait, from the top.
    fn rows(&self) -> Vec<gtk::Widget> {
        let mut found = Vec::new();
        walk(self.conversation.widget(), &mut |widget| {
            if widget.has_css_class("queued") {
                found.push(widget.clone());
            }
        });
        found
    }

    fn focus(&self) -> Option<gtk::Widget> {
        GtkWindowExt::focus(&self.window)
    }
}

/// The button of a message with this hint.
fn button(row: &gtk::Widget, hint: &str) -> gtk::Button {
    let mut found = None;
    walk(row, &mut |widget| {
        if widget.tooltip_text().is_some_and(|text| text == hint) {
            found = widget.clone().downcast().ok();
        }
    });
    found.expect(hint)
}

#[gtk::test]
fn a_message_that_is_moved_keeps_its_widgets_and_the_keyboard() {
    let [a, b, c] = ["alpha", "beta", "gamma"].map(waiting);
    let scene = Scene::with_waiting(&[a.clone(), b.clone(), c.clone()]);
    let rows = scene.rows();
    let up = button(&rows[2], "Move Up (Alt+Up)");
    assert!(up.grab_focus());
    let moves = |before: Option<&Queued>| Output::MoveWaiting {
        id: c.id,
        before: before.map(|queued| queued.id),
    };
    let is_told = |output: &Output| scene.told.borrow().last() == Some(output);
    assert!(move_focused_waiting(&scene.window, true) && is_told(&moves(Some(&b))));

    scene.wait(&[a.clone(), c.clone(), b.clone()]);
    assert_eq!(scene.rows(), [&rows[0], &rows[2], &rows[1]].map(Clone::clone));
    assert_eq!(scene.focus(), Some(up.clone().upcast()));
    assert!(move_focused_waiting(&scene.window, true) && is_told(&moves(Some(&a))));
    // At the top the next button has the keyboard.
    scene.wait(&[c.clone(), a.clone(), b.clone()]);
    assert_eq!(scene.rows(), [&rows[2], &rows[0], &rows[1]].map(Clone::clone));
    let down = button(&rows[2], "Move Down (Alt+Down)");
    assert!(!up.is_sensitive());
    assert_eq!(scene.focus(), Some(down.upcast()));
    assert!(move_focused_waiting(&scene.window, false) && is_told(&moves(Some(&b))));
    // At the end the other arrow has it, not the button that removes the message.
    scene.wait(&[a.clone(), b.clone(), c.clone()]);
    assert_eq!(scene.focus(), Some(up.upcast()));
    // Alone there is no place to move to.
    scene.wait(std::slice::from_ref(&c));
    let remove = button(&rows[2], "Remove Message");
    assert_eq!(scene.focus(), Some(remove.upcast()));
}

#[gtk::test]
fn a_message_is_removed_from_its_place_and_the_keyboard_is_given_back() {
    let [a, b] = ["alpha", "beta"].map(waiting);
    let scene = Scene::with_waiting(&[a.clone(), b.clone()]);
    let remove = button(&scene.rows()[0], "Remove Message");
    assert!(remove.grab_focus());
    remove.emit_clicked();
    let removes = Output::RemoveWaiting { id: a.id, before: Some(b.id) };
    assert_eq!(scene.told.borrow().last(), Some(&removes));
    scene.wait(std::slice::from_ref(&b));
    assert!(scene.told.borrow().contains(&Output::KeyboardLost));
    assert!(scene.focus().is_none_or(|focus| focus.is_mapped()));
    // It is put back.
    scene.wait(&[a, b]);
    assert_eq!(scene.rows().len(), 2);
}

#[gtk::test]
fn a_report_that_is_open_stays_open_when_messages_come_and_go() {
    let content = Content::default().from_agent(report());
    let open = Queued { content, ..waiting("") };
    let scene = Scene::with_waiting(std::slice::from_ref(&open));
    let card = cards(&scene).pop().expect("the card");
    card.first_child().and_downcast::<gtk::Button>().expect("its line").emit_clicked();
    let mut first = waiting("One");
    for queue in [vec![first.clone(), open.clone()], vec![open], Vec::new()] {
        scene.wait(&queue);
        assert_eq!(card.is_mapped(), !queue.is_empty());
        assert!(queue.is_empty() || card.height() > 600, "{}", card.height());
    }
    // Another text has another widget.
    for text in ["One", "Two"] {
        first.content = Content::text(text);
        scene.wait(std::slice::from_ref(&first));
        assert!(scene.texts().iter().any(|shown| shown == text), "{:?}", scene.texts());
    }
}
