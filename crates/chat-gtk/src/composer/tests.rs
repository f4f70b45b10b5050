//! Tests the composer as a whole.

mod attaching;

use std::path::Path;

use chat_core::message::Mention;
use gtk::{gdk, glib};

use super::*;
use crate::choices;
use crate::main_loop::until;
use crate::project_picker::ProjectPicker;

/// The narrowest window, minus the margins around the composer.
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
    // The context usage.
    let meter = gtk::MenuButton::builder().label("⭘ 100%").css_classes(["flat"]).build();
    let about =
        [project.widget().clone().upcast(), modes.widget().clone().upcast(), meter.upcast()];
    let to = [thinking.widget().clone().upcast(), model.upcast()];
    let composer = Composer::new(&about, &to, |_| {});
    composer.set_note(Some("This model can’t use tools"));
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

/// Presses a key before any results arrived, and returns its effect when nothing was found.
fn pressed_in_vain(enter_sends: bool, key: gdk::Key) -> (bool, String) {
    let (composer, told) = composer();
    composer.set_enter_sends(enter_sends);
    composer.inner.text.buffer().insert_at_cursor("to @nobody");
    let list = composer.inner.suggestions.borrow().clone().expect("the list");
    assert!(list.press(key, gdk::ModifierType::empty()), "it is for what is found in a moment");
    composer.suggest("nobody", Vec::new());
    let is_sent = told.borrow().iter().any(|output| matches!(output, Output::Submit { .. }));
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
    let written = Written { pins: vec![Arc::new(file("a.rs"))], ..Written::text("see @a.rs") };
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
    let written = composer.content();
    assert_eq!(written.text, log, "a picture was pasted, and this was not");
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

/// A visible composer to pick in.
fn seen() -> (Composer, gtk::Window) {
    let (composer, _) = composer();
    let window = gtk::Window::builder().child(composer.widget()).decorated(false).build();
    window.present();
    let context = glib::MainContext::default();
    while composer.inner.text.width() == 0 {
        context.iteration(true);
    }
    (composer, window)
}

fn found(names: &[&str]) -> Vec<Suggestion> {
    let one = |name: &&str| Suggestion {
        icon: "x",
        name: (*name).to_owned(),
        detail: String::new(),
        description: (*name).to_owned(),
        section: None,
        choice: Choice::Pin(file(name)),
    };
    names.iter().map(one).collect()
}

#[gtk::test]
fn what_is_picked_at_the_end_of_a_line_stays_in_it() {
    let (composer, window) = seen();
    let buffer = composer.inner.text.buffer();
    buffer.set_text("see \nand mend it");
    buffer.place_cursor(&buffer.iter_at_offset(4));
    buffer.insert_at_cursor("@ma");
    composer.suggest("ma", found(&["main.rs"]));
    let list = composer.inner.suggestions.borrow().clone().expect("the list");
    assert!(list.press(gdk::Key::Return, gdk::ModifierType::empty()));
    buffer.insert_at_cursor("now");
    assert_eq!(composer.content().text, "see @main.rs now\nand mend it");
    window.destroy();
}

#[gtk::test]
fn another_word_begins_with_the_first_that_is_found() {
    let (composer, window) = seen();
    let buffer = composer.inner.text.buffer();
    let list = composer.inner.suggestions.borrow().clone().expect("the list");
    let none = gdk::ModifierType::empty();
    buffer.insert_at_cursor("@pars");
    composer.suggest("pars", found(&["parser", "sparse"]));
    assert!(list.press(gdk::Key::Down, none));
    // More results arrive for the same word: the selection stays.
    composer.suggest("pars", found(&["parser", "sparse", "parsec"]));
    buffer.insert_at_cursor("e");
    composer.suggest("parse", found(&["parser", "parsec"]));
    assert!(list.press(gdk::Key::Return, none));
    assert_eq!(composer.content().text, "@parser ");
    window.destroy();
}

#[gtk::test]
fn the_list_stays_above_the_composer_however_long_the_names_are() {
    for width in [NARROWEST, 520, 900] {
        let (composer, _) = composer();
        let window = gtk::Window::builder()
            .child(composer.widget())
            .default_width(width)
            .decorated(false)
            .build();
        window.present();
        let context = glib::MainContext::default();
        while composer.inner.text.width() == 0 {
            context.iteration(true);
        }
        let text = composer.inner.text.buffer();
        let line = |window: &gtk::Window| "m ".repeat(window.width() as usize / 20);
        text.insert_at_cursor(&(line(&window) + "@a"));
        let name = "a-long-name-of-a-file-".repeat(9);
        let choice = Choice::Pin(file(&name));
        let found = Suggestion {
            icon: "x",
            name: name.clone(),
            detail: name.clone(),
            description: name,
            section: None,
            choice,
        };
        let room = composer.widget().width();
        composer.suggest("a", vec![found]);
        let list = composer.inner.suggestions.borrow().clone().expect("the list");
        let (from, to) = list.extent();
        assert!(from >= 0 && to <= room && to - from > 200, "{from} to {to} of {room}");
        window.destroy();
    }
}

/// The controller of this kind that receives text from elsewhere.
fn controller<T: IsA<gtk::EventController> + IsA<glib::Object>>(composer: &Composer) -> T {
    let all = composer.inner.text.observe_controllers();
    let ours = (0..all.n_items()).filter_map(|at| all.item(at)?.downcast::<T>().ok());
    let mut ours = ours.filter(|it| it.propagation_phase() == gtk::PropagationPhase::Capture);
    ours.next().expect("a controller of the composer's own")
}

#[gtk::test]
fn what_is_dropped_or_pasted_by_the_middle_button_is_treated_alike() {
    let (composer, _) = composer();
    let (text, log) = (&composer.inner.text, "a\n".repeat(100));
    let drop = |dropped: &str| {
        let target = controller::<gtk::DropTarget>(&composer);
        target.emit_by_name::<bool>("drop", &[&glib::BoxedValue(dropped.to_value()), &0.0, &0.0])
    };
    let context = glib::MainContext::default();
    let press = |primary: &str| {
        text.primary_clipboard().set_text(primary);
        let before = composer.content();
        let click = controller::<gtk::GestureClick>(&composer);
        click.emit_by_name::<()>("pressed", &[&1, &0.0, &0.0]);
        while composer.content() == before {
            context.iteration(true);
        }
    };
    let put_in: [&dyn Fn(&str); 2] = [&|text| assert!(drop(text)), &press];
    for put_in in put_in {
        composer.take();
        put_in("short");
        assert_eq!(composer.content(), Written::text("short"));
        put_in(&log);
        let written = composer.content();
        assert_eq!((written.text.as_str(), written.pins.len()), ("short", 1));
        assert_eq!(written.pins[0].what, Pinned::Text(log.clone()));
    }
}

fn page(url: &str) -> Pin {
    let what = Pinned::Mention(Mention::Page { url: url.to_owned(), text: String::new() });
    Pin { label: url.to_owned(), word: Some(format!("@{url}")), what }
}

/// The lists of wanted pages that were reported, in order.
fn waited_for(told: &Rc<RefCell<Vec<Output>>>) -> Vec<Vec<String>> {
    let told = std::mem::take(&mut *told.borrow_mut());
    let pages = told.into_iter().filter_map(|output| match output {
        Output::Pages(pages) => Some(pages),
        _ => None,
    });
    pages.collect()
}

#[gtk::test]
fn a_page_is_waited_for_as_long_as_its_word_stands_there() {
    let (composer, told) = composer();
    let url = || "https://a.org".to_owned();
    let written =
        Written { pins: vec![Arc::new(page(&url()))], ..Written::text(format!("see @{}", url())) };
    composer.set_content(&written);
    assert_eq!(waited_for(&told), [vec![url()]]);
    let buffer = composer.inner.text.buffer();
    buffer.insert_at_cursor(" and more");
    assert!(waited_for(&told).is_empty(), "it is waited for already");
    composer.inner.submit(false);
    assert!(told.borrow().iter().any(|output| matches!(output, Output::Hindered(_))));
    composer.inner.unpin(0);
    assert_eq!(waited_for(&told), [Vec::<String>::new()]);
    assert!(!composer.page_came(&url(), None), "nobody waits for it");
    buffer.undo();
    assert_eq!(waited_for(&told), [vec![url()]]);
    assert!(composer.page_came(&url(), Some("its text".to_owned())));
    assert_eq!(waited_for(&told), [Vec::<String>::new()]);
    let Pinned::Mention(Mention::Page { text, .. }) = &composer.content().pins[0].what else {
        panic!("a page")
    };
    assert_eq!(text, "its text");
    composer.set_content(&written);
    assert!(composer.page_came(&url(), None), "it is waited for, and could not be had");
    assert_eq!(composer.content().pins, []);
}

#[gtk::test]
fn a_long_text_with_much_pinned_to_it_is_typed_into_at_once() {
    let (composer, _) = composer();
    let names: Vec<_> = (0..100).map(|number| format!("src/file-{number}.rs")).collect();
    let words: Vec<_> = names.iter().map(|name| format!("@{name} ")).collect();
    let text = "a line of a text that is about as long as a line is\n".repeat(20_000);
    let pins = names.iter().map(|name| Arc::new(file(name))).collect();
    composer.set_content(&Written { pins, ..Written::text(text + &words.concat()) });
    let buffer = composer.inner.text.buffer();
    let keys = (0..10).map(|_| {
        let begun = std::time::Instant::now();
        buffer.insert_at_cursor("x");
        assert_eq!(composer.content().pins.len(), 100);
        begun.elapsed()
    });
    // Other load on the machine cannot make each of them slow.
    let key = keys.min().unwrap_or_default();
    assert!(key < std::time::Duration::from_millis(16), "{key:?} of a frame's 16 ms");
}

#[gtk::test]
fn a_name_that_is_written_out_goes_along() {
    let (composer, _) = composer();
    let is_file = |path: &Path| (path == Path::new("a.rs")).then_some(AtTarget::File);
    composer.set_names(Some(Names::new("/p".into(), is_file)));
    let labels = |written: Written| -> Vec<String> {
        written.pins.iter().map(|pin| pin.label.clone()).collect()
    };
    let buffer = composer.inner.text.buffer();
    buffer.insert_at_cursor("see @a.r");
    buffer.insert_at_cursor("s");
    assert!(labels(composer.content()).is_empty(), "it may go on");
    buffer.insert_at_cursor(", @a.rs:2-3 and @b.rs @you");
    assert_eq!(labels(composer.content()), ["a.rs", "a.rs:2-3"]);
    assert_eq!(composer.unknown_names(&composer.content()), ["@b.rs"]);
    composer.inner.unpin(0);
    assert_eq!(composer.content().text, "see a.rs, @a.rs:2-3 and @b.rs @you");
    buffer.insert_at_cursor(" @a.rs");
    let (content, mentions) = composer.take().content();
    assert_eq!((content.text.len(), mentions.len()), (40, 2));
    // A project that no longer exists has no names.
    composer.set_content(&Written::text("see @a.rs now"));
    assert_eq!(labels(composer.content()), ["a.rs"]);
    composer.set_names(None);
    assert!(labels(composer.content()).is_empty());
}

#[gtk::test]
fn new_names_in_an_edited_message_are_mentions() {
    let (composer, _) = composer();
    let is_file = |path: &Path| {
        [Path::new("a.rs"), Path::new("b.rs")].contains(&path).then_some(AtTarget::File)
    };
    composer.set_names(Some(Names::new("/p".into(), is_file)));
    let before = PlainWords::of("see @a.rs");
    let mentions = composer.mentions("see @a.rs, @b.rs and @b.rs, @c.rs", &before);
    let [Mention::File { path, .. }] = &mentions[..] else { panic!("{mentions:?}") };
    assert!(path.ends_with("b.rs"), "{path:?}");
    assert!(composer.content().pins.is_empty(), "the composer has nothing of it");
}

#[gtk::test]
fn names_in_what_was_pasted_are_text() {
    let (composer, told) = composer();
    let is_file = |path: &Path| (path == Path::new("a.rs")).then_some(AtTarget::File);
    composer.set_names(Some(Names::new("/p".into(), is_file)));
    let looks_for = |told: &Rc<RefCell<Vec<Output>>>| {
        told.borrow().iter().any(|output| matches!(output, Output::LookFor(Some(_))))
    };
    let paste = |text: &str| composer.inner.paste(text);
    let unknown = || composer.unknown_names(&composer.content());
    let pinned = || composer.content().pins.len();
    let pasted = "{ \"@types/node\": 1 }\nsee @https://example.org/ and @b/c.rs\n@app.route\n@a.rs";
    let buffer = composer.inner.text.buffer();
    paste(pasted);
    buffer.insert_at_cursor(", and");
    assert_eq!((pinned(), unknown()), (0, Vec::new()));
    assert!(!looks_for(&told));
    // Nor when it is undone and redone, or restored as a draft.
    let whole = composer.content();
    buffer.undo();
    buffer.undo();
    assert_eq!(composer.content().text, "");
    buffer.redo();
    assert_eq!((composer.content().text.as_str(), pinned()), (pasted, 0));
    composer.set_content(&whole);
    assert_eq!((composer.content(), unknown()), (whole.clone(), Vec::new()));
    // Typing into its middle still shows suggestions.
    buffer.place_cursor(&buffer.iter_at_offset(1));
    buffer.insert_at_cursor(" @a.rs:2, @d.rs ");
    assert_eq!((pinned(), unknown()), (1, vec!["@d.rs".to_owned()]));
    // A pasted word counts as a mention once it is typed.
    composer.take();
    paste("a log of @a.rs\n");
    buffer.set_text("");
    assert_eq!(pinned(), 0);
    for letter in "see @a.rs".chars() {
        buffer.insert_at_cursor(&letter.to_string());
    }
    buffer.insert_at_cursor(" ");
    assert_eq!(pinned(), 1);
    // A typed word can be moved by cutting and pasting.
    composer.take();
    buffer.insert_at_cursor("see @a.rs now");
    buffer.set_text("");
    paste("see @a.rs now");
    assert_eq!(pinned(), 1);
    // Also into another chat's message.
    composer.set_content(&Written::default());
    paste("see @a.rs now");
    assert_eq!(pinned(), 1);
    // Code that is typed by hand names no files.
    composer.take();
    buffer
        .insert_at_cursor("\"@types/node\", `@scope/package` and @app.route(\"/x\") or \"@c.rs\" ");
    assert_eq!(unknown(), ["@c.rs"]);
}

#[gtk::test]
fn names_in_a_long_pasted_text_stay_text_in_the_message() {
    let (composer, _) = composer();
    let is_file = |path: &Path| (path == Path::new("a.rs")).then_some(AtTarget::File);
    composer.set_names(Some(Names::new("/p".into(), is_file)));
    let long = format!("@a.rs {}", "and on ".repeat(1_000));
    composer.inner.paste(&long);
    assert_eq!(composer.content().pins.len(), 1);
    composer.inner.put_into_text(0);
    assert_eq!(composer.content().text, long);
    assert_eq!(composer.content().pins, []);
}

#[gtk::test]
fn the_cursor_is_seen_after_a_text_was_pasted_that_does_not_fit() {
    let (composer, _) = composer();
    let window = gtk::Window::builder()
        .default_width(500)
        .default_height(600)
        .child(composer.widget())
        .build();
    window.present();
    let text = composer.inner.text.clone();
    until("the field", || text.height() > 0);
    composer.inner.paste(&"a line of some words\n".repeat(70));
    let bottom = || {
        let cursor = text.iter_location(&text.buffer().iter_at_mark(&text.buffer().get_insert()));
        let seen = text.visible_rect();
        (cursor.y() + cursor.height()) - (seen.y() + seen.height())
    };
    until("the field in its height", || composer.inner.scroller.height() > 150);
    until("the cursor in sight", || bottom() <= 0);
    let adjustment = composer.inner.scroller.vadjustment();
    assert!(adjustment.upper() > adjustment.page_size(), "it does not fit");
}
