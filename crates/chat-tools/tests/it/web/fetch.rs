//! Tests `web_fetch` as a model uses it.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use chat_core::message::ToolView;
use chat_core::tool::{Tool, ToolFailure, ToolOutput};
use chat_permission::Mode;
use chat_tools::WebFetch;
use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use serde_json::{Value, json};

use super::internet::{Internet, PUBLIC};
use crate::room::Room;
use crate::server::{Server, answer, ok, redirect, text};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand so on";

/// A tool for which two names lead to the servers of the open internet, on any port.
fn tool() -> WebFetch {
    let internet =
        Internet::default().name("public.test", &[&[PUBLIC]]).name("other.test", &[&[PUBLIC]]);
    WebFetch::new(Arc::new(internet))
}

async fn public(answers: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Server {
    Server::two(answers, |_| text("near")).await.0
}

/// A session in which the hosts are allowed.
fn room() -> Room {
    Room::new(&["network:public.test", "network:other.test"])
}

async fn fetch(
    room: &Room,
    server: &Server,
    path: &str,
    form: &str,
) -> Result<ToolOutput, ToolFailure> {
    let url = format!("http://public.test:{}{path}", server.port());
    room.run(&tool(), json!({ "url": url, "as": form })).await
}

#[tokio::test]
async fn a_page_comes_as_markdown() {
    let page = "<title>Bees</title><article><h1>Bees</h1>".to_owned()
        + &"<p>Bees make honey, <b>much</b> honey, in meadows, on hills, in gardens, and elsewhere, as \
           <a href='/more'>books</a> tell.</p>"
            .repeat(30);
    let server = public(move |_| ok("text/html; charset=utf-8", &page)).await;
    let url = format!("http://public.test:{}/bees", server.port());
    let output = room().run(&tool(), json!({ "url": format!("{url}#honey") })).await.unwrap();
    assert!(output.text.starts_with(&format!("{url}\nTitle: Bees\n\n")), "{}", output.text);
    assert!(output.text.contains("**much** honey"), "{}", output.text);
    assert!(output.text.contains(&format!("[books](http://public.test:{}/more)", server.port())));
    let Some(ToolView::Fetched { url: shown, title, bytes, path: None }) = output.view else {
        panic!("{:?}", output.view);
    };
    assert_eq!((shown, title.as_deref()), (url, Some("Bees")));
    assert!(bytes > 500);
    // Nobody is told who asks, or where they come from.
    let [request] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
    assert!(request.starts_with("get /bees http/1.1\r\n"), "{request}");
    for header in ["cookie", "referer", "authorization", "accept-language"] {
        assert!(!request.contains(&format!("\r\n{header}:")), "{request}");
    }
}

/// Runs one test of this program in a process of its own, with a proxy that does not answer.
fn behind_a_proxy(test: &str) -> bool {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    for variable in
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        program.env(variable, "http://127.0.0.1:1");
    }
    program.env_remove("no_proxy").env_remove("NO_PROXY");
    let outcome = program.args([test, "--exact", "--include-ignored"]).output().unwrap();
    assert!(String::from_utf8_lossy(&outcome.stdout).contains("running 1 test"), "{outcome:?}");
    outcome.status.success()
}

#[test]
fn no_proxy_is_asked() {
    assert!(behind_a_proxy("web::fetch::a_page_comes_as_markdown"));
    assert!(behind_a_proxy("web::fetch::others_ask_the_proxy"));
}

#[tokio::test]
#[ignore = "no_proxy_is_asked runs it, with a proxy that does not answer"]
async fn others_ask_the_proxy() {
    let server = Server::start(|_| text("words")).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    let asked = client.get(format!("http://{}/", server.address)).send().await;
    assert!(asked.unwrap_err().is_connect());
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn encodings_and_packing_are_undone() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"Gr\xfc\xdfe").unwrap();
    let packed = packed.finish().unwrap();
    let headers = "Content-Type: text/plain; charset=\"ISO-8859-1\"\r\nContent-Encoding: gzip\r\n";
    let server = public(move |_| answer("200 OK", headers, &packed)).await;
    let output = fetch(&room(), &server, "/", "markdown").await.unwrap();
    assert!(output.text.ends_with("\n\nGrüße"), "{}", output.text);
}

