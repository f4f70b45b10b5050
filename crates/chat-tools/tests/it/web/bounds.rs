//! Tests attempts to reach what a model must not reach. Each has its controls: a client without the
//! checks gets there, and a rule of the user's that names the host lets the tool get there too.

use std::sync::Arc;
use std::time::Duration;

use chat_core::tool::ToolFailure;
use chat_tools::WebFetch;
use chat_tools::web::network::Network;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rstest::rstest;
use serde_json::json;

use super::internet::{Internet, PUBLIC};
use crate::room::Room;
use crate::server::{Server, redirect, text};

const SECRET: &str = "the secret";

/// Everything of the open internet is allowed, as by a careless person.
const CARELESS: &[&str] = &["network:*", "network:*.test"];

async fn fetch(room: &Room, internet: &Arc<Internet>, url: &str) -> Result<String, ToolFailure> {
    let tool = WebFetch::new(internet.clone());
    room.run(&tool, json!({ "url": url, "as": "text" })).await.map(|output| output.text)
}

/// A server of the open internet that says `public`, and one of this machine with the secret.
async fn servers(public: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (Server, Server) {
    Server::two(public, |_| text(SECRET)).await
}

/// What most programs do: they look a name up to judge it, and connect by the name.
async fn naive(internet: &Arc<Internet>, url: &str) -> String {
    struct Again(Arc<Internet>);
    impl Resolve for Again {
        fn resolve(&self, name: Name) -> Resolving {
            let internet = Arc::clone(&self.0);
            Box::pin(async move {
                let found = internet.addresses(name.as_str()).await?;
                let doors = found.into_iter().map(move |ip| internet.door((ip, 0).into()));
                Ok(Box::new(doors.collect::<Vec<_>>().into_iter()) as Addrs)
            })
        }
    }
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .dns_resolver(Arc::new(Again(Arc::clone(internet))))
        .build()
        .unwrap();
    client.get(url).send().await.unwrap().text().await.unwrap()
}

fn assert_refused(outcome: &Result<String, ToolFailure>, near: &Server, told: &str) {
    let failure = outcome.as_ref().expect_err("it was fetched");
    assert!(failure.text.contains(told), "{}", failure.text);
    assert_eq!(near.requests().len(), 0, "the server of this machine heard of it");
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_reached_where_it_was_judged() {
    let answers: &[&[&str]] = &[&[PUBLIC], &["127.0.0.1"]];
    let (public, near) = servers(|_| text("public")).await;
    let url = format!("http://rebind.test:{}/", public.port());

    let internet = Arc::new(Internet::default().name("rebind.test", answers));
    let outcome = fetch(&Room::new(CARELESS), &internet, &url).await.unwrap();
    assert!(outcome.ends_with("public"), "{outcome}");
    assert_eq!(internet.lookups("rebind.test"), 1);
    assert_eq!((public.requests().len(), near.requests().len()), (1, 0));

    // The next call looks again, and is refused.
    let outcome = fetch(&Room::new(CARELESS), &internet, &url).await;
    assert_refused(&outcome, &near, "this computer itself");

    // Leave for the name alone is none for this machine.
    let internet = Arc::new(Internet::default().name("rebind.test", &[&["127.0.0.1"]]));
    let outcome = fetch(&Room::new(&["network:rebind.test"]), &internet, &url).await;
    assert_refused(&outcome, &near, "this computer itself");

    // Without the checks the attempt succeeds.
    let internet = Arc::new(Internet::default().name("rebind.test", answers));
    assert_eq!(internet.addresses("rebind.test").await.unwrap()[0].to_string(), PUBLIC);
    assert_eq!(naive(&internet, &url).await, SECRET);
    // With a rule that says so it is lawful.
    let room = Room::new(&["network:local rebind.test"]);
    assert!(fetch(&room, &internet, &url).await.unwrap().ends_with(SECRET));
}

#[tokio::test]
async fn what_denies_an_address_denies_a_name_for_it() {
    let denied = format!("-network:{PUBLIC}");
    for mode in [chat_permission::Mode::Ask, chat_permission::Mode::Unattended] {
        let (public, near) = servers(|_| text("public")).await;
        let url = format!("http://other.test:{}/", public.port());
        let internet = Arc::new(Internet::default().name("other.test", &[&[PUBLIC]]));
        let room = Room::with(&["network:*", &denied], mode, Some(true));
        let outcome = fetch(&room, &internet, &url).await;
        assert_refused(&outcome, &near, "one of the user's rules denies");
        assert_eq!(public.requests().len(), 0, "it was asked");
        let room = Room::with(&["network:*", "-network:10.0.0.1"], mode, Some(false));
        assert!(fetch(&room, &internet, &url).await.unwrap().ends_with("public"));
    }
}

#[tokio::test]
async fn a_redirect_to_a_changed_address_is_judged_anew() {
    let answers: &[&[&str]] = &[&[PUBLIC], &["127.0.0.1"]];
    let (public, near) =
        servers(|path| if path == "/" { redirect("/again") } else { text("public") }).await;
    let url = format!("http://rebind.test:{}/", public.port());
    let internet = Arc::new(Internet::default().name("rebind.test", answers));
    let outcome = fetch(&Room::new(CARELESS), &internet, &url).await;
    assert_refused(&outcome, &near, "this computer itself");
    assert_eq!(internet.lookups("rebind.test"), 2);

    let internet = Arc::new(Internet::default().name("rebind.test", answers));
    assert_eq!(naive(&internet, &url).await, SECRET);
    let internet = Arc::new(Internet::default().name("rebind.test", answers));
    let room = Room::new(&["network:local rebind.test"]);
    assert!(fetch(&room, &internet, &url).await.unwrap().ends_with(SECRET));
}

/// The same attempt by every way that an address of this machine can be written.
#[rstest]
#[case::plain("127.0.0.1", "127.0.0.1")]
#[case::short("127.1", "127.0.0.1")]
#[case::number("2130706433", "127.0.0.1")]
#[case::hexadecimal("0x7f.0.0.1", "127.0.0.1")]
#[case::octal("0177.0.0.1", "127.0.0.1")]
#[case::wide_digits("１２７.0.0.1", "127.0.0.1")]
#[case::with_a_dot("127.0.0.1.", "127.0.0.1")]
#[case::zero("0.0.0.0", "0.0.0.0")]
#[case::mapped("[::ffff:127.0.0.1]", "127.0.0.1")]
#[case::mapped_in_hexadecimal("[::ffff:7f00:1]", "127.0.0.1")]
#[case::name("inside.test", "inside.test")]
#[case::second_address("both.test", "both.test")]
#[tokio::test]
async fn a_redirect_to_this_machine_is_not_followed(#[case] host: &str, #[case] rule: &str) {
    let (public, near) = servers({
        let host = host.to_owned();
        // Both have the same port, which the public one knows from the request alone.
        move |path| redirect(&format!("http://{host}:{}/secret", &path[1..]))
    })
    .await;
    let url = format!("http://example.test:{0}/{0}", public.port());
    let internet = Arc::new(
        Internet::default()
            .name("example.test", &[&[PUBLIC]])
            .name("inside.test", &[&["127.0.0.1"]])
            .name("both.test", &[&["127.0.0.1", PUBLIC]]),
    );

    let outcome = fetch(&Room::new(CARELESS), &internet, &url).await;
    assert_refused(&outcome, &near, "this computer itself");
    assert_eq!(public.requests().len(), 1);

    assert_eq!(naive(&internet, &url).await, SECRET);
    let room = Room::new(&["network:example.test", &format!("network:local {rule}")]);
    let outcome = fetch(&room, &internet, &url).await.unwrap();
    assert!(outcome.ends_with(SECRET), "{outcome}");
}

/// Nothing answers there: what is proved is that nobody tries.
#[rstest]
#[case::cloud("http://169.254.169.254/latest/meta-data/", "a cloud metadata address")]
#[case::cloud_v6("http://[fd00:ec2::254]/latest/meta-data/", "a cloud metadata address")]
#[case::cloud_by_name(
    "http://metadata.google.internal/computeMetadata/v1/",
    "a cloud metadata address"
)]
#[case::loopback_v6("http://[::1]/", "this computer itself")]
#[case::localhost("http://localhost/", "this computer itself")]
#[case::router("http://192.168.0.1/", "a private network")]
#[case::carrier("http://100.64.0.1/", "a private network")]
#[case::link_local("http://[fe80::1]/", "a link-local address")]
#[case::unique_local("http://[fd12:3456::1]/", "a private network")]
#[case::nat64("http://[64:ff9b::a00:1]/", "a private network")]
#[case::six_to_four("http://[2002:7f00:1::]/", "this computer itself")]
#[case::teredo("http://[2001:0:808:808::f5ff:fffe]/", "a private network")]
#[case::translated("http://[::ffff:0:a9fe:a9fe]/", "a cloud metadata address")]
#[case::multicast("http://239.255.255.250/", "a multicast address")]
#[tokio::test]
async fn near_addresses_are_refused_at_once(#[case] url: &str, #[case] told: &str) {
    let internet = Internet::default()
        // The names say enough, whatever they resolve to.
        .name("metadata.google.internal", &[&[PUBLIC]])
        .name("localhost", &[&[PUBLIC]])
        .name("public.test", &[&[PUBLIC]]);
    let internet = Arc::new(internet);
    let room = Room::with(CARELESS, chat_permission::Mode::Ask, Some(true));
    let outcome = tokio::time::timeout(Duration::from_secs(10), fetch(&room, &internet, url));
    let failure = outcome.await.expect("it tried to connect").unwrap_err();
    assert!(failure.text.contains(told), "{}", failure.text);
    assert!(failure.text.contains("`network:local "), "{}", failure.text);
    // Nor is the person led into allowing it by a quick click.
    assert_eq!(room.asked(), [""; 0]);
}

