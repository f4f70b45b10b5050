//! Tests `web_search` as a model uses it.

use chat_core::message::ToolView;
use chat_core::settings::{KeySource, SearchProvider, SearchSettings, ToolSettings};
use chat_core::tool::{Tool, ToolFailure, ToolOutput};
use chat_permission::Mode;
use chat_tools::{WebFetch, WebSearch};
use rstest::rstest;
use serde_json::{Value, json};

use crate::room::Room;
use crate::server::{Server, answer, ok, redirect};

const SEARXNG: &str = include_str!("../../fixtures/search/searxng.json");
const BRAVE: &str = include_str!("../../fixtures/search/brave.json");
const TAVILY: &str = include_str!("../../fixtures/search/tavily.json");

/// A key that a command prints.
const KEY: &str = "very-secret-key";

fn room(provider: SearchProvider, url: &str) -> Room {
    let mut room = Room::new(&["network:127.0.0.1"]);
    let key = match provider {
        SearchProvider::Searxng => KeySource::None,
        _ => KeySource::Command(format!("echo {KEY}")),
    };
    room.settings.search = Some(SearchSettings { provider, url: Some(url.to_owned()), key });
    room
}

async fn search(room: &Room, arguments: Value) -> Result<ToolOutput, ToolFailure> {
    room.run(&WebSearch::default(), arguments).await
}

#[rstest]
#[case(SearchProvider::Searxng, SEARXNG, "get /search?q=rust+language&format=json ")]
#[case(SearchProvider::Brave, BRAVE, "get /res/v1/web/search?q=rust+language&count=2&")]
#[case(SearchProvider::Tavily, TAVILY, "post /search ")]
#[tokio::test]
async fn results_are_told(
    #[case] provider: SearchProvider,
    #[case] body: &'static str,
    #[case] asked: &str,
) {
    let server = Server::start(move |_| ok("application/json", body)).await;
    let room = room(provider, &format!("http://{}", server.address));
    let output = search(&room, json!({ "query": " rust language ", "count": 2 })).await.unwrap();
    assert_eq!(
        output.text.lines().take(3).collect::<Vec<_>>(),
        [
            "1. Rust Programming Language",
            "   https://www.rust-lang.org/",
            "   A language empowering everyone to build reliable & efficient software.",
        ]
    );
    assert!(output.text.contains("\n\n2. Rust (programming language) - Wikipedia\n"));
    let view = ToolView::WebSearched { query: "rust language".to_owned(), results: 2 };
    assert_eq!(output.view, Some(view));
    let [request] = &server.requests()[..] else { panic!() };
    assert!(request.starts_with(asked), "{request}");
    let key = match provider {
        SearchProvider::Searxng => None,
        SearchProvider::Brave => Some(format!("\r\nx-subscription-token: {KEY}\r\n")),
        SearchProvider::Tavily => Some(format!("\r\nauthorization: bearer {KEY}\r\n")),
    };
    assert!(key.is_none_or(|key| request.contains(&key)), "{request}");
}

#[tokio::test]
async fn the_person_sees_what_would_be_sent() {
    for (provider, shown) in [
        (SearchProvider::Searxng, "/search?q=a+secret&format=json"),
        (SearchProvider::Tavily, "/search {\"max_results\":8,\"query\":\"a secret\"}"),
    ] {
        let server = Server::start(|_| ok("application/json", SEARXNG)).await;
        let url = format!("http://{}", server.address);
        let settings = room(provider, &url).settings;
        let mut room = Room::with(&[], Mode::Ask, Some(false));
        room.settings = settings;
        let failure = search(&room, json!({ "query": "a secret" })).await.unwrap_err();
        assert!(failure.text.contains("The user denied this"), "{}", failure.text);
        assert_eq!(room.asked(), [format!("network 127.0.0.1: {url}{shown}")]);
        assert_eq!(server.requests().len(), 0);
    }
}

