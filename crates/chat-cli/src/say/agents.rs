//! Defines the texts about agents.

use chat_presentation::words::{self, fill};
use gettextrs::{gettext, ngettext};

/// The message where the user quits while these agents work.
pub fn still_at_work(names: &str) -> String {
    let text = gettext("Still working: {names}. To stop them and quit, press Ctrl+D again.");
    fill(&text, &[("names", names)])
}

/// The message where a chat is opened whose agents were interrupted.
pub fn were_interrupted(names: &str) -> String {
    let text = gettext(
        "These agents were interrupted: {names}. In your next message, you can ask for them to continue.",
    );
    fill(&text, &[("names", names)])
}

/// The message for an empty list of agents.
pub fn no_agents() -> String {
    gettext("There are no agents yet.")
}

pub fn agent_closed() -> String {
    gettext("closed")
}

pub fn agent_deleted() -> String {
    gettext("deleted")
}

/// The message about a name that no agent has.
pub fn no_such_agent(name: &str) -> String {
    let text = gettext("There is no agent named “{name}”. List agents with: natter-cli agents");
    fill(&text, &[("name", name)])
}

/// The same in a conversation, about its own agents.
pub fn no_such_agent_here(name: &str) -> String {
    let text = gettext("This chat has no agent named “{name}”. List its agents with: /agents");
    fill(&text, &[("name", name)])
}

/// The message about a name that only closed agents have.
pub fn closed_already(name: &str) -> String {
    fill(&gettext("Agent “{name}” is closed already."), &[("name", name)])
}

/// The message about a name that agents of several chats have.
pub fn several_agents(name: &str) -> String {
    let text = gettext(
        "Several chats have an agent named “{name}”. Use --session, or the FID of the agent’s own chat.",
    );
    fill(&text, &[("name", name)])
}

/// Confirms that an agent was closed.
pub fn closed_agent(name: &str) -> String {
    fill(&gettext("Closed agent “{name}”."), &[("name", name)])
}

/// Confirms that the agents of a chat were closed.
pub fn closed_agents(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let text = ngettext("Closed {n} agent.", "Closed {n} agents.", number);
    fill(&text, &[("n", &count.to_string())])
}

/// Confirms that an agent was stopped.
pub fn stopped_agent(name: &str) -> String {
    fill(&gettext("Stopped agent “{name}”."), &[("name", name)])
}

/// Confirms that the agents of a chat were stopped.
pub fn stopped_agents() -> String {
    gettext("Stopped all agents.")
}

/// Asks what Ctrl+C is to stop.
pub fn stop_what(agents: &str, is_replying: bool) -> String {
    let text = if is_replying {
        gettext("Stop the reply or an agent? Working: {names}")
    } else {
        gettext("Stop an agent? Working: {names}")
    };
    fill(&text, &[("names", agents)])
}

/// The possible answers to that.
pub fn stop_choices(is_replying: bool) -> String {
    if is_replying {
        format!("{}, {}: ", stop_reply(), gettext("an agent’s name, or Enter to continue"))
    } else {
        format!("{}: ", gettext("An agent’s name, or Enter to continue"))
    }
}

/// The answer that stops the reply.
fn stop_reply() -> String {
    gettext("the [r]eply")
}

/// Whether an answer means the reply, in the user's language or in English.
pub fn is_stop_reply(answer: &str) -> bool {
    let answer = answer.trim().to_lowercase();
    let label = stop_reply();
    let letter = label.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let letter = letter.map(|(letter, _)| letter.to_lowercase());
    letter.is_some_and(|letter| letter == answer)
        || ["r", "reply"].contains(&answer.as_str())
        || label.replace(['[', ']'], "").to_lowercase() == answer
}

/// The remark about an answer that names no agent at work.
pub fn not_at_work(name: &str) -> String {
    fill(&gettext("No agent named “{name}” is working, so nothing was stopped."), &[("name", name)])
}

/// The remark where a program goes on until its agents are done.
pub fn awaits_agents(names: &str) -> String {
    let text = gettext("Waiting for agents: {names}. Press Ctrl+C to end without them.");
    fill(&text, &[("names", names)])
}

/// The remark where a program ends before its agents.
pub fn agents_interrupted(names: &str) -> String {
    let text = gettext("Still working when this ended, and interrupted: {names}");
    fill(&text, &[("names", names)])
}

/// What an agent has read and written.
pub fn tokens(count: u64) -> String {
    let count_or_most = u32::try_from(count).unwrap_or(u32::MAX);
    let text = ngettext("{n} token", "{n} tokens", count_or_most);
    fill(&text, &[("n", &words::grouped(count))])
}

/// How many problems of definition files are not shown.
pub fn more_problems(count: usize) -> String {
    let text = ngettext(
        "{n} more problem in files of agents, commands, and skills.",
        "{n} more problems in files of agents, commands, and skills.",
        u32::try_from(count).unwrap_or(u32::MAX),
    );
    fill(&text, &[("n", &count.to_string())])
}

/// The remark about reports that a chat has not answered.
pub fn waiting_reports(count: usize, fid: &str) -> String {
    let text = ngettext(
        "{n} report waits in this chat. To go on: natter-cli ask --session {chat} …",
        "{n} reports wait in this chat. To go on: natter-cli ask --session {chat} …",
        u32::try_from(count).unwrap_or(u32::MAX),
    );
    fill(&text, &[("n", &count.to_string()), ("chat", fid)])
}
