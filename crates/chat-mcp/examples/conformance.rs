//! The client that the protocol's conformance suite runs: `conformance URL`, with the scenario in the environment.
//!
//! It ends with 0 when it is through, with 1 when something failed, and with 2 for scenarios that are not supported yet.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::{FieldKind, FormAnswer, FormField};
use chat_mcp::client::{Answer, Asked, Discovery, Fault, Link, ServerNews};
use chat_mcp::config::{ResolvedEndpoint, SecretText};
use chat_mcp::form;
use chat_mcp::http::{HttpClient, transport};
use chat_mcp::oauth::{
    Account, CredentialVault, RegisteredClient, SignIn, SignInOptions, VaultLocked,
};
use chat_mcp::transport::Ending;
use rmcp::model::{
    CallToolRequestParams, ElicitRequestParams, ElicitResult, ElicitationAction, Tool,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Where the suite expects the program to describe itself.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";
/// So often the user signs in: a scenario has a server that never has enough.
const SIGN_INS: usize = 3;
/// How long a call may take.
const CALL: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> ExitCode {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let Some(url) = std::env::args().next_back() else { return ExitCode::FAILURE };
    match run(&scenario, &url).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("{scenario} is not supported yet");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Goes through a scenario. Whether it is one that is supported.
async fn run(scenario: &str, url: &str) -> Done<bool> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let user = User::new(url, scenario, &context).await?;
    if scenario.starts_with("auth/") {
        let link = user.use_tools(None).await?;
        // Some servers have another issuer from the second call on.
        user.use_tools(Some(link)).await?.close().await;
        return Ok(true);
    }
    let link = user.connect().await.map_err(|fault| format!("{fault:?}"))?;
    let tools = link.client().tools().await.map_err(|fault| format!("{fault:?}"))?.tools;
    for (name, arguments) in match calls(scenario, &tools, &context) {
        Some(calls) => calls,
        None => return Ok(false),
    } {
        if scenario == "sse-retry" {
            // The suite takes the stream that is always open for the one that is opened again.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        // Tools are called without arguments that they need, too.
        if let Err(fault) = call(&link, &name, arguments).await {
            eprintln!("{name}: {fault:?}");
        }
    }
    link.close().await;
    Ok(true)
}

/// The calls of a scenario without signing in; none if it is not supported.
fn calls(scenario: &str, tools: &[Tool], context: &Value) -> Option<Vec<(String, Value)>> {
    let one = |name: &str, arguments: Value| vec![(name.to_owned(), arguments)];
    Some(match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Vec::new(),
        "tools_call" => one("add_numbers", json!({ "a": 5, "b": 3 })),
        "sse-retry" => one("test_reconnection", json!({})),
        "http-custom-headers" => {
            let calls = context["toolCalls"].as_array().into_iter().flatten();
            let name = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
            calls.map(|call| (name(call), call["arguments"].clone())).collect()
        }
        "http-invalid-tool-headers" => {
            let region = |tool: &Tool| (tool.name.to_string(), json!({ "region": "us" }));
            tools.iter().map(region).collect()
        }
        "json-schema-2020-12-preservation" => {
            let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool")?;
            one("json_schema_echo", json!({ "schema": *tool.input_schema }))
        }
        _ => return None,
    })
}

async fn call(link: &Link, name: &str, arguments: Value) -> Result<Answer, Fault> {
    let mut call = CallToolRequestParams::new(name.to_owned());
    call.arguments = arguments.as_object().cloned();
    let stop = CancellationToken::new();
    link.client().call(call, CALL, &stop, |_| (), Arc::new(Accepting)).await
}

/// Sends back every form as it comes: with what is there at first.
struct Accepting;

#[async_trait]
impl Asked for Accepting {
    async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult {
        let Some(form) = form::form("", question) else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let there = |field: FormField| Some((field.name, there_at_first(field.kind)?));
        form::result(&FormAnswer::Filled(form.fields.into_iter().filter_map(there).collect()))
    }
}

fn there_at_first(kind: FieldKind) -> Option<Value> {
    match kind {
        FieldKind::Text { default, .. } | FieldKind::Choice { default, .. } => {
            default.map(Value::from)
        }
        FieldKind::Integer(number) => number.default.map(Value::from),
        FieldKind::Number(number) => number.default.map(Value::from),
        FieldKind::Switch { default } => default.map(Value::from),
        FieldKind::Choices { default, .. } => Some(Value::from(default)),
    }
}

/// The user's side of the server.
struct User {
    endpoint: ResolvedEndpoint,
    http: HttpClient,
    account: Account,
}

impl User {
    async fn new(url: &str, scenario: &str, context: &Value) -> Done<Self> {
        let endpoint = ResolvedEndpoint { url: SecretText::new(url), headers: BTreeMap::new() };
        let http = HttpClient::new(&endpoint).map_err(|fault| format!("{fault:?}"))?;
        let text = |key: &str| context[key].as_str().map(str::to_owned);
        let registered = |id| RegisteredClient {
            id,
            secret: text("client_secret").map(SecretText::new),
            issuer: text("issuer"),
        };
        let client = text("client_id").filter(|_| scenario == "auth/pre-registration");
        let options = SignInOptions {
            client: client.map(registered),
            metadata_url: Some(METADATA_URL.to_owned()),
            ..SignInOptions::default()
        };
        let account = Account::new(&http, Arc::new(Vault::default()), None, options).await;
        Ok(Self { endpoint, http, account: account.map_err(|fault| format!("{fault:?}"))? })
    }

    async fn connect(&self) -> Result<Link, Fault> {
        let account = Some(&self.account);
        let transport = transport(&self.http, &self.endpoint, account).map_err(|fault| {
            eprintln!("{fault:?}");
            Fault::Closed(None)
        })?;
        Link::connect(transport, Ending::default(), Arc::new(NoNews), Discovery::Ask).await
    }

    /// Lists and calls all tools, and signs in when the server wants it.
    async fn use_tools(&self, mut link: Option<Link>) -> Done<Link> {
        for _ in 0..SIGN_INS {
            let challenge = match self.try_tools(&mut link).await {
                Ok(()) => return link.take().ok_or_else(|| "no connection".into()),
                Err(Fault::Unauthorized(challenge)) => challenge,
                Err(fault) => return Err(format!("{fault:?}").into()),
            };
            eprintln!("challenge: {challenge}");
            self.sign_in(&challenge).await?;
        }
        Err("the server never has enough".into())
    }

    async fn try_tools(&self, link: &mut Option<Link>) -> Result<(), Fault> {
        let link = match link {
            Some(link) => link,
            None => link.insert(self.connect().await?),
        };
        for tool in link.client().tools().await?.tools {
            call(link, &tool.name, json!({})).await?;
        }
        Ok(())
    }

    /// The browser of the suite's user is one request, whose redirect is followed to here.
    async fn sign_in(&self, challenge: &str) -> Done {
        let sign_in = SignIn::begin(&self.account, challenge).await;
        let sign_in = sign_in.map_err(|fault| format!("{fault:?}"))?;
        let url = sign_in.url().to_owned();
        let browsing = async {
            let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            let browser = browser.no_proxy().build()?;
            let sent = browser.get(url).send().await?;
            let back = sent.headers().get("location").ok_or("no redirect")?.to_str()?.to_owned();
            browser.get(back).send().await?;
            Done::Ok(())
        };
        let finish = async { sign_in.finish().await.map_err(|fault| format!("{fault:?}").into()) };
        tokio::try_join!(browsing, finish).map(drop)
    }
}

/// Keeps tokens as long as the program runs.
#[derive(Default)]
struct Vault(Mutex<BTreeMap<String, String>>);

#[async_trait]
impl CredentialVault for Vault {
    async fn load(&self, key: &str) -> Result<Option<String>, VaultLocked> {
        Ok(self.0.lock().map_err(|_| VaultLocked)?.get(key).cloned())
    }

    async fn save(&self, key: &str, value: String) {
        if let Ok(mut kept) = self.0.lock() {
            kept.insert(key.to_owned(), value);
        }
    }

    async fn remove(&self, key: &str) -> Result<(), VaultLocked> {
        self.0.lock().map_err(|_| VaultLocked)?.remove(key);
        Ok(())
    }
}

struct NoNews;

impl ServerNews for NoNews {
    fn lists_changed(&self) {}
}
