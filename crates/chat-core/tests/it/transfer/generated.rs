//! Any chat that is exported and imported elsewhere is the same there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chat_core::error::{Error, Kind};
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::{
    AgentReport, AgentState, CommandText, Compaction, Ending, Fid, FromAgent, Message, MessageId,
    ModelRef, Options, Origin, Part, ProviderData, Role, SessionMeta, Thinking, ToolCall,
    ToolCallId, ToolResult, ToolView, Usage, Verdict,
};
use chat_core::permission::Mode;
use chat_core::settings::Folders;
use chat_core::store::{NewSession, SessionExport, SessionPatch, Store};
use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

const TEXT: &str = "\\PC{0,20}";
/// A folder that chats work in, where they come from and where they go to.
const PROJECT: &str = "/home/ada/bridge";

#[derive(Clone, Debug)]
struct Chat {
    meta: SessionMeta,
    messages: Vec<(Option<Index>, Option<Index>, Message)>,
    head: Index,
    pinned: bool,
    archived: bool,
}

fn report(text: String) -> AgentReport {
    AgentReport {
        session: Fid::new("2026-01-15-14-30-45"),
        name: "explorer".to_owned(),
        agent: "code-assistant".to_owned(),
        state: AgentState::Done,
        text,
        error: None,
        usage: usage(3),
        ids: vec![MessageId::from_bytes([7; 16])],
    }
}

fn usage(tokens: u64) -> Usage {
    Usage { prompt_tokens: Some(tokens), total_ms: Some(tokens * 2), ..Usage::default() }
}

fn result((text, failed, view): (String, bool, bool)) -> Part {
    let call = ToolCall::new(ToolCallId::new("c1"), "read_file", json!({}));
    let agents = view.then(|| ToolView::Agents { agents: vec![report(text.clone())] });
    let took = failed.then_some(Duration::from_millis(12));
    let verdict = failed.then(|| Verdict::Denied { message: Some(text.clone()) });
    Part::ToolResult(ToolResult {
        view: agents,
        took,
        verdict,
        ..ToolResult::to(&call, text, failed)
    })
}

fn thinking((text, took, has_data): (String, Option<u64>, bool)) -> Part {
    let origin = Origin {
        protocol: "openai".to_owned(),
        connection: "local".to_owned(),
        server: Some("s".to_owned()),
        model: "smol".to_owned(),
    };
    let provider = has_data.then(|| ProviderData { origin, json: "{\"a\":1.0}".to_owned() });
    Part::Thinking { text, took: took.map(Duration::from_micros), provider }
}

fn part() -> impl Strategy<Value = Part> {
    let data = vec(any::<u8>(), 1..40);
    prop_oneof![
        4 => TEXT.prop_map(Part::Text),
        1 => (TEXT, option::of(0_u64..9_999_999), any::<bool>()).prop_map(thinking),
        1 => data.prop_map(|data| Part::Image { mime: "image/png".to_owned(), data: data.into() }),
        1 => (TEXT, TEXT).prop_map(|(name, text)| Part::File { name, text }),
        1 => TEXT.prop_map(|text| Part::Context { text }),
        1 => (TEXT, TEXT).prop_map(|(name, text)| Part::Command(CommandText { name, text })),
        1 => (TEXT, any::<bool>()).prop_map(|(text, is_report)| {
            Part::FromAgent(if is_report {
                FromAgent::Report(Box::new(report(text)))
            } else {
                FromAgent::Message { name: text }
            })
        }),
        1 => TEXT.prop_map(|text| {
            let call = ToolCall::new(ToolCallId::generate(), "run", json!({ "command": text, "n": 0.1 }));
            Part::ToolCall(ToolCall { title: Some(text), ..call })
        }),
        1 => (TEXT, any::<bool>(), any::<bool>()).prop_map(result),
        // About the first message, which is put in later.
        1 => option::of(TEXT).prop_map(|summary| {
            let upto = MessageId::from_bytes([0; 16]);
            Part::Compaction(Compaction { upto, summary, keep: 9, undone: false })
        }),
    ]
}

fn message() -> impl Strategy<Value = (Option<Index>, Option<Index>, Message)> {
    let roles = select(vec![Role::User, Role::Assistant, Role::Tool, Role::Ui]);
    let endings = select(vec![
        Ending::Complete,
        Ending::Length,
        Ending::Stopped,
        Ending::Interrupted,
        Ending::Failed,
    ]);
    let errors = select(vec![
        None,
        Some(Error::new(Kind::Cut).on("local").with_detail("reset")),
        Some(Kind::RateLimited { retry_after: Some(Duration::from_millis(1_500)) }.into()),
        Some(Kind::Repetition { fresh: Some(3) }.into()),
    ]);
    let place = (option::weighted(0.9, any::<Index>()), option::weighted(0.2, any::<Index>()));
    let rest = (errors, option::of(0_u64..99), any::<bool>(), 0_i64..1_000_000_000_000_000);
    (place, roles, vec(part(), 0..4), endings, rest).prop_map(
        |((parent, continues), role, parts, ending, (error, tokens, model, time))| {
            let message = Message {
                parts,
                time: Timestamp::from_nanosecond(1_700_000_000_000_000_000 + i128::from(time))
                    .unwrap(),
                ended: Some(ending),
                error,
                model: model.then(|| ModelRef::new("local", "smol")),
                usage: tokens.map(usage),
                ..Message::text(role, None, "")
            };
            (parent, continues, message)
        },
    )
}

