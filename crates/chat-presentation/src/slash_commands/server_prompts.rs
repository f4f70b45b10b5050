//! Offers the prompts of MCP servers as `/server:prompt name=value …`, and reads the values.

use std::collections::BTreeMap;
use std::sync::Arc;

use chat_core::error::{Kind, ServerFailure, ServerFault, ServerItem};
use chat_core::tool::{PromptEntry, ServerOffer};
use gettextrs::gettext;

use super::{CommandKind, SlashCommand, SlashCommands};
use crate::words::{hides, line_within};

/// The longest name of a prompt that is typed, in characters.
const NAME: usize = 80;
/// The longest description, in characters.
const DESCRIPTION: usize = 200;

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerPrompt {
    /// The server's name in the configuration.
    pub server: String,
    /// The prompt, as the server describes it.
    pub prompt: PromptEntry,
}

impl ServerPrompt {
    /// The values in what was typed behind the name: `name=value`, with quotes around a value with blanks. Other words
    /// are the value of the first argument that is needed and missing, or of the only one.
    pub fn values(&self, typed: &str) -> BTreeMap<String, String> {
        let arguments = &self.prompt.arguments;
        let mut values = BTreeMap::new();
        let mut rest = typed.trim();
        while let Some((name, after)) = arguments.iter().find_map(|argument| {
            let after = rest.strip_prefix(&argument.name)?.strip_prefix('=')?;
            Some((&argument.name, after))
        }) {
            let (value, after) = value(after);
            values.insert(name.clone(), value);
            rest = after.trim_start();
        }
        values.retain(|_, value| !value.is_empty());
        let only = arguments.first().filter(|_| arguments.len() == 1);
        let open = self.missing(&values).or(only.map(|argument| argument.name.as_str()));
        if let Some(name) = open.filter(|name| !rest.is_empty() && !values.contains_key(*name)) {
            values.insert(name.to_owned(), rest.to_owned());
        }
        values
    }

    /// The first argument that is needed and has no value.
    pub fn missing(&self, values: &BTreeMap<String, String>) -> Option<&str> {
        let mut needed = self.prompt.arguments.iter().filter(|argument| argument.is_required);
        needed.find(|it| !values.contains_key(&it.name)).map(|it| it.name.as_str())
    }

    /// These values as they are typed, in the order of the arguments.
    pub fn typed(&self, values: &BTreeMap<String, String>) -> String {
        let given = self.prompt.arguments.iter().filter_map(|argument| {
            let value = values.get(&argument.name).filter(|value| !value.is_empty())?;
            let is_plain = !value.starts_with('"') && !value.contains(char::is_whitespace);
            let value = if is_plain { value.clone() } else { quoted(value) };
            Some(format!("{}={value}", argument.name))
        });
        given.collect::<Vec<_>>().join(" ")
    }

    /// What it is called.
    pub fn title(&self) -> String {
        let PromptEntry { title, name, .. } = &self.prompt;
        line_within(if title.is_empty() { name } else { title }, NAME)
    }

    pub(super) fn argument_missing(&self, argument: &str) -> Kind {
        let failure = ServerFailure {
            server: self.server.clone(),
            item: ServerItem::Prompt(self.prompt.name.clone()),
            why: ServerFault::ArgumentMissing { argument: argument.to_owned() },
        };
        Kind::ServerContext { failure: Box::new(failure) }
    }

    fn command(self, name: String) -> SlashCommand {
        let arguments = self.prompt.arguments.iter().map(|argument| {
            let name = line_within(&argument.name, NAME);
            if argument.is_required { format!("{name}=…") } else { format!("[{name}=…]") }
        });
        let arguments = arguments.collect::<Vec<_>>().join(" ");
        let PromptEntry { title, description, .. } = &self.prompt;
        let description = match (title.trim(), description.trim()) {
            (title, "") => title.to_owned(),
            ("", description) => description.to_owned(),
            (title, description) => format!("{title}: {description}"),
        };
        let description = line_within(&description, DESCRIPTION);
        SlashCommand { kind: CommandKind::Prompt(Arc::new(self)), name, arguments, description }
    }
}

impl SlashCommands {
    /// The same with the prompts of these servers, and of no others. Of a server that was not asked yet, its name is
    /// offered.
    #[must_use]
    pub fn with_servers(mut self, servers: &[Arc<ServerOffer>]) -> Self {
        self.list.retain(|command| !command.is_of_server());
        self.unasked.clear();
        self.servers.clear();
        for offer in servers {
            self.servers.push(offer.server.clone());
            let Some(prompts) = &offer.prompts else {
                self.unasked.push(offer.server.clone());
                self.list.push(SlashCommand {
                    kind: CommandKind::Server,
                    name: format!("{}:", offer.server),
                    arguments: String::new(),
                    description: gettext("Prompts of this MCP server"),
                });
                continue;
            };
            for prompt in prompts {
                let name = self.free_name(&offer.server, &prompt.name);
                let prompt = ServerPrompt { server: offer.server.clone(), prompt: prompt.clone() };
                self.list.push(prompt.command(name));
            }
        }
        self
    }

    /// The server whose prompt a text begins with, if it was not asked for its prompts yet.
    pub fn unasked(&self, text: &str) -> Option<&str> {
        let (server, _) = text.strip_prefix('/')?.split_once(':')?;
        self.unasked.iter().find(|name| *name == server).map(String::as_str)
    }

    /// The server whose name alone is typed, `/server:`, and its prompts.
    pub fn of_server<'a>(&'a self, text: &'a str) -> Option<(&'a str, Vec<&'a SlashCommand>)> {
        let server = text.trim_end().strip_prefix('/')?.strip_suffix(':')?;
        let is_of_it = |command: &&SlashCommand| match &command.kind {
            CommandKind::Prompt(prompt) => prompt.server == server,
            _ => false,
        };
        let is_known = self.servers.iter().any(|name| name == server);
        is_known.then(|| (server, self.list.iter().filter(is_of_it).collect()))
    }

    /// Whether a command may have a name that begins like this.
    pub fn may_begin(&self, name: &str) -> bool {
        let is_plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_');
        let is_of_server = |server: &String| match name.split_once(':') {
            Some((named, _)) => named == server,
            None => server.starts_with(name),
        };
        name.chars().all(is_plain)
            || !name.contains(char::is_whitespace) && self.servers.iter().any(is_of_server)
    }

    /// The word that a text begins with, if it is the name of a server with something behind a colon, and what
    /// follows it.
    pub(super) fn server_word<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let (name, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        let (server, _) = name.split_once(':')?;
        self.servers.iter().any(|name| name == server).then(|| (name, rest.trim()))
    }

    /// A name for a prompt that can be typed, and that no other has.
    fn free_name(&self, server: &str, prompt: &str) -> String {
        let typed = |c: char| if c.is_whitespace() || hides(c) { '_' } else { c };
        let prompt: String = prompt.chars().take(NAME).map(typed).collect();
        let name = format!("{server}:{prompt}");
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let is_free = |name: &String| self.list.iter().all(|command| command.name != *name);
        names.find(is_free).unwrap_or(name.clone())
    }
}

/// The value that a text begins with, and what follows it.
fn value(text: &str) -> (String, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut value = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => return (value, &quoted[at + 1..]),
                '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                letter => value.push(letter),
            }
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (text[..end].to_owned(), &text[end..])
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests;
