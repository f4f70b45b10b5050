//! Sends a model's earlier reasoning back to its server.
//!
//! The protocol has no field for it. Some servers refuse a conversation in which a reply with tool
//! calls comes back without its reasoning, others refuse every field that they do not know. So it is
//! sent where a server's documentation asks for it, left to the template on one's own server, and
//! sent to nobody else. What a server sent along with a reply and wants back (its provider data) goes
//! back to it. A server that says otherwise is believed: see [`super::attempt`].

use std::borrow::Cow;

use reqwest::Url;

use super::refused::{PROVIDER_DATA, UNKNOWN_FIELD, UNNAMED, says};
use crate::client::{address, prose};
use crate::error::Error;
use crate::message::{Message, Role};

/// How the reasoning of earlier replies goes back in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replay {
    /// Where it stands as plain text.
    field: Field,
    /// Whether a reply with tool calls is refused without it, even one that has none to send.
    required: bool,
    /// Whether what the server sent along with a reply goes back to it.
    pub provider_data: bool,
}

impl Default for Replay {
    fn default() -> Self {
        sent(Field::None)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// Nowhere.
    None,
    /// In `reasoning_content`.
    Content,
    /// In `reasoning`.
    Reasoning,
    /// In both, for servers that read either.
    Both,
    /// Inside the text, as the model wrote it.
    Tags,
}

/// What a server's documentation says.
struct Rule {
    /// The domains that it is about.
    domains: &'static [&'static str],
    /// Parts of model names that it is about; none for all.
    models: &'static [&'static str],
    replay: Replay,
    /// Where it says so.
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever changes the table"))]
    source: &'static str,
}

const fn sent(field: Field) -> Replay {
    Replay { field, required: false, provider_data: true }
}

const fn required(field: Field) -> Replay {
    Replay { field, required: true, provider_data: true }
}

