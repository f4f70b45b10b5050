//! Tests the table of modes, and the rules that apply in every mode.

use std::path::Path;

use super::*;
use crate::path::Guard;
use crate::request::{Redirected, Target};
use crate::{ResolvedPath, Run, Scope, command};

mod network;
mod properties;
mod reading;
mod remembered;

/// Parses entries like `+run:ls *` and `-read:/etc/**`.
fn entries(texts: &[&str]) -> Vec<Entry> {
    texts
        .iter()
        .map(|text| {
            let (sign, rule) = text.split_at(1);
            let rule = rule.parse().unwrap();
            if sign == "+" {
                Entry::allow(rule, Scope::Project)
            } else {
                Entry::deny(rule, Scope::Everywhere)
            }
        })
        .collect()
}

fn path(real: &str) -> ResolvedPath {
    ResolvedPath::imagined(real)
}

fn read(real: &str) -> Request {
    Request::Read { path: path(real) }
}

fn write(real: &str) -> Request {
    Request::Write { path: path(real) }
}

fn host(host: &str) -> Request {
    Request::Network { host: host.to_owned(), private: false, leads_to: Vec::new() }
}

/// A sandboxed command in the imaginary project's root; its redirects are absolute paths or names
/// there.
fn command(text: &str) -> Run {
    let parts = command::parse(text);
    let moves = parts.iter().flatten().any(command::changes_folder);
    let reads = command::reads(parts.as_deref().unwrap_or_default(), |from, text| {
        let from = from.map_or(Path::new("/project"), ResolvedPath::real);
        let found = match text {
            "" | "." => return Some(path("/project").folder()),
            ".." => return Some(path("/").folder()),
            text => path(from.join(text).to_str()?),
        };
        Some(if text.ends_with("dir") { found.folder() } else { found })
    });
    let redirected = parts
        .iter()
        .flatten()
        .flat_map(|part| &part.redirects)
        .filter(|redirect| redirect.kind != command::RedirectKind::Text)
        .map(|redirect| Redirected {
            writes: redirect.kind == command::RedirectKind::Write,
            written: redirect.target.as_written().to_owned(),
            target: match redirect.target.literal() {
                Some(text) if text.starts_with('/') => Target::Path(path(text)),
                Some(text) if !moves => Target::Path(path(&format!("/project/{text}"))),
                _ => Target::Unknown,
            },
        })
        .collect();
    Run {
        command: text.to_owned(),
        folder: path("/project"),
        sandboxed: true,
        network: false,
        background: false,
        parts,
        redirected,
        reads,
    }
}

fn run(text: &str) -> Request {
    Request::Run(command(text))
}

/// `pass`, `ask` or `refuse`.
fn outcome(rules: &[&str], mode: Mode, request: &Request) -> &'static str {
    match decide(&entries(rules), mode, request) {
        Decision::Pass => "pass",
        Decision::Ask { .. } => "ask",
        Decision::Refuse { .. } => "refuse",
    }
}

fn why(rules: &[&str], mode: Mode, request: &Request) -> Option<Why> {
    match decide(&entries(rules), mode, request) {
        Decision::Pass => None,
        Decision::Ask { reasons, .. } => Some(reasons[0].clone()),
        Decision::Refuse { why, .. } => Some(why),
    }
}

fn reasons(rules: &[&str], mode: Mode, request: &Request) -> Vec<Why> {
    match decide(&entries(rules), mode, request) {
        Decision::Ask { reasons, .. } => reasons,
        other => panic!("{request:?} does not ask: {other:?}"),
    }
}

fn always(rules: &[&str], mode: Mode, request: &Request) -> Vec<String> {
    match decide(&entries(rules), mode, request) {
        Decision::Ask { always, .. } => always.iter().map(ToString::to_string).collect(),
        other => panic!("{request:?} does not ask: {other:?}"),
    }
}

