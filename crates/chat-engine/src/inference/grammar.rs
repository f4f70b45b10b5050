//! What an answer must follow.

use llama_cpp_2::json_schema_to_grammar;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;

use crate::failure::Failure;

/// The longest schema or grammar that is taken.
const LONGEST: usize = 1 << 20;

/// A grammar in llama.cpp's GBNF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    text: String,
    /// It holds only from this word on.
    trigger: Option<String>,
}

impl Grammar {
    /// A grammar as it came.
    ///
    /// # Errors
    /// `Grammar` where it is longer than any real one.
    pub fn new(text: String) -> Result<Self, Failure> {
        if text.len() > LONGEST {
            return Err(Failure::Grammar("the grammar is too long".to_owned()));
        }
        Ok(Self { text, trigger: None })
    }

    /// The grammar of JSON that follows a schema.
    ///
    /// # Errors
    /// `Grammar` where the schema cannot be followed.
    pub fn of_schema(schema: &str) -> Result<Self, Failure> {
        if schema.len() > LONGEST {
            return Err(Failure::Grammar("the JSON schema is too long".to_owned()));
        }
        let text = json_schema_to_grammar(schema)
            .map_err(|_| Failure::Grammar("the JSON schema cannot be followed".to_owned()))?;
        Ok(Self { text, trigger: None })
    }

    /// The same, from a word on, which it begins with.
    #[must_use]
    pub fn after(self, trigger: &str, closing: &str) -> Self {
        let word = |text: &str| serde_json::Value::from(text).to_string();
        // The schema's own start becomes a rule between the two.
        let text = self.text.replacen("root ::=", "call ::=", 1);
        let start = format!("root ::= ({} space call {})+\n", word(trigger), closing);
        Self { text: format!("{start}{text}"), trigger: Some(trigger.to_owned()) }
    }

    pub(super) fn sampler(&self, model: &LlamaModel) -> Result<LlamaSampler, Failure> {
        let sampler = match &self.trigger {
            None => LlamaSampler::grammar(model, &self.text, "root"),
            Some(trigger) => {
                LlamaSampler::grammar_lazy(model, &self.text, "root", [trigger.as_bytes()], &[])
            }
        };
        sampler.map_err(|error| Failure::Grammar(format!("the grammar cannot be read: {error}")))
    }
}
