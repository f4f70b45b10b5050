//! Attaches copied and dropped files, and pictures from the clipboard.

use std::path::PathBuf;
use std::rc::Rc;

use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::gtk::prelude::*;

use super::attached::{Source, Unread};
use super::written::Pinned;
use super::{Inner, Output};

/// The pictures that are taken from the clipboard, and what their names end with. The first that is there is taken.
const PICTURES: [(&str, &str); 6] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/webp", "webp"),
    ("image/gif", "gif"),
    ("image/tiff", "tiff"),
    ("image/bmp", "bmp"),
];
/// So much is taken from the clipboard, in bytes; a larger picture could not be attached.
const MOST: usize = 200 << 20;
/// So much is taken at once, in bytes.
const STEP: usize = 1 << 20;

impl Inner {
    /// Attaches the files or the picture of the clipboard, if it has some and no text. Returns whether it has.
    pub(super) fn paste_files(self: &Rc<Self>, clipboard: &gdk::Clipboard) -> bool {
        let formats = clipboard.formats();
        if has_files(&formats) {
            let (weak, clipboard) = (Rc::downgrade(self), clipboard.clone());
            glib::spawn_future_local(async move {
                let priority = glib::Priority::DEFAULT;
                let list =
                    clipboard.read_value_future(gdk::FileList::static_type(), priority).await;
                let list = list.ok().and_then(|list| list.get::<gdk::FileList>().ok());
                if let (Some(inner), Some(list)) = (weak.upgrade(), list) {
                    inner.attach_list(&list);
                }
            });
            return true;
        }
        // A table, too, comes as a picture of itself.
        let has_text = formats.clone().union_deserialize_types().contains_type(glib::Type::STRING);
        let offered = formats.union_serialize_mime_types();
        let picture = PICTURES.into_iter().find(|(kind, _)| offered.contain_mime_type(kind));
        let Some((kind, ending)) = picture.filter(|_| !has_text) else { return false };
        let name = format!("{}.{ending}", gettext("Pasted image"));
        let Some(id) = self.attach(vec![Source::Clipboard { name: name.clone() }]).pop() else {
            return true;
        };
        let (weak, clipboard) = (Rc::downgrade(self), clipboard.clone());
        glib::spawn_future_local(async move {
            let data = copied(&clipboard, kind).await;
            let Some(inner) = weak.upgrade() else { return };
            let what = data.map(|data| {
                Pinned::Unread(Unread { id, source: Source::Bytes { name, data: data.into() } })
            });
            let is_lost = what.is_none();
            if !inner.file_came(id, what.clone()) {
                inner.tell(Output::Pasted { id, what });
            } else if is_lost {
                inner.tell(Output::Note(not_pasted()));
            }
        });
        true
    }

    /// Attaches these files.
    pub(super) fn attach_list(&self, list: &gdk::FileList) {
        let files = list.files();
        let paths: Vec<PathBuf> = files.iter().filter_map(gio::File::path).collect();
        if let Some(elsewhere) = files.iter().find(|file| file.path().is_none()) {
            let words = gettext(
                "Can’t attach “{name}” because it isn’t on this computer. Save it here first.",
            );
            self.tell(Output::Note(fill(&words, &[("name", &elsewhere.parse_name())])));
        }
        if !paths.is_empty() {
            self.attach(paths.into_iter().map(Source::File).collect());
        }
    }
}

/// Says that the clipboard did not hand a picture over.
pub(crate) fn not_pasted() -> String {
    gettext("Couldn’t paste the image. Copy it again.")
}

/// Whether files are offered.
pub(super) fn has_files(formats: &gdk::ContentFormats) -> bool {
    formats.clone().union_deserialize_types().contains_type(gdk::FileList::static_type())
}

/// What the clipboard has of this kind. It is not decoded here: it may come from anywhere.
async fn copied(clipboard: &gdk::Clipboard, kind: &str) -> Option<Vec<u8>> {
    let priority = glib::Priority::DEFAULT;
    let (stream, _) = clipboard.read_future(&[kind], priority).await.ok()?;
    let mut data = Vec::new();
    loop {
        let more = stream.read_bytes_future(STEP, priority).await.ok()?;
        if more.is_empty() {
            return (!data.is_empty()).then_some(data);
        }
        data.extend_from_slice(&more);
        if data.len() > MOST {
            return None;
        }
    }
}
