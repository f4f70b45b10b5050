//! What real servers say (`crates/chat-testkit/fixtures`), and what the clients make of it.

mod anthropic;

use chat_core::client::{Capabilities, Delta, Finish, ModelInfo, Request};
use chat_core::error::{Error, Kind};
use chat_core::message::{Origin, ProviderData, Usage};
use chat_core::settings::ConnectionKind;
use chat_testkit::fixtures::Fixture;
use chat_testkit::server::{Answer, Script, Server, Split};

use crate::wire::{ANTHROPIC, OLLAMA, OPENAI, answer, ask, client, hello};

/// What a client makes of a streamed answer; of its bytes torn apart, too.
async fn streamed(kind: ConnectionKind, bytes: Vec<u8>) -> (Vec<Delta>, Option<Error>) {
    let server = Server::start();
    let client = client(&server, kind);
    server.push(Script::raw(bytes.clone()));
    let ask = async || {
        let (deltas, error) = ask(&*client, hello()).await;
        (from_there(deltas, &server), error)
    };
    let (deltas, error) = ask().await;
    for split in [Split::Random(3), Split::Random(4), Split::EveryByte] {
        server.push(Script::raw(bytes.clone()).split(split));
        let torn = ask().await;
        assert_eq!(known(torn.0), known(deltas.clone()));
        assert_eq!(torn.1, error);
    }
    (deltas, error)
}

/// With another name of the server that they came from: it has another port each time.
fn from_there(mut deltas: Vec<Delta>, server: &Server) -> Vec<Delta> {
    let addresses = [format!("{}/v1", server.url()), format!("{}/", server.url())];
    let addresses = addresses.map(|address| Some(Origin::digest(&address)));
    for delta in &mut deltas {
        if let Delta::Provider { data, .. } = delta
            && addresses.contains(&data.origin.server)
        {
            data.origin.server = Some("there".to_owned());
        }
    }
    deltas
}

/// Without the ids that the client had to make.
fn known(mut deltas: Vec<Delta>) -> Vec<Delta> {
    for delta in &mut deltas {
        if let Delta::ToolCall { id: Some(id), .. } = delta
            && id.starts_with("call_0")
        {
            "made".clone_into(id);
        }
    }
    deltas
}

async fn whole(kind: ConnectionKind, fixture: Fixture) -> Vec<Delta> {
    whole_of(kind, fixture.read("whole.json")).await
}

async fn whole_of(kind: ConnectionKind, bytes: Vec<u8>) -> Vec<Delta> {
    let server = Server::start();
    server.push(Script::raw(bytes).header("content-type", "application/json"));
    answer(&*client(&server, kind), Request { stream: false, ..hello() }).await
}

fn kind_of(fixture: Fixture) -> ConnectionKind {
    match fixture {
        Fixture::OLLAMA => OLLAMA,
        Fixture::ANTHROPIC => ANTHROPIC,
        _ => OPENAI,
    }
}

async fn models(fixture: Fixture, more: &[(&str, &str)]) -> Vec<ModelInfo> {
    let server = Server::start();
    let kind = kind_of(fixture);
    let list = fixture.read("models.json");
    server.answer("/v1/models", Answer::new(200, list.clone()));
    server.answer("/api/tags", Answer::new(200, list));
    for (path, name) in more {
        server.answer(path, Answer::new(200, fixture.read(name)));
    }
    client(&server, kind).models().await.unwrap()
}

async fn refused(fixture: Fixture, status: u16) -> Kind {
    let server = Server::start();
    let kind = kind_of(fixture);
    let body = String::from_utf8(fixture.read("error.json")).unwrap();
    server.push(Script::status(status, &body));
    let error = ask(&*client(&server, kind), hello()).await.1.unwrap();
    assert!(!error.detail.unwrap().is_empty());
    error.kind
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn thinking(text: &str) -> Delta {
    Delta::Thinking(text.to_owned())
}

fn call(index: usize, id: &str, name: &str, arguments: &str) -> Delta {
    Delta::ToolCall {
        index,
        id: Some(id.to_owned()),
        name: Some(name.to_owned()),
        arguments: arguments.to_owned(),
    }
}

fn tokens(prompt: u64, completion: u64) -> Usage {
    Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion), ..Usage::default() }
}

#[tokio::test]
async fn llama_cpp() {
    let (deltas, error) = streamed(OPENAI, Fixture::LLAMA_CPP.read("stream.sse")).await;
    assert_eq!(error, None);
    let usage = Usage {
        cached_tokens: Some(0),
        prompt_ms: Some(470),
        completion_ms: Some(224),
        ..tokens(27, 8)
    };
    let said = text("The capital of France is Paris.");
    assert_eq!(deltas, [said.clone(), Delta::Usage(usage), Delta::Finish(Finish::Stop)]);

    let deltas = whole(OPENAI, Fixture::LLAMA_CPP).await;
    let Delta::Usage(usage) = &deltas[1] else { panic!("{deltas:?}") };
    assert_eq!((&deltas[0], usage.cached_tokens), (&said, Some(26)));

    let models = models(Fixture::LLAMA_CPP, &[("/props", "props.json")]).await;
    let expected = ModelInfo {
        name: "SmolLM2-135M-Instruct".to_owned(),
        size: Some(96_576_768),
        parameters: Some("135M".to_owned()),
        quantization: Some("Q4_1".to_owned()),
        context_length: Some(4_096),
        price: None,
        capabilities: Capabilities {
            chat: Some(true),
            tools: Some(false),
            vision: Some(false),
            thinking: Some(false),
            context_window: Some(false),
        },
    };
    assert_eq!(models, [expected]);
    let expected = Kind::InputTooLong { window: Some(4_096), largest: Some(4_096) };
    assert_eq!(refused(Fixture::LLAMA_CPP, 400).await, expected);
}

