//! Tests that commands that only read pass without asking, and that commands that merely begin like
//! them do not.

use super::*;

#[test]
fn commands_that_only_read_pass_in_every_mode() {
    for text in [
        "ls -la src",
        "cat Cargo.toml | head -5",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1 -- src",
        "git show origin/main:src/a.rs",
        "cd dir && rg -n main",
    ] {
        for mode in Mode::ALL {
            assert_eq!(outcome(&[], mode, &run(text)), "pass", "{text} {mode}");
        }
    }
}

#[test]
fn git_reads_unasked_only_where_the_project_begins() {
    // A repository in a subfolder may have come with the project, and its settings name programs.
    for text in ["cd dir && git status", "cd dir && git log -1"] {
        assert_eq!(outcome(&[], Mode::Ask, &run(text)), "ask", "{text}");
        assert_eq!(outcome(&[], Mode::Plan, &run(text)), "refuse", "{text}");
    }
}

#[test]
fn what_does_more_than_read_asks_as_before() {
    for text in [
        "rg --pre ./x y",
        "git -c core.pager=x log",
        "git diff --output=x",
        "git diff --ext-diff",
        "find . -exec rm {} +",
        "sort -o a a",
        "cat a | sh",
        "cat a | tee b",
        "ls && make",
        "ls $(make)",
        "ls *",
        "PAGER=x git log",
        "cd dir && make",
        "./ls",
    ] {
        assert_eq!(outcome(&[], Mode::Ask, &run(text)), "ask", "{text}");
        assert_eq!(outcome(&[], Mode::Plan, &run(text)), "refuse", "{text}");
    }
    // Only the rest is asked about.
    assert_eq!(always(&[], Mode::Ask, &run("ls && make")), ["run:make"]);
    let without = Request::Run(Run { sandboxed: false, ..command("ls") });
    assert_eq!(why(&[], Mode::Ask, &without), Some(Why::Unsandboxed));
    assert_eq!(outcome(&[], Mode::Plan, &without), "refuse");
    let with_network = Request::Run(Run { network: true, ..command("git log") });
    assert_eq!(why(&[], Mode::Ask, &with_network), Some(Why::CommandNetwork));
    assert_eq!(outcome(&[], Mode::Plan, &with_network), "refuse");
    let outside = Request::Run(Run { folder: path("/etc"), ..command("ls") });
    assert_eq!(outcome(&[], Mode::Ask, &outside), "ask");
    assert_eq!(outcome(&[], Mode::Plan, &outside), "refuse");
}

#[test]
fn what_it_reads_is_judged_like_what_a_tool_reads() {
    for (text, expected) in [
        ("cat /etc/hosts", Why::Outside),
        ("ls ..", Why::Outside),
        ("rg x /etc", Why::Outside),
        ("cat a < /etc/hosts", Why::Outside),
        ("cd /etc && cat hosts", Why::Mode),
    ] {
        assert_eq!(why(&[], Mode::Ask, &run(text)), Some(expected), "{text}");
        assert_ne!(outcome(&[], Mode::Plan, &run(text)), "pass", "{text}");
    }
    assert_eq!(always(&[], Mode::Ask, &run("cat /etc/hosts")), ["run:cat /etc/hosts"]);
    // A command that writes a file passes where writing passes.
    assert_eq!(always(&[], Mode::Ask, &run("cat a > b")), ["write:./b"]);
    assert_eq!(outcome(&[], Mode::Edits, &run("cat a > b")), "pass");
    assert_eq!(outcome(&[], Mode::Plan, &run("cat a > b")), "refuse");
    // What is denied is not read without asking, whether it is named or found on the way.
    for (rule, text) in [
        ("-read:a.key", "cat a.key"),
        ("-read:a.key", "rg x"),
        ("-read:a.key", "rg x ."),
        ("-read:a.key", "git log -p"),
        ("-read:a.key", "git show HEAD:src/b"),
        ("-read:dir/**", "ls dir"),
    ] {
        assert_eq!(outcome(&[rule], Mode::Ask, &run(text)), "ask", "{rule} {text}");
        assert_eq!(outcome(&[rule], Mode::Plan, &run(text)), "refuse", "{rule} {text}");
    }
    assert_eq!(outcome(&["-read:a.key"], Mode::Ask, &run("cat b")), "pass");
    // A rule that denies the command has priority.
    assert_eq!(outcome(&["-run:git log *"], Mode::Ask, &run("git log -1")), "refuse");
    assert_eq!(outcome(&["-run:git *"], Mode::Ask, &run("git --no-pager log")), "refuse");
    assert_eq!(outcome(&["-run:*"], Mode::Plan, &run("ls")), "refuse");
}

#[test]
fn auto_asks_for_what_the_sandbox_does_not_hold() {
    let network = Request::Run(Run { network: true, ..command("cargo fetch") });
    let free = Request::Run(Run { sandboxed: false, ..command("cargo test") });
    for request in [run("cargo test"), run("make > log"), run("x=1; $x"), write("/project/a")] {
        assert_eq!(outcome(&[], Mode::Auto, &request), "pass", "{request:?}");
    }
    assert_eq!(always(&[], Mode::Auto, &network), ["run+network:cargo fetch"]);
    assert_eq!(outcome(&["+run:*"], Mode::Auto, &network), "ask");
    assert_eq!(outcome(&["+run+network:cargo *"], Mode::Auto, &network), "pass");
    assert_eq!(always(&[], Mode::Auto, &free), [""; 0]);
    for request in [run("make > /tmp/x"), write("/tmp/x"), read("/etc/hosts"), host("a.b")] {
        assert_eq!(outcome(&[], Mode::Auto, &request), "ask", "{request:?}");
    }
    assert_eq!(outcome(&["-run:rm *"], Mode::Auto, &run("rm x")), "refuse");
    assert_eq!(outcome(&["-run:rm *"], Mode::Auto, &run("sudo rm x")), "ask");
}
