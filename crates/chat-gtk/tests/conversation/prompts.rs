//! What tools ask in a conversation, and how a person answers.

use chat_core::event::SessionEvent;
use chat_core::message::{
    Answer, ApprovalKind, AskReason, Content, Context, Delivery, MessageId, Preview, Question,
    Queued,
};
use chat_core::permission::{Effect, Scope, Why};
use chat_gtk::conversation::Output;
use gtk::prelude::*;
use serde_json::json;
use sourceview5::prelude::*;

use crate::scene::{in_session, until, walk};
use crate::tools::{calling, command, run};

#[gtk::test]
fn leave_is_asked_with_all_that_would_be_done_and_given_once() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ask = scene.ask(command("cargo test &&\n    rm -rf target"));
    assert!(scene.shows("Run this command?") && scene.shows("rm -rf target"));
    assert!(scene.shows("sandbox, no network") && scene.shows("/project"));
    scene.press("Allow Once");
    assert_eq!(scene.answer(), Some((ask, Answer::Allow(None))));

    scene.asks(Vec::new());
    assert!(!scene.shows("Run this command?"));
    assert!(scene.shows("Running cargo test"), "{:?}", scene.texts());
}

#[gtk::test]
fn each_answer_for_longer_names_the_rules_that_it_stores() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    for (label, answer) in [
        ("Allow for This Chat", Answer::Allow(Some(Scope::Session))),
        ("Allow in This Project", Answer::Allow(Some(Scope::Project))),
        ("Always Allow", Answer::Allow(Some(Scope::Everywhere))),
        ("Always Deny", Answer::Deny { scope: Some(Scope::Everywhere), message: None }),
    ] {
        let ask = scene.ask(command("cargo test --all"));
        assert!(scene.shows("run:cargo test *"));
        scene.press(label);
        assert_eq!(scene.answer(), Some((ask, answer)), "{label}");
    }
}

#[gtk::test]
fn a_rule_is_made_wider_or_edited_before_it_is_stored() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ApprovalKind::Permission(mut asked) = command("cargo test --all") else { panic!() };
    asked.always = vec!["run:cargo test --all".parse().unwrap()];
    let remember = |effect, scope, rule: &str| Answer::Remember {
        effect,
        scope,
        rules: vec![rule.parse().unwrap()],
        message: None,
    };
    let ask = scene.ask(ApprovalKind::Permission(asked.clone()));
    scene.press("Use run:cargo test *");
    scene.press("Allow for This Chat");
    let answer = remember(Effect::Allow, Scope::Session, "run:cargo test *");
    assert_eq!(scene.answer(), Some((ask, answer)));

    let ask = scene.ask(ApprovalKind::Permission(asked.clone()));
    let field = scene.fields().pop().expect("the rule");
    field.set_text("run:cargo te*");
    assert!(scene.shows("doesn’t stand alone at the end"), "{:?}", scene.texts());
    scene.press("Always Allow");
    assert_ne!(
        scene.answer().map(|(of, _)| of),
        Some(ask),
        "a rule that cannot be read is not stored"
    );
    field.set_text("run:cargo *");
    scene.press("Always Deny");
    let answer = remember(Effect::Deny, Scope::Everywhere, "run:cargo *");
    assert_eq!(scene.answer(), Some((ask, answer)));

    // A rule that is of the project alone can be stored nowhere else.
    scene.ask(ApprovalKind::Permission(asked));
    let field = scene.fields().pop().expect("the rule");
    field.set_text("write:src/**");
    assert!(scene.shows("Always Deny in This Project"));
}

#[gtk::test]
fn a_command_may_leave_the_sandbox_once() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ApprovalKind::Permission(mut asked) = command("cargo test") else { panic!() };
    asked.always = Vec::new();
    let ask = scene.ask(ApprovalKind::Permission(asked.clone()));
    scene.press("Run Outside the Sandbox Once");
    assert_eq!(scene.answer(), Some((ask, Answer::AllowOutsideSandbox)));
    // Where none holds it there is none to leave.
    let Preview::Command { sandboxed, .. } = &mut asked.preview else { panic!() };
    *sandboxed = false;
    scene.ask(ApprovalKind::Permission(asked));
    assert!(scene.shows("Run this command outside the sandbox?"));
    assert!(!scene.shows("Run Outside the Sandbox Once"));
}

