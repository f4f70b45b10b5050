//! Asks for servers as JSON.

use adw::prelude::*;
use chat_mcp::import::read_pasted;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::super::rows::PreferencesContext;
use super::Found;
use crate::accessible;

/// Opens the dialog.
pub(in super::super) fn paste(context: &PreferencesContext) {
    let body = gettext("A whole file of servers, or one of them, as its documentation shows it");
    ask(context, &body, "");
}

/// Opens the dialog with this text. One that has no servers is given back with what is wrong with it.
fn ask(context: &PreferencesContext, body: &str, text: &str) {
    let parent = context.window.upgrade();
    let heading = gettext("Paste JSON");
    let dialog = adw::MessageDialog::new(parent.as_ref(), Some(&heading), Some(body));
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
    view.buffer().set_text(text);
    let scroller = gtk::ScrolledWindow::builder()
        .child(&view)
        .min_content_height(200)
        .min_content_width(290)
        .css_classes(["card"])
        .build();
    dialog.set_extra_child(Some(&scroller));
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("next", &gettext("_Next"));
    dialog.set_response_appearance("next", adw::ResponseAppearance::Suggested);
    dialog.set_close_response("cancel");
    dialog.set_response_enabled("next", !text.is_empty());
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
            let pasted = text.clone();
            let reading = move || Found::of(read_pasted(&pasted, &glib::home_dir()));
            let found = context.servers.run_blocking(reading).await.unwrap_or_default();
            if found.servers.servers.is_empty() {
                return ask(&context, &trouble(&found), &text);
            }
            super::show(&context, &gettext("Add Servers"), found);
        });
    });
    dialog.present();
    view.grab_focus();
}

/// Why nothing of a text can be added.
fn trouble(found: &Found) -> String {
    let problems =
        found.servers.problems.iter().take(5).map(words::mcp_problem).collect::<Vec<_>>();
    if problems.is_empty() { gettext("No servers found") } else { problems.join("\n") }
}