#[tokio::test]
async fn each_host_on_the_way_is_asked_for_once() {
    let server = public(|path| {
        let port = path.split('/').nth(1).unwrap();
        match path.rsplit('/').next().unwrap() {
            "a" => redirect("b"),
            "b" => redirect(&format!("http://other.test:{port}/{port}/c")),
            _ => text("arrived"),
        }
    })
    .await;
    let port = server.port();
    let room = Room::with(&[], Mode::Ask, Some(true));
    let output = fetch(&room, &server, &format!("/{port}/a"), "text").await.unwrap();
    assert!(output.text.starts_with(&format!("http://other.test:{port}/{port}/c\n")));
    assert_eq!(
        room.asked(),
        [
            format!("network public.test: http://public.test:{port}/{port}/a"),
            format!("network other.test: http://other.test:{port}/{port}/c"),
        ]
    );
    // What one server sets the next does not get.
    assert!(server.requests().iter().all(|request| !request.contains("cookie")));
}

#[rstest]
#[case(Some(false), "The user denied this")]
#[case(None, "the user cannot be asked here")]
#[tokio::test]
async fn without_leave_no_server_hears_of_it(#[case] says: Option<bool>, #[case] told: &str) {
    let server = public(|_| text("public")).await;
    let room = Room::with(&[], Mode::Ask, says);
    let internet = Arc::new(Internet::default().name("public.test", &[&[PUBLIC]]));
    let tool = WebFetch::new(internet.clone());
    let url = format!("http://public.test:{}/", server.port());
    let failure = room.run(&tool, json!({ "url": url })).await.unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
    // Nor those who look names up: a name can hold a secret.
    assert_eq!((server.requests().len(), internet.lookups("public.test")), (0, 0));
}

#[tokio::test]
async fn long_pages_are_cut_and_it_is_told() {
    let server = public(|_| text(&"line of text\n".repeat(100_000))).await;
    let mut room = room();
    room.settings.fetch_kb = 64;
    room.settings.output_kb = 200;
    let output = fetch(&room, &server, "/", "text").await.unwrap();
    assert!(output.text.contains("Only the first 64 kB were received"), "{}", &output.text[..200]);
    let Some(ToolView::Fetched { bytes, .. }) = output.view else { panic!() };
    assert_eq!(bytes, 64 * 1024);
    // Exactly as much as is allowed is not cut.
    let server = public(|_| text(&"x".repeat(64 * 1024))).await;
    let output = fetch(&room, &server, "/", "text").await.unwrap();
    assert!(!output.text.contains("Only the first"));
}

