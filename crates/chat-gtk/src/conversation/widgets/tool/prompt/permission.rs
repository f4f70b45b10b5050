//! Draws a permission request: what would be done, why it is asked, and the answers.

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::{Answer, ApprovalId, PermissionRequest, Preview};
use chat_core::permission::Action;
use chat_presentation::words::{
    REASONS_SHOWN, fill as put, more_reasons, permission_question, reasons_asked, run_time,
    stays_inside, visible,
};

use super::{Answered, answers, head, keep_draft, label, preview};
use crate::conversation::widgets::context::WidgetContext;
use crate::{accessible, adaptive_pair};

/// Fills a card with it. `bounds`: why a command is not held better, where that is to be said. Gives the card's name and what has the keyboard first.
pub fn fill(
    root: &gtk::Box,
    (id, asked): (ApprovalId, &PermissionRequest),
    bounds: Option<&str>,
    context: &WidgetContext,
    answered: &Answered,
) -> (String, gtk::Widget) {
    let question = permission_question(asked);
    let aside = gtk::Label::builder().css_classes(["ask-aside"]).build();
    let known = preview::aside(asked);
    aside.set_visible(known.is_some());
    aside.set_label(known.as_deref().unwrap_or_default());
    let title = adaptive_pair::title(&label(&question, &["ask-title"]), &aside);
    root.append(&head(icon(asked), &title));
    root.append(&preview::widget(asked, &context.style_tags));
    root.append(&reasons(asked));
    if let Some(how) = how_it_runs(asked) {
        root.append(&label(&how, &["ask-why"]));
    }
    if let Some(why) = stays_inside(asked) {
        root.append(&label(&why, &["ask-why"]));
    }
    if let Some(bounds) = bounds {
        root.append(&label(bounds, &["ask-why"]));
    }

    let entry = gtk::Entry::builder()
        .placeholder_text(gettext("Deny and tell the model…"))
        .hexpand(true)
        .valign(gtk::Align::Center)
        .build();
    accessible::set_label(&entry, &gettext("Deny and tell the model…"));
    keep_draft(&context.drafts, id, &entry);
    let said = {
        let typed = context.drafts.clone();
        move || typed.send(id)
    };
    let deny = gtk::Button::with_label(&gettext("Deny"));
    {
        let (answered, said) = (answered.clone(), said.clone());
        let deny_now = move || answered(Answer::Deny { scope: None, message: said() });
        let pressed = deny_now.clone();
        deny.connect_clicked(move |_| pressed());
        // Enter in an empty field is no answer.
        entry.connect_activate(move |entry| {
            if !entry.text().trim().is_empty() {
                deny_now();
            }
        });
    }
    let allow = gettext("Allow Once");
    let once = answered.clone();
    let can_leave = asked.preview.can_leave_sandbox();
    let first: gtk::Widget = if asked.always.is_empty() && !can_leave {
        let button = gtk::Button::builder().label(&allow).css_classes(["suggested-action"]).build();
        button.connect_clicked(move |_| once(Answer::Allow(None)));
        button.upcast()
    } else {
        let button = adw::SplitButton::builder()
            .label(&allow)
            .popover(&answers::popover(
                &asked.always,
                context.has_project.get(),
                can_leave,
                answered,
                said,
            ))
            .dropdown_tooltip(gettext("More Options"))
            .css_classes(["suggested-action"])
            .build();
        button.connect_clicked(move |_| once(Answer::Allow(None)));
        button.upcast()
    };
    root.append(&adaptive_pair::words(&entry, &adaptive_pair::buttons(&deny, &first)));
    (question, first)
}

/// Why it is asked: the most serious reasons, and the others folded away.
fn reasons(asked: &PermissionRequest) -> gtk::Box {
    let all = reasons_asked(asked);
    let (first, more) = all.split_at(all.len().min(REASONS_SHOWN));
    let shown = gtk::Box::new(gtk::Orientation::Vertical, 2);
    for reason in first {
        shown.append(&label(reason, &["ask-why"]));
    }
    if !more.is_empty() {
        let folded = gtk::Expander::builder()
            .label(more_reasons(asked.reasons.len() - first.len()))
            .child(&label(&more.join("\n"), &["ask-why"]))
            .css_classes(["ask-why"])
            .build();
        shown.append(&folded);
    }
    shown
}

/// Where a command would run, whether in the background, and for how long.
fn how_it_runs(asked: &PermissionRequest) -> Option<String> {
    let Preview::Command { folder, .. } = &asked.preview else { return None };
    let folder = folder.display().to_string();
    let place = put(&gettext("It would run in {folder}."), &[("folder", &visible(&folder))]);
    Some([Some(place), run_time(asked)].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

fn icon(asked: &PermissionRequest) -> &'static str {
    match (&asked.preview, asked.action) {
        (Preview::Command { .. }, _) | (_, Action::Run) => "utilities-terminal-symbolic",
        (Preview::Delete, _) => "user-trash-symbolic",
        (Preview::Move { .. }, _) => "go-jump-symbolic",
        (Preview::Store { .. }, _) => "folder-download-symbolic",
        (_, Action::Read) => "text-x-generic-symbolic",
        (_, Action::Write) => "document-edit-symbolic",
        (_, Action::Network) => "web-browser-symbolic",
        (_, Action::Mcp) => "applications-engineering-symbolic",
    }
}
