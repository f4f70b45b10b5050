//! Words states: what a request does, how a message ended, levels of thinking, agents.

use std::time::Duration;

use chat_core::client::Preparing;
use chat_core::event::{Failure, Health, Stage, StopReason};
use chat_core::manager::AgentKind;
use chat_core::message::{Ending, Role, Thinking};
use chat_core::settings::{KeyStorage, KeyringFailure};
use chat_core::store::SearchGap;
use gettextrs::{gettext, ngettext};
use jiff::Timestamp;

use super::{fill, one_line, sentence};

/// A time as whole seconds or minutes, at least one second.
pub fn seconds(time: Duration) -> String {
    let whole = time.as_millis().div_ceil(1000).clamp(1, u128::from(u32::MAX)) as u32;
    if whole < 120 {
        let text = ngettext("{n} second", "{n} seconds", whole);
        return fill(&text, &[("n", &whole.to_string())]);
    }
    let minutes = whole.div_ceil(60);
    let text = ngettext("{n} minute", "{n} minutes", minutes);
    fill(&text, &[("n", &minutes.to_string())])
}

/// A time in figures, for a short remark: “12 s”, “3 min 5 s”.
pub fn short_time(time: Duration) -> String {
    let (minutes, rest) = (time.as_secs() / 60, time.as_secs() % 60);
    let (minutes, rest) = (minutes.to_string(), rest.to_string());
    let values = [("minutes", minutes.as_str()), ("seconds", rest.as_str())];
    let text = if time.as_secs() < 60 {
        gettext("{seconds} s")
    } else {
        gettext("{minutes} min {seconds} s")
    };
    fill(&text, &values)
}

/// What a search left out.
pub fn search_gap(gap: SearchGap) -> String {
    match gap {
        SearchGap::Indexing => gettext("Older messages are still being indexed."),
        SearchGap::NewestOnly => {
            gettext("Only the newest messages were searched for these characters.")
        }
        SearchGap::Damaged => {
            gettext("Messages couldn’t be searched because the chat database is damaged.")
        }
        SearchGap::OneLetter => gettext("Type at least two letters to find longer words."),
        SearchGap::Cut => gettext("Only the beginning of the search text was used."),
    }
}

/// What a request does while no text comes; nothing where there is nothing to say.
pub fn stage(stage: &Stage, now: Timestamp) -> Option<String> {
    /// From then on a silent server is most likely loading the model or has others before us.
    const LONG: Duration = Duration::from_secs(5);
    match stage {
        Stage::Idle | Stage::Streaming => None,
        Stage::Waiting { since } => {
            let waited = now.duration_since(*since).unsigned_abs();
            if waited < LONG {
                return Some(gettext("Waiting for the model"));
            }
            let text = gettext(
                "Still waiting for the model after {time}. It may be loading, or busy with other requests.",
            );
            Some(fill(&text, &[("time", &seconds(waited))]))
        }
        Stage::StartingServers { servers } => {
            let text = gettext("Waiting for servers to start: {servers}");
            Some(fill(
                &text,
                &[(
                    "servers",
                    &servers.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", "),
                )],
            ))
        }
        Stage::Preparing(Preparing::Queued) => {
            Some(gettext("Waiting for the reply in another chat"))
        }
        Stage::Preparing(Preparing::AwaitingSlot { before: 0 }) => {
            Some(gettext("Waiting for another reply to finish"))
        }
        Stage::Preparing(Preparing::AwaitingSlot { before }) => {
            let text = gettext("Waiting for another reply to finish ({n} before this one)");
            Some(fill(&text, &[("n", &before.to_string())]))
        }
        Stage::Preparing(Preparing::Loading { percent }) => {
            let text = gettext("Loading the model… {percent}%");
            Some(fill(&text, &[("percent", &percent.to_string())]))
        }
        Stage::Preparing(Preparing::Reading { percent }) => {
            let text = gettext("Reading the chat… {percent}%");
            Some(fill(&text, &[("percent", &percent.to_string())]))
        }
        Stage::RateLimited { until } => {
            let left = until.duration_since(now).max(jiff::SignedDuration::ZERO).unsigned_abs();
            let text = gettext("The server received too many requests. Trying again in {time}.");
            Some(fill(&text, &[("time", &seconds(left))]))
        }
        Stage::Looping => Some(gettext("Possibly stuck in a loop")),
        Stage::Compacting => Some(gettext("Summarizing earlier messages")),
        Stage::RunningTools => Some(gettext("Running tools")),
    }
}

