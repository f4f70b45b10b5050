//! Decodes the bytes of a page in any encoding.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far a page is searched for the declaration of its encoding, as in the HTML standard.
const PRESCAN: usize = 1024;

/// Decodes bytes: by their byte order mark, by the server's declaration, by the page's own
/// declaration, as UTF-8 if it is valid, and otherwise as browsers do. `is_page`: whether it may
/// have its own declaration; another text may merely mention one.
pub fn decode(bytes: &[u8], said: Option<&str>, is_page: bool) -> String {
    let said = said.and_then(|label| Encoding::for_label(label.as_bytes()));
    let in_page = || if is_page { in_page(bytes) } else { None };
    let encoding = said.or_else(in_page).unwrap_or_else(|| guess(bytes));
    // A byte order mark overrides any declaration.
    encoding.decode(bytes).0.into_owned()
}

/// The encoding in `<meta charset=…>` or `<?xml encoding=…?>`.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
    let label = ["charset=", "encoding="].iter().find_map(|word| {
        let rest = &head[head.find(word)? + word.len()..];
        let rest = rest.trim_start_matches(['"', '\'', ' ']);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:".contains(c));
        Some(&rest[..end.unwrap_or(rest.len())])
    })?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A page whose `<meta>` could be read is not encoded in two-byte units.
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

/// UTF-8 if nothing but its end is invalid, where a character may have been cut.
fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    }
}

/// Whether bytes look like text: there is no NUL among the first ones.
pub fn is_text(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 8192;
    !bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::utf8("Grüße".as_bytes(), None, "Grüße")]
    #[case::said(b"Gr\xfc\xdfe", Some("ISO-8859-1"), "Grüße")]
    #[case::unsaid(b"Gr\xfc\xdfe", None, "Grüße")]
    #[case::unknown(b"Gr\xfc\xdfe", Some("no-such"), "Grüße")]
    #[case::in_page(b"<meta charset=\"koi8-r\">\xf0\xd2\xc9", None, "<meta charset=\"koi8-r\">При")]
    #[case::http_equiv(
        b"<meta http-equiv=content-type content='text/html; charset=shift_jis'>\x93\xfa",
        None,
        "<meta http-equiv=content-type content='text/html; charset=shift_jis'>日"
    )]
    #[case::server_wins(
        b"<meta charset=koi8-r>\xe4",
        Some("windows-1252"),
        "<meta charset=koi8-r>ä"
    )]
    #[case::mark_wins(b"\xef\xbb\xbf\xc3\xbc", Some("windows-1252"), "ü")]
    #[case::wide(b"\xff\xfea\0b\0", None, "ab")]
    #[case::lying_page(b"<meta charset=utf-16>a", None, "<meta charset=utf-16>a")]
    #[case::cut_in_a_letter(b"Gr\xc3", None, "Gr\u{fffd}")]
    fn encodings_are_found(#[case] bytes: &[u8], #[case] said: Option<&str>, #[case] text: &str) {
        assert_eq!(decode(bytes, said, true), text);
    }

    #[test]
    fn a_text_that_speaks_of_encodings_is_in_none_of_them() {
        let text = "Use charset=iso-8859-1, said Müller.";
        assert_eq!(decode(text.as_bytes(), None, false), text);
        assert_ne!(decode(text.as_bytes(), None, true), text);
    }

    #[test]
    fn what_has_a_nul_is_no_text() {
        assert!(is_text("naïve".as_bytes()));
        assert!(!is_text(b"PK\x03\x04\0\0"));
    }
}
