//! Tests signing in, with a browser that only does what pages say.

use std::sync::Arc;
use std::time::Duration;

use chat_mcp::client::{Fault, Link};
use chat_mcp::config::SecretText;
use chat_mcp::oauth::{OAuthFault, RegisteredClient, SignIn, SignInOptions};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use url::Url;

use crate::server::{Behavior, Refused, Server, User, Vault, call, location, page};

fn closed() -> Behavior {
    Behavior { wants_token: true, expires_in: 3600, ..Behavior::default() }
}

async fn user(server: &Server, vault: &Arc<Vault>) -> User {
    User::new(server.endpoint(), vault, None, SignInOptions::default()).await
}

/// What the server says to a user who did not sign in.
async fn challenge(user: &User) -> String {
    let Err(Fault::Unauthorized(challenge)) = user.connect().await else { panic!() };
    challenge
}

/// Signs in, and gives the page that the user sees at the end.
/// Signs in as a user would, in a browser. What the browser shows at the end.
pub async fn sign_in(user: &User, challenge: &str) -> Result<(u16, String), OAuthFault> {
    let sign_in = SignIn::begin(&user.account, challenge).await?;
    let url = sign_in.url().to_owned();
    let browsing = async { page(&location(&url).await).await };
    let (finished, page) = tokio::join!(sign_in.finish(), browsing);
    finished.map(|()| page)
}

async fn signed_in(user: &User) -> Link {
    sign_in(user, &challenge(user).await).await.unwrap();
    user.connect().await.unwrap()
}

