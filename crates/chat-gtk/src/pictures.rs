//! Shows pictures. Those that came with a message are decoded by a program of its own first: the toolkit is given only
//! what that made, since it decodes within ours.

mod button;
mod known;
mod viewer;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use chat_core::attachment::AttachmentReader;
use chat_core::message::Attachment;
use gtk::prelude::*;
use gtk::{gdk, gio, glib};

use crate::stalls;
use known::Known;

/// Decodes the pictures of messages. Cheap to clone.
#[derive(Clone, Default)]
pub struct Pictures {
    reader: AttachmentReader,
    known: Rc<RefCell<Known>>,
}

/// What a picture is made of.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The bytes of its file.
    Data(Arc<[u8]>),
    /// The address that it stands in.
    Address(Rc<str>),
}

impl Source {
    fn len(&self) -> usize {
        match self {
            Self::Data(data) => data.len(),
            Self::Address(address) => address.len(),
        }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Data(one), Self::Data(other)) => Arc::ptr_eq(one, other),
            // A text that was read again has another address of the same letters.
            (Self::Address(one), Self::Address(other)) => one == other,
            _ => false,
        }
    }
}

/// A picture that our decoder made.
#[derive(Debug)]
pub struct Decoded {
    mime: String,
    data: Arc<[u8]>,
    thumbnail: Option<gdk::Texture>,
}

impl Decoded {
    fn len(&self) -> usize {
        let pixels = |texture: &gdk::Texture| (texture.width() * texture.height()) as usize;
        self.data.len() + self.thumbnail.as_ref().map_or(0, pixels) * 4
    }
}

impl Pictures {
    /// Decodes a picture; none where it is damaged, or is none.
    async fn decode(&self, source: &Source) -> Option<Rc<Decoded>> {
        if let Some(known) = self.known.borrow().find(source) {
            return known.decoded.clone();
        }
        let decoded = self.decode_new(source).await.map(Rc::new);
        self.known.borrow_mut().add(source.clone(), decoded.clone());
        decoded
    }

    async fn decode_new(&self, source: &Source) -> Option<Decoded> {
        let data = match source {
            Source::Data(data) => Arc::clone(data),
            Source::Address(address) => {
                let address = address.to_string();
                gio::spawn_blocking(move || from_address(&address)).await.ok()??
            }
        };
        let reader = self.reader.clone();
        let read = relm4::spawn(async move { reader.read_bytes("", data).await }).await;
        let read = read.ok()?.ok()?;
        let Attachment::Image { mime, data } = read.attachment else { return None };
        let thumbnail = match read.thumbnail {
            Some(thumbnail) => texture(thumbnail.data).await,
            None => None,
        };
        Some(Decoded { mime, data, thumbnail })
    }

    /// Forgets all pictures: those of another chat are shown.
    pub(crate) fn forget(&self) {
        self.known.take();
    }

    /// Shows a picture small, as soon as it is decoded.
    pub(crate) fn show_small(&self, image: &gtk::Image, data: Arc<[u8]>) {
        let (this, image) = (self.clone(), image.downgrade());
        glib::spawn_future_local(async move {
            let decoded = this.decode(&Source::Data(data)).await;
            let thumbnail = decoded.and_then(|decoded| decoded.thumbnail.clone());
            if let (Some(image), Some(thumbnail)) = (image.upgrade(), thumbnail) {
                image.set_paintable(Some(&thumbnail));
            }
        });
    }

    /// Opens a picture in a window of its own, above that of this widget.
    pub(crate) fn open(&self, from: &impl IsA<gtk::Widget>, source: Source) {
        let parent = from.root().and_downcast::<gtk::Window>();
        let this = self.clone();
        glib::spawn_future_local(async move {
            let decoded = this.decode(&source).await;
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

/// The bytes of a picture that stands in its own address. Takes a moment for a large one.
fn from_address(address: &str) -> Option<Arc<[u8]>> {
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
