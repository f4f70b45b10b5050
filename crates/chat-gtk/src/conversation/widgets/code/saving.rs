//! Saves a code block as a file.

use adw::prelude::*;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::glib;

use crate::file_dialog;

/// Asks for a path, and writes the code there.
pub fn save(near: &impl IsA<gtk::Widget>, name: &str, text: String) {
    let window = near.root().and_downcast::<gtk::Window>();
    file_dialog::ask_where(window.as_ref(), &gettext("Save Code"), name, {
        let window = window.clone();
        move |file| {
            glib::spawn_future_local(async move {
                // A text file ends with a line end.
                let written = file_dialog::write(&file, (text + "\n").into_bytes()).await;
                if let Err(reason) = written {
                    say_failure(window.as_ref(), &reason);
                }
            });
        }
    });
}

fn say_failure(window: Option<&gtk::Window>, reason: &str) {
    let sentence = fill(&gettext("Couldn’t save the code: {reason}"), &[("reason", reason)]);
    let dialog = adw::MessageDialog::builder()
        .heading(gettext("Not Saved"))
        .body(sentence)
        .modal(true)
        .build();
    dialog.set_transient_for(window);
    dialog.add_response("close", &gettext("Close"));
    dialog.present();
}