#[gtk::test]
fn every_reason_is_shown_and_more_than_four_unfold() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ApprovalKind::Permission(mut asked) = command("cargo test") else { panic!() };
    let unknown = |word: &&str| Why::NotLiteral((*word).to_owned());
    let ask = |words: &[&str]| {
        let reasons = [Why::Outside].into_iter().chain(words.iter().map(unknown));
        asked.reasons = reasons.map(AskReason::from).collect();
        scene.ask(ApprovalKind::Permission(asked.clone()));
    };
    let folded = || {
        let mut found = None;
        walk(scene.conversation.widget(), &mut |widget| {
            let expander = widget.downcast_ref::<gtk::Expander>();
            found = found.take().or_else(|| expander.filter(|it| it.is_mapped()).cloned());
        });
        found
    };
    let mut ask = ask;
    ask(&["$a", "$b", "$c"]);
    assert!(scene.shows("It’s outside the project.") && scene.shows("“$c”"));
    assert!(folded().is_none());
    ask(&["$a", "$b", "$c", "$d", "$e"]);
    let expander = folded().expect("the other reasons");
    assert_eq!(expander.label().as_deref(), Some("2 more reasons"));
    let inside = expander.child().expect("the reasons");
    assert!(scene.shows("“$c”") && !inside.is_mapped(), "{:?}", scene.texts());
    expander.emit_activate();
    scene.settle();
    assert!(inside.is_mapped() && scene.shows("“$d”") && scene.shows("“$e”"));
}

#[gtk::test]
fn a_command_in_the_background_says_so_and_how_long_it_may_run() {
    let (scene, _) = calling("run_command", run("make serve"), 0);
    let ApprovalKind::Permission(mut asked) = command("make serve") else { panic!() };
    scene.ask(ApprovalKind::Permission(asked.clone()));
    assert!(scene.shows("It stops after 10 minutes at the latest."), "{:?}", scene.texts());
    assert!(!scene.shows("in the background"), "{:?}", scene.texts());
    let Preview::Command { background, limit, .. } = &mut asked.preview else { panic!() };
    (*background, *limit) = (true, None);
    scene.ask(ApprovalKind::Permission(asked));
    let told = "It runs in the background without a time limit.";
    assert!(scene.shows(told), "{:?}", scene.texts());
}

#[gtk::test]
fn a_command_stays_in_the_sandbox_where_a_rule_denies_the_network() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ApprovalKind::Permission(mut asked) = command("cargo test") else { panic!() };
    let Preview::Command { stays_inside, .. } = &mut asked.preview else { panic!() };
    *stays_inside = Some(Why::Denied("network:*".to_owned()));
    scene.ask(ApprovalKind::Permission(asked.clone()));
    assert!(scene.shows("Allow for This Chat") && !scene.shows("Run Outside the Sandbox Once"));
    let why = "It can’t run outside the sandbox, because it could use the network there. The rule network:* denies that.";
    assert!(scene.shows(why), "{:?}", scene.texts());
    // Where no rule could be stored either, there is nothing to choose from.
    asked.always = Vec::new();
    let ask = scene.ask(ApprovalKind::Permission(asked));
    assert!(scene.shows(why) && !scene.shows("Run Outside the Sandbox Once"));
    scene.press("Allow Once");
    assert_eq!(scene.answer(), Some((ask, Answer::Allow(None))));
}

#[gtk::test]
fn no_answer_is_for_a_project_that_is_not_there() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    scene.conversation.set_project(false);
    scene.ask(command("cargo test --all"));
    assert!(scene.shows("Always Allow") && !scene.shows("Allow in This Project"));
}

#[gtk::test]
fn a_denial_takes_a_word_along() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ask = scene.ask(command("cargo test"));
    scene.entry().emit_activate();
    assert_eq!(scene.answer(), None, "Enter in an empty field is no answer");
    scene.entry().set_text("  use the other crate ");
    scene.entry().emit_activate();
    let message = Some("use the other crate".to_owned());
    assert_eq!(scene.answer(), Some((ask, Answer::Deny { scope: None, message })));
}

#[gtk::test]
fn a_question_is_answered_by_a_choice_or_in_other_words() {
    let (scene, _) = calling("ask_user", json!({ "question": "Which?" }), 0);
    let question = |choices: &[&str]| {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        ApprovalKind::Question(Question { text: "<b>Which</b> one?".to_owned(), choices })
    };
    let ask = scene.ask(question(&["This <i>one</i>", "That"]));
    assert!(scene.shows("<b>Which</b> one?"), "what a model says is no markup");
    scene.press("This <i>one</i>");
    assert_eq!(scene.answer(), Some((ask, Answer::Text("This <i>one</i>".to_owned()))));
    let ask = scene.ask(question(&[]));
    scene.entry().set_text("neither");
    scene.entry().emit_activate();
    assert_eq!(scene.answer(), Some((ask, Answer::Text("neither".to_owned()))));
}

#[gtk::test]
fn a_question_is_shown_as_markdown() {
    let (scene, _) = calling("ask_user", json!({ "question": "Which?" }), 0);
    let text = "Which of **two** `crates`?\n\n- the *old*\n\n```rust\nfn a() {}\n```".to_owned();
    scene.ask(ApprovalKind::Question(Question { text, choices: Vec::new() }));
    for shown in ["Which of two crates?", "the old", "fn a() {}"] {
        assert!(scene.shows(shown), "{shown:?} in {:?}", scene.texts());
    }
    assert!(!scene.shows("**two**") && !scene.shows("```"));
}

