//! Shows the About window.

use adw::prelude::*;
use gettextrs::gettext;

pub(super) fn show(parent: &adw::ApplicationWindow, version: &str, id: &str) {
    adw::AboutWindow::builder()
        .application_name("Natter")
        .application_icon(id)
        .version(version)
        .comments(gettext("Chat with models on your own computer or any server"))
        .developer_name(gettext("The Natter developers"))
        .license_type(gtk::License::MitX11)
        .transient_for(parent)
        .modal(true)
        .build()
        .present();
}
