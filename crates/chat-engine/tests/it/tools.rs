//! Forces calls of Natter's own tools. Even a small model must make one that the tool takes.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use async_trait::async_trait;
use chat_core::client::BuiltIn;
use chat_core::message::{Question, Role, Todo, ToolCallId};
use chat_core::permission::{Request, Why};
use chat_core::tool::{
    Changes, Denied, PermissionCheck, PermissionGrant, Tool, ToolContext, ToolGroup, ToolHost,
    check,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, hear};

/// The most characters of a text, and items of a list, where the model finds no end by itself.
const BRIEF: (u64, u64) = (24, 2);

/// How a tool begins to refuse arguments that it cannot read.
const UNREADABLE: &str = "These arguments are not valid";

#[tokio::test]
async fn tools_for_agents_and_skills_get_valid_calls() -> Result<()> {
    let tools: Vec<_> = chat_tools::all().into_iter().filter(is_for_agents_or_skills).collect();
    let names: Vec<_> = tools.iter().map(|tool| tool.info().name()).collect();
    let all = [
        "ask_agent",
        "close_agent",
        "finish_worktree",
        "list_agents",
        "message_agent",
        "spawn_agent",
        "spawn_worktree",
        "use_skill",
        "wait_agents",
    ];
    assert_eq!(names, all);
    get_valid_calls(&tools).await
}

#[tokio::test]
async fn all_other_tools_get_valid_calls() -> Result<()> {
    let mut tools = chat_tools::all();
    tools.retain(|tool| !is_for_agents_or_skills(tool));
    get_valid_calls(&tools).await
}

fn is_for_agents_or_skills(tool: &Arc<dyn Tool>) -> bool {
    tool.info().group == ToolGroup::Agents || tool.loads_skills()
}

/// Forces a call of each, and has the tool read it.
async fn get_valid_calls(tools: &[Arc<dyn Tool>]) -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    for tool in tools {
        let name = tool.info().name();
        let arguments = forced(&stage, name).await.with_context(|| name.to_owned())?;
        let info = tool.info();
        let checked = check(&arguments, &info.spec.parameters, info.aliases)
            .map_err(|why| anyhow!("{name}: {why} {arguments}"))?;
        assert!(!has_negative(&arguments), "{name}: {arguments}");
        // Nothing had to be repaired or left out, but a number may have been too large.
        assert_eq!(without_numbers(&checked.value), without_numbers(&arguments), "{name}");
        assert!(checked.ignored.is_empty(), "{name}: {checked:?}");
        // There is nothing here that it could do.
        let done = tool.run(arguments.clone(), nowhere(stage.folder.path())).await;
        let refused = done.err().filter(|failure| failure.text.starts_with(UNREADABLE));
        assert_eq!(refused, None, "{name}: {arguments}");
    }
    Ok(())
}

/// Whether there is a negative number: no tool takes one.
fn has_negative(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number < 0.0),
        Value::Array(items) => items.iter().any(has_negative),
        Value::Object(fields) => fields.values().any(has_negative),
        _ => false,
    }
}

fn without_numbers(value: &Value) -> Value {
    match value {
        Value::Number(_) => json!("number"),
        Value::Array(items) => items.iter().map(without_numbers).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| (key.clone(), without_numbers(value));
            fields.iter().map(field).collect()
        }
        other => other.clone(),
    }
}

/// An engine that runs, as long as the client lives.
async fn running() -> Result<Option<(Stage, Arc<BuiltIn>)>> {
    let Some(stage) = Stage::new()? else { return Ok(None) };
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    Ok(Some((stage, client)))
}

/// The arguments of a call of the tool of this name, which must be made although all tools are there.
/// A model that writes on and on has to be brief.
async fn forced(stage: &Stage, name: &str) -> Result<Value> {
    let mut tools: Vec<Value> = chat_tools::all()
        .iter()
        .map(|tool| json!({ "type": "function", "function": &tool.info().spec }))
        .collect();
    if let Some(arguments) = call(stage, &tools, name, 160).await? {
        return Ok(arguments);
    }
    tools.iter_mut().for_each(shorten);
    call(stage, &tools, name, 480).await?.context("it found no end")
}

/// The arguments of the call; none if it did not end within so many tokens.
async fn call(stage: &Stage, tools: &[Value], name: &str, most: u32) -> Result<Option<Value>> {
    let mut body = stage.body("Call the tool.");
    body["tools"] = json!(tools);
    body["tool_choice"] = json!({ "type": "function", "function": { "name": name } });
    body["max_tokens"] = json!(most);
    let (status, answer) = stage.post("/v1/chat/completions", body).await?;
    ensure!(status == 200, "{answer}");
    let choice = &answer["choices"][0];
    if choice["finish_reason"] == "length" {
        return Ok(None);
    }
    ensure!(choice["finish_reason"] == "tool_calls", "{answer}");
    let calls = choice["message"]["tool_calls"].as_array().context("no calls")?;
    ensure!(calls.len() == 1 && calls[0]["function"]["name"] == name, "{answer}");
    let arguments = calls[0]["function"]["arguments"].as_str().context("no arguments")?;
    Ok(Some(serde_json::from_str(arguments)?))
}

/// Limits texts and lists in a schema. What fits it fits the schema as it was.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            let kind = parts.get("type").and_then(Value::as_str).map(str::to_owned);
            match kind.as_deref() {
                Some("string") if !parts.contains_key("enum") => {
                    parts.insert("maxLength".to_owned(), BRIEF.0.into());
                }
                Some("array") => {
                    parts.insert("maxItems".to_owned(), BRIEF.1.into());
                }
                _ => {}
            }
            parts.values_mut().for_each(shorten);
        }
        Value::Array(parts) => parts.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// A session without project, agents and skills, in which nothing is allowed.
fn nowhere(outputs: &Path) -> ToolContext {
    ToolContext {
        cancel: CancellationToken::new(),
        call: ToolCallId::new("call"),
        project: None,
        memory: Arc::default(),
        outputs: outputs.to_owned(),
        settings: Arc::default(),
        sees: false,
        most: 64 * 1024,
        host: Arc::new(Refusing),
        team: None,
        skills: Vec::new(),
        changes: Changes::default(),
        asked: Arc::default(),
    }
}

/// Allows nothing and answers nothing.
struct Refusing;

#[async_trait]
impl ToolHost for Refusing {
    async fn permit(&self, _: PermissionCheck) -> Result<PermissionGrant, Denied> {
        Err(Denied::Nobody)
    }

    fn refusal(&self, _: &Request) -> Option<Why> {
        Some(Why::Mode)
    }

    fn passes(&self, _: &Request) -> bool {
        false
    }

    async fn ask(&self, _: Question) -> Result<String, Denied> {
        Err(Denied::Nobody)
    }

    fn on_output(&self, _: &str, _: u64) {}

    fn on_todos(&self, _: Vec<Todo>) {}
}
