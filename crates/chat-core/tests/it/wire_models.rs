//! Lists of models, and finding out what a server is.

use chat_core::client::{Capabilities, Probe, connect, detect_kind, find_local, guess_kind};
use chat_core::error::{Kind, Result};
use chat_core::settings::{Connection, ConnectionKind};
use chat_testkit::server::{Answer, Gate, Model, Protocol, Server, unused_port};
use rstest::rstest;

use crate::wire::{ANTHROPIC, OLLAMA, OPENAI, answer, client, connection, hello, timeouts};

#[tokio::test]
async fn ollama_lists_models_old_and_new() {
    let server = Server::start().with_models([
        Model::new("new").capabilities(&["completion", "tools"]),
        Model::new("old").capabilities(&["completion", "vision"]).capabilities_unlisted(),
        Model::new("broken").capabilities_unlisted().show_fails(),
        Model::new("embedder").capabilities(&["embedding"]),
    ]);
    let client = client(&server, OLLAMA);
    let models = client.models().await.unwrap();
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["new", "old", "broken", "embedder"]);
    let can = |chat, tools, vision, thinking| Capabilities {
        chat: Some(chat),
        tools: Some(tools),
        vision: Some(vision),
        thinking: Some(thinking),
        context_window: Some(true),
    };
    assert_eq!(models[0].capabilities, can(true, true, false, false));
    assert_eq!(models[1].capabilities, can(true, false, true, false));
    assert_eq!(models[1].context_length, Some(32_768));
    let unsaid = Capabilities { context_window: Some(true), ..Capabilities::default() };
    assert_eq!(models[2].capabilities, unsaid);
    assert_eq!(models[3].capabilities.chat, Some(false));
    assert_eq!(models[0].size, Some(98_362_432));
    assert_eq!(models[0].quantization.as_deref(), Some("Q4_1"));

    assert_eq!(client.model("old").await.unwrap(), models[1]);
    assert_eq!(client.model("broken").await.unwrap(), models[2]);
    let gone = client.model("gone").await.unwrap_err();
    assert_eq!(gone.kind, Kind::ModelNotFound { model: "gone".to_owned() });
}

#[tokio::test]
async fn openai_lists_models_wherever_the_address_points() {
    let server = Server::start().only(Protocol::OpenAi);
    for path in ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/models"] {
        let connection = connection(&format!("{}{path}", server.url()));
        let client = connect(&connection, OPENAI, None, timeouts()).unwrap();
        let models = client.models().await.unwrap();
        assert_eq!(models[0].name, "scripted");
        assert_eq!(models[0].context_length, Some(32_768));
        answer(&*client, hello()).await;
    }
}

#[tokio::test]
async fn anthropics_list_is_read_page_by_page_wherever_the_address_points() {
    let server = Server::start().only(Protocol::Anthropic);
    for path in ["", "/", "/v1", "/v1/messages", "/v1/models"] {
        let connection = connection(&format!("{}{path}", server.url()));
        let client = connect(&connection, ANTHROPIC, None, timeouts()).unwrap();
        let models = client.models().await.unwrap();
        assert_eq!(models[0].name, "scripted");
        assert_eq!(models[0].context_length, Some(32_768));
        assert_eq!(models[0].capabilities.vision, Some(true));
        answer(&*client, hello()).await;
    }
    let page = r#"{"data":[{"type":"model","id":"a"}],"has_more":true,"last_id":"a"}"#;
    server.answer("/v1/models", Answer::new(200, page));
    let models = client(&server, ANTHROPIC).models().await.unwrap();
    assert_eq!(models.len(), 2, "a page that repeats itself is the last");
    server.answer("/v1/models", no_list());
    let client = client(&server, ANTHROPIC);
    assert_eq!(client.models().await.unwrap(), [], "it has none that it names");
    assert_eq!(client.model("mine").await.unwrap().name, "mine");
}

#[rstest]
#[case("http://127.0.0.1:11434", Some(OLLAMA))]
#[case("http://box:11434/v1", Some(OPENAI))]
#[case("http://box:11434/v1/", Some(OPENAI))]
#[case("http://box:11434/", Some(OLLAMA))]
#[case("https://ollama.com", Some(OLLAMA))]
#[case("http://box:9000/api", Some(OLLAMA))]
#[case("https://openrouter.ai/api/v1", Some(OPENAI))]
#[case("https://openrouter.ai/api", Some(OPENAI))]
#[case("api.openai.com", Some(OPENAI))]
#[case("https://api.groq.com/openai/v1", Some(OPENAI))]
#[case("http://127.0.0.1:8080/v1/", Some(OPENAI))]
#[case("http://127.0.0.1:8080", None)]
#[case("https://notopenai.com", None)]
#[case("https://api.anthropic.com", Some(ANTHROPIC))]
#[case("https://api.anthropic.com/v1", Some(ANTHROPIC))]
#[case("https://api.minimax.io/anthropic", Some(ANTHROPIC))]
#[case("https://api.deepseek.com/anthropic/v1", Some(ANTHROPIC))]
#[case("http://127.0.0.1:4000/v1/messages", Some(ANTHROPIC))]
#[case("not a url", None)]
fn the_address_may_tell_the_kind(#[case] url: &str, #[case] kind: Option<ConnectionKind>) {
    assert_eq!(guess_kind(url), kind);
}

