//! Defines the text that a command in a message stands for.

use serde::{Deserialize, Serialize};

/// What the user means by `/name …` at the beginning of a message: the text of the command or skill of that name, as
/// it was when the message was sent. The message itself stays as typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandText {
    /// The name of the command, without its slash.
    pub name: String,
    /// The text, with the arguments put in.
    pub text: String,
}

impl CommandText {
    /// The text for the model, in English.
    pub fn for_model(&self) -> String {
        let Self { name, text } = self;
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("The user’s message begins with /{name}. It stands for:\n\n{text}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_what_the_name_stands_for() {
        let command = CommandText { name: "fix".to_owned(), text: "Fix #12.".to_owned() };
        let expected = "The user’s message begins with /fix. It stands for:\n\nFix #12.\n";
        assert_eq!(command.for_model(), expected);
    }
}
