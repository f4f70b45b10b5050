//! Natter's relm4 front end.
//!
//! [`app::run`] is the whole window program. [`chat_widget::ChatWidget`] is a conversation with its
//! composer that fits into any GTK program; call [`init`] before you create it.

pub mod accessible;
mod adaptive_pair;
mod agent_color;
mod agent_status;
pub mod app;
mod appearance;
mod atomic_file;
mod attached_text;
mod bridge;
mod changes;
mod chat_list;
pub mod chat_widget;
mod choices;
mod close_keys;
mod composer;
pub mod conversation;
mod copy_mark;
mod dates;
mod drafts;
mod editor;
mod file_dialog;
mod found_row;
mod free_memory;
mod instructions;
mod languages;
mod layout;
mod letters;
#[cfg(test)]
mod main_loop;
pub mod markdown;
mod model_picker;
mod models;
mod nested_scroll;
mod paint;
mod panel;
mod pictures;
mod popover;
mod preferences;
mod project_picker;
mod projects;
mod stalls;
mod style;
mod tool_servers;
mod unattended;
mod window;
mod worktrees;
mod wrap;

use std::sync::Once;

pub use free_memory::share_heaps;
use gtk::{gdk, gio};
pub use tool_servers::ToolServers;

/// The path of the crate's own files in the program's resources.
const RESOURCES: &str = "/natter/chat-gtk";

/// Loads the styles and icons. GTK must be initialised; further calls do nothing.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The resource is compiled into the program, so a failure would be a build error.
        gio::resources_register_include!("chat-gtk.gresource").expect("the resources are valid");
        sourceview5::init();
        let Some(display) = gdk::Display::default() else { return };
        gtk::IconTheme::for_display(&display).add_resource_path(&format!("{RESOURCES}/icons"));
        style::add(
            &display,
            include_str!("../data/review.css"),
            include_str!("../data/review-hc.css"),
            gtk::STYLE_PROVIDER_PRIORITY_APPLICATION,
        );
        style::add(
            &display,
            include_str!("../data/window.css"),
            include_str!("../data/window-hc.css"),
            gtk::STYLE_PROVIDER_PRIORITY_APPLICATION,
        );
    });
}
