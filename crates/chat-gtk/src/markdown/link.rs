//! Decides which addresses may be opened, and how an address is shown.

use std::fmt::Write as _;

/// Whether an address may be opened: only web pages and mail. Everything else is shown as text.
pub fn is_safe_address(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else { return false };
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => rest.starts_with("//") && rest.len() > 2,
        "mailto" => !rest.is_empty(),
        _ => false,
    }
}

/// Whether an address is itself a picture.
pub fn is_picture_address(address: &str) -> bool {
    let is_it = |start: &str| start.eq_ignore_ascii_case("data:image/");
    address.get(..11).is_some_and(is_it) && address.contains(";base64,")
}

/// The address with every character escaped that could disguise it: control characters, invisible
/// ones, and those that change the writing direction.
pub fn visible_address(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for c in address.chars() {
        if c.is_control() || is_deceptive(c) {
            let _ = write!(out, "\\u{{{:X}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a character is invisible, or changes how others are drawn.
fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
        || (c.is_whitespace() && c != ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_and_mail_are_opened() {
        for safe in ["http://a.b", "HTTPS://a.b/c?d#e", "mailto:a@b.c"] {
            assert!(is_safe_address(safe), "{safe}");
        }
        for unsafe_ in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "a/b",
            "",
            "http:",
            "https://",
            " http://a.b",
            "mailto:",
        ] {
            assert!(!is_safe_address(unsafe_), "{unsafe_}");
        }
    }

    #[test]
    fn what_deceives_is_shown_escaped() {
        assert_eq!(visible_address("https://a.b/\u{202E}gpj.exe"), "https://a.b/\\u{202E}gpj.exe");
        assert_eq!(visible_address("https://a\u{200B}.b\n"), "https://a\\u{200B}.b\\u{A}");
        assert_eq!(visible_address("https://ä.de/x y"), "https://ä.de/x y");
    }
}
