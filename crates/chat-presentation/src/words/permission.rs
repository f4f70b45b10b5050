//! Words permissions: what is asked for, why it is asked, which rules there are.

mod finish_note;

use std::time::Duration;

use chat_core::message::{AskReason, PermissionRequest, Preview, ServerToolChange};
use chat_core::permission::command::Unparsable;
use chat_core::permission::pattern::InvalidPattern;
use chat_core::permission::{Action, Effect, InvalidRule, Mode, Scope, Why};
use gettextrs::{gettext, ngettext};

use super::{fill, one_line, seconds, short_time};

pub use finish_note::command_text;

/// What a tool wants to do, as a question of one line.
pub fn permission_question(asked: &PermissionRequest) -> String {
    match (&asked.preview, asked.action) {
        (Preview::Command { sandboxed: false, .. }, _) => finish_question(asked)
            .unwrap_or_else(|| gettext("Run this command outside the sandbox?")),
        (Preview::Command { network: true, .. }, _) => {
            gettext("Run this command with network access?")
        }
        (Preview::Command { .. }, _) | (_, Action::Run) => gettext("Run this command?"),
        (Preview::Move { to }, _) => fill(
            &gettext("Move “{from}” to “{to}”?"),
            &[("from", &one_line(&asked.target)), ("to", &one_line(&to.display().to_string()))],
        ),
        (Preview::Delete, _) => about(&gettext("Move “{what}” to the trash?"), &asked.target),
        (Preview::Store { url, .. }, _) => fill(
            &gettext("Save “{url}” as “{what}”?"),
            &[("url", &one_line(url)), ("what", &one_line(&asked.target))],
        ),
        (Preview::Change { is_new: true, .. }, _) => {
            about(&gettext("Create “{what}”?"), &asked.target)
        }
        (Preview::Change { is_new: false, .. }, _) => {
            about(&gettext("Edit “{what}”?"), &asked.target)
        }
        (Preview::ServerTool { title, .. }, _) => {
            let server = asked.target.split_once('/').map_or("", |(server, _)| server);
            fill(
                &gettext("Use “{tool}” from {server}?"),
                &[("tool", &one_line(title)), ("server", &one_line(server))],
            )
        }
        (Preview::Address { .. }, _) => about(&gettext("Access “{what}”?"), &asked.target),
        (Preview::Target, Action::Read) => about(&gettext("Read “{what}”?"), &asked.target),
        (Preview::Target, Action::Write) => about(&gettext("Write “{what}”?"), &asked.target),
        (Preview::Target, Action::Network) => {
            about(&gettext("Connect to “{what}”?"), &asked.target)
        }
        (Preview::Target, Action::Mcp) => about(&gettext("Use “{what}”?"), &asked.target),
    }
}

/// Whether a command would run. One that only stands for what becomes of an agent's work does not.
pub fn runs_command(asked: &PermissionRequest) -> bool {
    matches!(asked.preview, Preview::Command { .. }) && finish_question(asked).is_none()
}

/// What becomes of an agent's work, where that is asked: no command runs then.
fn finish_question(asked: &PermissionRequest) -> Option<String> {
    asked.reasons.iter().find_map(|reason| match &reason.why {
        Why::Merges(branch) => {
            Some(about(&gettext("Merge the agent’s work into “{what}”?"), branch))
        }
        Why::Discards(name) => Some(about(&gettext("Discard the work of “{what}”?"), name)),
        _ => None,
    })
}

/// Whether to go on after so many rounds of tools.
pub fn go_on_question(rounds: u32) -> String {
    let text = ngettext(
        "The model has made {rounds} round of tool calls. Let it continue for up to {rounds} more?",
        "The model has made {rounds} rounds of tool calls. Let it continue for up to {rounds} more?",
        rounds,
    );
    fill(&text, &[("rounds", &rounds.to_string())])
}

/// How many reasons are shown at once where room is short.
pub const REASONS_SHOWN: usize = 4;

/// The most reasons that are listed at all: a command may have thousands.
const REASONS_LISTED: usize = 30;

/// The most serious reason why a request is asked.
pub fn why_asked(asked: &PermissionRequest) -> String {
    asked.reasons.first().map(reason_asked).unwrap_or_default()
}

/// Something that a server says of a tool in another way than before: in words, with the diff that belongs below, if
/// there is one.
pub fn server_tool_change(change: &ServerToolChange) -> (String, Option<&str>) {
    match change {
        ServerToolChange::Title { before, now } => {
            let text = gettext("It was called “{before}”, and is called “{now}” now.");
            (fill(&text, &[("before", &one_line(before)), ("now", &one_line(now))]), None)
        }
        ServerToolChange::Description { diff } => {
            (gettext("The server changed what it says about the tool:"), Some(diff))
        }
        ServerToolChange::Inputs { diff } => {
            (gettext("The server changed what the tool takes:"), Some(diff))
        }
        ServerToolChange::ReadOnly { now: true } => {
            (gettext("The server now says that the tool only reads."), None)
        }
        ServerToolChange::ReadOnly { now: false } => {
            (gettext("The server no longer says that the tool only reads."), None)
        }
    }
}