/// Allowing the user's own service allows no other service on the same machine.
#[tokio::test]
async fn a_service_on_this_machine_is_reached_and_nothing_beside_it() {
    let server = Server::start(|_| ok("application/json", SEARXNG)).await;
    let url = format!("http://{}", server.address);
    let settings = room(SearchProvider::Searxng, &url).settings;
    let mut room = Room::with(&["network:localhost"], Mode::Unattended, None);
    room.settings = settings;
    search(&room, json!({ "query": "rust" })).await.unwrap();
    assert_eq!(server.requests().len(), 1);
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let arguments = json!({ "url": format!("http://{host}:{port}/") });
        let failure = room.run(&WebFetch::default(), arguments).await.unwrap_err();
        assert!(
            failure.text.contains("belongs to this computer or its network"),
            "{}",
            failure.text
        );
    }
    assert_eq!(server.requests().len(), 1);
}

/// Nothing that is told may hold the key.
#[rstest]
#[case(200, "{\"web\": {}}", "Brave Search sent an unknown response format")]
#[case(429, "{}", "has reached its rate limit")]
#[case(422, "{\"error\": {\"code\": \"SUBSCRIPTION_TOKEN_INVALID\"}}", "refused the key")]
#[case(500, "very-secret-key", "Brave Search returned 500")]
#[tokio::test]
async fn what_goes_wrong_is_told(
    #[case] status: u16,
    #[case] body: &'static str,
    #[case] told: &str,
) {
    let server = Server::start(move |_| answer(&format!("{status} X"), "", body)).await;
    let room = room(SearchProvider::Brave, &format!("http://{}", server.address));
    let failure = search(&room, json!({ "query": "rust" })).await.unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
    assert!(!format!("{failure:?} {:?}", room.asked()).contains(KEY));
}

#[tokio::test]
async fn a_redirect_does_not_get_the_key() {
    let (other, server) = Server::two(
        |_| ok("application/json", BRAVE),
        |path| redirect(&format!("http://127.0.0.2:{}/", path.split(['/', '?']).nth(1).unwrap())),
    )
    .await;
    let url = format!("http://{}/{}", server.address, other.port());
    let room = room(SearchProvider::Brave, &url);
    let failure = search(&room, json!({ "query": "rust" })).await.unwrap_err();
    assert_eq!(failure.text, "Brave Search returned 302 Found.");
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn a_service_that_is_not_there_is_told() {
    let room = room(SearchProvider::Searxng, "http://127.0.0.1:1");
    let failure = search(&room, json!({ "query": "rust" })).await.unwrap_err();
    assert!(failure.text.starts_with("127.0.0.1 cannot be reached"), "{}", failure.text);
}

#[rstest]
#[case(KeySource::None, "Tavily needs a key, but none is set.")]
#[case(KeySource::Env("NATTER_TEST_UNSET".to_owned()), "NATTER_TEST_UNSET is not set")]
#[tokio::test]
async fn a_missing_key_is_told_before_anything_is_sent(#[case] key: KeySource, #[case] told: &str) {
    let server = Server::start(|_| ok("application/json", TAVILY)).await;
    let mut room = room(SearchProvider::Tavily, &format!("http://{}", server.address));
    room.settings.search.as_mut().unwrap().key = key;
    let failure = search(&room, json!({ "query": "rust" })).await.unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
    assert_eq!(server.requests().len(), 0);
}

#[rstest]
#[case(json!({ "query": " " }), "The query is empty")]
#[case(json!({ "query": "a", "count": 0 }), "/count")]
#[case(json!({ "query": "a", "count": 21 }), "maximum of 20")]
#[case(json!({}), "query")]
#[tokio::test]
async fn wrong_calls_are_told(#[case] arguments: Value, #[case] told: &str) {
    let room = room(SearchProvider::Searxng, "http://127.0.0.1:1");
    let failure = search(&room, arguments).await.unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
}

#[test]
fn it_is_absent_until_it_is_set_up() {
    let tool = WebSearch::default();
    let with = |provider, url: Option<&str>, key| {
        let search = Some(SearchSettings { provider, url: url.map(str::to_owned), key });
        tool.is_set_up(&ToolSettings { search, ..ToolSettings::default() })
    };
    assert!(!tool.is_set_up(&ToolSettings::default()));
    for url in [None, Some(" "), Some("no address"), Some("ftp://localhost")] {
        assert!(!with(SearchProvider::Searxng, url, KeySource::None), "{url:?}");
    }
    assert!(with(SearchProvider::Searxng, Some("http://localhost:8888"), KeySource::None));
    for provider in [SearchProvider::Brave, SearchProvider::Tavily] {
        assert!(!with(provider, None, KeySource::None));
        assert!(with(provider, None, KeySource::Keyring));
    }
}
