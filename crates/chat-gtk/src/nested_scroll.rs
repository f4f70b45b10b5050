//! Passes mouse wheel events on from a scroller, or from a number field, to the scroller around it.
//!
//! A GTK scrolled window consumes every scroll event, even where it has nothing to scroll in that
//! direction: over a code block the conversation would not scroll.

use gtk::gdk;
use gtk::glib;
use gtk::prelude::*;

/// Less than this, in pixels, is not worth scrolling.
const LEAST: f64 = 0.5;

/// Makes the surrounding scroller scroll wherever this one cannot. This one keeps horizontal
/// scrolling, and vertical scrolling until it reaches its end.
///
/// GTK's own controllers do the scrolling in both; this only decides which of them receive an
/// event, so that wheels, touchpads and their momentum behave as everywhere else.
pub fn pass_on(scroller: &gtk::ScrolledWindow) {
    let mut own = scroll_controllers(scroller.upcast_ref());
    add_inner(&scroller.hscrollbar(), &mut own);
    let judge = gtk::EventControllerScroll::new(gtk::EventControllerScrollFlags::BOTH_AXES);
    judge.set_propagation_phase(gtk::PropagationPhase::Capture);
    let weak = scroller.downgrade();
    judge.connect_scroll(move |judge, across, along| {
        let Some(scroller) = weak.upgrade() else { return glib::Propagation::Proceed };
        let sideways = judge.current_event_state().contains(gdk::ModifierType::SHIFT_MASK)
            || across.abs() > along.abs();
        let phase = if sideways || can_scroll(&scroller, along) {
            gtk::PropagationPhase::Bubble
        } else {
            gtk::PropagationPhase::None
        };
        for controller in own.iter().filter(|one| one.propagation_phase() != phase) {
            controller.set_propagation_phase(phase);
        }
        glib::Propagation::Proceed
    });
    scroller.add_controller(judge);
}

/// Makes the wheel scroll the widget around a number. By itself it would change a number that
/// happens to be under the pointer.
pub fn pass_on_from_number(number: &gtk::SpinButton) {
    for wheel in scroll_controllers(number.upcast_ref()) {
        number.remove_controller(&wheel);
    }
}

/// Whether the scroller can still scroll in this vertical direction.
fn can_scroll(scroller: &gtk::ScrolledWindow, along: f64) -> bool {
    if scroller.vscrollbar_policy() == gtk::PolicyType::Never {
        return false;
    }
    let adjustment = scroller.vadjustment();
    let (value, end) = (adjustment.value(), adjustment.upper() - adjustment.page_size());
    if along < 0.0 { value - adjustment.lower() > LEAST } else { end - value > LEAST }
}

fn scroll_controllers(widget: &gtk::Widget) -> Vec<gtk::EventController> {
    let controllers = widget.observe_controllers();
    let all = (0..controllers.n_items()).filter_map(|index| controllers.item(index));
    all.filter(gtk::prelude::ObjectExt::is::<gtk::EventControllerScroll>)
        .filter_map(|one| one.downcast().ok())
        .collect()
}

/// Adds the controllers of a widget and of everything inside it.
fn add_inner(widget: &gtk::Widget, out: &mut Vec<gtk::EventController>) {
    out.extend(scroll_controllers(widget));
    let mut child = widget.first_child();
    while let Some(inner) = child {
        add_inner(&inner, out);
        child = inner.next_sibling();
    }
}
