//! What a server asks the user to fill in: sent, declined, stopped, and with nobody there.

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::message::{
    Answer, ApprovalKind, Fid, FieldKind, Form, FormAnswer, FormField, FormRecord, NumberLimits,
    ToolSpec,
};
use chat_core::permission::Mode;
use chat_core::settings::ConnectionKind;
use chat_core::tool::{Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput};
use chat_testkit::server::{Script, Server};
use serde_json::{Map, Value, json};

use super::permissions::Scene;
use super::world::{World, timeouts};

/// Asks for a name and an age, as often at once as it is told to, and says what came of it.
struct Signs(ToolInfo);

fn form() -> Form {
    let field = |name: &str, required, kind| FormField {
        name: name.to_owned(),
        title: Some(format!("Your {name}")),
        description: None,
        required,
        kind,
    };
    let text = FieldKind::Text { min_length: None, max_length: None, format: None, default: None };
    let age = NumberLimits { min: Some(0), max: None, default: None };
    Form {
        server: "Club".to_owned(),
        message: "Who are you?".to_owned(),
        fields: vec![field("name", true, text), field("age", false, FieldKind::Integer(age))],
    }
}

#[async_trait]
impl Tool for Signs {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let times = arguments["times"].as_u64().unwrap_or(1);
        let forms = (0..times).map(|_| context.fill(form()));
        let mut said = Vec::new();
        for answer in futures_util::future::join_all(forms).await {
            said.push(match answer? {
                FormAnswer::Filled(values) => Value::Object(values).to_string(),
                FormAnswer::Declined => "declined".to_owned(),
            });
        }
        Ok(ToolOutput::text(said.join(" and ")))
    }
}

fn tools() -> Registry {
    let info = ToolInfo::foreign(ToolSpec {
        name: "signs".to_owned(),
        description: "For tests".to_owned(),
        parameters: json!({ "type": "object", "properties": { "times": { "type": "integer" } } }),
    });
    [Arc::new(Signs(info)) as Arc<dyn Tool>].into_iter().collect()
}

/// A chat whose reply calls the tool, and goes on once it has an answer.
async fn signing(server: &Server, times: u64, mode: Mode) -> (Scene, Fid) {
    server.push(Script::new().tool_call("c1", "signs", json!({ "times": times })));
    server.push(Script::new().text("Welcome."));
    let world = World::with_tools(server, ConnectionKind::OpenAi, timeouts(), tools()).await;
    let mut scene = Scene::of(world);
    let fid = scene.ask(mode).await;
    (scene, fid)
}

fn filled(values: Value) -> Answer {
    let Value::Object(values) = values else { panic!("{values}") };
    Answer::Form(FormAnswer::Filled(values))
}

