//! Tests events, earlier pages, and which answer belongs to which call.

use chat_core::event::{Event, SessionEvent, SessionPlaceholder, Status, TextKind};
use chat_core::message::{
    ApprovalId, ApprovalKind, Content, Context, Delivery, Ending, FromAgent, ModelRef, Question,
    SessionMeta, ToolCall, ToolResult,
};
use jiff::Timestamp;
use serde_json::Value;

use super::*;
use crate::conversation::model::part::PartState;
use crate::conversation::model::reply::SegmentKind;
use crate::conversation::model::row_kind::RowKind;

fn snapshot(messages: Vec<Message>) -> Snapshot {
    Snapshot {
        session: SessionPlaceholder {
            meta: SessionMeta { fid: Fid::new("2026-01-15-14-30-45"), ..SessionMeta::default() },
            status: Status::Answering,
            activity: None,
        },
        messages: messages.into_iter().map(Arc::new).collect(),
        more: false,
        queue: Vec::new(),
        stage: Stage::Waiting { since: Timestamp::UNIX_EPOCH },
        asks: Vec::new(),
        calls: Vec::new(),
        commands: Vec::new(),
        todos: Vec::new(),
        seq: 1,
    }
}

/// A reply that called a tool, and the tool's answer.
fn round(answer: &str) -> [Message; 2] {
    let id = ToolCallId::new("call_0");
    let call = ToolCall::new(id, "run_command", Value::Null);
    let mut result = Message::text(Role::Tool, None, "");
    result.parts = vec![Part::ToolResult(ToolResult::to(&call, answer, false))];
    let mut reply = Message::reply(None, ModelRef::new("Test", "scripted"));
    reply.parts = vec![Part::ToolCall(call)];
    reply.ended = Some(Ending::Complete);
    [reply, result]
}

#[test]
fn what_agents_say_asks_for_work_only_in_their_own_chats() {
    let asked = Message::text(Role::User, None, "Have it done");
    let mut from_agent = Message::text(Role::User, Some(asked.id), "It is done");
    let agent = FromAgent::Message { name: "explorer".to_owned() };
    from_agent.parts.insert(0, Part::FromAgent(agent));
    let transcript = Transcript::of(&snapshot(vec![asked.clone(), from_agent.clone()]));
    assert_eq!(transcript.last_request(false), Some(asked.id));
    assert_eq!(transcript.last_request(true), Some(from_agent.id));
}

/// What tools answered, in order.
fn answers(transcript: &Transcript) -> Vec<Option<&str>> {
    let tools = transcript.entries.iter().flat_map(Entry::tools);
    tools.map(|(_, tool)| tool.result().map(|result| result.text.as_str())).collect()
}

#[test]
fn pictures_of_an_answer_are_those_of_its_call() {
    let [reply, mut result] = round("Red and blue:");
    result.parts.push(Part::Image { mime: "image/png".to_owned(), data: [1, 2].into() });
    let pictures = |transcript: &Transcript| -> Vec<Vec<u8>> {
        let tools = transcript.entries.iter().flat_map(Entry::tools);
        tools.flat_map(|(_, tool)| tool.pictures().iter().map(|data| data.to_vec())).collect()
    };
    let stored = Transcript::of(&snapshot(vec![reply.clone(), result.clone()]));
    assert_eq!(pictures(&stored), [[1, 2]]);

    // The result is told before its message.
    let mut live = Transcript::of(&snapshot(vec![reply.clone()]));
    let Some(Part::ToolResult(answer)) = result.parts.first().cloned() else { panic!() };
    let (message, call) = (reply.id, answer.call.clone());
    let told = [
        SessionEvent::ToolCallChanged {
            message,
            call,
            running: false,
            result: Some(Arc::new(answer)),
        },
        SessionEvent::MessageAdded { message: Arc::new(result) },
    ];
    for (seq, event) in (2..).zip(told) {
        let fid = Fid::new("2026-01-15-14-30-45");
        live.take(&Event::Session { fid, seq, event });
    }
    assert_eq!(pictures(&live), [[1, 2]]);
}

