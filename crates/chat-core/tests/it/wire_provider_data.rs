//! What goes back to a server of what it sent along with a reply, and what does not.

use std::sync::Arc;

use chat_core::client::{Client, Delta, Request, connect};
use chat_core::error::Kind;
use chat_core::message::{
    Message, Origin, Part, ProviderData, Role, ToolCall, ToolCallId, ToolResult,
};
use chat_testkit::server::{Model, Script, Server};
use rstest::rstest;
use serde_json::{Value, json};

use crate::wire::{OPENAI, answer, ask, client, connection, hello, timeouts, user};

/// What this server's model sent along.
fn data(server: &Server, model: &str, json: &str) -> ProviderData {
    ProviderData {
        origin: Origin {
            protocol: "openai".to_owned(),
            connection: "here".to_owned(),
            server: Some(Origin::digest(&format!("{}/v1", server.url()))),
            model: model.to_owned(),
        },
        json: json.to_owned(),
    }
}

/// A chat with a call of this model, which came with signatures that begin so.
fn signed(server: &Server, model: &str, by: &str) -> Vec<Arc<Message>> {
    let data = |json: Value| Some(data(server, model, &json.to_string()));
    let detail = json!({ "type": "reasoning.text", "text": "Hm.", "signature": format!("{by}1") });
    let extra = data(json!({ "google": { "thought_signature": format!("{by}2") } }));
    let call = ToolCall::new(ToolCallId::new("c1"), "look", json!({}));
    let result = ToolResult::to(&call, "Nothing there.", false);
    let parts = vec![
        Part::Thinking { text: "Hm.".to_owned(), took: None, provider: data(json!([detail])) },
        Part::ToolCall(ToolCall { provider: extra, ..call }),
    ];
    let reply = Message { parts, ..Message::text(Role::Assistant, None, "") };
    vec![user("Look"), Arc::new(reply), Arc::new(Message::tool_result(result))]
}

/// A chat whose reply ended before the signature of its thoughts came.
fn unsigned(server: &Server) -> Vec<Arc<Message>> {
    let parts = vec![
        Part::Thinking {
            text: "Well.".to_owned(),
            took: None,
            provider: Some(data(server, "scripted", &format!("[{HALF}]"))),
        },
        Part::Text("Yes.".to_owned()),
    ];
    let reply = Message { parts, ..Message::text(Role::Assistant, None, "") };
    vec![user("Sure?"), Arc::new(reply), user("Really?")]
}

/// A chat whose first thoughts nothing proves, and whose second are signed.
fn both(server: &Server) -> Vec<Arc<Message>> {
    let plain = vec![
        Part::Thinking { text: "Well.".to_owned(), took: None, provider: None },
        Part::Text("Yes?".to_owned()),
    ];
    let plain = Message { parts: plain, ..Message::text(Role::Assistant, None, "") };
    [vec![user("Hello"), Arc::new(plain)], signed(server, "scripted", "s")].concat()
}

fn refusal(words: &str) -> Script {
    Script::status(400, &json!({ "error": { "message": words } }).to_string())
}

/// Whether the last request brought back reasoning as plain text, details, and a call's signature.
fn brought_back(server: &Server) -> [bool; 3] {
    let chats = server.chats();
    let messages = chats.last().unwrap().body["messages"].as_array().unwrap();
    let any = |has: fn(&Value) -> bool| messages.iter().any(has);
    [
        any(|message| message["reasoning_content"] == "Well."),
        any(|message| message["reasoning_details"].is_array()),
        any(|message| message["tool_calls"][0]["extra_content"].is_object()),
    ]
}

/// The signatures that the last request brought back.
fn signatures(server: &Server) -> Vec<String> {
    let chats = server.chats();
    let messages = chats.last().unwrap().body["messages"].as_array().unwrap();
    let of = |message: &Value| {
        let detail = message["reasoning_details"][0]["signature"].as_str();
        let call = &message["tool_calls"][0]["extra_content"];
        let call = call["google"]["thought_signature"].as_str();
        detail.into_iter().chain(call).map(str::to_owned).collect::<Vec<_>>()
    };
    messages.iter().flat_map(of).collect()
}

async fn say(client: &dyn Client, messages: Vec<Arc<Message>>) {
    answer(client, Request { messages, ..hello() }).await;
}

