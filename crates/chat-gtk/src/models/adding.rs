//! Adds model files that the user chooses in a dialog or drops on a window.

use std::path::PathBuf;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::models::Installed;
use chat_presentation::words::{fill, sentence};
use gettextrs::{gettext, ngettext};
use gtk::{gdk, glib};

use super::words;
use crate::file_dialog;

/// Asks for files.
pub(crate) fn choose(parent: &gtk::Window, then: impl Fn(Vec<PathBuf>) + 'static) {
    let chooser = gtk::FileChooserNative::builder()
        .title(gettext("Add Model"))
        .action(gtk::FileChooserAction::Open)
        .accept_label(gettext("_Add"))
        .select_multiple(true)
        .transient_for(parent)
        .modal(true)
        .build();
    let models = gtk::FileFilter::new();
    models.set_name(Some(&gettext("Models (GGUF)")));
    models.add_pattern("*.gguf");
    let all = gtk::FileFilter::new();
    all.set_name(Some(&gettext("All files")));
    all.add_pattern("*");
    chooser.add_filter(&models);
    chooser.add_filter(&all);
    file_dialog::ask_paths(&chooser, then);
}

/// Accepts files that are dropped anywhere on a window, before a text field does, which would
/// insert their names. Gives what is told while they are dragged.
pub(crate) fn accept_drops(
    window: &impl IsA<gtk::Widget>,
    then: impl Fn(Vec<PathBuf>) + 'static,
) -> gtk::DropTarget {
    let target = gtk::DropTarget::new(gdk::FileList::static_type(), gdk::DragAction::COPY);
    target.set_propagation_phase(gtk::PropagationPhase::Capture);
    target.connect_drop(move |_, value, _, _| {
        let Ok(files) = value.get::<gdk::FileList>() else { return false };
        let paths: Vec<PathBuf> = files.files().iter().filter_map(FileExt::path).collect();
        let any = !paths.is_empty();
        if any {
            then(paths);
        }
        any
    });
    window.add_controller(target.clone());
    target
}

/// Adds files without moving them, and returns the outcome: a sentence, and whether all succeeded.
pub(crate) async fn add(manager: &Manager, files: Vec<PathBuf>) -> (String, bool) {
    let mut added = Vec::new();
    let mut refused = Vec::new();
    for file in files {
        match manager.local_models().add(file).await {
            Ok(model) => added.push(model),
            Err(error) => refused.push(sentence(&error)),
        }
    }
    if refused.is_empty() { (welcome(&added), true) } else { (refused.join("\n"), false) }
}

/// Does the same in the background, and passes the sentence on.
pub(crate) fn add_then(
    manager: &Manager,
    files: Vec<PathBuf>,
    then: impl FnOnce(String, bool) + 'static,
) {
    let manager = manager.clone();
    glib::spawn_future_local(async move {
        let (words, well) = add(&manager, files).await;
        then(words, well);
    });
}

fn welcome(added: &[Installed]) -> String {
    let count = u32::try_from(added.len()).unwrap_or(u32::MAX);
    let name = added.first().map(words::title).unwrap_or_default();
    let text = ngettext("{model} was added", "{n} models were added", count);
    fill(&text, &[("model", &name), ("n", &count.to_string())])
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use gtk::gio;

    use super::*;

    #[gtk::test]
    fn files_that_are_dropped_are_taken_before_a_field_below_takes_their_names() {
        crate::init();
        let window = gtk::Window::new();
        let taken: Rc<RefCell<Vec<PathBuf>>> = Rc::default();
        let told = Rc::clone(&taken);
        accept_drops(&window, move |files| told.borrow_mut().extend(files));
        let controllers = window.observe_controllers();
        let mut all = (0..controllers.n_items()).filter_map(|place| controllers.item(place));
        let target = all.find_map(|it| it.downcast::<gtk::DropTarget>().ok()).unwrap();
        assert_eq!(target.propagation_phase(), gtk::PropagationPhase::Capture);

        let drop = |files: &[gio::File]| {
            let files = glib::BoxedValue(gdk::FileList::from_array(files).to_value());
            target.emit_by_name::<bool>("drop", &[&files, &0.0, &0.0])
        };
        let (one, other) = (PathBuf::from("/models/a.gguf"), PathBuf::from("/models/b.gguf"));
        assert!(drop(&[gio::File::for_path(&one), gio::File::for_path(&other)]));
        assert_eq!(*taken.borrow(), [one, other]);
        // A file that is not on a local disk cannot be added.
        assert!(!drop(&[gio::File::for_uri("https://models.example/c.gguf")]));
        assert_eq!(taken.borrow().len(), 2);
    }
}
