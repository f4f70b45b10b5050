//! Words everything that the window does not say. Plain literals on one line each, and no lone
//! apostrophes, for xgettext.

mod asking;
mod context;

use std::path::Path;

use chat_core::client::Capabilities;
use chat_core::message::{ModelRef, ReplyFailure};
use chat_core::models::display_name;
use chat_edge::words::{Action, fill};
use gettextrs::{gettext, ngettext};

pub use asking::{
    allow_always, allow_in_project, allow_in_session, allow_once, allow_outside_sandbox, bounds,
    command_ended, deny_always, deny_once, everywhere, for_longer, in_this_chat, mode, model_asks,
    needs, never_for_longer, no_commands, no_folder, no_mode, no_rule, no_rules, no_such_command,
    nobody, not_a_folder, number_or_words, or_a_word, own_rule, own_words, rule_removed, why,
    worked_in, works_in,
};

pub use context::{compacted, not_begun, summing_up};

/// What can be typed in this program about an error, the most promising first.
pub fn hint(actions: &[Action], connection: Option<&str>) -> Option<String> {
    actions.iter().find_map(|action| match action {
        Action::LargerWindow(tokens) => Some(fill(
            &gettext("Try it with: --context-window {tokens}"),
            &[("tokens", &tokens.to_string())],
        )),
        Action::SignIn(url) => Some(fill(&gettext("Sign in at: {url}"), &[("url", url)])),
        Action::ThinkingAsModel => Some(gettext("Try it with: --thinking habit")),
        Action::ChooseModel => Some(gettext("See what there is with: natter-cli models list")),
        Action::ConnectionSettings => connection.map(|name| {
            fill(
                &gettext("Look into it with: natter-cli connections test {name}"),
                &[("name", &quoted(name))],
            )
        }),
        Action::Connections => {
            Some(gettext("Add a server with: natter-cli connections add NAME --url URL"))
        }
        Action::Retry | Action::Continue | Action::ChooseAgent | Action::NewChat => None,
    })
}

/// A word as a shell takes it, whatever is in it.
fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_alphanumeric() || "-_.:/".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What is said of a reply that a full disk did not take to its end.
pub fn reply_not_stored() -> String {
    gettext("The end of this reply isn’t stored. Copy it from here if you need it.")
}

/// What is said of a name behind an `@` that nothing in the project has.
pub fn no_such_name(name: &str) -> String {
    let text = gettext("{name} is not in the project, so it was sent as plain text.");
    fill(&text, &[("name", name)])
}

/// What can be typed where a server wants a key, or another one.
pub fn give_key(connection: &str) -> String {
    fill(
        &gettext("Give it a key with: natter-cli connections key {name}"),
        &[("name", &quoted(connection))],
    )
}

/// A server can be added like this; shown where there is none.
pub fn add_server() -> String {
    gettext("Add a server with: natter-cli connections add NAME --url URL")
}

/// What there is to say of an empty list of chats.
pub fn no_chats(searched: bool) -> String {
    if searched { gettext("No chat has this.") } else { gettext("There are no chats yet.") }
}

/// Servers answer, or none is known, and there is no model on any.
pub fn no_models() -> String {
    gettext(
        "There is no model yet. See which there are for this computer with: natter-cli models list --offered",
    )
}

pub fn no_connection(name: &str) -> String {
    fill(
        &gettext("There is no connection “{name}”. See what there is with: natter-cli connections"),
        &[("name", name)],
    )
}

pub fn no_home() -> String {
    gettext("There is no home folder to keep chats in. Set HOME, then try again.")
}

pub fn no_file(path: &Path, system: &str) -> String {
    fill(
        &gettext("“{path}” cannot be read: {system}"),
        &[("path", &path.display().to_string()), ("system", system)],
    )
}

pub fn not_written(path: &Path, system: &str) -> String {
    fill(
        &gettext("“{path}” cannot be written: {system}"),
        &[("path", &path.display().to_string()), ("system", system)],
    )
}

