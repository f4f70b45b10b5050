//! Measures how much of a model's context window messages take: counted in bytes, and converted to
//! tokens by the scale that the server's own counts give.

use std::sync::Arc;

use super::{Agent, Surroundings};
use crate::attachment::{BYTES_PER_TOKEN, picture_tokens};
use crate::client::SentReasoning;
use crate::message::{ContextCategory, Message, Part, Role, ToolSpec};

/// What bytes of a token are believed. A server that counts only what it had not read before tells
/// too few tokens.
const BELIEVED: std::ops::RangeInclusive<f64> = 1.2..=7.0;

/// From how many tokens on a count says something.
const ENOUGH: u64 = 20;

/// What stands round a message in a model's template, in bytes.
const FRAME: u64 = 16;

/// How much of the window one result of a tool may take, of 100.
const RESULT_SHARE: u64 = 15;

/// Of which window that is where nobody knows it, in tokens.
const UNKNOWN_WINDOW: u32 = 65_536;

/// How many bytes one result of a tool may have at least, and at most.
const RESULT_BYTES: std::ops::RangeInclusive<usize> = 2_000..=256 * 1024;

/// How many bytes one result of a tool may have with a window of so many tokens.
pub(crate) fn result_bytes(window: Option<u32>) -> usize {
    let tokens = u64::from(window.unwrap_or(UNKNOWN_WINDOW)) * RESULT_SHARE / 100;
    let bytes = usize::try_from(Scale::default().bytes(tokens)).unwrap_or(usize::MAX);
    bytes.clamp(*RESULT_BYTES.start(), *RESULT_BYTES.end())
}

/// How much of the window the list of skills may take, of 100.
const SKILLS_SHARE: u64 = 1;

/// How many bytes the list of skills may have with a window of so many tokens.
pub(crate) fn skill_list_bytes(window: Option<u32>) -> usize {
    let tokens = u64::from(window.unwrap_or(UNKNOWN_WINDOW)) * SKILLS_SHARE / 100;
    usize::try_from(Scale::default().bytes(tokens)).unwrap_or(usize::MAX)
}

/// How many bytes of a text are a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    bytes: f64,
    /// Whether a server said it.
    pub measured: bool,
}

impl Default for Scale {
    fn default() -> Self {
        Self { bytes: BYTES_PER_TOKEN, measured: false }
    }
}

impl Scale {
    /// So many bytes in tokens, rather too many than too few.
    pub(crate) fn tokens(self, bytes: u64) -> u64 {
        (bytes as f64 / self.bytes).ceil() as u64
    }

    /// So many tokens in bytes.
    pub(crate) fn bytes(self, tokens: u64) -> u64 {
        (tokens as f64 * self.bytes) as u64
    }
}

/// What messages and tools take, by what it is: in bytes, pictures in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextSize {
    bytes: [u64; ContextCategory::ALL.len()],
    pictures: u64,
}

impl ContextSize {
    /// What these messages take, as they go out, with so much of the thoughts.
    pub(crate) fn of(messages: &[Arc<Message>], reasoning: &SentReasoning) -> Self {
        let mut size = Self::default();
        for message in messages {
            size.add_message(message, reasoning);
        }
        size
    }

    /// With what tools take; most servers put their descriptions into the prompt as JSON.
    pub(crate) fn and_tools(mut self, tools: &[ToolSpec]) -> Self {
        let bytes = tools.iter().map(|tool| tool_bytes(tool) as u64).sum();
        self.add(ContextCategory::Tools, bytes);
        self
    }

    /// Tells what of the instructions are the project's rules.
    pub(crate) fn with_rules(mut self, around: &Surroundings) -> Self {
        let rules: u64 = around.rules.iter().map(|rules| rules.text.trim().len() as u64).sum();
        let all = &mut self.bytes[ContextCategory::Instructions as usize];
        let rules = rules.min(*all);
        *all -= rules;
        self.add(ContextCategory::Rules, rules);
        self
    }

    fn add(&mut self, category: ContextCategory, bytes: u64) {
        self.bytes[category as usize] += bytes;
    }

