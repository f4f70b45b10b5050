//! Tests the modules together: commands and paths in real folders are judged.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};

use chat_permission::path::{PathEnvironment, Project};
use chat_permission::{Decision, Entry, Mode, Request, Run, Scope, Why, command, decide};

/// A project with what a command may try to write, next to a folder whose name begins the same way.
fn project() -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("project/.git/hooks")).unwrap();
    fs::create_dir(at("project/src")).unwrap();
    fs::create_dir(at("project2")).unwrap();
    fs::create_dir_all(at("home/.config/natter")).unwrap();
    fs::write(at("project2/secret"), "").unwrap();
    fs::hard_link(at("project2/secret"), at("project/linked")).unwrap();
    symlink("../project2", at("project/out")).unwrap();
    symlink(".git/hooks", at("project/scripts")).unwrap();
    let surroundings =
        PathEnvironment { home: Some(at("home")), own: vec![at("home/.config/natter")] };
    let project = Project::open(&at("project"), &surroundings).unwrap();
    (folder, project)
}

fn run(project: &Project, command: &str, folder: &str) -> Decision {
    let rules = [Entry::allow("run:*".parse().unwrap(), Scope::Session)];
    let folder = project.resolve(folder).unwrap();
    decide(&rules, Mode::Edits, &Request::Run(Run::new(project, command, folder, true, false)))
}

fn why(decision: &Decision) -> Option<&Why> {
    match decision {
        Decision::Pass => None,
        Decision::Ask { reasons, .. } => reasons.first(),
        Decision::Refuse { why, .. } => Some(why),
    }
}

#[test]
fn a_redirect_is_judged_by_where_it_leads() {
    let (folder, project) = project();
    let absolute =
        format!("echo > {}/project2/new", fs::canonicalize(folder.path()).unwrap().display());
    for (command, at, expected) in [
        ("echo > log", ".", None),
        ("echo > log", "src", None),
        ("echo > ../log", "src", None),
        ("echo > /dev/null 2>&1", ".", None),
        ("echo < /dev/null", ".", None),
        ("echo > ../project2/new", ".", Some(Why::Outside)),
        ("echo > ../log", ".", Some(Why::Outside)),
        ("echo > out/new", ".", Some(Why::Outside)),
        ("echo < out/none", ".", Some(Why::Outside)),
        ("echo > ../out/new", "src", Some(Why::Outside)),
        (absolute.as_str(), ".", Some(Why::Outside)),
        ("echo > linked", ".", Some(Why::SeveralLinks)),
        ("echo < linked", ".", Some(Why::SeveralLinks)),
        ("echo >> .git/config", ".", Some(Why::Protected)),
        ("echo > scripts/pre-commit", ".", Some(Why::Protected)),
        ("echo > ../.mcp.json", "src", Some(Why::Protected)),
        ("(echo; echo) > .git/hooks/x", ".", Some(Why::Protected)),
        ("echo < '~/.config/natter/x'", ".", None),
        ("echo < ../home/.config/natter/x", ".", Some(Why::Own)),
        ("echo > src", ".", None),
        ("echo > src/none/", ".", Some(Why::UnknownFile("src/none/".to_owned()))),
        ("cd src && echo > ../../project2/new", ".", Some(Why::Outside)),
        // It is judged from both folders, since `cd` may fail.
        ("cd src && echo > log", ".", None),
        ("cd src && echo > ../log", ".", Some(Why::Outside)),
        ("cd src && echo > linked", ".", Some(Why::SeveralLinks)),
        ("cd .. && echo > log", "src", None),
        ("cd scripts && echo > pre-commit", ".", Some(Why::Protected)),
        // Where it leads is unknown.
        ("cd out && echo > new", ".", Some(Why::UnknownFile("new".to_owned()))),
        ("cd none && echo > new", ".", Some(Why::UnknownFile("new".to_owned()))),
        ("cd src && cd .. && echo > new", ".", Some(Why::UnknownFile("new".to_owned()))),
        ("cd $x && echo > new", ".", Some(Why::NotLiteral("$x".to_owned()))),
        ("CDPATH=.git; cd src && echo > new", ".", Some(Why::UnknownFile("new".to_owned()))),
        // Each time, `cd` may lead to another folder.
        (
            "while cd .. && echo > new; do true; done",
            "src",
            Some(Why::UnknownFile("new".to_owned())),
        ),
        ("until ! cd ..; do echo > new; done", "src", Some(Why::UnknownFile("new".to_owned()))),
        ("f() { cd ..; }; f; f; echo > new", "src", Some(Why::UnknownFile("new".to_owned()))),
        ("f() (cd ..; f; echo > new); f", "src", Some(Why::UnknownFile("new".to_owned()))),
        ("if cd ..; then echo > new; fi", "src", None),
        ("cd .. && while true; do echo > new; done", "src", None),
        ("echo", "../project2", Some(Why::Outside)),
    ] {
        let decision = run(&project, command, at);
        assert_eq!(why(&decision), expected.as_ref(), "{command} in {at}");
    }
}

