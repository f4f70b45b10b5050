//! Lists the models of a server that speaks Anthropic's protocol
//! (<https://platform.claude.com/docs/en/api/models/list>).

use serde_json::{Value, json};

use super::shape::{Shape, ThinkingForm};
use crate::client::http::Http;
use crate::client::json::{tokens, words};
use crate::client::{Capabilities, ModelInfo, address, refusal};
use crate::error::{Error, Kind, Result};

/// The models of one page.
const PAGE: &str = "1000";
/// Pages that are read: a server whose pages never end has no more.
const PAGES: usize = 20;

/// A model as the list has it.
#[derive(Debug)]
pub(super) struct Listed {
    pub info: ModelInfo,
    longest: Option<u32>,
    thinking: Option<ThinkingForm>,
    has_effort: Option<bool>,
}

impl Listed {
    /// The form in which it is asked, with what the list says of it.
    pub fn shaped(&self, shape: Shape) -> Shape {
        Shape {
            longest: self.longest.unwrap_or(shape.longest),
            thinking: self.thinking.unwrap_or(shape.thinking),
            has_effort: self.has_effort.unwrap_or(shape.has_effort),
            ..shape
        }
    }
}

/// The server's models, page by page. A server without a list has none that it names.
pub(super) async fn list(http: &Http) -> Result<Vec<Listed>> {
    let mut out: Vec<Listed> = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..PAGES {
        let mut url = address::join(http.base(), "v1/models");
        url.query_pairs_mut().append_pair("limit", PAGE);
        if let Some(after) = &after {
            url.query_pairs_mut().append_pair("after_id", after);
        }
        let answer: Value = match http.get_at(url).await {
            Err(Error { kind: Kind::WrongUrl | Kind::BadRequest, .. })
                if out.is_empty() && answers(http).await =>
            {
                return Ok(out);
            }
            answer => answer?,
        };
        let entries = answer["data"].as_array().ok_or_else(|| http.named(Kind::WrongUrl.into()))?;
        out.extend(entries.iter().map(of_entry).filter(|model| !model.info.name.is_empty()));
        let last = words(&answer["last_id"]);
        if answer["has_more"] != true || last.is_none() || last == after {
            break;
        }
        after = last;
    }
    Ok(out)
}

/// One model of the list; without a list the server has what the person says that it has.
pub(super) async fn one(http: &Http, name: &str) -> Result<ModelInfo> {
    let models = list(http).await?;
    if models.is_empty() {
        return Ok(of_entry(&json!({ "id": name })).info);
    }
    let found = models.into_iter().find(|model| model.info.name == name).map(|model| model.info);
    found.ok_or_else(|| http.named(Error::new(Kind::ModelNotFound { model: name.to_owned() })))
}

/// Whether an answer is this protocol's list of models.
pub(in crate::client) fn is_list(answer: &Value) -> bool {
    let entries = answer["data"].as_array();
    answer["has_more"].is_boolean()
        && answer["object"].is_null()
        && entries.is_some_and(|entries| entries.iter().all(|entry| entry["id"].is_string()))
}

/// Whether a server that lists no models answers requests: one without a model and without messages is
/// refused, and costs nothing.
async fn answers(http: &Http) -> bool {
    let nothing = json!({ "model": "", "max_tokens": 1, "messages": [] }).to_string().into_bytes();
    let refused = match http.post::<Value>("v1/messages", nothing, "").await {
        Ok(answer) => return answer["type"] == "message" || answer["type"] == "error",
        Err(error) => error.kind,
    };
    refusal::is_of_model_server(&refused)
}

fn of_entry(entry: &Value) -> Listed {
    let name = words(&entry["id"]).unwrap_or_default();
    let can = &entry["capabilities"];
    let supports = |value: &Value| value["supported"].as_bool();
    let is_claude = name.contains("claude").then_some(true);
    let types = &can["thinking"]["types"];
    // Where a model has both, a budget is deprecated.
    let form = match (supports(&types["adaptive"]), supports(&types["enabled"])) {
        (Some(true), _) => Some(ThinkingForm::Adaptive),
        (_, Some(true)) => Some(ThinkingForm::Budget),
        _ => None,
    };
    let thinking = supports(&can["thinking"]);
    let by_name = is_claude.map(|_| Shape::of(&name).thinking != ThinkingForm::None);
    Listed {
        info: ModelInfo {
            context_length: tokens(&entry["max_input_tokens"]),
            capabilities: Capabilities {
                chat: Some(true),
                tools: is_claude,
                vision: supports(&can["image_input"]).or(is_claude),
                thinking: thinking.or(by_name),
                context_window: Some(false),
            },
            name,
            ..ModelInfo::default()
        },
        longest: tokens(&entry["max_tokens"]),
        thinking: form.or((thinking == Some(false)).then_some(ThinkingForm::None)),
        has_effort: supports(&can["effort"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_goes_before_what_is_known_by_name() {
        let entry = json!({
            "type": "model", "id": "claude-9", "max_input_tokens": 300_000, "max_tokens": 50_000,
            "capabilities": {
                "image_input": { "supported": false },
                "thinking": { "supported": true, "types": {
                    "adaptive": { "supported": false }, "enabled": { "supported": true } } },
                "effort": { "supported": false },
            },
        });
        let model = of_entry(&entry);
        assert_eq!(model.info.context_length, Some(300_000));
        assert_eq!(model.info.capabilities.vision, Some(false));
        let shape = model.shaped(Shape::of("claude-9"));
        assert_eq!(shape.thinking, ThinkingForm::Budget);
        assert_eq!((shape.longest, shape.has_effort), (50_000, false));
    }

    #[test]
    fn another_protocols_list_is_none_of_this_one() {
        let ours = json!({ "data": [{ "type": "model", "id": "a" }], "has_more": false });
        assert!(is_list(&ours));
        assert!(!is_list(&json!({ "object": "list", "data": [{ "id": "a" }] })));
        assert!(!is_list(&json!({ "object": "list", "data": [{ "id": "a" }], "has_more": false })));
        assert!(!is_list(&json!({ "models": [] })));
    }
}
