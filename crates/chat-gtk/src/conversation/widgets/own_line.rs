//! Draws the line below a message of the user’s that has other versions.

use gettextrs::gettext;
use gtk::prelude::*;

use super::branch_switch::BranchSwitch;
use super::context::{Side, WidgetContext};
use crate::conversation::model::entry::Siblings;

/// The line, at the right end as the message is.
pub struct OwnLine {
    root: gtk::Box,
    switch: BranchSwitch,
}

impl OwnLine {
    /// The line below a message.
    pub fn new(context: &WidgetContext) -> Self {
        let names = [gettext("Previous Version"), gettext("Next Version")];
        let switch = BranchSwitch::new([&names[0], &names[1]], &context.output);
        switch.widget().set_halign(gtk::Align::End);
        switch.widget().set_hexpand(true);
        let root = gtk::Box::builder().css_classes(["own-line"]).build();
        root.append(switch.widget());
        Self { root, switch }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Where the message stands among its versions. `is_held`: no other can be shown now.
    pub fn set_siblings(&self, siblings: Option<Siblings>, is_held: bool) {
        self.switch.set(siblings, is_held);
    }

    /// The button that goes to the version at this side; at the end, the other one.
    pub fn step(&self, side: Side) -> Option<gtk::Button> {
        self.switch.step(side)
    }
}
