//! Holds the files that go with a message: their chips appear at once, what they hold when it was read.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chat_core::attachment::{AttachmentReader, ReadAttachment, Thumbnail};
use chat_core::message::Attachment;
use chat_presentation::words::{bytes, fill, grouped};
use gettextrs::{gettext, ngettext};
use gtk::glib;
use serde::{Deserialize, Serialize};

use super::written::{Pin, Pinned, Written};
use super::{Composer, Inner, Output};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attached {
    /// The checksum of what it holds and of its name: under it, drafts keep it.
    pub(crate) key: String,
    pub(crate) read: ReadAttachment,
}

/// A file that is still to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unread {
    /// Tells it from all others of this run.
    #[serde(skip, default = "next_id")]
    pub(crate) id: u64,
    pub(crate) source: Source,
}

/// Where a file is read from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    File(PathBuf),
    /// What has no file.
    Bytes {
        name: String,
        #[serde(with = "as_base64")]
        data: Arc<[u8]>,
    },
    /// The clipboard is still handing it over: there is nothing to be kept yet.
    #[serde(skip)]
    Clipboard {
        name: String,
    },
}

// What a file holds is in no log.
impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Source").field(&self.name()).finish()
    }
}

impl Source {
    fn name(&self) -> String {
        match self {
            Self::File(path) => {
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
            Self::Bytes { name, .. } | Self::Clipboard { name } => name.clone(),
        }
    }
}

/// Bytes as text in JSON.
mod as_base64 {
    use std::sync::Arc;

    use gtk::glib;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(data: &Arc<[u8]>, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&glib::base64_encode(data))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<[u8]>, D::Error> {
        Ok(glib::base64_decode(&String::deserialize(from)?).into())
    }
}

impl Unread {
    /// The checksum under which drafts keep what is nowhere else; none where a file has it. Takes a moment for much.
    pub(crate) fn key(&self) -> Option<String> {
        match &self.source {
            // It is another one than that of the same once it was read.
            Source::Bytes { name, data } => Some(checksum(&[b"unread", name.as_bytes(), data])),
            Source::File(_) | Source::Clipboard { .. } => None,
        }
    }
}

/// The checksum of these parts.
fn checksum(parts: &[&[u8]]) -> String {
    let mut key = glib::Checksum::new(glib::ChecksumType::Sha256).expect("GLib knows SHA-256");
    for part in parts {
        key.update(part);
    }
    key.string().unwrap_or_default()
}

/// What was to be read under this id is this now; none if it could not be had. Whether one of the pins waited for it.
fn take_in(pins: &mut Vec<Arc<Pin>>, id: u64, what: Option<Pinned>) -> bool {
    let is_it = |pin: &Arc<Pin>| pin.unread().is_some_and(|unread| unread.id == id);
    let Some(at) = pins.iter().position(is_it) else { return false };
    match what {
        Some(what) => pins[at] = Arc::new(Pin { what, ..Pin::clone(&pins[at]) }),
        None => drop(pins.remove(at)),
    }
    true
}

impl Attached {
    /// Computes the checksum, which takes a moment for a large file.
    pub(crate) fn new(read: ReadAttachment) -> Self {
        let content: &[u8] = match &read.attachment {
            Attachment::Image { data, .. } => data,
            Attachment::File { text, .. } => text.as_bytes(),
            Attachment::Command(command) => command.text.as_bytes(),
        };
        Self { key: checksum(&[read.name.as_bytes(), content]), read }
    }

    /// What is sent, under this name.
    pub(super) fn named(&self, name: &str) -> Attachment {
        match &self.read.attachment {
            Attachment::File { text, .. } => {
                Attachment::File { name: name.to_owned(), text: text.clone() }
            }
            other => other.clone(),
        }
    }
}

impl Pin {
    /// What is still to be read for it.
    fn unread(&self) -> Option<&Unread> {
        match &self.what {
            Pinned::Unread(unread) => Some(unread),
            _ => None,
        }
    }

    /// The small picture of what was read.
    pub(super) fn thumbnail(&self) -> Option<&Thumbnail> {
        match &self.what {
            Pinned::Attached(attached) => attached.read.thumbnail.as_ref(),
            _ => None,
        }
    }

    /// How much a file is, or that it is being read.
    pub(super) fn detail(&self) -> Option<String> {
        match &self.what {
            Pinned::Unread(_) => Some(gettext("Reading…")),
            Pinned::Attached(attached) => {
                let ReadAttachment { size, tokens, .. } = attached.read;
                let count = u32::try_from(tokens).unwrap_or(u32::MAX);
                let words = ngettext("{size}, ≈ {count} token", "{size}, ≈ {count} tokens", count);
                Some(fill(&words, &[("size", &bytes(size)), ("count", &grouped(tokens))]))
            }
            _ => None,
        }
    }

