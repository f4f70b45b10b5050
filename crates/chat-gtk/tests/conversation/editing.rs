//! A person edits their message, and goes between its versions.

use chat_core::event::{SessionEvent, Stage};
use chat_core::message::{Attachment, Content, Message, MessageId, Role};
use chat_gtk::conversation::Output;
use gtk::prelude::*;

use crate::scene::{Scene, in_session, snapshot, until, walk};

/// A chat of one message, which is being edited.
fn editing(content: Content) -> (Scene, MessageId) {
    let scene = Scene::new();
    let asked = Message::text(Role::User, None, "Apples");
    let id = asked.id;
    scene.conversation.show(&snapshot(vec![asked], false));
    scene.settle();
    scene.conversation.edits().begin(id, content);
    until("the field", || field(&scene).is_some_and(|field| field.is_focus()));
    (scene, id)
}

/// The field in which a message is edited.
fn field(scene: &Scene) -> Option<gtk::TextView> {
    let mut found = None;
    walk(scene.conversation.widget(), &mut |widget| {
        let view = widget.downcast_ref::<gtk::TextView>().filter(|view| view.is_editable());
        found = found.take().or_else(|| view.cloned());
    });
    found
}

/// The button that has this label or tooltip, if it is seen.
fn button(scene: &Scene, name: &str) -> Option<gtk::Button> {
    let mut found = None;
    walk(scene.conversation.widget(), &mut |widget| {
        let Some(button) = widget.downcast_ref::<gtk::Button>() else { return };
        let is_named = |text: Option<gtk::glib::GString>| text.is_some_and(|text| text == name);
        if button.is_mapped() && (is_named(button.label()) || is_named(button.tooltip_text())) {
            found = Some(button.clone());
        }
    });
    found
}

fn press(scene: &Scene, name: &str) {
    button(scene, name).unwrap_or_else(|| panic!("{name}")).emit_clicked();
    scene.settle();
}

fn text(scene: &Scene) -> String {
    let buffer = field(scene).expect("the field").buffer();
    buffer.text(&buffer.start_iter(), &buffer.end_iter(), false).into()
}

#[gtk::test]
fn an_edit_that_is_cancelled_comes_back_and_can_be_reverted() {
    let (scene, message) = editing(Content::text("Apples"));
    assert!(button(&scene, "Revert").is_none(), "nothing was changed");
    field(&scene).expect("the field").buffer().insert_at_cursor(" and pears");
    assert!(scene.told.borrow().contains(&Output::EditChanged));
    assert_eq!(scene.conversation.edits().unsent().len(), 1);
    press(&scene, "Cancel");
    assert!(scene.told.borrow().contains(&Output::CancelEdit(message)));
    scene.conversation.edits().cancel(message);
    until("the message", || field(&scene).is_none());
    assert!(scene.conversation.edits().unsent().is_empty());
    scene.conversation.edits().begin(message, Content::text("Apples"));
    until("the field", || field(&scene).is_some_and(|field| field.is_focus()));
    assert_eq!(text(&scene), "Apples and pears");
    press(&scene, "Revert");
    assert_eq!(text(&scene), "Apples");
    assert!(field(&scene).expect("the field").is_focus());
    assert!(button(&scene, "Revert").is_none());
    field(&scene).expect("the field").buffer().undo();
    assert_eq!(text(&scene), "Apples and pears");
}

#[gtk::test]
fn who_removes_the_last_attachment_of_an_empty_message_cannot_send_it() {
    let file = Attachment::File { name: "a.txt".to_owned(), text: "a".to_owned() };
    let content = Content { attachments: vec![file], ..Content::text("") };
    let (scene, _) = editing(content);
    assert!(button(&scene, "Send").expect("a button").is_sensitive());
    button(&scene, "Remove").expect("a chip").grab_focus();
    press(&scene, "Remove");
    assert!(button(&scene, "Remove").is_none());
    assert!(!button(&scene, "Send").expect("a button").is_sensitive());
    assert!(field(&scene).expect("the field").is_focus());
    press(&scene, "Revert");
    assert!(button(&scene, "Remove").is_some(), "it is attached again");
}

#[gtk::test]
fn no_other_version_is_offered_while_a_reply_is_written() {
    let scene = Scene::new();
    let (asked, reply) =
        (Message::text(Role::User, None, "Apples"), Message::text(Role::Assistant, None, "Yes"));
    let id = asked.id;
    scene.conversation.show(&snapshot(vec![asked, reply], false));
    scene.conversation.set_siblings(&[vec![MessageId::new(), id]]);
    let can_go = || button(&scene, "Previous Version").is_some_and(|it| it.is_sensitive());
    until("the arrow", can_go);
    let stage =
        |stage| scene.conversation.apply(&[in_session(1, SessionEvent::StageChanged { stage })]);
    stage(Stage::Streaming);
    until("the arrow to rest", || !can_go());
    stage(Stage::Idle);
    until("the arrow again", can_go);
}
