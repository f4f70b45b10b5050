//! Lists the models of an OpenAI-compatible server, and reads what its own additions say about them.

use serde_json::{Value, json};

use crate::client::http::Http;
use crate::client::json::{count, has, tokens, words};
use crate::client::{Capabilities, ModelInfo, Price, address, refusal};
use crate::error::{Error, Kind, Result};

/// The server's models. LM Studio and llama.cpp are asked once more for what their lists leave out.
/// A server without a list has none that it names.
pub(super) async fn list(http: &Http) -> Result<Vec<ModelInfo>> {
    Ok(listed(http).await?.unwrap_or_default())
}

/// One model of the list. The protocol's call for one says less on most servers.
pub(super) async fn one(http: &Http, name: &str) -> Result<ModelInfo> {
    let Some(models) = listed(http).await? else {
        // It has what the person says that it has.
        return Ok(named(name));
    };
    let found = models.into_iter().find(|model| model.name == name);
    let missing = || http.named(Error::new(Kind::ModelNotFound { model: name.to_owned() }));
    found.ok_or_else(missing)
}

/// A model of which only its name is known.
fn named(name: &str) -> ModelInfo {
    ModelInfo {
        name: name.to_owned(),
        capabilities: Capabilities { context_window: Some(false), ..Capabilities::default() },
        ..ModelInfo::default()
    }
}

/// The server's models; none where it has no list, and answers all the same.
async fn listed(http: &Http) -> Result<Option<Vec<ModelInfo>>> {
    let answer: Value = match http.get("models").await {
        Err(Error { kind: Kind::WrongUrl | Kind::BadRequest, .. }) if answers(http).await => {
            return Ok(None);
        }
        answer => answer?,
    };
    let entries = list_of(&answer).ok_or_else(|| http.named(Kind::WrongUrl.into()))?;
    let mut models: Vec<ModelInfo> = entries.iter().map(of_entry).collect();
    if is_of(entries, "organization_owner") {
        add_from_lm_studio(http, &mut models).await;
    } else if is_of(entries, "llamacpp") {
        add_from_llama_cpp(http, &mut models).await;
    }
    models.retain(|model| !model.name.is_empty());
    Ok(Some(models))
}

/// Whether a server that lists no models answers requests: one without a model and without messages
/// is refused, in the protocol's shape, and costs nothing.
pub(in crate::client) async fn answers(http: &Http) -> bool {
    let nothing = json!({ "model": "", "messages": [] }).to_string().into_bytes();
    let refused = match http.post::<Value>("chat/completions", nothing, "").await {
        Ok(answer) => return answer["choices"].is_array() || !answer["error"].is_null(),
        Err(error) => error.kind,
    };
    refusal::is_of_model_server(&refused)
}

/// Whether an answer is a list of models, and whose, as far as it says.
pub(in crate::client) fn owner(answer: &Value) -> Option<&str> {
    let entries = list_of(answer)?;
    let is_model = |entry: &Value| entry["id"].is_string();
    if !entries.iter().all(is_model) || (entries.is_empty() && answer["object"] != "list") {
        return None;
    }
    Some(entries.first().and_then(|entry| entry["owned_by"].as_str()).unwrap_or_default())
}

/// Most servers wrap the list, some do not.
fn list_of(answer: &Value) -> Option<&Vec<Value>> {
    answer["data"].as_array().or_else(|| answer.as_array())
}

fn is_of(entries: &[Value], owner: &str) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| entry["owned_by"] == owner)
}

fn of_entry(entry: &Value) -> ModelInfo {
    let parameters = &entry["supported_parameters"];
    let inputs = &entry["architecture"]["input_modalities"];
    let outputs = &entry["architecture"]["output_modalities"];
    let meta = &entry["meta"];
    // vLLM's, OpenRouter's, and the two of llama.cpp: what the server was started with, and what
    // the model was made for.
    let window =
        [&entry["max_model_len"], &entry["context_length"], &meta["n_ctx"], &meta["n_ctx_train"]];
    ModelInfo {
        name: words(&entry["id"]).unwrap_or_default(),
        size: count(&meta["size"]),
        parameters: count(&meta["n_params"]).map(in_short),
        quantization: words(&meta["ftype"]),
        context_length: window.into_iter().find_map(tokens),
        price: price(&entry["pricing"]),
        capabilities: Capabilities {
            chat: has(outputs, "text"),
            tools: has(parameters, "tools"),
            vision: has(inputs, "image"),
            thinking: has(parameters, "reasoning"),
            // The protocol has no word for it.
            context_window: Some(false),
        },
    }
}

