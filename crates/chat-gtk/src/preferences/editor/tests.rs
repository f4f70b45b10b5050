//! Tests the connection dialog through its widgets.

use chat_core::manager::StartOptions;
use chat_core::settings::Folders;

use super::*;
use crate::main_loop::until;

fn manager(runtime: &tokio::runtime::Runtime, folder: &tempfile::TempDir) -> Manager {
    crate::init();
    let options = StartOptions::new(Folders::below(folder.path()));
    runtime.block_on(Manager::start(options)).unwrap()
}

fn editor(manager: Manager) -> Rc<Editor> {
    let editor = Rc::new(Editor::new(adw::Window::new().upcast_ref(), manager, None, None));
    editor.connect();
    editor.check();
    editor
}

#[gtk::test]
fn enter_saves_only_what_can_be_saved_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let editor = editor(manager(&runtime, &folder));
    let enter = || editor.url.emit_by_name::<()>("entry-activated", &[]);
    enter();
    assert!(!editor.saving.get());
    editor.url.set_text("http://127.0.0.1:9");
    enter();
    assert!(editor.saving.get());
    // A name that is typed while the server is being asked for one does not start a second save.
    editor.name.set_text("Mine");
    assert!(!editor.save.is_sensitive());
}

#[gtk::test]
fn a_test_says_nothing_of_an_address_that_was_not_tested() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let editor = editor(manager(&runtime, &folder));
    let context = glib::MainContext::default();
    let before = Rc::strong_count(&editor);
    let run = |then: &dyn Fn()| {
        editor.run_test();
        context.iteration(false);
        then();
        until("the test to end", || Rc::strong_count(&editor) == before);
        editor.result.text()
    };
    editor.url.set_text("http://127.0.0.1:9");
    run(&|| {});
    assert!(editor.result.has_css_class("error"));
    let other = || editor.url.set_text("http://127.0.0.1:10");
    assert_eq!(run(&other), "");
    assert!(editor.test.is_sensitive());
}

#[gtk::test]
fn a_dialog_that_was_closed_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let manager = manager(&runtime, &folder);
    let parent = adw::Window::new();
    open(parent.upcast_ref(), &manager, None);
    let dialogs = || gtk::Window::list_toplevels().into_iter().filter(|w| *w != parent);
    let dialog = dialogs().next().and_downcast::<adw::Window>().unwrap();
    let gone = dialog.downgrade();
    dialog.close();
    drop(dialog);
    let context = glib::MainContext::default();
    while context.iteration(false) {}
    assert!(gone.upgrade().is_none());
}

#[gtk::test]
fn the_name_of_the_built_in_engine_is_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let editor = editor(manager(&runtime, &folder));
    editor.url.set_text("http://127.0.0.1:9");
    assert!(editor.save.is_sensitive());
    editor.name.set_text("on this Computer ");
    assert!(!editor.save.is_sensitive() && editor.name.has_css_class("error"));
    assert!(editor.result.text().contains("built-in engine"), "{}", editor.result.text());
    editor.name.set_text("This computer");
    assert!(editor.save.is_sensitive() && !editor.name.has_css_class("error"));
}

#[gtk::test]
fn a_number_of_requests_is_kept_as_it_was_written_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let editor = editor(manager(&runtime, &folder));
    let chosen = || editor.connection().requests;
    assert_eq!(chosen(), None);
    editor.requests.number.set_value(2.0);
    assert_eq!(chosen(), Some(2));
    let connection = Connection { requests: Some(1_000), ..editor.connection() };
    let (discovered, built_in, health) = (false, false, Health::Checking);
    editor.old.replace(Some(ConnectionState { connection, discovered, built_in, health }));
    editor.fill();
    assert_eq!((editor.requests.number.value(), chosen()), (64.0, Some(1_000)));
    editor.requests.number.set_text("4");
    assert_eq!(chosen(), Some(4), "it is taken while it is typed");
}