#[test]
fn calls_of_different_replies_may_have_the_same_id() {
    let (first, second) = (round("one"), round("two"));
    let mut late = Transcript::of(&snapshot(second.to_vec()));
    late.more = true;
    let messages = first.clone().map(Arc::new).into();
    late.prepend(&Page { messages, more: false });
    assert_eq!(answers(&late), [Some("one"), Some("two")]);

    let [reply, _] = round("");
    let asks_in = reply.id;
    let all: Vec<_> = first.into_iter().chain(second).chain([reply]).collect();
    let mut transcript = Transcript::of(&snapshot(all.clone()));
    assert_eq!(answers(&transcript), [Some("one"), Some("two"), None]);
    let question = Question { text: "Which?".to_owned(), choices: Vec::new() };
    let id = ApprovalId::generate();
    let ask = Arc::new(ApprovalRequest {
        id,
        call: ToolCallId::new("call_0"),
        tool: "run_command".to_owned(),
        kind: ApprovalKind::Question(question),
    });
    let fid = Fid::new("2026-01-15-14-30-45");
    let event = SessionEvent::ApprovalsChanged { asks: vec![ask] };
    transcript.take(&Event::Session { fid, seq: 2, event });
    let (entry, part) = transcript.ask(None).expect("something waits");
    assert_eq!((transcript.entries[entry].id(), part), (asks_in, 0));
    assert_eq!(transcript.ask(Some(id)), Some((entry, part)));
    assert_eq!(transcript.ask(Some(ApprovalId::generate())), Some((entry, part)), "the newest");
    assert_eq!(
        transcript
            .entries
            .iter()
            .flat_map(Entry::tools)
            .filter(|(_, tool)| tool.ask().is_some())
            .count(),
        1
    );
    // Read again, everything is where it was.
    transcript.renew(&snapshot(all)).expect("the same session");
    assert_eq!(answers(&transcript), [Some("one"), Some("two"), None]);
    assert_eq!(transcript.ask(None), None);
}

#[test]
fn a_reply_was_stopped_where_none_came_of_its_results() {
    let stopped = |messages: &[Message], stage: Stage| {
        let mut transcript = Transcript::of(&Snapshot { stage, ..snapshot(messages.to_vec()) });
        transcript.find_stopped();
        let notices = transcript.entries.iter().map(|entry| entry.notice(false));
        notices.flatten().map(|notice| notice.ending).collect::<Vec<_>>()
    };
    let [reply, result] = round("one");
    let at_work = Stage::Waiting { since: Timestamp::UNIX_EPOCH };
    let said = Message::text(Role::User, Some(result.id), "Go on");
    let mut answer = Message::text(Role::Assistant, Some(result.id), "Done");
    answer.ended = Some(Ending::Complete);
    let both = [reply.clone(), result];
    assert_eq!(stopped(&both, Stage::Idle), [Ending::Stopped]);
    assert_eq!(stopped(&both, at_work), []);
    // Another program may be at work on it.
    assert_eq!(stopped(&[reply], Stage::Idle), []);
    let [reply, result] = both;
    let unanswered = [reply.clone(), result.clone(), said.clone()];
    assert_eq!(stopped(&unanswered, Stage::Idle), [Ending::Stopped]);
    assert_eq!(stopped(&[reply.clone(), result.clone(), answer.clone()], Stage::Idle), []);
    // What was said meanwhile is delivered after the results, and the reply is to both.
    let at_work = Stage::Waiting { since: Timestamp::UNIX_EPOCH };
    assert_eq!(stopped(&unanswered, at_work), []);
    assert_eq!(stopped(&[reply, result, said, answer], Stage::Idle), []);
}

#[test]
fn an_event_counts_though_text_before_it_has_a_later_number() {
    let fid = Fid::new("2026-01-15-14-30-45");
    let reply = Message::reply(None, ModelRef::new("Test", "scripted"));
    let id = reply.id;
    let mut transcript = Transcript::of(&snapshot(vec![reply]));
    // The text became dirty first, and grew until it was taken.
    let event = SessionEvent::TextAdded {
        message: id,
        part: 0,
        kind: TextKind::Text,
        range: 0..2,
        text: "Hi".to_owned(),
    };
    transcript.take(&Event::Session { fid: fid.clone(), seq: 9, event });
    let event = SessionEvent::StageChanged { stage: Stage::Streaming };
    transcript.take(&Event::Session { fid, seq: 3, event });
    assert_eq!(transcript.stage, Stage::Streaming);
    assert_eq!(transcript.text_of(id).as_deref(), Some("Hi"));
}

#[test]
fn a_reply_that_did_not_go_well_can_be_asked_for_again_though_a_message_waits() {
    let is_offered = |ending, waits: bool| {
        let reply = Message { ended: Some(ending), ..Message::text(Role::Assistant, None, "half") };
        let content = Content::text("afterwards");
        let (context, delivery) = (Context::default(), Delivery::Steer);
        let queued = Queued { id: MessageId::new(), content, context, delivery };
        let mut shown = snapshot(vec![Message::text(Role::User, None, "go"), reply]);
        shown.stage = Stage::Idle;
        shown.queue = if waits { vec![queued] } else { Vec::new() };
        Transcript::of(&shown).last().is_some()
    };
    for ending in [Ending::Stopped, Ending::Interrupted, Ending::Failed] {
        assert!(is_offered(ending, true), "{ending:?}");
    }
    // The next message goes out in a moment.
    assert!(!is_offered(Ending::Complete, true) && is_offered(Ending::Complete, false));
}

/// A reply of one text, that goes on with an earlier one or not.
fn reply_of(text: &str, continues: Option<MessageId>) -> Message {
    let mut reply = Message::reply(None, ModelRef::new("Test", "scripted"));
    reply.parts = vec![Part::Text(text.to_owned())];
    (reply.ended, reply.continues) = (Some(Ending::Complete), continues);
    reply
}