    fn add_message(&mut self, message: &Message, reasoning: &SentReasoning) {
        let speaker = match message.role {
            Role::System => ContextCategory::Instructions,
            Role::Assistant => ContextCategory::Answers,
            Role::User | Role::Tool | Role::Ui => ContextCategory::Person,
        };
        if message.role != Role::Tool {
            self.add(speaker, FRAME);
        }
        // Where what came with the thoughts goes back, their text does not.
        let data: u64 = message.provider_data().map(|data| reasoning.bytes(data)).sum();
        self.add(ContextCategory::Reasoning, data);
        for part in &message.parts {
            match part {
                Part::Text(text) => self.add(speaker, text.len() as u64),
                Part::Thinking { text, .. } if reasoning.text && data == 0 => {
                    self.add(ContextCategory::Reasoning, text.len() as u64);
                }
                Part::Thinking { .. } | Part::Compaction(_) => {}
                Part::Image { data, .. } => self.pictures += picture_tokens(data),
                Part::File { name, text } => {
                    self.add(ContextCategory::Files, (name.len() + text.len()) as u64 + FRAME);
                }
                Part::Context { text } => {
                    let summary = super::truncation::is_summary(text);
                    let category =
                        if summary { ContextCategory::Summary } else { ContextCategory::Context };
                    self.add(category, text.len() as u64);
                }
                Part::Command(command) => {
                    self.add(ContextCategory::Context, command.for_model().len() as u64);
                }
                Part::FromAgent(agent) => {
                    self.add(ContextCategory::Context, agent.for_model().len() as u64);
                }
                Part::ToolCall(call) => {
                    let arguments = call.arguments.to_string().len();
                    self.add(
                        ContextCategory::Calls,
                        (call.name.len() + arguments) as u64 + 2 * FRAME,
                    );
                    let data = call.provider.as_ref().map_or(0, |data| reasoning.bytes(data));
                    self.add(ContextCategory::Reasoning, data);
                }
                Part::ToolResult(result) => {
                    self.add(ContextCategory::Results, result.text.len() as u64 + FRAME);
                }
            }
        }
    }

    /// All bytes, without pictures.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// All of it in tokens.
    pub(crate) fn tokens(&self, scale: Scale) -> u64 {
        scale.tokens(self.bytes()) + self.pictures
    }

    /// All of it in tokens by what it is, the largest first.
    pub(crate) fn by_category(&self, scale: Scale) -> Vec<(ContextCategory, u64)> {
        let whole = self.tokens(scale);
        let mut by_category: Vec<_> = ContextCategory::ALL
            .into_iter()
            .map(|category| match category {
                ContextCategory::Pictures => (category, self.pictures),
                category => {
                    // Cut, so that all together are never more than the whole.
                    let bytes = self.bytes[category as usize] as f64;
                    (category, (bytes / scale.bytes) as u64)
                }
            })
            .filter(|(_, tokens)| *tokens > 0)
            .collect();
        by_category.sort_by_key(|(category, tokens)| (std::cmp::Reverse(*tokens), *category));
        let told: u64 = by_category.iter().map(|(_, tokens)| tokens).sum();
        if let Some((_, largest)) = by_category.first_mut() {
            *largest += whole - told;
        }
        by_category
    }

    /// The scale by a server's count of all of it.
    fn scale(&self, tokens: u64) -> Option<Scale> {
        let tokens = tokens.checked_sub(self.pictures).filter(|some| *some >= ENOUGH)?;
        let bytes = self.bytes() as f64 / tokens as f64;
        BELIEVED.contains(&bytes).then_some(Scale { bytes, measured: true })
    }
}

/// The scale that the newest believable count of a server gives in a history.
pub(crate) fn scale_of(
    agent: &dyn Agent,
    history: &[Arc<Message>],
    around: &Surroundings,
    reasoning: &SentReasoning,
) -> Scale {
    let counted = history
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, message)| Some((at, message.usage.as_ref()?.prompt_tokens?)));
    // A few are enough: a server that reports nonsense does so often.
    let scales = counted.take(3).filter_map(|(at, tokens)| {
        let sent = agent.build_messages(&history[..at], around);
        ContextSize::of(&sent, reasoning).and_tools(&around.tools.specs()).scale(tokens)
    });
    { scales }.next().unwrap_or_default()
}

