//! A conversation by keyboard: links are reached, opened and brought into sight.

use chat_core::message::{Message, Role};
use chat_gtk::conversation::Output;
use gtk::glib;
use gtk::prelude::*;

use crate::scene::{Scene, snapshot, until, walk};

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
