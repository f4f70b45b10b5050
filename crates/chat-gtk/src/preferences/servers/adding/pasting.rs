//! Asks for servers as JSON.

use adw::prelude::*;
use chat_mcp::import::read_pasted;
use gettextrs::gettext;
use gtk::glib;

use super::super::super::rows::PreferencesContext;
use crate::accessible;

/// Opens the dialog.
pub(in super::super) fn paste(context: &PreferencesContext) {
    let parent = context.window.upgrade();
    let heading = gettext("Paste JSON");
    let body = gettext("A whole file of servers, or one of them, as its documentation shows it");
    let dialog = adw::MessageDialog::new(parent.as_ref(), Some(&heading), Some(&body));
    let view = gtk::TextView::builder()
        .monospace(true)
        .accepts_tab(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .top_margin(6)
        .bottom_margin(6)
        .left_margin(6)
        .right_margin(6)
        .build();
    accessible::set_label(&view, &gettext("JSON"));
    let scroller = gtk::ScrolledWindow::builder()
        .child(&view)
        .min_content_height(200)
        .css_classes(["card"])
        .build();
    dialog.set_extra_child(Some(&scroller));
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("next", &gettext("_Next"));
    dialog.set_response_appearance("next", adw::ResponseAppearance::Suggested);
    dialog.set_close_response("cancel");
    dialog.set_response_enabled("next", false);
    let weak = dialog.downgrade();
    view.buffer().connect_changed(move |buffer| {
        if let Some(dialog) = weak.upgrade() {
            dialog.set_response_enabled("next", buffer.char_count() > 0);
        }
    });
    let (context, buffer) = (context.clone(), view.buffer());
    dialog.connect_response(Some("next"), move |_, _| {
        let (start, end) = buffer.bounds();
        let text = buffer.text(&start, &end, false).to_string();
        let context = context.clone();
        glib::spawn_future_local(async move {
            let reading =
                context.servers.run_blocking(move || read_pasted(&text, &glib::home_dir()));
            let found = reading.await.unwrap_or_default();
            super::show(&context, &gettext("Add Servers"), found);
        });
    });
    dialog.present();
    view.grab_focus();
}
