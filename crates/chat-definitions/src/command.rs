//! Parses a command's file.

use crate::agent::check_body;
use crate::fields::{LONGEST_DESCRIPTION, LONGEST_TEXT, document, is_name};
use crate::problem::{Found, ProblemKind, has_error};
use crate::visible::quoted;
use crate::{Place, expand};

/// A prompt that a user gave a name.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandDefinition {
    /// The file's name without `.md`.
    pub name: String,
    /// What it does, in one line without hidden characters.
    pub description: Option<String>,
    /// The agent to use.
    pub agent: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// What arguments it takes, for people.
    pub arguments: Option<String>,
    /// Its text, with placeholders for the arguments.
    pub body: String,
    /// Where it comes from.
    pub place: Place,
}

impl CommandDefinition {
    /// The message that it stands for with these arguments. See [`expand`].
    pub fn expand(&self, arguments: &str) -> String {
        expand(&self.body, arguments)
    }
}

/// Parses the text of a command's file. `stem` is the file's name without `.md`.
pub(crate) fn parse(
    stem: &str,
    text: &str,
    place: Place,
) -> (Option<CommandDefinition>, Vec<Found>) {
    let mut document = match document(text) {
        Ok(document) => document,
        Err(found) => return (None, vec![found]),
    };
    let fields = &mut document.fields;
    if !is_name(stem) {
        fields.complain(None, ProblemKind::InvalidFileName { name: quoted(stem) });
    }
    let description = fields.text("description", LONGEST_DESCRIPTION);
    let agent = fields.parsed("agent", |word| is_name(word).then(|| word.to_owned()));
    let model = fields.word("model").map(|(_, model)| model);
    let arguments = fields.text_of_either("arguments", "argument-hint", LONGEST_TEXT);
    check_body(&mut document);
    let body = document.body.to_owned();
    let found = document.fields.finish();
    let command = (!has_error(&found)).then(|| CommandDefinition {
        name: stem.to_owned(),
        description,
        agent,
        model,
        arguments,
        body,
        place,
    });
    (command, found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_is_read() {
        let (command, found) = parse(
            "fix-issue",
            "---\ndescription: Fix an issue\nagent: code-assistant\nmodel: a/b\nargument-hint: \"[number]\"\n---\nFix #$1.\n",
            Place::imagined(),
        );
        assert_eq!(found, []);
        let command = command.unwrap();
        assert_eq!(command.name, "fix-issue");
        assert_eq!(command.description.as_deref(), Some("Fix an issue"));
        assert_eq!(command.agent.as_deref(), Some("code-assistant"));
        assert_eq!(command.model.as_deref(), Some("a/b"));
        assert_eq!(command.arguments.as_deref(), Some("[number]"));
        assert_eq!(command.expand("12"), "Fix #12.");
    }

    #[test]
    fn its_name_is_the_files() {
        let (command, found) = parse("Fix it", "Fix.", Place::imagined());
        assert_eq!(command, None);
        let kind = ProblemKind::InvalidFileName { name: "Fix it".to_owned() };
        assert_eq!(found, [Found { line: None, kind }]);
        let (command, found) = parse("fix", "---\nname: other\n---\nFix.", Place::imagined());
        assert_eq!(command.unwrap().name, "fix");
        assert_eq!(found, [Found::at(2, ProblemKind::UnknownKey { key: "name".to_owned() })]);
    }

    #[test]
    fn a_wrong_agent_is_an_error() {
        let (command, found) = parse("fix", "---\n\nagent: ../x\n---\nFix.", Place::imagined());
        assert_eq!(command, None);
        let kind = ProblemKind::UnknownWord { key: "agent", word: "../x".to_owned() };
        assert_eq!(found, [Found::at(3, kind)]);
    }

    proptest! {
        #[test]
        fn no_text_panics(stem in any::<String>(), text in any::<String>()) {
            let _ = parse(&stem, &text, Place::imagined());
        }
    }
}
