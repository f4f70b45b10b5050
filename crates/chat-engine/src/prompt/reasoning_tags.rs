//! Defines the tags between which a model reasons.

use super::template::Template;

/// What stands round the thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasoningTags {
    /// Before them.
    pub begin: &'static str,
    /// Behind them.
    pub end: &'static str,
    /// Those of these words that may be tokens of the model's own.
    pub words: [&'static str; 2],
}

/// What most models write.
const THINK: ReasoningTags =
    ReasoningTags { begin: "<think>", end: "</think>", words: ["<think>", "</think>"] };
/// Mistral's.
const BRACKETS: ReasoningTags =
    ReasoningTags { begin: "[THINK]", end: "[/THINK]", words: ["[THINK]", "[/THINK]"] };
/// Gemma's since version 4.
const CHANNEL: ReasoningTags = ReasoningTags {
    begin: "<|channel>thought",
    end: "<channel|>",
    words: ["<|channel>", "<channel|>"],
};

impl Default for ReasoningTags {
    fn default() -> Self {
        THINK
    }
}

impl ReasoningTags {
    /// As the template shows them.
    pub fn of(template: &Template) -> Self {
        if template.mentions("<channel|>") {
            CHANNEL
        } else if template.mentions("[THINK]") {
            BRACKETS
        } else {
            THINK
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_shows_how_its_model_thinks() {
        let of = |source: &str| ReasoningTags::of(&Template::new(source, "", "").unwrap());
        assert_eq!(of("{{ messages }}"), THINK);
        assert_eq!(of("[THINK]{{ messages }}[/THINK]"), BRACKETS);
        assert_eq!(of("<|channel>thought{{ messages }}<channel|>"), CHANNEL);
    }
}
