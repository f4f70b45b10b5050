//! A conversation by keyboard: links are reached, opened and brought into sight.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::message::{Message, Role};
use chat_gtk::conversation::{FileLocation, KnownFiles, Output};
use gtk::glib;
use gtk::prelude::*;

use crate::scene::{Scene, added, reply, snapshot, until, walk};

/// Presses a key in a text. Whether the text took it.
fn press(view: &gtk::TextView, key: gtk::gdk::Key, modifiers: gtk::gdk::ModifierType) -> bool {
    let keys = view.observe_controllers();
    (0..keys.n_items())
        .filter_map(|at| keys.item(at).and_downcast::<gtk::EventControllerKey>())
        .any(|keys| {
            let key = glib::translate::IntoGlib::into_glib(key);
            keys.emit_by_name::<bool>("key-pressed", &[&key, &0_u32, &modifiers])
        })
}

impl Scene {
    /// Presses Tab, or Shift and Tab, where the focus is.
    fn tab(&self, forward: bool) {
        let (key, modifiers, direction) = if forward {
            let none = gtk::gdk::ModifierType::empty();
            (gtk::gdk::Key::Tab, none, gtk::DirectionType::TabForward)
        } else {
            let shift = gtk::gdk::ModifierType::SHIFT_MASK;
            (gtk::gdk::Key::ISO_Left_Tab, shift, gtk::DirectionType::TabBackward)
        };
        let focus = gtk::prelude::GtkWindowExt::focus(&self.window);
        let text = focus.and_downcast::<gtk::TextView>();
        if !text.is_some_and(|text| press(&text, key, modifiers)) {
            self.window.child_focus(direction);
        }
        self.settle();
    }

    /// The link that is chosen, and its top in the sight.
    fn chosen(&self) -> Option<(String, f64)> {
        let view =
            gtk::prelude::GtkWindowExt::focus(&self.window).and_downcast::<gtk::TextView>()?;
        let (start, end) = view.buffer().selection_bounds()?;
        let place = view.iter_location(&start);
        let (x, y) =
            view.buffer_to_window_coords(gtk::TextWindowType::Widget, place.x(), place.y());
        let root = self.conversation.widget();
        let (_, y) = view.translate_coordinates(root, f64::from(x), f64::from(y))?;
        Some((view.buffer().text(&start, &end, true).to_string(), y))
    }

    /// Presses Tab until this link is chosen, which must then be in sight.
    fn tab_to(&self, link: &str, forward: bool) {
        for _ in 0..60 {
            self.tab(forward);
            if let Some((_, y)) = self.chosen().filter(|(text, _)| text == link) {
                let height = f64::from(self.conversation.widget().height());
                assert!((0.0..height - 20.0).contains(&y), "{link} stands at {y} of {height}");
                return;
            }
        }
        panic!("{link} was never reached");
    }
}

#[gtk::test]
fn a_link_that_is_reached_by_keyboard_is_brought_into_sight() {
    let scene = Scene::new();
    let words = "Some words of a paragraph.\n\n".repeat(50);
    let text = format!("[first](https://a.b/1)\n\n{words}[second](https://a.b/2) and more");
    let link = |number| format!("[link {number}](https://a.b/{number})");
    // Of the rows between these some have no widgets when the one before has the focus.
    let far = format!("{}\n\n{}\n\n{}", link(3), words.repeat(12), link(4));
    let said = |role, text: &str| Message::text(role, None, text);
    let messages = vec![
        said(Role::Assistant, &text),
        said(Role::User, "Go on"),
        said(Role::Assistant, &far),
        said(Role::User, "And now?"),
        said(Role::Assistant, &link(5)),
    ];
    scene.conversation.show(&snapshot(messages, false));
    scene.settle();
    scene.conversation.go_to_end();
    scene.adjustment().set_value(0.0);
    until("the beginning is in sight", || {
        scene.settle();
        scene.adjustment().set_value(0.0);
        scene.texts().iter().any(|text| text.starts_with("first"))
    });
    scene.settle();
    scene.window.set_focus_visible(true);
    for (name, forward) in [
        ("first", true),
        ("second", true),
        ("link 3", true),
        ("link 4", true),
        ("link 5", true),
        ("link 4", false),
        ("link 3", false),
        ("second", false),
        ("first", false),
    ] {
        scene.tab_to(name, forward);
    }
}

#[gtk::test]
fn links_are_reached_and_opened_by_keyboard_and_say_where_they_lead() {
    let scene = Scene::new();
    let text = "A [first](https://example.org/1) and a [**bold** one](https://example.org/2).";
    scene.conversation.show(&snapshot(vec![Message::text(Role::Assistant, None, text)], false));
    scene.settle();
    let mut view = None;
    walk(scene.conversation.widget(), &mut |widget| {
        view = view.take().or_else(|| widget.downcast_ref::<gtk::TextView>().cloned());
    });
    let view = view.expect("the text");
    gtk::prelude::GtkWindowExt::set_focus_visible(&scene.window, true);
    view.grab_focus();
    let buffer = view.buffer();
    buffer.place_cursor(&buffer.start_iter());
    let none = gtk::gdk::ModifierType::empty();
    let press = |key, modifiers| press(&view, key, modifiers);
    let shown = |address: &str| scene.texts().iter().any(|text| text == address);
    assert!(press(gtk::gdk::Key::Tab, none));
    assert!(shown("https://example.org/1"));
    assert!(press(gtk::gdk::Key::Tab, none));
    assert!(shown("https://example.org/2") && !shown("https://example.org/1"));
    let (start, end) = buffer.selection_bounds().expect("the link is chosen");
    assert_eq!(buffer.text(&start, &end, true), "bold one", "all of a link is one");
    assert!(press(gtk::gdk::Key::Return, none));
    assert_eq!(
        scene.told.borrow().last(),
        Some(&Output::OpenLink("https://example.org/2".to_owned()))
    );
    assert!(press(gtk::gdk::Key::ISO_Left_Tab, gtk::gdk::ModifierType::SHIFT_MASK));
    assert!(shown("https://example.org/1"));
    press(gtk::gdk::Key::Tab, none);
    press(gtk::gdk::Key::Tab, none);
    assert!(!view.has_focus(), "behind the last link Tab leaves the text");
    assert!(!buffer.has_selection() && !shown("https://example.org/2"));
}

