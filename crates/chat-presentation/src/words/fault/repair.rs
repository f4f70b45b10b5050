//! Words what became of a damaged database.

use std::path::Path;

use chat_core::error::MissingMessages;
use gettextrs::{gettext, ngettext};

use crate::words::fill;

/// How many chats are named one by one.
const NAMED: usize = 5;

pub(super) fn repaired(kept_as: &Path, missing: &[MissingMessages], from_backup: bool) -> String {
    let path = kept_as.display().to_string();
    let fill_path = |sentence: &str| fill(sentence, &[("path", &path)]);
    if missing.is_empty() {
        return fill_path(&if from_backup {
            gettext(
                "Your stored chats were damaged and have been repaired. Lost messages were restored from a backup. The damaged file is kept as “{path}”.",
            )
        } else {
            gettext(
                "Your stored chats were damaged and have been repaired. Nothing is missing. The damaged file is kept as “{path}”.",
            )
        });
    }
    let mut chats: Vec<String> = missing
        .iter()
        .take(NAMED)
        .map(|chat| {
            fill(
                "“{title}” ({count})",
                &[("title", &chat.title), ("count", &chat.count.to_string())],
            )
        })
        .collect();
    if missing.len() > NAMED {
        chats.push("…".to_owned());
    }
    let count: u32 = missing.iter().fold(0, |all, chat| all.saturating_add(chat.count));
    let sentence = ngettext(
        "Your stored chats were damaged and have been repaired, but {count} message is missing: {chats}. The damaged file is kept as “{path}”.",
        "Your stored chats were damaged and have been repaired, but {count} messages are missing: {chats}. The damaged file is kept as “{path}”.",
        count,
    );
    let values = [("count", count.to_string()), ("chats", chats.join(", ")), ("path", path)];
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fill(&sentence, &values)
}
