//! `kill -9` at any moment: what was confirmed is there, and nothing that was never written.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{Ending, Fid, Message};
use chat_core::store::SegmentKind;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::{open, reply, segment, titled, user};
use crate::another::{self, Talking, say};

/// How often the process is killed.
const KILLS: u32 = 12;

/// What the process says before and after each step.
#[derive(Serialize, Deserialize)]
enum Step {
    /// The session of this id holds the question; its answer has begun.
    Begun { fid: String, question: String },
    /// This piece of the last session's answer is about to be written.
    Writing(String),
    /// All pieces so far are on disk.
    Written,
    /// The answer is about to end.
    Ending,
    /// It has ended, complete.
    Ended,
}

fn tell(step: &Step) {
    say(&serde_json::to_string(step).unwrap());
    another::wait();
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn writes_until_it_is_killed() {
    let store = open(&another::folder());
    store.recover().await.unwrap();
    let mut random = StdRng::from_os_rng();
    loop {
        let question = format!("question {}", random.random::<u64>());
        let asked = user(None, &question);
        let begun = reply(&asked);
        let messages = vec![Arc::clone(&asked), Arc::new(begun.clone())];
        let fid = store.create(titled(&question), messages).await.unwrap().meta.fid;
        tell(&Step::Begun { fid: fid.to_string(), question });
        let mut text = String::new();
        for _ in 0..random.random_range(0..40) {
            let piece = "模ß-x".repeat(random.random_range(1..300));
            let piece = format!("{piece}{}", random.random::<u64>());
            tell(&Step::Writing(piece.clone()));
            text.push_str(&piece);
            store.journal(vec![segment(&begun, 0, &piece)]).await.unwrap();
            tell(&Step::Written);
        }
        tell(&Step::Ending);
        let part = chat_core::message::Part::Text(text);
        let done = Message { parts: vec![part], ended: Some(Ending::Complete), ..begun };
        store.fold(&fid, Arc::new(done)).await.unwrap();
        tell(&Step::Ended);
    }
}

/// What must be in the store of one session.
#[derive(Default)]
struct Expected {
    question: String,
    /// All that may be there of the answer.
    written: String,
    /// How much of it, in bytes, must be there.
    confirmed: usize,
    /// Whether the answer may, or must, be complete.
    ending: bool,
    ended: bool,
}

#[tokio::test]
async fn what_was_confirmed_survives_kill_9() {
    let seed = std::env::var("NATTER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| StdRng::from_os_rng().random());
    println!("NATTER_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut expected: HashMap<String, Expected> = HashMap::new();
    for kill in 0..KILLS {
        let mut writer = Talking::start("store::kill::writes_until_it_is_killed", folder.path());
        let mut said = vec![writer.hear().unwrap()];
        // Step by step to a place of which the machine's speed decides nothing: every other time
        // the end comes there, and otherwise anywhere in what follows, in the middle of a write too.
        for _ in 0..random.random_range(0..60) {
            writer.go_on();
            said.push(writer.hear().unwrap());
        }
        if kill % 2 == 0 {
            writer.let_run();
            std::thread::sleep(Duration::from_micros(random.random_range(0..3_000)));
        }
        said.extend(writer.kill());
        let mut last = String::new();
        for step in &said {
            match serde_json::from_str(step).unwrap() {
                Step::Begun { fid, question } => {
                    expected.insert(fid.clone(), Expected { question, ..Expected::default() });
                    last = fid;
                }
                Step::Writing(piece) => expected.get_mut(&last).unwrap().written.push_str(&piece),
                Step::Written => {
                    let expected = expected.get_mut(&last).unwrap();
                    expected.confirmed = expected.written.len();
                }
                Step::Ending => expected.get_mut(&last).unwrap().ending = true,
                Step::Ended => expected.get_mut(&last).unwrap().ended = true,
            }
        }
        check(folder.path(), &expected).await;
    }
    let complete = expected.values().filter(|e| e.ended).count();
    println!("{} answers, {complete} complete", expected.len());
}

async fn check(folder: &std::path::Path, expected: &HashMap<String, Expected>) {
    let store = open(folder);
    store.recover().await.unwrap();
    for (fid, expected) in expected {
        let page = store.page(&Fid::new(fid.as_str()), None, 9).await.unwrap();
        let [question, answer] = page.messages.as_slice() else { panic!("{fid}: {page:?}") };
        assert_eq!(question.plain_text(), expected.question);
        let text = answer.plain_text();
        assert!(expected.written.starts_with(&text), "{fid} holds what was never written");
        assert!(text.len() >= expected.confirmed, "{fid} lost what was confirmed");
        match answer.ended {
            Some(Ending::Complete) => assert!(expected.ending, "{fid} never ended"),
            ended => {
                assert!(!expected.ended, "{fid} forgot its end");
                assert_eq!((ended, &answer.error), (Some(Ending::Interrupted), &None), "{fid}");
            }
        }
        let found = store.search(&expected.question, 9).await.unwrap().hits;
        assert_eq!(found.len(), 1, "{fid} is not found");
        assert_eq!(found[0].session.trouble, answer.ended.and_then(Ending::trouble));
    }
}

#[tokio::test]
async fn a_tool_call_that_arrived_whole_survives() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Talking::start("store::kill::begins_a_tool_call", folder.path());
    let fid = Fid::new(writer.hear().unwrap());
    writer.kill();
    let store = open(folder.path());
    assert_eq!(store.recover().await.unwrap(), std::slice::from_ref(&fid));
    let page = store.page(&fid, None, 1).await.unwrap();
    let names: Vec<_> = page.messages[0].tool_calls().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["look"], "a broken one is left out");
    assert_eq!(page.messages[0].plain_text(), "Let me see.");
    assert_eq!(store.recover().await.unwrap(), [], "once is enough");
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn begins_a_tool_call() {
    let store = open(&another::folder());
    let asked = user(None, "?");
    let begun = reply(&asked);
    let messages = vec![asked, Arc::new(begun.clone())];
    let fid = store.create(titled("tools"), messages).await.unwrap().meta.fid;
    let call = |at, json| chat_core::store::Segment {
        kind: SegmentKind::ToolCall,
        ..segment(&begun, at, json)
    };
    let segments = vec![
        segment(&begun, 0, "Let me "),
        segment(&begun, 0, "see."),
        call(1, r#"{"id": "1", "name": "look", "arguments": {}}"#),
        call(2, r#"{"id": "2", "name": "lo"#),
    ];
    store.journal(segments).await.unwrap();
    say(fid.as_str());
    another::wait();
}
