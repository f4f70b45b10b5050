//! Whether the model may go on with tools: the limit of rounds is met.

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::Answer;
use chat_edge::words::go_on_question;

use super::{Answered, label};

/// Fills a card with it. Gives the card's name and what has the keyboard first.
pub fn fill(root: &gtk::Box, rounds: u32, answered: &Answered) -> (String, gtk::Widget) {
    let text = go_on_question(rounds);
    let head = gtk::Box::builder().spacing(8).build();
    let icon = gtk::Image::from_icon_name("dialog-question-symbolic");
    icon.set_valign(gtk::Align::Start);
    head.append(&icon);
    head.append(&label(&text, &["ask-title"]));
    root.append(&head);
    let button = |words: String, answer: Answer| {
        let button = gtk::Button::builder().label(words).build();
        let answered = answered.clone();
        button.connect_clicked(move |_| answered(answer.clone()));
        button
    };
    let buttons = gtk::Box::builder().spacing(6).build();
    let on = button(gettext("Go On"), Answer::Allow(None));
    buttons.append(&on);
    buttons.append(&button(gettext("End Here"), Answer::Deny { scope: None, message: None }));
    root.append(&buttons);
    (text, on.upcast())
}
