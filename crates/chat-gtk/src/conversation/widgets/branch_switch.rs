//! Draws “‹ 2/3 ›”: where a message stands among its versions, with arrows to the others.

use std::cell::Cell;
use std::rc::Rc;

use gtk::prelude::*;

use super::context::{Output, Side};
use crate::accessible;
use crate::conversation::model::entry::Siblings;

/// The place of a message among its versions, and the arrows. Hidden where there are no others.
pub struct BranchSwitch {
    root: gtk::Box,
    place: gtk::Label,
    steps: [gtk::Button; 2],
    siblings: Rc<Cell<Option<Siblings>>>,
    is_held: Cell<bool>,
}

impl BranchSwitch {
    /// A switch whose arrows have these names.
    pub fn new(names: [&str; 2], output: &Rc<dyn Fn(Output)>) -> Self {
        let siblings = Rc::<Cell<Option<Siblings>>>::default();
        let steps = [
            footer_button("go-previous-symbolic", names[0]),
            footer_button("go-next-symbolic", names[1]),
        ];
        for (step, side) in steps.iter().zip([Side::Before, Side::Behind]) {
            // So that only the keyboard gives it the focus.
            step.set_focus_on_click(false);
            let (send, siblings) = (Rc::clone(output), Rc::clone(&siblings));
            step.connect_clicked(move |step| {
                let Some(siblings) = siblings.get() else { return };
                let next = match side {
                    Side::Before => siblings.before,
                    Side::Behind => siblings.behind,
                };
                if let Some(message) = next {
                    let keyboard = step.is_focus().then_some(side);
                    send(Output::ShowBranch { message, keyboard });
                }
            });
        }
        let place = gtk::Label::builder().css_classes(["numeric", "reply-place"]).build();
        let root = gtk::Box::builder().visible(false).build();
        root.append(&steps[0]);
        root.append(&place);
        root.append(&steps[1]);
        Self { root, place, steps, siblings, is_held: Cell::default() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Where the message stands; none where there are no others. `is_held`: no other can be shown now, since a request
    /// is at work.
    pub fn set(&self, siblings: Option<Siblings>, is_held: bool) {
        let is_same = self.siblings.replace(siblings) == siblings;
        if self.is_held.replace(is_held) == is_held && is_same {
            return;
        }
        self.root.set_visible(siblings.is_some());
        if let Some(Siblings { place, count, before, behind }) = siblings {
            self.place.set_text(&format!("{place}/{count}"));
            for (step, next) in self.steps.iter().zip([before, behind]) {
                // The keyboard must not be left with nothing.
                let can_go = !is_held || step.has_focus();
                step.set_sensitive(next.is_some() && can_go);
            }
        }
    }

    /// The button that goes to the version at this side; at the end, the other one. None where there are no others.
    pub fn step(&self, side: Side) -> Option<gtk::Button> {
        self.siblings.get()?;
        let [before, behind] = &self.steps;
        let both = match side {
            Side::Before => [before, behind],
            Side::Behind => [behind, before],
        };
        both.into_iter().find(|step| step.is_sensitive()).cloned()
    }
}

/// A small button of the line below a message.
pub fn footer_button(icon: &str, name: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(name)
        .css_classes(["flat", "footer-button"])
        .build();
    accessible::set_label(&button, name);
    button
}
