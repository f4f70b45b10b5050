//! What a project brings counts only once it is trusted.

use chat_definitions::{ItemKind, ProblemKind, SkillFileChangeKind, TrustStore};
use chat_permission::Mode;

use crate::world::{World, names, prompt, skill};

fn world() -> World {
    World::new(&[
        (
            "project/.natter/agents/builder.md",
            "---\ndescription: \"Builds \\u202efast\"\nmode: auto\ntools: [run_*]\nmodel: a/b\n---\nBuild.",
        ),
        ("project/.natter/commands/ship.md", "---\nagent: builder\n---\nShip."),
        ("project/.agents/skills/x/SKILL.md", &skill("x", "Does x")),
        ("project/.agents/skills/x/run.sh", "echo"),
    ])
}

#[test]
fn what_is_asked_says_what_each_may_do() {
    let world = world();
    let snapshot = world.load();
    assert_eq!(names(&snapshot), [vec![""; 0], vec![], vec![]]);
    let project = snapshot.project.unwrap();
    assert_eq!(project.root, world.path("project"));
    assert!(!project.is_trusted());
    assert_eq!(project.untrusted().count(), 3);
    let [agent, command, skill] = &project.items[..] else { panic!("{:?}", project.items) };
    assert_eq!((agent.kind, agent.name.as_str()), (ItemKind::Agent, "builder"));
    assert_eq!(agent.description.as_deref(), Some("Builds \\u{202e}fast"));
    assert_eq!((agent.mode, agent.model.as_deref()), (Some(Mode::Auto), Some("a/b")));
    assert_eq!(agent.tools.as_deref(), Some(&["run_*".to_owned()][..]));
    assert_eq!((command.kind, command.agent.as_deref()), (ItemKind::Command, Some("builder")));
    assert_eq!((skill.kind, skill.files), (ItemKind::Skill, 1));
}

#[test]
fn what_is_asked_says_what_is_new_what_changed_and_what_it_replaces() {
    let world = world();
    world.write("config/agents/builder.md", "My own.");
    let item = |name: &str| {
        let items = world.load().project.unwrap().items.clone();
        items.into_iter().find(|item| item.name == name).unwrap()
    };
    let (builder, ship) = (item("builder"), item("ship"));
    assert!(builder.replaces_own && !ship.replaces_own);
    assert!(!builder.was_trusted && builder.text_before.is_none());
    assert_eq!(&*ship.text, "---\nagent: builder\n---\nShip.");
    world.trust();
    let trusted = item("ship");
    assert!(trusted.is_trusted && trusted.was_trusted && trusted.text_before.is_none());

    world.write("project/.natter/commands/ship.md", "Ship it.");
    world.write("project/.natter/commands/other.md", "Other.");
    world.write("project/.agents/skills/x/run.sh", "rm -r /");
    let (changed, new, skill) = (item("ship"), item("other"), item("x"));
    assert!(changed.was_trusted && !changed.is_trusted && !new.was_trusted);
    assert_eq!(&*changed.text, "Ship it.");
    assert_eq!(changed.text_before.as_deref(), Some("---\nagent: builder\n---\nShip."));
    assert_eq!(skill.text_before.as_ref(), Some(&skill.text), "only a file next to it changed");

    // What is trusted no more is not kept. Of a skill, there is also a list of files.
    let texts = || std::fs::read_dir(world.path("state/trust.texts")).unwrap().count();
    assert_eq!(texts(), 4);
    world.trust();
    assert_eq!(texts(), 5);
    // A file that an earlier version wrote says nothing of files.
    let store = world.path("state/trust.json");
    let old = std::fs::read_to_string(&store).unwrap().replace("\"files\"", "\"unknown\"");
    std::fs::write(&store, old).unwrap();
    assert!(item("ship").is_trusted);
    world.write("project/.natter/commands/ship.md", "Ship it now.");
    assert!(!item("ship").is_trusted && item("ship").text_before.is_none());
}

#[test]
fn the_files_of_a_skill_that_are_new_changed_or_gone_are_named() {
    use SkillFileChangeKind::{Changed, Gone, New};
    let world = world();
    let write = |name: &str, text: &str| {
        world.write(&format!("project/.agents/skills/x/{name}"), text);
    };
    let changed = || {
        let items = world.load().project.unwrap().items.clone();
        let skill = items.into_iter().find(|item| item.name == "x").unwrap();
        let changed = skill.changed_files.unwrap().into_iter();
        let named = changed.map(|it| (it.path.into_os_string().into_string().unwrap(), it.kind));
        named.collect::<Vec<_>>()
    };
    let named = |all: &[(&str, SkillFileChangeKind)]| {
        all.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect::<Vec<_>>()
    };
    write("same", "same");
    write("bytes:zz", "odd");
    assert_eq!(changed(), named(&[("bytes:zz", New), ("run.sh", New), ("same", New)]));
    world.trust();
    assert_eq!(changed(), []);
    write("run.sh", "rm -r /");
    write("lib/a", "a");
    std::fs::remove_file(world.path("project/.agents/skills/x/bytes:zz")).unwrap();
    let expected = named(&[("bytes:zz", Gone), ("lib/a", New), ("run.sh", Changed)]);
    assert_eq!(changed(), expected);
    // Also once the trust was taken back and given again.
    let store = TrustStore::new(world.path("state/trust.json"));
    let forgotten = store.forget(&world.path("project")).unwrap().unwrap();
    store.restore(&forgotten).unwrap();
    assert_eq!(changed(), expected);
}