#[test]
fn what_a_reading_command_names_is_judged_by_where_it_leads() {
    let (_folder, project) = project();
    let decide_in = |command: &str, folder: &str| {
        let run = Run::new(&project, command, project.resolve(folder).unwrap(), true, false);
        decide(&[], Mode::Ask, &Request::Run(run))
    };
    for (command, at, expected) in [
        ("ls", ".", None),
        ("ls src", ".", None),
        ("ls ..", "src", None),
        ("rg main 2>/dev/null", "src", None),
        ("cat none.rs", ".", None),
        ("cd src && ls", ".", None),
        ("git log origin/main -- src", ".", None),
        ("diff /dev/null src", ".", None),
        ("ls ..", ".", Some(Why::Outside)),
        // It may fail to go there.
        ("cd src; ls ..", ".", Some(Why::Outside)),
        ("ls ../..", "src", Some(Why::Outside)),
        ("cat out/none", ".", Some(Why::Outside)),
        ("git diff out/none src", ".", Some(Why::Outside)),
        ("cat linked", ".", Some(Why::SeveralLinks)),
        ("cat ../home/.config/natter/x", ".", Some(Why::Own)),
        ("cat /proc/self/root/etc/hosts", ".", Some(Why::Mode)),
        ("cd out && ls", ".", Some(Why::Mode)),
        ("cd out && cat secret", ".", Some(Why::Mode)),
    ] {
        assert_eq!(why(&decide_in(command, at)), expected.as_ref(), "{command} in {at}");
    }
}

#[test]
fn what_always_stores_is_of_the_real_path() {
    let (folder, project) = project();
    let Decision::Ask { always, .. } = run(&project, "echo > out/new", ".") else {
        panic!("it did not ask")
    };
    let real = fs::canonicalize(folder.path()).unwrap().join("project2/new");
    assert_eq!(
        always.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [format!("write:{}", real.display())]
    );
}

#[test]
fn what_a_command_consists_of_is_there_to_be_shown() {
    let (_folder, project) = project();
    let run = Run::new(&project, "echo a > log && ls", project.resolve(".").unwrap(), true, false);
    assert_eq!(run.command(), "echo a > log && ls");
    assert_eq!(run.parts().unwrap().len(), 2);
    assert_eq!(run.redirected()[0].written, "log");
    assert!(run.redirected()[0].writes && run.is_sandboxed());
    assert_eq!(run.folder().real(), project.root());
    let run = Run::new(&project, "'", project.resolve(".").unwrap(), false, true);
    assert!(!run.is_sandboxed() && run.parts().is_err());
}

/// Counts what is logged.
struct Heard;

static LINES: AtomicUsize = AtomicUsize::new(0);

impl tracing::Subscriber for Heard {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        LINES.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn no_word_of_a_command_is_logged() {
    tracing::subscriber::set_global_default(Heard).unwrap();
    command::parse("echo \"$(echo secret)\" > log").unwrap();
    assert_eq!(LINES.load(Ordering::Relaxed), 0);
    tracing::debug!("it hears");
    assert_eq!(LINES.load(Ordering::Relaxed), 1);
}
