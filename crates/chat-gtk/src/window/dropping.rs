//! Sorts what is dropped on the window.

use std::path::{Path, PathBuf};

use gtk::{gio, glib};
use relm4::ComponentSender;

use super::{Input, Window};

/// What a model file's name ends with.
const MODEL: &str = "gguf";

/// Tells dropped folders, models and other files apart. Done in the background, since a disk may be slow.
pub(super) fn sort(dropped: Vec<PathBuf>, sender: &ComponentSender<Window>) {
    let input = sender.input_sender().clone();
    glib::spawn_future_local(async move {
        let sort = || dropped.into_iter().partition::<Vec<_>, _>(|path| path.is_dir());
        let Ok((folders, files)) = gio::spawn_blocking(sort).await else { return };
        let (models, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_model(file));
        if !models.is_empty() {
            input.emit(Input::AddModels(models));
        }
        if !files.is_empty() {
            input.emit(Input::Attach(files));
        }
        // A chat works in only one.
        if let Some(folder) = folders.into_iter().next() {
            input.emit(Input::OfferFolder(folder));
        }
    });
}

fn is_model(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(MODEL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_told_by_its_name() {
        assert!(is_model(Path::new("/a/Tiny.GGUF")));
        assert!(!is_model(Path::new("/a/gguf")));
        assert!(!is_model(Path::new("/a/notes.gguf.txt")));
    }
}