#[test]
fn the_table_of_modes() {
    let requests = [
        read("/project/src/main.rs"),
        write("/project/src/main.rs"),
        run("cargo test"),
        host("example.org"),
        read("/etc/hosts"),
        write("/etc/hosts"),
    ];
    let table = [
        (Mode::Ask, ["pass", "ask", "ask", "ask", "ask", "ask"]),
        (Mode::Edits, ["pass", "pass", "ask", "ask", "ask", "ask"]),
        (Mode::Auto, ["pass", "pass", "pass", "ask", "ask", "ask"]),
        (Mode::Plan, ["pass", "refuse", "refuse", "ask", "ask", "refuse"]),
        (Mode::Unattended, ["pass", "pass", "pass", "refuse", "refuse", "refuse"]),
    ];
    for (mode, expected) in table {
        let found: Vec<_> = requests.iter().map(|request| outcome(&[], mode, request)).collect();
        assert_eq!(found, expected, "{mode}");
    }
    // Even with a rule that allows each of them.
    let all = ["+read:/**", "+write:/**", "+run:*", "+network:*"];
    for (mode, _) in table {
        let found: Vec<_> = requests.iter().map(|request| outcome(&all, mode, request)).collect();
        let plan = ["pass", "refuse", "refuse", "pass", "pass", "refuse"];
        assert_eq!(found, if mode == Mode::Plan { plan } else { ["pass"; 6] }, "{mode}");
    }
    // Even with a rule that denies each of them.
    let none = [
        "+read:/**",
        "-read:/**",
        "+write:/**",
        "-write:/**",
        "-run:*",
        "+run:*",
        "+network:*",
        "-network:*",
    ];
    for (mode, _) in table {
        for request in &requests {
            assert_eq!(outcome(&none, mode, request), "refuse", "{mode} {request:?}");
        }
    }
}

#[test]
fn a_file_with_several_names_asks_unless_a_rule_names_it() {
    let linked = Request::Read { path: path("/project/linked").with_several_links() };
    assert_eq!(why(&["+read:/**"], Mode::Ask, &linked), Some(Why::SeveralLinks));
    assert_eq!(always(&[], Mode::Ask, &linked), ["read:./linked"]);
    assert_eq!(outcome(&["+read:./linked"], Mode::Ask, &linked), "pass");
    assert_eq!(outcome(&[], Mode::Unattended, &linked), "refuse");
    let linked = Request::Write { path: path("/project/linked").with_several_links() };
    assert_eq!(outcome(&["+write:**"], Mode::Edits, &linked), "ask");
    assert_eq!(outcome(&["+write:/project/linked"], Mode::Edits, &linked), "pass");
}

#[test]
fn kept_places_are_never_written_and_own_ones_never_read() {
    let all = ["+read:/**", "+write:/**", "+write:./kept", "+read:./kept"];
    for mode in Mode::ALL {
        let kept = path("/project/kept").guarded(Guard::Unwritable);
        assert_eq!(why(&all, mode, &Request::Write { path: kept.clone() }), Some(Why::Protected));
        assert_eq!(outcome(&all, mode, &Request::Read { path: kept }), "pass");
        let own = path("/project/kept").guarded(Guard::Own);
        assert_eq!(why(&all, mode, &Request::Write { path: own.clone() }), Some(Why::Own));
        assert_eq!(why(&all, mode, &Request::Read { path: own }), Some(Why::Own));
    }
}

#[test]
fn a_command_asks_for_just_the_parts_that_no_rule_allows() {
    let rules = ["+run:cargo test *"];
    assert_eq!(outcome(&rules, Mode::Ask, &run("cargo test --all | cargo test")), "pass");
    assert_eq!(
        always(&rules, Mode::Ask, &run("cargo test && rm -rf 'a b' && make")),
        ["run:rm -rf 'a b'", "run:make"]
    );
    assert_eq!(always(&[], Mode::Ask, &run("make; make")), ["run:make"]);
    assert_eq!(
        always(&[], Mode::Ask, &run("say '*' \"it's\" 'a\nb'")),
        ["run:say '*' 'it'\\''s' 'a\nb'"]
    );
    assert_eq!(outcome(&["+run:make"], Mode::Ask, &run("make -j")), "ask");
    assert_eq!(outcome(&["+run:ls"], Mode::Ask, &run("rm x")), "ask");
    assert_eq!(outcome(&["+run:ls *"], Mode::Ask, &run("lsof")), "ask");
    assert_eq!(outcome(&["+run:ls *"], Mode::Ask, &run("./ls")), "ask");
    assert_eq!(outcome(&["+run:ls *"], Mode::Ask, &run("ls -l \"$(rm x)\"")), "ask");
}

