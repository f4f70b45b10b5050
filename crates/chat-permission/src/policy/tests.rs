//! Tests the table of modes, and the rules that apply in every mode.

use std::path::Path;

use super::*;
use crate::path::Guard;
use crate::request::{Redirected, Target};
use crate::{ResolvedPath, Run, Scope, command};

mod commands;
mod network;
mod properties;
mod reading;
mod reasons;
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
        purpose: None,
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
