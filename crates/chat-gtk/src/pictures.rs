//! Shows pictures that our own decoder made: others must not be given to the toolkit, which decodes them within
//! the program.

use std::sync::Arc;

use gtk::prelude::*;
use gtk::{gdk, gio, glib};

/// Decodes a picture on another thread; none where it is damaged.
pub(crate) async fn texture(data: Arc<[u8]>) -> Option<gdk::Texture> {
    let decode = move || gdk::Texture::from_bytes(&glib::Bytes::from_owned(data)).ok();
    gio::spawn_blocking(decode).await.ok().flatten()
}

/// Shows a picture as soon as it is decoded.
pub(crate) fn show(image: &gtk::Image, data: Arc<[u8]>) {
    let image = image.downgrade();
    glib::spawn_future_local(async move {
        let texture = texture(data).await;
        if let (Some(image), Some(texture)) = (image.upgrade(), texture) {
            image.set_paintable(Some(&texture));
        }
    });
}
