//! What agents in the background report, in the conversation and while it waits.

use chat_core::event::SessionEvent;
use chat_core::message::{
    AgentReport, AgentState, Content, Context, Delivery, Fid, FromAgent, Message, MessageId, Part,
    Queued, Role, Usage,
};
use chat_gtk::conversation::Output;
use gtk::prelude::*;

use crate::scene::{Scene, in_session, snapshot, walk};

/// A report that is taller than a window.
pub fn report() -> FromAgent {
    let text = format!("# Findings\n\nIt is in **a.rs**.\n\n{}", "More.\n\n".repeat(40));
    FromAgent::Report(Box::new(AgentReport {
        session: Fid::new("a"),
        name: "explorer".to_owned(),
        agent: "code-assistant".to_owned(),
        state: AgentState::Done,
        text,
        error: None,
        usage: Usage::default(),
        ids: Vec::new(),
    }))
}

/// The cards of reports.
pub fn cards(scene: &Scene) -> Vec<gtk::Widget> {
    let mut found = Vec::new();
    walk(scene.conversation.widget(), &mut |widget| {
        if widget.has_css_class("report") {
            found.push(widget.clone());
        }
    });
    found
}

#[gtk::test]
fn a_report_is_a_folded_card_that_opens_as_markdown() {
    let scene = Scene::new();
    let mut message = Message::text(Role::User, None, "");
    message.parts = vec![Part::FromAgent(report())];
    scene.conversation.show(&snapshot(vec![message], false));
    scene.settle();
    assert!(scene.texts().iter().any(|text| text == "Report from explorer"), "{:?}", scene.texts());
    let begins = |text: &String| text.starts_with("Findings It is in a.rs. More.");
    assert!(scene.texts().iter().any(begins), "{:?}", scene.texts());
    let card = cards(&scene).pop().expect("the card");
    assert!(card.height() < 160, "{}", card.height());

    let button = card.first_child().and_downcast::<gtk::Button>().expect("its line");
    button.emit_clicked();
    scene.settle();
    let text = |wanted: &str| scene.texts().iter().any(|text| text.contains(wanted));
    assert!(text("It is in a.rs.") && !text("**"), "{:?}", scene.texts());
    assert!(card.height() > 600, "{}", card.height());
    button.emit_clicked();
    scene.settle();
    assert!(card.height() < 160, "{}", card.height());
}

#[gtk::test]
fn a_turn_that_a_report_began_has_its_attachments_and_leads_back() {
    let scene = Scene::new();
    let mut message = Message::text(Role::User, None, "Look here, too");
    message.parts.insert(0, Part::FromAgent(report()));
    message.parts.push(Part::File { name: "notes.txt".to_owned(), text: "milk".to_owned() });
    let id = message.id;
    scene.conversation.show(&snapshot(vec![message], false));
    scene.conversation.set_project(true);
    scene.settle();
    for wanted in ["Report from explorer", "Look here, too", "notes.txt"] {
        assert!(scene.texts().iter().any(|text| text == wanted), "{wanted}: {:?}", scene.texts());
    }
    let mut restore = None;
    walk(scene.conversation.widget(), &mut |widget| {
        let name = widget.tooltip_text();
        if name.as_deref() == Some("Restore Files to This Point…") && widget.is_mapped() {
            restore = widget.clone().downcast::<gtk::Button>().ok();
        }
    });
    let restore = restore.expect("the button that restores files");
    restore.emit_clicked();
    assert!(scene.told.borrow().contains(&Output::Restore(id)), "{:?}", scene.told.borrow());
    scene.conversation.set_project(false);
    assert!(!restore.is_visible());
}

#[gtk::test]
fn a_report_that_waits_is_folded_too() {
    let scene = Scene::new();
    scene.conversation.show(&snapshot(vec![Message::text(Role::User, None, "Look")], false));
    let content = Content::default().from_agent(report());
    let (id, context) = (MessageId::new(), Context::default());
    let queue = vec![Queued { id, content, context, delivery: Delivery::Queue }];
    scene.conversation.apply(&[in_session(6, SessionEvent::QueueChanged { queue })]);
    scene.settle();
    let card = cards(&scene).pop().expect("the card");
    assert!(card.is_mapped() && card.height() < 160, "{}", card.height());
}
