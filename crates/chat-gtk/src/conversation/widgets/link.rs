//! Makes links in prose work by pointer and key. The menu of the message has them, too.

mod keyboard;

use std::cell::RefCell;
use std::rc::Rc;

use gtk::gdk;
use gtk::prelude::*;

use super::context::Links;
use crate::conversation::model::shown_line::ShownLine;
use crate::markdown::visible_address;

type Lines = Rc<RefCell<Vec<ShownLine>>>;

/// Makes the links of a text work: a click and Enter open them, Tab goes from one to the next, a tooltip
/// says where they lead.
pub fn attach(view: &gtk::TextView, lines: &Lines, links: &Links) {
    let opened = Rc::clone(&links.opened);
    tooltip(view, lines);
    pointer(view, lines);
    keyboard::attach(view, lines, links);
    click(view, lines, opened);
}

/// The link at a place of the text.
pub fn link_at(lines: &Lines, offset: i32) -> Option<Rc<str>> {
    let lines = lines.borrow();
    let index = lines.partition_point(|line| line.start <= offset).checked_sub(1)?;
    lines[index].link_at(offset)
}

/// The link below a point of the widget.
pub fn link_below(view: &gtk::TextView, lines: &Lines, x: f64, y: f64) -> Option<Rc<str>> {
    let (x, y) = view.window_to_buffer_coords(gtk::TextWindowType::Widget, x as i32, y as i32);
    link_at(lines, view.iter_at_location(x, y)?.offset())
}

fn tooltip(view: &gtk::TextView, lines: &Lines) {
    view.set_has_tooltip(true);
    let lines = Rc::clone(lines);
    view.connect_query_tooltip(move |view, x, y, keyboard, tooltip| {
        let link = if keyboard {
            link_at(&lines, view.buffer().cursor_position())
        } else {
            link_below(view, &lines, f64::from(x), f64::from(y))
        };
        tooltip.set_text(link.as_deref().map(visible_address).as_deref());
        link.is_some()
    });
}

/// Over a link the pointer is a hand.
fn pointer(view: &gtk::TextView, lines: &Lines) {
    let motion = gtk::EventControllerMotion::new();
    let lines = Rc::clone(lines);
    let weak = view.downgrade();
    motion.connect_motion(move |_, x, y| {
        if let Some(view) = weak.upgrade() {
            let name = if link_below(&view, &lines, x, y).is_some() { "pointer" } else { "text" };
            view.set_cursor_from_name(Some(name));
        }
    });
    view.add_controller(motion);
}

fn click(view: &gtk::TextView, lines: &Lines, opened: Rc<dyn Fn(&str)>) {
    let gesture = gtk::GestureClick::builder().button(gdk::BUTTON_PRIMARY).build();
    let lines = Rc::clone(lines);
    let weak = view.downgrade();
    gesture.connect_released(move |_, presses, x, y| {
        let Some(view) = weak.upgrade() else { return };
        // Who selects text over a link does not want to follow it.
        if presses == 1
            && !view.buffer().has_selection()
            && let Some(link) = link_below(&view, &lines, x, y)
        {
            opened(&link);
        }
    });
    view.add_controller(gesture);
}
