//! Builds the text of a notification below the title of its chat.

use std::path::Path;

use chat_core::error::Error;
use chat_core::event::StopReason;
use chat_core::message::{ApprovalKind, ApprovalRequest, AskReason, PermissionRequest, Preview};
use chat_core::permission::Why;
use chat_presentation::words;
use gettextrs::gettext;

/// Desktops cut longer text at arbitrary positions.
const LINE: usize = 120;

/// An ask, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asking {
    pub(super) words: String,
    /// Whether the text shows everything that would be done.
    pub(super) whole: bool,
    /// Whether it is a permission request.
    pub(super) permission: bool,
}

/// Describes an ask of a chat that works in this folder.
pub(super) fn asking(ask: &ApprovalRequest, project: Option<&Path>) -> Asking {
    match &ask.kind {
        ApprovalKind::Permission(asked) => permission(asked, project),
        ApprovalKind::GoOn { rounds } => {
            Asking { words: words::go_on_question(*rounds), whole: true, permission: true }
        }
        ApprovalKind::Question(question) => {
            let words = words::fill(
                &gettext("Question: {question}"),
                &[("question", &first_line(&question.text).unwrap_or_default())],
            );
            Asking { words, whole: false, permission: false }
        }
        ApprovalKind::Form(form) => {
            let lines = [Some(words::form_question(form)), first_line(&form.message)];
            let words = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
            Asking { words, whole: false, permission: false }
        }
    }
}

fn permission(asked: &PermissionRequest, project: Option<&Path>) -> Asking {
    let mut lines = vec![words::permission_question(asked)];
    let whole = match &asked.preview {
        Preview::Target | Preview::Delete => fits(&asked.target),
        Preview::Command { text, folder, .. } => {
            lines.extend(first_line(text));
            let place = folder.display().to_string();
            if project != Some(folder) {
                let place = first_line(&place).unwrap_or_default();
                let where_to = gettext("It would run in {folder}.");
                lines.push(words::fill(&where_to, &[("folder", &place)]));
            }
            lines.extend(words::run_time(asked));
            fits(text) && fits(&place)
        }
        Preview::Address { url } => {
            lines.extend(first_line(url));
            fits(url)
        }
        Preview::Store { url, .. } => {
            lines.extend(first_line(url));
            fits(url) && fits(&asked.target)
        }
        // Neither a change nor arguments can be shown in one line.
        Preview::Change { .. } | Preview::ServerTool { .. } => false,
        Preview::Move { to } => fits(&asked.target) && fits(&to.display().to_string()),
    };
    // What needs a rule is what the question says already.
    let is_told = |reason: &&AskReason| !matches!(reason.why, Why::Mode | Why::Background);
    let reasons: Vec<_> = asked.reasons.iter().filter(is_told).map(words::reason_asked).collect();
    let (shown, more) = reasons.split_at(reasons.len().min(words::REASONS_SHOWN));
    lines.extend_from_slice(shown);
    if !more.is_empty() {
        lines.push(words::more_reasons(more.len()));
    }
    Asking { words: lines.join("\n"), whole: whole && more.is_empty(), permission: true }
}

/// Whether a text can be shown on one line without being misread.
fn fits(text: &str) -> bool {
    let text = text.trim();
    !text.contains(['\n', '\t']) && text.chars().count() <= LINE && words::visible(text) == text
}

/// Describes how a reply ended.
pub(super) fn finished(reason: StopReason, error: Option<&Error>, last: Option<&str>) -> String {
    match (reason, error) {
        (StopReason::Complete | StopReason::Limit, _) => {
            let done = gettext("The reply is ready.");
            last.and_then(first_line).map_or_else(|| done.clone(), |line| format!("{done}\n{line}"))
        }
        (_, Some(error)) => words::sentence(error),
        (reason, None) => words::stop_reason(reason).unwrap_or_default(),
    }
}

/// The first line with content, with hidden characters made visible, and shortened.
fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = words::visible(line);
    let mut short: String = line.chars().take(LINE).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    Some(short)
}