fn chat() -> impl Strategy<Value = Chat> {
    let modes = select(vec![Mode::Ask, Mode::Plan]);
    let thinking = select(vec![Thinking::Default, Thinking::High, Thinking::Off]);
    let meta = (TEXT, option::of(TEXT), any::<bool>(), modes, thinking, option::of(0.0..2.0_f64));
    let meta = meta.prop_map(|(title, instructions, has_project, mode, thinking, temperature)| {
        SessionMeta {
            title,
            agent: "code-assistant".to_owned(),
            model: has_project.then(|| ModelRef::new("local", "smol")),
            thinking,
            options: Options { temperature, ..Options::default() },
            instructions,
            project: has_project.then(|| PathBuf::from(PROJECT)),
            mode,
            ..SessionMeta::default()
        }
    });
    (meta, vec(message(), 1..10), any::<Index>(), any::<bool>(), any::<bool>()).prop_map(
        |(meta, messages, head, pinned, archived)| Chat { meta, messages, head, pinned, archived },
    )
}

/// The chat's messages with ids, and the last one that is shown.
fn tree(chat: &Chat) -> (Vec<Arc<Message>>, MessageId) {
    let ids: Vec<_> = chat.messages.iter().map(|_| MessageId::new()).collect();
    let before = |at: usize, which: &Option<Index>| {
        which.as_ref().filter(|_| at > 0).map(|index| ids[index.index(at)])
    };
    let messages = chat.messages.iter().enumerate().map(|(at, (parent, continues, message))| {
        let mut message = message.clone();
        message.id = ids[at];
        message.parent = before(at, parent);
        message.continues = before(at, continues);
        for part in &mut message.parts {
            if let Part::Compaction(compaction) = part {
                compaction.upto = ids[0];
            }
        }
        Arc::new(message)
    });
    (messages.collect(), ids[chat.head.index(ids.len())])
}

/// An export without what is another for each copy: its id, and the ids of its messages.
fn comparable(export: &SessionExport) -> String {
    let export = SessionExport { fid: Fid::new("a chat"), ..export.clone() };
    let mut text = serde_json::to_string_pretty(&export).unwrap();
    for (at, message) in export.messages.iter().enumerate() {
        text = text.replace(&message.id.to_string(), &format!("message {at}"));
    }
    text
}

#[test]
fn an_exported_chat_is_the_same_where_it_is_imported() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(&Folders::below(from.path())).unwrap().store;
    let other = Store::open(&Folders::below(to.path())).unwrap().store;
    let project = Some(PathBuf::from(PROJECT));
    let meta = SessionMeta { project, ..SessionMeta::default() };
    let new = NewSession { meta, ..NewSession::default() };
    runtime.block_on(other.create(new, Vec::new())).unwrap();
    drop(other);
    let options = StartOptions::new(Folders::below(to.path()));
    let manager = runtime.block_on(Manager::start(options)).unwrap();
    let file = vec![from.path().join("export.json")];
    proptest!(ProptestConfig::with_cases(64), |(chat in chat())| {
        let (original, copy) = runtime.block_on(async {
            let (messages, head) = tree(&chat);
            let new = NewSession { meta: chat.meta.clone(), ..NewSession::default() };
            let fid = store.create(new, messages).await.unwrap().meta.fid;
            let patch = SessionPatch {
                head: Some(Some(head)),
                pinned: Some(chat.pinned),
                archived: Some(chat.archived),
                ..SessionPatch::default()
            };
            store.patch(&fid, patch).await.unwrap();
            let original = store.export(&fid).await.unwrap();
            std::fs::write(&file[0], serde_json::to_vec(&original).unwrap()).unwrap();
            let report = manager.import().run(&file, |_| ()).await.unwrap();
            assert_eq!(report.imported.len(), 1, "{report:?}");
            let copy = manager.sessions().export(&report.imported[0]).await.unwrap();
            (original, copy)
        });
        prop_assert_eq!(original.messages.len(), chat.messages.len());
        prop_assert!(original.messages.iter().all(|it| copy.messages.iter().all(|c| c.id != it.id)));
        prop_assert_eq!(comparable(&copy), comparable(&original));
    });
    runtime.block_on(manager.shutdown());
}
