//! Tests files and pictures that go with the message.

use super::*;
use crate::main_loop::until;

/// The files that were reported as unread, the last time.
fn to_read(told: &Rc<RefCell<Vec<Output>>>) -> Vec<Unread> {
    let files = told.borrow().iter().rev().find_map(|output| match output {
        Output::Files(files) => Some(files.clone()),
        _ => None,
    });
    files.unwrap_or_default()
}

#[gtk::test]
fn files_have_their_chips_at_once_and_are_sent_when_they_are_read() {
    let (composer, told) = composer();
    composer.attach(vec!["/p/a.txt".into(), "/q/a.txt".into(), "/p/b.txt".into()]);
    let labels = |composer: &Composer| -> Vec<String> {
        composer.content().pins.iter().map(|pin| pin.label.clone()).collect()
    };
    assert_eq!(labels(&composer), ["a.txt", "a.txt (2)", "b.txt"]);
    let files = to_read(&told);
    composer.inner.submit(false);
    let hindered = told.borrow().iter().any(|output| matches!(output, Output::Hindered(_)));
    assert!(hindered, "it waits until all are read");
    // They come in another order, and one not at all.
    assert!(composer.file_came(files[2].id, Some(text_file("b.txt", "b"))));
    assert!(composer.file_came(files[0].id, None));
    assert!(composer.file_came(files[1].id, Some(text_file("a.txt", "a"))));
    assert!(!composer.file_came(files[0].id, Some(text_file("a.txt", "late"))));
    assert_eq!(labels(&composer), ["a.txt (2)", "b.txt"]);
    assert_eq!(to_read(&told), []);
    composer.inner.submit(false);
    let sent = told.borrow().iter().find_map(|output| match output {
        Output::Submit { written, .. } => Some(written.content().0.attachments),
        _ => None,
    });
    let file = |name: &str, text: &str| chat_core::message::Attachment::File {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(sent, Some(vec![file("a.txt (2)", "a"), file("b.txt", "b")]));
}

#[gtk::test]
fn of_many_files_each_chip_removes_its_own() {
    let (composer, told) = composer();
    let window = gtk::Window::builder().child(composer.widget()).default_width(500).build();
    window.present();
    composer.attach((0..500).map(|at| format!("/p/{at}.txt").into()).collect());
    let files = to_read(&told);
    assert_eq!(files.len(), 500);
    until("the chips", || composer.inner.chips.widget().height() > 0);
    assert!(composer.inner.chips.widget().height() < 200, "more are scrolled");
    let chips = composer.inner.chips.widget().clone().upcast::<gtk::Widget>();
    let press = |name: &str| {
        let button = find(&chips, &|it| it.tooltip_text().is_some_and(|it| it == name));
        button.and_downcast::<gtk::Button>().expect("a button").emit_clicked();
    };
    press("Remove 7.txt");
    press("Remove 9.txt");
    press("Remove 499.txt");
    let left: Vec<u64> = to_read(&told).iter().map(|unread| unread.id).collect();
    let gone: Vec<u64> = [7, 9, 499].map(|at: usize| files[at].id).into();
    assert_eq!(left.len(), 497);
    assert!(gone.iter().all(|id| !left.contains(id)));
    window.destroy();
}

/// The first widget in another one for which this holds.
fn find(root: &gtk::Widget, is_it: &dyn Fn(&gtk::Widget) -> bool) -> Option<gtk::Widget> {
    if is_it(root) && root.is::<gtk::Button>() {
        return Some(root.clone());
    }
    let mut child = root.first_child();
    while let Some(at) = child {
        if let Some(found) = find(&at, is_it) {
            return Some(found);
        }
        child = at.next_sibling();
    }
    None
}

#[gtk::test]
fn a_pasted_picture_is_read_from_its_bytes() {
    let (composer, told) = composer();
    let bytes = glib::Bytes::from_static(&[0; 4]);
    let dot = gdk::MemoryTexture::new(1, 1, gdk::MemoryFormat::R8g8b8a8, &bytes, 4);
    composer.inner.text.clipboard().set_texture(&dot);
    composer.inner.text.emit_paste_clipboard();
    assert_eq!(composer.content().pins.len(), 1, "its chip is there at once");
    until("its bytes", || !to_read(&told).is_empty());
    let Source::Bytes { name, data } = &to_read(&told)[0].source else { panic!("no bytes") };
    assert_eq!(name, "Pasted image.png");
    assert!(data.starts_with(b"\x89PNG"));
}

#[gtk::test]
fn a_picture_that_comes_after_its_message_was_left_is_told_of() {
    let (composer, told) = composer();
    let bytes = glib::Bytes::from_static(&[0; 4]);
    let dot = gdk::MemoryTexture::new(1, 1, gdk::MemoryFormat::R8g8b8a8, &bytes, 4);
    composer.inner.text.clipboard().set_texture(&dot);
    composer.inner.text.emit_paste_clipboard();
    let mut left = composer.take();
    assert_eq!(left.pins.len(), 1, "it stays in what was left");
    let pasted = || {
        told.borrow().iter().find_map(|output| match output {
            Output::Pasted { id, what } => Some((*id, what.clone())),
            _ => None,
        })
    };
    until("its bytes", || pasted().is_some());
    assert_eq!(composer.content(), Written::default());
    let (id, what) = pasted().expect("the picture");
    assert!(left.file_came(id, what));
    composer.set_content(&left);
    assert!(matches!(to_read(&told)[0].source, Source::Bytes { .. }));
}

#[gtk::test]
fn dropped_files_are_attached_and_not_their_names() {
    let (composer, told) = composer();
    let files = gdk::FileList::from_array(&[gtk::gio::File::for_path("/p/a.txt")]);
    let target = controller::<gtk::DropTarget>(&composer);
    let files = glib::BoxedValue(files.to_value());
    assert!(target.emit_by_name::<bool>("drop", &[&files, &0.0, &0.0]));
    assert_eq!(composer.content().text, "");
    assert_eq!(to_read(&told)[0].source, Source::File("/p/a.txt".into()));
    // What is elsewhere is said.
    let files = gdk::FileList::from_array(&[gtk::gio::File::for_uri("https://a.org/b.txt")]);
    let files = glib::BoxedValue(files.to_value());
    target.emit_by_name::<bool>("drop", &[&files, &0.0, &0.0]);
    assert!(told.borrow().iter().any(|output| matches!(output, Output::Note(_))));
    assert_eq!(composer.content().pins.len(), 1);
}
