//! The least that a libadwaita program can be: a window with a header bar and nothing in it. The
//! floor that Natter's start and memory are measured against; writes its own measurements as
//! Natter does, where `NATTER_DIAGNOSTICS` names a file.

use std::cell::Cell;

use adw::prelude::*;
use chat_presentation::diagnostics::Diagnostics;
use gtk::glib;

fn main() -> glib::ExitCode {
    let diagnostics = Diagnostics::from_env("empty-window");
    let app = adw::Application::builder().flags(gtk::gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_activate(move |app| show(app, &diagnostics));
    app.run()
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
    let painted = Cell::new(false);
    let diagnostics = diagnostics.clone();
    window.connect_realize(move |window| {
        let Some(clock) = window.frame_clock() else { return };
        let (diagnostics, painted) = (diagnostics.clone(), painted.clone());
        clock.connect_after_paint(move |_| {
            if !painted.replace(true) {
                diagnostics.mark("first_frame");
                diagnostics.write();
            }
        });
    });
    window.present();
}