/// Text that no desktop interprets as markup: some do interpret it, others would show an escaped
/// form literally.
pub(super) fn plain(text: &str) -> String {
    let sign = |c| match c {
        '<' => '＜',
        '>' => '＞',
        '&' => '＆',
        c => c,
    };
    text.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use chat_core::error::Kind;
    use chat_core::message::{ApprovalId, Form, Question, ToolCallId};
    use chat_core::permission::Action;

    use super::*;

    fn request(action: Action, target: &str, preview: Preview) -> ApprovalRequest {
        let target = target.to_owned();
        let asked = PermissionRequest {
            action,
            target,
            preview,
            reasons: vec![Why::Mode.into()],
            always: Vec::new(),
        };
        ApprovalRequest {
            id: ApprovalId::generate(),
            call: ToolCallId::new("c1"),
            tool: "run_command".to_owned(),
            kind: ApprovalKind::Permission(asked),
        }
    }

    fn command(text: &str) -> Asking {
        let preview = Preview::Command {
            text: text.to_owned(),
            folder: PathBuf::from("/home/ada/garden"),
            network: false,
            sandboxed: true,
            background: false,
            limit: Some(Duration::from_mins(2)),
            stays_inside: None,
        };
        asking(&request(Action::Run, text, preview), Some(Path::new("/home/ada/garden")))
    }

    #[test]
    fn only_what_is_told_whole_may_be_allowed_from_outside() {
        let short = command("cargo test && git status");
        assert!(short.whole && short.permission);
        assert!(short.words.contains("cargo test && git status"), "{}", short.words);
        for hidden in
            ["ls\nrm -r .", &"x".repeat(LINE + 1), "ls \u{202e}fr- mr", "ls\tx", "a\u{1b}[8m"]
        {
            let asking = command(hidden);
            assert!(!asking.whole, "{hidden:?}");
            assert!(!asking.words.contains(['\u{202e}', '\u{1b}']), "{}", asking.words);
        }
        let change = Preview::Change { is_new: false, diff: "+a".to_owned(), added: 1, removed: 0 };
        assert!(!asking(&request(Action::Write, "src/a.rs", change), None).whole);
        assert!(asking(&request(Action::Read, "/etc/hosts", Preview::Target), None).whole);
        let url = |path: &str| Preview::Address { url: format!("https://example.org/{path}") };
        assert!(asking(&request(Action::Network, "example.org", url("a")), None).whole);
        let long = url(&"a".repeat(LINE));
        assert!(!asking(&request(Action::Network, "example.org", long), None).whole);
    }

    #[test]
    fn where_a_command_runs_is_told_unless_it_is_the_project() {
        let preview = |folder: &str, sandboxed| Preview::Command {
            text: "./run.sh".to_owned(),
            folder: folder.into(),
            network: false,
            sandboxed,
            background: false,
            limit: None,
            stays_inside: None,
        };
        let told = |folder: &str, sandboxed| {
            let ask = request(Action::Run, "./run.sh", preview(folder, sandboxed));
            asking(&ask, Some(Path::new("/home/ada/garden")))
        };
        assert!(!told("/home/ada/garden", true).words.contains("/home/ada/garden"));
        let inside = told("/home/ada/garden/vendor/x", true);
        assert!(
            inside.whole && inside.words.contains("/home/ada/garden/vendor/x"),
            "{}",
            inside.words
        );
        assert!(!told(&format!("/home/ada/garden/{}", "x".repeat(LINE)), true).whole);
        assert_ne!(told("/home/ada/garden", false).words, told("/home/ada/garden", true).words);
    }

    #[test]
    fn how_long_a_command_may_run_is_told_and_whether_behind_the_reply() {
        let short = command("make");
        assert!(short.words.contains("It stops after 2 minutes at the latest."), "{}", short.words);
        let preview = Preview::Command {
            text: "make".to_owned(),
            folder: PathBuf::from("/home/ada/garden"),
            network: false,
            sandboxed: true,
            background: true,
            limit: None,
            stays_inside: None,
        };
        let behind = asking(&request(Action::Run, "make", preview), None);
        let told = "It runs in the background without a time limit.";
        assert!(behind.whole && behind.words.contains(told), "{}", behind.words);
    }

    #[test]
    fn what_is_asked_for_more_reasons_than_fit_is_allowed_only_in_the_chat() {
        let told = |reasons: Vec<Why>| {
            let mut ask = request(Action::Read, "/etc/hosts", Preview::Target);
            let ApprovalKind::Permission(asked) = &mut ask.kind else { panic!() };
            asked.reasons = reasons.into_iter().map(AskReason::from).collect();
            asking(&ask, None)
        };
        let unknown = |word: &str| Why::NotLiteral(word.to_owned());
        let few = told(vec![Why::Outside, unknown("$a"), Why::Mode]);
        assert!(few.whole && few.words.ends_with("when the command runs."), "{}", few.words);
        assert!(few.words.contains("It’s outside the project."), "{}", few.words);
        let words = ["$a", "$b", "$c", "$d", "$e"].map(unknown);
        let many = told([Why::Outside].into_iter().chain(words).collect());
        assert!(!many.whole && many.words.ends_with("\n2 more reasons"), "{}", many.words);
    }

    #[test]
    fn a_question_is_no_permission() {
        let what = ApprovalKind::Question(Question {
            text: "\n Which one?\nOr none?".to_owned(),
            choices: Vec::new(),
        });
        let ask = ApprovalRequest { kind: what, ..request(Action::Read, "", Preview::Target) };
        let asking = asking(&ask, None);
        assert!(!asking.permission && asking.words.contains("Which one?"));
        assert!(!asking.words.contains("Or none"));
    }

    #[test]
    fn a_form_says_who_asks_and_for_what() {
        let (server, message) = ("Git\u{202e}Hub".to_owned(), "Your name?\nMore".to_owned());
        let what = ApprovalKind::Form(Form { server, message, fields: Vec::new() });
        let ask = ApprovalRequest { kind: what, ..request(Action::Read, "", Preview::Target) };
        let asking = asking(&ask, None);
        assert!(!asking.permission && !asking.whole);
        assert_eq!(asking.words, "“Git⟨U+202E⟩Hub” asks for:\nYour name?");
    }

    #[test]
    fn a_reply_is_told_by_its_first_line_and_a_failure_by_its_reason() {
        let words =
            finished(StopReason::Complete, None, Some("\n\n Paris.\nIt lies on the Seine."));
        assert!(words.ends_with("\nParis."), "{words}");
        let silent = finished(StopReason::Complete, None, Some(" \n"));
        assert!(!silent.is_empty() && !silent.contains('\n'));
        let error = Error::new(Kind::Unreachable);
        let failed = finished(StopReason::Error, Some(&error), Some("Par"));
        assert_eq!(failed, words::sentence(&error));
        assert!(!finished(StopReason::Interrupted, None, None).is_empty());
    }

    #[test]
    fn no_desktop_takes_it_for_markup() {
        let plain = plain("<a href='x'>&lt; **b**");
        assert!(!plain.contains(['<', '>', '&']));
        assert!(plain.contains("**b**"));
    }
}
