//! Parses the bodies of requests: OpenAI's protocol, with llama.cpp's additions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use minijinja::Value;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::draft;
use crate::failure::Failure;

/// The body of `/v1/chat/completions`.
#[derive(Debug, Deserialize)]
pub struct ChatBody {
    /// The model's file.
    pub model: PathBuf,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Whether the reply comes in pieces.
    #[serde(default)]
    pub stream: bool,
    /// Tools that the model may call.
    #[serde(default)]
    pub tools: Vec<Box<RawValue>>,
    /// Whether it must, or which.
    #[serde(default)]
    pub tool_choice: Option<Choice>,
    /// The shape of the answer.
    #[serde(default)]
    pub response_format: Option<Format>,
    /// Where the answer ends.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// The most tokens of the answer.
    #[serde(default, alias = "max_completion_tokens")]
    pub max_tokens: Option<u32>,
    /// The window that the conversation is to fit in, in tokens.
    #[serde(default)]
    pub context_window: Option<u32>,
    /// Values for the template, such as `enable_thinking`.
    #[serde(default)]
    pub chat_template_kwargs: BTreeMap<String, Value>,
    /// How much the model is to think.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// The most tokens that are drafted at once, under the name of llama.cpp's server; 0 is none.
    #[serde(default = "most", rename = "speculative.n_max")]
    pub drafts_most: usize,
    /// The fewest, where anything was found: more than 0 also where they do not pay.
    #[serde(default, rename = "speculative.n_min")]
    pub drafts_least: usize,
}

fn most() -> usize {
    draft::MOST
}

/// A message of the conversation.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Message {
    /// Who said it.
    pub role: String,
    /// What was said.
    #[serde(default)]
    pub content: Option<Content>,
    /// The tools that it calls.
    #[serde(default)]
    pub tool_calls: Option<Vec<Call>>,
    /// The call that it answers.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// The tool that answers.
    #[serde(default)]
    pub name: Option<String>,
    /// What the model thought.
    #[serde(default)]
    pub reasoning_content: Option<String>,
}

/// What was said: a text, or parts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Parts.
    Parts(Vec<Part>),
}

/// A part of what was said.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Part {
    /// What it is: `text` is all that is known here.
    pub r#type: String,
    /// The text.
    #[serde(default)]
    pub text: String,
}

/// A tool call of an earlier answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Call {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// What was called.
    pub function: Function,
}

/// What a call calls.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Function {
    /// The tool's name.
    pub name: String,
    /// The arguments' JSON text.
    #[serde(default)]
    pub arguments: String,
}

/// Whether a tool must be called.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Choice {
    /// `auto`, `none` or `required`.
    Word(String),
    /// This one.
    Named {
        /// The tool.
        function: Named,
    },
}

/// A tool by its name.
#[derive(Clone, Debug, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
}

/// The shape of an answer.
#[derive(Debug, Deserialize)]
pub struct Format {
    /// `text`, `json_object` or `json_schema`.
    pub r#type: String,
    /// OpenAI's place for the schema.
    #[serde(default)]
    pub json_schema: Option<Schema>,
    /// llama.cpp's place for it.
    #[serde(default)]
    pub schema: Option<Box<RawValue>>,
}

/// A schema with a name around it.
#[derive(Debug, Deserialize)]
pub struct Schema {
    /// The schema.
    pub schema: Box<RawValue>,
}

