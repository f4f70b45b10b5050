//! Defines the options for how a model answers.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::{KeepAlive, ReplySchema};

/// Options of a model. Unset ones are left to the server, but for the context window on Ollama,
/// which is always sent. [`OptionName`](super::OptionName) has what each is called and what it takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Sampling temperature, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Sampling from the likeliest so many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Sampling from tokens with at least this much of the likeliest one's probability, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// Against tokens that came before; 1 is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_penalty: Option<f64>,
    /// Against tokens that came before at all, -2 to 2; 0 is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Against tokens the more often they came before, -2 to 2; 0 is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Seed of the sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Texts that end the reply. They are not part of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The most tokens a reply may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Context window, in tokens (Ollama's `num_ctx`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    /// How long the server keeps the model in memory after a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<KeepAlive>,
    /// The most tokens the model may think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
    /// The JSON schema that the reply must follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<ReplySchema>,
}

/// How a model's makers recommend that its tokens are chosen. Counts where the user set nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Nucleus sampling, 0 to 1.
    pub top_p: Option<f64>,
    /// Of the likeliest so many.
    pub top_k: Option<u32>,
    /// At least this much of the likeliest one's probability.
    pub min_p: Option<f64>,
    /// Against words that came before; 1 is off.
    pub repeat_penalty: Option<f64>,
    /// Against words that came before at all; 0 is off.
    pub presence_penalty: Option<f64>,
    /// Over how many tokens these two look back.
    pub repeat_last_n: Option<u32>,
}

/// None of its numbers is NaN: what ships is tested.
impl Eq for Sampling {}

impl Hash for Options {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            temperature,
            top_p,
            top_k,
            min_p,
            repeat_penalty,
            presence_penalty,
            frequency_penalty,
            seed,
            stop,
            max_tokens,
            context_window,
            keep_alive,
            thinking_budget,
            schema,
        } = self;
        for number in
            [temperature, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty]
        {
            // Zero has two forms, which are equal.
            number.map(|number| (number + 0.0).to_bits()).hash(state);
        }
        (top_k, seed, stop, max_tokens, context_window).hash(state);
        (keep_alive, thinking_budget, schema).hash(state);
    }
}

impl Options {
    /// These options for what Natter asks for itself, such as a title, in at most so many tokens: without what is
    /// about the form and the length of replies to the user.
    #[must_use]
    pub fn for_own_request(self, max_tokens: u32) -> Self {
        Self {
            stop: Vec::new(),
            max_tokens: Some(max_tokens),
            thinking_budget: None,
            schema: None,
            ..self
        }
    }

    /// These options, with those of `other` wherever these leave one unset.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            temperature: self.temperature.or(other.temperature),
            top_p: self.top_p.or(other.top_p),
            top_k: self.top_k.or(other.top_k),
            min_p: self.min_p.or(other.min_p),
            repeat_penalty: self.repeat_penalty.or(other.repeat_penalty),
            presence_penalty: self.presence_penalty.or(other.presence_penalty),
            frequency_penalty: self.frequency_penalty.or(other.frequency_penalty),
            seed: self.seed.or(other.seed),
            stop: if self.stop.is_empty() { other.stop.clone() } else { self.stop },
            max_tokens: self.max_tokens.or(other.max_tokens),
            context_window: self.context_window.or(other.context_window),
            keep_alive: self.keep_alive.or_else(|| other.keep_alive.clone()),
            thinking_budget: self.thinking_budget.or(other.thinking_budget),
            schema: self.schema.or_else(|| other.schema.clone()),
        }
    }
}

/// How much a model is to think before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// The model's own default: nothing is said about it on the wire. Stored as `habit`.
    #[default]
    #[serde(rename = "habit", alias = "default")]
    Default,
    /// Not at all.
    Off,
    /// On, without a level.
    On,
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// A lot.
    High,
    /// As much as it can.
    Max,
}
