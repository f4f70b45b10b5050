//! Tells pictures by their first bytes: exports give them any name.

use crate::chat::{ImportedPart, Missing};

/// A file that goes with a message: a picture, a text, or a note that it cannot be taken over.
pub(crate) fn part(name: &str, data: Option<Vec<u8>>) -> ImportedPart {
    let name = name.to_owned();
    let Some(data) = data else { return ImportedPart::Missing(Missing::File { name }) };
    if let Some(mime) = mime(&data) {
        return ImportedPart::Image { mime, data };
    }
    match String::from_utf8(data) {
        Ok(text) if !text.contains('\0') => ImportedPart::File { name, text },
        _ => ImportedPart::Missing(Missing::File { name }),
    }
}

fn mime(data: &[u8]) -> Option<&'static str> {
    match data {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
