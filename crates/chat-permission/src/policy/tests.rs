//! The table of modes, and what holds over every mode.

use super::*;
use crate::path::Guard;
use crate::request::{Redirected, Target};
use crate::{ResolvedPath, Run, Scope, command};

mod properties;

/// Entries as `+run:ls *` and `-read:/etc/**`.
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
    Request::Network { host: host.to_owned(), private: false }
}

/// A command in the made-up project's root, in a sandbox, its redirects taken for absolute paths or names there.
fn command(text: &str) -> Run {
    let parts = command::parse(text);
    let moves = parts.iter().flatten().any(command::changes_folder);
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
        parts,
        redirected,
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
        Decision::Ask { why, .. } | Decision::Refuse { why } => Some(why),
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
        (Mode::Plan, ["pass", "refuse", "refuse", "ask", "ask", "refuse"]),
        (Mode::Unattended, ["pass", "pass", "pass", "refuse", "refuse", "refuse"]),
    ];
    for (mode, expected) in table {
        let found: Vec<_> = requests.iter().map(|request| outcome(&[], mode, request)).collect();
        assert_eq!(found, expected, "{mode}");
    }
    // With a rule that allows each of them.
    let all = ["+read:/**", "+write:/**", "+run:*", "+network:*"];
    for (mode, _) in table {
        let found: Vec<_> = requests.iter().map(|request| outcome(&all, mode, request)).collect();
        let plan = ["pass", "refuse", "refuse", "pass", "pass", "refuse"];
        assert_eq!(found, if mode == Mode::Plan { plan } else { ["pass"; 6] }, "{mode}");
    }
    // With a rule that denies each of them too.
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