/// OpenRouter's prices: dollars a token, as decimal texts.
fn price(pricing: &Value) -> Option<Price> {
    let of = |name: &str| {
        let dollars = match &pricing[name] {
            Value::String(text) => text.parse::<f64>().ok()?,
            other => other.as_f64()?,
        };
        // Some models have no price of their own, which is said as -1.
        (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * 1e12).round() as u64)
    };
    let (prompt, completion) = (of("prompt")?, of("completion")?);
    let cached = of("input_cache_read").unwrap_or(prompt);
    Some(Price { prompt, cached, completion })
}

/// A count of parameters as people say it: `135M`, `8.0B`.
fn in_short(parameters: u64) -> String {
    match parameters {
        0..1_000_000_000 => format!("{:.0}M", parameters as f64 / 1e6),
        _ => format!("{:.1}B", parameters as f64 / 1e9),
    }
}

/// LM Studio's own list: kinds, windows, quantisation, what each can do.
async fn add_from_lm_studio(http: &Http, models: &mut [ModelInfo]) {
    let root = address::without_ends(http.base().clone(), &["/v1"]);
    let url = address::join(&root, "api/v0/models");
    let Ok(answer) = http.get_at::<Value>(url).await else { return };
    for entry in list_of(&answer).map_or(&[][..], Vec::as_slice) {
        let Some(model) = models.iter_mut().find(|model| entry["id"] == *model.name) else {
            continue;
        };
        // The loaded window is what requests have; one that is not loaded has its longest.
        model.context_length = tokens(&entry["loaded_context_length"])
            .or_else(|| tokens(&entry["max_context_length"]));
        model.quantization = words(&entry["quantization"]);
        let kind = words(&entry["type"]);
        model.capabilities.chat = kind.as_deref().map(|kind| kind != "embeddings");
        model.capabilities.vision = kind.as_deref().map(|kind| kind == "vlm");
        model.capabilities.tools = has(&entry["capabilities"], "tool_use");
    }
}

/// The window that llama.cpp's server was started with, and what its template can do.
async fn add_from_llama_cpp(http: &Http, models: &mut [ModelInfo]) {
    let root = address::without_ends(http.base().clone(), &["/v1"]);
    let Ok(props) = http.get_at::<Value>(address::join(&root, "props")).await else { return };
    // A router of several models says this of none of them.
    if let [model] = models {
        let window = tokens(&props["default_generation_settings"]["n_ctx"]);
        model.context_length = window.or(model.context_length);
        model.capabilities.chat = Some(true);
        model.capabilities.vision = props["modalities"]["vision"].as_bool();
        model.capabilities.tools = props["chat_template_caps"]["supports_tools"].as_bool();
        model.capabilities.thinking = thinks(&props);
    }
}

/// Whether the model thinks, as far as llama.cpp's server says what its template is. One that knows
/// the switch does; one that has no word about it does not; all others may.
fn thinks(props: &Value) -> Option<bool> {
    let template = props["chat_template"].as_str().filter(|template| !template.is_empty())?;
    let levels = &props["chat_template_caps"]["supports_reasoning_effort"];
    if template.contains("enable_thinking") || *levels == true {
        return Some(true);
    }
    let template = template.to_lowercase();
    let silent = !template.contains("think") && !template.contains("reason");
    silent.then_some(false)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("{% if enable_thinking is false %}<think></think>{% endif %}", Some(true))]
    #[case("{{ messages }}", Some(false))]
    #[case("{{ content.split('</think>')[-1] }}", None)]
    #[case("{{ message.reasoning_content }}", None)]
    #[case("", None)]
    fn a_template_tells_whether_its_model_thinks(
        #[case] template: &str,
        #[case] expected: Option<bool>,
    ) {
        assert_eq!(thinks(&json!({ "chat_template": template })), expected);
    }

    #[test]
    fn a_price_is_read_and_makes_a_cost() {
        let pricing = json!({
            "prompt": "0.0000025", "completion": "0.00001", "request": "0", "input_cache_read": "0.00000125",
        });
        let price = price(&pricing).unwrap();
        assert_eq!(price, Price { prompt: 2_500_000, cached: 1_250_000, completion: 10_000_000 });
        let usage = crate::message::Usage {
            prompt_tokens: Some(1_000),
            cached_tokens: Some(400),
            completion_tokens: Some(100),
            ..crate::message::Usage::default()
        };
        // 600 at 2.5, 400 at 1.25 and 100 at 10 millionths of a dollar.
        assert_eq!(price.of(&usage), 3_000_000_000);
        assert_eq!(super::price(&json!({ "prompt": "-1", "completion": "-1" })), None);
        assert_eq!(super::price(&Value::Null), None);
    }

    #[test]
    fn levels_are_thinking() {
        let caps = json!({ "supports_reasoning_effort": true });
        let props = json!({ "chat_template": "{{ effort }}", "chat_template_caps": caps });
        assert_eq!(thinks(&props), Some(true));
        assert_eq!(thinks(&json!({})), None);
    }
}
