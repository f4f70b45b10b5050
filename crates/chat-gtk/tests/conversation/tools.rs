//! Tools in a conversation: what they do, and what they write.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chat_core::event::{CallState, Event, OpenCall, SessionEvent, Stage, StopReason};
use chat_core::message::{
    Answer, ApprovalId, ApprovalKind, ApprovalRequest, Ending, Message, MessageId, ModelRef, Part,
    PermissionRequest, Preview, Role, ToolCall, ToolCallId, ToolResult, ToolView, Usage,
};
use chat_core::permission::{Action, Why};
use chat_gtk::conversation::Output;
use gtk::prelude::*;
use serde_json::{Value, json};

use crate::scene::{Scene, fid, in_session, sentence, snapshot, until, walk};

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
    reply.parts.push(Part::ToolCall(ToolCall::new(id, name, arguments)));
    reply.ended = Some(Ending::Complete);
    let message = reply.id;
    messages.push(reply);
    let mut snapshot = snapshot(messages, false);
    snapshot.stage = Stage::RunningTools;
    let call = ToolCallId::new(CALL);
    let state = CallState::Running { tail: "".into(), bytes: 0, ran: RAN, agents: Vec::new() };
    snapshot.calls = vec![OpenCall { message, call, state }];
    snapshot.session.project = Some(PathBuf::from("/project"));
    scene.conversation.show(&snapshot);
    scene.settle();
    (scene, message)
}

pub fn command(text: &str) -> ApprovalKind {
    let (text, folder) = (text.to_owned(), PathBuf::from("/project"));
    let always = vec!["run:cargo test *".parse().expect("a rule")];
    ApprovalKind::Permission(PermissionRequest {
        action: Action::Run,
        target: text.clone(),
        preview: Preview::Command {
            text,
            folder,
            network: false,
            sandboxed: true,
            background: false,
            limit: Some(Duration::from_mins(10)),
            stays_inside: None,
        },
        reasons: vec![Why::Mode.into()],
        always,
    })
}

impl Scene {
    /// Has the call wait for this.
    pub fn ask(&self, what: ApprovalKind) -> ApprovalId {
        let (id, call, tool) =
            (ApprovalId::generate(), ToolCallId::new(CALL), "run_command".to_owned());
        self.asks(vec![Arc::new(ApprovalRequest { id, call, tool, kind: what })]);
        id
    }

    pub fn asks(&self, asks: Vec<Arc<ApprovalRequest>>) {
        self.conversation.apply(&[in_session(5, SessionEvent::ApprovalsChanged { asks })]);
        self.settle();
    }

    pub fn shows(&self, text: &str) -> bool {
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
                        has |= sentence(inner).is_some_and(|sentence| sentence == label);
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
    pub fn fields(&self) -> Vec<gtk::Entry> {
        let mut found = Vec::new();
        walk(self.conversation.widget(), &mut |widget| {
            found.extend(widget.downcast_ref::<gtk::Entry>().cloned());
        });
        found
    }

    pub fn answer(&self) -> Option<(ApprovalId, Answer)> {
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
fn a_result_is_seen_while_other_calls_of_its_reply_run_and_wait() {
    let scene = Scene::new();
    let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
    let call =
        |id: &str, name: &str, arguments| ToolCall::new(ToolCallId::new(id), name, arguments);
    let pages = ["c1", "c2"].map(|id| call(id, "web_fetch", json!({ "url": format!("//{id}") })));
    let after = call("c3", "run_command", run("make"));
    scene.conversation.show(&snapshot(Vec::new(), true));
    let told = |seq, event: &dyn Fn(u64) -> Event| {
        scene.conversation.apply(&[event(seq)]);
        scene.settle();
    };
    told(2, &|seq| {
        let message = Arc::new(reply.clone());
        in_session(seq, SessionEvent::MessageAdded { message })
    });
    reply.parts.extend(pages.iter().chain([&after]).cloned().map(Part::ToolCall));
    reply.ended = Some(Ending::Complete);
    told(3, &|seq| {
        in_session(seq, SessionEvent::MessageChanged { message: Arc::new(reply.clone()) })
    });
    assert!(scene.shows("Fetch //c1 · queued"), "{:?}", scene.texts());
    let change = |seq, call: &ToolCall, result: Option<ToolResult>| {
        told(seq, &|seq| {
            in_session(
                seq,
                SessionEvent::ToolCallChanged {
                    message: reply.id,
                    call: call.id.clone(),
                    running: result.is_none(),
                    result: result.clone().map(Arc::new),
                },
            )
        });
    };
    change(4, &pages[0], None);
    change(5, &pages[1], None);
    let reason = "tool_call_fail: The server says 404 Not Found.";
    change(6, &pages[1], Some(ToolResult::to(&pages[1], reason, true)));
    assert!(scene.shows("Fetching //c1"), "{:?}", scene.texts());
    assert!(scene.shows("Couldn’t fetch //c2"), "{:?}", scene.texts());
    assert!(
        scene
            .texts()
            .iter()
            .any(|text| text == "Reported to the model: The server says 404 Not Found.")
    );
    assert!(scene.shows("Run make · queued"));
    let page = ToolView::Fetched { url: "//c1".to_owned(), title: None, bytes: 5, path: None };
    let done = ToolResult { view: Some(page), ..ToolResult::to(&pages[0], "hello", false) };
    change(7, &pages[0], Some(done));
    assert!(scene.shows("Fetched //c1") && scene.shows("Run make · queued"));
    // What a stop left without its turn waits for nothing.
    told(8, &|_| Event::RequestFinished {
        fid: fid(),
        reason: StopReason::Stopped,
        usage: Usage::default(),
        error: None,
    });
    assert!(scene.shows("Run make · no result"), "{:?}", scene.texts());
}

#[gtk::test]
fn what_a_command_writes_is_shown_while_it_runs_and_no_longer() {
    let (scene, message) = calling("run_command", run("make"), 0);
    assert!(scene.shows("62 min"), "{:?}", scene.texts());
    let call = ToolCallId::new(CALL);
    let write = |text: &str| {
        in_session(
            3,
            SessionEvent::ToolOutput {
                message,
                call: call.clone(),
                tail: Arc::from(text),
                bytes: text.len() as u64,
            },
        )
    };
    let running = |running| {
        in_session(
            2,
            SessionEvent::ToolCallChanged { message, call: call.clone(), running, result: None },
        )
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
    let call = ToolCall::new(ToolCallId::new(CALL), "edit_file", Value::Null);
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
    scene.conversation.apply(&[in_session(4, SessionEvent::MessageAdded { message })]);
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
            Part::ToolCall(ToolCall::new(id, name, json!({ "path": "a.rs" })))
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
