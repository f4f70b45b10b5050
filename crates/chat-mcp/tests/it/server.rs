//! Serves the protocol over HTTP on loopback, and signs users in, rightly or wrongly.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use chat_mcp::client::{Answer, Discovery, Fault, Link, ServerNews};
use chat_mcp::config::{ResolvedEndpoint, SecretText};
use chat_mcp::http::{HttpClient, transport};
use chat_mcp::oauth::{Account, CredentialVault, KnownIssuer, SignInOptions, VaultLocked};
use chat_mcp::transport::Ending;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::{Url, form_urlencoded};

use crate::{NobodyAsked, of_server};

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Asked {
    pub fn form(&self) -> BTreeMap<String, String> {
        pairs(&self.body)
    }
}

/// A step of signing in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Registration,
    Tokens,
}

/// What the server does.
#[derive(Clone, Debug, Default)]
pub struct Behavior {
    /// Whether it wants a token.
    pub wants_token: bool,
    /// The scope without which no tool can be called and no resource read.
    pub call_scope: Option<&'static str>,
    /// Seconds for which tokens are valid, by its words.
    pub expires_in: u64,
    /// With what the browser comes back in place of a code.
    pub error: Option<(&'static str, &'static str)>,
    /// Who it says it is when the browser comes back.
    pub says_issuer: Option<&'static str>,
    /// Where tokens are fetched.
    pub token_endpoint: Option<&'static str>,
    /// What it refuses to those who sign in.
    pub refuses: Option<Refused>,
    /// Where requests for a path are sent instead.
    pub redirects: BTreeMap<&'static str, (u16, String)>,
    /// Whether it has an answer to what it does not know: nothing.
    pub answers_anything: bool,
    /// What is answered at `/mcp`, in place of the protocol.
    pub instead: Option<(u16, String)>,
}

#[derive(Default)]
struct Shared {
    origin: String,
    behavior: Behavior,
    asked: Mutex<Vec<Asked>>,
    /// Scopes by token.
    tokens: Mutex<BTreeMap<String, String>>,
    /// The same for codes and for tokens that renew others.
    grants: Mutex<BTreeMap<String, String>>,
    count: Mutex<usize>,
}

/// A server. Dropping it ends it.
pub struct Server {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn start(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { origin, behavior, ..Shared::default() });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { shared, task }
    }

    pub fn origin(&self) -> &str {
        &self.shared.origin
    }

    pub fn endpoint(&self) -> ResolvedEndpoint {
        endpoint(&format!("{}/mcp", self.origin()))
    }

    /// The requests for a path, so far.
    pub fn asked(&self, path: &str) -> Vec<Asked> {
        let asked = self.shared.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.path == path).cloned().collect()
    }

    /// Takes no token any more that it gave.
    pub fn forget_tokens(&self) {
        self.shared.tokens.lock().unwrap().clear();
    }

    /// Renews no token any more.
    pub fn forget_grants(&self) {
        self.shared.grants.lock().unwrap().clear();
    }
}

pub fn endpoint(url: &str) -> ResolvedEndpoint {
    ResolvedEndpoint { url: SecretText::new(url), headers: BTreeMap::new() }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap_or_default().to_owned())
    };
    let asked = Asked {
        path: head.uri.path().to_owned(),
        query: pairs(head.uri.query().unwrap_or_default()),
        headers: head.headers.iter().map(header).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    shared.asked.lock().unwrap().push(asked.clone());
    let behavior = &shared.behavior;
    if let Some((status, location)) = behavior.redirects.get(asked.path.as_str()) {
        return with(*status, &[("location", location)], String::new());
    }
    match asked.path.as_str() {
        "/mcp" if head.method == "POST" => shared.mcp(behavior, &asked),
        "/mcp" => with(405, &[], String::new()),
        "/.well-known/oauth-protected-resource/mcp" => json_of(&json!({
            "resource": format!("{}/mcp", shared.origin),
            "authorization_servers": [shared.origin],
            "scopes_supported": ["read"],
        })),
        "/.well-known/oauth-authorization-server" => json_of(&json!({
            "issuer": shared.origin,
            "authorization_endpoint": format!("{}/authorize", shared.origin),
            "token_endpoint":
                behavior.token_endpoint.map_or(format!("{}/token", shared.origin), str::to_owned),
            "registration_endpoint": format!("{}/register", shared.origin),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["read", "write", "offline_access"],
            "authorization_response_iss_parameter_supported": true,
        })),
        "/register" if behavior.refuses == Some(Refused::Registration) => {
            with(403, &[], "no".to_owned())
        }
        "/register" => {
            let mut answer: Value = serde_json::from_str(&asked.body).unwrap();
            answer["client_id"] = json!(format!("client-{}", shared.next()));
            answer["client_secret"] = json!("secret of the client");
            json_of(&answer)
        }
        "/authorize" => shared.authorize(behavior, &asked),
        "/token" => shared.token(behavior, &asked),
        _ => with(404, &[], String::new()),
    }
}

