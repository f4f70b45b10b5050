//! The composer as a whole.

use std::path::Path;

use chat_core::message::Mention;
use gtk::{gdk, glib};

use super::*;
use crate::choices;
use crate::project_picker::ProjectPicker;

/// The narrowest window, without what is around the composer.
const NARROWEST: i32 = 360 - 2 * 14;

#[gtk::test]
fn all_controls_fit_the_narrowest_window() {
    crate::init();
    let project = ProjectPicker::new(|_| {});
    project.show(Some(Path::new("/projects/a-folder-with-a-rather-long-name")));
    let modes = choices::modes(|_| {});
    modes.show(&chat_core::permission::Mode::Unattended);
    let thinking = choices::thinking(|_| {});
    thinking.show(&chat_core::message::Thinking::High);
    let model = gtk::Label::builder()
        .label("a-model-with-a-rather-long-name")
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .build();
    // How full the window of the model is.
    let meter = gtk::MenuButton::builder().label("⭘ 100 %").css_classes(["flat"]).build();
    let about =
        [project.widget().clone().upcast(), modes.widget().clone().upcast(), meter.upcast()];
    let to = [thinking.widget().clone().upcast(), model.upcast()];
    let composer = Composer::new(&about, &to, |_| {});
    composer.set_note(Some("This model cannot use tools"));
    composer.set_busy(true);
    composer.set_content(&Written::text("and one more"));
    let window = gtk::Window::builder().child(composer.widget()).build();
    window.present();
    let (least, ..) = composer.widget().measure(gtk::Orientation::Horizontal, -1);
    assert!(least <= NARROWEST, "{least} of {NARROWEST}");
}

fn composer() -> (Composer, Rc<RefCell<Vec<Output>>>) {
    crate::init();
    let told = Rc::<RefCell<Vec<Output>>>::default();
    let hears = Rc::clone(&told);
    (Composer::new(&[], &[], move |output| hears.borrow_mut().push(output)), told)
}

fn file(path: &str) -> Pin {
    let what = Pinned::Mention(Mention::File { path: path.into(), lines: None });
    Pin { label: path.to_owned(), word: Some(format!("@{path}")), what }
}

/// A key pressed while nothing was found yet, and what it did when nothing was.
fn pressed_in_vain(enter_sends: bool, key: gdk::Key) -> (bool, String) {
    let (composer, told) = composer();
    composer.set_enter_sends(enter_sends);
    composer.inner.text.buffer().insert_at_cursor("to @nobody");
    let list = composer.inner.suggestions.borrow().clone().expect("the list");
    assert!(list.press(key, gdk::ModifierType::empty()), "it is for what is found in a moment");
    composer.suggest("nobody", Vec::new());
    let is_sent = told.borrow().iter().any(|output| matches!(output, Output::Submit(_)));
    (is_sent, composer.content().text)
}

#[gtk::test]
fn a_key_that_the_list_did_not_need_does_what_it_does_without_one() {
    let text = || "to @nobody".to_owned();
    assert_eq!(pressed_in_vain(true, gdk::Key::Tab), (false, text()));
    assert_eq!(pressed_in_vain(true, gdk::Key::Return), (true, String::new()));
    assert_eq!(pressed_in_vain(false, gdk::Key::Return), (false, text() + "\n"));
}

#[gtk::test]
fn what_was_taken_away_comes_back_with_its_word() {
    let (composer, _) = composer();
    let written = Written { text: "see @a.rs".to_owned(), pins: vec![Arc::new(file("a.rs"))] };
    composer.set_content(&written);
    composer.inner.unpin(0);
    assert_eq!(composer.content(), Written::text("see a.rs"));
    composer.inner.text.buffer().undo();
    assert_eq!(composer.content(), written);
}

#[gtk::test]
fn only_what_is_pasted_becomes_a_file() {
    let (composer, _) = composer();
    let (text, log) = (&composer.inner.text, "a\n".repeat(100));
    let bytes = glib::Bytes::from_static(&[0; 4]);
    let dot = gdk::MemoryTexture::new(1, 1, gdk::MemoryFormat::R8g8b8a8, &bytes, 4);
    text.clipboard().set_texture(&dot);
    text.emit_paste_clipboard();
    text.buffer().insert_at_cursor(&log);
    assert_eq!(composer.content(), Written::text(&log), "a picture was pasted, and this was not");
    composer.take();
    text.clipboard().set_text(&log);
    text.emit_paste_clipboard();
    let context = glib::MainContext::default();
    while composer.content() == Written::default() {
        context.iteration(true);
    }
    let written = composer.content();
    assert_eq!((written.text.as_str(), &written.pins[0].what), ("", &Pinned::Text(log.clone())));
    composer.inner.put_into_text(0);
    assert_eq!(composer.content(), Written::text(log), "it goes in, and not beside it once more");
}
