//! Draws a model's question: its choices, and a field for another answer.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::{Answer, ApprovalId, Question};
use chat_presentation::words::visible;

use super::{AnswerDrafts, Answered, WidgetContext, head, keep_draft, label};
use crate::conversation::widgets::rich_text::{RichText, plain};
use crate::{accessible, adaptive_pair};

/// Fills a card with it. Gives the card's name, what has the keyboard first, and the question's text.
pub fn fill(
    root: &gtk::Box,
    (id, question): (ApprovalId, &Question),
    context: &WidgetContext,
    answered: &Answered,
) -> (String, gtk::Widget, RichText) {
    let drafts: &Rc<AnswerDrafts> = &context.drafts;
    let text = visible(&question.text);
    let rich = RichText::new(&text, &gettext("Question"), context);
    root.append(&head("dialog-question-symbolic", rich.widget()));

    let mut first = None;
    let choices = gtk::Box::new(gtk::Orientation::Vertical, 6);
    for choice in &question.choices {
        let shown = visible(choice);
        let words = label(&shown, &[]);
        let button = gtk::Button::builder().child(&words).css_classes(["choice"]).build();
        accessible::set_label(&button, &shown);
        let (answered, choice) = (answered.clone(), choice.clone());
        button.connect_clicked(move |_| answered(Answer::Text(choice.clone())));
        choices.append(&button);
        first.get_or_insert_with(|| button.upcast::<gtk::Widget>());
    }
    choices.set_visible(first.is_some());
    root.append(&choices);

    let other =
        if first.is_some() { gettext("Another answer…") } else { gettext("Your answer…") };
    let entry = gtk::Entry::builder().placeholder_text(&other).hexpand(true).build();
    accessible::set_label(&entry, &other);
    let send = gtk::Button::builder().label(gettext("Send Answer")).sensitive(false).build();
    let skip = gtk::Button::builder().label(gettext("Skip")).css_classes(["flat"]).build();
    skip.set_tooltip_text(Some(&gettext("Let the model continue without an answer")));
    let skipped = answered.clone();
    skip.connect_clicked(move |_| skipped(Answer::Deny { scope: None, message: None }));
    let say = {
        let (drafts, answered) = (drafts.clone(), answered.clone());
        move || {
            if let Some(text) = drafts.send(id) {
                answered(Answer::Text(text));
            }
        }
    };
    let pressed = say.clone();
    send.connect_clicked(move |_| pressed());
    entry.connect_activate(move |_| say());
    let button = send.downgrade();
    entry.connect_changed(move |entry| {
        if let Some(button) = button.upgrade() {
            button.set_sensitive(!entry.text().trim().is_empty());
        }
    });
    keep_draft(drafts, id, &entry);
    root.append(&adaptive_pair::words(&entry, &adaptive_pair::buttons(&skip, &send)));
    (plain(&text), first.unwrap_or_else(|| entry.upcast()), rich)
}