pub fn file_exists(path: &Path) -> String {
    fill(
        &gettext("“{path}” is there already. Add --force to write over it."),
        &[("path", &path.display().to_string())],
    )
}

pub fn output_failed(system: &str) -> String {
    fill(&gettext("The output cannot be written: {system}"), &[("system", system)])
}

pub fn input_failed(system: &str) -> String {
    fill(&gettext("The input cannot be read: {system}"), &[("system", system)])
}

pub fn not_attachable(path: &Path) -> String {
    fill(
        &gettext("“{path}” is neither text nor a picture, so it cannot be attached."),
        &[("path", &path.display().to_string())],
    )
}

pub fn not_a_file(path: &Path) -> String {
    fill(
        &gettext("“{path}” is not a regular file, so it cannot be attached."),
        &[("path", &path.display().to_string())],
    )
}

pub fn too_large(path: &Path, limit_mb: u64) -> String {
    fill(
        &gettext("“{path}” is larger than {limit} MB, so it cannot be attached."),
        &[("path", &path.display().to_string()), ("limit", &limit_mb.to_string())],
    )
}

pub fn name_with_slash() -> String {
    gettext("The name of a connection may not be empty or hold a slash. Choose another one.")
}

pub fn empty_key() -> String {
    gettext("No key was given. Give it as one line, then try again.")
}

pub fn key_will_be_lost() -> String {
    gettext("Name an environment variable that holds the key instead: --key-env VARIABLE")
}

pub fn connection_added(name: &str) -> String {
    fill(&gettext("Added the connection “{name}”."), &[("name", name)])
}

pub fn connection_key(name: &str) -> String {
    fill(&gettext("Key for “{name}”: "), &[("name", name)])
}

pub fn key_changed(name: &str) -> String {
    fill(&gettext("The connection “{name}” has another key now."), &[("name", name)])
}

pub fn key_removed(name: &str) -> String {
    fill(&gettext("The connection “{name}” has no key now."), &[("name", name)])
}

pub fn connection_removed(name: &str) -> String {
    fill(&gettext("Removed the connection “{name}”."), &[("name", name)])
}

pub fn found_here() -> String {
    gettext("found on this computer")
}

pub fn connection_answers(kind: &str, models: usize, milliseconds: u128) -> String {
    let count = u32::try_from(models).unwrap_or(u32::MAX);
    let text = ngettext(
        "It answers as {kind} in {ms} ms, with {n} model.",
        "It answers as {kind} in {ms} ms, with {n} models.",
        count,
    );
    fill(&text, &[("kind", kind), ("ms", &milliseconds.to_string()), ("n", &count.to_string())])
}

pub fn lists_no_models() -> String {
    gettext(
        "It lists no models. Use one as NAME/MODEL, or add the server with --model to have it listed.",
    )
}

pub fn ask_delete(title: &str) -> String {
    fill(&gettext("Delete “{title}”? [y/N] "), &[("title", title)])
}

/// Whether an answer to a question means yes, in the language of the person or in English.
pub fn is_yes(answer: &str) -> bool {
    let answer = answer.trim().to_lowercase();
    let yes = gettext("yes");
    !answer.is_empty() && ("yes".starts_with(&answer) || yes.starts_with(&answer))
}

pub fn nobody_to_ask() -> String {
    gettext("Nobody is there to ask. Add --yes to delete without being asked.")
}

pub fn not_deleted() -> String {
    gettext("It was not deleted.")
}

pub fn deleted(title: &str) -> String {
    fill(&gettext("Deleted “{title}”."), &[("title", title)])
}

pub fn in_use() -> String {
    gettext("being written by another program")
}

pub fn last_reply(trouble: ReplyFailure) -> String {
    match trouble {
        ReplyFailure::Failed => gettext("last reply failed"),
        ReplyFailure::Interrupted => gettext("last reply interrupted"),
    }
}