#[test]
fn what_is_known_only_when_it_runs_asks_without_always() {
    let all = ["+run:*", "+write:/**"];
    for (text, expected) in [
        ("ls $x", Why::NotLiteral("$x".to_owned())),
        ("PATH=/x ls", Why::Assignment("PATH".to_owned())),
        ("x=1", Why::Assignment("x".to_owned())),
        ("for x in a; do ls; done", Why::Assignment("x".to_owned())),
        ("ls > $x", Why::NotLiteral("$x".to_owned())),
        ("cat <<E\n$x\nE\n", Why::NotLiteral("$x\n".to_owned())),
        ("cd a && ls > b", Why::UnknownFile("b".to_owned())),
        ("cd a && ./b", Why::NotLiteral("./b".to_owned())),
        ("'", why(&all, Mode::Ask, &run("'")).unwrap()),
    ] {
        assert_eq!(why(&all, Mode::Ask, &run(text)), Some(expected), "{text}");
        assert_eq!(always(&all, Mode::Ask, &run(text)), [""; 0], "{text}");
    }
    assert_eq!(outcome(&all, Mode::Ask, &run("cd a && /b/c && ls")), "pass");
    assert_eq!(outcome(&all, Mode::Ask, &run("./b")), "pass");
    let beneath = |text| Request::Run(Run { folder: path("/project/a"), ..command(text) });
    assert!(matches!(why(&all, Mode::Ask, &beneath("./b")), Some(Why::NotLiteral(_))));
    assert_eq!(outcome(&all, Mode::Ask, &beneath("/c/b && ls")), "pass");
    assert!(matches!(why(&all, Mode::Unattended, &run("'")), Some(Why::Unparsable(_))));
    assert_eq!(outcome(&[], Mode::Unattended, &run("ls $x")), "pass");
}

#[test]
fn a_rule_for_the_foreground_is_none_for_the_background() {
    let behind = |text| Request::Run(Run { background: true, ..command(text) });
    let server = behind("make serve");
    for rules in [&[][..], &["+run:make serve"], &["+run:make *"], &["+run+network:make *"]] {
        assert_eq!(why(rules, Mode::Ask, &server), Some(Why::Background), "{rules:?}");
        assert_eq!(always(rules, Mode::Ask, &server), ["run+background:make serve"], "{rules:?}");
    }
    for rule in ["+run+background:make serve", "+run+background:*", "+run+network+background:*"] {
        assert_eq!(outcome(&[rule], Mode::Ask, &server), "pass", "{rule}");
        assert_eq!(outcome(&[rule], Mode::Ask, &run("make serve")), "pass", "{rule}");
    }
    let reaching = Request::Run(Run { network: true, background: true, ..command("make serve") });
    for rule in ["+run:*", "+run+network:*", "+run+background:*"] {
        assert_eq!(
            always(&[rule], Mode::Ask, &reaching),
            ["run+network+background:make serve"],
            "{rule}"
        );
    }
    // What is denied is denied everywhere, unless only the background is.
    assert_eq!(outcome(&["-run:make *"], Mode::Auto, &server), "refuse");
    assert_eq!(outcome(&["-run+background:make *"], Mode::Auto, &server), "refuse");
    assert_eq!(outcome(&["-run+background:make *"], Mode::Auto, &run("make serve")), "pass");
    // The mode that runs commands in the sandbox runs them there, too, and so does reading.
    assert_eq!(outcome(&[], Mode::Auto, &server), "pass");
    assert_eq!(outcome(&[], Mode::Ask, &behind("ls")), "pass");
}

