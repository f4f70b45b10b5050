//! Makes links work by keyboard: Tab goes from one to the next, Enter opens, and the target is shown while the
//! caret is on one.

use std::ops::Range;
use std::rc::Rc;

use gtk::prelude::*;
use gtk::{gdk, glib};

use super::super::context::{Aimed, Links, Revealed};
use super::{Lines, link_at};

/// Makes the links of a text work by keyboard.
pub fn attach(view: &gtk::TextView, lines: &Lines, links: &Links) {
    keys(view, lines, links);
    caret(view, Rc::clone(&links.revealed));
    aim(view, lines, Rc::clone(&links.aimed));
}

fn keys(view: &gtk::TextView, lines: &Lines, links: &Links) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let lines = Rc::clone(lines);
    let (opened, revealed) = (Rc::clone(&links.opened), Rc::clone(&links.revealed));
    let weak = view.downgrade();
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        let Some(view) = weak.upgrade() else { return glib::Propagation::Proceed };
        let taken = match key {
            gdk::Key::Return | gdk::Key::KP_Enter | gdk::Key::ISO_Enter => {
                let link = link_at(&lines, view.buffer().cursor_position());
                link.inspect(|link| opened(link)).is_some()
            }
            gdk::Key::Tab | gdk::Key::KP_Tab if modifiers.is_empty() => {
                step(&view, &lines, true, &revealed)
            }
            gdk::Key::ISO_Left_Tab => step(&view, &lines, false, &revealed),
            _ => false,
        };
        if taken { glib::Propagation::Stop } else { glib::Propagation::Proceed }
    });
    view.add_controller(keys);
}

/// Goes to the next link, or the one before, and chooses its text so that one sees it. Whether
/// there is one.
fn step(view: &gtk::TextView, lines: &Lines, forward: bool, revealed: &Revealed) -> bool {
    let buffer = view.buffer();
    let (from, until) = match buffer.selection_bounds() {
        Some((start, end)) => (end.offset(), start.offset()),
        None => (buffer.cursor_position(), buffer.cursor_position()),
    };
    let all = places(lines);
    let next = if forward {
        all.iter().find(|place| place.start >= from)
    } else {
        all.iter().rev().find(|place| place.end <= until)
    };
    let Some(place) = next else {
        // Who comes back begins again; nothing stays chosen.
        buffer.place_cursor(&buffer.start_iter());
        return false;
    };
    let start = buffer.iter_at_offset(place.start);
    buffer.select_range(&start, &buffer.iter_at_offset(place.end));
    revealed(view, place.start as usize);
    true
}

/// Where links stand in the text, in order, in characters.
fn places(lines: &Lines) -> Vec<Range<i32>> {
    let mut out: Vec<Range<i32>> = Vec::new();
    for line in lines.borrow().iter() {
        let mut last = None;
        for (place, link) in line.links() {
            match out.last_mut() {
                // One link, part of which is set otherwise.
                Some(before) if before.end == place.start && last.as_ref() == Some(&link) => {
                    before.end = place.end;
                }
                _ => out.push(place),
            }
            last = Some(link);
        }
    }
    out
}

/// With the keyboard a caret is needed to reach a place; with the pointer it is in the way.
fn caret(view: &gtk::TextView, revealed: Revealed) {
    let focus = gtk::EventControllerFocus::new();
    let weak = view.downgrade();
    // GTK hides it when the focus leaves, if it is still meant to be seen then.
    focus.connect_enter(move |_| {
        let Some(view) = weak.upgrade() else { return };
        let window = view.root().and_downcast::<gtk::Window>();
        view.set_cursor_visible(window.is_some_and(|window| window.gets_focus_visible()));
    });
    view.add_controller(focus);
    // What keys do to it is done once they were heard.
    view.connect_local("move-cursor", true, move |values| {
        let view = values.first().and_then(|value| value.get::<gtk::TextView>().ok());
        if let Some(view) = view.filter(gtk::TextView::is_cursor_visible) {
            revealed(&view, view.buffer().cursor_position() as usize);
        }
        None
    });
}

/// Tells where the link leads that the caret is on.
fn aim(view: &gtk::TextView, lines: &Lines, aimed: Aimed) {
    let (lines, tell) = (Rc::clone(lines), Rc::clone(&aimed));
    let weak = view.downgrade();
    view.buffer().connect_cursor_position_notify(move |buffer| {
        if weak.upgrade().is_some_and(|view| view.has_focus() && view.is_cursor_visible()) {
            // The lines are being changed where text is added.
            if let Ok(shown) = lines.try_borrow() {
                drop(shown);
                tell(link_at(&lines, buffer.cursor_position()).as_deref());
            }
        }
    });
    let focus = gtk::EventControllerFocus::new();
    focus.connect_leave(move |_| aimed(None));
    view.add_controller(focus);
}
