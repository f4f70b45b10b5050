//! Sorts what is dropped on the window.

use std::path::PathBuf;

use gtk::{gio, glib};
use relm4::ComponentSender;

use super::{Input, Window};

/// Separates dropped folders from files. Done in the background, since a disk may be slow.
pub(super) fn sort(dropped: Vec<PathBuf>, sender: &ComponentSender<Window>) {
    let input = sender.input_sender().clone();
    glib::spawn_future_local(async move {
        let sort = || dropped.into_iter().partition::<Vec<_>, _>(|path| path.is_dir());
        let Ok((folders, files)) = gio::spawn_blocking(sort).await else { return };
        if !files.is_empty() {
            input.emit(Input::AddModels(files));
        }
        // A chat works in only one.
        if let Some(folder) = folders.into_iter().next() {
            input.emit(Input::OfferFolder(folder));
        }
    });
}
