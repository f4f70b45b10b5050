//! Tests what is kept in memory of messages.

use std::sync::Arc;

use chat_core::message::{Message, Role};
use gtk::prelude::*;

use crate::conversation::Conversation;
use crate::conversation::model::entry::Entry;
use crate::conversation::model::transcript::Transcript;
use crate::main_loop::until;

/// How many messages there are: far more than are near at once.
const COUNT: usize = 60;

/// A window with a chat whose replies are each about as tall as the window.
fn scene() -> (gtk::Window, Conversation) {
    adw::init().expect("a display");
    crate::init();
    let conversation = Conversation::new(|_, _| {});
    let window = gtk::Window::builder()
        .default_width(700)
        .default_height(600)
        .child(conversation.widget())
        .build();
    window.present();
    let mut transcript = Transcript::default();
    let text = "A paragraph of `some` length.\n\n".repeat(12);
    transcript.entries = (0..COUNT)
        .map(|index| Message::text(Role::Assistant, None, format!("Message {index}\n\n{text}")))
        .map(|message| Entry::new(Arc::new(message)))
        .collect();
    conversation.inner.begin(transcript, None);
    until("the end is drawn", || is_parsed(&conversation, COUNT - 1) && conversation.is_at_end());
    (window, conversation)
}

fn is_parsed(conversation: &Conversation, index: usize) -> bool {
    conversation.inner.state.borrow().transcript.entries[index].has_pieces()
}

/// How many messages are in memory in pieces.
fn parsed(conversation: &Conversation) -> usize {
    let state = conversation.inner.state.borrow();
    state.transcript.entries.iter().filter(|entry| entry.has_pieces()).count()
}

#[gtk::test]
fn only_messages_near_the_reader_are_in_memory_in_pieces() {
    let (window, conversation) = scene();
    until("the beginning is seen", || {
        conversation.scroll_pages(-1.0);
        conversation.inner.column.extent().0 < 1.0 && is_parsed(&conversation, 0)
    });
    until("the rest is forgotten", || parsed(&conversation) < 15);
    assert!(is_parsed(&conversation, 0) && !is_parsed(&conversation, COUNT - 1));
    conversation.go_to_end();
    until("the end is seen again", || {
        conversation.is_at_end()
            && is_parsed(&conversation, COUNT - 1)
            && parsed(&conversation) < 15
    });
    assert!(!is_parsed(&conversation, 0));
    window.destroy();
}

#[gtk::test]
fn what_a_search_reads_is_forgotten_when_it_ends() {
    let (window, conversation) = scene();
    conversation.find("paragraph");
    until("all is read", || parsed(&conversation) == COUNT);
    conversation.find("");
    until("most is forgotten", || parsed(&conversation) < 15);
    window.destroy();
}
