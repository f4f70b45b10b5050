//! Forms of servers in a conversation: what is filled in, and what is sent.

use std::sync::Arc;

use chat_core::event::Snapshot;
use chat_core::message::{
    Answer, ApprovalId, ApprovalKind, ApprovalRequest, Ending, FieldKind, Form, FormAnswer,
    FormField, FormOption, FormRecord, Message, MessageId, ModelRef, NumberLimits, Part,
    TextFormat, ToolCall, ToolCallId, ToolResult,
};
use gtk::prelude::*;
use serde_json::{Value, json};

use crate::scene::{Scene, snapshot, walk};
use crate::tools::{CALL, calling};

fn field(name: &str, required: bool, kind: FieldKind) -> FormField {
    FormField { name: name.to_owned(), title: None, description: None, required, kind }
}

fn text(format: Option<TextFormat>) -> FieldKind {
    FieldKind::Text { min_length: None, max_length: None, format, default: None }
}

fn options(values: &[&str]) -> Vec<FormOption> {
    let option =
        |value: &&str| FormOption { value: (*value).to_owned(), title: format!("The {value}") };
    values.iter().map(option).collect()
}

fn form(fields: Vec<FormField>) -> ApprovalKind {
    let (server, message) = ("Club".to_owned(), "<b>Who</b> are you?".to_owned());
    ApprovalKind::Form(Form { server, message, fields })
}

/// One field of each kind.
fn every_kind() -> ApprovalKind {
    let age = NumberLimits { min: Some(18), max: None, default: None };
    let mut mail = field("mail", true, text(Some(TextFormat::Email)));
    mail.title = Some("Your email".to_owned());
    mail.description = Some("To write to <i>you</i>".to_owned());
    form(vec![
        mail,
        field("age", false, FieldKind::Integer(age)),
        field("member", false, FieldKind::Switch { default: Some(true) }),
        field(
            "color",
            false,
            FieldKind::Choice { options: options(&["red", "blue"]), default: None },
        ),
        field(
            "days",
            false,
            FieldKind::Choices {
                options: options(&["monday", "friday"]),
                min_items: None,
                max_items: Some(1),
                default: Vec::new(),
            },
        ),
    ])
}

/// The widgets of a kind, from the top.
fn all<T: IsA<gtk::Widget>>(scene: &Scene) -> Vec<T> {
    let mut found = Vec::new();
    walk(scene.conversation.widget(), &mut |widget| {
        found.extend(widget.downcast_ref::<T>().cloned());
    });
    found
}

fn sent(values: Value) -> Answer {
    let Value::Object(values) = values else { panic!("{values}") };
    Answer::Form(FormAnswer::Filled(values))
}

#[gtk::test]
fn every_kind_of_field_is_filled_in_and_sent() {
    let (scene, _) = calling("club", json!({}), 0);
    let ask = scene.ask(every_kind());
    for shown in [
        "“Club” asks for:",
        "<b>Who</b> are you?",
        "Your email (required)",
        "To write to <i>you</i>",
        "18 or more",
        "Choose at most 1",
        "Your answers go to the server.",
    ] {
        assert!(scene.shows(shown), "{shown:?} in {:?}", scene.texts());
    }
    scene.fields()[0].set_text("ada@example.org");
    scene.fields()[1].set_text("36");
    assert!(all::<gtk::Switch>(&scene)[0].is_active(), "what the server proposes");
    all::<gtk::Switch>(&scene)[0].set_active(false);
    all::<gtk::DropDown>(&scene)[0].set_selected(2);
    all::<gtk::CheckButton>(&scene)[1].set_active(true);
    scene.press("Send");
    let values = json!({
        "mail": "ada@example.org",
        "age": 36,
        "member": false,
        "color": "blue",
        "days": ["friday"],
    });
    assert_eq!(scene.answer(), Some((ask, sent(values))));
}

#[gtk::test]
fn what_is_wrong_is_said_at_its_field_until_it_is_changed() {
    let (scene, _) = calling("club", json!({}), 0);
    let ask = scene.ask(every_kind());
    scene.fields()[1].set_text("17");
    scene.press("Send");
    scene.settle();
    assert_eq!(scene.answer(), None);
    assert!(scene.shows("This is required.") && scene.shows("18 or more."), "{:?}", scene.texts());
    let focus = gtk::prelude::GtkWindowExt::focus(&scene.window).expect("a focus");
    assert!(focus.is_ancestor(&scene.fields()[0]), "the first of them has the keyboard");
    scene.fields()[0].set_text("ada");
    assert!(!scene.shows("This is required.") && scene.shows("18 or more."));
    scene.fields()[1].set_text("");
    scene.press("Send");
    assert!(scene.shows("This isn’t an email address."), "{:?}", scene.texts());
    scene.fields()[0].set_text("ada@example.org");
    scene.press("Send");
    let values = json!({ "mail": "ada@example.org", "member": true, "days": [] });
    assert_eq!(scene.answer(), Some((ask, sent(values))));
}

