//! Tests recorded replies that are cut off.

use chat_core::chat::{Chat, Progress};
use chat_core::error::Kind;
use chat_core::settings::ConnectionKind;
use chat_testkit::fixtures::Fixture;
use chat_testkit::server::{Script, Server};
use rstest::rstest;
use tokio_util::sync::CancellationToken;

use crate::wire::{ANTHROPIC, OLLAMA, OPENAI, ask, client, hello, user};

/// A recorded stream that is cut at any byte is never taken for a whole one, and never for rubbish.
#[rstest]
#[case(OPENAI, Fixture::LLAMA_CPP, "stream.sse", "\"finish_reason\":\"stop\"")]
#[case(OPENAI, Fixture::LLAMA_CPP, "tool-call.sse", "\"finish_reason\":\"tool_calls\"")]
#[case(OPENAI, Fixture::VLLM, "stream.sse", "\"finish_reason\":\"tool_calls\"")]
#[case(OLLAMA, Fixture::OLLAMA, "stream.ndjson", "\"done\":true")]
#[case(ANTHROPIC, Fixture::ANTHROPIC, "stream.sse", "\"stop_reason\":\"tool_use\"")]
#[tokio::test]
async fn cut_anywhere(
    #[case] kind: ConnectionKind,
    #[case] fixture: Fixture,
    #[case] name: &str,
    #[case] last_word: &str,
) {
    let bytes = fixture.read(name);
    let ended = String::from_utf8_lossy(&bytes).find(last_word).unwrap();
    let server = Server::start();
    let client = client(&server, kind);
    for at in 0..ended {
        server.push(Script::raw(bytes[..at].to_vec()));
        let (deltas, error) = ask(&*client, hello()).await;
        assert_eq!(error.map(|e| e.kind), Some(Kind::Cut), "cut at {at}: {deltas:?}");
    }
}

/// A call of which the end is missing is never asked for, wherever the stream broke.
#[tokio::test]
async fn a_cut_call_is_not_made() {
    let bytes = Fixture::LLAMA_CPP.read("tool-call.sse");
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let server = Server::start();
    let mut asked_for = Vec::new();
    for end in ends {
        server.push(Script::raw(bytes[..end].to_vec()));
        let mut chat = Chat::new(client(&server, OPENAI), hello().model);
        let mut calls = 0;
        let mut progress = |progress: Progress<'_>| {
            calls += usize::from(matches!(progress, Progress::ToolCallRequested(_)));
        };
        let ended = chat.send(vec![user("hi")], &CancellationToken::new(), &mut progress).await;
        assert_eq!(calls, usize::from(ended.is_ok()), "cut at {end}: {ended:?}");
        asked_for.push(calls);
    }
    assert_eq!((asked_for.first(), asked_for.last()), (Some(&0), Some(&1)));
}
