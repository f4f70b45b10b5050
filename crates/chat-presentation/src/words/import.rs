//! Words what is imported.

use chat_core::exports::Program;
use chat_core::manager::{ImportPreview, MissingParts, UnreadableChat};
use gettextrs::{gettext, ngettext};

use super::{fill, one_line, sentence};

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How far an import is.
pub fn importing(chats: usize) -> String {
    let words = ngettext("{n} chat read", "{n} chats read", number(chats));
    fill(&words, &[("n", &chats.to_string())])
}

/// How many chats were imported.
pub fn imported(chats: usize) -> String {
    let words = ngettext("Imported {n} chat.", "Imported {n} chats.", number(chats));
    fill(&words, &[("n", &chats.to_string())])
}

/// How many chats were imported before.
pub fn already_here(chats: usize) -> String {
    let words = ngettext("{n} chat is already here.", "{n} chats are already here.", number(chats));
    fill(&words, &[("n", &chats.to_string())])
}

/// What exports hold; none where there is no chat.
pub fn found_chats(preview: &ImportPreview) -> Option<String> {
    let ImportPreview { programs, chats, messages, .. } = preview;
    let programs: Vec<_> = programs.iter().copied().map(Program::title).collect();
    let count = ngettext("{n} message", "{n} messages", number(*messages));
    let count = fill(&count, &[("n", &messages.to_string())]);
    let words = ngettext(
        "{n} chat from {programs}, with {messages}.",
        "{n} chats from {programs}, with {messages}.",
        number(*chats),
    );
    let values =
        [("n", &*chats.to_string()), ("programs", &programs.join(", ")), ("messages", &count)];
    (*chats > 0).then(|| fill(&words, &values))
}

/// When the first of the chats began, and the last was active.
pub fn time_of_chats(oldest: &str, newest: &str) -> String {
    let words = gettext("The oldest is from {oldest}, the newest from {newest}.");
    fill(&words, &[("oldest", oldest), ("newest", newest)])
}

/// A chat that is not imported again.
pub fn one_already_here(title: &str) -> String {
    fill(&gettext("“{title}” is already here."), &[("title", &one_line(title))])
}

/// What is missing in chats that are imported, a sentence each.
pub fn missing_parts(missing: MissingParts) -> Vec<String> {
    let files = ngettext(
        "{n} file isn’t in the export, or isn’t a picture or text. A note stands in its place.",
        "{n} files aren’t in the export, or aren’t pictures or text. A note stands in their place.",
        number(missing.files),
    );
    let contents = ngettext(
        "{n} part of a message is of an unknown kind. A note stands in its place.",
        "{n} parts of messages are of an unknown kind. A note stands in their place.",
        number(missing.contents),
    );
    let counted = |(count, words): (usize, String)| {
        (count > 0).then(|| fill(&words, &[("n", &count.to_string())]))
    };
    [(missing.files, files), (missing.contents, contents)].into_iter().filter_map(counted).collect()
}

/// Why a chat is not imported.
pub fn not_imported(chat: &UnreadableChat) -> String {
    let reason = sentence(&chat.error);
    if let Some(title) = &chat.title {
        return fill(&gettext("“{title}”: {reason}"), &[("title", title), ("reason", &reason)]);
    }
    let (place, path) = (chat.place.to_string(), chat.path.display().to_string());
    let words = gettext("Chat {place} in “{path}”: {reason}");
    fill(&words, &[("place", &place), ("path", &path), ("reason", &reason)])
}