/// A model that is made to call a tool, and one that answered in prose where the server's grammar
/// wanted a call.
#[tokio::test]
async fn llama_cpp_calls_tools() {
    // The line breaks are the model's own.
    let arguments = "{\n\n\"city\": \"Paris\"\n}";
    let (deltas, error) = streamed(OPENAI, Fixture::LLAMA_CPP.read("tool-call.sse")).await;
    assert_eq!(error, None);
    let usage = |cached, prompt_ms, completion_ms| {
        Delta::Usage(Usage {
            cached_tokens: Some(cached),
            prompt_ms: Some(prompt_ms),
            completion_ms: Some(completion_ms),
            ..tokens(212, 16)
        })
    };
    let expected = [
        call(0, "SYSj2BsFwqdeSBRsmXzVOUrZ0U1bJ47u", "get_weather", arguments),
        usage(0, 1_462, 432),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(deltas, expected);
    let expected = [
        call(0, "cvLdjygIYxgzQyJbrQd6Rltf6j4pKx92", "get_weather", arguments),
        usage(211, 22, 306),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(whole_of(OPENAI, Fixture::LLAMA_CPP.read("tool-call.json")).await, expected);

    // Streamed it comes under status 200, after the reply has begun; whole as a status.
    let said = "The model produced output that does not match the expected peg-native format";
    let (deltas, error) = streamed(OPENAI, Fixture::LLAMA_CPP.read("tool-error.sse")).await;
    let server = Server::start();
    let body = String::from_utf8(Fixture::LLAMA_CPP.read("tool-error.json")).unwrap();
    server.push(Script::status(500, &body));
    let refused = ask(&*client(&server, OPENAI), hello()).await.1;
    assert_eq!(deltas, []);
    for error in [error.unwrap(), refused.unwrap()] {
        assert_eq!((error.kind, error.detail.as_deref()), (Kind::ServerFailed, Some(said)));
    }
}

#[tokio::test]
async fn vllm() {
    let (deltas, error) = streamed(OPENAI, Fixture::VLLM.read("stream.sse")).await;
    assert_eq!(error, None);
    let expected = [
        thinking("The user wants the weather."),
        text("\n\nI look it up."),
        call(0, "chatcmpl-tool-a494943accbbc022", "get_weather", r#"{"city": "Köln"}"#),
        Delta::Usage(tokens(182, 41)),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(deltas, expected);
    let expected = [
        thinking("It said rain."),
        text("It rains in Köln."),
        Delta::Usage(tokens(240, 22)),
        Delta::Finish(Finish::Stop),
    ];
    assert_eq!(whole(OPENAI, Fixture::VLLM).await, expected);
    let models = models(Fixture::VLLM, &[]).await;
    assert_eq!(models[0].name, "Qwen/Qwen3-8B");
    assert_eq!(models[0].context_length, Some(40_960));
    let expected = Kind::InputTooLong { window: Some(40_960), largest: Some(40_960) };
    assert_eq!(refused(Fixture::VLLM, 400).await, expected);
}

#[tokio::test]
async fn lm_studio() {
    let (deltas, error) = streamed(OPENAI, Fixture::LM_STUDIO.read("stream.sse")).await;
    assert_eq!(error, None);
    let expected = [
        thinking("A greeting is due."),
        text("Greetings, I am here to assist."),
        Delta::Usage(tokens(24, 15)),
        Delta::Finish(Finish::Stop),
    ];
    assert_eq!(deltas, expected);
    let arguments = r#"{"query":"dell","category":"electronics","max_price":50}"#;
    let expected = [
        call(0, "365174485", "search_products", arguments),
        Delta::Usage(tokens(263, 34)),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(whole(OPENAI, Fixture::LM_STUDIO).await, expected);

    let models = models(Fixture::LM_STUDIO, &[("/api/v0/models", "v0-models.json")]).await;
    let said: Vec<_> = models
        .iter()
        .map(|m| {
            let can = m.capabilities;
            (m.context_length, m.quantization.as_deref(), can.chat, can.vision, can.tools)
        })
        .collect();
    let expected = [
        (Some(32_768), Some("4bit"), Some(true), Some(true), None),
        (Some(8_192), Some("MXFP4"), Some(true), Some(false), Some(true)),
        (Some(2_048), Some("Q4_0"), Some(false), Some(false), None),
    ];
    assert_eq!(said, expected);
    let expected = Kind::InputTooLong { window: Some(8_192), largest: Some(8_192) };
    assert_eq!(refused(Fixture::LM_STUDIO, 400).await, expected);
}

#[tokio::test]
async fn openrouter() {
    let (deltas, error) = streamed(OPENAI, Fixture::OPENROUTER.read("stream.sse")).await;
    assert_eq!(error, None);
    let details = r#"[{"format":"openai-responses-v1","index":0,"summary":"Short and plain.","type":"reasoning.summary"}]"#;
    let expected = [
        thinking("Short and plain."),
        Delta::Provider {
            call: None,
            data: ProviderData {
                origin: Origin {
                    protocol: "openai".to_owned(),
                    connection: "here".to_owned(),
                    server: Some("there".to_owned()),
                    model: "scripted".to_owned(),
                },
                json: details.to_owned(),
            },
        },
        text("Sure – naïve 日本語."),
        Delta::Usage(Usage { cached_tokens: Some(1_000), ..tokens(1_200, 30) }),
        Delta::Finish(Finish::Stop),
    ];
    assert_eq!(deltas, expected);
    let (deltas, error) = streamed(OPENAI, Fixture::OPENROUTER.read("stream-error.sse")).await;
    assert_eq!(deltas, [text("Half an")]);
    let error = error.unwrap();
    assert_eq!(error.kind, Kind::ServerFailed);
    assert_eq!(error.detail.as_deref(), Some("Provider disconnected unexpectedly"));
    let expected = [
        thinking("Count."),
        text("One, two,"),
        Delta::Usage(tokens(12, 8)),
        Delta::Finish(Finish::Length),
    ];
    assert_eq!(whole(OPENAI, Fixture::OPENROUTER).await, expected);
    let models = models(Fixture::OPENROUTER, &[]).await;
    let can = |tools, vision, thinking| Capabilities {
        chat: Some(true),
        tools: Some(tools),
        vision: Some(vision),
        thinking: Some(thinking),
        context_window: Some(false),
    };
    assert_eq!(models[0].capabilities, can(true, true, true));
    assert_eq!(models[0].context_length, Some(400_000));
    assert_eq!(models[1].capabilities, can(false, false, false));
    assert_eq!(refused(Fixture::OPENROUTER, 402).await, Kind::NoCredit);
}

#[tokio::test]
async fn openai() {
    let (deltas, error) = streamed(OPENAI, Fixture::OPENAI.read("stream.sse")).await;
    assert_eq!(error, None);
    let expected = [
        text("Let me see."),
        call(0, "call_Z8ofZnYOCeOnpu0h2auwOgeR", "get_weather", r#"{"city":"Paris"}"#),
        call(1, "call_o7uyztQLeVIoRdjcDkDJY3ni", "get_time", "{}"),
        Delta::Usage(Usage { cached_tokens: Some(64), ..tokens(90, 40) }),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(deltas, expected);
    let expected = [
        text("I cannot help with that."),
        Delta::Usage(Usage { cached_tokens: Some(0), ..tokens(19, 10) }),
        Delta::Finish(Finish::Stop),
    ];
    assert_eq!(whole(OPENAI, Fixture::OPENAI).await, expected);
    let models = models(Fixture::OPENAI, &[]).await;
    assert_eq!(models[0].name, "gpt-4o-2024-08-06");
    let unsaid = Capabilities { context_window: Some(false), ..Capabilities::default() };
    assert_eq!(models[0].capabilities, unsaid);
    let kind = refused(Fixture::OPENAI, 401).await;
    assert_eq!(kind, Kind::Unauthorized { signin_url: None, keyless: true });
}

#[tokio::test]
async fn ollama() {
    let (deltas, error) = streamed(OLLAMA, Fixture::OLLAMA.read("stream.ndjson")).await;
    assert_eq!(error, None);
    let usage = Usage {
        load_ms: Some(1),
        prompt_ms: Some(342),
        completion_ms: Some(4_535),
        ..tokens(26, 282)
    };
    let expected = [
        thinking("They want the weather."),
        text("I look it up."),
        call(0, "call_8fz2kq1x", "get_weather", r#"{"city":"Köln"}"#),
        call(1, "made", "get_time", "{}"),
        Delta::Usage(usage.clone()),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(known(deltas), expected);
    let expected = [
        thinking("It said rain."),
        text("It rains."),
        Delta::Usage(usage),
        Delta::Finish(Finish::Stop),
    ];
    assert_eq!(whole(OLLAMA, Fixture::OLLAMA).await, expected);
    let (deltas, error) = streamed(OLLAMA, Fixture::OLLAMA.read("stream-error.ndjson")).await;
    assert_eq!((&deltas[..], error.unwrap().kind), (&[text("Half an")][..], Kind::ServerFailed));
    let models = models(Fixture::OLLAMA, &[]).await;
    assert_eq!(models[1].name, "gpt-oss:120b-cloud");
    assert_eq!(models[1].capabilities.thinking, Some(true));
    let kind = refused(Fixture::OLLAMA, 400).await;
    assert_eq!(kind, Kind::InputTooLong { window: Some(8_192), largest: Some(32_768) });
}
