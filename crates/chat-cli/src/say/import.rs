//! Words what is imported.

use std::path::Path;

use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How far an import is.
pub fn importing(chats: usize) -> String {
    let words = ngettext("{n} chat read", "{n} chats read", number(chats));
    fill(&words, &[("n", &chats.to_string())])
}

pub fn imported(chats: usize) -> String {
    let words = ngettext("Imported {n} chat.", "Imported {n} chats.", number(chats));
    fill(&words, &[("n", &chats.to_string())])
}

/// Chats that were imported before.
pub fn already_here(chats: usize) -> String {
    let words = ngettext("{n} chat is already here.", "{n} chats are already here.", number(chats));
    fill(&words, &[("n", &chats.to_string())])
}

/// What exports hold.
pub fn found_chats(chats: usize, programs: &str, messages: usize) -> String {
    let count = ngettext("{n} message", "{n} messages", number(messages));
    let count = fill(&count, &[("n", &messages.to_string())]);
    let words = ngettext(
        "{n} chat from {programs}, with {messages}.",
        "{n} chats from {programs}, with {messages}.",
        number(chats),
    );
    fill(&words, &[("n", &chats.to_string()), ("programs", programs), ("messages", &count)])
}

pub fn time_of_chats(oldest: &str, newest: &str) -> String {
    let words = gettext("The oldest is from {oldest}, the newest from {newest}.");
    fill(&words, &[("oldest", oldest), ("newest", newest)])
}

pub fn not_imported(title: &str, reason: &str) -> String {
    fill(&gettext("“{title}”: {reason}"), &[("title", title), ("reason", reason)])
}

/// The same of a chat whose title cannot be read.
pub fn not_imported_untitled(place: usize, path: &Path, reason: &str) -> String {
    let place = place.to_string();
    let path = path.display().to_string();
    let words = gettext("Chat {place} in “{path}”: {reason}");
    fill(&words, &[("place", &place), ("path", &path), ("reason", reason)])
}

pub fn import_stopped() -> String {
    gettext(
        "Import stopped. The chats imported so far stay. Run the same command again to import the rest.",
    )
}