#[tokio::test]
async fn what_is_filled_in_goes_to_the_tool_and_only_the_names_are_stored() {
    let server = Server::start();
    let (mut scene, fid) = signing(&server, 1, Mode::Ask).await;
    scene.waits(&fid, 1).await;
    assert_eq!(scene.world.events.asks[&fid][0].kind, ApprovalKind::Form(form()));
    scene.answer(&fid, filled(json!({ "name": "Ada" }))).await;
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let result = scene.results(&fid).await.remove(0);
    assert_eq!(result.text, r#"{"name":"Ada"}"#);
    let sent =
        FormRecord { server: "Club".to_owned(), sent: true, fields: vec!["Your name".to_owned()] };
    assert_eq!(result.forms, [sent]);
    // What the tool gives back is the tool's to say; nothing else has the value.
    let record = serde_json::to_string(&result.forms).unwrap();
    assert!(!record.contains("Ada"), "{record}");
}

#[tokio::test]
async fn a_form_is_declined_in_its_own_words_or_by_a_plain_no() {
    for no in [Answer::Form(FormAnswer::Declined), Answer::Deny { scope: None, message: None }] {
        let server = Server::start();
        let (mut scene, fid) = signing(&server, 1, Mode::Ask).await;
        scene.answer(&fid, no).await;
        scene.world.events.finished(&fid).await;
        let result = scene.results(&fid).await.remove(0);
        assert_eq!((result.text.as_str(), result.failed), ("declined", false));
        assert!(!result.forms[0].sent && result.forms[0].fields.is_empty(), "{result:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_the_form_is_refused_and_it_waits_on() {
    let server = Server::start();
    let (mut scene, fid) = signing(&server, 1, Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let id = scene.world.events.asks[&fid][0].id;
    let permissions = scene.world.manager.permissions();
    for wrong in [
        filled(json!({})),
        filled(json!({ "name": "Ada", "age": -1 })),
        filled(json!({ "name": "Ada", "more": true })),
        filled(json!({ "name": "Ada", "age": "36" })),
        Answer::Text("Ada".to_owned()),
        Answer::Allow(None),
    ] {
        let refused = permissions.answer(&fid, id, wrong.clone()).await.unwrap_err();
        assert_eq!(refused.kind, Kind::FormMismatch, "{wrong:?}");
    }
    scene.answer(&fid, filled(json!({ "name": "Ada", "age": 36 }))).await;
    scene.world.events.finished(&fid).await;
    assert_eq!(scene.results(&fid).await[0].text, r#"{"age":36,"name":"Ada"}"#);
}

#[tokio::test]
async fn a_stopped_reply_sends_nothing() {
    let server = Server::start();
    let (mut scene, fid) = signing(&server, 2, Mode::Ask).await;
    scene.waits(&fid, 1).await;
    scene.world.manager.sessions().stop(&fid);
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Stopped);
    let result = scene.results(&fid).await.remove(0);
    assert!(result.failed && result.stopped && result.forms.is_empty(), "{result:?}");
    assert!(scene.world.manager.permissions().pending().is_empty());
}

#[tokio::test]
async fn where_nobody_is_there_nothing_is_sent() {
    let server = Server::start();
    let (mut scene, fid) = signing(&server, 1, Mode::Ask).await;
    scene.answer(&fid, Answer::Nobody).await;
    scene.world.events.finished(&fid).await;
    let result = scene.results(&fid).await.remove(0);
    assert!(result.failed && result.text.contains("cannot be asked here"), "{result:?}");
}

#[tokio::test]
async fn a_mode_that_never_asks_asks_for_no_form() {
    let server = Server::start();
    let (mut scene, fid) = signing(&server, 1, Mode::Unattended).await;
    scene.world.events.finished(&fid).await;
    let result = scene.results(&fid).await.remove(0);
    assert!(result.failed && result.text.contains("cannot be asked here"), "{result:?}");
}

#[tokio::test]
async fn forms_of_one_call_come_one_after_the_other() {
    let server = Server::start();
    let (mut scene, fid) = signing(&server, 2, Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let first = scene.world.events.asks[&fid][0].id;
    scene.answer(&fid, filled(json!({ "name": "Ada" }))).await;
    let is_next = |told: &super::world::Mirror| {
        told.asks.get(&fid).is_some_and(|asks| matches!(&asks[..], [ask] if ask.id != first))
    };
    scene.world.events.until(is_next).await;
    scene.answer(&fid, Answer::Form(FormAnswer::Declined)).await;
    scene.world.events.finished(&fid).await;
    let result = scene.results(&fid).await.remove(0);
    assert_eq!(result.text, r#"{"name":"Ada"} and declined"#);
    assert_eq!(result.forms.iter().map(|form| form.sent).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn what_is_for_a_form_answers_nothing_else() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    server.push(super::permissions::touches("c1", "new.txt"));
    server.push(Script::new().text("Then not."));
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let id = scene.world.events.asks[&fid][0].id;
    let answer = Answer::Form(FormAnswer::Filled(Map::new()));
    let refused = scene.world.manager.permissions().answer(&fid, id, answer).await;
    assert_eq!(refused.unwrap_err().kind, Kind::FormMismatch);
    scene.answer(&fid, Answer::Deny { scope: None, message: None }).await;
    scene.world.events.finished(&fid).await;
}
