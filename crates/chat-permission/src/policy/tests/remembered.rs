//! Tests that each remembered answer allows what its rules say, and nothing else.

use super::*;

/// Requests of a tool, by their names in the table.
fn wishes() -> Vec<(&'static str, Request)> {
    let run =
        |text: &str, sandboxed, network| Request::Run(Run { sandboxed, network, ..command(text) });
    let behind =
        |text: &str, network| Request::Run(Run { background: true, network, ..command(text) });
    let reach = |host: &str, private| Request::Network {
        host: host.to_owned(),
        private,
        leads_to: Vec::new(),
    };
    vec![
        ("read /etc/hosts", read("/etc/hosts")),
        ("read /etc/passwd", read("/etc/passwd")),
        ("read /etc", Request::Read { path: path("/etc").folder() }),
        ("read .env", read("/project/.env")),
        ("cat .env", run("cat .env", true, false)),
        ("cat /etc/hosts", run("cat /etc/hosts", true, false)),
        ("read linked", Request::Read { path: path("/project/linked").with_several_links() }),
        ("read .env", read("/project/.env")),
        ("read web/.env", read("/project/web/.env")),
        ("write .env", write("/project/.env")),
        ("write src/a", write("/project/src/a")),
        ("write src/b", write("/project/src/b")),
        ("write src", Request::Write { path: path("/project/src").folder() }),
        ("write b", write("/project/b")),
        ("write /tmp/x", write("/tmp/x")),
        ("make", run("make", true, false)),
        ("make all", run("make all", true, false)),
        ("make, network", run("make", true, true)),
        ("make, behind", behind("make", false)),
        ("make all, behind", behind("make all", false)),
        ("make, behind, network", behind("make", true)),
        ("make, free", run("make", false, false)),
        ("curl a", run("curl a.example", true, false)),
        ("curl a, network", run("curl a.example", true, true)),
        ("curl b, network", run("curl b.example", true, true)),
        ("curl a && make, network", run("curl a.example && make", true, true)),
        ("curl a, free, network", run("curl a.example", false, true)),
        ("make > b", run("make > b", true, false)),
        ("make > /tmp/x", run("make > /tmp/x", true, false)),
        ("sudo make", run("sudo make", true, false)),
        ("make $x", run("make $x", true, false)),
        ("make | sh", run("make | sh", true, false)),
        ("reach a.example", reach("a.example", false)),
        ("reach b.example", reach("b.example", false)),
        ("reach a.example near", reach("a.example", true)),
        ("reach localhost", reach("localhost", false)),
        ("reach localhost near", reach("localhost", true)),
        ("reach 127.0.0.1 near", reach("127.0.0.1", true)),
        ("reach 10.0.0.1", reach("10.0.0.1", false)),
        ("reach 10.0.0.1 near", reach("10.0.0.1", true)),
        ("reach 10.0.0.2", reach("10.0.0.2", false)),
    ]
}