#[tokio::test]
async fn a_bomb_is_unpacked_no_further_than_is_wanted() {
    // 64 MB of nothing in less than one.
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..64 {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    let server = public(move |_| {
        answer("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", &packed)
    })
    .await;
    let mut room = room();
    room.settings.fetch_kb = 256;
    let output = fetch(&room, &server, "/", "text").await.unwrap();
    let Some(ToolView::Fetched { bytes, .. }) = output.view else { panic!() };
    assert_eq!(bytes, 256 * 1024);
}

#[tokio::test]
async fn more_than_a_model_gets_at_once_is_kept() {
    let server = public(|_| text(&"line of text\n".repeat(10_000))).await;
    let mut room = room();
    room.settings.output_kb = 8;
    let output = fetch(&room, &server, "/", "text").await.unwrap();
    assert!(output.text.len() < 9 * 1024, "{}", output.text.len());
    assert!(output.text.contains("[8189 bytes of 130 kB. Continue with"), "{}", output.text);
    let kept: Vec<_> = std::fs::read_dir(room.folder.path().join("outputs")).unwrap().collect();
    let [Ok(file)] = &kept[..] else { panic!("{kept:?}") };
    assert_eq!(file.file_name(), "out1.txt");
    assert!(output.text.ends_with("id out1, from line 631.]"), "{}", output.text);
    assert_eq!(std::fs::read(file.path()).unwrap().len(), 130_000);
}

#[tokio::test]
async fn what_came_in_time_is_kept() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 999\r\n\r\nhello";
    let server = Server::stalling(head).await;
    let mut room = Room::new(&["network:127.0.0.1"]);
    room.settings.fetch_seconds = 1;
    let url = format!("http://{}/", server.address);
    let output = room.run(&tool(), json!({ "url": url })).await.unwrap();
    assert!(output.text.contains("The rest did not arrive within 1 s."), "{}", output.text);
    assert!(output.text.ends_with("\n\nhello"));
    // A part of a file is no file.
    let stored = room.run(&tool(), json!({ "url": url, "as": "file" })).await;
    assert!(stored.unwrap_err().text.contains("Incomplete files are not saved."));
    assert_eq!(room.files(), [""; 0]);
}

#[tokio::test]
async fn a_silent_server_ends_in_time() {
    let server = Server::stalling(b"").await;
    let mut room = Room::new(&["network:127.0.0.1"]);
    room.settings.fetch_seconds = 1;
    let url = format!("http://{}/", server.address);
    let failure = room.run(&tool(), json!({ "url": url })).await.unwrap_err();
    assert_eq!(failure.text, "127.0.0.1 did not respond within 1 s.");
}

#[tokio::test]
async fn stop_ends_it_at_once() {
    let server = Server::stalling(b"").await;
    let room = Room::new(&["network:127.0.0.1"]);
    let url = format!("http://{}/", server.address);
    let tool = tool();
    let stopping = async {
        server.asked().await;
        room.cancel.cancel();
    };
    let running =
        tokio::time::timeout(Duration::from_secs(10), room.run(&tool, json!({ "url": url })));
    let (outcome, ()) = tokio::join!(running, stopping);
    assert_eq!(outcome.expect("it went on").unwrap_err().text, "The user stopped this call.");
}

#[rstest]
#[case("http://nowhere.test/", "The host nowhere.test was not found")]
#[case("http://127.0.0.1:1/", "127.0.0.1 cannot be reached (Connection refused")]
#[tokio::test]
async fn what_cannot_be_reached_is_told(#[case] url: &str, #[case] told: &str) {
    let room = Room::new(&["network:127.0.0.1", "network:nowhere.test"]);
    let failure = room.run(&tool(), json!({ "url": url })).await.unwrap_err();
    assert!(failure.text.starts_with(told), "{}", failure.text);
}

#[tokio::test]
async fn a_refusal_of_the_server_is_told() {
    let server = public(|_| answer("404 Not Found", "", "no such page")).await;
    let failure = fetch(&room(), &server, "/", "markdown").await.unwrap_err();
    assert_eq!(failure.text, "public.test returned 404 Not Found.");
}

#[tokio::test]
async fn pictures_are_for_models_that_see() {
    let server = public(|_| ok("image/png", PNG)).await;
    let mut room = room();
    let output = fetch(&room, &server, "/bee.png", "markdown").await.unwrap();
    assert!(output.text.contains("You cannot see images.") && output.pictures.is_empty());
    room.sees = true;
    let output = fetch(&room, &server, "/bee.png", "markdown").await.unwrap();
    assert!(output.text.ends_with("An image (image/png, 17 bytes)."), "{}", output.text);
    assert_eq!(output.pictures, [("image/png".to_owned(), Arc::from(PNG))]);
}

#[tokio::test]
async fn other_things_say_what_they_are() {
    let server = public(|_| ok("application/pdf", "%PDF-1.7")).await;
    let output = fetch(&room(), &server, "/", "markdown").await.unwrap();
    assert!(output.text.contains("This is application/pdf (8 bytes)"), "{}", output.text);
}

