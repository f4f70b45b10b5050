use std::sync::Arc;

use rstest::rstest;

use super::*;
use crate::client::Recipient;
use crate::message::{
    Message, Options, Origin, Part, ProviderData, Role, ToolCall, ToolCallId, ToolResult,
};

fn parts(role: Role, parts: Vec<Part>) -> Arc<Message> {
    Arc::new(Message { parts, ..Message::text(role, None, "") })
}

fn said(role: Role, text: &str) -> Arc<Message> {
    Arc::new(Message::text(role, None, text))
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCall::new(ToolCallId::new(id), "look", json!({})))
}

fn result(id: &str, text: &str, failed: bool) -> Part {
    Part::ToolResult(ToolResult {
        call: ToolCallId::new(id),
        name: "look".to_owned(),
        text: text.to_owned(),
        failed,
        lasting: false,
        view: None,
        took: None,
        verdict: None,
        stopped: false,
        needs: Vec::new(),
        forms: Vec::new(),
    })
}

fn picture() -> Part {
    Part::Image { mime: "image/png".to_owned(), data: [1, 2, 3].into() }
}

fn origin() -> Origin {
    Origin {
        protocol: "anthropic".to_owned(),
        connection: "c".to_owned(),
        server: Some("s".to_owned()),
        model: "m".to_owned(),
    }
}

fn thought(json: &str) -> Part {
    let provider = Some(ProviderData { origin: origin(), json: json.to_owned() });
    Part::Thinking { text: "Hm.".to_owned(), took: None, provider }
}

fn sent_as(request: &Request, shape: &Shape) -> Value {
    let recipient = Recipient { origin: origin(), refused: Arc::default() };
    serde_json::from_slice(&body(request, shape, Some(&recipient)).unwrap()).unwrap()
}

fn uncached() -> Shape {
    Shape { caches: false, ..Shape::of("claude-sonnet-4-5") }
}

fn messages(all: Vec<Arc<Message>>) -> Value {
    sent_as(&Request::new("m", all), &uncached())["messages"].clone()
}

#[test]
fn results_come_first_each_with_its_pictures() {
    let got = messages(vec![
        said(Role::User, "Look"),
        parts(Role::Assistant, vec![call("a"), call("b")]),
        parts(Role::Tool, vec![result("a", "", true), result("b", "seen", false), picture()]),
        said(Role::User, "And?"),
    ]);
    let picture = json!({ "type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": "AQID" } });
    let expected = json!([
        { "type": "tool_result", "tool_use_id": "a", "is_error": true },
        { "type": "tool_result", "tool_use_id": "b", "content": [
            { "type": "text", "text": "seen" }, picture ] },
        { "type": "text", "text": "And?" },
    ]);
    assert_eq!(got[2], json!({ "role": "user", "content": expected }));
    assert_eq!(got.as_array().unwrap().len(), 3, "user and assistant take turns");
}

#[test]
fn ids_of_other_servers_are_made_fit_and_unique() {
    let turn = |id: &str| {
        [parts(Role::Assistant, vec![call(id)]), parts(Role::Tool, vec![result(id, "x", false)])]
    };
    let all = [vec![said(Role::User, "Look")], turn("f.look:0").into(), turn("f.look:0").into()];
    let got = messages(all.concat());
    let ids: Vec<_> = [(1, "id"), (2, "tool_use_id"), (3, "id"), (4, "tool_use_id")]
        .map(|(at, field)| got[at]["content"][0][field].clone())
        .into();
    assert_eq!(ids, ["f_look_0", "f_look_0", "f_look_0__2", "f_look_0__2"]);
}

#[test]
fn thoughts_go_back_byte_for_byte_and_others_do_not() {
    let signed = r#"{"type":"thinking","thinking":"H\u006d.","signature":"s\/="}"#;
    let foreign = Part::Thinking { text: "Hm.".to_owned(), took: None, provider: None };
    let request = Request::new(
        "m",
        vec![
            said(Role::User, "Hi"),
            parts(Role::Assistant, vec![foreign.clone()]),
            parts(Role::Assistant, vec![thought(signed), Part::Text("Yes.".to_owned())]),
            said(Role::User, "Sure?"),
        ],
    );
    let recipient = Recipient { origin: origin(), refused: Arc::default() };
    let bytes = body(&request, &uncached(), Some(&recipient)).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(signed), "{text}");
    assert_eq!(text.matches("Hm.").count(), 0, "{text}");
    let without = String::from_utf8(body(&request, &uncached(), None).unwrap()).unwrap();
    assert!(!without.contains("signature"), "{without}");
}

#[test]
fn nothing_empty_is_sent_and_the_user_speaks_first() {
    let got = messages(vec![
        said(Role::System, "  "),
        said(Role::Assistant, "Before."),
        said(Role::User, " \n"),
        said(Role::Assistant, "After. \n"),
    ]);
    let expected = json!([
        { "role": "user", "content": [{ "type": "text", "text": "Continue." }] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "Before." }, { "type": "text", "text": "After." } ] },
    ]);
    assert_eq!(got, expected);
    let newer = Shape { prefill: false, ..uncached() };
    let all = vec![said(Role::User, "Hi"), said(Role::Assistant, "Yes ")];
    let got = sent_as(&Request::new("m", all), &newer);
    assert_eq!(got["messages"][2]["role"], "user", "a model without prefill");
    assert_eq!(got["system"], Value::Null);
}

