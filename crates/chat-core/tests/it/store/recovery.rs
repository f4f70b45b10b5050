//! Replies that were cut by the end of their process.

use std::sync::Arc;

use chat_core::message::{
    Ending, Message, Origin, Part, ProviderData, ReplyFailure, Role, ToolCall, ToolCallId,
    ToolResult,
};
use chat_core::store::{Segment, SegmentKind};
use serde_json::json;

use super::{open, reply, segment, titled, user};

#[tokio::test]
async fn a_reply_that_is_recovered_is_told_from_its_thoughts() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let question = user(None, "Hello?");
    let fid = store.create(titled("Hello"), vec![Arc::clone(&question)]).await.unwrap().meta.fid;
    let begun = reply(&question);
    store.append(&fid, vec![Arc::new(begun.clone())], begun.id).await.unwrap();
    store.journal(vec![segment(&begun, 0, "hm\n</think>\n\nGood day")]).await.unwrap();
    drop(store);

    let store = open(folder.path());
    let sorted = [
        Part::Thinking { text: "hm".into(), took: None, provider: None },
        Part::Text("Good day".into()),
    ];
    let last = store.page(&fid, None, 1).await.unwrap().messages[0].clone();
    assert_eq!(last.parts, sorted, "before anybody recovered it");
    assert_eq!(store.recover().await.unwrap(), std::slice::from_ref(&fid));
    let last = store.page(&fid, None, 1).await.unwrap().messages[0].clone();
    assert_eq!((&last.parts[..], last.ended), (&sorted[..], Some(Ending::Interrupted)));
}

#[tokio::test]
async fn what_came_with_thinking_that_a_kill_cut_is_forgotten() {
    let origin = Origin {
        protocol: "openai".to_owned(),
        connection: "local".to_owned(),
        server: Some("localhost:80".to_owned()),
        model: "smol".to_owned(),
    };
    let data = ProviderData { origin, json: "[1]".to_owned() };
    let json = serde_json::to_string(&data).unwrap();
    for (text, kept) in [("", None), ("Good day", Some(data))] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let question = user(None, "Hello?");
        let fid = store.create(titled("Hello"), vec![Arc::clone(&question)]).await.unwrap();
        let fid = fid.meta.fid;
        let begun = reply(&question);
        store.append(&fid, vec![Arc::new(begun.clone())], begun.id).await.unwrap();
        let piece = |kind, text| Segment { kind, ..segment(&begun, 0, text) };
        let mut segments =
            vec![piece(SegmentKind::Thinking, "hm"), piece(SegmentKind::Provider, &json)];
        if !text.is_empty() {
            segments.push(segment(&begun, 1, text));
        }
        store.journal(segments).await.unwrap();
        drop(store);
        let page = open(folder.path()).page(&fid, None, 1).await.unwrap();
        let message = &page.messages[0];
        assert_eq!(message.ended, Some(Ending::Interrupted));
        assert_eq!(message.provider_data().next(), kept.as_ref(), "{text}");
    }
}

/// A reply that calls tools of these ids, and the result of one of them.
fn calls(asked: &Message, ids: &[&str]) -> Message {
    let call = |id: &&str| {
        let (id, name) = (ToolCallId::new(*id), "run_command".to_owned());
        Part::ToolCall(ToolCall::new(id, name, json!({})))
    };
    let parts = ids.iter().map(call).collect();
    Message { parts, ended: Some(Ending::Complete), ..reply(asked) }
}

fn result_of(calls: &Message, at: usize) -> Arc<Message> {
    let result = ToolResult::to(calls.tool_calls().nth(at).unwrap(), "done", false);
    let parts = vec![Part::ToolResult(result)];
    Arc::new(Message { parts, ..Message::text(Role::Tool, Some(calls.id), "") })
}

#[tokio::test]
async fn a_round_of_tools_that_was_killed_is_interrupted_and_keeps_what_was_written() {
    // So many calls, with results of so many of them.
    for (count, answered) in [(1, 0), (2, 0), (2, 1), (2, 2)] {
        let ids = &["c1", "c2"][..count];
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let asked = user(None, "Build it");
        let fid = store.create(titled("Build"), vec![Arc::clone(&asked)]).await.unwrap().meta.fid;
        let round = calls(&asked, ids);
        store.append(&fid, vec![Arc::new(round.clone())], round.id).await.unwrap();
        let mut parent = round.id;
        for at in 0..answered {
            let result = Message { parent: Some(parent), ..Message::clone(&result_of(&round, at)) };
            parent = result.id;
            store.append(&fid, vec![Arc::new(result)], parent).await.unwrap();
        }
        let outputs = folder.path().join("data/outputs").join(fid.as_str());
        std::fs::create_dir_all(&outputs).unwrap();
        std::fs::write(outputs.join("out1.txt"), "Compiling natter\n").unwrap();
        drop(store);
        // As a kill leaves it: nobody gave the session up.
        let raw = rusqlite::Connection::open(folder.path().join("data/natter.db")).unwrap();
        raw.execute("UPDATE sessions SET owner = 'dead'", []).unwrap();
        drop(raw);

        let store = open(folder.path());
        assert_eq!(store.recover().await.unwrap(), std::slice::from_ref(&fid));
        let trouble = store.session(&fid).await.unwrap().trouble;
        assert_eq!(trouble, Some(ReplyFailure::Interrupted), "{answered}");
        let messages = store.page(&fid, None, 9).await.unwrap().messages;
        assert_eq!(messages[1].ended, Some(Ending::Interrupted));
        let of = |message: &Message| match &message.parts[0] {
            Part::ToolResult(result) => (result.call.as_str().to_owned(), result.text.clone()),
            other => panic!("{other:?}"),
        };
        let results: Vec<_> = messages[2..].iter().map(|message| of(message)).collect();
        if count == 1 {
            assert_eq!((results.len(), &*results[0].0), (1, "c1"));
            assert!(results[0].1.contains("Compiling natter"), "{results:?}");
        } else {
            assert_eq!(results.len(), answered, "it cannot be told which of two wrote it");
        }
        assert_eq!(store.recover().await.unwrap(), [], "once");
    }
}

#[tokio::test]
async fn what_ended_well_before_a_kill_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let asked = user(None, "Hello?");
    let done = Message {
        parts: vec![Part::Text("Hello!".to_owned())],
        ended: Some(Ending::Complete),
        ..reply(&asked)
    };
    let messages = vec![asked, Arc::new(done)];
    let fid = store.create(titled("Hello"), messages.clone()).await.unwrap().meta.fid;
    drop(store);
    let raw = rusqlite::Connection::open(folder.path().join("data/natter.db")).unwrap();
    raw.execute("UPDATE sessions SET owner = 'dead'", []).unwrap();
    drop(raw);
    let store = open(folder.path());
    assert_eq!(store.recover().await.unwrap(), []);
    assert_eq!(store.page(&fid, None, 9).await.unwrap().messages, messages);
}
