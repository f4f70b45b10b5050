//! Tests forms that a server of tools asks the user to fill in.

use std::fs;

use anyhow::{Context, Result, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{By, Role, State, named, until};
use serde_json::json;

use crate::stage::{Stage, Window};
use crate::tools::{at_work, says};

/// A server with one tool, which asks for a name and a newsletter and says how much it was told, never what.
const CLUB: &str = r#"
import json, sys
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
form = {"mode": "form", "message": "Who are you?", "requestedSchema": {
    "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "title": "Your name", "maxLength": 12},
        "news": {"type": "boolean", "title": "Send me news", "default": True}}}}
tool = {"name": "join", "description": "Joins the club", "inputSchema": {"type": "object", "properties": {}}}
call = None
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "club", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [tool]}})
    elif method == "tools/call":
        call = id
        send({"id": "ask", "method": "elicitation/create", "params": form})
    elif method is None and id == "ask":
        result = message.get("result", {})
        content = result.get("content") or {}
        text = "%s %d %s" % (result.get("action"), len(content.get("name", "")), content.get("news"))
        send({"id": call, "result": {"content": [{"type": "text", "text": text}]}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "unknown"}})
"#;

/// A window whose chat waits for the form of that server.
async fn asked() -> Result<(Stage, Window)> {
    let (stage, _) = at_work().await?;
    let club = json!({ "command": "python3", "args": ["-c", CLUB] });
    let servers = json!({ "mcpServers": { "club": club } });
    fs::write(stage.folders().config.join("mcp.json"), servers.to_string())?;
    stage.server.push(Script::new().tool_call("c1", "club__join", json!({})));
    stage.server.push(Script::new().text("That is settled."));
    let window = says(&stage, "let me join").await?;
    window.click(named("Allow Once").role(Role::Button)).await?;
    window.find(named("“club” asks for:").role(Role::Label)).await?;
    Ok((stage, window))
}

/// The field for the name.
fn name() -> By {
    named("Your name (required)").role(Role::Text)
}

/// What the model was told of the tool.
async fn result(stage: &Stage) -> Result<String> {
    let texts = stage.server.wait_for_end(1).await.texts_of("tool");
    texts.last().cloned().context("a result")
}

#[tokio::test]
async fn a_form_is_filled_in_by_keyboard_and_its_values_go_to_the_server_alone() -> Result<()> {
    let (stage, window) = asked().await?;
    window.keys(&["ctrl+period"]).await?;
    window.find(name().state(State::Focused)).await?;
    window.type_text("Ada Lovelace, Countess").await?;
    // Enter sends from the last field to write in.
    window.keys(&["Return"]).await?;
    window.find(named("At most 12 characters.").role(Role::Label)).await?;
    window.find(name().state(State::Focused)).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("Lovelace").await?;
    window.keys(&["Tab", "space"]).await?;
    window.click(named("Send").role(Role::Button).under("Conversation")).await?;
    window.shows("That is settled.").await?;
    window.writes().await?;
    let told = result(&stage).await?;
    ensure!(told.contains("accept 8 False"), "{told}");
    window.find(named("You sent this to “club”: Your name, Send me news")).await?;
    window.close().await?;
    let stored = stage.stored().await?;
    ensure!(!format!("{stored:?}").contains("Lovelace"), "what was filled in is stored");
    Ok(())
}

#[tokio::test]
async fn a_half_filled_form_waits_while_another_chat_is_shown_and_may_be_declined() -> Result<()> {
    let (stage, window) = asked().await?;
    window.find(name()).await?.click_with_mouse().await?;
    window.type_text("Ada").await?;
    window.new_chat().await?;
    window.open("Work").await?;
    let field = window.find(name()).await?;
    ensure!(field.text().await? == "Ada", "{:?}", field.text().await?);
    window.click(named("Don’t Send").role(Role::Button)).await?;
    window.shows("That is settled.").await?;
    let told = result(&stage).await?;
    ensure!(told.contains("decline 0 None"), "{told}");
    window.find(named("You sent nothing to “club”")).await?;
    window.close().await
}

#[tokio::test]
async fn what_is_wrong_with_a_form_is_brought_into_sight() -> Result<()> {
    let (_stage, window) = asked().await?;
    window.resize(360, 320).await?;
    let send = window.find(named("Send").role(Role::Button).under("Conversation")).await?;
    send.bring_into_sight().await?;
    let top = async || {
        let (_, pane, ..) = window.find(named("Conversation")).await?.place().await?;
        let (_, field, ..) = window.find(name()).await?.place().await?;
        anyhow::Ok(field - pane.max(0))
    };
    ensure!(top().await? < 0, "the field is in sight: nothing is tested");
    send.click_with_mouse().await?;
    window.find(name().state(State::Focused)).await?;
    until("the field in sight", || async {
        let (_, pane, _, height) = window.find(named("Conversation")).await?.place().await?;
        let (_, field, _, high) = window.find(name()).await?.place().await?;
        Ok((field >= pane.max(0) && field + high <= pane + height).then_some(()))
    })
    .await?;
    window.close().await
}
