//! Handles keys of the model dropdown that GTK does not handle.

use std::rc::Rc;

use gtk::{gdk, glib};
use relm4::gtk;
use relm4::gtk::prelude::*;

use super::{Inner, Output};

pub(super) fn connect(inner: &Rc<Inner>, output: &Rc<dyn Fn(Output)>) {
    connect_list(inner, output);
    connect_search(inner, output);
}

/// Handles Enter, and passes letters that are typed in the list on to the search while the list
/// keeps the focus.
fn connect_list(inner: &Rc<Inner>, output: &Rc<dyn Fn(Output)>) {
    let enter = gtk::EventControllerKey::new();
    let weak = Rc::downgrade(inner);
    let told = Rc::clone(output);
    enter.connect_key_pressed(move |_, key, _, _| {
        let returns = [gdk::Key::Return, gdk::Key::KP_Enter, gdk::Key::ISO_Enter];
        let unread = weak.upgrade().filter(|inner| returns.contains(&key) && inner.is_behind());
        match unread {
            Some(inner) => {
                inner.take_found(&told);
                glib::Propagation::Stop
            }
            None => glib::Propagation::Proceed,
        }
    });
    enter.set_propagation_phase(gtk::PropagationPhase::Capture);
    inner.list.widget().add_controller(enter);
}

/// Down moves into the list, and Ctrl+D toggles whether its selected model is a favourite.
fn connect_search(inner: &Rc<Inner>, output: &Rc<dyn Fn(Output)>) {
    let keys = gtk::EventControllerKey::new();
    let weak = Rc::downgrade(inner);
    let told = Rc::clone(output);
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        let Some(inner) = weak.upgrade() else { return glib::Propagation::Proceed };
        let control = modifiers.contains(gdk::ModifierType::CONTROL_MASK);
        match key {
            gdk::Key::Down | gdk::Key::KP_Down => inner.list.focus(),
            gdk::Key::d if control => {
                if let Some(toggled) = inner.list.toggle_favourite() {
                    inner.hear_list(toggled, &told);
                }
            }
            _ => return glib::Propagation::Proceed,
        }
        glib::Propagation::Stop
    });
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    inner.search.add_controller(keys);
}