#[rstest]
#[case("file:///etc/passwd")]
#[case("ftp://public.test/")]
#[case("http://me:secret@public.test/")]
#[case("data:text/html,hello")]
#[tokio::test]
async fn a_redirect_to_another_kind_of_address_is_not_followed(#[case] to: &'static str) {
    let (public, _) = servers(move |_| redirect(to)).await;
    let internet = Arc::new(Internet::default().name("public.test", &[&[PUBLIC]]));
    let url = format!("http://public.test:{}/", public.port());
    let failure = fetch(&Room::new(CARELESS), &internet, &url).await.unwrap_err();
    assert!(
        failure.text.starts_with("public.test redirects to an address that cannot be fetched"),
        "{}",
        failure.text
    );
    assert_eq!(public.requests().len(), 1);
}

#[tokio::test]
async fn nobody_follows_redirects_for_ever() {
    let steps = |limit: u32| {
        move |path: &str| match path[1..].parse::<u32>().unwrap() {
            step if step < limit => redirect(&format!("/{}", step + 1)),
            _ => text("arrived"),
        }
    };
    let internet = Arc::new(Internet::default().name("public.test", &[&[PUBLIC]]));
    let (public, _) = servers(steps(5)).await;
    let url = format!("http://public.test:{}/0", public.port());
    assert!(fetch(&Room::new(CARELESS), &internet, &url).await.unwrap().ends_with("arrived"));
    let (public, _) = servers(steps(6)).await;
    let url = format!("http://public.test:{}/0", public.port());
    let failure = fetch(&Room::new(CARELESS), &internet, &url).await.unwrap_err();
    assert!(failure.text.contains("more than 5 times"), "{}", failure.text);
    assert_eq!(public.requests().len(), 6);
}
