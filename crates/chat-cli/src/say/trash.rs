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

pub fn ask_delete_for_good(count: usize) -> String {
    let question = ngettext(
        "Permanently delete {n} chat? It can’t be restored. [y/N] ",
        "Permanently delete {n} chats? They can’t be restored. [y/N] ",
        u32::try_from(count).unwrap_or(u32::MAX),
    );
    fill(&question, &[("n", &count.to_string())])
}

pub fn pinned() -> String {
    gettext("pinned")
}

pub fn archived() -> String {
    gettext("archived")
}