    /// Whether it is a picture.
    pub(super) fn is_picture(&self) -> bool {
        let attachment = match &self.what {
            Pinned::Picture(attachment) => attachment,
            Pinned::Attached(attached) => &attached.read.attachment,
            _ => return false,
        };
        matches!(attachment, Attachment::Image { .. })
    }
}

impl Written {
    /// What was to be read under this id is this now; none if it could not be had. Whether it was waited for.
    pub(crate) fn file_came(&mut self, id: u64, what: Option<Pinned>) -> bool {
        take_in(&mut self.pins, id, what)
    }

    /// The same with small pictures of its pictures, as far as they can be made.
    pub(crate) async fn with_thumbnails(mut self, reader: &AttachmentReader) -> Self {
        for pin in &mut self.pins {
            let Pinned::Picture(picture) = &pin.what else { continue };
            let Attachment::Image { data, .. } = picture else { continue };
            let Ok(read) = reader.read_bytes(&pin.label, Arc::clone(data)).await else { continue };
            // What goes out is what was to.
            let read = ReadAttachment { attachment: picture.clone(), ..read };
            let what = Pinned::Attached(Box::new(Attached::new(read)));
            *pin = Arc::new(Pin { what, ..Pin::clone(pin) });
        }
        self
    }
}

impl Composer {
    /// Attaches files, as soon as they were read.
    pub(crate) fn attach(&self, files: Vec<PathBuf>) {
        self.inner.attach(files.into_iter().map(Source::File).collect());
    }

    /// A file was read; none if it could not be. Returns whether it was still wanted.
    pub(crate) fn file_came(&self, id: u64, read: Option<Attached>) -> bool {
        self.inner.file_came(id, read.map(|read| Pinned::Attached(Box::new(read))))
    }

    /// Whether a picture goes with the message.
    pub(crate) fn has_pictures(&self) -> bool {
        self.inner.has_pictures()
    }
}

impl Inner {
    /// Pins these, in this order, and returns their ids.
    pub(super) fn attach(&self, sources: Vec<Source>) -> Vec<u64> {
        let mut ids = Vec::with_capacity(sources.len());
        for source in sources {
            let (id, label) = (next_id(), self.free_label(&source.name()));
            let what = Pinned::Unread(Unread { id, source });
            self.pins.borrow_mut().push(Arc::new(Pin { label, word: None, what }));
            ids.push(id);
        }
        self.pins_changed();
        ids
    }

    /// What was to be read is this now; none if it could not be had.
    pub(super) fn file_came(&self, id: u64, what: Option<Pinned>) -> bool {
        let came = take_in(&mut self.pins.borrow_mut(), id, what);
        if came {
            self.pins_changed();
        }
        came
    }

    fn has_pictures(&self) -> bool {
        self.read.borrow().live.iter().any(|pin| pin.is_picture())
    }

    pub(super) fn is_reading(&self) -> bool {
        self.read.borrow().live.iter().any(|pin| pin.unread().is_some())
    }

    /// Reports which files are to be read, if they have changed, and whether pictures are attached.
    pub(super) fn tell_files(&self) {
        let wanted: Vec<Unread> = {
            let read = self.read.borrow();
            let unread = read.live.iter().filter_map(|pin| pin.unread());
            let is_there = |unread: &&Unread| !matches!(unread.source, Source::Clipboard { .. });
            unread.filter(is_there).cloned().collect()
        };
        let ids: Vec<u64> = wanted.iter().map(|unread| unread.id).collect();
        if *self.requested_files.borrow() != ids {
            self.requested_files.replace(ids);
            self.tell(Output::Files(wanted));
        }
        let has_pictures = self.has_pictures();
        if self.had_pictures.replace(has_pictures) != has_pictures {
            self.tell(Output::Pictures);
        }
    }
}

fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A text file that was read.
    pub(crate) fn text_file(name: &str, text: &str) -> Attached {
        Attached::new(ReadAttachment {
            name: name.to_owned(),
            size: text.len() as u64,
            tokens: 1,
            thumbnail: None,
            attachment: Attachment::File { name: name.to_owned(), text: text.to_owned() },
        })
    }

    #[test]
    fn what_holds_the_same_has_the_same_key() {
        assert_eq!(text_file("a", "text").key, text_file("a", "text").key);
        assert_ne!(text_file("a", "text").key, text_file("b", "text").key);
        assert_ne!(text_file("a", "text").key, text_file("a", "other").key);
    }
}
