//! A conversation with every kind of tool card in it, without an engine: to look at.
//!
//! `tools_demo [--dark] [--narrow] [--ask command|change|question|form]`

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use adw::prelude::*;
use chat_core::event::{Event, SessionEvent, SessionPlaceholder, Snapshot, Stage, Status};
use chat_core::message::{
    ApprovalId, ApprovalKind, ApprovalRequest, CommandExit, Ending, Fid, FieldKind, Form,
    FormField, FormOption, Message, MessageId, ModelRef, NumberLimits, Part, PermissionRequest,
    Preview, Question, Role, SessionMeta, TextFormat, ToolCall, ToolCallId, ToolResult, ToolView,
    Verdict,
};
use chat_core::permission::{Action, Why};
use chat_core::tool::Registry;
use chat_gtk::conversation::Conversation;
use gtk::glib;
use serde_json::{Value, json};

const DIFF: &str = "@@ -12,7 +12,10 @@\n fn close_block(&mut self, at: Span) {\n-    while let Some(open) = self.stack.last() {\n\
+    while let Some(open) = self.stack.last_mut() {\n         if open.is_cell() { break }\n-        self.pop();\n\
+        let block = self.pop();\n+        self.emit(Event::End(block, at));\n+        tracing::debug!(?block, \"closed\");\n     }\n }\n";

const OUTPUT: &str = "\x1b[1m\x1b[32m   Compiling\x1b[0m natter v0.1.0 (/project)\n\x1b[1m\x1b[33mwarning\x1b[0m: unused \
variable\n\x1b[1m\x1b[34m  --> \x1b[0msrc/parser.rs:17:9\n\x1b[1m\x1b[32m    Finished\x1b[0m in 3.4 s\n\x1b[1m\x1b[32m     \
Running\x1b[0m tests/tables.rs\n\nrunning 3 tests\ntest a_list_in_a_cell ... \x1b[32mok\x1b[0m\ntest a_cell_ends ... \
\x1b[31mFAILED\x1b[0m\n";

fn main() -> glib::ExitCode {
    let app = adw::Application::builder().flags(gtk::gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_activate(show);
    app.run_with_args::<&str>(&[])
}

fn show(app: &adw::Application) {
    sourceview5::init();
    let arguments: Vec<String> = std::env::args().collect();
    let wants = |name: &str| arguments.iter().any(|argument| argument == name);
    if wants("--dark") {
        adw::StyleManager::default().set_color_scheme(adw::ColorScheme::ForceDark);
    }
    let conversation = Conversation::new(|_, output| println!("{output:?}"));
    conversation.set_tools(chat_tools::all().into_iter().collect::<Registry>().toolbox());
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&adw::HeaderBar::builder().css_classes(["flat"]).build());
    content.append(conversation.widget());
    let window = adw::ApplicationWindow::builder()
        .application(app)
        .title("Tools")
        .default_width(if wants("--narrow") { 380 } else { 860 })
        .default_height(860)
        .content(&content)
        .build();
    let place = arguments.iter().position(|argument| argument == "--ask");
    let what = place.and_then(|place| arguments.get(place + 1)).map_or("", String::as_str);
    let (snapshot, reply) = snapshot(asked(what));
    conversation.show(&snapshot);
    let fid = snapshot.session.meta.fid;
    let tail: Arc<str> = Arc::from(OUTPUT);
    conversation.apply(&[
        Event::Session {
            fid: fid.clone(),
            seq: 1,
            event: SessionEvent::ToolCallChanged {
                message: reply,
                call: ToolCallId::new("live"),
                running: true,
                result: None,
            },
        },
        Event::Session {
            fid,
            seq: 2,
            event: SessionEvent::ToolOutput {
                message: reply,
                call: ToolCallId::new("live"),
                bytes: tail.len() as u64,
                tail,
            },
        },
    ]);
    window.present();
    // The view lives as long as the window.
    window.connect_destroy(move |_| drop(conversation.clone()));
}

/// What waits.
fn asked(what: &str) -> Option<ApprovalKind> {
    let permission = |action, target: &str, preview, always: &[&str]| {
        let always = always.iter().map(|rule| rule.parse().expect("a rule")).collect();
        let target = target.to_owned();
        ApprovalKind::Permission(PermissionRequest {
            action,
            target,
            preview,
            reasons: vec![Why::Mode.into()],
            always,
        })
    };
    Some(match what {
        "command" => {
            let text =
                "cargo test --test tables && \\\n    cargo clippy --all-targets | tee lint.txt";
            let (text, folder) = (text.to_owned(), PathBuf::from("/home/ada/natter"));
            let preview = Preview::Command {
                text,
                folder,
                network: false,
                sandboxed: true,
                background: false,
                limit: Some(Duration::from_mins(2)),
                stays_inside: None,
            };
            let rules = ["run:cargo test *", "run:cargo clippy *", "run:tee *", "write:lint.txt"];
            permission(Action::Run, "cargo test", preview, &rules)
        }
        "change" => {
            let diff = DIFF.to_owned();
            let preview = Preview::Change { is_new: false, diff, added: 4, removed: 2 };
            permission(Action::Write, "src/parser.rs", preview, &["write:src/parser.rs"])
        }
        "question" => ApprovalKind::Question(Question {
            text: "Which of the two ways shall I take?".to_owned(),
            choices: vec![
                "Change the parser".to_owned(),
                "Change the tests, since they expect what the standard does not say".to_owned(),
            ],
        }),
        "form" => ApprovalKind::Form(form()),
        _ => return None,
    })
}