#[rstest]
#[case("Unknown name \"extra_content\" at 'messages[1].tool_calls[0]': Cannot find field.")]
#[case("('messages.1' : property 'reasoning_details' is unsupported)")]
#[case("reasoning_details: Extra inputs are not permitted")]
#[tokio::test]
async fn a_field_that_a_server_refuses_is_sent_in_no_chat_of_the_model(#[case] words: &str) {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let client = client(&server, OPENAI);
    server.push(refusal(words));
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 2);
    assert_eq!(brought_back(&server), [true, false, false], "the plain reasoning was not meant");
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 3, "it need not be refused again");
    assert_eq!(brought_back(&server), [true, false, false]);
    say(&*client, signed(&server, "scripted", "t")).await;
    assert_eq!(brought_back(&server), [false; 3]);
    let messages = signed(&server, "other", "s");
    let other = Request { messages, model: "other".to_owned(), ..hello() };
    answer(&*client, other).await;
    assert_eq!(brought_back(&server), [false, true, true], "another model said nothing of it");
}

#[rstest]
#[case("messages.1.content.0: Invalid `signature` in `thinking` block")]
#[case("messages.7.content.2: Invalid signature in thinking block")]
#[case("messages.1.content.0.thinking.signature: Field required")]
#[case("`thinking` or `redacted_thinking` blocks in the latest message cannot be modified.")]
#[case("Unable to submit request because Thought signature is not valid.")]
#[case("The encrypted content gAAA could not be verified.")]
#[case("The encrypted content gAAA could not be verified. Reason: unexpected organization.")]
#[tokio::test]
async fn a_value_that_a_server_refuses_is_left_out_and_no_other(#[case] words: &str) {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let client = client(&server, OPENAI);
    server.push(refusal(words));
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 2);
    assert_eq!(brought_back(&server), [true, false, false], "the plain reasoning was not meant");
    say(&*client, signed(&server, "scripted", "t")).await;
    assert_eq!(signatures(&server), ["t1", "t2"], "another chat keeps its own");
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 4, "it need not be refused again");
    assert_eq!(brought_back(&server), [true, false, false]);
    say(&*client, [both(&server), signed(&server, "scripted", "u")].concat()).await;
    assert_eq!(signatures(&server), ["u1", "u2"], "what came later goes back");
    let messages = signed(&server, "other", "s");
    let other = Request { messages, model: "other".to_owned(), ..hello() };
    answer(&*client, other).await;
    assert_eq!(signatures(&server), ["s1", "s2"], "another model said nothing of it");
}

const MISSED: &str = "Function call is missing a thought_signature in functionCall parts.";

#[rstest]
#[case(MISSED)]
#[case("messages.1.content.0: the signature of the thinking block is missing")]
#[tokio::test]
async fn what_lacks_its_signature_is_left_out(#[case] words: &str) {
    let server = Server::start();
    let client = client(&server, OPENAI);
    server.push(refusal(words));
    say(&*client, unsigned(&server)).await;
    assert_eq!(server.chats().len(), 2);
    assert_eq!(brought_back(&server), [true, false, false]);
    say(&*client, unsigned(&server)).await;
    assert_eq!(server.chats().len(), 3, "it need not be refused again");
    assert_eq!(brought_back(&server), [true, false, false]);
    say(&*client, signed(&server, "scripted", "t")).await;
    assert_eq!(signatures(&server), ["t1", "t2"], "another chat keeps its own");
}

#[tokio::test]
async fn what_lacks_its_signature_is_left_out_beside_what_was_refused_before() {
    let server = Server::start();
    let client = client(&server, OPENAI);
    server.push(refusal("Invalid signature in thinking block"));
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 2);
    // It cannot be told which of them is missed until all were tried.
    server.push(refusal("the signature of the thinking block is missing"));
    server.push(refusal("Invalid signature in thinking block"));
    let later = || [both(&server), unsigned(&server)].concat();
    say(&*client, later()).await;
    assert_eq!(server.chats().len(), 5);
    assert_eq!(brought_back(&server), [true, false, false]);
    say(&*client, later()).await;
    assert_eq!(server.chats().len(), 6, "none need be refused again");
    assert_eq!(brought_back(&server), [true, false, false]);
}

#[rstest]
#[case(["property 'reasoning_content' is unsupported", "Invalid signature in thinking block"])]
#[case(["Invalid signature in thinking block", "property 'reasoning_content' is unsupported"])]
#[case(["Extra inputs are not permitted", "Extra inputs are not permitted"])]
#[tokio::test]
async fn a_server_may_refuse_both_kinds_of_reasoning_one_after_the_other(
    #[case] refusals: [&str; 2],
) {
    let server = Server::start();
    let client = client(&server, OPENAI);
    for words in refusals {
        server.push(refusal(words));
    }
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 3);
    assert_eq!(brought_back(&server), [false; 3]);
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 4, "neither need be refused again");
    assert_eq!(brought_back(&server), [false; 3]);
}

