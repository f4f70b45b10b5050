//! Lists the models of an Ollama server and what they can do.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};

use super::window::Bounds;
use crate::client::http::Http;
use crate::client::json::{count, has, tokens, words};
use crate::client::{Capabilities, ModelInfo};
use crate::error::{Kind, Result};

/// So many models are asked about at once where the list does not say what they can do.
const AT_ONCE: usize = 8;
/// How long what only adds to a list may hold it up.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The server's models. What older servers do not list is asked for each; a model that cannot be
/// asked about is listed all the same.
pub(super) async fn list(http: &Http) -> Result<Vec<ModelInfo>> {
    let tags: Vec<Value> = tags(http).await?;
    let infos = stream::iter(tags).map(async |tag| {
        let info = of_tag(&tag);
        if tag["capabilities"].is_array() {
            return info;
        }
        match tokio::time::timeout(PATIENCE, show(http, &info.name)).await {
            Ok(Ok(shown)) => merge(shown, info),
            _ => info,
        }
    });
    Ok(infos.buffered(AT_ONCE).collect().await)
}

/// One model, from `/api/show` and the list. Either may fail.
pub(super) async fn one(http: &Http, name: &str) -> Result<ModelInfo> {
    let (shown, tags) = tokio::join!(show(http, name), tags(http));
    let latest = format!("{name}:latest");
    let listed = tags.ok().and_then(|tags| {
        tags.iter().map(of_tag).find(|info| info.name == name || info.name == latest)
    });
    match (shown, listed) {
        (Ok(shown), Some(listed)) => {
            Ok(merge(shown, ModelInfo { name: name.to_owned(), ..listed }))
        }
        (Ok(shown), None) => Ok(shown),
        (Err(_), Some(listed)) => Ok(ModelInfo { name: name.to_owned(), ..listed }),
        (Err(error), None) => Err(error),
    }
}

/// What bounds a model's window.
pub(super) async fn bounds(http: &Http, name: &str) -> Result<Bounds> {
    Ok(Bounds::of(&ask(http, name).await?["model_info"]))
}

async fn ask(http: &Http, name: &str) -> Result<Value> {
    let body = json!({ "model": name }).to_string().into_bytes();
    http.post("api/show", body, name).await
}

/// What `/api/show` says of a model.
pub(super) async fn show(http: &Http, name: &str) -> Result<ModelInfo> {
    let shown = ask(http, name).await?;
    let info = &shown["model_info"];
    let architecture = info["general.architecture"].as_str().unwrap_or_default();
    Ok(ModelInfo {
        name: name.to_owned(),
        size: None,
        parameters: words(&shown["details"]["parameter_size"]),
        quantization: words(&shown["details"]["quantization_level"]),
        context_length: tokens(&info[format!("{architecture}.context_length")]),
        price: None,
        capabilities: capabilities(&shown["capabilities"]),
    })
}

async fn tags(http: &Http) -> Result<Vec<Value>> {
    #[derive(Deserialize)]
    struct Tags {
        models: Option<Vec<Value>>,
    }
    let tags: Tags = http.get("api/tags").await?;
    // Something else that speaks JSON.
    tags.models.ok_or_else(|| http.named(Kind::WrongUrl.into()))
}

fn of_tag(tag: &Value) -> ModelInfo {
    let name = words(&tag["name"]).or_else(|| words(&tag["model"])).unwrap_or_default();
    ModelInfo {
        name,
        size: count(&tag["size"]),
        parameters: words(&tag["details"]["parameter_size"]),
        quantization: words(&tag["details"]["quantization_level"]),
        context_length: tokens(&tag["context_length"]),
        price: None,
        capabilities: capabilities(&tag["capabilities"]),
    }
}

fn capabilities(list: &Value) -> Capabilities {
    Capabilities {
        chat: has(list, "completion"),
        tools: has(list, "tools"),
        vision: has(list, "vision"),
        thinking: has(list, "thinking"),
        context_window: Some(true),
    }
}

/// What `/api/show` said, with what only the list has.
fn merge(shown: ModelInfo, listed: ModelInfo) -> ModelInfo {
    ModelInfo {
        name: listed.name,
        size: listed.size,
        parameters: shown.parameters.or(listed.parameters),
        quantization: shown.quantization.or(listed.quantization),
        context_length: shown.context_length.or(listed.context_length),
        price: None,
        capabilities: match shown.capabilities {
            Capabilities { chat: None, .. } => listed.capabilities,
            said => said,
        },
    }
}
