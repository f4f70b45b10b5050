//! Loads the style sheets: what the theme lacks, and what differs with high contrast.

use gtk::gdk;

/// Adds a style sheet to the display, and another one while high contrast is on.
pub(crate) fn add(display: &gdk::Display, sheet: &str, high_contrast: &'static str, priority: u32) {
    let provider = gtk::CssProvider::new();
    provider.load_from_data(sheet);
    gtk::style_context_add_provider_for_display(display, &provider, priority);
    let contrast = gtk::CssProvider::new();
    gtk::style_context_add_provider_for_display(display, &contrast, priority + 1);
    let load = move |style: &adw::StyleManager| {
        contrast.load_from_data(if style.is_high_contrast() { high_contrast } else { "" });
    };
    let style = adw::StyleManager::default();
    load(&style);
    style.connect_high_contrast_notify(load);
}
