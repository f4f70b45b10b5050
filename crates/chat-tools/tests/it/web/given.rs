//! Tests pages that the user named.

use std::sync::Arc;

use chat_core::error::{Kind, PageFault};
use chat_core::settings::ToolSettings;
use chat_core::tool::PageReader;
use chat_tools::Pages;

use super::internet::{Internet, PUBLIC};
use crate::server::{Server, ok, redirect, text};

const SECRET: &str = "the secret";

/// The page at a path of a host, for which these addresses are found, one after the other.
async fn page(found: &[&[&str]], server: &Server, path: &str) -> Result<String, PageFault> {
    page_of("named.test", found, server, path).await
}

async fn page_of(
    host: &'static str,
    found: &[&[&str]],
    server: &Server,
    path: &str,
) -> Result<String, PageFault> {
    let internet = Internet::default().name(host, found);
    let pages = Pages::new(Arc::new(internet));
    let url = format!("http://{host}:{}{path}", server.port());
    let page = pages.read(&url, &ToolSettings::default()).await;
    page.map_err(|error| match error.kind {
        Kind::PageNotFetched { url: told, why } => {
            assert_eq!(told, url);
            why
        }
        other => panic!("{other:?}"),
    })
}

#[tokio::test]
async fn a_page_comes_with_its_title_and_without_a_question() {
    let html = "<title>Bees</title><p>Bees make honey.";
    let (server, _) = Server::two(move |_| ok("text/html", html), |_| text(SECRET)).await;
    let page = page(&[&[PUBLIC]], &server, "/bees").await.unwrap();
    assert!(page.contains("Title: Bees") && page.contains("Bees make honey."), "{page}");
}

#[tokio::test]
async fn what_is_near_is_fetched_where_it_was_named() {
    let (server, near) = Server::two(|_| text("public"), |_| text(SECRET)).await;
    assert!(page(&[&["127.0.0.1"]], &near, "/").await.unwrap().ends_with(SECRET));
    drop(server);
}

#[tokio::test]
async fn a_name_of_the_internet_that_leads_near_is_not_asked() {
    let (server, near) = Server::two(|_| text("public"), |_| text(SECRET)).await;
    let found: &[&[&str]] = &[&["127.0.0.1"]];
    assert_eq!(page_of("docs.example.org", found, &near, "/").await, Err(PageFault::Elsewhere));
    assert!(page_of("nas.local", found, &near, "/").await.unwrap().ends_with(SECRET));
    drop(server);
}

#[tokio::test]
async fn another_service_of_the_same_machine_was_not_named() {
    let (server, other) = Server::two(|_| text("public"), |_| text(SECRET)).await;
    let port = other.port();
    let to: &'static str = Box::leak(format!("http://named.test:{port}/").into_boxed_str());
    let (named, near) = Server::two(|_| text("public"), move |_| redirect(to)).await;
    assert_eq!(page(&[&["127.0.0.1"]], &near, "/").await, Err(PageFault::Elsewhere));
    drop((server, named));
}

#[tokio::test]
async fn a_page_of_the_internet_leads_to_nothing_that_is_near() {
    let (server, near) = Server::two(
        |path| if path == "/" { redirect("/again") } else { text("public") },
        |_| text(SECRET),
    )
    .await;
    // The same name, which leads to this machine by now.
    let moved = page(&[&[PUBLIC], &["127.0.0.1"]], &server, "/").await;
    assert_eq!(moved, Err(PageFault::Elsewhere));
    drop(near);
}

#[tokio::test]
async fn what_is_no_text_is_told() {
    let png = |_: &str| ok("image/png", "\u{89}PNG");
    let (server, _) = Server::two(png, |_| text(SECRET)).await;
    assert_eq!(page(&[&[PUBLIC]], &server, "/a.png").await, Err(PageFault::NoText));
}
