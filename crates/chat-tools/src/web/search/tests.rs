//! Tests parsing the answers of each service. `tests/fixtures/search/README.md` says where the
//! answers come from.

use rstest::rstest;

use SearchProvider::{Brave, Searxng, Tavily};

use super::*;

fn read(provider: SearchProvider, status: u16, body: &str) -> Result<Vec<Hit>, Refusal> {
    results(provider, StatusCode::from_u16(status).unwrap(), body.as_bytes(), 10)
}

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/search/", $name, ".json"))
    };
}

#[rstest]
#[case(Searxng, fixture!("searxng"), 3, "Rust Programming Language", "https://www.rust-lang.org/")]
#[case(Brave, fixture!("brave"), 2, "Rust Programming Language", "https://www.rust-lang.org/")]
#[case(Tavily, fixture!("tavily"), 2, "Rust Programming Language", "https://www.rust-lang.org/")]
fn results_are_read(
    #[case] provider: SearchProvider,
    #[case] body: &str,
    #[case] count: usize,
    #[case] title: &str,
    #[case] url: &str,
) {
    let hits = read(provider, 200, body).unwrap();
    assert_eq!(hits.len(), count);
    assert_eq!((hits[0].title.as_str(), hits[0].url.as_str()), (title, url));
    assert_eq!(
        hits[0].text,
        "A language empowering everyone to build reliable & efficient software."
    );
    assert_eq!(results(provider, StatusCode::OK, body.as_bytes(), 1).unwrap().len(), 1);
}

#[rstest]
#[case(Searxng, fixture!("searxng_nothing"))]
#[case(Brave, fixture!("brave_nothing"))]
#[case(
    Brave,
    r#"{"type": "search", "query": {"original": "x"}, "web": {"type": "search", "results": []}}"#
)]
#[case(Tavily, fixture!("tavily_nothing"))]
fn nothing_found_is_an_empty_list(#[case] provider: SearchProvider, #[case] body: &str) {
    assert_eq!(read(provider, 200, body), Ok(Vec::new()));
}

#[rstest]
#[case::no_json("<html>Just a moment…</html>")]
#[case::empty("")]
#[case::other_json("{}")]
#[case::list("[]")]
#[case::renamed(r#"{"type": "search", "query": {}, "hits": [{"url": "https://a", "title": "A"}]}"#)]
#[case::moved(r#"{"type": "search", "query": {}, "pages": {"results": [{"url": "https://a"}]}}"#)]
#[case::no_list(r#"{"results": null, "web": {"results": null}}"#)]
#[case::object(r#"{"results": {"0": {}}, "web": {"results": {"0": {}}}}"#)]
#[case::fields(
    r#"{"results": [{"link": "https://a"}], "web": {"results": [{"link": "https://a"}]}}"#
)]
#[case::no_titles(
    r#"{"results": [{"url": "https://a"}], "web": {"results": [{"url": "https://a"}]}}"#
)]
#[case::error(r#"{"error": "no"}"#)]
fn a_changed_answer_is_an_error(
    #[values(Searxng, Brave, Tavily)] provider: SearchProvider,
    #[case] body: &str,
) {
    let read = read(provider, 200, body);
    assert!(matches!(read, Err(Refusal::Layout { .. })), "{read:?}");
}

/// What Brave's list of contents names must exist.
#[test]
fn results_that_are_named_and_missing_are_an_error() {
    let body =
        r#"{"type": "search", "query": {}, "mixed": {"main": [{"type": "web", "index": 0}]}}"#;
    assert!(matches!(read(Brave, 200, body), Err(Refusal::Layout { .. })));
}

#[test]
fn engines_that_are_all_out_of_order_are_an_error() {
    let told = read(Searxng, 200, fixture!("searxng_silent")).unwrap_err().to_string();
    assert!(told.contains("brave (Suspended: too many requests)"), "{told}");
    // If there are results, failed engines do not matter.
    assert!(fixture!("searxng").contains("Suspended"));
}

#[rstest]
#[case(Searxng, 403, "<!doctype html><title>403 Forbidden</title>", Refusal::NoJson)]
#[case(Searxng, 429, "Too Many Requests", Refusal::Limit("SearXNG"))]
#[case(Searxng, 401, "", Refusal::Key("SearXNG"))]
#[case(Brave, 422, fixture!("brave_wrong_key"), Refusal::Key("Brave Search"))]
#[case(Brave, 422, fixture!("brave_wrong_key_live"), Refusal::Key("Brave Search"))]
#[case(Brave, 422, fixture!("brave_no_key"), Refusal::Key("Brave Search"))]
#[case(
    Brave,
    404,
    r#"{"error": {"code": "SUBSCRIPTION_NOT_FOUND"}}"#,
    Refusal::Key("Brave Search")
)]
#[case(Brave, 429, fixture!("brave_rate"), Refusal::Limit("Brave Search"))]
#[case(Brave, 429, fixture!("brave_quota"), Refusal::Quota("Brave Search"))]
#[case(Tavily, 401, fixture!("tavily_wrong_key"), Refusal::Key("Tavily"))]
#[case(Tavily, 429, "", Refusal::Limit("Tavily"))]
#[case(Tavily, 432, "", Refusal::Quota("Tavily"))]
#[case(Tavily, 433, "", Refusal::Quota("Tavily"))]
fn refusals_are_told_apart(
    #[case] provider: SearchProvider,
    #[case] status: u16,
    #[case] body: &str,
    #[case] refusal: Refusal,
) {
    assert_eq!(read(provider, status, body), Err(refusal));
}

#[test]
fn other_statuses_are_named() {
    let body = r#"{"error": {"code": "VALIDATION"}}"#;
    assert_eq!(
        read(Brave, 422, body).unwrap_err().to_string(),
        "Brave Search returned 422 Unprocessable Entity."
    );
    assert_eq!(read(Tavily, 502, "").unwrap_err().to_string(), "Tavily returned 502 Bad Gateway.");
}

#[rstest]
#[case(Searxng, "http://localhost:8888", "http://localhost:8888/search?q=a+b%26c&format=json")]
#[case(Searxng, "https://s.org/sx/", "https://s.org/sx/search?q=a+b%26c&format=json")]
#[case(Searxng, "https://s.org/search", "https://s.org/search?q=a+b%26c&format=json")]
#[case(
    Brave,
    "https://api.search.brave.com",
    "https://api.search.brave.com/res/v1/web/search?q=a+b%26c&count=20&text_decorations=false&result_filter=web"
)]
#[case(Tavily, "https://api.tavily.com", "https://api.tavily.com/search")]
fn questions_go_where_they_should(
    #[case] provider: SearchProvider,
    #[case] base: &str,
    #[case] asked: &str,
) {
    super::super::destination::provide_tls();
    let query = Query { words: "a b&c".to_owned(), count: 30 };
    let (client, base) = (Client::new(), Url::parse(base).unwrap());
    let request = question(provider, &client, &base, Some("secret"), &query).build().unwrap();
    assert_eq!(request.url().as_str(), asked);
    let key = match provider {
        Brave => request.headers()["X-Subscription-Token"].clone(),
        Searxng | Tavily => request.headers()["Authorization"].clone(),
    };
    assert!(key.is_sensitive() && key.to_str().unwrap().ends_with("secret"));
    if provider == Tavily {
        let body: Value =
            serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
        assert_eq!(body, serde_json::json!({ "query": "a b&c", "max_results": 20 }));
    }
}