#[tokio::test]
async fn a_server_is_asked_what_it_speaks() {
    async fn detected(server: &Server) -> Result<ConnectionKind> {
        detect_kind(&connection(&server.url()), None, timeouts()).await
    }
    assert_eq!(detected(&Server::start()).await, Ok(OLLAMA));
    assert_eq!(detected(&Server::start().only(Protocol::Ollama)).await, Ok(OLLAMA));
    assert_eq!(detected(&Server::start().only(Protocol::OpenAi)).await, Ok(OPENAI));
    assert_eq!(detected(&Server::start().only(Protocol::Anthropic)).await, Ok(ANTHROPIC));
    for (protocol, kind) in [(Protocol::OpenAi, OPENAI), (Protocol::Anthropic, ANTHROPIC)] {
        let locked = Server::start().only(protocol).with_key("k");
        assert_eq!(detected(&locked).await, Ok(kind));
    }

    let page = || Answer::new(200, "<html>").header("content-type", "text/html");
    let website = Server::start();
    for path in ["/", "/api/version", "/v1/models", "/v1/chat/completions"] {
        website.answer(path, page());
    }
    assert_eq!(detected(&website).await.unwrap_err().kind, Kind::WrongUrl);
    let port = unused_port();
    let nobody = detect_kind(&connection(&format!("localhost:{port}")), None, timeouts()).await;
    assert_eq!(nobody.unwrap_err().kind, Kind::Unreachable);
}

/// What servers without a list of models say of it.
fn no_list() -> Answer {
    Answer::new(404, r#"{"detail":"Not Found"}"#).header("content-type", "application/json")
}

#[rstest]
// LiteLLM's, vLLM's and OpenAI's words about a request without a model and without messages.
#[case(400, r#"{"error":{"message":"you must provide a model parameter","code":"400"}}"#)]
#[case(422, r#"{"detail":[{"loc":["body","messages"],"msg":"too short"}]}"#)]
#[case(404, r#"{"error":{"message":"The model `` does not exist.","type":"NotFoundError"}}"#)]
#[case(401, r#"{"error":{"message":"Incorrect API key provided"}}"#)]
#[tokio::test]
async fn a_server_without_a_list_of_models_is_a_server_all_the_same(
    #[case] status: u16,
    #[case] refusal: &str,
) {
    let server = Server::start().only(Protocol::OpenAi);
    server.answer("/v1/models", no_list());
    server.answer(
        "/v1/chat/completions",
        Answer::new(status, refusal.to_owned()).header("content-type", "application/json"),
    );
    let client = connect(&connection(&server.url()), OPENAI, None, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap(), []);
    assert_eq!(client.model("typed").await.unwrap().name, "typed");
    assert_eq!(detect_kind(&connection(&server.url()), None, timeouts()).await, Ok(OPENAI));
}

#[rstest]
#[case(404, r#"{"detail":"Not Found"}"#)]
#[case(404, "<html>Not Found</html>")]
#[case(405, "")]
#[case(200, "<html>A shop</html>")]
#[tokio::test]
async fn what_answers_no_request_either_is_no_server_of_models(
    #[case] status: u16,
    #[case] page: &str,
) {
    let server = Server::start().only(Protocol::OpenAi);
    server.answer("/v1/models", no_list());
    server.answer("/v1/chat/completions", Answer::new(status, page.to_owned()));
    let client = connect(&connection(&server.url()), OPENAI, None, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::WrongUrl);
}

#[tokio::test]
async fn local_servers_are_found_and_nothing_else() {
    let ollama = Server::start().only(Protocol::Ollama);
    let openai = Server::start().only(Protocol::OpenAi);
    let llama = Server::start().only(Protocol::OpenAi);
    llama.answer(
        "/v1/models",
        Answer::new(200, r#"{"object":"list","data":[{"id":"m","owned_by":"llamacpp"}]}"#),
    );
    let json = Server::start();
    json.answer("/v1/models", Answer::new(200, r#"{"data":[{"name":"a shop's models"}]}"#));
    let website = Server::start();
    website.answer("/v1/models", Answer::new(200, "<html>"));
    let silent = Server::start();
    silent.answer("/v1/models", Answer::new(200, "{}").gate(&Gate::new()));

    let candidate = |name: &str, kind, url: String| Connection {
        models: Vec::new(),
        kind: Some(kind),
        name: name.to_owned(),
        ..connection(&url)
    };
    let nobody = format!("http://127.0.0.1:{}", unused_port());
    let candidates = vec![
        candidate("nobody", OLLAMA, nobody),
        candidate("Ollama", OLLAMA, ollama.url()),
        candidate("not Ollama", OLLAMA, openai.url()),
        candidate("some", OPENAI, openai.url()),
        candidate("the same", OPENAI, openai.url()),
        candidate("vLLM", OPENAI, llama.url()),
        candidate("shop", OPENAI, json.url()),
        candidate("website", OPENAI, website.url()),
        candidate("silent", OPENAI, silent.url()),
    ];
    let found = find_local(&Probe { candidates }).await;
    let names: Vec<&str> = found.iter().map(|found| found.connection.name.as_str()).collect();
    assert_eq!(names, ["Ollama", "some", "llama.cpp"]);
}

#[rstest]
#[case(None, "http://127.0.0.1:11434")]
#[case(Some(""), "http://127.0.0.1:11434")]
#[case(Some("0.0.0.0"), "http://127.0.0.1:11434")]
#[case(Some("0.0.0.0:8765"), "http://127.0.0.1:8765")]
#[case(Some(":8765"), "http://127.0.0.1:8765")]
#[case(Some("[::]:8765"), "http://[::1]:8765")]
#[case(Some("box"), "http://box:11434")]
#[case(Some("box:80"), "http://box")]
#[case(Some("[fd00::80]"), "http://[fd00::80]:11434")]
#[case(Some("https://box.example"), "https://box.example")]
#[case(Some("\"http://box:1/\""), "http://box:1")]
fn ollama_host_is_read_as_ollama_reads_it(#[case] host: Option<&str>, #[case] url: &str) {
    assert_eq!(Probe::usual(host).candidates[0].url, url);
}
