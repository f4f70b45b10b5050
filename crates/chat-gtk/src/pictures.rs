//! Shows pictures. Those that came with a message are decoded by a program of its own first: the toolkit is given only
//! what that made, since it decodes within ours.

mod button;
mod viewer;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use chat_core::attachment::AttachmentReader;
use chat_core::message::Attachment;
use gtk::prelude::*;
use gtk::{gdk, gio, glib};

use crate::stalls;

/// So many decoded pictures are remembered, so that rows that come back into sight have them at once.
const REMEMBERED: usize = 40;

/// Decodes the pictures of messages. Cheap to clone.
#[derive(Clone, Default)]
pub struct Pictures {
    reader: AttachmentReader,
    known: Rc<RefCell<Known>>,
}

/// What was decoded, by what it was made of; the newest last.
type Known = VecDeque<(Arc<[u8]>, Rc<Decoded>)>;

/// A picture that our decoder made.
#[derive(Debug)]
pub struct Decoded {
    mime: String,
    data: Arc<[u8]>,
    thumbnail: Option<gdk::Texture>,
}

impl Pictures {
    /// Decodes a picture; none where it is damaged, or is none.
    async fn decode(&self, data: &Arc<[u8]>) -> Option<Rc<Decoded>> {
        if let Some(known) = self.known(data) {
            return Some(known);
        }
        let (reader, given) = (self.reader.clone(), Arc::clone(data));
        let read = relm4::spawn(async move { reader.read_bytes("", given).await }).await;
        let read = read.ok()?.ok()?;
        let Attachment::Image { mime, data: made } = read.attachment else { return None };
        let thumbnail = match read.thumbnail {
            Some(thumbnail) => texture(thumbnail.data).await,
            None => None,
        };
        let decoded = Rc::new(Decoded { mime, data: made, thumbnail });
        let mut known = self.known.borrow_mut();
        known.push_back((Arc::clone(data), Rc::clone(&decoded)));
        if known.len() > REMEMBERED {
            known.pop_front();
        }
        Some(decoded)
    }

    fn known(&self, data: &Arc<[u8]>) -> Option<Rc<Decoded>> {
        let known = self.known.borrow();
        let found = known.iter().find(|(of, _)| Arc::ptr_eq(of, data));
        found.map(|(_, decoded)| Rc::clone(decoded))
    }

    /// Shows a picture small, as soon as it is decoded.
    pub(crate) fn show_small(&self, image: &gtk::Image, data: Arc<[u8]>) {
        let (this, image) = (self.clone(), image.downgrade());
        glib::spawn_future_local(async move {
            let decoded = this.decode(&data).await;
            let thumbnail = decoded.and_then(|decoded| decoded.thumbnail.clone());
            if let (Some(image), Some(thumbnail)) = (image.upgrade(), thumbnail) {
                image.set_paintable(Some(&thumbnail));
            }
        });
    }

    /// Opens a picture in a window of its own, above that of this widget.
    pub(crate) fn open(&self, from: &impl IsA<gtk::Widget>, data: Arc<[u8]>) {
        let parent = from.root().and_downcast::<gtk::Window>();
        let this = self.clone();
        glib::spawn_future_local(async move {
            let decoded = this.decode(&data).await;
            let shown = match &decoded {
                Some(decoded) => texture(Arc::clone(&decoded.data)).await,
                None => None,
            };
            viewer::open(parent.as_ref(), decoded.zip(shown));
        });
    }
}

/// Decodes a picture that our decoder made, on another thread; none where it is damaged.
async fn texture(data: Arc<[u8]>) -> Option<gdk::Texture> {
    let decode = move || gdk::Texture::from_bytes(&glib::Bytes::from_owned(data)).ok();
    gio::spawn_blocking(decode).await.ok().flatten()
}

/// Shows a picture that our decoder made, as soon as it is decoded.
pub(crate) fn show(image: &gtk::Image, data: Arc<[u8]>) {
    let image = image.downgrade();
    glib::spawn_future_local(async move {
        let texture = texture(data).await;
        if let (Some(image), Some(texture)) = (image.upgrade(), texture) {
            image.set_paintable(Some(&texture));
            stalls::mark_after_frame(&image, "preview");
        }
    });
}

/// The bytes of a picture that stands in its own address.
pub(crate) fn from_address(address: &str) -> Option<Arc<[u8]>> {
    let (_, base64) = address.split_once(";base64,")?;
    let data = glib::base64_decode(base64);
    (!data.is_empty()).then(|| data.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_from_its_address() {
        let read = from_address("data:image/png;base64,iVBORw==");
        assert_eq!(read.as_deref(), Some(&b"\x89PNG"[..]));
        assert_eq!(from_address("data:image/png;base64,"), None);
        assert_eq!(from_address("https://a.org/b.png"), None);
    }
}
