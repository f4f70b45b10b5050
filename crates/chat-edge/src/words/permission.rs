//! Words permissions: what is asked for, why it is asked, which rules there are.

use chat_core::message::{PermissionRequest, Preview};
use chat_core::permission::command::Unparsable;
use chat_core::permission::pattern::InvalidPattern;
use chat_core::permission::{Action, Effect, InvalidRule, Mode, Scope, Why};
use gettextrs::{gettext, ngettext};

use super::{fill, one_line};

/// What a tool wants to do, as a question of one line.
pub fn permission_question(asked: &PermissionRequest) -> String {
    match (&asked.preview, asked.action) {
        (Preview::Command { sandboxed: false, .. }, _) => {
            gettext("Run this command outside the sandbox?")
        }
        (Preview::Command { network: true, .. }, _) => {
            gettext("Run this command, with access to the network?")
        }
        (Preview::Command { .. }, _) | (_, Action::Run) => gettext("Run this command?"),
        (Preview::Move { to }, _) => fill(
            &gettext("Move “{from}” to “{to}”?"),
            &[("from", &one_line(&asked.target)), ("to", &one_line(&to.display().to_string()))],
        ),
        (Preview::Delete, _) => about(&gettext("Put “{what}” into the trash?"), &asked.target),
        (Preview::Store { url, .. }, _) => fill(
            &gettext("Store “{url}” as “{what}”?"),
            &[("url", &one_line(url)), ("what", &one_line(&asked.target))],
        ),
        (Preview::Change { .. }, _) => about(&gettext("Change “{what}” like this?"), &asked.target),
        (Preview::Address { .. }, _) => about(&gettext("Fetch from “{what}”?"), &asked.target),
        (Preview::Target, Action::Read) => about(&gettext("Read “{what}”?"), &asked.target),
        (Preview::Target, Action::Write) => about(&gettext("Write “{what}”?"), &asked.target),
        (Preview::Target, Action::Network) => {
            about(&gettext("Reach “{what}” over the network?"), &asked.target)
        }
    }
}

/// Whether to go on after so many rounds of tools.
pub fn go_on_question(rounds: u32) -> String {
    let text = ngettext(
        "The model called tools in {rounds} round. Let it go on for as many again?",
        "The model called tools in {rounds} rounds. Let it go on for as many again?",
        rounds,
    );
    fill(&text, &[("rounds", &rounds.to_string())])
}

/// Why a request is asked, and where the rule holds that it is asked for, if there is one.
pub fn why_asked(asked: &PermissionRequest) -> String {
    let why = why(&asked.why);
    let place = match asked.scope {
        None => return why,
        Some(Scope::Session) => gettext("That rule holds in this chat."),
        Some(Scope::Project) => gettext("That rule holds in this project."),
        Some(Scope::Everywhere) => gettext("That rule holds everywhere."),
    };
    format!("{why} {place}")
}

