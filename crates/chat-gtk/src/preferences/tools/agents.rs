//! Shows the limits of agents that work for chats, and what a chat does when one of them is done.

use adw::prelude::*;
use gettextrs::gettext;

use super::super::rows::{PreferencesContext, Range, number_row, switch_row};

pub(super) fn group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder()
        .title(gettext("Agent Limits"))
        .description(gettext(
            "Agents stop at these limits. Tokens, turns and time count for all agents of a chat together, from your last message on.",
        ))
        .build();
    group.add(&number_row(
        context,
        &gettext("Agents at the same time"),
        &gettext("In one chat; others wait for their turn"),
        Range { least: 1, most: 64, step: 1 },
        |settings| u64::from(settings.agents.at_once),
        |settings, agents| settings.agents.at_once = small(agents),
    ));
    group.add(&number_row(
        context,
        &gettext("Agents per chat"),
        &gettext("Closed agents don’t count"),
        Range { least: 1, most: 1000, step: 1 },
        |settings| u64::from(settings.agents.per_session),
        |settings, agents| settings.agents.per_session = small(agents),
    ));
    group.add(&number_row(
        context,
        &gettext("Levels of agents"),
        &gettext("With one level, agents can’t start other agents"),
        Range { least: 1, most: 8, step: 1 },
        |settings| u64::from(settings.agents.depth),
        |settings, levels| settings.agents.depth = small(levels),
    ));
    group.add(&number_row(
        context,
        &gettext("Agent token limit"),
        &gettext("Tokens that they read and write"),
        Range { least: 1000, most: 1_000_000_000, step: 100_000 },
        |settings| settings.agents.tokens,
        |settings, tokens| settings.agents.tokens = tokens,
    ));
    group.add(&number_row(
        context,
        &gettext("Agent turn limit"),
        &gettext("A turn is a task or a message, with everything the agent does for it"),
        Range { least: 1, most: 100_000, step: 10 },
        |settings| u64::from(settings.agents.turns),
        |settings, turns| settings.agents.turns = small(turns),
    ));
    group.add(&number_row(
        context,
        &gettext("Agent time limit"),
        &gettext("In minutes"),
        Range { least: 1, most: 10_080, step: 10 },
        |settings| u64::from(settings.agents.minutes),
        |settings, minutes| settings.agents.minutes = small(minutes),
    ));
    group.add(&switch_row(
        context,
        &gettext("Continue when an agent is done"),
        &gettext("The chat reads the report of an agent in the background without being asked"),
        |settings| settings.agents.wake,
        |settings, on| settings.agents.wake = on,
    ));
    group
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
