//! A question of leave: what would be done, why it is asked, and the answers.

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::{Answer, PermissionRequest, Preview};
use chat_core::permission::Action;
use chat_edge::words::{fill as put, permission_question, visible, why};

use super::super::super::row::Around;
use super::{Answered, answers, label, preview};
use crate::{accessible, side_or_below};

/// Fills a card with it. Gives the card's name and what has the keyboard first.
pub fn fill(
    root: &gtk::Box,
    asked: &PermissionRequest,
    around: &Around,
    answered: &Answered,
) -> (String, gtk::Widget) {
    let question = permission_question(asked);
    let head = gtk::Box::builder().spacing(8).build();
    let icon = gtk::Image::from_icon_name(icon(asked));
    icon.set_valign(gtk::Align::Start);
    head.append(&icon);
    let title = label(&question, &["ask-title"]);
    title.set_hexpand(true);
    head.append(&title);
    if let Some(aside) = preview::aside(asked) {
        let aside = gtk::Label::builder()
            .label(aside)
            .valign(gtk::Align::Start)
            .css_classes(["ask-aside"])
            .build();
        head.append(&aside);
    }
    root.append(&head);
    root.append(&preview::widget(asked, &around.looks));
    root.append(&label(&reason(asked), &["ask-why"]));

    let entry = gtk::Entry::builder()
        .placeholder_text(gettext("Tell the model…"))
        .hexpand(true)
        .valign(gtk::Align::Center)
        .build();
    accessible::set_label(&entry, &gettext("Tell the model…"));
    let said = {
        let entry = entry.downgrade();
        move || {
            let text = entry.upgrade()?.text().trim().to_owned();
            (!text.is_empty()).then_some(text)
        }
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
    let first: gtk::Widget;
    let buttons = gtk::Box::builder().spacing(8).halign(gtk::Align::End).build();
    buttons.append(&deny);
    if asked.always.is_empty() {
        let button = gtk::Button::builder().label(&allow).css_classes(["suggested-action"]).build();
        button.connect_clicked(move |_| once(Answer::Allow(None)));
        buttons.append(&button);
        first = button.upcast();
    } else {
        let button = adw::SplitButton::builder()
            .label(&allow)
            .popover(&answers::popover(&asked.always, around.has_project.get(), answered, said))
            .dropdown_tooltip(gettext("More Answers"))
            .css_classes(["suggested-action"])
            .build();
        button.connect_clicked(move |_| once(Answer::Allow(None)));
        buttons.append(&button);
        first = button.upcast();
    }
    root.append(&side_or_below::pair(&entry, &buttons));
    (question, first)
}

/// Why it is asked, and where a command would run.
fn reason(asked: &PermissionRequest) -> String {
    let why = why(&asked.why);
    match &asked.preview {
        Preview::Command { folder, .. } => {
            let folder = folder.display().to_string();
            let place =
                put(&gettext("It would run in {folder}."), &[("folder", &visible(&folder))]);
            format!("{why} {place}")
        }
        _ => why,
    }
}

fn icon(asked: &PermissionRequest) -> &'static str {
    match (&asked.preview, asked.action) {
        (Preview::Command { .. }, _) | (_, Action::Run) => "utilities-terminal-symbolic",
        (_, Action::Read) => "text-x-generic-symbolic",
        (_, Action::Write) => "document-edit-symbolic",
        (_, Action::Network) => "web-browser-symbolic",
    }
}