pub fn ambiguous_model(name: &str, models: &[String]) -> String {
    fill(
        &gettext("Several models are called “{name}”. Say which: {models}."),
        &[("name", name), ("models", &models.join(", "))],
    )
}

pub fn thought_for(seconds: &str) -> String {
    fill(&gettext("Thought for {time}"), &[("time", seconds)])
}

pub fn thoughts() -> String {
    gettext("Thoughts")
}

pub fn attached(name: &str) -> String {
    fill(&gettext("Attached: {name}"), &[("name", name)])
}

pub fn picture() -> String {
    gettext("a picture")
}

pub fn still_writing() -> String {
    gettext("This reply is still being written.")
}

/// How much a model reads at once.
pub fn reads(tokens: u32) -> String {
    let text = ngettext("{n} token", "{n} tokens", tokens);
    fill(&text, &[("n", &tokens.to_string())])
}

/// What a model can do besides answering.
pub fn abilities(can: Capabilities) -> impl Iterator<Item = String> {
    let all = [
        (can.tools, gettext("tools")),
        (can.vision, gettext("vision")),
        (can.thinking, gettext("thinking")),
    ];
    all.into_iter().filter(|(can, _)| *can == Some(true)).map(|(_, word)| word)
}

/// A model as people read it.
pub fn model(model: &ModelRef) -> String {
    format!("{}/{}", model.connection, display_name(model))
}

pub fn welcome(model: Option<&str>) -> String {
    match model {
        Some(model) => fill(
            &gettext("You talk to {model}. /help shows the commands, Ctrl+D ends."),
            &[("model", model)],
        ),
        None => gettext("/help shows the commands, Ctrl+D ends."),
    }
}

pub fn new_chat() -> String {
    gettext("A new chat begins with your next message.")
}

pub fn opened(title: &str) -> String {
    fill(&gettext("You are in the chat “{title}”."), &[("title", title)])
}

pub fn uses_model(model: &str) -> String {
    fill(&gettext("From now on you talk to {model}."), &[("model", model)])
}

pub fn no_command(name: &str) -> String {
    fill(
        &gettext("There is no command /{name}. /help shows those that there are."),
        &[("name", name)],
    )
}

pub fn interrupt_to_end() -> String {
    gettext("Ctrl+D ends the conversation.")
}

/// The commands of a conversation with what each does.
pub fn commands() -> Vec<(String, String)> {
    vec![
        ("/new".to_owned(), gettext("Begin a new chat")),
        (
            "/sessions [TEXT]".to_owned(),
            gettext("List the latest chats, or those that hold the text"),
        ),
        ("/open FID".to_owned(), gettext("Go on with another chat")),
        ("/model [NAME]".to_owned(), gettext("List the models, or talk to another one")),
        (
            "/project [DIR]".to_owned(),
            gettext("Show the folder that the model works in, or give it another one"),
        ),
        ("/mode [MODE]".to_owned(), gettext("Show what tools may do without asking, or change it")),
        (
            "/rules [remove RULE]".to_owned(),
            gettext("List what was allowed and denied for longer, or take one back"),
        ),
        ("/context".to_owned(), gettext("Show how full the window of the model is, and with what")),
        ("/prompt".to_owned(), gettext("Show all that goes out with the next message")),
        (
            "/compact [undo]".to_owned(),
            gettext("Have earlier messages summed up, or take that back"),
        ),
        (
            "/commands".to_owned(),
            gettext("List the commands that run in the background of this chat"),
        ),
        ("/end ID".to_owned(), gettext("End one of these commands")),
        ("/help".to_owned(), gettext("Show the commands")),
        ("/quit".to_owned(), gettext("End the conversation, as Ctrl+D does")),
    ]
}

pub fn long_lines() -> String {
    gettext("A backslash at the end of a line goes on with the next one. Ctrl+C stops a reply.")
}