#[test]
fn a_command_that_hands_over_needs_a_rule_of_just_its_words() {
    for text in ["sudo rm x", "find . -exec rm {} +", "bash -c 'rm x'"] {
        assert!(
            matches!(why(&["+run:*"], Mode::Ask, &run(text)), Some(Why::HandsOver(_))),
            "{text}"
        );
        let rules = always(&["+run:*"], Mode::Ask, &run(text));
        assert_eq!(outcome(&[&format!("+{}", rules[0])], Mode::Ask, &run(text)), "pass", "{text}");
    }
    assert_eq!(outcome(&["+run:find *"], Mode::Ask, &run("find . -name x")), "pass");
}

#[test]
fn what_a_shell_is_given_to_read_is_never_allowed_for_later() {
    let all = ["+run:*", "+run:bash", "+run:make -f -", "+run:python", "+read:**"];
    for text in [
        "bash <<'E'\nrm x\nE\n",
        "bash <<< 'rm x'",
        "echo rm x | bash",
        "bash < /project/x",
        "make -f - <<'E'\nx:\nE\n",
        "echo x | python",
    ] {
        assert!(matches!(why(&all, Mode::Ask, &run(text)), Some(Why::RunsInput(_))), "{text}");
        assert_eq!(always(&all, Mode::Ask, &run(text)), [""; 0], "{text}");
        // It may run exactly what is denied.
        let denied = ["-run:rm *"];
        assert_ne!(outcome(&denied, Mode::Unattended, &run(text)), "pass", "{text}");
        assert_eq!(outcome(&[], Mode::Unattended, &run(text)), "pass", "{text}");
    }
    assert_eq!(outcome(&all, Mode::Ask, &run("echo x | python y.py")), "pass");
}

#[test]
fn a_rule_that_denies_a_command_is_not_got_round() {
    let rules = ["-run:rm *", "+run:*"];
    for text in [
        "rm x",
        "/bin/rm x",
        "r\\m x",
        "ls; rm x",
        "ls $(rm x)",
        "ls \"`rm x`\"",
        "cat <<E\n$(rm x)\nE\n",
        "x() { rm x; }",
    ] {
        for mode in Mode::ALL {
            assert_eq!(outcome(&rules, mode, &run(text)), "refuse", "{text} {mode}");
        }
    }
    // This is unknown, so it asks, or is refused where nobody can be asked.
    for text in [
        "$x y",
        "sudo rm x",
        "xargs rm",
        "r{m,} x",
        "awk 'BEGIN { system(\"rm x\") }'",
        "python -c x",
    ] {
        assert!(
            matches!(why(&rules, Mode::Ask, &run(text)), Some(Why::PerhapsDenied(_))),
            "{text}"
        );
        assert_eq!(outcome(&rules, Mode::Ask, &run(text)), "ask", "{text}");
        assert_eq!(outcome(&rules, Mode::Unattended, &run(text)), "refuse", "{text}");
    }
    assert_eq!(outcome(&rules, Mode::Unattended, &run("ls $x")), "pass");
    // A rule with exactly these words.
    let rules = ["-run:git push", "+run:*"];
    assert_eq!(outcome(&rules, Mode::Ask, &run("git push")), "refuse");
    assert_eq!(outcome(&rules, Mode::Ask, &run("git push origin")), "pass");
    assert!(matches!(why(&rules, Mode::Ask, &run("git push $x")), Some(Why::PerhapsDenied(_))));
    assert!(matches!(why(&rules, Mode::Ask, &run("git $x")), Some(Why::PerhapsDenied(_))));
    assert_eq!(why(&["-run:*"], Mode::Ask, &run("'")), Some(Why::Denied("run:*".to_owned())));
    assert_eq!(outcome(&["-run:ls *"], Mode::Ask, &run("'")), "ask");
}

