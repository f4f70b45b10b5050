//! The words of permission questions.

use std::collections::BTreeSet;

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
        Why::Merges(word()),
        Why::Discards(word()),
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
        Why::ChangedTool,
        Why::NewTool,
        Why::CommandNetwork,
        Why::Background,
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
fn every_change_of_a_tool_is_said_and_shown() {
    let diff = || "-a\n+b\n".to_owned();
    let changes = [
        ServerToolChange::Title { before: "A\nd".to_owned(), now: "Send".to_owned() },
        ServerToolChange::Description { diff: diff() },
        ServerToolChange::Inputs { diff: diff() },
        ServerToolChange::ReadOnly { now: true },
        ServerToolChange::ReadOnly { now: false },
    ];
    let words: BTreeSet<String> = changes.iter().map(|it| server_tool_change(it).0).collect();
    assert_eq!(words.len(), changes.len());
    assert!(words.contains("It was called “A⏎d”, and is called “Send” now."), "{words:?}");
    assert_eq!(changes.iter().filter_map(|it| server_tool_change(it).1).count(), 2);
}

#[test]
fn only_the_comments_about_an_agents_work_are_worded() {
    let text = "git merge natter/fixer\n# Not kept: 2 ignored file or folders.\n#   a +1 -1";
    let asked = |why: Why| PermissionRequest {
        action: Action::Run,
        target: String::new(),
        preview: Preview::Target,
        reasons: vec![why.into()],
        always: Vec::new(),
    };
    let merges = asked(Why::Merges("main".to_owned()));
    let worded = "git merge natter/fixer\n# Not kept: 2 ignored files or folders.\n#   a +1 -1";
    assert_eq!(command_text(&merges, text), worded);
    assert_eq!(command_text(&asked(Why::Mode), text), text);
}

#[test]
fn finishing_an_agents_work_is_asked_as_that() {
    let asked = |why: Why| PermissionRequest {
        action: Action::Run,
        target: "git merge natter/fixer".to_owned(),
        preview: Preview::Command {
            text: "git merge natter/fixer".to_owned(),
            folder: "/work".into(),
            network: false,
            sandboxed: false,
            background: false,
            limit: None,
            stays_inside: None,
        },
        reasons: vec![why.into()],
        always: Vec::new(),
    };
    let question = |why| permission_question(&asked(why));
    assert!(runs_command(&asked(Why::Unsandboxed)));
    assert!(!runs_command(&asked(Why::Merges("main".to_owned()))));
    assert_eq!(question(Why::Merges("main".to_owned())), "Merge the agent’s work into “main”?");
    assert_eq!(question(Why::Discards("fixer".to_owned())), "Discard the work of “fixer”?");
    assert_eq!(question(Why::Unsandboxed), "Run this command outside the sandbox?");
}

#[test]
fn a_new_file_is_created_and_an_old_one_edited() {
    let question = |is_new| {
        permission_question(&PermissionRequest {
            action: Action::Write,
            target: "src/a.rs".to_owned(),
            preview: Preview::Change { is_new, diff: "+a".to_owned(), added: 1, removed: 0 },
            reasons: vec![Why::Mode.into()],
            always: Vec::new(),
        })
    };
    assert_eq!(question(true), "Create “src/a.rs”?");
    assert_eq!(question(false), "Edit “src/a.rs”?");
}

#[test]
fn of_thousands_of_reasons_the_first_are_listed_and_the_others_counted() {
    let reasons = |count: usize| {
        reasons_asked(&PermissionRequest {
            action: Action::Run,
            target: "make".to_owned(),
            preview: Preview::Target,
            reasons: (0..count).map(|n| Why::Assignment(format!("v{n}")).into()).collect(),
            always: Vec::new(),
        })
    };
    assert_eq!(reasons(30).len(), 30);
    assert_eq!(reasons(10_000).len(), 31);
    assert_eq!(reasons(10_000)[30], "9970 more reasons");
}

/// The question for the command `make`.
fn make(background: bool, limit: Option<Duration>, stays_inside: Option<Why>) -> PermissionRequest {
    PermissionRequest {
        action: Action::Run,
        target: "make".to_owned(),
        preview: Preview::Command {
            text: "make".to_owned(),
            folder: "/project".into(),
            network: false,
            sandboxed: true,
            background,
            limit,
            stays_inside,
        },
        reasons: vec![Why::Mode.into()],
        always: Vec::new(),
    }
}

#[test]
fn a_command_that_stays_in_the_sandbox_says_why() {
    let asked = |stays_inside| make(false, None, stays_inside);
    let by_rule = stays_inside(&asked(Some(Why::Denied("network:*".to_owned()))));
    assert_eq!(
        by_rule.as_deref(),
        Some(
            "It can’t run outside the sandbox, because it could use the network there. The rule network:* denies that."
        )
    );
    let by_mode = stays_inside(&asked(Some(Why::Mode)));
    assert_eq!(by_mode.as_deref(), Some("In this mode, commands run only in the sandbox."));
    assert_eq!(stays_inside(&asked(None)), None);
}

#[test]
fn a_command_says_how_long_it_may_run_and_whether_behind_the_reply() {
    let told = |background, limit: Option<u64>| {
        run_time(&make(background, limit.map(Duration::from_secs), None))
    };
    for (background, limit, expected) in [
        (false, Some(1), "It stops after 1 second at the latest."),
        (false, Some(600), "It stops after 10 minutes at the latest."),
        (false, Some(150), "It stops after 2 min 30 s at the latest."),
        (true, Some(90), "It runs in the background and stops after 90 seconds at the latest."),
        (true, None, "It runs in the background without a time limit."),
    ] {
        assert_eq!(told(background, limit).as_deref(), Some(expected));
    }
}

#[test]
fn a_bad_rule_gets_an_example_that_is_a_rule() {
    for bad in
        ["ls", "look:src", "run:", "write:[", "run:a 'b", "run:a && b", "run:a * b", "network:a b"]
    {
        let error = bad.parse::<chat_core::permission::Rule>().unwrap_err();
        let text = bad_rule(&error);
        assert!(text.ends_with('.') && !text.contains('{'), "{bad}: {text}");
        let example = text.rsplit("“").next().and_then(|rest| rest.split("”").next());
        let example = example.expect("an example");
        assert!(example.parse::<chat_core::permission::Rule>().is_ok(), "{bad}: {example}");
    }
}
