//! Tests the statuses and sentences of real servers.

use std::time::Duration;

use chat_testkit::fixtures::Refusal;
use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue};
use rstest::rstest;
use serde_json::{Value, json};

use super::{SentRequest, of_object, retry_after};
use crate::error::{Error, Feature, Kind};
use crate::message::{Message, Role};
use crate::settings::Key;

fn asked() -> SentRequest {
    let key = Some(Key::new("sk-of-these-tests"));
    SentRequest { model: "m".to_owned(), key, ..SentRequest::default() }
}

fn of_status(status: u16, headers: &HeaderMap, body: &[u8], asked: &SentRequest) -> Error {
    super::of_status(status, headers, body, asked).error
}

fn kind(status: u16, body: &Value) -> Kind {
    of_status(status, &HeaderMap::new(), body.to_string().as_bytes(), &asked()).kind
}

fn too_long(window: Option<u32>) -> Kind {
    Kind::InputTooLong { window, largest: window }
}

fn no(feature: Feature) -> Kind {
    Kind::Unsupported { feature }
}

fn gone() -> Kind {
    Kind::ModelNotFound { model: "m".to_owned() }
}

/// An error in OpenAI's shape.
fn openai(message: &str, kind: &str, code: &Value) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}

#[rstest]
#[case(401, json!({ "error": "unauthorized", "signin_url": "https://ollama.com/connect?x" }),
    Kind::Unauthorized { signin_url: Some("https://ollama.com/connect?x".to_owned()), keyless: false })]
#[case(401, json!({ "error": "unauthorized" }), Kind::Unauthorized { signin_url: None, keyless: false })]
#[case(403, json!({ "error": "this model is not for you" }), Kind::Forbidden)]
#[case(404, json!({ "error": "model 'm' not found" }), gone())]
#[case(404, json!({ "error": "model \"m\" not found, try pulling it first" }), gone())]
#[case(404, json!({ "error": "not found" }), Kind::WrongUrl)]
#[case(400, json!({ "error": "the input length exceeds the context length" }), too_long(None))]
#[case(400, json!({ "error": "registry.ollama.ai/library/m:latest does not support tools" }),
    no(Feature::Tools))]
#[case(400, json!({ "error": "\"m\" does not support thinking" }), no(Feature::Thinking))]
#[case(400, json!({ "error": "\"m\" does not support chat" }), no(Feature::Chat))]
#[case(400, json!({ "error": "invalid options: temperature" }), Kind::BadRequest)]
#[case(429, json!({ "error": "too many requests" }), Kind::RateLimited { retry_after: None })]
#[case(503, json!({ "error": "server busy, please try again. maximum pending requests exceeded" }),
    Kind::Busy)]
#[case(500, json!({ "error": "model requires more system memory (9 GiB) than is available" }),
    Kind::ServerFailed)]
#[case(502, json!({ "error": "cloud is unreachable" }), Kind::ServerFailed)]
fn ollama_says(#[case] status: u16, #[case] body: Value, #[case] expected: Kind) {
    assert_eq!(kind(status, &body), expected);
}

#[rstest]
#[case(401, openai("Incorrect API key provided.", "invalid_request_error", &json!("invalid_api_key")),
    Kind::Unauthorized { signin_url: None, keyless: false })]
#[case(404, openai("The model `m` does not exist or you do not have access to it.",
    "invalid_request_error", &json!("model_not_found")), gone())]
#[case(400, openai("This model's maximum context length is 8192 tokens. However, your messages \
    resulted in 9001 tokens. Please reduce the length of the messages.",
    "invalid_request_error", &json!("context_length_exceeded")), too_long(Some(8_192)))]
#[case(400, openai("Your input exceeds the context window of this model.",
    "invalid_request_error", &json!("context_length_exceeded")), too_long(None))]
#[case(429, openai("You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota", &json!("insufficient_quota")), Kind::NoCredit)]
#[case(429, openai("Rate limit reached for m", "requests", &json!("rate_limit_exceeded")),
    Kind::RateLimited { retry_after: None })]
