//! Parses an agent's file.

use chat_permission::Mode;

use crate::fields::{LONGEST_DESCRIPTION, document};
use crate::problem::{Found, ProblemKind, has_error};
use crate::visible::{hidden_line, quoted};
use crate::{Color, Place, ToolPatterns};

/// An agent that a user wrote. What is absent is as for every other agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDefinition {
    /// Its name: that in the file, or the file's own.
    pub name: String,
    /// What it is for, in one line without hidden characters.
    pub description: Option<String>,
    /// The model to use, `connection/model` or as the user wrote it.
    pub model: Option<String>,
    /// The tools that it may use; all if there is none.
    pub tools: Option<ToolPatterns>,
    /// The permission mode.
    pub mode: Option<Mode>,
    /// The sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Its color.
    pub color: Option<Color>,
    /// The template of its system prompt, with the placeholders of the built-in agents: `{introduction}`, `{work}`,
    /// `{tools}`, `{rules}`, `{environment}` and `{mode}`. They are not filled here.
    pub prompt: String,
    /// Where it comes from.
    pub place: Place,
}

/// Parses the text of an agent's file. `stem` is the file's name without `.md`.
pub(crate) fn parse(stem: &str, text: &str, place: Place) -> (Option<AgentDefinition>, Vec<Found>) {
    let mut document = match document(text) {
        Ok(document) => document,
        Err(found) => return (None, vec![found]),
    };
    let fields = &mut document.fields;
    let name = fields.name("name", stem);
    let description = fields.text("description", LONGEST_DESCRIPTION);
    let model = fields.word("model").map(|(_, model)| model);
    let tools = ToolPatterns::read(fields);
    let mode = fields.parsed("mode", |word| word.parse().ok());
    let temperature = fields.number("temperature", 0..=2);
    let color = fields.word_of_either("color", "colour").and_then(|(key, (line, word))| {
        let color = word.parse().ok();
        if color.is_none() {
            let kind = ProblemKind::UnknownWord { key, word: quoted(&word) };
            fields.complain(Some(line), kind);
        }
        color
    });
    fields.refuse(limits_tools_elsewhere, "tools");
    check_body(&mut document);
    let prompt = document.body.to_owned();
    let found = document.fields.finish();
    let agent = name.filter(|_| !has_error(&found)).map(|(_, name)| AgentDefinition {
        name,
        description,
        model,
        tools,
        mode,
        temperature,
        color,
        prompt,
        place,
    });
    (agent, found)
}

/// Whether a key says in files of other programs which tools an agent may use, in any spelling.
fn limits_tools_elsewhere(key: &str) -> bool {
    let letters = key.chars().filter(char::is_ascii_alphabetic);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    matches!(letters.as_str(), "allowedtools" | "disallowedtools")
}