/// Where an answer ends: at one text, or at any of several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Stop {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// How tokens are chosen: stands in the same body. What is not said is as in llama.cpp
/// (`common/common.h`).
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default)]
pub struct Sampling {
    /// 0 always takes the likeliest.
    pub temperature: f32,
    /// Of the likeliest so many; 0 is all.
    pub top_k: i32,
    /// Of the likeliest until their sum is this.
    pub top_p: f32,
    /// At least this much of the likeliest one's probability.
    pub min_p: f32,
    /// Locally typical; 1 is off.
    pub typical_p: f32,
    /// How far below the best, in standard deviations; below 0 is off.
    pub top_n_sigma: f32,
    /// Chance to leave out the likeliest; 0 is off.
    pub xtc_probability: f32,
    /// From which probability that is done.
    pub xtc_threshold: f32,
    /// 1 is off.
    #[serde(alias = "repetition_penalty")]
    pub repeat_penalty: f32,
    /// Over so many tokens.
    pub repeat_last_n: i32,
    /// 0 is off.
    pub presence_penalty: f32,
    /// 0 is off.
    pub frequency_penalty: f32,
    /// Against repeated sequences; 0 is off.
    pub dry_multiplier: f32,
    /// Its base.
    pub dry_base: f32,
    /// Sequences up to this long go unpunished.
    pub dry_allowed_length: i32,
    /// Over so many tokens; -1 is the whole window.
    pub dry_penalty_last_n: i32,
    /// 1 or 2; 0 is off.
    pub mirostat: u8,
    /// Its aim.
    pub mirostat_tau: f32,
    /// Its pace.
    pub mirostat_eta: f32,
    /// The same seed gives the same answer; none is a new one each time.
    pub seed: Option<u64>,
    /// What is added to single tokens' chances.
    pub logit_bias: BTreeMap<String, f32>,
    /// A grammar in llama.cpp's GBNF.
    pub grammar: Option<String>,
}

impl Sampling {
    /// Whether the same request is to give the same answer.
    pub fn is_repeatable(&self) -> bool {
        self.temperature <= 0.0 || self.seed.is_some()
    }
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 0.8,
            top_k: 40,
            top_p: 0.95,
            min_p: 0.05,
            typical_p: 1.0,
            top_n_sigma: -1.0,
            xtc_probability: 0.0,
            xtc_threshold: 0.1,
            repeat_penalty: 1.0,
            repeat_last_n: 64,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            dry_multiplier: 0.0,
            dry_base: 1.75,
            dry_allowed_length: 2,
            dry_penalty_last_n: -1,
            mirostat: 0,
            mirostat_tau: 5.0,
            mirostat_eta: 0.1,
            seed: None,
            logit_bias: BTreeMap::new(),
            grammar: None,
        }
    }
}

/// The body of `/v1/embeddings`.
#[derive(Debug, Deserialize)]
pub struct EmbeddingsBody {
    /// The model's file.
    pub model: PathBuf,
    /// What is to be embedded.
    pub input: Stop,
}

impl Stop {
    /// All of them.
    pub fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }

    /// Those at which an answer can end: empty ones would end everything at once.
    pub fn texts(self) -> Vec<String> {
        self.all().into_iter().filter(|text| !text.is_empty()).collect()
    }
}

impl Message {
    /// Its text.
    ///
    /// # Errors
    /// `Unsupported` where it has a part that is no text.
    pub fn text(&self) -> Result<String, Failure> {
        match &self.content {
            None => Ok(String::new()),
            Some(Content::Text(text)) => Ok(text.clone()),
            Some(Content::Parts(parts)) => {
                let texts: Result<Vec<_>, _> = parts
                    .iter()
                    .map(|part| match part.r#type.as_str() {
                        "text" => Ok(part.text.as_str()),
                        _ => Err(Failure::Images),
                    })
                    .collect();
                Ok(texts?.join("\n"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_as_in_llama_cpp() {
        let body = r#"{"model":"/m.gguf","messages":[{"role":"user","content":"Hi"}],"top_k":7}"#;
        let sampling: Sampling = serde_json::from_str(body).unwrap();
        assert_eq!(sampling, Sampling { top_k: 7, ..Sampling::default() });
        let body: ChatBody = serde_json::from_str(body).unwrap();
        assert_eq!(body.messages[0].text().unwrap(), "Hi");
        assert!(!body.stream);
    }

    #[test]
    fn a_tools_text_stays_as_it_came() {
        let body = r#"{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"b","a":1}}]}"#;
        let body: ChatBody = serde_json::from_str(body).unwrap();
        assert!(body.tools[0].get().starts_with(r#"{"type""#));
    }

    #[test]
    fn pictures_are_refused() {
        let text =
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}"#;
        let message: Message = serde_json::from_str(text).unwrap();
        assert_eq!(message.text().unwrap_err(), Failure::Images);
    }
}
