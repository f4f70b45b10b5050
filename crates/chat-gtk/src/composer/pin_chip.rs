//! Describes pins on their chips: icon, name, and what is attached for them.

use chat_core::message::Mention;
use chat_presentation::words::fill;
use gettextrs::gettext;

use super::chips::{Along, Chip};
use super::written::{Pin, Pinned};
use crate::letters::plain;

/// How much of a pasted text its tooltip shows, in bytes.
const GLIMPSE: usize = 400;

/// The chip of the pin at this position.
pub(super) fn chip(at: usize, pin: &Pin) -> Chip {
    let (icon, tooltip) = match &pin.what {
        Pinned::Text(text) => {
            let glimpse = &text[..text.floor_char_boundary(GLIMPSE)];
            let more = if glimpse.len() < text.len() { "…" } else { "" };
            ("edit-paste-symbolic", format!("{}{more}", glimpse.trim_end()))
        }
        _ if pin.is_picture() => ("image-x-generic-symbolic", pin.label.clone()),
        Pinned::Picture(_) | Pinned::Attached(_) | Pinned::Unread(_) => {
            ("text-x-generic-symbolic", pin.label.clone())
        }
        Pinned::Mention(mention) => (icon(mention), tooltip(mention)),
    };
    let act = matches!(pin.what, Pinned::Text(_)).then(|| gettext("Add to Message"));
    Chip {
        along: Along::Pin(at),
        icon,
        thumbnail: pin.thumbnail().cloned(),
        is_coming: pin.awaited().is_some() || matches!(pin.what, Pinned::Unread(_)),
        act,
        label: pin.label.clone(),
        detail: pin.detail(),
        tooltip,
    }
}

/// The icon of a mention.
pub(crate) fn icon(mention: &Mention) -> &'static str {
    match mention {
        Mention::File { .. } => "text-x-generic-symbolic",
        Mention::Folder { .. } => "folder-symbolic",
        Mention::Symbol { .. } => "natter-symbol-symbolic",
        Mention::Chat { .. } => "chat-message-new-symbolic",
        Mention::Diff => "document-edit-symbolic",
        Mention::Page { .. } => "web-browser-symbolic",
        Mention::Resource { .. } => "network-server-symbolic",
    }
}

fn tooltip(mention: &Mention) -> String {
    match mention {
        Mention::File { path, .. } | Mention::Folder { path } => path.display().to_string(),
        Mention::Symbol { path, lines: (from, to), .. } => {
            format!("{}:{from}–{to}", path.display())
        }
        Mention::Chat { .. } => gettext("Attached: the messages in this chat"),
        Mention::Diff => gettext("Attached: changes since the last commit"),
        Mention::Page { url, text } if text.is_empty() => {
            fill(&gettext("Fetching {url}…"), &[("url", url)])
        }
        Mention::Page { url, .. } => url.clone(),
        Mention::Resource { server, uri, .. } => fill(
            &gettext("Attached: {uri} of the MCP server “{server}”"),
            &[("uri", &plain(uri)), ("server", server)],
        ),
    }
}
