//! Builds the body of a chat request.

mod messages;

use reqwest::Url;
use serde::Serialize;
use serde_json::{Value, json};

use super::reasoning::Replay;
use crate::client::presets::{self, LimitField, Quirks, SeedField, Switch};
use crate::client::{Recipient, Request, ToolChoice};
use crate::message::{OptionName, ReplySchema, Thinking, ToolSpec};
use messages::{Sent, WireMessage, all_messages};

/// What differs between servers in what they accept. A strict one refuses fields that it does
/// not know, so that each is sent only where it is known to be understood or ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Natter's own engine: takes the window with each request.
    BuiltIn,
    /// A server, with what is known of it.
    Server(&'static Quirks),
}

impl Dialect {
    /// The dialect of the server at this address.
    pub fn of(base: &Url) -> Self {
        Self::Server(presets::quirks(base))
    }

    fn quirks(self) -> Option<&'static Quirks> {
        match self {
            Self::BuiltIn => None,
            Self::Server(quirks) => Some(quirks),
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
            OptionName::TopK | OptionName::MinP | OptionName::RepeatPenalty => self.is_own(),
            OptionName::ContextWindow => self == Self::BuiltIn,
            OptionName::KeepAlive | OptionName::ThinkingBudget => false,
        }
    }

    /// Whether it is a server of one's own, which takes what llama.cpp and vLLM take.
    fn is_own(self) -> bool {
        self.switch() == Some(Switch::Template)
    }

    fn switch(self) -> Option<Switch> {
        self.quirks().map_or(Some(Switch::Template), |quirks| quirks.switch)
    }

    /// Whether a temperature is accepted, where a model thinks or may.
    fn samples(self, model: &str, effort: Option<&str>) -> bool {
        let Some(quirks) = self.quirks() else { return true };
        let model = model.to_ascii_lowercase();
        let thinks = effort.is_some_and(|effort| effort != "none");
        let is_fixed = quirks.fixed_sampling.iter().any(|part| model.contains(part.as_str()));
        !(is_fixed || thinks && quirks.reasons_without_sampling)
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
    let own = dialect.is_own();
    let repeat_penalty = options.repeat_penalty.filter(|_| own).or(sampling.repeat_penalty);
    let (max_tokens, max_completion_tokens) = match dialect.quirks().map(|quirks| quirks.limit) {
        Some(LimitField::MaxCompletionTokens) => (None, options.max_tokens),
        Some(LimitField::MaxTokens) | None => (options.max_tokens, None),
    };
    let (seed, random_seed) = match dialect.quirks().map(|quirks| quirks.seed) {
        Some(SeedField::RandomSeed) => (None, options.seed),
        Some(SeedField::Seed) | None => (options.seed, None),
    };
    let effort = effort(request.thinking, dialect);
    let samples = dialect.samples(&request.model, effort);
    let tool_choice = match request.tool_choice {
        ToolChoice::Auto => None,
        // Without tools the field is refused.
        _ if request.tools.is_empty() => None,
        _ if dialect.quirks().is_some_and(|quirks| !quirks.tool_choice) => None,
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
        temperature: options.temperature.or(sampling.temperature).filter(|_| samples),
        top_p: options.top_p.or(sampling.top_p).filter(|_| samples),
        top_k: options.top_k.filter(|_| own).or(sampling.top_k),
        min_p: options.min_p.filter(|_| own).or(sampling.min_p),
        repeat_penalty,
        repetition_penalty: repeat_penalty.filter(|_| dialect != Dialect::BuiltIn),
        presence_penalty: options.presence_penalty.or(sampling.presence_penalty),
        frequency_penalty: options.frequency_penalty,
        repeat_last_n: sampling.repeat_last_n,
        seed,
        random_seed,
        stop: &options.stop,
        response_format: options.schema.as_ref().map(response_format),
        max_tokens,
        max_completion_tokens,
        reasoning_effort: effort,
        thinking: is_on(request.thinking)
            .filter(|_| dialect.switch() == Some(Switch::Type))
            .map(|on| json!({ "type": if on { "enabled" } else { "disabled" } })),
        chat_template_kwargs: is_on(request.thinking)
            .filter(|_| dialect.switch() == Some(Switch::Template))
            .map(|on| json!({ "enable_thinking": on })),
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
    random_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
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

/// The server's word for a level; the model's default is not mentioned. Where there is a switch for on and
/// off, the word for it may be refused.
fn effort(thinking: Thinking, dialect: Dialect) -> Option<&'static str> {
    let wanted: &[&'static str] = match thinking {
        Thinking::Default => return None,
        Thinking::Off | Thinking::On if dialect.switch().is_some() => return None,
        Thinking::Off => &["none"],
        Thinking::Low => &["low", "high"],
        Thinking::On | Thinking::Medium => &["medium", "high"],
        Thinking::High => &["high"],
        Thinking::Max => &["max", "high"],
    };
    let knows = |word: &&&'static str| match dialect.quirks() {
        Some(quirks) => quirks.efforts.iter().any(|known| known == **word),
        // Natter's own engine.
        None => Quirks::default().efforts.iter().any(|known| known == **word),
    };
    wanted.iter().find(knows).copied()
}