impl Shared {
    fn next(&self) -> usize {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        *count
    }

    fn mcp(&self, behavior: &Behavior, asked: &Asked) -> Response {
        if let Some((status, body)) = &behavior.instead {
            return with(*status, &[("content-type", "application/json")], body.clone());
        }
        let challenge = |more: &str| {
            let path = "/.well-known/oauth-protected-resource/mcp";
            format!("Bearer resource_metadata=\"{}{path}\"{more}", self.origin)
        };
        let token = asked.headers.get("authorization").and_then(|it| it.strip_prefix("Bearer "));
        let scope = token.and_then(|token| self.tokens.lock().unwrap().get(token).cloned());
        if behavior.wants_token && scope.is_none() {
            return with(401, &[("www-authenticate", &challenge(""))], String::new());
        }
        let request: Value = serde_json::from_str(&asked.body).unwrap();
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "test", "version": "1" },
            }),
            Some("tools/list") => {
                json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
            }
            Some(method @ ("tools/call" | "resources/read")) => {
                let scope = scope.unwrap_or_default();
                if let Some(wanted) = behavior.call_scope
                    && !scope.split(' ').any(|it| it == wanted)
                {
                    let more = format!(", error=\"insufficient_scope\", scope=\"{wanted}\"");
                    return with(403, &[("www-authenticate", &challenge(&more))], String::new());
                }
                if method == "resources/read" {
                    json!({ "contents": [{ "uri": "note://today", "text": "hello" }] })
                } else {
                    json!({ "content": [{ "type": "text", "text": "hello" }] })
                }
            }
            _ if request["id"].is_null() => return with(202, &[], String::new()),
            _ if behavior.answers_anything => json!({}),
            _ => {
                let error = json!({ "code": -32601, "message": "unknown" });
                return json_of(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }));
            }
        };
        json_of(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
    }

    fn authorize(&self, behavior: &Behavior, asked: &Asked) -> Response {
        assert_eq!(asked.query["code_challenge_method"], "S256");
        let mut back = Url::parse(&asked.query["redirect_uri"]).unwrap();
        let mut pairs = back.query_pairs_mut();
        pairs.append_pair("state", &asked.query["state"]);
        pairs.append_pair("iss", behavior.says_issuer.unwrap_or(&self.origin));
        if let Some((code, description)) = behavior.error {
            pairs.append_pair("error", code).append_pair("error_description", description);
        } else {
            let code = format!("code-{}", self.next());
            let scope = asked.query.get("scope").cloned().unwrap_or_default();
            self.grants.lock().unwrap().insert(code.clone(), scope);
            pairs.append_pair("code", &code);
        }
        drop(pairs);
        with(302, &[("location", back.as_str())], String::new())
    }

    fn token(&self, behavior: &Behavior, asked: &Asked) -> Response {
        let form = asked.form();
        let grant = match form["grant_type"].as_str() {
            "authorization_code" => {
                assert!(form["code_verifier"].len() >= 43);
                form["code"].as_str()
            }
            _ => form["refresh_token"].as_str(),
        };
        assert_eq!(form["resource"], format!("{}/mcp", self.origin));
        // Each is taken once.
        let scope = self.grants.lock().unwrap().remove(grant);
        let Some(scope) = scope.filter(|_| behavior.refuses != Some(Refused::Tokens)) else {
            let refusal = json!({ "error": "invalid_grant" }).to_string();
            return with(400, &[("content-type", "application/json")], refusal);
        };
        let (token, refresh) = (format!("token-{}", self.next()), format!("renew-{}", self.next()));
        self.tokens.lock().unwrap().insert(token.clone(), scope.clone());
        self.grants.lock().unwrap().insert(refresh.clone(), scope.clone());
        json_of(&json!({
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": behavior.expires_in,
            "refresh_token": refresh,
            "scope": scope,
        }))
    }
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

