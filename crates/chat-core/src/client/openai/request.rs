//! Builds the body of a chat request.

mod messages;

use reqwest::Url;
use serde::Serialize;
use serde_json::{Value, json};

use super::reasoning::Replay;
use crate::client::{Recipient, Request, ToolChoice, address};
use crate::message::{OptionName, ReplySchema, Thinking, ToolSpec};
use messages::{Sent, WireMessage, all_messages};

/// What differs between servers in what they accept. A strict one refuses fields that it does
/// not know, so that each is sent only where it is known to be understood or ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI itself: newer models refuse `max_tokens`.
    OpenAi,
    /// A server of one's own (llama.cpp, vLLM, LM Studio): templates switch thinking.
    Own,
    /// Natter's own engine: takes the window with each request.
    BuiltIn,
    /// Any other.
    Hosted,
}

impl Dialect {
    /// The dialect of the server at this address.
    pub fn of(base: &Url) -> Self {
        let host = base.host_str().unwrap_or_default();
        if host == "api.openai.com" || host.ends_with(".openai.azure.com") {
            Self::OpenAi
        } else if address::is_private(base) {
            Self::Own
        } else {
            Self::Hosted
        }
    }

    /// Whether a request can say this option.
    pub(super) fn takes(self, option: OptionName) -> bool {
        match option {
            OptionName::Temperature
            | OptionName::TopP
            | OptionName::PresencePenalty
            | OptionName::FrequencyPenalty
            | OptionName::Seed
            | OptionName::Stop
            | OptionName::MaxTokens
            | OptionName::Schema => true,
            OptionName::TopK | OptionName::MinP | OptionName::RepeatPenalty => self.has_switch(),
            OptionName::ContextWindow => self == Self::BuiltIn,
            OptionName::KeepAlive | OptionName::ThinkingBudget => false,
        }
    }

    /// Whether templates switch thinking.
    fn has_switch(self) -> bool {
        matches!(self, Self::Own | Self::BuiltIn)
    }
}

/// The request as servers want it.
pub(super) fn body(
    request: &Request,
    dialect: Dialect,
    replay: Replay,
    data_of: Option<&Recipient>,
) -> serde_json::Result<Vec<u8>> {
    let (options, sampling) = (&request.options, &request.sampling);
    let own = dialect.has_switch();
    let repeat_penalty = options.repeat_penalty.filter(|_| own).or(sampling.repeat_penalty);
    let (max_tokens, max_completion_tokens) = match dialect {
        Dialect::OpenAi => (None, options.max_tokens),
        Dialect::Own | Dialect::BuiltIn | Dialect::Hosted => (options.max_tokens, None),
    };
    let tool_choice = match request.tool_choice {
        ToolChoice::Auto => None,
        // Without tools the field is refused.
        _ if request.tools.is_empty() => None,
        ToolChoice::None => Some("none"),
        ToolChoice::Required => Some("required"),
    };
    serde_json::to_vec(&Body {
        model: &request.model,
        messages: all_messages(&request.messages, Sent { replay, data_of }),
        stream: request.stream,
        stream_options: request.stream.then_some(StreamOptions { include_usage: true }),
        tools: request.tools.iter().map(tool).collect(),
        tool_choice,
        temperature: options.temperature.or(sampling.temperature),
        top_p: options.top_p.or(sampling.top_p),
        top_k: options.top_k.filter(|_| own).or(sampling.top_k),
        min_p: options.min_p.filter(|_| own).or(sampling.min_p),
        repeat_penalty,
        repetition_penalty: repeat_penalty.filter(|_| dialect == Dialect::Own),
        presence_penalty: options.presence_penalty.or(sampling.presence_penalty),
        frequency_penalty: options.frequency_penalty,
        repeat_last_n: sampling.repeat_last_n,
        seed: options.seed,
        stop: &options.stop,
        response_format: options.schema.as_ref().map(response_format),
        max_tokens,
        max_completion_tokens,
        reasoning_effort: effort(request.thinking, dialect),
        chat_template_kwargs: switch(request.thinking).filter(|_| dialect.has_switch()),
        context_window: options.context_window.filter(|_| dialect == Dialect::BuiltIn),
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_penalty: Option<f64>,
    /// The same as vLLM calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_last_n: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u32>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// "Structured outputs" in the reference of chat completions.
fn response_format(schema: &ReplySchema) -> Value {
    let schema = json!({ "name": "reply", "schema": schema.to_json(), "strict": true });
    json!({ "type": "json_schema", "json_schema": schema })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "function": spec })
}

/// The levels that the protocol knows; the model's default is not mentioned. One's own server has a
/// switch for on and off, and may refuse the word for it.
fn effort(thinking: Thinking, dialect: Dialect) -> Option<&'static str> {
    match thinking {
        Thinking::Default => None,
        Thinking::Off | Thinking::On if dialect.has_switch() => None,
        Thinking::Off => Some("none"),
        Thinking::Low => Some("low"),
        Thinking::On | Thinking::Medium => Some("medium"),
        Thinking::High | Thinking::Max => Some("high"),
    }
}

