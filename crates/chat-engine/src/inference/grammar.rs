//! Defines the grammar that an answer must follow.

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
        // The schema's own start becomes a rule between the two, under a name that none of the
        // schema's rules has: those begin with "root", "ref" or what a primitive is called.
        let rules = self.text.lines().map(|rule| match rule.strip_prefix("root ::=") {
            Some(rest) => format!("one-call ::={rest}\n"),
            None => format!("{rule}\n"),
        });
        let start = format!("root ::= ({} space one-call {})+\n", word(trigger), closing);
        Self { text: start + &rules.collect::<String>(), trigger: Some(trigger.to_owned()) }
    }

    /// Whether it holds the whole answer, and not only what follows a word.
    pub fn holds_all(&self) -> bool {
        self.trigger.is_none()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_with_a_minimum_has_no_sign() {
        let grammar = |integer: &str| {
            let schema = format!(
                r#"{{"type":"object","properties":{{"lines":{integer}}},"required":["lines"],"additionalProperties":false}}"#
            );
            Grammar::of_schema(&schema).unwrap().text
        };
        let sign = "\"-\"";
        assert!(grammar(r#"{"type":"integer"}"#).contains(sign), "else this finds none");
        for minimum in [0, 1] {
            let text = grammar(&format!(r#"{{"type":"integer","minimum":{minimum}}}"#));
            assert!(!text.contains(sign), "{text}");
        }
    }

    #[test]
    fn a_property_may_be_called_as_a_rule_is() {
        let schema =
            r#"{"type":"object","properties":{"root":{"type":"integer"}},"required":["root"]}"#;
        let wrapped = format!(
            r#"{{"type":"object","properties":{{"arguments":{schema}}},"required":["arguments"]}}"#
        );
        let grammar = Grammar::of_schema(&wrapped).unwrap().after("<call>", "\"</call>\"");
        let rules = |name: &str| {
            let start = format!("{name} ::=");
            grammar.text.lines().filter(|rule| rule.starts_with(&start)).count()
        };
        assert_eq!((rules("root"), rules("one-call")), (1, 1), "{}", grammar.text);
        assert!(grammar.text.lines().any(|rule| rule.starts_with("arguments-root")));
    }
}