/// The bytes of a tool's description for the model.
pub(crate) fn tool_bytes(tool: &ToolSpec) -> usize {
    let parameters = serde_json::to_string(&tool.parameters).map_or(0, |json| json.len());
    tool.name.len() + tool.description.len() + parameters + 2 * FRAME as usize
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::{JustAsk, RuleFile};
    use crate::client::{Recipient, RefusedData};
    use crate::message::{Ending, ModelRef, Origin, ProviderData, ToolCall, ToolCallId, Usage};

    fn history(prompt_tokens: u64) -> Vec<Arc<Message>> {
        let question = Message::text(Role::User, None, "x".repeat(1_000));
        let reply = Message {
            parts: vec![Part::Text("y".repeat(500))],
            ended: Some(Ending::Complete),
            usage: Some(Usage { prompt_tokens: Some(prompt_tokens), ..Usage::default() }),
            ..Message::reply(None, ModelRef::new("c", "m"))
        };
        vec![Arc::new(question), Arc::new(reply)]
    }

    #[test]
    fn the_servers_count_is_the_scale() {
        let around = Surroundings::default();
        let history = history(508);
        let scale = scale_of(&JustAsk, &history, &around, &SentReasoning::default());
        let sent = JustAsk.build_messages(&history[..1], &around);
        assert!(scale.measured);
        assert_eq!(ContextSize::of(&sent, &SentReasoning::default()).tokens(scale), 508);
    }

    #[test]
    fn a_count_that_cannot_be_is_not_believed() {
        for tokens in [1, 30, 100_000] {
            let scale = scale_of(
                &JustAsk,
                &history(tokens),
                &Surroundings::default(),
                &SentReasoning::default(),
            );
            assert_eq!(scale, Scale::default(), "{tokens}");
        }
    }

    #[test]
    fn what_fills_it_is_all_of_it() {
        let around = Surroundings {
            rules: vec![RuleFile { path: "AGENTS.md".into(), text: "r".repeat(50), cut: false }],
            ..Surroundings::default()
        };
        let tool = ToolSpec {
            name: "read_file".into(),
            description: "Reads.".into(),
            parameters: json!({ "type": "object" }),
        };
        let mut messages = history(100);
        messages.push(Arc::new(crate::agent::system(&"s".repeat(333))));
        let size = ContextSize::of(&messages, &SentReasoning { text: true, data_of: None })
            .and_tools(&[tool])
            .with_rules(&around);
        let by_category = size.by_category(Scale::default());
        let all: u64 = by_category.iter().map(|(_, tokens)| tokens).sum();
        assert_eq!(all, size.tokens(Scale::default()));
        assert_eq!(by_category[0].0, ContextCategory::Person);
        let of =
            |category| by_category.iter().find(|(other, _)| *other == category).map(|(_, n)| *n);
        assert_eq!(of(ContextCategory::Rules), Some(15));
        assert!(of(ContextCategory::Tools).is_some_and(|tokens| tokens > 10));
        assert_eq!(of(ContextCategory::Results), None);
    }

    #[test]
    fn thoughts_count_as_what_goes_back_of_them() {
        let origin = Origin {
            protocol: "p".into(),
            connection: "c".into(),
            server: Some("s:80".into()),
            model: "m".into(),
        };
        let data = |json: &str| ProviderData { origin: origin.clone(), json: json.into() };
        let thinking = |provider| Part::Thinking { text: "t".repeat(100), took: None, provider };
        let call = ToolCall::new(ToolCallId::new("a"), "look", json!({}));
        let call = Part::ToolCall(ToolCall { provider: Some(data("[12]")), ..call });
        let counted = |parts: Vec<Part>, text, data_of: Option<Recipient>| {
            let message = Message { parts, ..Message::text(Role::Assistant, None, "") };
            let reasoning = SentReasoning { text, data_of: data_of.map(Arc::new) };
            ContextSize::of(&[message.into()], &reasoning).bytes
                [ContextCategory::Reasoning as usize]
        };
        let signed = || vec![thinking(Some(data("[12345678]"))), thinking(None), call.clone()];
        let to = |origin: &Origin| Recipient { origin: origin.clone(), refused: Arc::default() };
        let own = || Some(to(&origin));
        assert_eq!(counted(signed(), true, own()), 14, "in place of the text");
        assert_eq!(counted(signed(), false, own()), 14);
        assert_eq!(counted(signed(), false, None), 0);
        assert_eq!(counted(vec![thinking(None)], true, own()), 100);
        let other = Origin { model: "n".into(), ..origin.clone() };
        assert_eq!(
            counted(signed(), true, Some(to(&other))),
            200,
            "another model gets the text alone"
        );
        let mut refused = RefusedData::default();
        refused.insert(&data("[12345678]"));
        let without = Recipient { refused: Arc::new(refused), ..to(&origin) };
        assert_eq!(counted(signed(), false, Some(without)), 4, "refused values are left out");
    }

    #[test]
    fn a_result_may_take_about_15_of_100_of_the_window() {
        assert_eq!(result_bytes(Some(1_024)), 2_000);
        assert_eq!(result_bytes(Some(8_192)), 3_929);
        assert_eq!(result_bytes(Some(32_768)), 15_728);
        assert_eq!(result_bytes(Some(200_000)), 96_000);
        assert_eq!(result_bytes(Some(1_000_000)), 256 * 1024);
        assert_eq!(result_bytes(None), result_bytes(Some(65_536)));
    }
}