#[gtk::test]
fn code_in_a_question_follows_the_theme_and_only_links_take_the_keyboard() {
    let (scene, _) = calling("ask_user", json!({}), 0);
    let text =
        "Is [this](https://example.org/) it?\n\n```rust\nfn a() {}\n```\n\nAnd no link.".to_owned();
    scene.ask(ApprovalKind::Question(Question { text, choices: vec!["Yes".to_owned()] }));
    scene.settle();
    let views = || {
        let mut found = Vec::new();
        walk(scene.conversation.widget(), &mut |widget| {
            if let Some(view) = widget.downcast_ref::<gtk::TextView>() {
                found.push(view.clone());
            }
        });
        found
    };
    let view = |begins: &str| {
        let is_it = |view: &gtk::TextView| {
            let (start, end) = view.buffer().bounds();
            view.buffer().text(&start, &end, true).starts_with(begins)
        };
        views().into_iter().find(is_it).expect("a text")
    };
    assert!(view("Is this it?").is_focusable() && !view("And no link.").is_focusable());
    let heights = ["Is this it?", "And no link."].map(|begins| view(begins).height());
    assert!(heights.iter().all(|height| (12..60).contains(height)), "one line each: {heights:?}");
    let scheme = || {
        let mut buffers = views().into_iter().map(|view| view.buffer());
        let code = buffers.find_map(|buffer| buffer.downcast::<sourceview5::Buffer>().ok());
        code.and_then(|code| code.style_scheme()).expect("a scheme").id()
    };
    assert_eq!(scheme(), "Adwaita");
    let style = adw::StyleManager::default();
    style.set_color_scheme(adw::ColorScheme::ForceDark);
    until("the dark colours", || scheme() == "Adwaita-dark");
    style.set_color_scheme(adw::ColorScheme::ForceLight);
    until("the light colours", || scheme() == "Adwaita");
}

#[gtk::test]
fn a_prompt_takes_the_keyboard_only_when_it_is_asked_to() {
    let (scene, _) = calling("run_command", run("cargo test"), 60);
    assert!(!scene.conversation.focus_ask(None), "nothing waits");
    let adjustment = scene.adjustment();
    adjustment.set_value(0.0);
    scene.settle();
    let focus = || gtk::prelude::GtkWindowExt::focus(&scene.window);
    let (before, value) = (focus(), adjustment.value());
    scene.ask(command("cargo test"));
    assert!(focus() == before && (adjustment.value() - value).abs() < 1.0);

    assert_eq!(scene.conversation.focused_ask(), None);
    assert!(scene.conversation.focus_ask(None));
    scene.settle();
    assert!(scene.conversation.focused_ask().is_some());
    let button = focus().and_downcast::<gtk::Button>().expect("a button has the keyboard");
    let name = button.label().expect("a name");
    assert_eq!(name, "Allow Once");
    let root = scene.conversation.widget();
    let (_, y) = button.translate_coordinates(root, 0.0, 0.0).expect("a place");
    assert!((0.0..f64::from(root.height())).contains(&y), "it stands at {y}");

    // Who had the keyboard in it hears that it is gone.
    scene.asks(Vec::new());
    assert!(scene.told.borrow().contains(&Output::KeyboardLost));
}

#[gtk::test]
fn all_of_a_question_is_in_sight_though_a_long_message_waits_below_it() {
    let (scene, _) = calling("run_command", run("cargo test"), 60);
    scene.ask(command("cargo test"));
    scene.conversation.go_to_end();
    let content = Content::text("A report of many lines.\n".repeat(60));
    let (id, context) = (MessageId::new(), Context::default());
    let queue = vec![Queued { id, content, context, delivery: Delivery::Steer }];
    let event = SessionEvent::QueueChanged { queue };
    scene.conversation.apply(&[in_session(6, event)]);
    scene.settle();
    until("the message to cover the question", || {
        scene.place_of("Run this command?").is_none_or(|y| y < 0.0)
    });

    assert!(scene.conversation.focus_ask(None));
    let tall = f64::from(scene.conversation.widget().height());
    let focus = || gtk::prelude::GtkWindowExt::focus(&scene.window);
    let button_end = || {
        let button = focus()?;
        let root = scene.conversation.widget();
        let (_, y) = button.translate_coordinates(root, 0.0, f64::from(button.height()))?;
        Some(y)
    };
    until("all of the question", || {
        let title = scene.place_of("Run this command?");
        title.is_some_and(|y| y >= 0.0) && button_end().is_some_and(|y| y <= tall)
    });
}
