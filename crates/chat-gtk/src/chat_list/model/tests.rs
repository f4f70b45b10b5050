//! Chats for the tests of the list's model, and its rows.

use chat_core::event::SessionPlaceholder;
use chat_core::message::{Fid, SessionMeta};
use jiff::{Timestamp, ToSpan};

use super::{Model, items};

/// A chat or an agent that was last active this long after the epoch.
pub(super) fn session(name: &str, parent: Option<&str>, minutes: i64) -> SessionPlaceholder {
    let time = Timestamp::UNIX_EPOCH + minutes.minutes();
    SessionMeta {
        fid: Fid::new(name),
        title: name.to_owned(),
        parent: parent.map(Fid::new),
        created: time,
        updated: time,
        ..SessionMeta::default()
    }
    .into()
}

/// The titles in all rows.
pub(super) fn rows(model: &Model) -> Vec<String> {
    items(model.all()).map(|item| item.title()).collect()
}