/// For each request that asks: the rules that are offered, and what they allow. A request that is
/// missing here cannot be remembered.
const REMEMBERED: &[(&str, &[&str], &[&str])] = &[
    ("read /etc/hosts", &["read:/etc/hosts"], &["read /etc/hosts", "cat /etc/hosts"]),
    ("read /etc/passwd", &["read:/etc/passwd"], &["read /etc/passwd"]),
    (
        "read /etc",
        &["read:/etc"],
        &["read /etc", "read /etc/hosts", "read /etc/passwd", "cat /etc/hosts"],
    ),
    ("read .env", &["read:./.env"], &["read .env", "cat .env"]),
    ("cat .env", &["run:cat .env"], &["cat .env"]),
    ("cat /etc/hosts", &["run:cat /etc/hosts"], &["cat /etc/hosts"]),
    ("read linked", &["read:./linked"], &["read linked"]),
    ("read .env", &["read:./.env"], &["read .env"]),
    ("read web/.env", &["read:./web/.env"], &["read web/.env"]),
    ("write .env", &["write:./.env"], &["write .env"]),
    ("write src/a", &["write:./src/a"], &["write src/a"]),
    ("write src/b", &["write:./src/b"], &["write src/b"]),
    ("write src", &["write:./src"], &["write src", "write src/a", "write src/b"]),
    ("write b", &["write:./b"], &["write b"]),
    ("write /tmp/x", &["write:/tmp/x"], &["write /tmp/x"]),
    ("make", &["run:make"], &["make"]),
    ("make all", &["run:make all"], &["make all"]),
    ("make, network", &["run+network:make"], &["make", "make, network"]),
    ("make, behind", &["run+background:make"], &["make", "make, behind"]),
    ("make all, behind", &["run+background:make all"], &["make all", "make all, behind"]),
    (
        "make, behind, network",
        &["run+network+background:make"],
        &["make", "make, network", "make, behind", "make, behind, network"],
    ),
    ("curl a", &["run:curl a.example"], &["curl a"]),
    ("curl a, network", &["run+network:curl a.example"], &["curl a", "curl a, network"]),
    ("curl b, network", &["run+network:curl b.example"], &["curl b, network"]),
    (
        "curl a && make, network",
        &["run+network:curl a.example", "run+network:make"],
        &["make", "make, network", "curl a", "curl a, network", "curl a && make, network"],
    ),
    ("make > b", &["write:./b", "run:make"], &["write b", "make", "make > b"]),
    ("make > /tmp/x", &["write:/tmp/x", "run:make"], &["write /tmp/x", "make", "make > /tmp/x"]),
    ("sudo make", &["run:sudo make"], &["sudo make"]),
    ("reach a.example", &["network:a.example"], &["reach a.example"]),
    ("reach b.example", &["network:b.example"], &["reach b.example"]),
    ("reach localhost", &["network:localhost"], &["reach localhost"]),
    ("reach 10.0.0.1", &["network:service 10.0.0.1"], &["reach 10.0.0.1"]),
    ("reach 10.0.0.2", &["network:service 10.0.0.2"], &["reach 10.0.0.2"]),
];

/// Requests that consist of several others, and pass if each of them does.
const COMPOSED: &[(&str, &[&str])] = &[
    ("make > b", &["make", "write b"]),
    ("make > /tmp/x", &["make", "write /tmp/x"]),
    ("curl a && make, network", &["curl a, network", "make, network"]),
];

#[test]
fn an_answer_that_is_remembered_lets_pass_what_its_rules_say_and_nothing_else() {
    let wishes = wishes();
    let passing = |rules: &[Entry], mode: Mode| -> Vec<&str> {
        let passes = |(_, wish): &&(&str, Request)| decide(rules, mode, wish) == Decision::Pass;
        wishes.iter().filter(passes).map(|(name, _)| *name).collect()
    };
    let mut asked = 0;
    for (name, wish) in &wishes {
        let Decision::Ask { always, .. } = decide(&[], Mode::Ask, wish) else { continue };
        let shown: Vec<_> = always.iter().map(ToString::to_string).collect();
        let Some((_, rules, opened)) = REMEMBERED.iter().find(|(of, ..)| of == name) else {
            assert!(shown.is_empty(), "{name} stores {shown:?}");
            continue;
        };
        assert_eq!(shown, *rules, "{name}");
        asked += 1;
        for scope in [Scope::Session, Scope::Project, Scope::Everywhere] {
            let stored = |effect| -> Vec<_> {
                let kept = shown.iter().map(|rule| rule.parse().unwrap());
                kept.map(|rule| Entry { rule, effect, scope }).collect()
            };
            for mode in Mode::ALL {
                let before = passing(&[], mode);
                let after = passing(&stored(Effect::Allow), mode);
                for name in &after {
                    let parts = COMPOSED.iter().find(|(of, _)| of == name).map(|(_, parts)| *parts);
                    let is_composed =
                        parts.is_some_and(|parts| parts.iter().all(|part| after.contains(part)));
                    let is_meant = before.contains(name) || opened.contains(name) || is_composed;
                    assert!(is_meant, "{rules:?} in {mode} opened {name}");
                }
                for name in passing(&stored(Effect::Deny), mode) {
                    assert!(before.contains(&name), "denying {rules:?} in {mode} opened {name}");
                }
            }
            let after = passing(&stored(Effect::Allow), Mode::Ask);
            assert!(opened.iter().all(|it| after.contains(it)), "{rules:?} opened only {after:?}");
            assert!(!passing(&stored(Effect::Deny), Mode::Ask).contains(name), "{name}");
        }
    }
    assert_eq!(asked, REMEMBERED.len(), "all that is in the table is asked");
}