/// Every reason why a request is asked, the most serious first.
pub fn reasons_asked(asked: &PermissionRequest) -> Vec<String> {
    let rest = asked.reasons.len().saturating_sub(REASONS_LISTED);
    let listed = asked.reasons.iter().take(REASONS_LISTED).map(reason_asked);
    listed.chain((rest > 0).then(|| more_reasons(rest))).collect()
}

/// That there are so many more reasons.
pub fn more_reasons(count: usize) -> String {
    let text =
        ngettext("{n} more reason", "{n} more reasons", u32::try_from(count).unwrap_or(u32::MAX));
    fill(&text, &[("n", &count.to_string())])
}

/// A reason to ask, and where the rule holds that it is asked for, if there is one.
pub fn reason_asked(reason: &AskReason) -> String {
    let why = why(&reason.why);
    let place = match reason.scope {
        None => return why,
        Some(Scope::Session) => gettext("This rule applies to this chat."),
        Some(Scope::Project) => gettext("This rule applies to this project."),
        Some(Scope::Everywhere) => gettext("This rule applies everywhere."),
    };
    format!("{why} {place}")
}

/// Whether a command would run in the background, and when it would be stopped. None of anything
/// else.
pub fn run_time(asked: &PermissionRequest) -> Option<String> {
    let Preview::Command { background, limit, .. } = &asked.preview else { return None };
    let text = match (background, limit) {
        (false, None) => return None,
        (false, Some(_)) => gettext("It stops after {time} at the latest."),
        (true, Some(_)) => {
            gettext("It runs in the background and stops after {time} at the latest.")
        }
        (true, None) => gettext("It runs in the background without a time limit."),
    };
    // Rounded minutes would be another limit.
    let time = |limit: Duration| match limit.as_secs() {
        0..120 => seconds(limit),
        whole if whole % 60 == 0 => seconds(limit),
        _ => short_time(limit),
    };
    Some(fill(&text, &[("time", &limit.map(time).unwrap_or_default())]))
}

/// Why a command cannot be had run outside the sandbox, where that is so.
pub fn stays_inside(asked: &PermissionRequest) -> Option<String> {
    let Preview::Command { stays_inside: Some(why), .. } = &asked.preview else { return None };
    Some(match why {
        Why::Denied(rule) => about(
            &gettext(
                "It can’t run outside the sandbox, because it could use the network there. The rule {what} denies that.",
            ),
            rule,
        ),
        // Nothing but its network and the mode Plan refuses outside what may run inside.
        _ => gettext("In this mode, commands run only in the sandbox."),
    })
}

/// Why a request does not pass by itself.
pub fn why(why: &Why) -> String {
    match why {
        Why::Own => gettext("Natter keeps its own files there."),
        Why::Protected => gettext("Tools can’t write there."),
        Why::Denied(rule) => about(&gettext("The rule {what} denies it."), rule),
        Why::PerhapsDenied(rule) => about(
            &gettext("The rule {what} may deny it. That only becomes clear when the command runs."),
            rule,
        ),
        Why::HoldsDenied(rule) => about(
            &gettext(
                "This folder contains, or may contain, something that the rule {what} denies.",
            ),
            rule,
        ),
        Why::Unsandboxed => {
            gettext("It would run outside the sandbox, where it can do anything you can do.")
        }
        Why::Merges(branch) => about(&gettext("It changes your branch “{what}”."), branch),
        Why::Discards(name) => {
            about(&gettext("It removes the worktree of “{what}” with its branch."), name)
        }
        Why::Unparsable(why) => unparsable(why),
        Why::NotLiteral(word) => {
            about(&gettext("The value of “{what}” is only known when the command runs."), word)
        }
        Why::Assignment(name) => about(
            &gettext("It sets the variable “{what}”. This may change what the command does."),
            name,
        ),
        Why::HandsOver(name) => about(
            &gettext(
                "“{what}” runs another command, or changes the meaning of the words after it.",
            ),
            name,
        ),
        Why::RunsInput(name) => about(
            &gettext("“{what}” runs its input as a program, and Natter can’t see that input."),
            name,
        ),
        Why::UnknownFile(word) => about(
            &gettext("The file that “{what}” opens is only known when the command runs."),
            word,
        ),
        Why::Outside => gettext("It’s outside the project."),
        Why::SeveralLinks => gettext("The file has other hard links that may be anywhere."),
        Why::Secret(path) => about(&gettext("“{what}” may contain secrets."), path),
        Why::PrivateAddress => {
            gettext("The address belongs to this computer or its local network.")
        }
        Why::ChangedTool => {
            gettext("The server has changed this tool since you allowed it. Read what it says now.")
        }
        Why::NewTool => gettext(
            "You haven’t allowed this tool yet as the server describes it now. Your rules count once you have.",
        ),
        Why::NoHost => gettext("There is no host with this name."),
        Why::CommandNetwork => gettext(
            "The command needs the network and could reach any host, including those on your local network.",
        ),
        Why::Background => gettext("No rule allows it in the background yet."),
        Why::Mode => gettext("No rule allows it yet."),
    }
}

