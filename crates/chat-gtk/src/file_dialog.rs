//! Asks for files and for where to save one, and writes what is saved.

use std::cell::RefCell;
use std::path::PathBuf;

use gtk::gio;
use gtk::prelude::*;

/// Shows a dialog. `then` gets the files that were chosen: none where it was closed.
pub(crate) fn ask(chooser: &gtk::FileChooserNative, then: impl FnOnce(Vec<gio::File>) + 'static) {
    // Keeps the dialog alive until it is answered.
    let alive = RefCell::new(Some((chooser.clone(), then)));
    chooser.connect_response(move |chooser, response| {
        let Some((_, then)) = alive.take() else { return };
        let files = (response == gtk::ResponseType::Accept).then(|| chooser.files());
        let files = files.iter().flat_map(|files| files.iter::<gio::File>());
        then(files.filter_map(Result::ok).collect());
    });
    chooser.show();
}

/// Shows a dialog. `then` gets the paths that were chosen, if any.
pub(crate) fn ask_paths(
    chooser: &gtk::FileChooserNative,
    then: impl FnOnce(Vec<PathBuf>) + 'static,
) {
    ask(chooser, move |files| {
        let paths: Vec<_> = files.iter().filter_map(gio::File::path).collect();
        if !paths.is_empty() {
            then(paths);
        }
    });
}

/// Asks where to save something, with this name to begin with. `then` gets the file, if one was chosen.
pub(crate) fn ask_where(
    parent: Option<&gtk::Window>,
    title: &str,
    name: &str,
    then: impl FnOnce(gio::File) + 'static,
) {
    let chooser = gtk::FileChooserNative::builder()
        .title(title)
        .action(gtk::FileChooserAction::Save)
        .modal(true)
        .build();
    chooser.set_transient_for(parent);
    chooser.set_current_name(name);
    ask(&chooser, move |files| {
        if let Some(file) = files.into_iter().next() {
            then(file);
        }
    });
}

/// Writes a file that the user chose. An existing one is replaced, even if it is a link: a command may have created
/// one that leads out of the project.
///
/// # Errors
/// Why that failed, in the system's words.
pub(crate) async fn write(file: &gio::File, bytes: Vec<u8>) -> Result<(), String> {
    let how = gio::FileCreateFlags::REPLACE_DESTINATION;
    let written = file.replace_contents_future(bytes, None, false, how).await;
    written.map(drop).map_err(|(_, error)| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use gtk::glib;
    use gtk::glib::translate::IntoGlib;

    use super::*;

    #[test]
    fn what_a_link_leads_to_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("startup"), "kept").unwrap();
        let write = |name: &str| {
            let file = gio::File::for_path(at(name));
            glib::MainContext::new().block_on(write(&file, b"new".to_vec()))
        };
        for (link, target) in [("one.md", "startup"), ("two.md", "nothing yet")] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
            write(link).unwrap();
            assert_eq!(std::fs::read_to_string(at(link)).unwrap(), "new");
            assert!(!at(link).is_symlink());
        }
        assert_eq!(std::fs::read_to_string(at("startup")).unwrap(), "kept");
        assert!(!at("nothing yet").exists());
        write("one.md").unwrap();
        assert!(write("no/such/folder.md").is_err());
    }

    #[gtk::test]
    fn a_dialog_that_is_closed_gives_no_file_and_is_answered_once() {
        crate::init();
        let answers = Rc::new(RefCell::new(Vec::new()));
        let chooser = gtk::FileChooserNative::builder().build();
        let told = Rc::clone(&answers);
        ask(&chooser, move |files| told.borrow_mut().push(files.len()));
        for _ in 0..2 {
            let closed = gtk::ResponseType::Cancel.into_glib();
            chooser.emit_by_name::<()>("response", &[&closed]);
        }
        assert_eq!(*answers.borrow(), [0]);
        chooser.hide();
    }
}
