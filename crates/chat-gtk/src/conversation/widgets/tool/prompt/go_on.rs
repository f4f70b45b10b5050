//! Asks whether the model may go on with tools once the limit of rounds is met.

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::Answer;
use chat_presentation::words::go_on_question;

use super::{Answered, head, label};
use crate::adaptive_pair;

/// Fills a card with it. Gives the card's name and what has the keyboard first.
pub fn fill(root: &gtk::Box, rounds: u32, answered: &Answered) -> (String, gtk::Widget) {
    let text = go_on_question(rounds);
    root.append(&head("natter-tools-symbolic", &label(&text, &["ask-title"])));
    let button = |words: &str, class: &str, answer: Answer| {
        let button = gtk::Button::builder().label(words).css_classes([class]).build();
        let answered = answered.clone();
        button.connect_clicked(move |_| answered(answer.clone()));
        button
    };
    let end = button(&gettext("Stop Here"), "end", Answer::Deny { scope: None, message: None });
    let on = button(&gettext("Continue"), "suggested-action", Answer::Allow(None));
    root.append(&adaptive_pair::buttons(&end, &on));
    (text, on.upcast())
}