#[test]
fn a_reply_and_those_that_go_on_with_it_are_one() {
    let mut first = reply_of("```rust\nfn a() {\n", None);
    first.ended = Some(Ending::Interrupted);
    let mut second = reply_of("", Some(first.id));
    (second.parts, second.ended) = (Vec::new(), None);
    let (of_first, of_second) = (first.id, second.id);
    let mut transcript = Transcript::of(&snapshot(vec![first, second]));
    let kinds = |transcript: &mut Transcript, index: usize| {
        transcript.join_continued();
        let entry = &mut transcript.entries[index];
        entry.kinds();
        while !entry.is_settled() {
            entry.kinds();
        }
        entry.shown_kinds()
    };
    for (start, text) in [(0, "}\n"), (2, "```\n\nDone")] {
        let entry = transcript.entry(of_second).expect("the second");
        assert!(entry.add_text(0, TextKind::Text, start, text));
        kinds(&mut transcript, 1);
    }
    let shown = kinds(&mut transcript, 0);
    let code = |kind: &&RowKind| matches!(kind, RowKind::Segment { kind: SegmentKind::Code, .. });
    assert_eq!(shown.iter().filter(code).count(), 1, "{shown:?}");
    assert!(!shown.contains(&RowKind::Ending) && !shown.contains(&RowKind::Footer), "{shown:?}");
    assert!(kinds(&mut transcript, 1).is_empty(), "nothing of it stands twice");
    let whole = "```rust\nfn a() {\n}\n```\n\nDone";
    assert_eq!(transcript.text_of(of_first).as_deref(), Some(whole));
    assert_eq!(transcript.text_of(of_second).as_deref(), Some(whole));

    // Without the second one the first is what it was.
    transcript.entries.pop();
    let shown = kinds(&mut transcript, 0);
    assert!(shown.contains(&RowKind::Ending), "{shown:?}");
    let PartState::Text(text) = &transcript.entries[0].parts[0] else { panic!("a text") };
    let mut source = String::new();
    text.add_source(&mut source);
    assert_eq!(source, "```rust\nfn a() {\n");
}

#[test]
fn versions_of_a_message_are_not_those_of_its_replies() {
    let asked = Message::text(Role::User, None, "Apples");
    let reply = reply_of("Yes", None);
    let other = MessageId::new();
    let mut transcript = Transcript::of(&snapshot(vec![asked.clone(), reply]));
    assert!(transcript.set_siblings(&[vec![other, asked.id]]));
    let places: Vec<_> =
        transcript.entries.iter().map(|it| it.siblings.map(|it| it.place)).collect();
    assert_eq!(places, [Some(2), None]);
    assert_eq!(transcript.entries[0].shown_kinds(), [RowKind::User, RowKind::OwnLine]);
}

#[test]
fn no_other_version_can_be_shown_while_a_request_is_at_work() {
    let asked = Message::text(Role::User, None, "Apples");
    let mut transcript = Transcript::of(&snapshot(vec![asked.clone(), reply_of("Yes", None)]));
    transcript.set_siblings(&[vec![MessageId::new(), asked.id]]);
    let held = |transcript: &Transcript| -> Vec<bool> {
        transcript.entries.iter().map(|entry| entry.is_held).collect()
    };
    transcript.stage = Stage::Idle;
    transcript.hold_versions();
    assert_eq!(held(&transcript), [false, false]);
    transcript.stage = Stage::Streaming;
    transcript.hold_versions();
    assert_eq!(held(&transcript), [true, false], "only where there are others");
    assert!(transcript.entries[0].dirty);
    transcript.stage = Stage::Idle;
    transcript.hold_versions();
    assert_eq!(held(&transcript), [false, false]);
}

#[test]
fn what_is_deleted_leaves_nothing_new_to_read() {
    let all: Vec<_> =
        ["one", "two", "three"].map(|text| Message::text(Role::User, None, text)).into();
    let has_new = |messages: &[&Message], shown: &[&Message]| {
        let of = |messages: &[&Message]| snapshot(messages.iter().copied().cloned().collect());
        Transcript::of(&of(shown)).renew(&of(messages)).expect("the same session").has_new
    };
    let [one, two, three] = &all[..] else { panic!("three") };
    assert!(!has_new(&[one, two, three], &[one, two, three]));
    assert!(!has_new(&[one, three], &[one, two, three]), "in between");
    assert!(!has_new(&[one, two], &[one, two, three]), "at the end");
    // The space that this leaves is filled with what came before.
    assert!(!has_new(&[one, two], &[two, three]));
    assert!(has_new(&[one, two, three], &[one, two]));
    assert!(has_new(&[one, two, three], &[one, three]));
    let longer = Message { parts: vec![Part::Text("two and more".to_owned())], ..two.clone() };
    assert!(has_new(&[one, &longer, three], &[one, two, three]));
}
