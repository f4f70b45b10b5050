//! Words what becomes of chats: pinned, archived, deleted.

use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};

pub fn ask_delete(title: &str, agents: usize) -> String {
    if agents == 0 {
        return fill(&gettext("Delete “{title}”? [y/N] "), &[("title", title)]);
    }
    let question = ngettext(
        "Delete “{title}” and its {n} agent? [y/N] ",
        "Delete “{title}” and its {n} agents? [y/N] ",
        u32::try_from(agents).unwrap_or(u32::MAX),
    );
    fill(&question, &[("title", title), ("n", &agents.to_string())])
}

pub fn deleted(title: &str, fid: &str) -> String {
    let text = gettext(
        "Moved “{title}” to the trash for 30 days. Restore it with: natter-cli trash restore {fid}",
    );
    fill(&text, &[("title", title), ("fid", fid)])
}

pub fn trash_is_empty() -> String {
    gettext("The trash is empty.")
}

pub fn restored_chat(title: &str) -> String {
    fill(&gettext("Restored “{title}”."), &[("title", title)])
}

pub fn deleted_messages(count: usize, id: &str) -> String {
    let text = ngettext(
        "Moved {n} message to the trash for 30 days. Restore it with: natter-cli trash restore {id}",
        "Moved {n} messages to the trash for 30 days. Restore them with: natter-cli trash restore {id}",
        u32::try_from(count).unwrap_or(u32::MAX),
    );
    fill(&text, &[("n", &count.to_string()), ("id", id)])
}

pub fn restored_messages(count: usize, title: &str) -> String {
    let text = ngettext(
        "Restored {n} message of “{title}”.",
        "Restored {n} messages of “{title}”.",
        u32::try_from(count).unwrap_or(u32::MAX),
    );
    fill(&text, &[("n", &count.to_string()), ("title", title)])
}

pub fn ask_delete_for_good(chats: usize, messages: usize) -> String {
    if messages == 0 {
        let question = ngettext(
            "Permanently delete {n} chat? It can’t be restored. [y/N] ",
            "Permanently delete {n} chats? They can’t be restored. [y/N] ",
            u32::try_from(chats).unwrap_or(u32::MAX),
        );
        return fill(&question, &[("n", &chats.to_string())]);
    }
    if chats == 0 {
        let question = ngettext(
            "Permanently delete {n} message? It can’t be restored. [y/N] ",
            "Permanently delete {n} messages? They can’t be restored. [y/N] ",
            u32::try_from(messages).unwrap_or(u32::MAX),
        );
        return fill(&question, &[("n", &messages.to_string())]);
    }
    let counted = |text: String, count: usize| fill(&text, &[("n", &count.to_string())]);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let chats = counted(ngettext("{n} chat", "{n} chats", number(chats)), chats);
    let messages = counted(ngettext("{n} message", "{n} messages", number(messages)), messages);
    let question =
        gettext("Permanently delete {chats} and {messages}? They can’t be restored. [y/N] ");
    fill(&question, &[("chats", &*chats), ("messages", &*messages)])
}

pub fn pinned() -> String {
    gettext("pinned")
}

pub fn archived() -> String {
    gettext("archived")
}
