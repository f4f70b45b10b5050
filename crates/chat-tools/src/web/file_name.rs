//! Builds the file name of a fetched page from its address, which is untrusted.

use reqwest::Url;

/// The longest name, in bytes.
const LONGEST: usize = 100;

/// Invisible letters: the fillers of Hangul.
const BLANK: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];

/// A file name that contains no folder, is not hidden, and has nothing that a shell or a file
/// system treats specially.
pub fn of(url: &Url, mime: &str) -> String {
    let last = url.path().rsplit('/').next().unwrap_or_default();
    let decoded = decode(last);
    let mut name = clean(&decoded);
    if name.is_empty() {
        name = clean(url.host_str().unwrap_or_default().trim_matches(['[', ']']));
        if name.is_empty() {
            "page".clone_into(&mut name);
        }
        // What follows a host's last dot is not an extension.
        name.push('.');
        name.push_str(ending(mime).unwrap_or("bin"));
    } else if !has_ending(&name)
        && let Some(ending) = ending(mime)
    {
        name.push('.');
        name.push_str(ending);
    }
    name
}

/// The same with a number before its extension: `page-2.html`.
pub fn numbered(name: &str, number: u32) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) if has_ending(name) => format!("{stem}-{number}.{ending}"),
        _ => format!("{name}-{number}"),
    }
}

fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=8).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Keeps letters, digits and harmless punctuation.
fn clean(name: &str) -> String {
    let mut clean = String::new();
    for c in name.chars() {
        let is_plain = c.is_alphanumeric() && !BLANK.contains(&c);
        let c = if is_plain || "-_.+@".contains(c) { c } else { '-' };
        if clean.len() + c.len_utf8() > LONGEST {
            break;
        }
        clean.push(c);
    }
    clean.trim_matches(['.', '-', ' ']).to_owned()
}

/// Decodes `%C3%BC`.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match byte {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The usual extension of a type.
fn ending(mime: &str) -> Option<&'static str> {
    Some(match mime {
        "text/html" | "application/xhtml+xml" => "html",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "text/css" => "css",
        "text/csv" => "csv",
        "text/javascript" | "application/javascript" => "js",
        "application/json" => "json",
        "application/xml" | "text/xml" => "xml",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://example.org/a/page.html?x=1", "text/html", "page.html")]
    #[case("https://example.org/a/page", "text/html", "page.html")]
    #[case("https://example.org/", "text/html", "example.org.html")]
    #[case("https://example.org", "application/x-odd", "example.org.bin")]
    #[case("https://[2606:4700::1111]/", "text/html", "2606-4700--1111.html")]
    #[case("https://example.org/v1.2/release-1.2.3", "application/json", "release-1.2.3")]
    #[case("https://example.org/archive.tar.gz", "application/gzip", "archive.tar.gz")]
    #[case("https://example.org/Gr%C3%BC%C3%9Fe%20an%20alle.txt", "", "Grüße-an-alle.txt")]
    #[case("https://example.org/..%2F..%2Fetc%2Fpasswd", "", "etc-passwd")]
    #[case("https://example.org/.bashrc", "text/plain", "bashrc.txt")]
    #[case("https://example.org/%2egit", "", "git")]
    #[case("https://example.org/a%00b%0ac.sh", "", "a-b-c.sh")]
    #[case("https://example.org/--rf%20$(id)", "", "rf---id")]
    #[case("https://example.org/%zz%", "", "zz")]
    #[case("https://example.org/a.pdf%E3%85%A4%EF%BE%A0.sh", "", "a.pdf--.sh")]
    #[case("https://example.org/%E3%85%A4", "text/html", "example.org.html")]
    fn names_are_harmless(#[case] url: &str, #[case] mime: &str, #[case] name: &str) {
        assert_eq!(of(&Url::parse(url).unwrap(), mime), name);
    }

    #[rstest]
    #[case("page.html", "page-2.html")]
    #[case("page", "page-2")]
    #[case("a.tar.gz", "a.tar-2.gz")]
    fn numbers_stand_before_the_ending(#[case] name: &str, #[case] numbered: &str) {
        assert_eq!(super::numbered(name, 2), numbered);
    }

    proptest! {
        #[test]
        fn every_address_gives_a_plain_name(path in ".{0,200}", mime in "[a-z/]{0,12}") {
            let mut url = Url::parse("https://example.org/").unwrap();
            url.set_path(&path);
            let name = of(&url, &mime);
            prop_assert!(!name.is_empty() && !name.starts_with(['.', '-']) && name.len() < 120);
            prop_assert!(!name.contains(['/', '\\', '\0', '\n', ' ', '$', '`', '"', '\'', ';']));
        }
    }
}
