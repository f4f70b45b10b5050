//! Saves a code block as a file.

use adw::prelude::*;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::glib;

use crate::window::export;

/// Asks for a path, and writes the code there.
pub fn save(near: &impl IsA<gtk::Widget>, name: &str, text: String) {
    let window = near.root().and_downcast::<gtk::Window>();
    let chooser = gtk::FileChooserNative::builder()
        .title(gettext("Save Code"))
        .action(gtk::FileChooserAction::Save)
        .modal(true)
        .build();
    chooser.set_transient_for(window.as_ref());
    chooser.set_current_name(name);
    // Keeps the dialog alive until it is answered.
    let alive = std::cell::RefCell::new(Some(chooser.clone()));
    chooser.connect_response(move |chooser, response| {
        alive.take();
        let path = chooser.file().and_then(|file| file.path());
        let (gtk::ResponseType::Accept, Some(path)) = (response, path) else { return };
        let (text, window) = (text.clone(), window.clone());
        glib::spawn_future_local(async move {
            // A text file ends with a line end.
            if let Err(error) = export::put(&path, text + "\n").await {
                let sentence = gettext("The code could not be saved: {reason}");
                let sentence = fill(&sentence, &[("reason", &error)]);
                let dialog = adw::MessageDialog::builder()
                    .heading(gettext("Not Saved"))
                    .body(sentence)
                    .modal(true)
                    .build();
                dialog.set_transient_for(window.as_ref());
                dialog.add_response("close", &gettext("Close"));
                dialog.present();
            }
        });
    });
    chooser.show();
}
