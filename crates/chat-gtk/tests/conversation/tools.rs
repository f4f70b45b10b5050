//! Tools in a conversation: what they write, what they ask, and how a person answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chat_core::event::{CallState, Event, OpenCall, Stage, StopReason};
use chat_core::message::{
    Answer, Ask, AskId, Asked, Ending, Message, MessageId, ModelRef, Part, PermissionRequest,
    Preview, Question, Role, ToolCall, ToolCallId, ToolResult, ToolView, Usage,
};
use chat_core::permission::{Action, Effect, Scope, Why};
use chat_gtk::conversation::Output;
use gtk::prelude::*;
use serde_json::{Value, json};
use sourceview5::prelude::*;

use crate::scene::{Scene, fid, snapshot, until, walk};

pub const CALL: &str = "c1";
/// How long it runs when the chat is opened.
const RAN: Duration = Duration::from_mins(62);

/// A scene in which a reply called a tool, with so many messages before it.
pub fn calling(name: &str, arguments: Value, before: usize) -> (Scene, MessageId) {
    let scene = Scene::new();
    let mut messages: Vec<_> = (0..before)
        .map(|index| Message::text(Role::User, None, format!("Message {index}")))
        .collect();
    let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
    let id = ToolCallId::new(CALL);
    reply.parts.push(Part::ToolCall(ToolCall { id, name: name.to_owned(), arguments }));
    reply.ended = Some(Ending::Complete);
    let message = reply.id;
    messages.push(reply);
    let mut snapshot = snapshot(messages, false);
    snapshot.stage = Stage::RunningTools;
    let call = ToolCallId::new(CALL);
    let state = CallState::Running { tail: "".into(), bytes: 0, ran: RAN };
    snapshot.calls = vec![OpenCall { message, call, state }];
    snapshot.session.project = Some(PathBuf::from("/project"));
    scene.conversation.show(&snapshot);
    scene.settle();
    (scene, message)
}

pub fn command(text: &str) -> Asked {
    let (text, folder) = (text.to_owned(), PathBuf::from("/project"));
    let always = vec!["run:cargo test *".parse().expect("a rule")];
    Asked::Permission(PermissionRequest {
        action: Action::Run,
        target: text.clone(),
        preview: Preview::Command { text, folder, network: false, sandboxed: true },
        why: Why::Mode,
        scope: None,
        always,
    })
}

impl Scene {
    /// Has the call wait for this.
    pub fn ask(&self, what: Asked) -> AskId {
        let (id, call, tool) = (AskId::generate(), ToolCallId::new(CALL), "run_command".to_owned());
        self.asks(vec![Arc::new(Ask { id, call, tool, what })]);
        id
    }

    pub fn asks(&self, asks: Vec<Arc<Ask>>) {
        self.conversation.apply(&[Event::AsksChanged { fid: fid(), seq: 5, asks }]);
        self.settle();
    }

    fn shows(&self, text: &str) -> bool {
        self.texts().iter().any(|shown| shown.contains(text))
    }

    /// Presses the button of this label.
    pub fn press(&self, label: &str) {
        let mut found = None;
        walk(self.conversation.widget(), &mut |widget| {
            if let Some(button) = widget.downcast_ref::<gtk::Button>() {
                let own = button.label().is_some_and(|own| own == label);
                let inside = |widget: &gtk::Widget| {
                    let mut has = false;
                    walk(widget, &mut |inner| {
                        let inner = inner.downcast_ref::<gtk::Label>();
                        has |= inner.is_some_and(|inner| inner.text() == label);
                    });
                    has
                };
                if own || inside(widget) {
                    found = Some(button.clone());
                }
            }
        });
        found.unwrap_or_else(|| panic!("no button {label}")).emit_clicked();
    }

    pub fn entry(&self) -> gtk::Entry {
        let mut found = None;
        walk(self.conversation.widget(), &mut |widget| {
            found = found.take().or_else(|| widget.downcast_ref::<gtk::Entry>().cloned());
        });
        found.expect("a field")
    }

    /// All fields to write in, in their order.
    fn fields(&self) -> Vec<gtk::Entry> {
        let mut found = Vec::new();
        walk(self.conversation.widget(), &mut |widget| {
            found.extend(widget.downcast_ref::<gtk::Entry>().cloned());
        });
        found
    }

    fn answer(&self) -> Option<(AskId, Answer)> {
        self.told.borrow().iter().rev().find_map(|output| match output {
            Output::Answer { ask, answer } => Some((*ask, answer.clone())),
            _ => None,
        })
    }
}

