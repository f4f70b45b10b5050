//! A plan that is ready: a line below the reply that made it, with the button that starts it.

use chat_core::manager::SessionChange;
use chat_core::message::{ChatRequest, Content};
use chat_core::permission::Mode;
use gettextrs::gettext;
use gtk::gio;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::shown::Shown;
use super::view::{View, tells};
use super::{ChatWidget, Told};
use crate::models::has_keyboard;

/// The line.
#[derive(Debug)]
pub(super) struct PlanReady {
    root: gtk::Box,
}

impl PlanReady {
    /// No plan, which is not seen.
    pub(super) fn new(sender: &ComponentSender<ChatWidget>) -> Self {
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
            .tooltip_text(gettext("Run the plan and ask before each change"))
            .dropdown_tooltip(gettext("More Start Options"))
            .menu_model(&more)
            .build();
        let root = gtk::Box::builder()
            .spacing(8)
            .visible(false)
            .css_classes(["plan", "plan-ready"])
            .build();
        root.append(&words);
        root.append(&start);
        let told = tells(sender, Told::StartPlan);
        start.connect_clicked(move |_| told(Mode::Ask));
        let told = tells(sender, Told::StartPlan);
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

impl ChatWidget {
    /// Whether the last reply of the shown chat is a plan that can be started.
    pub(super) fn show_plan_ready(&self, view: &View) {
        let ready = matches!(&self.shown, Shown::Open(session)
            if session.mode == Mode::Plan && session.project.is_some() && !session.in_use)
            && !self.shown.is_busy()
            && view.conversation.ends_with_reply();
        if view.plan_ready.show(ready) {
            view.composer.focus();
        }
    }

    /// Has the plan carried out, in this mode from now on.
    pub(super) fn start_plan(&mut self, mode: Mode, view: &View, sender: &ComponentSender<Self>) {
        let Some(fid) = self.shown.fid().cloned() else { return };
        view.plan_ready.show(false);
        view.composer.focus();
        view.conversation.go_to_end();
        let without = self.leave_behind(view);
        let request = ChatRequest {
            session: Some(fid.clone()),
            content: Content::text(gettext("Run the plan.")),
            context: self.along_without(&without),
            ..ChatRequest::default()
        };
        self.run(sender, async move |manager| {
            // Not before the mode holds: the reply works in that which it begins with.
            let change = SessionChange { mode: Some(mode), ..SessionChange::default() };
            manager.sessions().change(&fid, change).await?;
            manager.send(request).await.map(drop)
        });
    }
}
