//! Selecting text across the blocks of a reply: by pointer and keyboard, while rows come and go, and what is copied.

use chat_core::message::{Message, Role};
use chat_gtk::conversation::Output;
use gtk::glib;
use gtk::graphene::Rect;
use gtk::prelude::*;

use crate::scene::{Scene, added, chat, reply, snapshot, until, walk};

const TEXT: &str = "# The *head*\n\nSome **bold** words.\n\n- first item\n- second item\n\n```py\nprint(1)\nprint(2)\n\
    ```\n\n| A | B |\n|---|--:|\n| cell one | cell two |\n\n> a quote\n\nThe end.";

impl Scene {
    fn column(&self) -> gtk::Widget {
        let mut found = None;
        walk(self.conversation.widget(), &mut |widget| {
            if widget.type_().name() == "NatterConversationColumn" {
                found = Some(widget.clone());
            }
        });
        found.expect("the column")
    }

    fn controllers<T: IsA<glib::Object>>(&self) -> Vec<T> {
        let all = self.column().observe_controllers();
        (0..all.n_items()).filter_map(|at| all.item(at).and_downcast::<T>()).collect()
    }

    fn primary_click(&self) -> gtk::GestureClick {
        let clicks = self.controllers::<gtk::GestureClick>();
        clicks.into_iter().find(|click| click.button() == 1).expect("a gesture")
    }

    fn drag_gesture(&self) -> gtk::GestureDrag {
        self.controllers::<gtk::GestureDrag>().pop().expect("a gesture")
    }

    /// Where the place before these words is seen, in the column; with `behind`, that behind them.
    pub fn point(&self, words: &str, behind: bool) -> (f64, f64) {
        let column = self.column();
        let mut found = None;
        walk(&column.clone(), &mut |widget| {
            if found.is_some() || !widget.is_mapped() {
                return;
            }
            let letter = |text: &str| {
                let at = text.find(words)?;
                let end = if behind { at + words.len() } else { at };
                Some((text[..end].chars().count(), end))
            };
            let area = if let Some(view) = widget.downcast_ref::<gtk::TextView>() {
                let buffer = view.buffer();
                let text = buffer.slice(&buffer.start_iter(), &buffer.end_iter(), true);
                let Some((letter, _)) = letter(&text) else { return };
                let at = view.iter_location(&buffer.iter_at_offset(letter as i32));
                let (x, y) =
                    view.buffer_to_window_coords(gtk::TextWindowType::Widget, at.x(), at.y());
                Rect::new(x as f32, y as f32, 0.0, at.height() as f32)
            } else if let Some(label) = widget.downcast_ref::<gtk::Label>() {
                let Some((_, byte)) = letter(&label.text()) else { return };
                let at = label.layout().index_to_pos(byte as i32);
                let (x, y) = label.layout_offsets();
                let scale = gtk::pango::SCALE;
                let (x, y) = (x + at.x() / scale, y + at.y() / scale);
                Rect::new(x as f32, y as f32, 0.0, (at.height() / scale) as f32)
            } else {
                return;
            };
            let (x, y) = (f64::from(area.x()), f64::from(area.y() + area.height() / 2.0));
            found = widget.translate_coordinates(&column, x, y);
        });
        found.unwrap_or_else(|| panic!("{words} is not seen"))
    }

    fn press_at(&self, times: i32, (x, y): (f64, f64)) {
        self.primary_click().emit_by_name::<()>("pressed", &[&times, &x, &y]);
    }

    fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.press_at(1, from);
        let way = (to.0 - from.0, to.1 - from.1);
        let drag = self.drag_gesture();
        for part in [0.3, 0.7, 1.0] {
            drag.emit_by_name::<()>("drag-update", &[&(way.0 * part), &(way.1 * part)]);
        }
        drag.emit_by_name::<()>("drag-end", &[&way.0, &way.1]);
    }

    fn click(&self, times: i32, point: (f64, f64)) {
        self.press_at(times, point);
        self.drag_gesture().emit_by_name::<()>("drag-end", &[&0.0, &0.0]);
    }

    /// Presses a key in the column. Whether it was taken.
    fn key(&self, key: gtk::gdk::Key, modifiers: gtk::gdk::ModifierType) -> bool {
        let key = glib::translate::IntoGlib::into_glib(key);
        let keys = self.controllers::<gtk::EventControllerKey>();
        let taken = keys
            .iter()
            .any(|keys| keys.emit_by_name::<bool>("key-pressed", &[&key, &0_u32, &modifiers]));
        self.settle();
        taken
    }

    /// The text that is on the clipboard.
    pub fn copied(&self) -> String {
        let content = self.column().clipboard().content().expect("something was copied");
        let value = content.value(glib::Type::STRING).expect("a text");
        value.get().expect("a text")
    }

    fn selected(&self) -> String {
        self.conversation.selected_text().unwrap_or_default()
    }

    /// How many rectangles of the selection's colour are painted.
    fn painted(&self) -> usize {
        self.settle();
        let column = self.column();
        let context = column.style_context();
        let accent = context.lookup_color("accent_bg_color").expect("a colour");
        let snapshot = gtk::Snapshot::new();
        gtk::WidgetPaintable::new(Some(&column)).current_image().snapshot(
            &snapshot,
            f64::from(column.width()),
            f64::from(column.height()),
        );
        let text = snapshot.to_node().map(|node| node.serialize());
        let text = String::from_utf8_lossy(&text.expect("a node")).into_owned();
        let count = |colour: gtk::gdk::RGBA, strength: &str| {
            let part = |part: f32| (part * 255.0).round() as u8;
            let [red, green, blue] = [colour.red(), colour.green(), colour.blue()].map(part);
            text.matches(&format!("rgba({red},{green},{blue},{strength}")).count()
        };
        // Where the keyboard is elsewhere, in the colour of the text.
        count(accent, "0.3") + count(context.color(), "0.16")
    }

    pub fn one(text: &str) -> Self {
        let scene = Self::new();
        scene.conversation.show(&snapshot(
            vec![
                Message::text(Role::User, None, "What *is* it?"),
                Message::text(Role::Assistant, None, text),
            ],
            false,
        ));
        scene.settle();
        scene
    }
}

#[gtk::test]
fn a_drag_goes_from_a_heading_into_code_and_tables() {
    let scene = Scene::one(TEXT);
    scene.drag(scene.point("head", false), scene.point("print(1)", true));
    assert_eq!(
        scene.selected(),
        "head\n\nSome bold words.\n\n• first item\n• second item\n\nprint(1)"
    );
    scene.drag(scene.point("print(2)", false), scene.point("cell two", true));
    assert_eq!(scene.selected(), "print(2)\n\nA\tB\ncell one\tcell two");
    assert!(scene.painted() >= 5, "{}", scene.painted());
    // Backwards is the same.
    scene.drag(scene.point("quote", true), scene.point("second", false));
    assert_eq!(
        scene.selected(),
        "second item\n\nprint(1)\nprint(2)\n\nA\tB\ncell one\tcell two\n\n> a quote"
    );
    assert!(scene.key(gtk::gdk::Key::c, gtk::gdk::ModifierType::CONTROL_MASK));
    // At once: the next key may paste it already.
    assert_eq!(scene.copied(), scene.selected());
    // A click selects nothing.
    scene.click(1, scene.point("Some", true));
    assert_eq!(scene.conversation.selected_text(), None);
    assert_eq!(scene.painted(), 0);
}

#[gtk::test]
fn a_drag_goes_from_a_message_into_the_reply() {
    let scene = Scene::one(TEXT);
    scene.drag(scene.point("is it", false), scene.point("The head", true));
    assert_eq!(scene.selected(), "is it?\n\nThe head");
    assert_eq!(scene.conversation.selected_markdown().as_deref(), Some("*is* it?\n\n# The *head*"));
}

