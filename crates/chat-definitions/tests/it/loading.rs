//! What counts of all the folders.

use chat_definitions::{ProblemKind, Severity, skill_list};

use proptest::prelude::*;

use crate::world::{World, names, prompt, skill};

#[test]
fn definitions_are_found_in_all_folders_and_the_projects_win() {
    let world = World::new(&[
        ("config/agents/reviewer.md", "User's reviewer."),
        ("config/agents/notes.txt", "no agent"),
        ("config/agents/.hidden.md", "no agent"),
        ("config/commands/fix.md", "User's fix."),
        ("config/skills/a/SKILL.md", &skill("a", "config")),
        ("home/.agents/skills/b/SKILL.md", &skill("b", "agents")),
        ("home/.claude/skills/c/SKILL.md", &skill("c", "claude")),
        ("project/.natter/agents/reviewer.md", "Project's reviewer."),
        ("project/.natter/commands/fix.md", "Project's fix."),
        ("project/.agents/skills/b/SKILL.md", &skill("b", "project agents")),
        ("project/.claude/skills/d/SKILL.md", &skill("d", "project claude")),
        ("project/.claude/skills/README.md", "no skill"),
    ]);
    let before = world.load();
    assert_eq!(names(&before), [vec!["reviewer"], vec!["fix"], vec!["a", "b", "c"]]);
    assert_eq!(prompt(&before, "reviewer"), Some("User's reviewer."));
    world.trust();
    let snapshot = world.load();
    assert_eq!(snapshot.problems, []);
    assert_eq!(names(&snapshot), [vec!["reviewer"], vec!["fix"], vec!["a", "b", "c", "d"]]);
    assert_eq!(prompt(&snapshot, "reviewer"), Some("Project's reviewer."));
    assert_eq!(snapshot.commands[0].expand("all"), "Project's fix.\nall");
    assert_eq!(
        skill_list(&snapshot.skills, 1_000),
        "- a: config\n- b: project agents\n- c: claude\n- d: project claude\n"
    );
    assert_eq!(snapshot.skills[3].read_body().unwrap(), "Do it.");
}

#[test]
fn a_problem_names_file_and_line() {
    let world = World::new(&[
        ("config/agents/a.md", "---\nname: a\nmode: sometimes\n---\nx"),
        ("config/agents/b.md", "---\nname: b\nhooks: none\n---\nx"),
        ("config/agents/c.md", &"x".repeat(64 * 1024 + 1)),
        ("config/agents/d.md", "---\nname: b\n---\ny"),
        ("config/agents/g.md", "---\nname: code-assistant\n---\nMine."),
        ("project/.natter/agents/just-ask.md", "Evil."),
    ]);
    std::fs::write(world.path("config/agents/e.md"), b"\xff\xfe").unwrap();
    std::fs::create_dir(world.path("config/agents/f.md")).unwrap();
    world.trust();
    let snapshot = world.load();
    assert_eq!(names(&snapshot)[0], ["b"]);
    assert_eq!(snapshot.project.as_ref().unwrap().items, []);
    let mode = ProblemKind::UnknownWord { key: "mode", word: "sometimes".to_owned() };
    let name = || "b".to_owned();
    let used = world.path("config/agents/b.md");
    assert_eq!(
        world.problems(&snapshot),
        [
            ("config/agents/a.md".to_owned(), Some(3), mode),
            (
                "config/agents/b.md".to_owned(),
                Some(3),
                ProblemKind::UnknownKey { key: "hooks".to_owned() }
            ),
            ("config/agents/c.md".to_owned(), None, ProblemKind::TooLarge { limit: 64 * 1024 }),
            (
                "config/agents/d.md".to_owned(),
                None,
                ProblemKind::DuplicateName { name: name(), used }
            ),
            ("config/agents/e.md".to_owned(), None, ProblemKind::NotUtf8),
            ("config/agents/f.md".to_owned(), None, ProblemKind::Unreadable),
            (
                "config/agents/g.md".to_owned(),
                None,
                ProblemKind::BuiltInName { name: "code-assistant".to_owned() }
            ),
            (
                "project/.natter/agents/just-ask.md".to_owned(),
                None,
                ProblemKind::BuiltInName { name: "just-ask".to_owned() }
            ),
        ]
    );
    let warnings = snapshot.problems.iter().filter(|one| one.severity() == Severity::Warning);
    assert_eq!(warnings.count(), 1);
}

