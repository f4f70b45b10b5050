//! Words why a file cannot be attached.

use chat_core::error::AttachmentFault;
use gettextrs::gettext;

use super::fill;

/// Says what is wrong with a file of this name, and what to do.
pub(super) fn sentence(name: &str, fault: AttachmentFault) -> String {
    let words = match fault {
        AttachmentFault::Missing => gettext("Can’t attach “{name}” because it doesn’t exist."),
        AttachmentFault::Unreadable => {
            gettext("Can’t attach “{name}” because it can’t be read. Check its permissions.")
        }
        AttachmentFault::Folder => {
            gettext("Can’t attach “{name}” because it’s a folder. Open it as a project instead.")
        }
        AttachmentFault::NotAFile => {
            gettext("Can’t attach “{name}” because it isn’t a regular file.")
        }
        AttachmentFault::TooLarge { .. } => {
            gettext("Can’t attach “{name}” because it’s larger than {limit} MB.")
        }
        AttachmentFault::Unsupported => gettext(
            "Can’t attach “{name}” because files of its kind can’t be read. Text, images, PDF, Word, Excel, PowerPoint, CSV and HTML can.",
        ),
        AttachmentFault::Broken => {
            gettext("Can’t attach “{name}” because it’s damaged or isn’t what its name says.")
        }
        AttachmentFault::Encrypted => gettext(
            "Can’t attach “{name}” because it’s protected by a password. Save a copy without one and attach that.",
        ),
        AttachmentFault::NoText => gettext(
            "Can’t attach “{name}” because it contains no text. If its pages are scanned, attach them as images.",
        ),
        AttachmentFault::TooMuch => {
            gettext("Can’t attach “{name}” because reading it takes too much memory or time.")
        }
        AttachmentFault::NoDecoder => gettext(
            "Can’t attach “{name}” because the program that reads such files, natter-decoder, didn’t start. Install Natter again.",
        ),
        AttachmentFault::NotConfined => gettext(
            "Can’t attach “{name}” because this system doesn’t support seccomp, which Natter needs to read such files safely.",
        ),
    };
    let limit = match fault {
        AttachmentFault::TooLarge { limit } => limit.to_string(),
        _ => String::new(),
    };
    fill(&words, &[("name", name), ("limit", &limit)])
}