fn json_of(value: &Value) -> Response {
    with(200, &[("content-type", "application/json")], value.to_string())
}

fn with(status: u16, headers: &[(&str, &str)], body: String) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Body::from(body)).unwrap()
}

/// Keeps secrets in memory.
#[derive(Default)]
pub struct Vault(pub Mutex<BTreeMap<String, String>>, AtomicBool);

impl Vault {
    /// From now on, gives and forgets nothing.
    pub fn set_locked(&self, is_locked: bool) {
        self.1.store(is_locked, Ordering::SeqCst);
    }

    fn is_open(&self) -> Result<(), VaultLocked> {
        if self.1.load(Ordering::SeqCst) { Err(VaultLocked) } else { Ok(()) }
    }
}

#[async_trait]
impl CredentialVault for Vault {
    async fn load(&self, key: &str) -> Result<Option<String>, VaultLocked> {
        self.is_open()?;
        Ok(self.0.lock().unwrap().get(key).cloned())
    }

    async fn save(&self, key: &str, value: String) {
        self.0.lock().unwrap().insert(key.to_owned(), value);
    }

    async fn remove(&self, key: &str) -> Result<(), VaultLocked> {
        self.is_open()?;
        self.0.lock().unwrap().remove(key);
        Ok(())
    }
}

struct NoNews;

impl ServerNews for NoNews {
    fn lists_changed(&self) {}
}

/// A user's side of one server.
pub struct User {
    pub endpoint: ResolvedEndpoint,
    pub http: HttpClient,
    pub account: Account,
}

impl User {
    pub async fn new(
        endpoint: ResolvedEndpoint,
        vault: &Arc<Vault>,
        known: Option<KnownIssuer>,
        options: SignInOptions,
    ) -> Self {
        let http = HttpClient::new(&endpoint).unwrap();
        let vault: Arc<dyn CredentialVault> = vault.clone();
        let account = Account::new(&http, vault, known, options).await.unwrap();
        Self { endpoint, http, account }
    }

    pub async fn connect(&self) -> Result<Link, Fault> {
        self.connect_by(Discovery::Ask).await
    }

    pub async fn connect_by(&self, discovery: Discovery) -> Result<Link, Fault> {
        let transport = transport(&self.http, &self.endpoint, Some(&self.account)).unwrap();
        Link::connect(transport, Ending::default(), Arc::new(NoNews), discovery).await
    }
}

/// Calls the server's tool.
pub async fn call(link: &Link) -> Result<Answer, Fault> {
    let limit = std::time::Duration::from_mins(1);
    let call = CallToolRequestParams::new("echo");
    let stop = CancellationToken::new();
    let answer = link.client().call(call, limit, &stop, |_| (), Arc::new(NobodyAsked)).await;
    answer.map_err(of_server)
}

/// Opens a page as a browser would, up to the address that it is sent to.
pub async fn location(url: &str) -> String {
    let response = browser().get(url).send().await.unwrap();
    response.headers()["location"].to_str().unwrap().to_owned()
}

/// Opens a page as a browser would: its status, and its text.
pub async fn page(url: &str) -> (u16, String) {
    let response = browser().get(url).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

fn browser() -> reqwest::Client {
    let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]);
    builder.redirect(reqwest::redirect::Policy::none()).build().unwrap()
}