/// Refused everywhere else, for all that is known: OpenAI, Groq ("property `reasoning_content` is
/// unsupported", <https://github.com/janhq/jan/issues/8136>), Mistral ("Extra inputs are not
/// permitted", <https://github.com/charmbracelet/crush/issues/1590>).
const RULES: &[Rule] = &[
    Rule {
        domains: &["deepseek.com"],
        models: &[],
        replay: required(Field::Content),
        source: "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    },
    Rule {
        domains: &["moonshot.ai", "moonshot.cn", "kimi.ai", "kimi.com"],
        models: &["kimi"],
        replay: required(Field::Content),
        source: "https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model",
    },
    Rule {
        domains: &["xiaomimimo.com", "mimo.mi.com"],
        models: &[],
        replay: required(Field::Content),
        source: "https://platform.xiaomimimo.com/static/docs/usage-guide/passing-back-reasoning_content.md",
    },
    Rule {
        domains: &["z.ai", "bigmodel.cn"],
        models: &[],
        replay: sent(Field::Content),
        source: "https://docs.z.ai/guides/capabilities/thinking-mode",
    },
    Rule {
        domains: &["minimax.io", "minimaxi.com"],
        models: &[],
        replay: sent(Field::Tags),
        source: "https://platform.minimax.io/docs/api-reference/text-openai-api",
    },
    Rule {
        domains: &["novita.ai"],
        models: &[],
        replay: sent(Field::Content),
        source: "https://novita.ai/docs/guides/llm-interleaved-thinking",
    },
    // The models whose reasoning is plain text. That of others is signed or encrypted, and is no use
    // without what proves it.
    Rule {
        domains: &["openrouter.ai"],
        models: &["deepseek", "kimi", "glm-", "minimax", "mimo-"],
        replay: required(Field::Reasoning),
        source: "https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning",
    },
];

/// llama.cpp and `SGLang` read `reasoning_content` (`common/chat.cpp`, `protocol.py`), vLLM reads
/// `reasoning` (<https://docs.vllm.ai/en/latest/features/interleaved_thinking/>). All of them ignore
/// what they do not know, and the model's template takes what it was trained with.
const OWN: Replay = sent(Field::Both);

/// What stands for reasoning that there is none of. `DeepSeek` and Kimi take an empty text for a
/// missing one (<https://github.com/earendil-works/pi/issues/4179>).
const PLACEHOLDER: &str = " ";

impl Replay {
    /// Natter's own engine gives it to the model's template.
    pub const BUILT_IN: Self = sent(Field::Content);

    /// What the server at this address wants for this model.
    pub fn of(base: &Url, model: &str) -> Self {
        if address::is_private(base) {
            return OWN;
        }
        let model = model.to_ascii_lowercase();
        let rule = RULES.iter().find(|rule| {
            rule.domains.iter().any(|domain| address::is_within(base, domain))
                && (rule.models.is_empty() || rule.models.iter().any(|part| model.contains(part)))
        });
        rule.map(|rule| rule.replay).unwrap_or_default()
    }

    /// Whether earlier reasoning takes part of the window for sure: no template drops it.
    pub fn fills_window(self) -> bool {
        !matches!(self.field, Field::None | Field::Both)
    }

    /// How to send its text instead, where a server refused a request because of it.
    pub fn after_refusal(self, error: &Error) -> Option<Self> {
        const MISSED: &[&str] =
            &["must be passed back", "reasoning_content is missing", "missing `reasoning_content`"];
        // gpt-oss's template, of a reply with text, reasoning and calls.
        const TOO_MUCH: &[&str] = &["cannot pass both content and thinking"];
        let words = &error.detail.as_deref()?.to_ascii_lowercase();
        let names_field =
            says(words, &["reasoning_content", "'reasoning'", "\"reasoning\"", "`reasoning`"]);
        let is_unknown = says(words, UNNAMED) && (names_field || !says(words, PROVIDER_DATA));
        let instead = if says(words, MISSED) || (names_field && words.contains("missing field")) {
            Self { field: Field::Content, required: true, ..self }
        } else if is_unknown || says(words, TOO_MUCH) || (names_field && says(words, UNKNOWN_FIELD))
        {
            Self { field: Field::None, required: false, ..self }
        } else {
            return None;
        };
        (instead != self).then_some(instead)
    }

    /// The fields of a message: `reasoning_content` and `reasoning`.
    pub fn fields(self, message: &Message) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
        if message.role != Role::Assistant || matches!(self.field, Field::None | Field::Tags) {
            return (None, None);
        }
        let mut reasoning = prose::thinking(message);
        if reasoning.trim().is_empty() {
            if !self.required || message.tool_calls().next().is_none() {
                return (None, None);
            }
            reasoning = Cow::Borrowed(PLACEHOLDER);
        }
        match self.field {
            Field::Content => (Some(reasoning), None),
            Field::Reasoning => (None, Some(reasoning)),
            _ => (Some(reasoning.clone()), Some(reasoning)),
        }
    }

    /// A message's text, with its reasoning where that stands inside.
    pub fn text(self, message: &Message) -> Cow<'_, str> {
        let text = prose::text(message);
        let reasoning = prose::thinking(message);
        if self.field != Field::Tags || message.role != Role::Assistant || reasoning.is_empty() {
            return text;
        }
        Cow::Owned(format!("<think>\n{}\n</think>\n\n{text}", reasoning.trim()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::error::Kind;
    use crate::message::{Part, ToolCall, ToolCallId};

    fn reply(reasoning: &str, calls: bool) -> Message {
        let mut parts = vec![
            Part::Thinking { text: reasoning.to_owned(), took: None, provider: None },
            Part::Text("I look.".to_owned()),
        ];
        if calls {
            let (id, name) = (ToolCallId::new("a"), "look".to_owned());
            parts.push(Part::ToolCall(ToolCall::new(id, name, json!({}))));
        }
        Message { parts, ..Message::text(Role::Assistant, None, "") }
    }

    fn of(url: &str, model: &str) -> Replay {
        Replay::of(&address::parse(url).unwrap(), model)
    }

    /// What a reply with tool calls brings along: `reasoning_content`, `reasoning`, its text.
    fn brings(replay: Replay, message: &Message) -> (Option<String>, Option<String>, String) {
        let (content, reasoning) = replay.fields(message);
        let own = Cow::into_owned;
        (content.map(own), reasoning.map(own), replay.text(message).into_owned())
    }

    #[rstest]
    #[case("https://api.deepseek.com/v1", "deepseek-v4-pro", Some("hm"), None)]
    #[case("https://api.moonshot.ai/v1", "kimi-k2-thinking", Some("hm"), None)]
    #[case("https://api.moonshot.cn/v1", "kimi-k2.6", Some("hm"), None)]
    #[case("https://api.moonshot.ai/v1", "moonshot-v1-8k", None, None)]
    #[case("https://api.xiaomimimo.com/v1", "mimo-v2.5", Some("hm"), None)]
    #[case("https://api.z.ai/api/paas/v4", "glm-5.1", Some("hm"), None)]
    #[case("https://open.bigmodel.cn/api/paas/v4", "glm-4.7", Some("hm"), None)]
    #[case("https://openrouter.ai/api/v1", "deepseek/deepseek-v4-pro", None, Some("hm"))]
    #[case("https://openrouter.ai/api/v1", "moonshotai/kimi-k2.6", None, Some("hm"))]
    #[case("https://openrouter.ai/api/v1", "z-ai/GLM-4.7", None, Some("hm"))]
    #[case("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", None, None)]
    #[case("http://192.168.1.7:8000/v1", "any", Some("hm"), Some("hm"))]
    #[case("http://localhost:8080/v1", "any", Some("hm"), Some("hm"))]
    // Those that refuse it, and those whose address only looks like one that does not.
    #[case("https://api.openai.com/v1", "gpt-5", None, None)]
    #[case("https://api.mistral.ai/v1", "magistral-medium", None, None)]
    #[case("https://api.groq.com/openai/v1", "deepseek-r1-distill-llama-70b", None, None)]
    #[case("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3", None, None)]
    #[case("https://api.anthropic.com/v1", "claude-sonnet-4.5", None, None)]
    #[case("https://deepseek.com.example.org/v1", "deepseek-v4-pro", None, None)]
    #[case("https://notz.ai/v1", "glm-5", None, None)]
    fn reasoning_goes_only_where_it_is_wanted(
        #[case] url: &str,
        #[case] model: &str,
        #[case] content: Option<&str>,
        #[case] reasoning: Option<&str>,
    ) {
        let message = reply("hm", true);
        let expected =
            (content.map(str::to_owned), reasoning.map(str::to_owned), "I look.".to_owned());
        assert_eq!(brings(of(url, model), &message), expected);
    }

    #[test]
    fn minimax_gets_it_back_inside_the_text() {
        let replay = of("https://api.minimax.io/v1", "MiniMax-M2");
        let text = "<think>\nhm\n</think>\n\nI look.".to_owned();
        assert_eq!(brings(replay, &reply("hm", true)), (None, None, text));
        let plain = Message::text(Role::Assistant, None, "Yes.");
        assert_eq!(brings(replay, &plain), (None, None, "Yes.".to_owned()));
    }

    #[test]
    fn a_call_without_reasoning_gets_what_stands_for_it_only_where_that_is_required() {
        let text = || "I look.".to_owned();
        let deepseek = of("https://api.deepseek.com", "deepseek-v4-pro");
        assert_eq!(brings(deepseek, &reply("", true)), (Some(" ".to_owned()), None, text()));
        assert_eq!(brings(deepseek, &reply("", false)), (None, None, text()));
        let glm = of("https://api.z.ai/api/paas/v4", "glm-5.1");
        assert_eq!(brings(glm, &reply("", true)), (None, None, text()));
        let asked = Message::text(Role::User, None, "I look.");
        assert_eq!(brings(deepseek, &asked), (None, None, text()));
    }

    #[rstest]
    #[case(
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        Some(required(Field::Content))
    )]
    #[case(
        "Missing `reasoning_content` field in the assistant message at message index 2. For more",
        Some(required(Field::Content))
    )]
    #[case(
        "thinking is enabled but reasoning_content is missing in assistant tool call message at 2",
        Some(required(Field::Content))
    )]
    #[case(
        "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : \
        property 'reasoning_content' is unsupported)]",
        Some(sent(Field::None))
    )]
    #[case(
        "('messages.2' : property 'reasoning' is unsupported, did you mean 'role'?)",
        Some(sent(Field::None))
    )]
    #[case("Extra inputs are not permitted", Some(sent(Field::None)))]
    #[case(
        "Cannot pass both content and thinking in an assistant message with tool calls!",
        Some(sent(Field::None))
    )]
    #[case("model x does not support reasoning_effort", None)]
    #[case("Unsupported value: 'reasoning_effort' is not supported with this model.", None)]
    #[case("temperature is not supported", None)]
    #[case("reasoning_details: Extra inputs are not permitted", None)]
    fn a_server_that_says_otherwise_is_believed(
        #[case] words: &str,
        #[case] instead: Option<Replay>,
    ) {
        let error = Error::new(Kind::BadRequest).with_detail(words);
        assert_eq!(sent(Field::Both).after_refusal(&error), instead);
        if let Some(instead) = instead {
            assert_eq!(instead.after_refusal(&error), None, "asked again and again");
            let alone = Replay { provider_data: false, ..sent(Field::Both) };
            let kept = alone.after_refusal(&error).unwrap();
            assert_eq!(kept, Replay { provider_data: false, ..instead }, "it is not about both");
        }
    }

    #[test]
    fn every_rule_says_where_it_comes_from() {
        for rule in RULES {
            assert!(rule.source.starts_with("https://"), "{:?}", rule.domains);
            assert!(!rule.domains.is_empty());
        }
    }
}
