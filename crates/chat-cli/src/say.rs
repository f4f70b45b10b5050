//! Defines the texts that only the terminal program shows. xgettext needs plain literals on one
//! line each, without lone apostrophes.

mod agents;
mod approvals;
mod commands;
mod context;
mod forms;
mod mcp;
mod messages;
mod servers;
mod trash;
mod worktrees;

use std::path::Path;

use chat_core::client::Capabilities;
use chat_core::message::{ModelRef, ReplyFailure};
use chat_core::models::display_name;
use chat_presentation::words::{Action, fill, one_line};
use gettextrs::{gettext, ngettext};

pub use agents::{
    agent_closed, agent_deleted, agents_interrupted, awaits_agents, closed_agent, closed_agents,
    closed_already, is_stop_reply, more_problems, no_agents, no_such_agent, no_such_agent_here,
    not_at_work, several_agents, still_at_work, stop_choices, stop_what, stopped_agent,
    stopped_agents, tokens, waiting_reports, were_interrupted,
};
pub use approvals::{
    allow_always, allow_in_project, allow_in_session, allow_once, allow_outside_sandbox, ask_trust,
    bounds, broken_rule, command_ended, definitions_untrusted, denied_for_longer, denied_with,
    deny_always, deny_once, everywhere, for_longer, in_this_chat, is_no, is_show, is_yes,
    left_untrusted, mode, model_asks, needs, never_for_longer, no_answer, no_commands, no_folder,
    no_mode, no_rule, no_rules, no_such_command, nobody, none_trusted, not_a_folder, not_trusted,
    nothing_to_trust, number_or_words, or_a_word, own_rule, own_words, rule_removed, trust_removed,
    worked_in, works_in,
};
pub use commands::{
    commands, interrupt_to_end, long_lines, no_command, no_command_to_ask, only_in_chat,
};
pub use context::{compacted, not_begun, summing_up};
pub use forms::{
    change_form, decline_form, field_line, how_to_decline, how_to_fill, is_change, send_form,
    yes_or_no,
};
pub use mcp::{
    already_trusted, ask_trust_servers, folder_has_no_servers, no_servers, no_sign_in_wanted,
    no_such_server, of_project, of_untrusted_project, off, secrets_stay, server_added,
    server_is_off, server_not_used, server_removed, server_secrets_will_be_lost,
    server_unavailable, server_works, servers_not_trusted_yet, servers_trusted, servers_untrusted,
    sign_in_at, sign_in_first, signed_in,
};
pub use messages::{
    ask_delete_from, ask_delete_message, ask_delete_reply, no_branches, no_message, no_messages,
    no_reply, not_a_reply, not_yours, nothing_to_continue, one_chat_for_message,
};
pub use servers::{
    get_a_key, key_from_variable, key_is_missing, loaded_until, model_pulled_there,
    model_removed_there, model_unloaded, no_preset, nothing_loaded,
};
pub use trash::{
    archived, ask_delete, ask_delete_for_good, deleted, deleted_messages, pinned, restored_chat,
    restored_messages, trash_is_empty,
};
pub use worktrees::{
    ask_commit_and_merge, ask_delete_snapshot, ask_discard, ask_forget, ask_merge, blocked,
    committed, conflicts, discarded, left_worktree, no_snapshots, no_worktrees, nobody_to_confirm,
    not_finished, nothing_to_merge, only_committed, snapshot_deleted, taken_off_list,
    worktree_restored,
};

/// Suggests commands that may help with an error, the most promising first.
pub fn hint(actions: &[Action], connection: Option<&str>) -> Option<String> {
    actions.iter().find_map(|action| match action {
        Action::LargerWindow(tokens) => Some(fill(
            &gettext("Try: --context-window {tokens}"),
            &[("tokens", &tokens.to_string())],
        )),
        Action::SignIn(url) => Some(fill(&gettext("Sign in at: {url}"), &[("url", url)])),
        Action::ThinkingAsModel => Some(gettext("Try: --thinking default")),
        Action::ChooseModel => Some(gettext("List models with: natter-cli models list")),
        Action::ConnectionSettings => connection.map(|name| {
            fill(
                &gettext("Test it with: natter-cli connections test {name}"),
                &[("name", &quoted(name))],
            )
        }),
        Action::Connections => {
            Some(gettext("Add a connection with: natter-cli connections add NAME --url URL"))
        }
        Action::Retry | Action::Continue | Action::ChooseAgent | Action::NewChat => None,
    })
}