#[gtk::test]
fn clicks_choose_words_and_paragraphs_and_shift_extends() {
    let scene = Scene::one(TEXT);
    let bold = scene.point("old", false);
    scene.click(2, bold);
    assert_eq!(scene.selected(), "bold");
    scene.click(3, bold);
    assert_eq!(scene.selected(), "Some bold words.");
    scene.click(3, scene.point("ell two", false));
    assert_eq!(scene.selected(), "cell two");
    scene.click(1, scene.point("words", false));
    let right = gtk::gdk::Key::Right;
    let shift = gtk::gdk::ModifierType::SHIFT_MASK;
    for _ in 0..3 {
        assert!(scene.key(right, shift));
    }
    assert_eq!(scene.selected(), "wor");
    assert!(scene.key(right, shift | gtk::gdk::ModifierType::CONTROL_MASK));
    assert_eq!(scene.selected(), "words");
    // The period, and over the end of the row.
    assert!(scene.key(gtk::gdk::Key::Down, shift));
    assert!(scene.selected().starts_with("words.\n\n• first"), "{}", scene.selected());
    for _ in 0..2 {
        assert!(scene.key(gtk::gdk::Key::Down, shift));
    }
    assert!(scene.selected().contains("second item\n\nprint"), "{}", scene.selected());
    // An arrow alone selects nothing.
    scene.key(right, gtk::gdk::ModifierType::empty());
    assert_eq!(scene.conversation.selected_text(), None);
}

#[gtk::test]
fn all_of_a_reply_is_selected_and_then_all_of_the_chat() {
    let scene = Scene::one(TEXT);
    scene.click(1, scene.point("Some", true));
    let control = gtk::gdk::ModifierType::CONTROL_MASK;
    assert!(scene.key(gtk::gdk::Key::a, control));
    assert!(scene.selected().starts_with("The head\n\n"), "{}", scene.selected());
    assert!(scene.selected().ends_with("> a quote\n\nThe end."), "{}", scene.selected());
    assert_eq!(scene.conversation.selected_markdown().as_deref(), Some(TEXT));
    assert!(scene.key(gtk::gdk::Key::a, control));
    assert!(scene.selected().starts_with("What is it?\n\nThe head"), "{}", scene.selected());
    assert!(scene.key(gtk::gdk::Key::Escape, gtk::gdk::ModifierType::empty()));
    assert_eq!(scene.conversation.selected_text(), None);
    assert!(!scene.key(gtk::gdk::Key::Escape, gtk::gdk::ModifierType::empty()));
}

#[gtk::test]
fn what_is_selected_stays_while_the_reply_grows_and_rows_come_and_go() {
    let scene = Scene::new();
    let growing = reply();
    let id = growing.id;
    let mut messages = chat(60);
    messages.push(growing);
    scene.conversation.show(&snapshot(messages, false));
    let begin = "The beginning of it.\n\n";
    scene.conversation.apply(&[added(id, 0, begin)]);
    until("it is shown", || {
        scene.settle();
        scene.texts().iter().any(|text| text.starts_with("The beginning"))
    });
    scene.drag(scene.point("beginning", false), scene.point("of it", true));
    assert_eq!(scene.selected(), "beginning of it");
    scene.conversation.apply(&[added(id, begin.len(), "And **more** of it.")]);
    scene.settle();
    assert_eq!(scene.selected(), "beginning of it");
    assert_eq!(scene.painted(), 1);
    let end = scene.adjustment().value();
    until("all is far away", || {
        scene.adjustment().set_value(0.0);
        scene.settle();
        !scene.texts().iter().any(|text| text.starts_with("The beginning"))
    });
    assert_eq!(scene.painted(), 0);
    assert_eq!(scene.selected(), "beginning of it");
    until("it is there again", || {
        scene.conversation.go_to_end();
        scene.settle();
        scene.texts().iter().any(|text| text.starts_with("The beginning"))
    });
    assert!(end > 0.0);
    until("it is painted", || scene.painted() == 1);
    let adjustment = scene.adjustment();
    let below = adjustment.upper() - adjustment.page_size() - adjustment.value();
    assert!(below.abs() < 1.0, "{below} below what should be the end");
}