#[test]
fn redirects_count_as_what_they_do() {
    let rules = ["+run:*"];
    assert_eq!(always(&rules, Mode::Ask, &run("ls > log")), ["write:./log"]);
    assert_eq!(outcome(&rules, Mode::Edits, &run("ls > log")), "pass");
    assert_eq!(outcome(&rules, Mode::Ask, &run("ls < log")), "pass");
    assert_eq!(always(&rules, Mode::Edits, &run("ls < /etc/hosts")), ["read:/etc/hosts"]);
    assert_eq!(always(&rules, Mode::Edits, &run("ls > /tmp/x")), ["write:/tmp/x"]);
    assert_eq!(outcome(&[], Mode::Unattended, &run("ls > log")), "pass");
    assert_eq!(why(&[], Mode::Unattended, &run("ls > /tmp/x")), Some(Why::Outside));
    assert_eq!(outcome(&["+run:*", "-write:log"], Mode::Edits, &run("ls > log")), "refuse");
    let mut kept = command("ls > log");
    kept.redirected[0].target = Target::Path(path("/project/log").guarded(Guard::Unwritable));
    assert_eq!(why(&rules, Mode::Edits, &Request::Run(kept)), Some(Why::Protected));
}

#[test]
fn no_rule_takes_away_that_there_is_no_sandbox() {
    let request = Request::Run(Run { sandboxed: false, ..command("ls") });
    assert_eq!(why(&["+run:*"], Mode::Ask, &request), Some(Why::Unsandboxed));
    assert_eq!(always(&["+run:*"], Mode::Ask, &request), [""; 0]);
    assert_eq!(outcome(&["+run:*"], Mode::Unattended, &request), "refuse");
    assert_eq!(outcome(&["-run:ls"], Mode::Ask, &request), "refuse");
    let outside = Request::Run(Run { folder: path("/etc"), ..command("ls") });
    assert_eq!(why(&["+run:*"], Mode::Ask, &outside), Some(Why::Outside));
    let own = Request::Run(Run { folder: path("/project/x").guarded(Guard::Own), ..command("ls") });
    assert_eq!(why(&["+run:*"], Mode::Ask, &own), Some(Why::Own));
    let kept =
        Request::Run(Run { folder: path("/project").guarded(Guard::Unwritable), ..command("ls") });
    assert_eq!(outcome(&["+run:*"], Mode::Ask, &kept), "pass");
}

#[test]
fn a_folder_does_not_go_with_what_is_denied_in_it() {
    let folder = |real: &str| Request::Write { path: path(real).folder() };
    for rule in
        ["-write:src/keep.txt", "-read:src/secrets/**", "-write:*.env", "-read:/project/src/a"]
    {
        let denied = Why::HoldsDenied(rule[1..].to_owned());
        let src = folder("/project/src");
        let rules = [rule, "+write:**"];
        assert_eq!(why(&rules, Mode::Edits, &src), Some(denied), "{rule}");
        assert_eq!(always(&rules, Mode::Edits, &src), [""; 0], "{rule}");
        assert_eq!(outcome(&rules, Mode::Unattended, &src), "refuse", "{rule}");
        assert_eq!(outcome(&rules, Mode::Edits, &write("/project/src/other")), "pass", "{rule}");
    }
    let rules = ["-write:src/keep.txt", "-read:./secrets/**"];
    assert_eq!(outcome(&rules, Mode::Edits, &folder("/project/docs")), "pass");
    assert_eq!(outcome(&rules, Mode::Edits, &folder("/project/secrets")), "ask");
    let listed = Request::Read { path: path("/project/src").folder() };
    assert_eq!(outcome(&rules, Mode::Edits, &listed), "pass");
    assert_eq!(outcome(&["-write:src"], Mode::Edits, &folder("/project/src/a")), "refuse");
}

#[test]
fn of_several_things_the_most_serious_is_told() {
    let request =
        Request::Run(Run { sandboxed: false, network: true, ..command("ls $x > /tmp/x") });
    assert_eq!(why(&[], Mode::Ask, &request), Some(Why::Unsandboxed));
    let own = path("/etc/hosts").guarded(Guard::Own);
    assert_eq!(why(&["-read:/**"], Mode::Ask, &Request::Read { path: own }), Some(Why::Own));
}