/// The setting that raises a limit.
pub fn raise_limit(key: &str, section: &str) -> String {
    let text = gettext("To raise the limit, set “{key}” in [{section}] of config.toml.");
    fill(&text, &[("key", key), ("section", section)])
}

/// Why a reply ended that reached its length limit.
pub fn length_limit() -> String {
    gettext(
        "The reply ended at the length limit, which the server or the context window sets. For Ollama and models on this computer, try: --context-window TOKENS",
    )
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_alphanumeric() || "-_.:/".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The message about a reply that was cut off because the disk is full.
pub fn reply_not_stored() -> String {
    gettext("The end of this reply isn’t saved. Copy it from here if you need it.")
}

/// The message about a mention that matches nothing in the project.
pub fn no_such_name(name: &str) -> String {
    let text = gettext("{name} isn’t in the project, so it was sent as plain text.");
    fill(&text, &[("name", name)])
}

/// The command to set or change a server's key.
pub fn give_key(connection: &str) -> String {
    fill(
        &gettext("Set its key with: natter-cli connections key {name}"),
        &[("name", &quoted(connection))],
    )
}

/// How to add a server; shown if there is none.
pub fn add_server() -> String {
    gettext("Add a connection with: natter-cli connections add NAME --url URL")
}

/// The message for an empty list of chats.
pub fn no_chats(searched: bool) -> String {
    if searched { gettext("No chats found.") } else { gettext("There are no chats yet.") }
}

/// The message if no server has a model.
pub fn no_models() -> String {
    gettext(
        "There are no models yet. See what you can download with: natter-cli models list --offered",
    )
}

pub fn no_connection(name: &str) -> String {
    fill(
        &gettext(
            "There is no connection named “{name}”. List connections with: natter-cli connections",
        ),
        &[("name", name)],
    )
}

pub fn no_home() -> String {
    gettext("Couldn’t find your home folder to store chats in. Set HOME, then try again.")
}

pub fn not_written(path: &Path, system: &str) -> String {
    fill(
        &gettext("Couldn’t write “{path}”: {system}"),
        &[("path", &path.display().to_string()), ("system", system)],
    )
}

pub fn file_exists(path: &Path) -> String {
    fill(
        &gettext("“{path}” already exists. Use --force to overwrite it."),
        &[("path", &path.display().to_string())],
    )
}

pub fn output_failed(system: &str) -> String {
    fill(&gettext("Couldn’t write the output: {system}"), &[("system", system)])
}

pub fn input_failed(system: &str) -> String {
    fill(&gettext("Couldn’t read the input: {system}"), &[("system", system)])
}

pub fn name_with_slash() -> String {
    gettext("A connection name can’t be empty or contain a slash. Choose another one.")
}

pub fn empty_key() -> String {
    gettext("No key was entered. Enter it on one line.")
}

pub fn key_will_be_lost(name: &str) -> String {
    let text = gettext(
        "To keep the key, store it in an environment variable and use: natter-cli connections key {name} --env VARIABLE",
    );
    fill(&text, &[("name", name)])
}

pub fn connection_added(name: &str) -> String {
    fill(&gettext("Added the connection “{name}”."), &[("name", name)])
}

pub fn connection_key(name: &str) -> String {
    fill(&gettext("Key for “{name}”: "), &[("name", name)])
}

pub fn key_changed(name: &str) -> String {
    fill(&gettext("Changed the key of “{name}”."), &[("name", name)])
}

pub fn key_removed(name: &str) -> String {
    fill(&gettext("Removed the key of “{name}”."), &[("name", name)])
}

pub fn connection_removed(name: &str) -> String {
    fill(&gettext("Removed the connection “{name}”."), &[("name", name)])
}

pub fn discovered_here() -> String {
    gettext("found on this computer")
}

pub fn connection_answers(kind: &str, models: usize, milliseconds: u128) -> String {
    let count = u32::try_from(models).unwrap_or(u32::MAX);
    let text = ngettext(
        "The server responded in {ms} ms ({kind}, {n} model).",
        "The server responded in {ms} ms ({kind}, {n} models).",
        count,
    );
    fill(&text, &[("kind", kind), ("ms", &milliseconds.to_string()), ("n", &count.to_string())])
}

pub fn lists_no_models() -> String {
    gettext(
        "The server doesn’t list its models. Use one as NAME/MODEL, or add the connection again with --model.",
    )
}

pub fn nobody_to_ask() -> String {
    gettext("Cannot ask for confirmation here. Use --yes to delete without asking.")
}

pub fn not_deleted() -> String {
    gettext("Not deleted.")
}

pub fn in_use() -> String {
    gettext("open elsewhere")
}

pub fn last_reply(trouble: ReplyFailure) -> String {
    match trouble {
        ReplyFailure::Failed => gettext("last reply failed"),
        ReplyFailure::Interrupted => gettext("last reply interrupted"),
    }
}

pub fn ambiguous_model(name: &str, models: &[String]) -> String {
    fill(
        &gettext("Several models are called “{name}”. Choose one of: {models}."),
        &[("name", name), ("models", &models.join(", "))],
    )
}

pub fn thought_for(seconds: &str) -> String {
    fill(&gettext("Thought for {time}"), &[("time", seconds)])
}

pub fn thoughts() -> String {
    gettext("Reasoning")
}

pub fn attached(name: &str) -> String {
    fill(&gettext("Attached: {name}"), &[("name", name)])
}

pub fn picture() -> String {
    gettext("an image")
}

pub fn still_writing() -> String {
    gettext("This reply is still being written.")
}

/// The size of a model's context window.
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

/// The display name of a model.
pub fn model(model: &ModelRef) -> String {
    format!("{}/{}", model.connection, display_name(model))
}

pub fn welcome(model: Option<&str>) -> String {
    match model {
        Some(model) => fill(
            &gettext(
                "You’re chatting with {model}. Type /help for commands, or press Ctrl+D to quit.",
            ),
            &[("model", model)],
        ),
        None => gettext("Type /help for commands, or press Ctrl+D to quit."),
    }
}

pub fn new_chat() -> String {
    gettext("Your next message starts a new chat.")
}

/// A message that the user typed and that did not go out.
pub fn not_sent(text: &str) -> String {
    fill(&gettext("Not sent: {text}"), &[("text", text)])
}

pub fn opened(title: &str) -> String {
    fill(&gettext("Opened the chat “{title}”."), &[("title", title)])
}

pub fn uses_model(model: &str) -> String {
    fill(&gettext("Now using {model}."), &[("model", model)])
}

pub fn uses_agent(agent: &str) -> String {
    fill(&gettext("Now using the agent {agent}."), &[("agent", agent)])
}

/// Who changed a file.
pub fn changed_by(agent: &str) -> String {
    fill(&gettext("By {agent}"), &[("agent", &one_line(agent))])
}

pub fn no_changes() -> String {
    gettext("There are no changes to review.")
}

pub fn exported(path: &Path) -> String {
    fill(&gettext("Exported to “{path}”."), &[("path", &path.display().to_string())])
}

/// That chats were exported, each to a file of its own.
pub fn exported_chats(count: usize, folder: &Path) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let words =
        ngettext("Exported {n} chat to “{path}”.", "Exported {n} chats to “{path}”.", number);
    fill(&words, &[("n", &count.to_string()), ("path", &folder.display().to_string())])
}

/// A file exists that a command of a conversation is to write.
pub fn export_exists(path: &Path) -> String {
    fill(
        &gettext("“{path}” already exists. Choose another name."),
        &[("path", &path.display().to_string())],
    )
}

pub fn restored(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let words = ngettext("Restored {count} file", "Restored {count} files", number);
    fill(&words, &[("count", &count.to_string())])
}

pub fn skipped(files: &str) -> String {
    fill(&gettext("Skipped because of newer changes: {files}"), &[("files", files)])
}

/// A server has no prompts.
pub fn no_prompts(server: &str) -> String {
    fill(&gettext("The MCP server “{server}” has no prompts."), &[("server", server)])
}

pub fn skills() -> String {
    gettext("Skills")
}

/// An import was ended by the user.
pub fn import_stopped() -> String {
    gettext(
        "Import stopped. The chats imported so far stay. Run the same command again to import the rest.",
    )
}
