//! Closes windows by keyboard.

use gtk::prelude::*;

/// Has Esc close a dialog.
pub(crate) fn close_with_escape(dialog: &adw::Window) {
    close_with(dialog, &["Escape"]);
}

/// Has Esc and Ctrl+W close a window in which something is looked at, and nothing is written.
pub(crate) fn close_view_with_keys(window: &adw::Window) {
    close_with(window, &["Escape", "<Control>w"]);
}

fn close_with(window: &adw::Window, keys: &[&str]) {
    let controller = gtk::ShortcutController::new();
    let closing = gtk::ShortcutAction::parse_string("action(window.close)");
    for key in keys {
        let trigger = gtk::ShortcutTrigger::parse_string(key);
        controller.add_shortcut(gtk::Shortcut::new(trigger, closing.clone()));
    }
    window.add_controller(controller);
}
