//! Makes texts and pictures of what servers give. What cannot be shown is named, so that nobody thinks it was sent.

use std::path::Path;
use std::sync::Arc;

use crate::attachment::AttachmentReader;
use crate::message::Attachment;
use crate::tool::{PromptMessage, ServerPart};

/// The longest text of one resource or prompt, in bytes.
const MOST: usize = 256 * 1024;
/// So many pictures are taken of one.
const MOST_PICTURES: usize = 20;

/// What goes with a message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Converted {
    pub(super) text: String,
    pub(super) pictures: Vec<Attachment>,
}

/// The messages of a prompt. One of the user's alone stands for itself; of several it is said whose they are.
pub(super) async fn of_messages(messages: Vec<PromptMessage>) -> Converted {
    let is_one = matches!(&messages[..], [PromptMessage { is_model: false, .. }]);
    let mut all = Converted::default();
    for PromptMessage { is_model, parts } in messages {
        if !is_one {
            all.begin(if is_model { "Assistant:" } else { "User:" });
        }
        all.add(parts).await;
    }
    all.cut();
    all
}

/// The parts of a resource.
pub(super) async fn of(parts: Vec<ServerPart>) -> Converted {
    let mut all = Converted::default();
    all.add(parts).await;
    all.cut();
    all
}

impl Converted {
    async fn add(&mut self, parts: Vec<ServerPart>) {
        for part in parts {
            match part {
                ServerPart::Text(text) => self.line(&text),
                ServerPart::Data { name, mime, data } => self.add_data(&name, &mime, data).await,
                ServerPart::Link { title, uri } if title.is_empty() => self.line(&uri),
                ServerPart::Link { title, uri } => self.line(&format!("{title}: {uri}")),
                ServerPart::Unreadable(what) => self.left_out(&what, "not readable"),
            }
        }
    }

    /// Pictures and documents are read as attached files are, by the decoder in its sandbox.
    async fn add_data(&mut self, name: &str, mime: &str, data: Arc<[u8]>) {
        let size = data.len();
        let file = file_name(name, mime);
        match AttachmentReader::default().read_bytes(&file, data).await {
            Ok(read) => match read.attachment {
                Attachment::File { text, .. } => self.line(&text),
                Attachment::Image { .. } if self.pictures.len() == MOST_PICTURES => {
                    self.left_out(&file, "too many pictures");
                }
                picture @ Attachment::Image { .. } => {
                    self.line(&format!("(picture attached: {file})"));
                    self.pictures.push(picture);
                }
                Attachment::Command(_) => {}
            },
            Err(_) => self.left_out(&file, &format!("{size} bytes that are not text")),
        }
    }

    fn left_out(&mut self, what: &str, why: &str) {
        let what = if what.is_empty() { "something" } else { what };
        self.line(&format!("({what} is left out: {why})"));
    }

    /// Begins a section.
    fn begin(&mut self, heading: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(heading);
    }

    /// Adds whole lines.
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn cut(&mut self) {
        if self.text.len() > MOST {
            self.text.truncate(self.text.floor_char_boundary(MOST));
            self.text.push_str("\n(cut here)\n");
        }
    }
}

/// A name by which it is seen what kind of file it is.
fn file_name(name: &str, mime: &str) -> String {
    let kind = mime.split(';').next().unwrap_or_default().trim();
    let ending = match kind.split_once('/') {
        Some((_, "jpeg")) => "jpg",
        Some((_, "svg+xml")) => "svg",
        Some(("text", "plain")) => "txt",
        Some((_, ending)) if ending.chars().all(|c| c.is_ascii_alphanumeric()) => ending,
        _ => "",
    };
    let stem = if name.is_empty() { "file" } else { name };
    if ending.is_empty() || Path::new(stem).extension().is_some() {
        stem.to_owned()
    } else {
        format!("{stem}.{ending}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(is_model: bool, text: &str) -> PromptMessage {
        PromptMessage { is_model, parts: vec![ServerPart::Text(text.to_owned())] }
    }

    #[tokio::test]
    async fn of_several_messages_it_is_said_whose_they_are() {
        let one = of_messages(vec![message(false, "Review this.")]).await;
        assert_eq!(one.text, "Review this.\n");
        let two = of_messages(vec![message(false, "Hello"), message(true, "Hi\n")]).await;
        assert_eq!(two.text, "User:\nHello\n\nAssistant:\nHi\n");
        assert_eq!(of_messages(vec![message(true, "Hi")]).await.text, "Assistant:\nHi\n");
        assert_eq!(of_messages(Vec::new()).await, Converted::default());
    }

    #[tokio::test]
    async fn what_cannot_be_shown_is_named() {
        let link =
            |title: &str| ServerPart::Link { title: title.to_owned(), uri: "a:b".to_owned() };
        let data = ServerPart::Data {
            name: "core".to_owned(),
            mime: "application/octet-stream".to_owned(),
            data: [0, 159, 146, 150].into(),
        };
        let parts = vec![link(""), link("A"), ServerPart::Unreadable("audio".to_owned()), data];
        let expected = "a:b\nA: a:b\n(audio is left out: not readable)\n\
                        (core is left out: 4 bytes that are not text)\n";
        assert_eq!(of(parts).await.text, expected);
    }

    #[tokio::test]
    async fn a_long_text_is_cut() {
        let long = of(vec![ServerPart::Text("ä".repeat(MOST))]).await.text;
        assert!(long.len() < MOST + 16 && long.ends_with("\n(cut here)\n"));
    }

    #[test]
    fn the_kind_of_a_file_is_seen_by_its_name() {
        assert_eq!(file_name("logo", "image/jpeg"), "logo.jpg");
        assert_eq!(file_name("", "image/png"), "file.png");
        assert_eq!(file_name("a.pdf", "application/pdf"), "a.pdf");
        assert_eq!(file_name("core", "application/octet-stream"), "core");
    }
}
