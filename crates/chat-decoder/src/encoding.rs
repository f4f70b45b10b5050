//! Reads bytes as text, in the encoding that they are in.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Where a page names its encoding, it does so at its beginning.
const BEGINNING: usize = 1_024;

/// A text with a byte order mark or in UTF-8; else in the old encoding of Western Europe.
pub fn text(data: &[u8]) -> Cow<'_, str> {
    let guess = if std::str::from_utf8(data).is_ok() { UTF_8 } else { WINDOWS_1252 };
    // It looks for the mark itself.
    guess.decode(data).0
}

/// The same for a page, which may name its encoding.
pub fn page(data: &[u8]) -> Cow<'_, str> {
    match named(data) {
        Some(encoding) if std::str::from_utf8(data).is_err() => encoding.decode(data).0,
        _ => text(data),
    }
}

fn named(data: &[u8]) -> Option<&'static Encoding> {
    let start = data.get(..BEGINNING).unwrap_or(data).to_ascii_lowercase();
    let key = b"charset=";
    let at = start.windows(key.len()).position(|part| part == key)? + key.len();
    let name = start[at..].strip_prefix(b"\"").unwrap_or(&start[at..]);
    let end = name.iter().position(|byte| b"\"' ;/>".contains(byte))?;
    Encoding::for_label(&name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_its_encoding() {
        assert_eq!(text("Käse".as_bytes()), "Käse");
        assert_eq!(text(b"K\xe4se"), "Käse");
        assert_eq!(text(b"\xef\xbb\xbfa"), "a");
        assert_eq!(text(b"\xff\xfeK\0\xe4\0"), "Kä");
        assert_eq!(page(b"<meta charset=\"koi8-r\">\xc1"), "<meta charset=\"koi8-r\">а");
        assert_eq!(page(b"<meta charset=nonsense>\xe4"), "<meta charset=nonsense>ä");
    }
}
