//! Shows the end of what a server wrote into its log.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use adw::prelude::*;
use chat_mcp::servers::ServerKey;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::rows::{PreferencesContext, icon_button};
use crate::accessible;
use crate::close_keys::close_view_with_keys;

/// How much of a log is shown, in bytes.
const SHOWN: u64 = 64 << 10;

/// Opens the log of a server.
pub(super) fn open(context: &PreferencesContext, name: &str) {
    let title = words::fill(&gettext("Log of {name}"), &[("name", name)]);
    let view = gtk::TextView::builder()
        .editable(false)
        .cursor_visible(false)
        .monospace(true)
        .accepts_tab(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .top_margin(10)
        .bottom_margin(10)
        .left_margin(10)
        .right_margin(10)
        .build();
    accessible::set_label(&view, &title);
    let reload = icon_button("view-refresh-symbolic", &gettext("Reload"));
    let header = adw::HeaderBar::new();
    header.pack_start(&reload);
    let scroller = gtk::ScrolledWindow::builder().child(&view).vexpand(true).build();
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&header);
    content.append(&scroller);
    let window = adw::Window::builder()
        .modal(true)
        .destroy_with_parent(true)
        .default_width(context.width_within(560))
        .default_height(480)
        .title(title)
        .content(&content)
        .build();
    window.set_transient_for(context.window.upgrade().as_ref());
    close_view_with_keys(&window);
    let fill = {
        let (context, key, weak) = (context.clone(), ServerKey::of_user(name), view.downgrade());
        move || {
            let (context, weak) = (context.clone(), weak.clone());
            let path = context.servers.servers.log(&key);
            glib::spawn_future_local(async move {
                let read = context.servers.run_blocking(move || end_of(&path)).await;
                let Some(view) = weak.upgrade() else { return };
                let text = match read {
                    Some(Ok(text)) if text.trim().is_empty() => gettext("The log is empty."),
                    Some(Ok(text)) => words::visible(&text).into_owned(),
                    Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
                        gettext("The log is empty.")
                    }
                    _ => gettext("The log can’t be read."),
                };
                let buffer = view.buffer();
                buffer.set_text(&text);
                view.scroll_to_mark(
                    &buffer.create_mark(None, &buffer.end_iter(), false),
                    0.0,
                    true,
                    0.0,
                    1.0,
                );
            });
        }
    };
    fill();
    reload.connect_clicked(move |_| fill());
    window.present();
}

/// The end of a file as text, from the beginning of a line. Blocks.
fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(SHOWN);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(SHOWN).read_to_end(&mut bytes)?;
    let start = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if from > 0 => end + 1,
        _ => 0,
    };
    Ok(String::from_utf8_lossy(&bytes[start..]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_begins_with_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(end_of(&path).unwrap(), "one\ntwo\n");
        let line = format!("{}\n", "x".repeat(999));
        std::fs::write(&path, line.repeat(100)).unwrap();
        let end = end_of(&path).unwrap();
        assert_eq!(end, line.repeat(65));
        assert_eq!(
            end_of(&folder.path().join("b.log")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
