//! That every option that is set is seen in the request.

use chat_core::client::Request;
use chat_core::message::{OptionKind, OptionName, Options};
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{Model, Server};
use rstest::rstest;
use serde_json::Value;

use crate::wire::{ANTHROPIC, OLLAMA, OPENAI, answer, client, hello};

/// A value that nothing else in a request has, and how it is found there.
fn sample(option: OptionName) -> (&'static str, &'static str) {
    match option.kind() {
        OptionKind::Number { .. } => ("0.3125", "0.3125"),
        OptionKind::Whole { min, .. } if min > 1 => ("3571", "3571"),
        OptionKind::Whole { .. } => ("719", "719"),
        OptionKind::Lines => ("END-OF-IT\nor this", "END-OF-IT"),
        OptionKind::Duration => ("37m", "37m"),
        OptionKind::Schema => ("{\"title\":\"it-is-here\"}", "it-is-here"),
    }
}

/// The body of a request with these options.
async fn body(server: &Server, kind: ConnectionKind, options: Options) -> Value {
    answer(&*client(server, kind), Request { options, ..hello() }).await;
    server.chats().last().unwrap().body.clone()
}

#[rstest]
#[tokio::test]
async fn every_option_that_a_protocol_takes_is_in_its_request_and_no_other_is(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let server = Server::start().with_models([Model::new("scripted").context(32_768)]);
    let plain = body(&server, kind, Options::default()).await;
    for option in OptionName::ALL {
        let (value, seen) = sample(option);
        let mut options = Options::default();
        options.set_text(option, Some(value)).unwrap();
        let sent = body(&server, kind, options).await;
        let is_taken = client(&server, kind).takes(option);
        assert_eq!(sent != plain, is_taken, "{option:?} changes the request");
        assert_eq!(sent.to_string().contains(seen), is_taken, "{option:?}: {sent}");
    }
}

#[tokio::test]
async fn no_option_is_sent_that_nobody_set() {
    let server = Server::start();
    let sent = body(&server, OPENAI, Options::default()).await;
    let mut fields: Vec<_> = sent.as_object().unwrap().keys().cloned().collect();
    fields.sort_unstable();
    assert_eq!(fields, ["messages", "model", "stream", "stream_options"]);
    let sent = body(&server, OLLAMA, Options::default()).await;
    let options: Vec<_> = sent["options"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(options, ["num_ctx"], "which is always sent");
}
