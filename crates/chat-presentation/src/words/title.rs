//! Titles of chats.

use gettextrs::gettext;

use super::fill;

/// The title of the copy of a chat.
pub fn title_of_copy(title: &str) -> String {
    fill(&gettext("{title} (copy)"), &[("title", title)])
}