/// Why a command cannot be had run outside the sandbox, where that is so.
pub fn stays_inside(asked: &PermissionRequest) -> Option<String> {
    let Preview::Command { stays_inside: Some(why), .. } = &asked.preview else { return None };
    Some(match why {
        Why::Denied(rule) => about(
            &gettext(
                "It can’t run outside the sandbox: it could use the network there, which the rule {what} denies.",
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
        Why::Protected => gettext("Tools never write there."),
        Why::Denied(rule) => about(&gettext("The rule {what} denies it."), rule),
        Why::PerhapsDenied(rule) => about(
            &gettext("The rule {what} may deny it: that shows only when the command runs."),
            rule,
        ),
        Why::HoldsDenied(rule) => about(
            &gettext("In this folder is, or may be, something that the rule {what} denies."),
            rule,
        ),
        Why::Unsandboxed => {
            gettext("It would run outside the sandbox: the command can do whatever you can do.")
        }
        Why::Unparsable(why) => unparsable(why),
        Why::NotLiteral(word) => {
            about(&gettext("What “{what}” stands for shows only when the command runs."), word)
        }
        Why::Assignment(name) => about(
            &gettext("It sets the variable “{what}”, which may change what the command does."),
            name,
        ),
        Why::HandsOver(name) => about(
            &gettext("“{what}” runs another command, or changes what the words after it mean."),
            name,
        ),
        Why::RunsInput(name) => about(
            &gettext("“{what}” runs what it is given to read, and that is not seen here."),
            name,
        ),
        Why::UnknownFile(word) => {
            about(&gettext("Which file “{what}” opens shows only when the command runs."), word)
        }
        Why::Outside => gettext("It lies outside the project."),
        Why::SeveralLinks => gettext("The file has other names, which may lie anywhere."),
        Why::Secret(path) => about(&gettext("“{what}” may hold secrets."), path),
        Why::PrivateAddress => {
            gettext("The address is one of this computer or of its own network.")
        }
        Why::NoHost => gettext("There is no host of this name."),
        Why::CommandNetwork => gettext(
            "The command wants the network: it could reach every host, also those of your own network.",
        ),
        Why::Mode => gettext("No rule allows it yet."),
    }
}

fn unparsable(why: &Unparsable) -> String {
    match why {
        Unparsable::Empty => gettext("The command is empty."),
        Unparsable::TooLong => gettext("The command is too long to be judged."),
        Unparsable::TooDeep => gettext("The command is nested too deeply to be judged."),
        Unparsable::Hidden(code) => fill(
            &gettext("The command has a character that cannot be seen: U+{code}."),
            &[("code", &format!("{code:04X}"))],
        ),
        Unparsable::Syntax(_) => gettext("The command is not what a shell reads."),
        Unparsable::Unclear(piece) => {
            about(&gettext("It is not clear what the shell makes of “{what}”."), piece)
        }
    }
}

/// What is wrong with a text that is no rule, with an example of one.
pub fn bad_rule(bad: &InvalidRule) -> String {
    match bad {
        InvalidRule::Form => gettext(
            "A rule is an action, a colon and a pattern. Write it like “run:cargo test *” or “read:/etc/hosts”.",
        ),
        InvalidRule::Action(action) => about(
            &gettext(
                "“{what}” is not an action. Use read, write, run, run+network or network, like “run:cargo test *”.",
            ),
            action,
        ),
        InvalidRule::Pattern(InvalidPattern::Empty) => gettext(
            "Nothing stands behind the colon. Write it like “run:cargo test *” or “read:/etc/hosts”.",
        ),
        InvalidRule::Pattern(InvalidPattern::Glob { pattern, .. }) => about(
            &gettext("“{what}” is no pattern of paths. Write it like “write:src/**”."),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Quotes(pattern)) => about(
            &gettext(
                "The quotation marks of “{what}” do not fit. Write it like “run:git commit *”.",
            ),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Shell(pattern, _)) => about(
            &gettext(
                "“{what}” is more than one simple command: give each a rule of its own. Write it like “run:cargo test *”.",
            ),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Star(pattern)) => about(
            &gettext(
                "In “{what}” the * does not stand alone at the end. Write it like “run:cargo test *”.",
            ),
            pattern,
        ),
        InvalidRule::Pattern(InvalidPattern::Host(pattern)) => {
            about(&gettext("“{what}” is no host. Write it like “network:*.example.org”."), pattern)
        }
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
        Mode::Ask => gettext("Reads in the folder, and asks for everything else"),
        Mode::Edits => gettext("Reads and writes in the folder, and asks for everything else"),
        Mode::Auto => gettext("Edits and runs commands in the sandbox; asks for everything else"),
        Mode::Plan => gettext("Reads in the folder; nothing is written or run"),
        Mode::Unattended => {
            gettext("Reads, writes and runs commands in the sandbox; asks for nothing")
        }
    }
}

fn about(sentence: &str, what: &str) -> String {
    fill(sentence, &[("what", &one_line(what))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_a_whole_sentence() {
        let word = || "\x1b$X\n".to_owned();
        let unparsable = [
            Unparsable::Empty,
            Unparsable::TooLong,
            Unparsable::TooDeep,
            Unparsable::Hidden(0x200b),
            Unparsable::Syntax(word()),
            Unparsable::Unclear(word()),
        ];
        let all = [
            Why::Own,
            Why::Protected,
            Why::Denied(word()),
            Why::PerhapsDenied(word()),
            Why::HoldsDenied(word()),
            Why::Unsandboxed,
            Why::NotLiteral(word()),
            Why::Assignment(word()),
            Why::HandsOver(word()),
            Why::RunsInput(word()),
            Why::UnknownFile(word()),
            Why::Outside,
            Why::SeveralLinks,
            Why::Secret(word()),
            Why::PrivateAddress,
            Why::NoHost,
            Why::CommandNetwork,
            Why::Mode,
        ];
        let mut lines = String::new();
        for reason in all.into_iter().chain(unparsable.map(Why::Unparsable)) {
            let text = why(&reason);
            assert!(text.ends_with('.') && !text.contains(['{', '\x1b', '\n']), "{text}");
            lines.push_str(&text);
            lines.push('\n');
        }
        insta::assert_snapshot!(lines);
    }

    #[test]
    fn a_command_that_stays_in_the_sandbox_says_why() {
        let asked = |stays_inside| PermissionRequest {
            action: Action::Run,
            target: "make".to_owned(),
            preview: Preview::Command {
                text: "make".to_owned(),
                folder: "/project".into(),
                network: false,
                sandboxed: true,
                stays_inside,
            },
            why: Why::Mode,
            scope: None,
            always: Vec::new(),
        };
        let by_rule = stays_inside(&asked(Some(Why::Denied("network:*".to_owned()))));
        assert_eq!(
            by_rule.as_deref(),
            Some(
                "It can’t run outside the sandbox: it could use the network there, which the rule network:* denies."
            )
        );
        let by_mode = stays_inside(&asked(Some(Why::Mode)));
        assert_eq!(by_mode.as_deref(), Some("In this mode, commands run only in the sandbox."));
        assert_eq!(stays_inside(&asked(None)), None);
    }

    #[test]
    fn a_bad_rule_gets_an_example_that_is_a_rule() {
        for bad in [
            "ls",
            "look:src",
            "run:",
            "write:[",
            "run:a 'b",
            "run:a && b",
            "run:a * b",
            "network:a b",
        ] {
            let error = bad.parse::<chat_core::permission::Rule>().unwrap_err();
            let text = bad_rule(&error);
            assert!(text.ends_with('.') && !text.contains('{'), "{bad}: {text}");
            let example = text.rsplit("“").next().and_then(|rest| rest.split("”").next());
            let example = example.expect("an example");
            assert!(example.parse::<chat_core::permission::Rule>().is_ok(), "{bad}: {example}");
        }
    }
}
