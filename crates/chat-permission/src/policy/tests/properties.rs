//! Tests properties that hold for any rules, modes and requests.

use proptest::prelude::*;

use super::*;
use crate::ToolApproval;
use crate::command::Word;

const RULES: &[&str] = &[
    "read:/etc/hosts",
    "read:**",
    "read:/**",
    "read:*.rs",
    "read:./src/a.rs",
    "read:.env",
    "read:~/notes/**",
    "write:src/**",
    "write:/**",
    "write:./src/a.rs",
    "write:log",
    "write:/tmp/**",
    "run:ls",
    "run:ls *",
    "run:rm *",
    "run:cargo test *",
    "run:*",
    "run:sudo *",
    "run:bash",
    "run:git log *",
    "run:sudo rm x",
    "run:cd src",
    "run:a 'b c' '*'",
    "run:./tool",
    "network:*",
    "network:example.org",
    "network:*.example.org",
    "network:10.0.0.1",
    "network:local *",
    "network:local example.org",
    "run+network:ls *",
    "run+network:*",
    "run+background:ls *",
    "run+background:rm *",
    "run+network+background:*",
];

const PATHS: &[&str] = &[
    "/project",
    "/project/src/a.rs",
    "/project/src/a b*[x]{y}\\!",
    "/project/log",
    "/project/.env",
    "/project2/src/a.rs",
    "/etc/hosts",
    "/tmp/x",
    "/home/me/notes/n",
    "/project/!x",
    "/project/#",
    "/project/ blank ",
    "/",
];

const PARTS: &[&str] = &[
    "ls",
    "ls -l src",
    "rm -rf x",
    "cargo test --all",
    "cargo build",
    "sudo rm x",
    "sudo ls",
    "env rm x",
    "cd src",
    "./tool",
    "a 'b c' '*'",
    "a ''",
    "a \"it's\"",
    "ls $x",
    "ls *.rs",
    "$x",
    "PATH=/x ls",
    "x=1",
    "ls $(rm x)",
    "ls `rm x`",
    "ls > log",
    "ls > /tmp/x",
    "ls < /etc/hosts",
    "cat <<E\n$(rm x)\nE\n",
    "( rm x )",
    "find . -exec rm {} +",
    "find . -name x",
    "'",
    "ls > $x",
    "bash -c 'rm x'",
    "bash <<< 'rm x'",
    "bash",
    "git -C . log",
    "echo 'a\nb'",
    "> log",
];

