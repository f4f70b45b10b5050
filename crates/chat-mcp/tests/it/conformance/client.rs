//! The client that the checks judge: the product's own, used as each scenario wants it.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::{FieldKind, FormAnswer, FormField};
use chat_mcp::client::{Answer, Asked, CallFault, Discovery, Fault, Link};
use chat_mcp::config::SecretText;
use chat_mcp::form;
use chat_mcp::oauth::{RegisteredClient, SignInOptions};
use rmcp::model::{
    CallToolRequestParams, ElicitRequestParams, ElicitResult, ElicitationAction, Tool,
};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::oauth::sign_in;
use crate::server::{User, Vault, endpoint};

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// How long a scenario may take: less than the checks wait, who would not say where it stopped.
const ALL: Duration = Duration::from_secs(25);
/// So often the user signs in: one scenario has a server that never has enough.
const SIGN_INS: usize = 3;
/// How long a call may take.
const CALL: Duration = Duration::from_secs(20);
/// Where the checks expect the program to describe itself.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

/// Goes through the scenario that the checks name.
#[tokio::test]
#[ignore = "is started by the conformance checks, which say where their server is"]
async fn client() -> Done {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let url = std::env::args().next_back().ok_or("no address")?;
    let options = SignInOptions {
        client: (scenario == "auth/pre-registration").then(|| registered(&context)),
        metadata_url: Some(METADATA_URL.to_owned()),
        ..SignInOptions::default()
    };
    let user = User::new(endpoint(&url), &Arc::new(Vault::default()), None, options).await;
    let going = async {
        if scenario.starts_with("auth/") {
            sign_in_and_call(&user).await
        } else {
            use_all(&user, &scenario, &context).await
        }
    };
    timeout(ALL, going).await?
}

fn registered(context: &Value) -> RegisteredClient {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    RegisteredClient {
        id: text("client_id").unwrap_or_default(),
        secret: text("client_secret").map(SecretText::new),
        issuer: text("issuer"),
    }
}

async fn connect(user: &User) -> Result<Link, Fault> {
    let fault = match user.connect_by(Discovery::Ask).await {
        Ok(link) => return Ok(link),
        Err(fault) => fault,
    };
    match Discovery::Ask.once_more(&fault) {
        Some(discovery) => user.connect_by(discovery).await,
        None => Err(fault),
    }
}

/// Uses all that the server has.
async fn use_all(user: &User, scenario: &str, context: &Value) -> Done {
    let link = connect(user).await.map_err(|fault| words(&fault))?;
    let client = link.client();
    let tools = client.tools().await.map_err(|fault| words(&fault))?.tools;
    if scenario == "sse-retry" {
        // The stream that is always open is opened meanwhile, which nothing tells: the check would take it for the one
        // that is opened again.
        sleep(Duration::from_secs(1)).await;
    }
    for (tool, arguments) in calls(scenario, &tools, context) {
        // Some are to fail. The checks say so where one should not.
        if let Err(fault) = call(&link, &tool, arguments).await {
            eprintln!("{tool}: {fault:?}");
        }
    }
    for resource in client.resources().await.map_err(|fault| words(&fault))?.items {
        client.read_resource(&resource.uri).await.map_err(|fault| words(&fault))?;
    }
    for prompt in client.prompts().await.map_err(|fault| words(&fault))?.items {
        client.prompt(&prompt.name, [].into()).await.map_err(|fault| words(&fault))?;
    }
    link.close().await;
    Ok(())
}

/// The calls that a scenario wants: of each tool, unless it says otherwise.
fn calls(scenario: &str, tools: &[Tool], context: &Value) -> Vec<(String, Value)> {
    let each = |arguments: Value| {
        tools.iter().map(|tool| (tool.name.to_string(), arguments.clone())).collect()
    };
    match scenario {
        "json-schema-ref-no-deref" => Vec::new(),
        "tools_call" => each(json!({ "a": 5, "b": 3 })),
        "http-invalid-tool-headers" => each(json!({ "region": "us" })),
        "http-custom-headers" => {
            let calls = context["toolCalls"].as_array().into_iter().flatten();
            let name = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
            calls.map(|call| (name(call), call["arguments"].clone())).collect()
        }
        "json-schema-2020-12-preservation" => {
            let observed = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
            let schema = observed.map(|tool| (*tool.input_schema).clone());
            vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))]
        }
        _ => each(json!({})),
    }
}

/// Calls all tools twice, and signs in when the server wants it.
async fn sign_in_and_call(user: &User) -> Done {
    let (mut link, mut sign_ins) = (None, 0);
    // Some servers have another issuer from the second call on.
    for _ in 0..2 {
        while let Err(fault) = call_all(user, &mut link).await {
            let Fault::Unauthorized(challenge) = fault else { return Err(words(&fault)) };
            eprintln!("challenge: {challenge}");
            sign_ins += 1;
            if sign_ins > SIGN_INS {
                return Err("the server never has enough".into());
            }
            sign_in(user, &challenge).await.map_err(|fault| format!("{fault:?}"))?;
        }
    }
    if let Some(link) = link {
        link.close().await;
    }
    Ok(())
}

async fn call_all(user: &User, link: &mut Option<Link>) -> Result<(), Fault> {
    let link = match link {
        Some(link) => link,
        None => link.insert(connect(user).await?),
    };
    for tool in link.client().tools().await?.tools {
        call(link, &tool.name, json!({})).await.map_err(crate::of_server)?;
    }
    Ok(())
}

async fn call(link: &Link, tool: &str, arguments: Value) -> Result<Answer, CallFault> {
    let mut call = CallToolRequestParams::new(tool.to_owned());
    call.arguments = arguments.as_object().cloned();
    let stop = CancellationToken::new();
    link.client().call(call, CALL, &stop, |_| (), Arc::new(SendsBack)).await
}

/// Sends back every form with what is there at first.
struct SendsBack;

#[async_trait]
impl Asked for SendsBack {
    async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult {
        let Some(form) = form::form("", question) else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let there = |field: FormField| Some((field.name, at_first(field.kind)?));
        form::result(&FormAnswer::Filled(form.fields.into_iter().filter_map(there).collect()))
    }
}

fn at_first(kind: FieldKind) -> Option<Value> {
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

fn words(fault: &Fault) -> Box<dyn Error> {
    format!("{fault:?}").into()
}
