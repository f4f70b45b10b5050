//! Words what is wrong with an export of chats.

use chat_core::error::{ChatImportFault, ImportFault};
use gettextrs::gettext;

/// The sentence for an export, with a place for its path.
pub(super) fn file(fault: ImportFault) -> String {
    match fault {
        ImportFault::Unreadable => {
            gettext("Couldn’t read “{path}”. Check its permissions, then try again.")
        }
        ImportFault::Empty => gettext("“{path}” is empty. Download it again, then import it."),
        ImportFault::Unknown => gettext(
            "“{path}” has no chats that Natter can import. Choose an export of ChatGPT, Claude, OLLMchat or Natter.",
        ),
        ImportFault::Truncated => gettext(
            "“{path}” is incomplete, so the chats at its end are missing. Download it again, then import the rest.",
        ),
        ImportFault::Archive => gettext(
            "Couldn’t unpack “{path}” because it’s damaged, encrypted or of an unknown kind. Unpack it yourself, then import the folder.",
        ),
        ImportFault::UnsafePath => gettext(
            "“{path}” would unpack files outside its folder, so it wasn’t read. Import only exports that you downloaded yourself.",
        ),
        ImportFault::Bomb => gettext(
            "“{path}” unpacks to far more than an export of chats. Import only exports that you downloaded yourself.",
        ),
    }
}

pub(super) fn chat(fault: ChatImportFault) -> String {
    match fault {
        ChatImportFault::Form => gettext(
            "Natter doesn’t recognize this chat’s format. Update Natter, then import it again.",
        ),
        ChatImportFault::TooLarge => gettext("This chat is too large to import."),
        ChatImportFault::Empty => {
            gettext("This chat has no messages, so there is nothing to import.")
        }
        ChatImportFault::Newer => gettext(
            "This chat was exported by a newer version of Natter. Update Natter, then import it again.",
        ),
    }
}