#[test]
fn what_was_forgotten_can_be_trusted_again() {
    let world = world();
    let store = TrustStore::new(world.path("state/trust.json"));
    let root = world.path("project");
    assert_eq!(store.forget(&root).unwrap(), None);
    world.trust();
    let forgotten = store.forget(&root).unwrap().unwrap();
    assert_eq!(forgotten.root().as_deref(), Some(&*root));
    let project = world.load().project.unwrap();
    assert!(project.untrusted().count() == 3 && project.items.iter().all(|it| forgotten.has(it)));
    store.restore(&forgotten).unwrap();
    assert!(world.load().project.unwrap().is_trusted());
    // Also what it said.
    world.write("project/.natter/commands/ship.md", "Ship it.");
    let project = world.load().project.unwrap();
    let ship = project.items.iter().find(|item| item.name == "ship").unwrap();
    assert_eq!(ship.text_before.as_deref(), Some("---\nagent: builder\n---\nShip."));
    world.write("project/.natter/commands/ship.md", "---\nagent: builder\n---\nShip.");
    // What was trusted since is not undone.
    let forgotten = store.forget(&root).unwrap().unwrap();
    world.write("project/.natter/commands/ship.md", "Ship it.");
    world.trust();
    store.restore(&forgotten).unwrap();
    assert!(world.load().project.unwrap().is_trusted());
}

#[test]
fn what_changes_asks_again_and_what_goes_does_not() {
    let world = world();
    world.trust();
    let trusted = world.load();
    assert_eq!(names(&trusted), [vec!["builder"], vec!["ship"], vec!["x"]]);
    let first = trusted.project.as_ref().unwrap().digest;

    // A file next to a skill is a part of it.
    world.write("project/.agents/skills/x/run.sh", "rm -r /");
    let snapshot = world.load();
    assert_eq!(names(&snapshot), [vec!["builder"], vec!["ship"], vec![]]);
    let project = snapshot.project.as_ref().unwrap();
    assert_ne!(project.digest, first);
    assert_eq!(project.untrusted().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["x"]);

    std::fs::remove_dir_all(world.path("project/.agents")).unwrap();
    std::fs::remove_file(world.path("project/.natter/commands/ship.md")).unwrap();
    assert!(world.load().project.unwrap().is_trusted());

    // The same text under another name is something else.
    std::fs::rename(
        world.path("project/.natter/agents/builder.md"),
        world.path("project/.natter/agents/helper.md"),
    )
    .unwrap();
    let snapshot = world.load();
    assert!(snapshot.agents.is_empty() && !snapshot.project.unwrap().is_trusted());
}

#[test]
fn what_the_user_saw_is_trusted_and_not_what_came_after() {
    let world = world();
    let seen = world.load().project.unwrap();
    world.write("project/.natter/agents/builder.md", "Something else.");
    let opened = world.open();
    opened.watcher.trust(&seen).unwrap();
    let snapshot = opened.wait(|snapshot| !snapshot.skills.is_empty());
    assert_eq!(names(&snapshot), [vec![""; 0], vec!["ship"], vec!["x"]]);
}

#[test]
fn a_damaged_store_trusts_nothing() {
    let world = world();
    world.trust();
    world.write("state/trust.json", "{\"projects\": [");
    assert!(world.load().agents.is_empty());
    world.trust();
    assert_eq!(names(&world.load())[0], ["builder"]);
    TrustStore::new(world.path("state/trust.json")).forget(&world.path("project")).unwrap();
    assert!(world.load().agents.is_empty());
}

#[test]
fn no_link_leads_out_of_the_project() {
    let world = World::new(&[
        ("outside/agent.md", "Evil."),
        ("outside/agents/b.md", "Evil."),
        ("project/shared/c.md", "Good."),
    ]);
    world.link("../../../outside/agent.md", "project/.natter/agents/a.md");
    world.link("../../shared/c.md", "project/.natter/agents/c.md");
    world.link("../../outside/agents", "project/.natter/commands");
    world.link("/nowhere", "project/.claude/skills");
    world.trust();
    let snapshot = world.load();
    assert_eq!(names(&snapshot), [vec!["c"], vec![], vec![]]);
    assert_eq!(
        world.problems(&snapshot),
        [
            ("project/.claude/skills".to_owned(), None, ProblemKind::LeadsOut),
            ("project/.natter/agents/a.md".to_owned(), None, ProblemKind::LeadsOut),
            ("project/.natter/commands".to_owned(), None, ProblemKind::LeadsOut),
        ]
    );
}

#[test]
fn a_home_that_is_a_project_has_its_own_skills() {
    let world = World::new(&[("project/.agents/skills/x/SKILL.md", &skill("x", "Does x"))]);
    let mut sources = world.sources();
    sources.home = Some(world.path("project"));
    let snapshot = chat_definitions::load(&sources);
    assert_eq!(names(&snapshot)[2], ["x"]);
    assert_eq!(snapshot.project.unwrap().items, []);
}

#[test]
fn a_trusted_version_stays_in_use_while_the_file_is_wrong() {
    let world = world();
    world.trust();
    let opened = world.open();
    assert_eq!(prompt(&opened.watcher.snapshot(), "builder"), Some("Build."));
    world.write("project/.natter/agents/builder.md", "---\nmode: [\n---\nBroken.");
    let snapshot = opened.wait(|snapshot| snapshot.problems[0].kind == ProblemKind::Syntax);
    assert_eq!(prompt(&snapshot, "builder"), Some("Build."));
    assert!(snapshot.project.as_ref().unwrap().is_trusted());
}