#[test]
fn a_misspelt_key_is_an_error_and_keeps_the_last_good_version() {
    let good = "---\ntools: read_file\n---\nRead.";
    let world = World::new(&[("config/agents/a.md", good)]);
    let opened = world.open();
    assert_eq!(names(&opened.watcher.snapshot())[0], ["a"]);
    world.replace("config/agents/a.md", "---\ndescription: x\ntols: read_file\n---\nAll.");
    let snapshot = opened.wait(|snapshot| !snapshot.problems.is_empty());
    let kind = ProblemKind::MisspeltKey { key: "tols".to_owned(), meant: "tools" };
    assert_eq!(kind.severity(), Severity::Error);
    assert_eq!(world.problems(&snapshot), [("config/agents/a.md".to_owned(), Some(3), kind)]);
    assert_eq!(prompt(&snapshot, "a"), Some("Read."), "and not with all tools");
}

#[test]
fn a_pattern_that_no_tool_matches_is_a_warning_with_its_line() {
    let agent = "---\ntools:\n  - read_*\n  - mcp__files__*\n  - red_file\n---\nRead.";
    let world = World::new(&[("config/agents/a.md", agent)]);
    let snapshot = world.load();
    assert_eq!(names(&snapshot)[0], ["a"]);
    let problem = |line, glob: &str| {
        let kind = ProblemKind::NoSuchTool { glob: glob.to_owned() };
        assert_eq!(kind.severity(), Severity::Warning);
        ("config/agents/a.md".to_owned(), Some(line), kind)
    };
    assert_eq!(world.problems(&snapshot), [problem(4, "mcp__files__*"), problem(5, "red_file")]);
}

#[test]
fn keys_of_other_programs_are_only_a_note_in_skills() {
    let skill = "---\nname: a\ndescription: b\nhooks: x\nlicence: MIT\n---\nDo it.\n";
    let world = World::new(&[("config/skills/a/SKILL.md", skill)]);
    let snapshot = world.load();
    assert_eq!(names(&snapshot)[2], ["a"]);
    assert_eq!(snapshot.problems.len(), 2);
    assert!(snapshot.problems.iter().all(|it| it.severity() == Severity::Note));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let world = World::new(&[("config/agents/a.md", "x")]);
    let made = std::process::Command::new("mkfifo").arg(world.path("config/agents/b.md")).status();
    assert!(made.unwrap().success());
    assert_eq!(names(&world.load())[0], ["a"]);
}

#[test]
fn the_same_skill_in_two_folders_is_one() {
    let text = skill("a", "same");
    let world = World::new(&[
        ("home/.agents/skills/a/SKILL.md", &text),
        ("home/.claude/skills/a/SKILL.md", &text),
        ("project/.agents/skills/b/SKILL.md", &skill("b", "one")),
    ]);
    world.link("../.agents/skills", "project/.claude/skills");
    let snapshot = world.load();
    assert_eq!(snapshot.problems, []);
    assert_eq!(snapshot.project.unwrap().items.len(), 1);
    world.write("home/.claude/skills/a/SKILL.md", &skill("a", "other"));
    let snapshot = world.load();
    assert_eq!(snapshot.skills[0].description, "same");
    assert!(matches!(snapshot.problems[0].kind, ProblemKind::DuplicateName { .. }));
}

#[test]
fn without_any_folder_there_is_nothing() {
    let snapshot = chat_definitions::load(&chat_definitions::Sources::default());
    assert_eq!(snapshot, chat_definitions::Definitions::default());
    let world = World::new(&[]);
    let snapshot = world.load();
    assert!(snapshot.project.unwrap().is_trusted() && snapshot.problems.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..80),
        start in prop::sample::select(&["", "---\n", "---\nname: a\n", "---\nname: a\ndescription: b\n---\n"][..]),
    ) {
        let world = World::new(&[]);
        bytes.splice(0..0, start.bytes());
        for name in [
            "config/agents/a.md",
            "config/commands/a.md",
            "config/skills/a/SKILL.md",
            "project/.natter/agents/a.md",
            "project/.claude/skills/a/SKILL.md",
        ] {
            world.write(name, "");
            std::fs::write(world.path(name), &bytes).unwrap();
        }
        let snapshot = world.load();
        let _ = skill_list(&snapshot.skills, 100);
        prop_assert!(snapshot.agents.len() == 1 || !snapshot.problems.is_empty());
    }
}