/// The switch that the templates of many open models have.
fn switch(thinking: Thinking) -> Option<Value> {
    match thinking {
        Thinking::Default => None,
        Thinking::Off => Some(json!({ "enable_thinking": false })),
        _ => Some(json!({ "enable_thinking": true })),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::client::address;
    use crate::message::{OptionKind, Options, Sampling};

    fn sent(url: &str, thinking: Thinking) -> Value {
        let dialect = Dialect::of(&address::parse(url).unwrap());
        let options = Options { max_tokens: Some(9), ..Options::default() };
        let request = Request { thinking, options, ..Request::new("m", Vec::new()) };
        serde_json::from_slice(&body(&request, dialect, Replay::default(), None).unwrap()).unwrap()
    }

    #[rstest]
    #[case(Thinking::Default, Value::Null, Value::Null)]
    #[case(Thinking::Off, json!("none"), json!(false))]
    #[case(Thinking::On, json!("medium"), json!(true))]
    #[case(Thinking::High, json!("high"), json!(true))]
    #[case(Thinking::Max, json!("high"), json!(true))]
    fn each_server_is_told_of_thinking_in_its_words(
        #[case] thinking: Thinking,
        #[case] effort: Value,
        #[case] switch: Value,
    ) {
        for url in ["https://api.openai.com/v1", "https://openrouter.ai/api/v1"] {
            let body = sent(url, thinking);
            assert_eq!(body["reasoning_effort"], effort);
            assert_eq!(body["chat_template_kwargs"], Value::Null, "strict servers refuse it");
        }
        let own = sent("http://192.168.1.7:8000/v1", thinking);
        assert_eq!(own["chat_template_kwargs"]["enable_thinking"], switch);
        let words = !matches!(thinking, Thinking::Off | Thinking::On);
        assert_eq!(own["reasoning_effort"], if words { effort } else { Value::Null });
    }

    #[test]
    fn what_the_user_set_goes_before_what_is_recommended() {
        let sampling = Sampling {
            temperature: Some(0.7),
            top_p: Some(0.8),
            top_k: Some(20),
            ..Sampling::default()
        };
        let options = Options { temperature: Some(0.1), ..Options::default() };
        let request = Request { options, sampling, ..Request::new("m", Vec::new()) };
        let body = body(&request, Dialect::BuiltIn, Replay::default(), None).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&body["temperature"], &body["top_p"], &body["top_k"], &body["min_p"]),
            (&json!(0.1), &json!(0.8), &json!(20), &Value::Null)
        );
        // Other servers know best what their models need.
        let other = sent("https://api.groq.com/openai/v1", Thinking::Default);
        assert_eq!((&other["temperature"], &other["top_k"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn each_dialect_says_the_options_that_it_takes_and_no_other() {
        for dialect in [Dialect::OpenAi, Dialect::Own, Dialect::BuiltIn, Dialect::Hosted] {
            let sent = |options| {
                let request = Request { options, ..Request::new("m", Vec::new()) };
                let body = body(&request, dialect, Replay::default(), None).unwrap();
                serde_json::from_slice::<Value>(&body).unwrap()
            };
            for option in OptionName::ALL {
                let text = match option.kind() {
                    OptionKind::Number { .. } => "0.25".to_owned(),
                    OptionKind::Whole { max, .. } => max.to_string(),
                    OptionKind::Schema => "{}".to_owned(),
                    OptionKind::Lines | OptionKind::Duration => "5m".to_owned(),
                };
                let mut options = Options::default();
                options.set_text(option, Some(&text)).unwrap();
                let is_sent = sent(options) != sent(Options::default());
                assert_eq!(is_sent, dialect.takes(option), "{dialect:?} {option:?}");
            }
        }
    }

    #[test]
    fn openai_itself_has_another_name_for_the_limit() {
        let openai = sent("https://api.openai.com/v1", Thinking::Default);
        assert_eq!(
            (&openai["max_completion_tokens"], &openai["max_tokens"]),
            (&json!(9), &Value::Null)
        );
        let other = sent("https://api.groq.com/openai/v1", Thinking::Default);
        assert_eq!(
            (&other["max_completion_tokens"], &other["max_tokens"]),
            (&Value::Null, &json!(9))
        );
    }
}
