//! Shows the line below the reply that made a plan, with the button that starts the plan.

use std::rc::Rc;

use chat_core::permission::Mode;
use gettextrs::gettext;
use gtk::gio;
use relm4::gtk::prelude::*;

use crate::models::has_keyboard;
use crate::popover;

/// The line.
#[derive(Debug)]
pub(super) struct PlanReady {
    root: gtk::Box,
}

impl PlanReady {
    /// No plan, which is not seen. `start` is told the mode to carry it out in.
    pub(super) fn new(start: impl Fn(Mode) + 'static) -> Self {
        let told = Rc::new(start);
        let words = gtk::Label::builder()
            .label(gettext("The plan is ready"))
            .xalign(0.0)
            .hexpand(true)
            .ellipsize(gtk::pango::EllipsizeMode::End)
            .css_classes(["heading"])
            .build();
        let more = gio::Menu::new();
        more.append(Some(&gettext("Start and Edit Without Asking")), Some("plan.edits"));
        let start = adw::SplitButton::builder()
            .label(gettext("Start"))
            .tooltip_text(gettext("Implement the plan and ask before each change"))
            .dropdown_tooltip(gettext("More Start Options"))
            .menu_model(&more)
            .build();
        popover::silence_tooltip(&start);
        let root = gtk::Box::builder()
            .spacing(8)
            .visible(false)
            .css_classes(["plan", "plan-ready"])
            .build();
        root.append(&words);
        root.append(&start);
        let asking = Rc::clone(&told);
        start.connect_clicked(move |_| asking(Mode::Ask));
        let edits = gio::SimpleAction::new("edits", None);
        edits.connect_activate(move |_, _| told(Mode::Edits));
        let group = gio::SimpleActionGroup::new();
        group.add_action(&edits);
        root.insert_action_group("plan", Some(&group));
        Self { root }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows it, or not. Whether what had the keyboard is gone with it.
    pub(super) fn show(&self, ready: bool) -> bool {
        let lost = !ready && has_keyboard(&self.root);
        self.root.set_visible(ready);
        lost
    }
}
