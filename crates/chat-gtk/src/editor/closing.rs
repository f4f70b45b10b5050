//! Asks before an unsaved file is closed.

use std::rc::Rc;

use adw::prelude::*;
use chat_presentation::words::fill;
use gettextrs::gettext;

use super::document::Document;

/// Asks, and closes the tab or keeps it open.
pub(super) fn ask(view: &adw::TabView, page: &adw::TabPage, document: &Rc<Document>) {
    let heading = fill(&gettext("Save “{name}”?"), &[("name", &document.name())]);
    let dialog = adw::MessageDialog::builder()
        .heading(&heading)
        .body(gettext("Unsaved changes will be lost."))
        .modal(true)
        .default_response("save")
        .close_response("cancel")
        .build();
    let window = view.root().and_downcast::<gtk::Window>();
    dialog.set_transient_for(window.as_ref());
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("discard", &gettext("_Discard"));
    dialog.add_response("save", &gettext("_Save"));
    dialog.set_response_appearance("discard", adw::ResponseAppearance::Destructive);
    dialog.set_response_appearance("save", adw::ResponseAppearance::Suggested);
    let (view, page, document) = (view.clone(), page.clone(), Rc::clone(document));
    dialog.connect_response(None, move |_, response| {
        let finish = {
            let (view, page) = (view.clone(), page.clone());
            move |close| view.close_page_finish(&page, close)
        };
        match response {
            "discard" => finish(true),
            // If it could not be saved, the file itself shows why.
            "save" => document.save(finish),
            _ => finish(false),
        }
    });
    dialog.present();
}