fn unparsable(why: &Unparsable) -> String {
    match why {
        Unparsable::Empty => gettext("The command is empty."),
        Unparsable::TooLong => gettext("The command is too long to check."),
        Unparsable::TooDeep => gettext("The command is nested too deeply to check."),
        Unparsable::Hidden(code) => fill(
            &gettext("The command contains an invisible character: U+{code}."),
            &[("code", &format!("{code:04X}"))],
        ),
        Unparsable::Syntax(_) => gettext("The command isn’t valid shell syntax."),
        Unparsable::Unclear(piece) => {
            about(&gettext("It’s unclear how the shell would interpret “{what}”."), piece)
        }
    }
}

/// What is wrong with a text that is no rule, with an example of one.
pub fn bad_rule(bad: &InvalidRule) -> String {
    match bad {
        InvalidRule::Form => gettext(
            "A rule consists of an action, a colon, and a pattern. Write it like “run:cargo test *” or “read:/etc/hosts”.",
        ),
        InvalidRule::Action(action) => about(
            &gettext(
                "“{what}” isn’t an action. Use read, write, run, run+network, run+background, network, mcp, or mcp+read-only, as in “run:cargo test *”.",
            ),
            action,
        ),
        InvalidRule::Pattern(InvalidPattern::Empty) => gettext(
            "There is nothing after the colon. Write it like “run:cargo test *” or “read:/etc/hosts”.",
        ),
        InvalidRule::Pattern(InvalidPattern::Glob { pattern, .. }) => {
            about(&gettext("“{what}” isn’t a path pattern. Write it like “write:src/**”."), pattern)
        }
        InvalidRule::Pattern(InvalidPattern::Quotes(pattern)) => about(
            &gettext(
                "The quotation marks in “{what}” don’t match. Write it like “run:git commit *”.",
            ),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Shell(pattern, _)) => about(
            &gettext(
                "“{what}” is more than one simple command. Add a rule for each, like “run:cargo test *”.",
            ),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Star(pattern)) => about(
            &gettext(
                "In “{what}”, the * doesn’t stand alone at the end. Write it like “run:cargo test *”.",
            ),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Host(pattern)) => about(
            &gettext("“{what}” isn’t a host. Write it like “network:*.example.org”."),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::ServerTool(pattern)) => about(
            &gettext(
                "“{what}” isn’t a tool of a server. Write it like “mcp:github/get_issue” or “mcp:github/*”.",
            ),
            pattern,
        ),
    }
}

/// What a rule does, before the rule itself.
pub fn effect(effect: Effect) -> String {
    match effect {
        Effect::Allow => gettext("allows"),
        Effect::Deny => gettext("denies"),
    }
}

/// What a mode is called.
pub fn mode_title(mode: Mode) -> String {
    match mode {
        Mode::Ask => gettext("Ask"),
        Mode::Edits => gettext("Edits"),
        Mode::Auto => gettext("Auto"),
        Mode::Plan => gettext("Plan"),
        Mode::Unattended => gettext("Unattended"),
    }
}

/// What a mode is called where it is chosen.
pub fn mode_choice(mode: Mode) -> String {
    match mode {
        Mode::Auto => gettext("Auto (recommended for coding)"),
        mode => mode_title(mode),
    }
}

/// What a mode means, in a line.
pub fn mode_meaning(mode: Mode) -> String {
    match mode {
        Mode::Ask => gettext("Reads files and runs read-only commands; asks before anything else"),
        Mode::Edits => {
            gettext("Reads and edits files, and runs read-only commands; asks before anything else")
        }
        Mode::Auto => {
            gettext("Edits files and runs commands in the sandbox; asks before anything else")
        }
        Mode::Plan => gettext("Reads files and runs read-only commands; changes nothing"),
        Mode::Unattended => {
            gettext("Reads and edits files and runs commands in the sandbox; never asks")
        }
    }
}

/// A rule that an answer for everywhere stores only for the project, since it names the project's
/// files.
pub fn rule_of_project(rule: &str) -> String {
    fill(&gettext("{rule} (only in this project)"), &[("rule", rule)])
}

fn about(sentence: &str, what: &str) -> String {
    fill(sentence, &[("what", &one_line(what))])
}

#[cfg(test)]
mod tests;
