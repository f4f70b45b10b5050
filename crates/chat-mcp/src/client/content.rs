//! Reads what servers put into resources and prompts: texts, and bytes in base64. All within bounds, and each piece for
//! itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat_core::error::ServerFault;
use chat_core::tool::ServerPart;
use serde_json::Value;

use super::Fault;
use super::pages::text;
use crate::http::HttpFault;
use crate::transport::CutOff;

/// So many bytes are taken of one resource or prompt.
const MOST: usize = 10 * 1024 * 1024;
/// The longest name of a piece, in characters.
const NAME: usize = 80;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) parts: Vec<ServerPart>,
    size: usize,
}

impl Content {
    /// Says whose contents follow.
    pub(super) fn add_heading(&mut self, contents: &Value) {
        self.add_text(&text(contents, "uri", 10 * NAME), "uri");
    }

    /// Adds the contents of a resource.
    pub(super) fn add_contents(&mut self, contents: &Value) {
        let name = name(&text(contents, "uri", 100 * NAME));
        let bytes = contents.get("blob").and_then(Value::as_str);
        match (contents.get("text").and_then(Value::as_str), bytes) {
            (Some(text), _) => self.add_text(text, &name),
            (None, Some(bytes)) => self.add_bytes(bytes, name, text(contents, "mimeType", NAME)),
            (None, None) => self.parts.push(ServerPart::Unreadable(name)),
        }
    }

    /// Adds a block of a message.
    pub(super) fn add_block(&mut self, block: &Value) {
        let kind = text(block, "type", NAME);
        let string = |key: &str| block.get(key).and_then(Value::as_str);
        match (kind.as_str(), string("text"), string("data"), block.get("resource")) {
            ("text", Some(text), ..) => self.add_text(text, ""),
            ("image" | "audio", _, Some(bytes), _) => {
                self.add_bytes(bytes, kind, text(block, "mimeType", NAME));
            }
            ("resource", .., Some(contents)) => self.add_contents(contents),
            ("resource_link", ..) => {
                let titles = ["title", "name"].map(|key| text(block, key, NAME));
                let title = titles.into_iter().find(|title| !title.is_empty()).unwrap_or_default();
                let link = ServerPart::Link { title, uri: text(block, "uri", 25 * NAME) };
                self.parts.push(link);
            }
            _ => self.parts.push(ServerPart::Unreadable(kind)),
        }
    }

    fn add_text(&mut self, text: &str, name: &str) {
        let part = if self.takes(text.len()) {
            ServerPart::Text(text.to_owned())
        } else {
            ServerPart::Unreadable(name.to_owned())
        };
        self.parts.push(part);
    }

    fn add_bytes(&mut self, base64: &str, name: String, mime: String) {
        let decoded =
            if self.takes(base64.len() / 4 * 3) { STANDARD.decode(base64).ok() } else { None };
        self.parts.push(match decoded {
            Some(data) => ServerPart::Data { name, mime, data: data.into() },
            None => ServerPart::Unreadable(name),
        });
    }

    /// Whether there is room for so many bytes more, which are counted then.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.size + bytes <= MOST;
        if fits {
            self.size += bytes;
        }
        fits
    }
}

/// The name in a URI.
fn name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    path.rsplit(['/', ':']).next().unwrap_or_default().chars().take(NAME).collect()
}

impl From<Fault> for ServerFault {
    fn from(fault: Fault) -> Self {
        match fault {
            fault if fault.challenge().is_some() => Self::SignIn,
            Fault::TimedOut | Fault::Http(HttpFault::TimedOut) => Self::TimedOut,
            Fault::Closed(Some(CutOff::TooLong(_))) | Fault::Http(HttpFault::TooLarge) => {
                Self::TooLarge
            }
            Fault::Unauthorized(_) => Self::SignIn,
            Fault::Invalid | Fault::Http(HttpFault::NotMcp) => Self::Invalid,
            Fault::Closed(_) | Fault::Stopped | Fault::Http(_) => Self::NotConnected,
            Fault::Refused { message, .. } => {
                Self::Refused { message: message.chars().take(1_000).collect() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(block: &Value) -> Vec<ServerPart> {
        let mut content = Content::default();
        content.add_block(block);
        content.parts
    }

    #[test]
    fn each_kind_of_block_is_read() {
        let text = |text: &str| ServerPart::Text(text.to_owned());
        let odd = |what: &str| ServerPart::Unreadable(what.to_owned());
        let data = |name: &str, mime: &str| ServerPart::Data {
            name: name.to_owned(),
            mime: mime.to_owned(),
            data: [1, 2, 3].into(),
        };
        let link = ServerPart::Link { title: "A".to_owned(), uri: "a:b".to_owned() };
        let cases = [
            (json!({ "type": "text", "text": "hello" }), text("hello")),
            (
                json!({ "type": "image", "data": "AQID", "mimeType": "image/png" }),
                data("image", "image/png"),
            ),
            (json!({ "type": "image", "data": "!", "mimeType": "image/png" }), odd("image")),
            (json!({ "type": "resource", "resource": { "uri": "a:/b", "text": "b" } }), text("b")),
            (
                json!({ "type": "resource", "resource": { "uri": "a:/b.bin?x", "blob": "AQID" } }),
                data("b.bin", ""),
            ),
            (json!({ "type": "resource", "resource": { "uri": "a:b/" } }), odd("b")),
            (json!({ "type": "resource_link", "uri": "a:b", "name": "A" }), link),
            (json!({ "type": "hologram", "data": "AQID" }), odd("hologram")),
            (json!(5), odd("")),
        ];
        for (block, part) in cases {
            assert_eq!(read(&block), [part], "{block}");
        }
    }

    #[test]
    fn what_is_too_large_is_left_out_and_what_is_small_is_not() {
        let mut content = Content::default();
        let large = "A".repeat(MOST / 3 * 4 + 8);
        content.add_block(&json!({ "type": "image", "data": large }));
        content.add_block(&json!({ "type": "text", "text": "a".repeat(MOST) }));
        content.add_block(&json!({ "type": "text", "text": "b" }));
        let is_left_out =
            content.parts.iter().map(|part| matches!(part, ServerPart::Unreadable(_)));
        assert_eq!(is_left_out.collect::<Vec<_>>(), [true, false, true]);
    }
}
