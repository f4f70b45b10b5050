//! Commands: the parts, the rules for them, and what no rule allows.

use super::*;

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
fn going_to_a_folder_of_the_project_asks_nothing_with_the_network_either() {
    let with_network = |text: &str| Request::Run(Run { network: true, ..command(text) });
    let rules = ["+run+network:cargo fetch"];
    assert_eq!(outcome(&rules, Mode::Ask, &with_network("cd dir && cargo fetch")), "pass");
    assert_eq!(outcome(&rules, Mode::Auto, &with_network("cd dir && cargo fetch")), "pass");
    for elsewhere in ["cd /dir && cargo fetch", "cd src && cargo fetch", "cd $x && cargo fetch"] {
        assert_eq!(outcome(&rules, Mode::Auto, &with_network(elsewhere)), "ask", "{elsewhere}");
    }
    // What is read could be sent.
    assert_eq!(outcome(&rules, Mode::Ask, &with_network("cd dir && ls && cargo fetch")), "ask");
    let denied = ["+run+network:cargo fetch", "-run:cd *"];
    assert_eq!(outcome(&denied, Mode::Auto, &with_network("cd dir && cargo fetch")), "refuse");
}
