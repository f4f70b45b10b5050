//! Chooses how an answer is given to a model: as text, a picture, or a description.

use reqwest::Url;

use super::answer::{Answer, Cut};
use super::charset;
use super::page::{self, Form};

/// The content of an answer for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageContent {
    /// Text.
    Text {
        /// The page's title.
        title: Option<String>,
        /// The text.
        text: String,
        /// A remark about it.
        note: Option<&'static str>,
    },
    /// A picture of this type.
    Picture(&'static str),
    /// Something else, described.
    Other(String),
}

/// The kind of an answer, by its type and its first bytes.
enum Kind {
    Page,
    Text,
    Picture(&'static str),
    Other,
}

/// Converts an answer for a model. This takes a while, so do not call it on a thread that must
/// respond.
pub fn content_of(answer: &Answer, form: Form) -> PageContent {
    let text = |is_page| charset::decode(&answer.bytes, answer.charset.as_deref(), is_page);
    match kind(&answer.mime, &answer.bytes) {
        Kind::Page => {
            let page = page::read(&text(true), &answer.url, form);
            let note = page.whole.then_some("No main content was found: this is the whole page.");
            PageContent::Text { title: page.title, text: page.text, note }
        }
        Kind::Text => {
            let is_marked_up = answer.mime.ends_with("xml") || answer.bytes.starts_with(b"<?xml");
            PageContent::Text { title: None, text: text(is_marked_up), note: None }
        }
        Kind::Picture(mime) => PageContent::Picture(mime),
        Kind::Other if answer.mime.is_empty() => {
            PageContent::Other("data of an unknown type".to_owned())
        }
        Kind::Other => PageContent::Other(answer.mime.clone()),
    }
}

fn kind(mime: &str, bytes: &[u8]) -> Kind {
    if let Some(picture) = picture(bytes) {
        return Kind::Picture(picture);
    }
    let says_nothing = matches!(mime, "" | "application/octet-stream" | "binary/octet-stream");
    let marked = |text: &[u8]| bytes.starts_with(text);
    let wide = marked(b"\xff\xfe") || marked(b"\xfe\xff");
    match mime {
        "text/html" | "application/xhtml+xml" => Kind::Page,
        _ if says_nothing && looks_like_a_page(bytes) => Kind::Page,
        _ if (is_text_type(mime) || says_nothing) && (wide || charset::is_text(bytes)) => {
            Kind::Text
        }
        _ => Kind::Other,
    }
}

/// Text types whose name does not begin with `text/`.
fn is_text_type(mime: &str) -> bool {
    let Some((family, name)) = mime.split_once('/') else { return false };
    let name = name.strip_prefix("x-").unwrap_or(name);
    family == "text"
        || name.ends_with("+json")
        || name.ends_with("+xml")
        || name.ends_with("+yaml")
        || (family == "application"
            && matches!(
                name,
                "json"
                    | "ndjson"
                    | "jsonlines"
                    | "xml"
                    | "javascript"
                    | "ecmascript"
                    | "yaml"
                    | "toml"
                    | "sql"
                    | "sh"
                    | "shellscript"
                    | "typescript"
                    | "tex"
                    | "markdown"
                    | "graphql"
                    | "www-form-urlencoded"
            ))
}

fn looks_like_a_page(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]).trim_start().to_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// A picture's type by its first bytes, since the server's declaration is not trusted.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The heading of an answer: its source, and whether it is complete.
pub fn heading(url: &Url, title: Option<&str>, cut: Option<Cut>, note: Option<&str>) -> String {
    let mut heading = url.to_string();
    if let Some(title) = title {
        heading.push_str("\nTitle: ");
        heading.push_str(title);
    }
    let missing = cut.map(|cut| match cut {
        Cut::Size(kilobytes) => {
            format!("Only the first {kilobytes} kB were received. There is more.")
        }
        Cut::Time(seconds) => format!("The rest did not arrive within {seconds} s."),
    });
    if let Some(missing) = missing {
        heading.push('\n');
        heading.push_str(&missing);
    }
    if let Some(note) = note {
        heading.push('\n');
        heading.push_str(note);
    }
    heading
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn answer(mime: &str, bytes: &[u8]) -> Answer {
        Answer {
            url: Url::parse("https://example.org/").unwrap(),
            mime: mime.to_owned(),
            charset: None,
            bytes: bytes.to_vec(),
            cut: None,
        }
    }

    #[rstest]
    #[case("application/json", b"{\"a\": 1}", "{\"a\": 1}")]
    #[case("application/ld+json", b"{}", "{}")]
    #[case("text/plain", b"<b>not a page</b>", "<b>not a page</b>")]
    #[case("", b"words", "words")]
    #[case("application/octet-stream", b"words", "words")]
    #[case("application/x-yaml", b"a: 1", "a: 1")]
    #[case("image/svg+xml", b"<svg/>", "<svg/>")]
    #[case("text/plain", b"\xff\xfea\0", "a")]
    #[case("text/html", b"<p>words", "words")]
    #[case("", b"\n <!DOCTYPE html><p>words", "words")]
    fn text_is_text(#[case] mime: &str, #[case] bytes: &[u8], #[case] text: &str) {
        let PageContent::Text { text: shown, .. } = content_of(&answer(mime, bytes), Form::Full)
        else {
            panic!("{mime} is no text");
        };
        assert_eq!(shown, text);
    }

    #[rstest]
    #[case("image/png", b"\x89PNG\r\n\x1a\n...", "image/png")]
    #[case("text/html", b"\xff\xd8\xff\xe0", "image/jpeg")]
    #[case("", b"GIF89a", "image/gif")]
    #[case("application/octet-stream", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp")]
    fn pictures_are_known_by_their_bytes(
        #[case] mime: &str,
        #[case] bytes: &[u8],
        #[case] picture: &'static str,
    ) {
        assert_eq!(content_of(&answer(mime, bytes), Form::Markdown), PageContent::Picture(picture));
    }

    #[rstest]
    #[case("application/pdf", b"%PDF-1.7", "application/pdf")]
    #[case("image/png", b"no picture", "image/png")]
    #[case("text/plain", b"a\0b", "text/plain")]
    #[case("", b"\0\0", "data of an unknown type")]
    #[case("audio/ogg", b"OggS", "audio/ogg")]
    fn other_things_are_named(#[case] mime: &str, #[case] bytes: &[u8], #[case] what: &str) {
        assert_eq!(
            content_of(&answer(mime, bytes), Form::Markdown),
            PageContent::Other(what.to_owned())
        );
    }

    #[test]
    fn the_heading_tells_what_is_missing() {
        let url = Url::parse("https://example.org/").unwrap();
        let heading = heading(&url, Some("Bees"), Some(Cut::Size(5)), Some("Note."));
        assert_eq!(
            heading,
            "https://example.org/\nTitle: Bees\nOnly the first 5 kB were received. There is more.\nNote."
        );
    }
}
