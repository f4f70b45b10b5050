//! Defines the texts about agents.

use chat_presentation::words::{self, fill};
use gettextrs::{gettext, ngettext};

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
