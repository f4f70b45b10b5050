//! Defines the texts about commands in questions.

use chat_presentation::words::fill;
use gettextrs::gettext;

/// The message about a question that begins with the name of no command.
pub fn no_command_to_ask(name: &str) -> String {
    let text = gettext("There is no command /{name}. To send it as text, start with //.");
    fill(&text, &[("name", name)])
}

/// The message about a question that is a built-in command of conversations.
pub fn only_in_chat(name: &str) -> String {
    let text = gettext(
        "/{name} works only in a chat. Start one with natter-cli chat, or start with // to send it as text.",
    );
    fill(&text, &[("name", name)])
}