#[tokio::test]
async fn the_user_signs_in_once_and_later_runs_use_the_token() {
    let server = Server::start(closed()).await;
    let vault = Arc::new(Vault::default());
    let first = user(&server, &vault).await;
    assert!(!first.account.restore().await.unwrap());
    let challenge = challenge(&first).await;
    let (status, page) = sign_in(&first, &challenge).await.unwrap();
    assert_eq!(status, 200);
    assert!(page.contains("You can close this tab and return to Natter."), "{page}");
    let client = first.connect().await.unwrap();
    call(&client).await.unwrap();
    client.close().await;

    let known = first.account.known_issuer().unwrap();
    assert_eq!(known.issuer, server.origin());
    let kept: Vec<_> = vault.0.lock().unwrap().keys().cloned().collect();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].starts_with(&format!("mcp/{}#", server.origin())), "{kept:?}");
    for shown in [format!("{:?}", first.account), format!("{:?}", first.http)] {
        assert!(!shown.contains("token-") && !shown.contains("secret of"), "{shown}");
    }

    let options = SignInOptions::default();
    let later = User::new(server.endpoint(), &vault, Some(known), options).await;
    assert!(later.account.restore().await.unwrap());
    call(&later.connect().await.unwrap()).await.unwrap();
    assert_eq!(server.asked("/authorize").len(), 1);
    assert_eq!(server.asked("/register").len(), 1);

    let known = later.account.known_issuer().unwrap();
    vault.set_locked(true);
    assert_eq!(known.sign_out(&*vault).await, Err(OAuthFault::NoKeyring));
    vault.set_locked(false);
    known.sign_out(&*vault).await.unwrap();
    assert!(vault.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_locked_keyring_is_not_one_without_a_token() {
    let server = Server::start(closed()).await;
    let vault = Arc::new(Vault::default());
    let first = user(&server, &vault).await;
    signed_in(&first).await.close().await;
    let known = first.account.known_issuer();
    let later = User::new(server.endpoint(), &vault, known, SignInOptions::default()).await;
    vault.set_locked(true);
    assert_eq!(later.account.restore().await, Err(OAuthFault::NoKeyring));
    vault.set_locked(false);
    assert_eq!(later.account.restore().await, Ok(true));
}

#[tokio::test]
async fn an_expired_token_is_renewed_without_the_user() {
    let server = Server::start(Behavior { expires_in: 0, ..closed() }).await;
    let user = user(&server, &Arc::new(Vault::default())).await;
    let client = signed_in(&user).await;
    let renewals = || {
        let asked = server.asked("/token");
        asked.iter().filter(|asked| asked.form()["grant_type"] == "refresh_token").count()
    };
    let before = renewals();
    assert!(before > 0, "connecting needed one");
    call(&client).await.unwrap();
    assert!(renewals() > before);
    assert_eq!(server.asked("/authorize").len(), 1);
}

#[tokio::test]
async fn a_token_that_is_not_taken_any_more_is_renewed_and_then_the_user_signs_in_again() {
    let server = Server::start(closed()).await;
    let vault = Arc::new(Vault::default());
    let user = user(&server, &vault).await;
    let client = signed_in(&user).await;
    server.forget_tokens();
    call(&client).await.unwrap();
    assert_eq!(server.asked("/authorize").len(), 1);

    server.forget_tokens();
    server.forget_grants();
    let Err(Fault::Unauthorized(challenge)) = call(&client).await else { panic!() };
    assert!(vault.0.lock().unwrap().is_empty(), "what is refused is not kept");
    sign_in(&user, &challenge).await.unwrap();
    // The same connection goes on.
    call(&client).await.unwrap();
    assert_eq!(server.asked("/authorize").len(), 2);
}

#[tokio::test]
async fn another_run_may_have_renewed_the_token() {
    let server = Server::start(closed()).await;
    let vault = Arc::new(Vault::default());
    let one = user(&server, &vault).await;
    let client = signed_in(&one).await;
    let known = one.account.known_issuer();
    let other = User::new(server.endpoint(), &vault, known, SignInOptions::default()).await;
    assert!(other.account.restore().await.unwrap());
    server.forget_tokens();
    call(&other.connect().await.unwrap()).await.unwrap();
    server.forget_tokens();
    call(&client).await.unwrap();
    assert_eq!(server.asked("/authorize").len(), 1);
}

#[tokio::test]
async fn a_refusal_is_told_in_its_words() {
    for (code, fault) in [
        ("access_denied", OAuthFault::Denied { description: Some("Ask Ada".to_owned()) }),
        (
            "server_error",
            OAuthFault::Failed {
                code: "server_error".to_owned(),
                description: Some("Ask Ada".to_owned()),
            },
        ),
    ] {
        let server = Server::start(Behavior { error: Some((code, "Ask Ada")), ..closed() }).await;
        let user = user(&server, &Arc::new(Vault::default())).await;
        assert_eq!(sign_in(&user, &challenge(&user).await).await, Err(fault));
        assert!(server.asked("/token").is_empty());
    }
}

#[tokio::test]
async fn who_does_not_cooperate_is_told_by_kind() {
    for (behavior, fault) in [
        (
            Behavior { refuses: Some(Refused::Registration), ..closed() },
            OAuthFault::RegistrationRefused,
        ),
        (Behavior { refuses: Some(Refused::Tokens), ..closed() }, OAuthFault::TokenRefused),
        (
            Behavior { token_endpoint: Some("http://10.0.0.1/token"), ..closed() },
            OAuthFault::AddressRefused,
        ),
        (
            Behavior { says_issuer: Some("https://evil.test"), ..closed() },
            OAuthFault::IssuerMismatch,
        ),
    ] {
        let server = Server::start(behavior).await;
        let vault = Arc::new(Vault::default());
        let user = user(&server, &vault).await;
        assert_eq!(sign_in(&user, &challenge(&user).await).await, Err(fault.clone()));
        assert!(vault.0.lock().unwrap().is_empty(), "{fault:?}");
        assert_eq!(user.account.known_issuer(), None, "{fault:?}");
        if fault == OAuthFault::IssuerMismatch {
            assert!(server.asked("/token").is_empty());
        }
    }
}

#[tokio::test]
async fn a_visitor_without_the_state_is_turned_away_and_the_browser_still_waited_for() {
    let server = Server::start(closed()).await;
    let user = user(&server, &Arc::new(Vault::default())).await;
    let sign_in = SignIn::begin(&user.account, &challenge(&user).await).await.unwrap();
    let url = sign_in.url().to_owned();
    let browsing = async {
        let right = location(&url).await;
        let mut wrong = Url::parse(&right).unwrap();
        wrong.query_pairs_mut().clear().append_pair("code", "stolen").append_pair("state", "x");
        let (status, _) = page(wrong.as_str()).await;
        assert_eq!(status, 400);
        assert!(server.asked("/token").is_empty());
        page(&right).await
    };
    let (finished, (status, _)) = tokio::join!(sign_in.finish(), browsing);
    assert_eq!((finished, status), (Ok(()), 200));
}

#[tokio::test]
async fn a_server_that_wants_more_is_asked_for_both() {
    let server = Server::start(Behavior { call_scope: Some("write"), ..closed() }).await;
    let user = user(&server, &Arc::new(Vault::default())).await;
    let client = signed_in(&user).await;
    let Err(Fault::Unauthorized(challenge)) = call(&client).await else { panic!() };
    sign_in(&user, &challenge).await.unwrap();
    call(&client).await.unwrap();
    let asked = server.asked("/authorize");
    let scopes: Vec<_> = asked.iter().map(|asked| asked.query["scope"].as_str()).collect();
    assert_eq!(scopes, ["read offline_access", "read offline_access write"]);
}

#[tokio::test]
async fn nobody_listens_any_more_when_a_sign_in_is_dropped_or_too_late() {
    let server = Server::start(closed()).await;
    let vault = Arc::new(Vault::default());
    let options = SignInOptions { time_limit: Duration::ZERO, ..SignInOptions::default() };
    let user = User::new(server.endpoint(), &vault, None, options).await;
    let challenge = challenge(&user).await;
    let dropped = SignIn::begin(&user.account, &challenge).await.unwrap();
    let late = SignIn::begin(&user.account, &challenge).await.unwrap();
    let port = |sign_in: &SignIn| {
        let url = Url::parse(sign_in.url()).unwrap();
        let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1;
        Url::parse(&redirect).unwrap().port().unwrap()
    };
    let mut visitors = Vec::new();
    for port in [port(&dropped), port(&late)] {
        visitors.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    drop(dropped);
    assert_eq!(late.finish().await, Err(OAuthFault::TimedOut));
    for mut visitor in visitors {
        // The connection is closed, or was never taken.
        assert!(!matches!(visitor.read(&mut [0]).await, Ok(1)));
    }
}

#[tokio::test]
async fn a_registered_client_is_told_to_its_issuer_alone() {
    let server = Server::start(closed()).await;
    let vault = Arc::new(Vault::default());
    let registered = |issuer: &str| {
        let secret = Some(SecretText::new("hunter2"));
        let issuer = Some(issuer.to_owned());
        let client = Some(RegisteredClient { id: "ada".to_owned(), secret, issuer });
        SignInOptions { client, ..SignInOptions::default() }
    };
    let other = registered("https://login.test");
    let user = User::new(server.endpoint(), &vault, None, other).await;
    let challenge = challenge(&user).await;
    assert_eq!(sign_in(&user, &challenge).await, Err(OAuthFault::IssuerMismatch));
    assert!(server.asked("/authorize").is_empty());

    let user = User::new(server.endpoint(), &vault, None, registered(server.origin())).await;
    sign_in(&user, &challenge).await.unwrap();
    assert_eq!(server.asked("/authorize")[0].query["client_id"], "ada");
    assert!(server.asked("/register").is_empty());
    let kept = format!("{:?}", vault.0.lock().unwrap());
    assert!(!kept.contains("hunter2"), "its secret is kept elsewhere");
}
