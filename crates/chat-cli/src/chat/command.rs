//! Parses the commands that only the terminal has: `/open FID`, `/rules` …

/// A command that only the terminal has. The others are those of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Continue this chat.
    Open(String),
    /// List chats, or only those that contain the text.
    Sessions(Option<String>),
    /// Show the folder, or work in this one.
    Project(Option<String>),
    /// List the rules.
    Rules,
    /// Remove this rule.
    Forget(String),
    /// List the agents of this chat.
    Agents,
    /// Stop the agent of this name, or all.
    StopAgents(String),
    /// Close the agent of this name, or all.
    CloseAgents(String),
    /// Show how full the context window is.
    Context,
    /// Show what will be sent with the next message.
    Prompt,
    /// List the background commands.
    Commands,
    /// End a background command.
    End(String),
    /// End the program.
    Quit,
    /// One of these with wrong arguments.
    Unknown(String),
}

/// Parses a line as a command of the terminal; none if it is something else.
pub fn read(line: &str) -> Option<Command> {
    let line = line.trim_end();
    let rest = line.strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let argument = Some(argument.trim().to_owned()).filter(|argument| !argument.is_empty());
    Some(match (name, argument) {
        ("open", Some(fid)) => Command::Open(fid),
        ("sessions", search) => Command::Sessions(search),
        ("project", folder) => Command::Project(folder),
        ("rules", None) => Command::Rules,
        ("rules", Some(what)) => match what.split_once(char::is_whitespace) {
            Some(("remove", rule)) => Command::Forget(rule.trim().to_owned()),
            _ => Command::Unknown(format!("{name} {what}")),
        },
        ("agents", None) => Command::Agents,
        ("agents", Some(what)) => match what.split_once(char::is_whitespace) {
            Some(("stop", name)) => Command::StopAgents(name.trim().to_owned()),
            Some(("close", name)) => Command::CloseAgents(name.trim().to_owned()),
            _ => Command::Unknown(format!("{name} {what}")),
        },
        ("context", None) => Command::Context,
        ("prompt", None) => Command::Prompt,
        ("commands", None) => Command::Commands,
        ("end", Some(id)) => Command::End(id),
        ("quit" | "exit", None) => Command::Quit,
        ("open" | "context" | "prompt" | "commands" | "end" | "quit" | "exit", _) => {
            Command::Unknown(name.to_owned())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        assert_eq!(read("/sessions"), Some(Command::Sessions(None)));
        assert_eq!(read("/project a b"), Some(Command::Project(Some("a b".to_owned()))));
        assert_eq!(read("/commands"), Some(Command::Commands));
        assert_eq!(read("/end out1"), Some(Command::End("out1".to_owned())));
        assert_eq!(read("/rules"), Some(Command::Rules));
        let forget = Command::Forget("run:cargo test *".to_owned());
        assert_eq!(read("/rules remove  run:cargo test *"), Some(forget));
        assert_eq!(read("/agents"), Some(Command::Agents));
        let stop = Command::StopAgents("explorer".to_owned());
        assert_eq!(read("/agents stop explorer"), Some(stop));
        assert_eq!(read("/agents close all"), Some(Command::CloseAgents("all".to_owned())));
        assert_eq!(read("/agents stop"), Some(Command::Unknown("agents stop".to_owned())));
        assert_eq!(read("/rules drop x"), Some(Command::Unknown("rules drop x".to_owned())));
        assert_eq!(read("/open"), Some(Command::Unknown("open".to_owned())));
        for message in ["hello /open", "/etc/passwd is what?", "//open", "/ 2", "/model", "/Open"] {
            assert_eq!(read(message), None, "{message}");
        }
    }
}
