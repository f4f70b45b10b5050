//! Words what is said about single messages.

use chat_presentation::words::fill;
use gettextrs::gettext;

pub fn no_message(given: &str) -> String {
    let text = gettext(
        "There is no message “{message}” in the shown branch. See the numbers with: natter-cli show",
    );
    fill(&text, &[("message", given)])
}

pub fn no_messages() -> String {
    gettext("The chat has no messages yet.")
}

pub fn not_yours(given: &str) -> String {
    let text = gettext("Message “{message}” isn’t yours. You can edit only your own messages.");
    fill(&text, &[("message", given)])
}

pub fn not_a_reply(given: &str) -> String {
    let text = gettext("Message “{message}” isn’t a reply. Name the reply to regenerate.");
    fill(&text, &[("message", given)])
}

pub fn no_reply() -> String {
    gettext(
        "Your last message has no reply yet. Regenerate it without options, or send it again with: natter-cli edit",
    )
}

pub fn nothing_to_continue() -> String {
    gettext("The last reply is complete, so there is nothing to continue.")
}

pub fn no_branches() -> String {
    gettext("No message has other versions.")
}

pub fn one_chat_for_message() -> String {
    gettext("With --message, name one chat.")
}

pub fn ask_delete_message(text: &str) -> String {
    let question = gettext("Delete “{text}” and the replies to it? [y/N] ");
    fill(&question, &[("text", text)])
}

pub fn ask_delete_reply(text: &str) -> String {
    let question = gettext("Delete the reply “{text}”? [y/N] ");
    fill(&question, &[("text", text)])
}

pub fn ask_delete_from(text: &str) -> String {
    let question = gettext("Delete “{text}” and everything after it? [y/N] ");
    fill(&question, &[("text", text)])
}
