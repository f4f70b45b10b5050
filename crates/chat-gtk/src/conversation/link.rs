//! Links in prose: what a pointer, a key or the context menu does with them.

mod keyboard;

use std::cell::RefCell;
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;
use gtk::{gdk, gio};

use super::files::Files;
use super::prose::Shown;
use crate::markdown::visible_address;

type Lines = Rc<RefCell<Vec<Shown>>>;

/// Told where a link leads; none where there is none any more.
pub type Aimed = Rc<dyn Fn(Option<&str>)>;

/// Who is told of links.
#[derive(Clone)]
pub struct Links {
    /// One is opened.
    pub opened: Rc<dyn Fn(&str)>,
    /// One has the keyboard, or none has it any more.
    pub aimed: Aimed,
    /// Names of these are links, too.
    pub files: Files,
}

/// Makes the links of a text work: a click and Enter open them, Tab goes from one to the next, a tooltip
/// says where they lead,
/// and the context menu can copy the address.
pub fn attach(view: &gtk::TextView, lines: &Lines, links: &Links) {
    let opened = Rc::clone(&links.opened);
    tooltip(view, lines);
    pointer(view, lines);
    keyboard::attach(view, lines, links);
    menu(view, lines, Rc::clone(&opened));
    click(view, lines, opened);
}

/// The link at a place of the text.
fn link_at(lines: &Lines, offset: i32) -> Option<Rc<str>> {
    let lines = lines.borrow();
    let index = lines.partition_point(|line| line.start <= offset).checked_sub(1)?;
    lines[index].link_at(offset)
}

/// The link below a point of the widget.
fn link_below(view: &gtk::TextView, lines: &Lines, x: f64, y: f64) -> Option<Rc<str>> {
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

fn menu(view: &gtk::TextView, lines: &Lines, opened: Rc<dyn Fn(&str)>) {
    let group = gio::SimpleActionGroup::new();
    let target: Rc<RefCell<Option<Rc<str>>>> = Rc::default();
    let open = gio::SimpleAction::new("open", None);
    let at = Rc::clone(&target);
    open.connect_activate(move |_, _| {
        let link = at.borrow().clone();
        if let Some(link) = link {
            opened(&link);
        }
    });
    let copy = gio::SimpleAction::new("copy", None);
    let at = Rc::clone(&target);
    let weak = view.downgrade();
    copy.connect_activate(move |_, _| {
        if let (Some(view), Some(link)) = (weak.upgrade(), at.borrow().clone()) {
            view.clipboard().set_text(&link);
        }
    });
    group.add_action(&open);
    group.add_action(&copy);
    view.insert_action_group("link", Some(&group));

    let gesture = gtk::GestureClick::builder()
        .button(gdk::BUTTON_SECONDARY)
        .propagation_phase(gtk::PropagationPhase::Capture)
        .build();
    let lines = Rc::clone(lines);
    let weak = view.downgrade();
    gesture.connect_pressed(move |_, _, x, y| {
        let Some(view) = weak.upgrade() else { return };
        let link = link_below(&view, &lines, x, y);
        view.set_extra_menu(link.as_ref().map(|_| link_menu()).as_ref());
        target.replace(link);
    });
    view.add_controller(gesture);
}

fn link_menu() -> gio::Menu {
    let menu = gio::Menu::new();
    menu.append(Some(&gettext("Open Link")), Some("link.open"));
    menu.append(Some(&gettext("Copy Link Address")), Some("link.copy"));
    menu
}
