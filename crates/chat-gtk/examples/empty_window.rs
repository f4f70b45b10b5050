//! The least that a libadwaita program can be: a window with a header bar and nothing in it. The
//! floor that Natter's start and memory are measured against; writes its own measurements as
//! Natter does, where `NATTER_DIAGNOSTICS` names a file.

use adw::prelude::*;
use chat_edge::diagnostics::Diagnostics;
use gtk::glib;

/// `SIGTERM`, the same on every system that has GTK.
const TERM: i32 = 15;

fn main() -> glib::ExitCode {
    let diagnostics = Diagnostics::from_env("empty-window");
    let app = adw::Application::builder().flags(gtk::gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_activate({
        let diagnostics = diagnostics.clone();
        move |app| show(app, &diagnostics)
    });
    let quitting = app.downgrade();
    glib::unix_signal_add_local(TERM, move || {
        if let Some(app) = quitting.upgrade() {
            app.quit();
        }
        glib::ControlFlow::Break
    });
    let code = app.run();
    diagnostics.write();
    code
}

fn show(app: &adw::Application, diagnostics: &Diagnostics) {
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&adw::HeaderBar::new());
    let window = adw::ApplicationWindow::builder()
        .application(app)
        .title("Empty")
        .default_width(1100)
        .default_height(760)
        .content(&content)
        .build();
    let diagnostics = diagnostics.clone();
    window.connect_realize(move |window| {
        if let Some(clock) = window.frame_clock() {
            let diagnostics = diagnostics.clone();
            clock.connect_after_paint(move |_| diagnostics.mark("first_frame"));
        }
    });
    window.present();
}