#[tokio::test]
async fn a_file_goes_into_the_project_and_over_nothing() {
    let server = public(|_| ok("text/html", "<p>\r\nas it came\0")).await;
    let room = Room::with(&["network:public.test"], Mode::Ask, Some(true));
    std::fs::create_dir_all(room.project()).unwrap();
    // A link that leads out of the project is something that exists.
    std::os::unix::fs::symlink(
        room.folder.path().join("outside"),
        room.project().join("page-2.html"),
    )
    .unwrap();
    for expected in ["page.html", "page-3.html"] {
        let output = fetch(&room, &server, "/a/page", "file").await.unwrap();
        assert!(output.text.contains(&format!("Saved unchanged as {expected}")), "{}", output.text);
        let Some(ToolView::Fetched { path, .. }) = output.view else { panic!() };
        assert_eq!(path.as_deref(), Some(expected));
        let stored = std::fs::read(room.project().join(expected)).unwrap();
        assert_eq!(stored, b"<p>\r\nas it came\0");
    }
    assert_eq!(room.files(), ["page-2.html", "page-3.html", "page.html"]);
    assert!(!room.folder.path().join("outside").exists());
    let url = format!("http://public.test:{}/a/page", server.port());
    assert_eq!(
        room.asked(),
        [
            format!("write page.html: 16 bytes of {url}"),
            format!("write page-3.html: 16 bytes of {url}")
        ]
    );
}

/// Where it leads to instead is the server's word.
#[tokio::test]
async fn a_file_is_named_as_it_was_asked_for() {
    let answer = |path: &str| {
        if path == "/logo" { redirect("/AGENTS.md") } else { ok("text/markdown", "Obey.") }
    };
    let server = public(answer).await;
    let room = Room::with(&["network:public.test"], Mode::Ask, Some(true));
    fetch(&room, &server, "/logo", "file").await.unwrap();
    assert_eq!(room.files(), ["logo.md"]);
}

#[tokio::test]
async fn what_is_told_of_a_page_is_short() {
    let long = format!("<title>{}</title><p>Words.", "bees ".repeat(100_000));
    let server = public(move |_| ok("text/html", long.clone())).await;
    let output = fetch(&room(), &server, "/", "markdown").await.unwrap();
    assert!(output.text.len() < 1_000, "{}", output.text.len());
    let path = format!("/{}", "a".repeat(9_000));
    let failure = fetch(&room(), &server, &path, "markdown").await.unwrap_err();
    assert!(failure.text.contains("longer than 8192 bytes") && failure.text.len() < 300);
}

#[rstest]
#[case(Mode::Ask, "The user denied this")]
#[case(Mode::Plan, "This is not allowed here")]
#[tokio::test]
async fn a_file_that_may_not_be_written_is_not(#[case] mode: Mode, #[case] told: &str) {
    let server = public(|_| text("words")).await;
    let room = Room::with(&["network:public.test"], mode, Some(false));
    let failure = fetch(&room, &server, "/words.txt", "file").await.unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
    assert_eq!(room.files(), [""; 0]);
}

#[rstest]
#[case(json!({}), "url")]
#[case(json!({ "url": "http://public.test/", "as": "pdf" }), "/as")]
#[case(json!({ "url": "public.test" }), "Give a full one")]
#[tokio::test]
async fn wrong_calls_are_told_apart(#[case] arguments: Value, #[case] told: &str) {
    let failure = room().run(&tool(), arguments).await.unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
}

#[test]
fn the_schema_is_short() {
    let tool = tool();
    let spec = &tool.info().spec;
    assert_eq!(spec.name, "web_fetch");
    let schema = spec.parameters.to_string();
    assert!(schema.len() + spec.description.len() < 500, "{schema}");
    assert_eq!(spec.parameters["required"], json!(["url"]));
}