#[case(404, openai("This is not a chat model and thus not supported in the v1/chat/completions \
    endpoint.", "invalid_request_error", &Value::Null), no(Feature::Chat))]
#[case(400, openai("Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    "invalid_request_error", &json!("unsupported_parameter")), no(Feature::Thinking))]
// llama.cpp.
#[case(400, json!({ "error": { "code": 400, "type": "exceed_context_size_error",
    "message": "the request exceeds the available context size, try increasing it",
    "n_prompt_tokens": 5000, "n_ctx": 4096 } }), too_long(Some(4_096)))]
#[case(400, json!({ "error": { "code": 400, "type": "invalid_request_error",
    "message": "request (5000 tokens) exceeds the available context size (4096 tokens)" } }),
    too_long(Some(4_096)))]
#[case(500, openai("tools param requires --jinja flag", "server_error", &json!(500)),
    no(Feature::Tools))]
#[case(500, openai("image input is not supported - hint: if this is unexpected, you may need to \
    provide the mmproj", "server_error", &json!(500)), no(Feature::Images))]
#[case(503, json!({ "error": { "code": 503, "message": "Loading model",
    "type": "unavailable_error" } }), Kind::Busy)]
#[case(404, json!({ "error": { "code": 404, "message": "File Not Found",
    "type": "not_found_error" } }), Kind::WrongUrl)]
// vLLM, before and after it wrapped its errors.
#[case(400, json!({ "object": "error", "type": "BadRequestError", "param": null, "code": 400,
    "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 \
    tokens in the messages, Please reduce the length of the messages." }), too_long(Some(4_096)))]
#[case(400, openai("The decoder prompt (length 5000) is longer than the maximum model length of \
    4096. Make sure that `max_model_len` is no smaller.", "BadRequestError", &json!(400)),
    too_long(Some(4_096)))]
#[case(404, json!({ "object": "error", "message": "The model `m` does not exist.",
    "type": "NotFoundError", "param": null, "code": 404 }), gone())]
#[case(400, openai("\"auto\" tool choice requires --enable-auto-tool-choice and \
    --tool-call-parser to be set", "BadRequestError", &json!(400)), no(Feature::Tools))]
#[case(400, openai("m is not a multimodal model", "BadRequestError", &json!(400)),
    no(Feature::Images))]
// OpenRouter.
#[case(400, json!({ "error": { "message": "m is not a valid model ID", "code": 400 } }), gone())]
#[case(404, json!({ "error": { "message": "No endpoints found for m.", "code": 404 } }), gone())]
#[case(404, json!({ "error": { "message": "No endpoints found that support tool use.",
    "code": 404 } }), no(Feature::Tools))]
#[case(404, json!({ "error": { "message": "No endpoints found that support image input",
    "code": 404 } }), no(Feature::Images))]
#[case(402, json!({ "error": { "message": "Insufficient credits", "code": 402 } }), Kind::NoCredit)]
#[case(400, json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": {
    "raw": "{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}" } } }),
    too_long(Some(8)))]
// LM Studio.
#[case(400, json!({ "error": "Trying to keep the first 5000 tokens when context the overflows. \
    However, the model is loaded with context length of only 4096 tokens, which is not enough." }),
    too_long(Some(4_096)))]
fn others_say(#[case] status: u16, #[case] body: Value, #[case] expected: Kind) {
    assert_eq!(kind(status, &body), expected);
}

#[test]
fn refusals_of_known_servers_have_their_kind_and_their_words() {
    for refusal in Refusal::all() {
        let body = refusal.body.to_string();
        let error = of_status(refusal.status, &HeaderMap::new(), body.as_bytes(), &asked());
        assert_eq!(error.kind.name(), refusal.kind, "{refusal:?}");
        let detail = error.detail.unwrap_or_default();
        assert!(detail.contains(&refusal.detail), "{detail:?} of {refusal:?}");
        assert!(refusal.source.starts_with("https://"), "{refusal:?}");
    }
}