pub fn run(command: &str) -> Value {
    json!({ "command": command })
}

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
fn a_result_is_seen_while_other_calls_of_its_reply_run_and_wait() {
    let scene = Scene::new();
    let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
    let call = |id: &str, name: &str, arguments| ToolCall {
        id: ToolCallId::new(id),
        name: name.to_owned(),
        arguments,
    };
    let pages = ["c1", "c2"].map(|id| call(id, "web_fetch", json!({ "url": format!("//{id}") })));
    let after = call("c3", "run_command", run("make"));
    scene.conversation.show(&snapshot(Vec::new(), true));
    let told = |seq, event: &dyn Fn(u64) -> Event| {
        scene.conversation.apply(&[event(seq)]);
        scene.settle();
    };
    told(2, &|seq| {
        let message = Arc::new(reply.clone());
        Event::MessageAdded { fid: fid(), seq, message }
    });
    reply.parts.extend(pages.iter().chain([&after]).cloned().map(Part::ToolCall));
    reply.ended = Some(Ending::Complete);
    told(3, &|seq| Event::MessageChanged { fid: fid(), seq, message: Arc::new(reply.clone()) });
    assert!(scene.shows("Fetch //c1 · waits for its turn"), "{:?}", scene.texts());
    let change = |seq, call: &ToolCall, result: Option<ToolResult>| {
        told(seq, &|seq| Event::ToolCallChanged {
            fid: fid(),
            seq,
            message: reply.id,
            call: call.id.clone(),
            running: result.is_none(),
            result: result.clone().map(Arc::new),
        });
    };
    change(4, &pages[0], None);
    change(5, &pages[1], None);
    let reason = "tool_call_fail: The server says 404 Not Found.";
    change(6, &pages[1], Some(ToolResult::to(&pages[1], reason, true)));
    assert!(scene.shows("Fetching //c1"), "{:?}", scene.texts());
    assert!(scene.shows("Fetch //c2 · failed"), "{:?}", scene.texts());
    assert!(
        scene
            .texts()
            .iter()
            .any(|text| text == "The model was told: The server says 404 Not Found.")
    );
    assert!(scene.shows("Run make · waits for its turn"));
    let page = ToolView::Fetched { url: "//c1".to_owned(), title: None, bytes: 5, path: None };
    let done = ToolResult { view: Some(page), ..ToolResult::to(&pages[0], "hello", false) };
    change(7, &pages[0], Some(done));
    assert!(scene.shows("Fetched //c1") && scene.shows("Run make · waits for its turn"));
    // What a stop left without its turn waits for nothing.
    told(8, &|_| Event::RequestFinished {
        fid: fid(),
        reason: StopReason::Stopped,
        usage: Usage::default(),
        error: None,
    });
    assert!(scene.shows("Run make · has no result"), "{:?}", scene.texts());
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
    let Asked::Permission(mut asked) = command("cargo test --all") else { panic!() };
    asked.always = vec!["run:cargo test --all".parse().unwrap()];
    let remember = |effect, scope, rule: &str| Answer::Remember {
        effect,
        scope,
        rules: vec![rule.parse().unwrap()],
        message: None,
    };
    let ask = scene.ask(Asked::Permission(asked.clone()));
    scene.press("Use run:cargo test *");
    scene.press("Allow for This Chat");
    let answer = remember(Effect::Allow, Scope::Session, "run:cargo test *");
    assert_eq!(scene.answer(), Some((ask, answer)));

    let ask = scene.ask(Asked::Permission(asked.clone()));
    let field = scene.fields().pop().expect("the rule");
    field.set_text("run:cargo te*");
    assert!(scene.shows("does not stand alone at the end"), "{:?}", scene.texts());
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
    scene.ask(Asked::Permission(asked));
    let field = scene.fields().pop().expect("the rule");
    field.set_text("write:src/**");
    assert!(scene.shows("Always Deny in This Project"));
}

