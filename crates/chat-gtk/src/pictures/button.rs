//! Shows a picture of a message small; a click opens it.

use gettextrs::gettext;
use gtk::glib;
use gtk::prelude::*;

use super::{Pictures, Source};
use crate::accessible;

/// The height of a picture in a message, in pixels: known before it is decoded, so that nothing moves then.
const HEIGHT: i32 = 128;
/// The least and the greatest width, in pixels.
const WIDTHS: (i32, i32) = (48, 240);

impl Pictures {
    /// The button that shows a picture.
    pub(crate) fn button(&self, source: Source) -> gtk::Button {
        let words = gettext("Open Image");
        let button = gtk::Button::builder()
            .tooltip_text(&words)
            .halign(gtk::Align::Start)
            .overflow(gtk::Overflow::Hidden)
            .css_classes(["flat", "picture"])
            .build();
        accessible::set_label(&button, &words);
        let icon = gtk::Image::builder()
            .icon_name("image-x-generic-symbolic")
            .pixel_size(32)
            .width_request(HEIGHT)
            .height_request(HEIGHT)
            .build();
        button.set_child(Some(&icon));
        let (this, opened) = (self.clone(), source.clone());
        button.connect_clicked(move |button| this.open(button, opened.clone()));
        let (this, weak) = (self.clone(), button.downgrade());
        glib::spawn_future_local(async move {
            let decoded = this.decode(&source).await;
            let Some(button) = weak.upgrade() else { return };
            let Some(thumbnail) = decoded.and_then(|decoded| decoded.thumbnail.clone()) else {
                return;
            };
            let scale = f64::from(HEIGHT) / f64::from(thumbnail.height().max(1));
            let width = (f64::from(thumbnail.width()) * scale).round() as i32;
            let shown = gtk::Picture::builder()
                .paintable(&thumbnail)
                .content_fit(gtk::ContentFit::Cover)
                .width_request(width.clamp(WIDTHS.0, WIDTHS.1))
                .height_request(HEIGHT)
                .halign(gtk::Align::Start)
                .valign(gtk::Align::Start)
                .can_target(false)
                .build();
            // Its own size must not count.
            let frame = gtk::ScrolledWindow::builder()
                .child(&shown)
                .hscrollbar_policy(gtk::PolicyType::External)
                .vscrollbar_policy(gtk::PolicyType::External)
                .width_request(width.clamp(WIDTHS.0, WIDTHS.1))
                .height_request(HEIGHT)
                .can_target(false)
                .build();
            button.set_child(Some(&frame));
        });
        button
    }
}
