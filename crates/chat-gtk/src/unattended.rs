//! Asks once for confirmation before a chat becomes unattended.

use adw::prelude::*;
use gettextrs::gettext;

/// Shows the question above a window; `confirmed` is called if the user confirms.
pub(crate) fn confirm(parent: Option<&gtk::Window>, confirmed: impl Fn() + 'static) {
    let body = gettext(
        "Natter won’t ask before it changes files or runs commands in the sandbox. All other actions are denied without asking. To be asked about those, choose Auto.",
    );
    let dialog = adw::MessageDialog::new(parent, Some(&gettext("Work Unattended?")), Some(&body));
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("unattended", &gettext("Work _Unattended"));
    dialog.set_response_appearance("unattended", adw::ResponseAppearance::Destructive);
    dialog.set_default_response(Some("cancel"));
    dialog.set_close_response("cancel");
    dialog.connect_response(Some("unattended"), move |_, _| confirmed());
    dialog.present();
}