#[gtk::test]
fn a_form_is_declined_without_being_filled_in() {
    let (scene, _) = calling("club", json!({}), 0);
    let ask = scene.ask(every_kind());
    scene.press("Don’t Send");
    assert_eq!(scene.answer(), Some((ask, Answer::Form(FormAnswer::Declined))));
}

#[gtk::test]
fn enter_goes_from_field_to_field_and_sends_from_the_last() {
    let (scene, _) = calling("club", json!({}), 0);
    let fields = vec![field("first", false, text(None)), field("last", true, text(None))];
    let ask = scene.ask(form(fields));
    assert!(scene.conversation.focus_ask(None));
    scene.settle();
    let has_keyboard = |at: usize| {
        let focus = gtk::prelude::GtkWindowExt::focus(&scene.window);
        focus.is_some_and(|focus| focus.is_ancestor(&scene.fields()[at]))
    };
    assert!(has_keyboard(0), "the first field takes the keyboard");
    scene.fields()[0].emit_activate();
    assert!(has_keyboard(1) && scene.answer().is_none());
    scene.fields()[1].set_text("Lovelace");
    scene.fields()[1].emit_activate();
    assert_eq!(scene.answer(), Some((ask, sent(json!({ "last": "Lovelace" })))));
}

/// The chat as it is opened again while this waits.
fn shown_again(scene: &Scene, message: MessageId, ask: ApprovalId) {
    let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
    let id = ToolCallId::new(CALL);
    reply.parts.push(Part::ToolCall(ToolCall::new(id.clone(), "club", json!({}))));
    (reply.id, reply.ended) = (message, Some(Ending::Complete));
    let tool = "club".to_owned();
    let asks = vec![Arc::new(ApprovalRequest { id: ask, call: id, tool, kind: every_kind() })];
    scene.conversation.show(&Snapshot { asks, ..snapshot(vec![reply], false) });
    scene.settle();
}

#[gtk::test]
fn what_is_filled_in_stays_while_another_chat_is_shown_and_never_becomes_a_message() {
    let (scene, message) = calling("club", json!({}), 0);
    let ask = scene.ask(every_kind());
    scene.fields()[0].set_text("ada@");
    all::<gtk::Switch>(&scene)[0].set_active(false);
    all::<gtk::DropDown>(&scene)[0].set_selected(1);
    all::<gtk::CheckButton>(&scene)[0].set_active(true);
    scene.conversation.clear();
    scene.settle();
    shown_again(&scene, message, ask);
    assert_eq!(scene.fields()[0].text(), "ada@");
    assert!(!all::<gtk::Switch>(&scene)[0].is_active());
    assert_eq!(all::<gtk::DropDown>(&scene)[0].selected(), 1);
    assert!(all::<gtk::CheckButton>(&scene)[0].is_active());
    // It is stopped.
    scene.asks(Vec::new());
    assert!(scene.conversation.take_typed().is_empty());
    let told = format!("{:?}", scene.told.borrow());
    assert!(!told.contains("ada@"), "{told}");
}

#[gtk::test]
fn a_form_of_long_texts_fits_a_narrow_window() {
    let (scene, _) = calling("club", json!({}), 0);
    let long = "A very long name of something to choose ".repeat(4);
    let options: Vec<_> =
        ["a", "b"].map(|value| FormOption { value: value.to_owned(), title: long.clone() }).into();
    let mut fields = vec![
        field("one", true, FieldKind::Choice { options: options.clone(), default: None }),
        field(
            "all",
            false,
            FieldKind::Choices { options, min_items: None, max_items: None, default: Vec::new() },
        ),
        field("on", false, FieldKind::Switch { default: None }),
        field("text", false, text(None)),
    ];
    for field in &mut fields {
        field.title = Some(long.clone());
        field.description = Some("x".repeat(200));
    }
    scene.ask(form(fields));
    let cards = all::<gtk::Box>(&scene);
    let card = cards.iter().find(|it| it.has_css_class("ask-card")).expect("the card");
    let (least, ..) = card.measure(gtk::Orientation::Horizontal, -1);
    assert!(least <= 330, "{least}");
}

#[gtk::test]
fn what_became_of_a_form_is_told_below_its_call() {
    let (scene, message) = calling("club", json!({}), 0);
    let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
    let call = ToolCall::new(ToolCallId::new(CALL), "club", json!({}));
    let fields = vec!["Your email".to_owned()];
    let record = FormRecord { server: "Club".to_owned(), sent: true, fields };
    let forms = vec![record.clone(), FormRecord { sent: false, fields: Vec::new(), ..record }];
    let result = Message::tool_result(ToolResult { forms, ..ToolResult::to(&call, "ok", false) });
    reply.parts.push(Part::ToolCall(call));
    (reply.id, reply.ended) = (message, Some(Ending::Complete));
    scene.conversation.clear();
    scene.conversation.show(&snapshot(vec![reply, result], false));
    scene.settle();
    let told = "You sent this to “Club”: Your email\nYou sent nothing to “Club”";
    assert!(scene.shows(told), "{:?}", scene.texts());
}
