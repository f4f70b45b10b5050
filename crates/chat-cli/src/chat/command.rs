//! Parses the commands of a conversation: `/new`, `/model NAME` …

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Begin a new chat.
    New,
    /// Continue this chat.
    Open(String),
    /// List chats, or only those that contain the text.
    Sessions(Option<String>),
    /// List the models, or use this one.
    Model(Option<String>),
    /// Show the folder, or work in this one.
    Project(Option<String>),
    /// Show the mode, or change it.
    Mode(Option<String>),
    /// List the rules.
    Rules,
    /// Remove this rule.
    Forget(String),
    /// Show how full the context window is.
    Context,
    /// Show what will be sent with the next message.
    Prompt,
    /// Summarize earlier messages, or undo that.
    Compact {
        /// Undo it.
        undo: bool,
    },
    /// List the background commands.
    Commands,
    /// End a background command.
    End(String),
    /// Show the commands.
    Help,
    /// End the program.
    Quit,
    /// Not a command that exists.
    Unknown(String),
}

/// Parses a line as a command; none if it is a message. A slash makes a command only if a single
/// word follows, so that messages can begin with paths and fractions.
pub fn read(line: &str) -> Option<Command> {
    let line = line.trim_end();
    let rest = line.strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    let argument = Some(argument.trim().to_owned()).filter(|argument| !argument.is_empty());
    Some(match (name, argument) {
        ("new", None) => Command::New,
        ("open", Some(fid)) => Command::Open(fid),
        ("sessions", search) => Command::Sessions(search),
        ("model" | "models", name) => Command::Model(name),
        ("project", folder) => Command::Project(folder),
        ("mode", mode) => Command::Mode(mode),
        ("rules", None) => Command::Rules,
        ("rules", Some(what)) => match what.split_once(char::is_whitespace) {
            Some(("remove", rule)) => Command::Forget(rule.trim().to_owned()),
            _ => Command::Unknown(format!("{name} {what}")),
        },
        ("context", None) => Command::Context,
        ("prompt", None) => Command::Prompt,
        ("compact", None) => Command::Compact { undo: false },
        ("compact", Some(undo)) if undo == "undo" => Command::Compact { undo: true },
        ("commands", None) => Command::Commands,
        ("end", Some(id)) => Command::End(id),
        ("help", None) => Command::Help,
        ("quit" | "exit", None) => Command::Quit,
        _ => Command::Unknown(name.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        assert_eq!(read("/new"), Some(Command::New));
        assert_eq!(read("/model  qwen3:8b "), Some(Command::Model(Some("qwen3:8b".to_owned()))));
        assert_eq!(read("/sessions"), Some(Command::Sessions(None)));
        assert_eq!(read("/project a b"), Some(Command::Project(Some("a b".to_owned()))));
        assert_eq!(read("/mode"), Some(Command::Mode(None)));
        assert_eq!(read("/commands"), Some(Command::Commands));
        assert_eq!(read("/end out1"), Some(Command::End("out1".to_owned())));
        assert_eq!(read("/rules"), Some(Command::Rules));
        let forget = Command::Forget("run:cargo test *".to_owned());
        assert_eq!(read("/rules remove  run:cargo test *"), Some(forget));
        assert_eq!(read("/compact undo"), Some(Command::Compact { undo: true }));
        assert_eq!(read("/compact now"), Some(Command::Unknown("compact".to_owned())));
        assert_eq!(read("/rules drop x"), Some(Command::Unknown("rules drop x".to_owned())));
        assert_eq!(read("/nonsense a"), Some(Command::Unknown("nonsense".to_owned())));
        for message in ["hello /new", "/etc/passwd is what?", "//new", "/ 2", "/Users"] {
            assert_eq!(read(message), None, "{message}");
        }
    }
}