/// A body must say something, and should hide nothing.
pub(crate) fn check_body(document: &mut crate::fields::Document<'_>) {
    if document.body.is_empty() {
        document.fields.complain(None, ProblemKind::EmptyBody);
    }
    if let Some(line) = hidden_line(document.body) {
        let kind = ProblemKind::HiddenCharacters { key: None };
        document.fields.complain(Some(document.body_line + line), kind);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ColorName;

    fn read(text: &str) -> (Option<AgentDefinition>, Vec<Found>) {
        parse("file", text, Place::imagined())
    }

    fn problems(text: &str) -> Vec<(Option<usize>, ProblemKind)> {
        let (agent, found) = read(text);
        assert_eq!(agent.is_none(), has_error(&found));
        found.into_iter().map(|found| (found.line, found.kind)).collect()
    }

    #[test]
    fn an_agent_is_read() {
        let (agent, found) = read(
            "---\nname: reviewer\ndescription: >-\n  Reviews\n  changes\nmodel: Home/qwen:8b\n\
             tools: read_*, grep\nmode: plan\ntemperature: 0.2\ncolour: blue\n---\n\nReview.\n\n{environment}\n",
        );
        assert_eq!(found, []);
        let agent = agent.unwrap();
        assert_eq!(agent.name, "reviewer");
        assert_eq!(agent.description.as_deref(), Some("Reviews changes"));
        assert_eq!(agent.model.as_deref(), Some("Home/qwen:8b"));
        assert_eq!(agent.tools.unwrap().patterns(), ["read_*", "grep"]);
        assert_eq!((agent.mode, agent.temperature), (Some(Mode::Plan), Some(0.2)));
        assert_eq!(agent.color, Some(Color::Named(ColorName::Blue)));
        assert_eq!(agent.prompt, "Review.\n\n{environment}");
    }

    #[test]
    fn a_file_without_front_matter_is_an_agent() {
        let (agent, found) = read("Just do it.\n");
        assert_eq!(found, []);
        let agent = agent.unwrap();
        assert_eq!((agent.name.as_str(), agent.prompt.as_str()), ("file", "Just do it."));
        assert_eq!((agent.tools, agent.mode), (None, None));
    }

    #[test]
    fn a_file_whose_name_is_not_valid_needs_a_name_in_it() {
        let (agent, found) = parse("My Agent", "Do it.", Place::imagined());
        assert_eq!(agent, None);
        let kind = ProblemKind::InvalidFileName { name: "My Agent".to_owned() };
        assert_eq!(found, [Found { line: None, kind }]);
        let (agent, _) = parse("My Agent", "---\nname: mine\n---\nDo it.", Place::imagined());
        assert_eq!(agent.unwrap().name, "mine");
    }

    #[test]
    fn no_tools_are_not_all_tools() {
        let (agent, _) = read("---\ntools: []\n---\nx");
        assert_eq!(agent.unwrap().tools.unwrap().patterns(), [""; 0]);
        assert_eq!(
            problems("---\ntools:\n---\nx"),
            [(Some(2), ProblemKind::Empty { key: "tools" })]
        );
        assert_eq!(
            problems("---\ntools: \"\"\n---\nx"),
            [(Some(2), ProblemKind::Empty { key: "tools" })]
        );
    }

    #[test]
    fn wrong_values_are_errors_in_their_lines_and_unknown_keys_are_not() {
        assert_eq!(
            problems(
                "---\nname: Two Words\nmode: Ask\ntemperature: 2.5\ncolor: mauve\ntools:\n  - read\n  - '['\n\
                 model: [a]\nhooks: x\n---\nx"
            ),
            [
                (Some(2), ProblemKind::InvalidName { name: "Two Words".to_owned() }),
                (Some(3), ProblemKind::UnknownWord { key: "mode", word: "Ask".to_owned() }),
                (Some(4), ProblemKind::OutOfRange { key: "temperature", lowest: 0, highest: 2 }),
                (Some(5), ProblemKind::UnknownWord { key: "color", word: "mauve".to_owned() }),
                (Some(8), ProblemKind::InvalidGlob { glob: "[".to_owned() }),
                (
                    Some(9),
                    ProblemKind::WrongType { key: "model", expected: crate::ValueType::Text }
                ),
                (Some(10), ProblemKind::UnknownKey { key: "hooks".to_owned() }),
            ]
        );
        assert_eq!(
            problems("---\nhooks: x\n---\nx"),
            [(Some(2), ProblemKind::UnknownKey { key: "hooks".to_owned() })]
        );
        assert_eq!(problems("---\nname: a\n---\n"), [(None, ProblemKind::EmptyBody)]);
    }

    #[test]
    fn a_key_that_limits_tools_in_other_programs_is_an_error() {
        for key in [
            "allowed-tools",
            "allowed_tools",
            "allowedTools",
            "disallowedTools",
            "disallowed-tools",
            "disallowed_tools",
        ] {
            let kind = ProblemKind::ForeignLimit { key: key.to_owned(), instead: "tools" };
            assert_eq!(
                problems(&format!("---\nname: a\n{key}: run_command\n---\nx")),
                [(Some(3), kind)]
            );
        }
    }

    #[test]
    fn what_a_body_hides_is_a_warning_with_its_line() {
        let hidden = ProblemKind::HiddenCharacters { key: None };
        assert_eq!(problems("---\nname: a\n---\n\nx\ny\u{e0041}\n"), [(Some(6), hidden)]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>(), yaml in "[-a-z:#&*!|>'\"{}\\[\\], \n]{0,60}", body in any::<String>()) {
            let _ = read(&text);
            let _ = read(&format!("---\n{yaml}\n---\n{body}"));
        }

        #[test]
        fn what_is_written_is_read(
            name in "[a-z0-9][a-z0-9_-]{0,30}",
            description in "[!-~é東]{1,20}( [!-~é東]{1,20}){0,3}",
            model in "[!-~]{1,20}",
            tools in prop::collection::vec("[a-z_*?]{1,12}", 0..6),
            temperature in prop::option::of(0.0..=2.0f64),
            mode in prop::sample::select(&Mode::ALL[..]),
            body in "[!-~é]{1,20}(\n{1,2}[!-~é]{1,20}){0,3}",
        ) {
            let json = |text: &str| serde_json::to_string(text).unwrap();
            let mut front = format!(
                "name: {}\ndescription: {}\nmodel: {}\nmode: {mode}\ntools: {}\n",
                json(&name), json(&description), json(&model), serde_json::to_string(&tools).unwrap(),
            );
            if let Some(temperature) = temperature {
                front.push_str("temperature: ");
                front.push_str(&temperature.to_string());
                front.push('\n');
            }
            let (agent, found) = read(&format!("---\n{front}---\n{body}\n"));
            prop_assert_eq!(found, []);
            let agent = agent.unwrap();
            prop_assert_eq!(agent.name, name);
            prop_assert_eq!(agent.description, Some(description));
            prop_assert_eq!(agent.model, Some(model));
            let read = agent.tools.unwrap();
            prop_assert_eq!(read.patterns(), &tools[..]);
            prop_assert_eq!(agent.temperature, temperature);
            prop_assert_eq!(agent.mode, Some(mode));
            prop_assert_eq!(agent.prompt, body);
        }
    }
}