#[test]
fn a_wait_may_stand_in_the_body() {
    let wait = json!([{ "error": { "code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED",
        "details": [{ "@type": "type.googleapis.com/google.rpc.Help" },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s" }] } }]);
    let expected = Kind::RateLimited { retry_after: Some(Duration::from_millis(34_500)) };
    assert_eq!(kind(429, &wait), expected);
}

#[test]
fn who_sent_no_key_hears_that_one_is_wanted() {
    let asked = SentRequest { key: None, ..asked() };
    let wanted = Kind::Unauthorized { signin_url: None, keyless: true };
    assert_eq!(of_status(401, &HeaderMap::new(), b"{}", &asked).kind, wanted);
    assert_eq!(of_status(401, &HeaderMap::new(), b"Unauthorized", &asked).kind, wanted);
    assert_eq!(of_object(&json!({ "error": "unauthorized" }), &asked).kind, wanted);
}

#[rstest]
#[case(404, "404 page not found", Kind::WrongUrl)]
#[case(405, "", Kind::WrongUrl)]
#[case(307, "", Kind::WrongUrl)]
#[case(400, "<!DOCTYPE html><title>Plain HTTP to an HTTPS port</title>", Kind::WrongUrl)]
#[case(502, "<html>Bad Gateway</html>", Kind::ServerFailed)]
#[case(503, "", Kind::Busy)]
#[case(401, "Unauthorized", Kind::Unauthorized { signin_url: None, keyless: false })]
#[case(413, "", Kind::InputTooLong { window: None, largest: None })]
#[case(422, "Failed to deserialize the JSON body", Kind::BadRequest)]
fn answers_without_json(#[case] status: u16, #[case] body: &str, #[case] expected: Kind) {
    let error = of_status(status, &HeaderMap::new(), body.as_bytes(), &asked());
    assert_eq!(error.kind, expected);
    assert!(!error.detail.unwrap().contains('<'), "no page is a detail");
}

#[rstest]
#[case(json!({ "error": "an error was encountered while running the model" }), Kind::ServerFailed)]
#[case(json!({ "error": "the input length exceeds the context length" }), too_long(None))]
#[case(json!({ "error": "rate limit exceeded" }), Kind::RateLimited { retry_after: None })]
#[case(openai("Internal server error", "server_error", &json!(500)), Kind::ServerFailed)]
#[case(json!({ "error": { "code": 503, "message": "Loading model" } }), Kind::Busy)]
#[case(json!({ "error": { "code": 502, "message": "Provider disconnected" } }), Kind::ServerFailed)]
#[case(json!({ "error": { "code": "server_error", "message": "Provider disconnected unexpectedly" },
    "choices": [{ "delta": { "content": "" }, "finish_reason": "error" }] }), Kind::ServerFailed)]
fn errors_in_mid_stream(#[case] object: Value, #[case] expected: Kind) {
    assert_eq!(of_object(&object, &asked()).kind, expected);
}

#[test]
fn a_window_that_was_asked_for_is_what_was_too_small() {
    let asked = SentRequest { window: Some(8_192), largest: Some(32_768), ..asked() };
    let body = json!({ "error": "the input length exceeds the context length" });
    let error = of_status(400, &HeaderMap::new(), body.to_string().as_bytes(), &asked);
    let expected = Kind::InputTooLong { window: Some(8_192), largest: Some(32_768) };
    assert_eq!(error.kind, expected);
}

#[rstest]
#[case("retry-after", "2", Some(2_000))]
#[case("retry-after", "0.5", Some(500))]
#[case("retry-after", "Thu, 15 Jan 2026 14:30:45 GMT", Some(45_000))]
#[case("retry-after", "Thu, 15 Jan 2026 14:29:00 GMT", Some(0))]
#[case("retry-after", "soon", None)]
#[case("retry-after", "-1", None)]
#[case("retry-after-ms", "1500", Some(1_500))]
#[case("x-other", "1", None)]
fn waits_are_seconds_or_dates(
    #[case] name: &'static str,
    #[case] value: &'static str,
    #[case] millis: Option<u64>,
) {
    let now: Timestamp = "2026-01-15T14:30:00Z".parse().unwrap();
    let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
    assert_eq!(retry_after(&headers, now), millis.map(Duration::from_millis));
}

#[test]
fn a_refusal_may_be_about_the_order_of_messages() {
    let order = "Conversation roles must alternate user/assistant/user/assistant/...";
    let error = |status, body: &Value| {
        of_status(status, &HeaderMap::new(), body.to_string().as_bytes(), &asked())
    };
    let bad_request = "BadRequestError";
    for (status, body, refuses) in [
        (400, openai(order, bad_request, &json!(400)), true),
        // Mistral's.
        (400, openai("Unexpected role 'user' after role 'tool'", "x", &json!(3230)), true),
        // llama.cpp's.
        (500, openai(&format!("{order} at row 1"), "server_error", &json!(500)), true),
        (500, openai(order, "template_failed", &Value::Null), true),
        (500, openai("out of memory", "server_error", &json!(500)), false),
        (503, openai("Loading model", "unavailable_error", &json!(503)), false),
        (401, openai("Invalid key", "x", &Value::Null), false),
        (400, openai("context", "exceed_context_size_error", &Value::Null), false),
    ] {
        assert_eq!(super::refuses_order(&error(status, &body)), refuses, "{body}");
    }
}

#[test]
fn neither_the_conversation_nor_the_key_stands_in_an_error() {
    let said = "My secret plan for the birthday party";
    let asked = SentRequest {
        messages: vec![Message::text(Role::User, None, said).into()],
        key: Some(Key::new("sk-or-v1-0123456789abcdef")),
        ..asked()
    };
    for body in [
        json!({ "error": format!("cannot parse messages = [{{\"content\": \"{said}\"}}]") }),
        json!({ "detail": [{ "loc": ["body"], "msg": "bad value", "input": said }] }),
        openai("Incorrect API key provided: sk-or-**********cdef.", "x", &Value::Null),
        json!({ "error": { "message": "Provider returned error", "metadata": { "raw": said } } }),
    ] {
        let error = of_status(400, &HeaderMap::new(), body.to_string().as_bytes(), &asked);
        let shown = format!("{error} {error:?}");
        for secret in ["secret plan", "birthday", "sk-or", "cdef"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        let text = format!("cannot understand {said}");
        let error = of_status(400, &HeaderMap::new(), text.as_bytes(), &asked);
        assert!(!error.detail.unwrap().contains("birthday"));
    }
}

#[test]
fn short_values_of_headers_leave_a_refusal_readable_and_its_words_are_known_as_they_came() {
    let words = "max_tokens: 64000 > 8192, which is too many for output_config of blue-s3cret-team";
    let secrets = ["1", "8", "output-128k-2025-02-19", "blue-s3cret-team"];
    let asked = SentRequest {
        messages: vec![Message::text(Role::User, None, "max_tokens: 64000 > 8192").into()],
        secrets: secrets.map(Into::into).into(),
        ..asked()
    };
    let body = openai(words, "x", &Value::Null).to_string();
    let refusal = super::of_status(400, &HeaderMap::new(), body.as_bytes(), &asked);
    assert_eq!(refusal.verbatim.detail.as_deref(), Some(words));
    let shown = refusal.error.detail.unwrap();
    assert!(!shown.contains("s3cret") && !shown.contains("64000 > 8192"), "{shown}");
    let asked = SentRequest { messages: Vec::new(), secrets: vec!["1".into()], ..asked };
    let refusal = super::of_status(400, &HeaderMap::new(), body.as_bytes(), &asked);
    assert_eq!(refusal.error.detail.as_deref(), Some(words));
}