#[test]
fn every_reason_is_told_and_none_hides_behind_what_is_unknown() {
    let word = str::to_owned;
    let reaching = |text| Request::Run(Run { network: true, ..command(text) });
    for (request, expected) in [
        (run("make; make"), vec![Why::Mode]),
        (
            reaching("A=1 curl $x < /etc/hosts"),
            vec![
                Why::Outside,
                Why::CommandNetwork,
                Why::NotLiteral(word("$x")),
                Why::Assignment(word("A")),
            ],
        ),
        (
            run("A=1 B=2 make $x $y > /tmp/x; sudo make"),
            vec![
                Why::Outside,
                Why::HandsOver(word("sudo")),
                Why::NotLiteral(word("$x")),
                Why::NotLiteral(word("$y")),
                Why::Assignment(word("A")),
                Why::Assignment(word("B")),
            ],
        ),
        (reaching("sudo make"), vec![Why::CommandNetwork, Why::HandsOver(word("sudo"))]),
        (
            reaching("echo $x | bash"),
            vec![Why::CommandNetwork, Why::RunsInput(word("bash")), Why::NotLiteral(word("$x"))],
        ),
        (run("cat /etc/hosts .env"), vec![Why::Secret(word(".env")), Why::Outside]),
        (read("/etc/.env"), vec![Why::Secret(word("/etc/.env")), Why::Outside]),
        (
            Request::Read { path: path("/etc/hosts").with_several_links() },
            vec![Why::Outside, Why::SeveralLinks],
        ),
        (
            Request::Run(Run { sandboxed: false, network: true, ..command("ls $x > /tmp/x") }),
            vec![Why::Unsandboxed, Why::Outside, Why::CommandNetwork, Why::NotLiteral(word("$x"))],
        ),
    ] {
        assert_eq!(reasons(&[], Mode::Ask, &request), expected, "{request:?}");
    }
    let unknown = reasons(&[], Mode::Ask, &reaching("'"));
    assert!(matches!(&unknown[..], [Why::CommandNetwork, Why::Unparsable(_)]), "{unknown:?}");
    let rules = ["-run:rm *"];
    assert_eq!(
        reasons(&rules, Mode::Ask, &reaching("sudo $x")),
        [
            Why::PerhapsDenied(word("run:rm *")),
            Why::CommandNetwork,
            Why::HandsOver(word("sudo")),
            Why::NotLiteral(word("$x")),
        ]
    );
    // A rule removes the reasons that it allows, and no others.
    assert_eq!(
        reasons(&["+run+network:curl x"], Mode::Ask, &reaching("curl x > /tmp/x")),
        [Why::Outside]
    );
}

#[test]
fn a_rule_of_a_path_is_of_no_other_path() {
    assert_eq!(outcome(&["+read:/etc/hosts"], Mode::Ask, &read("/etc/passwd")), "ask");
    assert_eq!(outcome(&["+write:/etc/hosts"], Mode::Ask, &read("/etc/hosts")), "ask");
    assert_eq!(outcome(&["+write:src/**"], Mode::Ask, &write("/project/Makefile")), "ask");
    assert_eq!(outcome(&["-write:src/**"], Mode::Edits, &write("/project/Makefile")), "pass");
}

#[test]
fn secrets_ask_in_every_mode_unless_a_rule_names_them() {
    let env = "/project/web/.env";
    for (rules, mode, reading, writing) in [
        (&[][..], Mode::Ask, "ask", "ask"),
        (&[], Mode::Edits, "ask", "ask"),
        (&[], Mode::Plan, "ask", "refuse"),
        (&[], Mode::Unattended, "refuse", "refuse"),
        (&["+read:**", "+write:**", "+read:web/**", "+read:/**"], Mode::Edits, "ask", "ask"),
        (&["+read:.env*"], Mode::Edits, "ask", "ask"),
        (&["+read:.env"], Mode::Edits, "pass", "ask"),
        (&["+read:web/.env"], Mode::Unattended, "pass", "refuse"),
        (&["+read:**/.env"], Mode::Ask, "pass", "ask"),
        (&["+write:./web/.env"], Mode::Ask, "ask", "pass"),
        (&["+read:.env", "-read:web/**"], Mode::Ask, "refuse", "ask"),
    ] {
        assert_eq!(outcome(rules, mode, &read(env)), reading, "{rules:?} {mode}");
        assert_eq!(outcome(rules, mode, &write(env)), writing, "{rules:?} {mode}");
    }
    assert_eq!(outcome(&[], Mode::Ask, &read("/project/.env.example")), "pass");
    let Decision::Ask { reasons, always } = decide(&[], Mode::Edits, &read(env)) else {
        panic!("asks")
    };
    assert_eq!(reasons, [Why::Secret("web/.env".to_owned())]);
    assert_eq!(always, ["read:./web/.env".parse().unwrap()]);
    // Files that the shell opens for a command are judged alike.
    assert_eq!(outcome(&["+run:cat"], Mode::Edits, &run("cat < .env")), "ask");
}

