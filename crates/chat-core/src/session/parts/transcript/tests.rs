use super::*;
use crate::message::{Ending, ModelRef, Origin, ProviderData};

fn begun() -> (Transcript, Arc<Message>) {
    let mut transcript = Transcript::default();
    let question = Arc::new(Message::text(Role::User, None, "Why?"));
    transcript.append(Arc::clone(&question));
    let reply = Message::reply(Some(question.id), ModelRef::new("test", "scripted"));
    transcript.begin_reply(Arc::new(reply));
    (transcript, question)
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn wanted_back(json: &str) -> ProviderData {
    let origin = Origin {
        protocol: "test".to_owned(),
        connection: "test".to_owned(),
        server: Some("localhost:80".to_owned()),
        model: "scripted".to_owned(),
    };
    ProviderData { origin, json: json.to_owned() }
}

fn call() -> Delta {
    let (id, name) = (Some("c1".to_owned()), Some("look".to_owned()));
    Delta::ToolCall { index: 0, id, name, arguments: "{\"a\":".to_owned() }
}

#[test]
fn the_open_reply_is_shown_as_far_as_it_has_come_and_not_part_of_the_history() {
    let (mut transcript, question) = begun();
    assert!(transcript.untouched_reply().is_some());
    transcript.apply(&text("Be"));
    transcript.apply(&text("cause."));
    assert!(transcript.untouched_reply().is_none());
    let branch = transcript.branch().unwrap();
    assert_eq!(branch.last().unwrap().plain_text(), "Because.");
    assert_eq!(transcript.history(), [question]);
}

#[test]
fn calls_of_a_reply_that_broke_off_are_dropped_and_its_texts_kept() {
    let cut = [Ending::Stopped, Ending::Interrupted, Ending::Failed, Ending::Length];
    for (ended, kept) in cut.map(|ended| (ended, 1)).into_iter().chain([(Ending::Complete, 2)]) {
        let (mut transcript, _) = begun();
        transcript.apply(&text("I look."));
        transcript.apply(&call());
        let message = transcript.end_reply(ReplyEnd { ended, error: None }, |_| None).unwrap();
        assert_eq!(message.parts.len(), kept, "{ended:?}");
        assert_eq!(transcript.branch().unwrap().last(), Some(&message));
        assert!(transcript.open_reply().is_none());
    }
}

/// What goes back with a reply that thought, wrote and thought again, and ended so.
fn goes_back(ended: Ending, more: &[Delta]) -> Vec<String> {
    let (mut transcript, _) = begun();
    let thinking = || Delta::Thinking("hm".to_owned());
    let data = |json| Delta::Provider { call: None, data: wanted_back(json) };
    let first = [thinking(), data("[1]"), text("I look."), thinking(), data("[2]")];
    for delta in first.iter().chain(more) {
        transcript.apply(delta);
    }
    let message = transcript.end_reply(ReplyEnd { ended, error: None }, |_| None).unwrap();
    message.provider_data().map(|data| data.json.clone()).collect()
}

#[test]
fn what_a_server_wants_back_with_thinking_that_was_cut_is_forgotten() {
    for ended in [Ending::Stopped, Ending::Interrupted, Ending::Failed, Ending::Length] {
        assert_eq!(goes_back(ended, &[]), ["[1]"], "{ended:?}");
        assert_eq!(goes_back(ended, &[text("There.")]), ["[1]", "[2]"], "{ended:?}");
        assert!(goes_back(ended, &[call()]).is_empty(), "{ended:?}: it led to the call");
    }
    assert_eq!(goes_back(Ending::Complete, &[]), ["[1]", "[2]"]);
    assert_eq!(goes_back(Ending::Complete, &[call()]), ["[1]", "[2]"]);
}

#[test]
fn the_journal_gets_each_byte_once() {
    let (mut transcript, _) = begun();
    transcript.apply(&Delta::Thinking("hm".to_owned()));
    transcript.apply(&text("a"));
    let first = transcript.unjournaled();
    transcript.apply(&text("b"));
    transcript.journaled(&first);
    let texts = |segments: &[Segment]| {
        segments.iter().map(|it| (it.part, it.text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(texts(&first), [(0, "hm".to_owned()), (1, "a".to_owned())]);
    assert_eq!(texts(&transcript.unjournaled()), [(1, "b".to_owned())]);
}

#[test]
fn the_journal_gets_what_a_server_wants_back_once() {
    let (mut transcript, _) = begun();
    let data = wanted_back("[1]");
    transcript.apply(&Delta::Thinking("hm".to_owned()));
    transcript.apply(&Delta::Provider { call: None, data: data.clone() });
    transcript.apply(&Delta::Provider { call: None, data: data.clone() });
    transcript.apply(&text("a"));
    let kinds =
        |segments: &[Segment]| segments.iter().map(|it| (it.part, it.kind)).collect::<Vec<_>>();
    let segments = transcript.unjournaled();
    let expected = [
        (0, SegmentKind::Thinking),
        (0, SegmentKind::Provider),
        (1, SegmentKind::Provider),
        (2, SegmentKind::Text),
    ];
    assert_eq!(kinds(&segments), expected);
    transcript.journaled(&segments);
    assert!(transcript.unjournaled().is_empty());
    let end = ReplyEnd { ended: Ending::Complete, error: None };
    let message = transcript.end_reply(end, |_| None).unwrap();
    assert_eq!(message.provider_data().collect::<Vec<_>>(), [&data, &data]);
}

#[test]
fn a_reply_of_which_nothing_came_leaves_no_trace_when_it_is_withdrawn() {
    let (mut transcript, question) = begun();
    transcript.withdraw_reply();
    assert_eq!(transcript.branch().unwrap(), [Arc::clone(&question)]);
    assert_eq!(transcript.head(), Some(question.id));
}