/// Whether thinking is turned on or off; none where the model decides.
fn is_on(thinking: Thinking) -> Option<bool> {
    (thinking != Thinking::Default).then_some(thinking != Thinking::Off)
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
        let addresses = presets::presets().map(|preset| preset.url.as_str());
        let own = ["http://192.168.1.7:8000/v1", "https://llm.example.org/v1"];
        let servers = addresses.chain(own).map(|url| Dialect::of(&address::parse(url).unwrap()));
        for dialect in servers.chain([Dialect::BuiltIn]) {
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

    #[rstest]
    #[case("https://api.deepseek.com/v1", Thinking::Off, json!({ "type": "disabled" }), Value::Null)]
    #[case("https://api.deepseek.com/v1", Thinking::Medium, json!({ "type": "enabled" }), json!("high"))]
    #[case("https://api.deepseek.com/v1", Thinking::Max, json!({ "type": "enabled" }), json!("max"))]
    #[case("https://api.z.ai/api/paas/v4", Thinking::High, json!({ "type": "enabled" }), Value::Null)]
    #[case("https://api.z.ai/api/paas/v4", Thinking::Default, Value::Null, Value::Null)]
    #[case("https://api.mistral.ai/v1", Thinking::Low, Value::Null, json!("high"))]
    #[case("https://api.mistral.ai/v1", Thinking::Off, Value::Null, json!("none"))]
    fn quirks_say_how_thinking_is_asked_for(
        #[case] url: &str,
        #[case] thinking: Thinking,
        #[case] switch: Value,
        #[case] effort: Value,
    ) {
        let body = sent(url, thinking);
        assert_eq!((&body["thinking"], &body["reasoning_effort"]), (&switch, &effort));
        assert_eq!(body["chat_template_kwargs"], Value::Null);
    }

    #[test]
    fn quirks_name_and_leave_out_fields() {
        let of = |url: &str, model: &str, thinking| {
            let options = Options { temperature: Some(0.5), seed: Some(7), ..Options::default() };
            let tool = ToolSpec {
                name: "look".to_owned(),
                description: String::new(),
                parameters: json!({}),
            };
            let request = Request {
                options,
                thinking,
                tools: vec![tool],
                tool_choice: ToolChoice::Required,
                ..Request::new(model, Vec::new())
            };
            let dialect = Dialect::of(&address::parse(url).unwrap());
            let body = body(&request, dialect, Replay::default(), None).unwrap();
            serde_json::from_slice::<Value>(&body).unwrap()
        };
        let mistral = of("https://api.mistral.ai/v1", "m", Thinking::Default);
        assert_eq!((&mistral["seed"], &mistral["random_seed"]), (&Value::Null, &json!(7)));
        for (url, model, thinking, sent) in [
            ("https://api.openai.com/v1", "gpt-5", Thinking::High, false),
            ("https://api.openai.com/v1", "gpt-5", Thinking::Off, true),
            ("https://api.openai.com/v1", "gpt-5", Thinking::Default, true),
            ("https://api.groq.com/openai/v1", "gpt-oss", Thinking::High, true),
            ("https://api.moonshot.ai/v1", "kimi-k2.6", Thinking::Default, false),
            ("https://api.moonshot.ai/v1", "moonshot-v1-8k", Thinking::Default, true),
        ] {
            let body = of(url, model, thinking);
            assert_eq!(body["temperature"].is_number(), sent, "{url} {model} {thinking:?}");
        }
        assert_eq!(
            of("https://api.z.ai/api/paas/v4", "glm", Thinking::Default)["tool_choice"],
            Value::Null
        );
        assert_eq!(of("https://api.x.ai/v1", "grok", Thinking::Default)["tool_choice"], "required");
    }
}
