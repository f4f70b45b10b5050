//! Shows the About window.

use adw::prelude::*;
use gettextrs::gettext;

pub(super) fn show(parent: &adw::ApplicationWindow, version: &str, id: &str) {
    let about = adw::AboutWindow::builder()
        .application_name("Natter")
        .application_icon(id)
        .version(version)
        .comments(gettext("Chat with models on your own computer or any server"))
        .developer_name(gettext("The Natter developers"))
        .license_type(gtk::License::MitX11)
        .transient_for(parent)
        .modal(true)
        .build();
    about.add_legal_section(
        &gettext("Fonts for formulas"),
        Some("© 2009–2010 Design Science, Inc.\n© 2014–2018 Khan Academy"),
        gtk::License::Custom,
        Some("SIL Open Font License 1.1\nhttps://openfontlicense.org"),
    );
    about.present();
}