/// How a message ended, where that is worth a word.
pub fn ending(ending: Ending) -> Option<String> {
    match ending {
        Ending::Complete => None,
        Ending::Length => Some(gettext("The reply reached its length limit.")),
        Ending::Stopped => Some(gettext("You stopped this reply.")),
        Ending::Interrupted => Some(gettext("This reply was interrupted.")),
        Ending::Failed => Some(gettext("This reply failed.")),
    }
}

/// Why a request ended, where that is worth a word.
pub fn stop_reason(reason: StopReason) -> Option<String> {
    match reason {
        StopReason::Complete => None,
        StopReason::Stopped => Some(gettext("Stopped.")),
        StopReason::Error => Some(gettext("The request failed.")),
        StopReason::Limit => Some(gettext("The reply reached its limit.")),
        StopReason::Interrupted => Some(gettext("The reply was interrupted.")),
    }
}

/// A level of thinking, for people.
pub fn thinking(level: Thinking) -> String {
    match level {
        Thinking::Default => gettext("Default"),
        Thinking::Off => gettext("Off"),
        Thinking::On => gettext("On"),
        Thinking::Low => gettext("Low"),
        Thinking::Medium => gettext("Medium"),
        Thinking::High => gettext("High"),
        Thinking::Max => gettext("Maximum"),
    }
}

/// What an agent is called. Those that people made keep the title that they gave.
pub fn agent_title(agent: &AgentKind) -> String {
    match agent.name.as_str() {
        "just-ask" => gettext("Just Ask"),
        "code-assistant" => gettext("Code Assistant"),
        _ => agent.title.clone(),
    }
}

/// What an agent does, in a line.
pub fn agent_description(agent: &AgentKind) -> String {
    match agent.name.as_str() {
        "just-ask" => gettext("Chats with the model"),
        "code-assistant" => gettext("Reads, edits, and runs your project"),
        _ => agent.description.clone(),
    }
}

/// Who speaks in a message.
pub fn role(role: Role) -> String {
    match role {
        Role::System => gettext("Instructions"),
        Role::User => gettext("You"),
        Role::Assistant => gettext("Assistant"),
        Role::Tool => gettext("Tool"),
        Role::Ui => gettext("Note"),
    }
}

/// How a connection is.
pub fn health(health: &Health) -> String {
    match health {
        Health::Checking => gettext("Looking for models"),
        Health::Ready { models } => {
            let count = u32::try_from(*models).unwrap_or(u32::MAX);
            let text = ngettext("{n} model", "{n} models", count);
            fill(&text, &[("n", &count.to_string())])
        }
        Health::Failed(error) => sentence(error),
    }
}

/// Where a key went.
pub fn key_storage(storage: KeyStorage) -> String {
    match storage {
        KeyStorage::Keyring => gettext("The key is in your keyring."),
        KeyStorage::ThisRun(KeyringFailure::Absent) => {
            gettext("There is no keyring here, so the key is kept only until Natter quits.")
        }
        KeyStorage::ThisRun(KeyringFailure::Dismissed) => {
            gettext("The keyring wasn’t unlocked, so the key is kept only until Natter quits.")
        }
        KeyStorage::ThisRun(KeyringFailure::Locked) => {
            gettext("The keyring is still locked, so the key is kept only until Natter quits.")
        }
        KeyStorage::ThisRun(KeyringFailure::Failed) => {
            gettext("The keyring couldn’t store the key, so it’s kept only until Natter quits.")
        }
    }
}

/// What the person should hear that belongs to no request.
pub fn notice(failure: &Failure) -> String {
    match &failure.session {
        None => sentence(&failure.error),
        Some(fid) => fill(
            &gettext("Chat “{fid}”: {sentence}"),
            &[("fid", fid.as_str()), ("sentence", &sentence(&failure.error))],
        ),
    }
}