#[test]
fn a_rule_covers_only_what_was_asked() {
    let covers = |rule: &str, effect, request: Request| {
        super::covers(&rule.parse().unwrap(), effect, &[request])
    };
    let run = |text: &str, network| Request::Run(Run { network, ..command(text) });
    for (rule, request, expected) in [
        ("run:python3 -c 1", run("python3 -c 1", false), true),
        ("run:python3 *", run("ls && python3 -c 1", false), true),
        ("run:*", run("python3 -c 1", false), true),
        ("run+network:python3 *", run("python3 -c 1", true), true),
        ("run:python3 *", run("python3 -c 1", true), false),
        ("run:ls *", run("python3 -c 1", false), false),
        ("network:*", run("python3 -c 1", true), false),
        ("write:**", run("python3 -c 1", false), false),
        ("write:**", run("echo a > b", false), true),
        ("read:**", run("echo a > b", false), false),
        ("write:src/**", write("/project/src/a"), true),
        ("write:doc/**", write("/project/src/a"), false),
        ("read:**", write("/project/src/a"), false),
        ("network:*.example.org", host("www.example.org"), true),
        ("network:localhost", host("127.0.0.1"), true),
        ("network:example.com", host("example.org"), false),
        ("run:*", host("example.org"), false),
    ] {
        let name = format!("{rule} of {request:?}");
        assert_eq!(covers(rule, Effect::Allow, request), expected, "{name}");
    }
    assert!(covers("run:python3 *", Effect::Deny, run("/usr/bin/python3 a", true)));
    assert!(!covers("run+network:python3 *", Effect::Deny, run("python3 a", false)));
    let behind = || Request::Run(Run { background: true, ..command("python3 a") });
    for (rule, allows, denies) in [
        ("run:python3 *", false, true),
        ("run+background:python3 *", true, true),
        ("run+network:python3 *", false, false),
    ] {
        assert_eq!(covers(rule, Effect::Allow, behind()), allows, "{rule}");
        assert_eq!(covers(rule, Effect::Deny, behind()), denies, "{rule}");
    }
    assert!(!covers("run+background:python3 *", Effect::Deny, run("python3 a", false)));
}

#[test]
fn every_rule_that_is_offered_covers_the_question() {
    let run = |text: &str, network| Request::Run(Run { network, ..command(text) });
    let mut offered = 0;
    for request in [
        read("/project/.env"),
        read("/elsewhere/notes"),
        write("/project/src/a"),
        host("example.org"),
        host("127.0.0.1"),
        host("192.168.1.7"),
        run("cargo test --all", false),
        run("cargo test --all", true),
        run("make && ./run 'a b'", false),
        run("cat a > b", false),
        run("sort < .env > sorted", false),
        run("sudo make install", true),
        run("cd sub && /usr/bin/make", false),
    ] {
        let Decision::Ask { always, .. } = decide(&[], Mode::Ask, &request) else { continue };
        for rule in always {
            assert!(
                super::covers(&rule, Effect::Allow, std::slice::from_ref(&request)),
                "{rule} of {request:?}"
            );
            offered += 1;
        }
    }
    assert!(offered >= 8, "only {offered} rules were offered");
}