fn entry() -> impl Strategy<Value = Entry> {
    let effect = prop::sample::select(vec![Effect::Allow, Effect::Allow, Effect::Deny]);
    let scope = prop::sample::select(vec![Scope::Session, Scope::Project, Scope::Everywhere]);
    (prop::sample::select(RULES), effect, scope).prop_map(|(rule, effect, scope)| Entry {
        rule: rule.parse().unwrap(),
        effect,
        scope,
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(Mode::ALL.to_vec())
}

fn resolved() -> impl Strategy<Value = ResolvedPath> {
    let guard = prop::sample::select(vec![
        Guard::Nothing,
        Guard::Nothing,
        Guard::Nothing,
        Guard::Unwritable,
        Guard::Own,
    ]);
    (prop::sample::select(PATHS), any::<bool>(), guard).prop_map(|(real, several, guard)| {
        let path = path(real).guarded(guard);
        if several { path.with_several_links() } else { path }
    })
}

fn commands() -> impl Strategy<Value = Run> {
    let parts = prop::collection::vec(prop::sample::select(PARTS), 1..4);
    let between = prop::sample::select(vec![" && ", " || ", " | ", "; ", " & ", "\n"]);
    (
        parts,
        between,
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        resolved(),
        prop::bool::weighted(0.8),
    )
        .prop_map(|(parts, between, sandboxed, network, background, folder, at_root)| {
            let run = command(&parts.join(between));
            let folder = if at_root { run.folder.clone() } else { folder };
            Run { folder, sandboxed, network, background, ..run }
        })
}

fn request() -> impl Strategy<Value = Request> {
    let hosts = ["example.org", "WWW.Example.org.", "10.0.0.1", "::1", "evil.test", "a b", ""];
    prop_oneof![
        resolved().prop_map(|path| Request::Read { path }),
        resolved().prop_map(|path| Request::Write { path }),
        commands().prop_map(Request::Run),
        commands().prop_map(Request::Run),
        (prop::sample::select(hosts.to_vec()), any::<bool>()).prop_map(|(host, private)| {
            Request::Network { host: host.to_owned(), private, leads_to: Vec::new() }
        }),
        (
            prop::sample::select(vec!["notes", "issues"]),
            prop::sample::select(vec!["read", "write"]),
            any::<bool>(),
            prop::sample::select(vec![
                ToolApproval::Approved,
                ToolApproval::New,
                ToolApproval::Changed
            ])
        )
            .prop_map(|(server, tool, read_only, approval)| Request::Mcp {
                server: server.to_owned(),
                tool: tool.to_owned(),
                read_only,
                approval
            }),
    ]
}

/// The outcome as a number: 0 refused, 1 asked, 2 passed.
fn height(decision: &Decision) -> u8 {
    match decision {
        Decision::Refuse { .. } => 0,
        Decision::Ask { .. } => 1,
        Decision::Pass => 2,
    }
}

/// Whether an allow rule has these words, determined without the policy's own code by comparing
/// text.
fn is_allowed(rules: &[Entry], words: &[Word], run: &Run) -> bool {
    let words: Option<Vec<_>> = words.iter().map(Word::literal).collect();
    let Some(words) = words else { return false };
    rules.iter().filter(|entry| entry.effect == Effect::Allow).any(|entry| {
        let text = entry.rule.to_string();
        let (head, pattern) = text.split_once(':').unwrap();
        if run.network && !head.contains("+network")
            || run.background && !head.contains("+background")
        {
            return false;
        }
        let text = format!("{}:{pattern}", head.split('+').next().unwrap());
        match text.as_str() {
            "run:*" => true,
            "run:a 'b c' '*'" => words == ["a", "b c", "*"],
            _ => match text.strip_prefix("run:").map(|text| text.split(' ').collect::<Vec<_>>()) {
                Some(mut wanted) if wanted.last() == Some(&"*") => {
                    wanted.pop();
                    words.starts_with(&wanted)
                }
                Some(wanted) => words == wanted,
                None => false,
            },
        }
    })
}

/// The entries of [`PARTS`] that only read, without using the policy's own list.
const READING: &[&str] = &[
    "ls",
    "ls -l src",
    "find . -name x",
    "echo 'a\nb'",
    "ls > log",
    "ls > /tmp/x",
    "ls < /etc/hosts",
];

fn only_reads(part: &crate::command::Simple) -> bool {
    let read = |text: &&str| command::parse(text).unwrap()[0].words == part.words;
    part.assignments.is_empty() && READING.iter().any(read)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_that_denies_only_ever_takes_away(rules in prop::collection::vec(entry(), 0..6), more in entry(), at in any::<prop::sample::Index>(), mode in mode(), request in request()) {
        let before = decide(&rules, mode, &request);
        let mut with = rules.clone();
        with.insert(at.index(rules.len() + 1), Entry { effect: Effect::Deny, ..more });
        prop_assert!(height(&decide(&with, mode, &request)) <= height(&before));
    }

    #[test]
    fn a_rule_that_allows_only_ever_gives(rules in prop::collection::vec(entry(), 0..6), more in entry(), mode in mode(), request in request()) {
        let before = decide(&rules, mode, &request);
        let mut with = rules;
        with.push(Entry { effect: Effect::Allow, ..more });
        prop_assert!(height(&decide(&with, mode, &request)) >= height(&before));
    }

    #[test]
    fn order_and_scope_of_rules_do_not_matter(mut rules in prop::collection::vec(entry(), 0..6), mode in mode(), request in request()) {
        let before = height(&decide(&rules, mode, &request));
        rules.reverse();
        for rule in &mut rules {
            rule.scope = Scope::Everywhere;
        }
        prop_assert_eq!(height(&decide(&rules, mode, &request)), before);
    }

    #[test]
    fn what_is_denied_never_passes(rules in prop::collection::vec(entry(), 0..6), mode in mode(), request in request()) {
        // With the deny rules alone, nothing that they refuse becomes allowed.
        let denying: Vec<_> = rules.iter().filter(|entry| entry.effect == Effect::Deny).cloned().collect();
        let refused = matches!(decide(&denying, mode, &request), Decision::Refuse { why: Why::Denied(_), .. });
        prop_assert!(!refused || height(&decide(&rules, mode, &request)) == 0);
    }

    #[test]
    fn a_plan_never_writes_nor_runs(rules in prop::collection::vec(entry(), 0..6), request in request()) {
        let decision = decide(&rules, Mode::Plan, &request);
        match &request {
            Request::Write { .. } => prop_assert_eq!(height(&decision), 0),
            Request::Run(run) => {
                let reads = run.parts.iter().flatten().all(|part| part.words.is_empty() && part.assignments.is_empty() || only_reads(part));
                let writes = run.redirected.iter().any(|file| file.writes);
                prop_assert!(height(&decision) == 0 || reads && !writes && run.parts.is_ok() && run.sandboxed && !run.network);
            }
            _ => {}
        }
    }

    #[test]
    fn nobody_is_asked_where_nobody_is(rules in prop::collection::vec(entry(), 0..6), request in request()) {
        prop_assert!(!matches!(decide(&rules, Mode::Unattended, &request), Decision::Ask { .. }), "{:?}", request);
    }

    #[test]
    fn nothing_outside_and_nothing_kept_passes_by_itself(mode in mode(), request in request()) {
        let passes = decide(&[], mode, &request) == Decision::Pass;
        match &request {
            Request::Read { path } => prop_assert!(!passes || path.is_inside() && path.guard() != Guard::Own && !path.has_several_links()),
            Request::Write { path } => prop_assert!(!passes || path.is_inside() && path.guard() == Guard::Nothing && !path.has_several_links()),
            Request::Run(run) => {
                // A lone redirect writes a file, and runs nothing.
                let runs = run.parts.iter().flatten().any(|part| (!part.words.is_empty() || !part.assignments.is_empty()) && !only_reads(part));
                prop_assert!(!passes || matches!(mode, Mode::Auto | Mode::Unattended) || !runs);
                // Where nothing runs, nothing uses the network.
                let starts = run.parts.as_ref().map_or(true, |parts| parts.iter().any(|part| !part.words.is_empty() || !part.assignments.is_empty()));
                prop_assert!(!passes || run.sandboxed && !(run.network && starts) && run.folder.is_inside());
            }
            Request::Network { .. } | Request::Mcp { .. } => prop_assert!(!passes),
        }
    }

    #[test]
    fn kept_places_never_give_way(rules in prop::collection::vec(entry(), 0..6), mode in mode(), path in resolved()) {
        let written = decide(&rules, mode, &Request::Write { path: path.clone() });
        prop_assert!(path.guard() == Guard::Nothing || height(&written) == 0);
        let read = decide(&rules, mode, &Request::Read { path: path.clone() });
        prop_assert!(path.guard() != Guard::Own || height(&read) == 0);
    }

    #[test]
    fn a_command_passes_only_where_every_part_is_allowed(rules in prop::collection::vec(entry(), 0..6), mode in prop::sample::select(vec![Mode::Ask, Mode::Edits]), run in commands()) {
        if decide(&rules, mode, &Request::Run(run.clone())) == Decision::Pass {
            prop_assert!(run.sandboxed);
            for part in run.parts.clone().unwrap() {
                let only_redirects = part.words.is_empty() && part.assignments.is_empty();
                prop_assert!(only_redirects || only_reads(&part) && !run.network || is_allowed(&rules, &part.words, &run), "{part:?} by {rules:?}");
                prop_assert!(part.assignments.is_empty());
            }
        }
    }

    #[test]
    fn what_always_stores_lets_it_pass(rules in prop::collection::vec(entry(), 0..6), mode in mode(), request in request()) {
        if let Decision::Ask { always, .. } = decide(&rules, mode, &request) && !always.is_empty() {
            let mut with = rules.clone();
            for rule in always {
                // Written and parsed again, as when it is stored.
                with.push(Entry::allow(rule.to_string().parse().unwrap(), Scope::Project));
                prop_assert!(!rules.contains(with.last().unwrap()), "it would be stored twice");
            }
            // The answer is remembered with the tool.
            let request = match request {
                Request::Mcp { server, tool, read_only, approval: ToolApproval::New } => {
                    Request::Mcp { server, tool, read_only, approval: ToolApproval::Approved }
                }
                other => other,
            };
            prop_assert_eq!(decide(&with, mode, &request), Decision::Pass);
        }
    }
}