#[gtk::test]
fn a_command_may_leave_the_sandbox_once() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let Asked::Permission(mut asked) = command("cargo test") else { panic!() };
    asked.always = Vec::new();
    let ask = scene.ask(Asked::Permission(asked.clone()));
    scene.press("Run Outside the Sandbox Once");
    assert_eq!(scene.answer(), Some((ask, Answer::AllowOutsideSandbox)));
    // Where none holds it there is none to leave.
    let Preview::Command { sandboxed, .. } = &mut asked.preview else { panic!() };
    *sandboxed = false;
    scene.ask(Asked::Permission(asked));
    assert!(scene.shows("Run this command outside the sandbox?"));
    assert!(!scene.shows("Run Outside the Sandbox Once"));
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
        Asked::Question(Question { text: "<b>Which</b> one?".to_owned(), choices })
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
    scene.ask(Asked::Question(Question { text, choices: Vec::new() }));
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
    scene.ask(Asked::Question(Question { text, choices: vec!["Yes".to_owned()] }));
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
    let focusable = |begins: &str| {
        let is_it = |view: &&gtk::TextView| {
            let (start, end) = view.buffer().bounds();
            view.buffer().text(&start, &end, true).starts_with(begins)
        };
        views().iter().find(is_it).expect("a text").is_focusable()
    };
    assert!(focusable("Is this it?") && !focusable("And no link."));
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
    assert!(!scene.conversation.focus_ask(), "nothing waits");
    let adjustment = scene.adjustment();
    adjustment.set_value(0.0);
    scene.settle();
    let focus = || gtk::prelude::GtkWindowExt::focus(&scene.window);
    let (before, value) = (focus(), adjustment.value());
    scene.ask(command("cargo test"));
    assert!(focus() == before && (adjustment.value() - value).abs() < 1.0);

    assert!(scene.conversation.focus_ask());
    scene.settle();
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
fn what_a_command_writes_is_shown_while_it_runs_and_no_longer() {
    let (scene, message) = calling("run_command", run("make"), 0);
    assert!(scene.shows("62 min"), "{:?}", scene.texts());
    let call = ToolCallId::new(CALL);
    let write = |text: &str| Event::ToolOutput {
        fid: fid(),
        seq: 3,
        message,
        call: call.clone(),
        tail: Arc::from(text),
        bytes: text.len() as u64,
    };
    let running = |running| Event::ToolCallChanged {
        fid: fid(),
        seq: 2,
        message,
        call: call.clone(),
        running,
        result: None,
    };
    scene.conversation.apply(&[running(true), write("10 %\r\x1b[32m50 %\x1b[0m")]);
    scene.settle();
    assert!(scene.texts().contains(&"50 %".to_owned()), "{:?}", scene.texts());
    let mut seen = None;
    walk(scene.conversation.widget(), &mut |widget| {
        let text = widget.downcast_ref::<gtk::TextView>();
        seen = seen.take().or_else(|| text.filter(|text| text.is_mapped()).cloned());
    });
    let text = seen.expect("a text");
    let line = text.line_yrange(&text.buffer().start_iter()).1;
    assert!(line > 0 && text.height() >= line, "{} of {line} are seen", text.height());
    let many: Vec<_> = (0..2_000).map(|line| format!("\x1b[3{}mline {line}\n", line % 8)).collect();
    scene.conversation.apply(&[write(&many.concat())]);
    scene.settle();
    assert!(scene.shows("line 1999") && !scene.shows("line 1980"), "only what is seen is drawn");
    scene.conversation.apply(&[running(false)]);
    scene.settle();
    assert!(!scene.shows("line 1999"));
}

#[gtk::test]
fn an_edit_opens_into_its_diff() {
    let (scene, _) = calling("edit_file", json!({ "path": "a.rs", "edits": [] }), 0);
    let call = ToolCall {
        id: ToolCallId::new(CALL),
        name: "edit_file".to_owned(),
        arguments: Value::Null,
    };
    let view = ToolView::Edited {
        path: "a.rs".to_owned(),
        diff: "@@ -1 +1 @@\n-old <b>\n+new <b>\n".to_owned(),
        added: 1,
        removed: 1,
        created: false,
    };
    let mut answer = Message::text(Role::Tool, None, "");
    answer.parts = vec![Part::ToolResult(ToolResult {
        view: Some(view),
        ..ToolResult::to(&call, "Edited.", false)
    })];
    let message = Arc::new(answer);
    scene.conversation.apply(&[Event::MessageAdded { fid: fid(), seq: 4, message }]);
    scene.settle();
    assert!(scene.shows("Edited a.rs +1 −1"), "{:?}", scene.texts());
    scene.press("Edited a.rs +1 −1");
    until("the diff is shown", || scene.shows("-old <b>\n+new <b>"));
}

#[gtk::test]
fn lines_of_tools_stand_as_close_together_in_two_rounds_as_in_one() {
    let scene = Scene::new();
    let round = |text: &str, calls: &[&str]| {
        let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
        if !text.is_empty() {
            reply.parts.push(Part::Text(text.to_owned()));
        }
        reply.parts.extend(calls.iter().map(|id| {
            let (id, name) = (ToolCallId::new(*id), "read_file".to_owned());
            Part::ToolCall(ToolCall { id, name, arguments: json!({ "path": "a.rs" }) })
        }));
        reply.ended = Some(Ending::Complete);
        reply
    };
    let asked = Message::text(Role::User, None, "Look");
    let rounds = [
        round("First.", &["a", "b"]),
        round("Then.", &["c"]),
        round("", &["d"]),
        round("Done.", &[]),
    ];
    let messages = [asked].into_iter().chain(rounds).collect();
    scene.conversation.show(&snapshot(messages, false));
    scene.settle();
    let mut column = None;
    walk(scene.conversation.widget(), &mut |widget| {
        if widget.css_name() == "conversation" {
            column = Some(widget.clone());
        }
    });
    let column = column.expect("the column");
    let rows = std::iter::successors(column.first_child(), gtk::Widget::next_sibling);
    let bounds: Vec<_> = rows.map(|row| row.compute_bounds(&column).expect("a place")).collect();
    let gap = |index: usize| {
        let (above, row): (&gtk::graphene::Rect, _) = (&bounds[index - 1], &bounds[index]);
        (row.y() - above.y() - above.height()) as i32
    };
    // What was said, text, two calls, text, a call, the call of the next round, the last text.
    let gaps: Vec<i32> = (2..=7).map(gap).collect();
    assert_eq!(gaps, [12, 4, 20, 12, 4, 20], "{bounds:?}");
}
