//! Tells commands from messages.
//!
//! A slash and one plain word are meant as a command. If none has that name, the text is not sent: it would cost a
//! request, and `/cler` would do something else than what its user wants. Claude Code, Codex and Zed do the same. The
//! front ends keep the text and name the nearest command. Anything else is a message: a path (`/etc/hosts is …`),
//! a comment (`// …`), a fraction (`/2`). Two slashes send a word as text.

use std::borrow::Cow;

use chat_core::message::{Attachment, Content};
use gettextrs::gettext;

use super::{BuiltIn, CommandKind, SlashCommand, SlashCommands};
use crate::words::{fill, unusable_command};

/// Names have at most so many letters.
const LONGEST: usize = 64;

/// What a text is.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed<'a> {
    /// A message, to be sent like this.
    Message(Cow<'a, str>),
    /// A built-in command with its arguments.
    BuiltIn(BuiltIn, &'a str),
    /// A message that begins with a command, whose text is sent with it, and the arguments.
    Command(&'a SlashCommand, &'a str),
    /// No command has this name. The nearest one has another.
    Unknown(&'a str, Option<&'a str>),
    /// There is a file of this command that is not in use. The words say why.
    Unusable(String),
    /// This built-in command takes no arguments, but has some.
    Unexpected(BuiltIn),
}

impl SlashCommands {
    /// What a text is that was typed as a message.
    pub fn read<'a>(&'a self, text: &'a str) -> Typed<'a> {
        let Some(rest) = text.strip_prefix('/') else { return Typed::Message(text.into()) };
        // `//tmp` is a message that begins with one slash, while `// fix this` stays as it is.
        if let Some(escaped) = rest.strip_prefix('/') {
            let is_word = command_word(escaped).or_else(|| self.server_word(escaped)).is_some();
            return Typed::Message(if is_word { rest } else { text }.into());
        }
        let Some((name, arguments)) = command_word(rest).or_else(|| self.server_word(rest)) else {
            return Typed::Message(text.into());
        };
        match self.named(name).map(|command| (&command.kind, command)) {
            Some((CommandKind::BuiltIn(built_in), command)) => {
                if arguments.is_empty() || !command.arguments.is_empty() {
                    Typed::BuiltIn(*built_in, arguments)
                } else {
                    Typed::Unexpected(*built_in)
                }
            }
            Some((CommandKind::Server, _)) => Typed::Unknown(name, None),
            Some((_, command)) => Typed::Command(command, arguments),
            None if name.starts_with(|c: char| c.is_ascii_digit()) => Typed::Message(text.into()),
            None => match unusable_command(name, &self.definitions) {
                Some(words) => Typed::Unusable(words),
                None => Typed::Unknown(name, self.nearest(name)),
            },
        }
    }

    /// The name that was probably meant.
    fn nearest(&self, name: &str) -> Option<&str> {
        let most = if name.len() < 5 { 1 } else { 2 };
        let names = || self.list.iter().map(|command| command.name.as_str());
        let distances = names().map(|other| (strsim::osa_distance(name, other), other));
        let near = distances.filter(|(distance, _)| *distance <= most).min_by_key(|near| near.0);
        let begins = |other: &&str| name.len() > 1 && other.starts_with(name);
        near.map(|(_, other)| other).or_else(|| names().find(begins))
    }
}

/// The word that a text begins with, if a command may have that name, and what follows it.
fn command_word(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.len() <= LONGEST
        && name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_'));
    is_name.then_some((name, rest.trim()))
}

/// A message as it was typed. If it begins like a command and has no text of one, it was typed with two slashes.
pub fn as_typed(content: &Content) -> String {
    let text = &content.text;
    let is_command = |attachment: &Attachment| matches!(attachment, Attachment::Command(_));
    let word = text.strip_prefix('/').and_then(command_word);
    let is_escaped = word
        .is_some_and(|(name, _)| name.starts_with(|c: char| c.is_ascii_lowercase()))
        && !content.attachments.iter().any(is_command);
    if is_escaped { format!("/{text}") } else { text.clone() }
}

/// Says that no command has a name.
pub fn unknown_words(name: &str, nearest: Option<&str>) -> String {
    match nearest {
        Some(other) => fill(
            &gettext(
                "There is no command /{name}. Did you mean /{other}? To send it as text, start with //.",
            ),
            &[("name", name), ("other", other)],
        ),
        None => fill(
            &gettext(
                "There is no command /{name}. Type /help for a list. To send it as text, start with //.",
            ),
            &[("name", name)],
        ),
    }
}

/// Says that a command takes no arguments.
pub fn unexpected_words(command: BuiltIn) -> String {
    fill(&gettext("/{name} takes no arguments."), &[("name", command.name())])
}

/// Says which arguments a command takes.
pub fn invalid_words(command: BuiltIn, argument: &str, valid: &str) -> String {
    fill(
        &gettext("“{argument}” isn’t valid for /{name}. Use one of: {valid}."),
        &[("name", command.name()), ("argument", argument), ("valid", valid)],
    )
}

/// Says that these files or skills are not used, since other commands have their names. None if there are none.
pub fn shadowed_words(names: &[String]) -> Option<String> {
    let all: Vec<_> = names.iter().map(|name| format!("/{name}")).collect();
    let text =
        gettext("Rename your commands or skills to use them, since these names are taken: {names}");
    (!all.is_empty()).then(|| fill(&text, &[("names", &all.join(", "))]))
}