#[gtk::test]
fn what_is_selected_is_dropped_where_the_text_before_it_becomes_another() {
    let scene = Scene::new();
    let growing = reply();
    let id = growing.id;
    scene.conversation.show(&snapshot(vec![growing], false));
    let begin = "Some *words and more";
    scene.conversation.apply(&[added(id, 0, begin)]);
    until("it is shown", || {
        scene.settle();
        scene.texts().iter().any(|text| text.starts_with("Some"))
    });
    scene.drag(scene.point("and more", false), scene.point("and more", true));
    assert_eq!(scene.selected(), "and more");
    scene.conversation.apply(&[added(id, begin.len(), " of it*.")]);
    until("the words lean", || {
        scene.settle();
        scene.texts().iter().any(|text| text.contains("more of it."))
    });
    // The asterisk is gone: letters would be another place.
    let selected = scene.conversation.selected_text();
    assert!(selected.as_deref().is_none_or(|it| it == "and more"), "{selected:?}");
    assert!(scene.painted() <= 1);
}

#[gtk::test]
fn pages_and_paragraphs_are_selected_by_key() {
    let scene = Scene::one("One line.\n\nAnother line.\n\n```\ncode\n```\n\nThe end.");
    scene.click(1, scene.point("One", false));
    let held = gtk::gdk::ModifierType::SHIFT_MASK | gtk::gdk::ModifierType::CONTROL_MASK;
    assert!(scene.key(gtk::gdk::Key::Down, held));
    assert_eq!(scene.selected(), "One line.");
    assert!(scene.key(gtk::gdk::Key::Down, held));
    assert_eq!(scene.selected(), "One line.\n\nAnother line.");
    assert!(scene.key(gtk::gdk::Key::Up, held));
    assert!(scene.key(gtk::gdk::Key::Page_Down, gtk::gdk::ModifierType::SHIFT_MASK));
    assert!(scene.selected().starts_with("One line."), "{}", scene.selected());
    scene.click(1, scene.point("line.", false));
    assert!(scene.key(gtk::gdk::Key::End, gtk::gdk::ModifierType::SHIFT_MASK));
    assert_eq!(scene.selected(), "line.");
    scene.click(1, scene.point("line.", false));
    assert!(scene.key(gtk::gdk::Key::Home, gtk::gdk::ModifierType::SHIFT_MASK));
    assert_eq!(scene.selected(), "One ");
}

#[gtk::test]
fn the_arrows_lead_where_they_point_in_text_from_right_to_left() {
    let scene = Scene::one("שלום עולם");
    scene.click(1, scene.point("שלום", false));
    let shift = gtk::gdk::ModifierType::SHIFT_MASK;
    for _ in 0..4 {
        assert!(scene.key(gtk::gdk::Key::Left, shift));
    }
    assert_eq!(scene.selected(), "שלום");
    assert!(scene.key(gtk::gdk::Key::End, shift));
    assert_eq!(scene.selected(), "שלום עולם");
    assert_eq!(scene.painted(), 1);
}

#[gtk::test]
fn a_click_opens_a_link_and_a_drag_over_it_does_not() {
    let scene = Scene::one("See [the manual](https://example.org/) or [x](https://example.org/x).");
    let place = scene.point("manual", false);
    let place = (place.0 + 3.0, place.1);
    scene.drag(place, scene.point("or", true));
    assert_eq!(scene.selected(), "manual or");
    assert!(scene.told.borrow().is_empty());
    scene.click(1, place);
    let opened = Output::OpenLink("https://example.org/".to_owned());
    assert_eq!(scene.told.borrow().last(), Some(&opened));
}