/// What a server asks for, with a field of each kind.
fn form() -> Form {
    let field = |name: &str, description: &str, required, kind| FormField {
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()).filter(|text| !text.is_empty()),
        required,
        kind,
    };
    let options = ["Bug", "Feature", "A question that is somewhat longer than the others"];
    let options: Vec<_> =
        options.map(|title| FormOption { value: title.to_owned(), title: title.to_owned() }).into();
    let format = Some(TextFormat::Email);
    let mail = FieldKind::Text { min_length: None, max_length: None, format, default: None };
    let hours = NumberLimits { min: Some(1), max: Some(40), default: Some(8) };
    let (min_items, max_items, default) = (None, Some(2), Vec::new());
    Form {
        server: "Issues".to_owned(),
        message: "The issue needs to be assigned before it can be filed.".to_owned(),
        fields: vec![
            field("Email", "Where the tracker writes to", true, mail),
            field("Hours", "", false, FieldKind::Integer(hours)),
            field("Kind", "", true, FieldKind::Choice { options: options.clone(), default: None }),
            field(
                "Labels",
                "",
                false,
                FieldKind::Choices { options, min_items, max_items, default },
            ),
            field("Notify everybody", "", false, FieldKind::Switch { default: Some(true) }),
        ],
    }
}

/// A reply that called these tools, and their answers.
fn snapshot(asked: Option<ApprovalKind>) -> (Snapshot, MessageId) {
    let now = jiff::Timestamp::now();
    let user =
        Message::text(Role::User, None, "The parser panics when a list ends inside a table cell.");
    let mut reply = Message::reply(None, ModelRef::new("local", "qwen3-coder:30b"));
    let mut results = Message::text(Role::Tool, None, "");
    results.parts.clear();
    let mut add = |id: &str, name: &str, arguments: Value, ms: u64, view, verdict, failed| {
        let call = ToolCall::new(ToolCallId::new(id), name, arguments);
        let took = Some(Duration::from_millis(ms));
        let result = ToolResult { view, took, verdict, ..ToolResult::to(&call, OUTPUT, failed) };
        reply.parts.push(Part::ToolCall(call));
        results.parts.push(Part::ToolResult(result));
    };
    let path = || "src/parser.rs".to_owned();
    let read = ToolView::Read { path: path(), from: Some(1), to: Some(180) };
    add("1", "read_file", json!({ "path": path() }), 12, Some(read), None, false);
    let searched = ToolView::Searched { pattern: "TableCell".to_owned(), matches: 9, files: 3 };
    add("2", "search_files", json!({ "pattern": "TableCell" }), 4, Some(searched), None, false);
    let edited = ToolView::Edited {
        path: path(),
        diff: DIFF.to_owned(),
        added: 4,
        removed: 2,
        created: false,
    };
    let allowed = Some(Verdict::Allowed);
    add("3", "edit_file", json!({ "path": path() }), 3, Some(edited), allowed.clone(), false);
    let ran = ToolView::Ran {
        command: "cargo test".to_owned(),
        exit: Some(CommandExit::Status(101)),
        output: None,
        sandboxed: true,
        quarantined: Vec::new(),
    };
    add("4", "run_command", json!({ "command": "cargo test" }), 12_300, Some(ran), allowed, false);
    let denied = Verdict::Denied { message: Some("not the lock file, please".to_owned()) };
    add("5", "delete_file", json!({ "path": "Cargo.lock" }), 0, None, Some(denied), true);
    add("6", "read_file", json!({ "path": "nowhere.rs" }), 1, None, None, true);
    let call = |id: &str, name: &str, arguments| {
        Part::ToolCall(ToolCall::new(ToolCallId::new(id), name, arguments))
    };
    reply.ended = Some(Ending::Complete);
    let mut next = Message::reply(None, ModelRef::new("local", "qwen3-coder:30b"));
    next.parts.push(Part::Text("I change it, and run the tests.".to_owned()));
    next.parts.push(call("live", "run_command", json!({ "command": "cargo test --test tables" })));
    let mut asks = Vec::new();
    if let Some(what) = asked {
        next.parts.push(call("asks", "run_command", json!({ "command": "cargo test" })));
        let (id, call, tool) =
            (ApprovalId::generate(), ToolCallId::new("asks"), "run_command".to_owned());
        asks.push(Arc::new(ApprovalRequest { id, call, tool, kind: what }));
    }
    next.ended = Some(Ending::Complete);
    let at_work = next.id;
    let snapshot = Snapshot {
        session: SessionPlaceholder {
            meta: SessionMeta {
                fid: Fid::new("2026-01-15-14-30-45"),
                title: "Fix the parser".to_owned(),
                agent: "just-ask".to_owned(),
                created: now,
                updated: now,
                ..SessionMeta::default()
            },
            status: Status::NeedsInput,
            activity: None,
        },
        messages: [user, reply, results, next].into_iter().map(Arc::new).collect(),
        more: false,
        queue: Vec::new(),
        stage: Stage::Streaming,
        asks,
        calls: Vec::new(),
        commands: Vec::new(),
        todos: Vec::new(),
        seq: 0,
    };
    (snapshot, at_work)
}
