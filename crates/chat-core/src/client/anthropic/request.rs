//! Builds the body of a request.

mod messages;

use serde::Serialize;
use serde_json::{Value, json};

use super::shape::{Shape, ThinkingForm, budget, budget_within, effort};
use crate::client::{Recipient, Request, ToolChoice};
use crate::message::{OptionName, Thinking, ToolSpec};
use messages::WireMessage;

/// Marks what a later request begins with as well
/// (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>).
#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
}

const CACHED: CacheControl = CacheControl { r#type: "ephemeral" };

/// Whether a request can say this option.
pub(super) fn takes(option: OptionName) -> bool {
    matches!(
        option,
        OptionName::Temperature
            | OptionName::TopP
            | OptionName::TopK
            | OptionName::Stop
            | OptionName::MaxTokens
            | OptionName::ThinkingBudget
    )
}

/// The request as servers want it.
pub(super) fn body(
    request: &Request,
    shape: &Shape,
    data_of: Option<&Recipient>,
) -> serde_json::Result<Vec<u8>> {
    let max_tokens = shape.max_tokens(request.options.max_tokens);
    let demanded = request.tool_choice == ToolChoice::Required && !request.tools.is_empty();
    let demanded = demanded && shape.demands_tools;
    // The two exclude each other.
    let (thinking, output_config) =
        if demanded { (None, None) } else { thinking(request, shape, max_tokens) };
    let thinks = thinking.as_ref().is_some_and(|thinking| thinking["type"] != "disabled");
    let samples = shape.sampling && !thinks;
    let options = &request.options;
    let (system, mut messages) = messages::all(&request.messages, data_of, shape.prefill);
    if shape.caches {
        mark(&mut messages);
    }
    let cached = shape.caches.then_some(CACHED);
    let tools = request.tools.len();
    serde_json::to_vec(&Body {
        model: &request.model,
        max_tokens,
        stream: request.stream,
        thinking,
        output_config,
        // It goes up to 1 here.
        temperature: options.temperature.filter(|_| samples).map(|high| high.min(1.0)),
        // Newer models accept one of the two.
        top_p: options.top_p.filter(|_| samples && options.temperature.is_none()),
        top_k: options.top_k.filter(|_| samples),
        stop_sequences: &options.stop,
        tool_choice: match request.tool_choice {
            // Without tools the field is refused.
            _ if request.tools.is_empty() => None,
            ToolChoice::None => Some(json!({ "type": "none" })),
            ToolChoice::Required if demanded => Some(json!({ "type": "any" })),
            ToolChoice::Auto | ToolChoice::Required => None,
        },
        tools: (request.tools.iter().enumerate())
            .map(|(at, spec)| tool(spec, cached.filter(|_| at + 1 == tools)))
            .collect(),
        system: system.map(|text| [SystemBlock { r#type: "text", text, cache_control: cached }]),
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[SystemBlock; 1]>,
    messages: Vec<WireMessage<'a>>,
}

#[derive(Serialize)]
struct SystemBlock {
    r#type: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

fn tool(spec: &ToolSpec, cache_control: Option<CacheControl>) -> WireTool<'_> {
    WireTool {
        name: &spec.name,
        description: &spec.description,
        input_schema: &spec.parameters,
        cache_control,
    }
}

/// Marks the end of the conversation, and the end that the request before this one had: what that one
/// wrote into the cache is found again, however much came in between. With those of the tools and the
/// system prompt these are four, and more are refused.
fn mark(messages: &mut [WireMessage<'_>]) {
    let of_user = messages.iter_mut().rev().filter(|message| message.role == "user");
    for message in of_user.take(2) {
        if let Some(last) = message.content.last_mut() {
            last.mark(CACHED);
        }
    }
}

/// What is said of thinking, and with which effort. The model's default is not mentioned.
fn thinking(request: &Request, shape: &Shape, max_tokens: u32) -> (Option<Value>, Option<Value>) {
    let thinking = request.thinking;
    let chosen = request.options.thinking_budget.filter(|_| thinking != Thinking::Off);
    let enabled = |tokens: u32| json!({ "type": "enabled", "budget_tokens": tokens });
    if let (ThinkingForm::Budget, Some(chosen)) = (shape.thinking, chosen) {
        return (budget_within(chosen, max_tokens).map(enabled), None);
    }
    let effort = || effort(thinking).filter(|_| shape.has_effort);
    match (shape.thinking, thinking) {
        (_, Thinking::Default) | (ThinkingForm::None, _) => (None, None),
        (_, Thinking::Off) if shape.can_disable => (Some(json!({ "type": "disabled" })), None),
        (ThinkingForm::Budget, level) => (budget(level, max_tokens).map(enabled), None),
        (ThinkingForm::Adaptive, _) => (
            // Newer models keep their thoughts to themselves unless they are asked for them.
            Some(json!({ "type": "adaptive", "display": "summarized" })),
            effort().map(|effort| json!({ "effort": effort })),
        ),
    }
}

#[cfg(test)]
mod tests;
