//! Bad servers: each is recognized as what it is, and none makes the client wait for ever.

use std::time::Duration;

use chat_mcp::client::{Discovery, Fault};
use chat_mcp::transport::{CutOff, LONGEST_MESSAGE};
use rstest::rstest;
use serde_json::json;
use tokio::time::timeout;

use super::{PATIENCE, Server, call, call_within};

#[tokio::test]
async fn one_that_dies_at_its_start_is_not_there() {
    assert_eq!(Server::scripted(&["dies-at-start"]).await.err(), Some(Fault::Closed(None)));
}

#[tokio::test]
async fn one_that_never_answers_is_given_up() {
    let command = chat_testkit::mcp::scripted(&["silent"]);
    // Where nothing comes time passes by itself.
    tokio::time::pause();
    let connected = Server::connect(&command, Discovery::Ask).await;
    assert_eq!(connected.err(), Some(Fault::TimedOut));
}

#[rstest]
#[case("dies-while-listing", None)]
#[case("flood", Some(CutOff::Flood))]
#[case("pings", Some(CutOff::Flood))]
#[case("asks", Some(CutOff::Flood))]
#[case("bad-json", None)]
#[case("huge-line", Some(CutOff::TooLong(LONGEST_MESSAGE)))]
#[tokio::test]
async fn one_that_misbehaves_loses_its_connection(#[case] mode: &str, #[case] why: Option<CutOff>) {
    let server = Server::scripted(&[mode]).await.unwrap();
    assert_eq!(server.client().tools().await.unwrap_err(), Fault::Closed(why));
    assert!(server.client().ending().has_ended());
}

#[rstest]
#[case("wrong-ids")]
#[case("bad-json")]
#[tokio::test]
async fn an_answer_to_something_else_is_none(#[case] mode: &str) {
    let server = Server::scripted(&[mode]).await.unwrap();
    // Its answer is there long before.
    let limit = Duration::from_millis(500);
    let answer = call_within(limit, server.client(), "echo", json!({ "message": "" })).await;
    assert_eq!(answer.unwrap_err(), Fault::TimedOut);
}

#[tokio::test]
async fn a_call_ends_although_the_server_reads_nothing() {
    let server = Server::scripted(&["deaf"]).await.unwrap();
    let limit = Duration::from_millis(500);
    // The first is read, the second fills the pipe, and the third waits behind it.
    for message in ["short".to_owned(), "long".repeat(1 << 20), "short".to_owned()] {
        let calling = call_within(limit, server.client(), "echo", json!({ "message": message }));
        let answer = timeout(PATIENCE, calling).await.expect("the call never ended");
        assert_eq!(answer.unwrap_err(), Fault::TimedOut);
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_ends_it() {
    let server = Server::scripted(&["good"]).await.unwrap();
    let fault = call(server.client(), "die", json!({})).await.unwrap_err();
    assert_eq!(fault, Fault::Closed(None));
    assert!(server.client().ending().has_ended());
}

#[tokio::test]
async fn pages_without_end_are_cut() {
    let server = Server::scripted(&["endless-cursor"]).await.unwrap();
    let list = server.client().tools().await.unwrap();
    assert!(list.is_cut);
    assert!(!list.tools.is_empty());
}

#[tokio::test]
async fn bad_tools_hide_no_good_one() {
    let server = Server::scripted(&["bad-tools"]).await.unwrap();
    let list = server.client().tools().await.unwrap();
    assert!(list.tools.iter().any(|tool| tool.name == "good"), "{:?}", list.tools);
    assert!(list.unreadable >= 3, "{}", list.unreadable);
}