#[rstest]
#[case("claude-opus-4-5", Thinking::Default, json!([null, null, 0.5]))]
#[case("claude-opus-4-5", Thinking::Off, json!([{ "type": "disabled" }, null, 0.5]))]
#[case("claude-opus-4-5", Thinking::On, json!([{ "type": "enabled", "budget_tokens": 8192 }, null, null]))]
#[case("claude-opus-4-5", Thinking::Max, json!([{ "type": "enabled", "budget_tokens": 32000 }, null, null]))]
#[case("claude-opus-4-6", Thinking::Default, json!([null, null, 0.5]))]
#[case("claude-opus-4-6", Thinking::On, json!([{ "type": "adaptive", "display": "summarized" }, null, null]))]
#[case("claude-opus-5", Thinking::Default, json!([null, null, null]))]
#[case("claude-opus-5", Thinking::Off, json!([{ "type": "disabled" }, null, null]))]
#[case("claude-opus-5", Thinking::Low, json!([{ "type": "adaptive", "display": "summarized" }, { "effort": "low" }, null]))]
#[case("claude-opus-5", Thinking::Max, json!([{ "type": "adaptive", "display": "summarized" }, { "effort": "max" }, null]))]
#[case("claude-3-5-haiku-latest", Thinking::High, json!([null, null, 0.5]))]
fn each_model_is_told_of_thinking_in_its_form(
    #[case] model: &str,
    #[case] thinking: Thinking,
    #[case] expected: Value,
) {
    let options = Options { temperature: Some(0.5), ..Options::default() };
    let request =
        Request { thinking, options, ..Request::new(model, vec![said(Role::User, "Hi")]) };
    let got = sent_as(&request, &Shape::of(model));
    let got = [&got["thinking"], &got["output_config"], &got["temperature"]];
    assert_eq!(json!(got), expected);
}

#[rstest]
#[case(2_048, 64_000, json!({ "type": "enabled", "budget_tokens": 2048 }))]
#[case(2_048, 2_000, json!({ "type": "enabled", "budget_tokens": 1500 }))]
#[case(2_048, 1_000, Value::Null)]
#[case(500, 64_000, Value::Null)]
fn a_budget_that_servers_refuse_is_not_sent(
    #[case] budget: u32,
    #[case] max_tokens: u32,
    #[case] expected: Value,
) {
    let options = Options {
        thinking_budget: Some(budget),
        max_tokens: Some(max_tokens),
        ..Options::default()
    };
    let request = Request { options, ..Request::new("m", vec![said(Role::User, "Hi")]) };
    assert_eq!(sent_as(&request, &uncached())["thinking"], expected);
}

#[test]
fn a_model_that_always_thinks_thinks_little_where_it_should_not() {
    let shape = Shape { can_disable: false, ..Shape::of("claude-fable-5") };
    let request =
        Request { thinking: Thinking::Off, ..Request::new("m", vec![said(Role::User, "Hi")]) };
    let got = sent_as(&request, &shape);
    assert_eq!(got["thinking"]["type"], "adaptive");
    assert_eq!(got["output_config"]["effort"], "low");
}

#[test]
fn a_demanded_call_excludes_thinking() {
    let spec = ToolSpec {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({ "type": "object" }),
    };
    let request = Request {
        tools: vec![spec],
        tool_choice: ToolChoice::Required,
        thinking: Thinking::High,
        ..Request::new("m", vec![said(Role::User, "Hi")])
    };
    let got = sent_as(&request, &uncached());
    assert_eq!((&got["tool_choice"]["type"], &got["thinking"]), (&json!("any"), &Value::Null));
    let got = sent_as(&request, &Shape { demands_tools: false, ..uncached() });
    assert_eq!(got["tool_choice"], Value::Null);
    assert_eq!(got["thinking"]["type"], "enabled");
    let none = Request { tool_choice: ToolChoice::None, ..request };
    let got = sent_as(&none, &uncached());
    assert_eq!(
        (&got["tool_choice"]["type"], got["tools"].as_array().unwrap().len()),
        (&json!("none"), 1)
    );
}

/// Takes the marks out, and gives where they stood.
fn marks(value: &mut Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(mark) = fields.remove("cache_control") {
                assert_eq!(mark, json!({ "type": "ephemeral" }));
                out.push(at.to_owned());
            }
            for (name, value) in fields {
                marks(value, &format!("{at}/{name}"), out);
            }
        }
        Value::Array(list) => {
            for (place, value) in list.iter_mut().enumerate() {
                marks(value, &format!("{at}/{place}"), out);
            }
        }
        _ => {}
    }
}

#[test]
fn each_request_marks_its_end_and_the_end_of_the_one_before() {
    let spec = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({ "type": "object" }),
    };
    let mut all = vec![said(Role::System, "Be brief."), said(Role::User, "1")];
    let mut before: Option<Value> = None;
    for (round, ends) in [vec![0], vec![0, 2], vec![2, 4], vec![4, 6]].into_iter().enumerate() {
        let request =
            Request { tools: vec![spec("a"), spec("b")], ..Request::new("m", all.clone()) };
        let mut got = sent_as(&request, &Shape::of("claude-opus-4-5"));
        let mut places = Vec::new();
        marks(&mut got, "", &mut places);
        let mut expected = vec!["/system/0".to_owned(), "/tools/1".to_owned()];
        expected.extend(ends.iter().map(|end| format!("/messages/{end}/content/0")));
        places.sort_unstable();
        expected.sort_unstable();
        assert_eq!(places, expected, "round {round}");
        if let Some(before) = before.replace(got.clone()) {
            let list = |value: &Value| value["messages"].as_array().unwrap().clone();
            assert_eq!(list(&got)[..list(&before).len()], list(&before)[..]);
            assert_eq!((&got["tools"], &got["system"]), (&before["tools"], &before["system"]));
        }
        all.push(said(Role::Assistant, "yes"));
        all.push(said(Role::User, "more"));
    }
}