#[rstest]
#[case("Invalid signature in thinking block", 2)]
#[case("Extra inputs are not permitted", 3)]
#[case("`temperature` may only be set to 1 when `thinking` is enabled", 1)]
#[case(MISSED, 2)]
#[tokio::test]
async fn what_is_refused_whatever_goes_back_is_asked_at_most_once_for_each_kind(
    #[case] words: &str,
    #[case] asked: usize,
) {
    let server = Server::start();
    let client = client(&server, OPENAI);
    for _ in 0..asked {
        server.push(refusal(words));
    }
    let (_, error) = ask(&*client, Request { messages: both(&server), ..hello() }).await;
    assert_eq!(error.unwrap().kind, Kind::BadRequest);
    assert_eq!(server.chats().len(), asked);
    say(&*client, both(&server)).await;
    assert_eq!(brought_back(&server), [true; 3], "it was about something else");
}

#[rstest]
#[case("Corrupted thought signature.")]
#[case("property 'extra_content' is unsupported")]
#[tokio::test]
async fn a_server_that_misses_what_it_refused_gets_it_again(#[case] words: &str) {
    let server = Server::start();
    let client = client(&server, OPENAI);
    server.push(refusal(words));
    say(&*client, both(&server)).await;
    server.push(refusal(MISSED));
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 4);
    assert_eq!(brought_back(&server), [true; 3]);
    say(&*client, both(&server)).await;
    assert_eq!(server.chats().len(), 5, "it need not be missed again");
    assert_eq!(brought_back(&server), [true; 3]);
}

/// A piece of a reply that carries this detail.
fn details(json: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"reasoning_details\":[{json}]}}}}]}}\n\n")
}

const HALF: &str = r#"{"type":"reasoning.text","index":0,"text":"Hm."}"#;
const SIGNED: &str = r#"{"type":"reasoning.text","index":0,"text":"Hm.","signature":"s1"}"#;

/// What a reply that breaks off wants back.
async fn wanted_back(script: Script) -> Vec<String> {
    let server = Server::start();
    server.push(script);
    let (deltas, error) = ask(&*client(&server, OPENAI), hello()).await;
    assert_eq!(error.unwrap().kind, Kind::Cut);
    let json = |delta| match delta {
        Delta::Provider { data, .. } => Some(data.json),
        _ => None,
    };
    deltas.into_iter().filter_map(json).collect()
}

#[tokio::test]
async fn reasoning_that_broke_off_is_not_wanted_back() {
    let thinking = || Script::new().thinking("Hm.");
    let none: [String; 0] = [];
    assert_eq!(wanted_back(thinking().bytes(details(HALF)).end_early()).await, none);
    assert_eq!(wanted_back(thinking().bytes(details(HALF)).cut()).await, none);
    let whole = || thinking().bytes(details(SIGNED)).text("I look.");
    assert_eq!(wanted_back(whole().cut()).await, [format!("[{SIGNED}]")]);
    let second = whole().thinking("Well.").bytes(details(HALF)).cut();
    assert_eq!(wanted_back(second).await, [format!("[{SIGNED}]")], "the first stretch was whole");
}

#[tokio::test]
async fn another_path_of_a_host_is_another_server() {
    let server = Server::start();
    let client = client(&server, OPENAI);
    server.push(Script::new().bytes(details(SIGNED)).text("Yes."));
    let provider = answer(&*client, hello()).await.into_iter().find_map(|delta| match delta {
        Delta::Provider { data, .. } => Some(data),
        _ => None,
    });
    let parts = vec![Part::Thinking { text: "Hm.".to_owned(), took: None, provider }];
    let reply = Arc::new(Message { parts, ..Message::text(Role::Assistant, None, "") });
    let messages = vec![user("Hello!"), reply, user("Sure?")];
    say(&*client, messages.clone()).await;
    assert_eq!(signatures(&server), ["s1"]);
    let elsewhere = connection(&format!("{}/elsewhere/v1", server.url()));
    let elsewhere = connect(&elsewhere, OPENAI, None, timeouts()).unwrap();
    // Nobody answers there; what was sent there is what counts.
    let (_, error) = ask(&*elsewhere, Request { messages, ..hello() }).await;
    assert_eq!(error.unwrap().kind, Kind::WrongUrl);
    assert_eq!(server.chats().last().unwrap().path, "/elsewhere/v1/chat/completions");
    assert!(signatures(&server).is_empty());
}