#[gtk::test]
fn files_named_in_plain_prose_are_links_as_far_as_the_project_has_them() {
    let scene = Scene::new();
    let known = |names: &'static [&str]| -> KnownFiles {
        let has = move |path: &Path| names.iter().any(|name| Path::new(name) == path);
        (PathBuf::from("/p"), Rc::new(has))
    };
    scene.conversation.set_files(Some(known(&["src/a.rs", "a.rs"])));
    let reply = reply();
    let id = reply.id;
    scene.conversation.show(&snapshot(vec![reply], false));
    let text = "See src/a.rs:19 and **a.rs**, not src/b.rs, or a.rsx.";
    // Each letter comes by itself: a name may go on as another one.
    for (at, letter) in text.char_indices() {
        let mut buffer = [0; 4];
        scene.conversation.apply(&[added(id, at, letter.encode_utf8(&mut buffer))]);
        scene.settle();
    }
    let links = || {
        let mut out = Vec::new();
        walk(scene.conversation.widget(), &mut |widget| {
            if let Some(view) = widget.downcast_ref::<gtk::TextView>() {
                out.extend(underlined(&view.buffer()));
            }
        });
        out
    };
    until("the last word is shown", || scene.texts().iter().any(|text| text.contains("a.rsx.")));
    assert_eq!(links(), ["src/a.rs:19", "a.rs"]);
    scene.conversation.set_files(Some(known(&["src/b.rs"])));
    assert_eq!(links(), ["src/b.rs"]);
    scene.window.set_focus_visible(true);
    scene.tab_to("src/b.rs", true);
    let focus = gtk::prelude::GtkWindowExt::focus(&scene.window);
    let view = focus.and_downcast::<gtk::TextView>().expect("the text");
    assert!(press(&view, gtk::gdk::Key::Return, gtk::gdk::ModifierType::empty()));
    let place = FileLocation { path: "src/b.rs".into(), place: None };
    assert_eq!(scene.told.borrow().last(), Some(&Output::OpenFile(place)));
    scene.conversation.set_files(None);
    assert!(links().is_empty());
}

#[gtk::test]
fn files_named_in_a_table_are_links_as_far_as_the_project_has_them() {
    let scene = Scene::new();
    let known = |name: &'static str| -> KnownFiles {
        (PathBuf::from("/p"), Rc::new(move |path: &Path| path == Path::new(name)))
    };
    scene.conversation.set_files(Some(known("src/a.rs")));
    let text = "| File | Other |\n|---|---|\n| see src/a.rs:3 <b> | `src/b.rs` |";
    let mut told = reply();
    told.parts = vec![chat_core::message::Part::Text(text.to_owned())];
    scene.conversation.show(&snapshot(vec![told], false));
    scene.settle();
    let cell = |words: &str| {
        let mut found = None;
        walk(scene.conversation.widget(), &mut |widget| {
            let label = widget.downcast_ref::<gtk::Label>().cloned();
            found = found.take().or(label.filter(|label| label.text() == words));
        });
        found.unwrap_or_else(|| panic!("there is no {words}"))
    };
    let (first, other) = (cell("see src/a.rs:3 <b>"), cell("src/b.rs"));
    assert!(first.label().contains("href=\"./src/a.rs:3\""), "{}", first.label());
    assert!(!other.uses_markup());
    first.emit_by_name::<bool>("activate-link", &[&"./src/a.rs:3"]);
    let last = scene.told.borrow().last().cloned();
    let Some(Output::OpenFile(FileLocation { path, place: Some(place) })) = last else {
        panic!("{last:?}");
    };
    assert_eq!((path.as_path(), place.line), (Path::new("src/a.rs"), 3));
    scene.conversation.set_files(Some(known("src/b.rs")));
    assert!(!first.uses_markup() && first.text() == "see src/a.rs:3 <b>");
    assert!(other.label().contains("href=\"./src/b.rs\""), "{}", other.label());
    scene.conversation.set_files(None);
    assert!(!other.uses_markup() && other.text() == "src/b.rs");
}

/// What is set as a link.
fn underlined(buffer: &gtk::TextBuffer) -> Vec<String> {
    let link = buffer.tag_table().lookup("link").expect("the style of links");
    let mut out = Vec::new();
    let mut at = buffer.start_iter();
    while at.has_tag(&link) || at.forward_to_tag_toggle(Some(&link)) {
        let mut end = at;
        end.forward_to_tag_toggle(Some(&link));
        out.push(buffer.text(&at, &end, true).to_string());
        at = end;
    }
    out
}
