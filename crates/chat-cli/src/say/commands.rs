//! Defines the texts about commands of conversations.

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

pub fn no_command(name: &str) -> String {
    fill(&gettext("There is no command /{name}. Type /help for a list."), &[("name", name)])
}

pub fn interrupt_to_end() -> String {
    gettext("Press Ctrl+D to quit.")
}

/// The commands that only the terminal has, and what each does.
pub fn commands() -> Vec<(String, String)> {
    vec![
        ("/sessions [TEXT]".to_owned(), gettext("List recent chats, or those that contain TEXT")),
        ("/open FID".to_owned(), gettext("Switch to another chat")),
        ("/project [DIR]".to_owned(), gettext("Show the project, or work in another folder")),
        ("/rules [remove RULE]".to_owned(), gettext("List permission rules, or remove one")),
        (
            "/agents [stop|close NAME|all]".to_owned(),
            gettext("List the agents of this chat, or stop or close them"),
        ),
        ("/context".to_owned(), gettext("Show how full the context window is, and what fills it")),
        ("/prompt".to_owned(), gettext("Show everything that is sent with your next message")),
        ("/commands".to_owned(), gettext("List this chat’s background commands")),
        ("/end ID".to_owned(), gettext("Stop one of these commands")),
        ("/quit".to_owned(), gettext("Quit, like Ctrl+D")),
    ]
}

pub fn long_lines() -> String {
    gettext(
        "End a line with a backslash to continue on the next one. Press Ctrl+C to stop a reply.",
    )
}
