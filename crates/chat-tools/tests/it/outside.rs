//! Tests files outside the project and guarded files with every tool.

use std::os::unix::fs::symlink;

use chat_core::message::Preview;
use chat_core::tool::Denied;
use chat_permission::Mode;
use serde_json::json;

use crate::world::World;

/// Ways to name a file outside, which `World::put_outside("secret.txt")` made.
fn ways(world: &World) -> Vec<String> {
    symlink("../secret.txt", world.project.join("link.txt")).unwrap();
    symlink("..", world.project.join("up")).unwrap();
    vec![
        "../secret.txt".to_owned(),
        world.root.join("secret.txt").display().to_string(),
        "link.txt".to_owned(),
        "up/secret.txt".to_owned(),
        format!("{}/../secret.txt", world.project.display()),
    ]
}

#[tokio::test]
async fn reading_outside_needs_leave_and_then_works() {
    let world = World::new();
    let secret = world.put_outside("secret.txt", "secret\n");
    for way in ways(&world) {
        let said = world.fails("read_file", json!({ "path": way })).await;
        assert!(
            said.contains("the user cannot be asked here")
                && said.contains("Files of the project are allowed"),
            "{said}"
        );
        let asked = format!("read {}", secret.display());
        assert_eq!(world.host.was_asked(), [asked], "{way}");
    }
    world.host.allows();
    assert_eq!(world.says("read_file", json!({ "path": "../secret.txt" })).await, "1\tsecret\n");
}

#[tokio::test]
async fn nothing_outside_is_told_or_changed_without_leave() {
    let world = World::new();
    let secret = world.put_outside("secret.txt", "secret\n");
    world.put("a.txt", "a\n");
    for way in ways(&world) {
        let folder = way.strip_suffix("secret.txt");
        let edits = json!([{ "old": "secret", "new": "x" }]);
        let mut calls = vec![
            ("edit_file", json!({ "path": way, "edits": edits })),
            ("write_file", json!({ "path": way, "content": "x" })),
            ("search_files", json!({ "pattern": "secret", "path": way })),
        ];
        if way != "link.txt" {
            calls.push(("delete_file", json!({ "path": way })));
            calls.push(("move_file", json!({ "from": way, "to": "b.txt" })));
            calls.push(("move_file", json!({ "from": "a.txt", "to": format!("{way}.new") })));
        }
        if let Some(folder) = folder {
            calls.push(("search_files", json!({ "pattern": "secret", "path": folder })));
            calls.push(("list_files", json!({ "path": folder })));
            calls.push(("find_files", json!({ "glob": "*", "path": folder })));
        }
        for (tool, arguments) in calls {
            let said = world.fails(tool, arguments.clone()).await;
            assert!(
                said.starts_with("This needs the user's permission"),
                "{tool} {arguments}: {said}"
            );
            assert!(!said.contains("does not exist"), "{said}");
        }
    }
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
    assert_eq!(world.get("a.txt"), "a\n");
}

/// A person's git takes a folder for a repository by what lies in it, whatever it is called.
#[tokio::test]
async fn tools_make_no_repository_by_another_name() {
    let world = World::new();
    world.host.allows();
    let write = |path: &'static str| json!({ "path": path, "content": "x" });
    for (before, last) in [
        (&["a/config", "a/HEAD", "a/objects/k"][..], "a/refs/k"),
        (&["b/refs/k", "b/objects/k"], "b/HEAD"),
        (&["c/HEAD", "c/config"], "c/commondir"),
        (&["d/commondir"], "d/HEAD"),
    ] {
        for path in before {
            world.says("write_file", write(path)).await;
        }
        let said = world.fails("write_file", write(last)).await;
        assert!(said.starts_with("This is not allowed here"), "{last}: {said}");
    }
    world.put("e/k", "x");
    let said = world.fails("move_file", json!({ "from": "e", "to": "a/refs" })).await;
    assert!(said.starts_with("This is not allowed here"), "{said}");
    // In one that is there, what has git run something stays as it is, and the rest may change.
    for path in ["bare/HEAD", "bare/objects/k", "bare/refs/k"] {
        world.put(path, "x");
    }
    for path in ["bare/config", "bare/hooks/pre-commit"] {
        let said = world.fails("write_file", write(path)).await;
        assert!(said.starts_with("This is not allowed here"), "{path}: {said}");
    }
    world.says("write_file", write("bare/description")).await;
    // Names alone are nothing.
    for path in ["f/refs/k", "f/HEAD", "f/info/x", "config", "objects/hooks/x"] {
        world.says("write_file", write(path)).await;
    }
}

#[tokio::test]
async fn what_is_kept_from_tools_stays_so_with_leave_for_all() {
    let world = World::new();
    world.host.allows();
    world.put_outside("own/config.toml", "key");
    world.put(".git/config", "[core]\n");
    world.put(".git/hooks/pre-commit.sample", "");
    world.put("hook", "evil");
    for path in ["../own/config.toml", "../own"] {
        assert!(
            world
                .fails("read_file", json!({ "path": path }))
                .await
                .starts_with("This is not allowed here"),
            "{path}"
        );
    }
    world.says("read_file", json!({ "path": ".git/config" })).await;
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/COMMIT_EDITMSG",
        ".git/sequencer/opts",
        ".natter/rules.toml",
        ".mcp.json",
        "../own/new",
        "link/hooks/x",
    ] {
        let _ = symlink(".git", world.project.join("link"));
        let said = world.fails("write_file", json!({ "path": path, "content": "evil" })).await;
        assert!(said.starts_with("This is not allowed here"), "{path}: {said}");
        let said = world.fails("move_file", json!({ "from": "hook", "to": path })).await;
        assert!(said.starts_with("This is not allowed here"), "{path}: {said}");
    }
    for path in [".git", ".git/hooks", ".git/config", "."] {
        assert!(
            world
                .fails("delete_file", json!({ "path": path }))
                .await
                .starts_with("This is not allowed here"),
            "{path}"
        );
        assert!(
            world
                .fails("move_file", json!({ "from": path, "to": "elsewhere" }))
                .await
                .starts_with("This is not allowed here"),
            "{path}"
        );
    }
    // Searching and listing a folder above does not show what is Natter's own.
    assert_eq!(
        world.says("search_files", json!({ "pattern": "key", "path": ".." })).await,
        "[No matches.]\n"
    );
    assert!(!world.says("find_files", json!({ "glob": "*", "path": ".." })).await.contains("own/"));
    assert!(!world.says("list_files", json!({ "path": ".." })).await.contains("own"));
}

#[tokio::test]
async fn a_file_with_several_links_asks_and_is_not_searched() {
    let world = World::new();
    let secret = world.put_outside("secret.txt", "secret\n");
    std::fs::hard_link(&secret, world.project.join("innocent.txt")).unwrap();
    assert!(
        world.fails("read_file", json!({ "path": "innocent.txt" })).await.starts_with("This needs")
    );
    assert_eq!(world.host.was_asked(), ["read innocent.txt"]);
    let said = world.says("search_files", json!({ "pattern": "secret" })).await;
    assert_eq!(said, "[No matches. Not searched: 1 file with several hard links.]\n");
}

/// Swaps something while the person is asked.
#[tokio::test]
async fn what_was_swapped_in_while_the_person_was_asked_does_not_count() {
    let world = World::new();
    let secret = world.put_outside("secret.txt", "secret\n");
    for tool in ["edit_file", "write_file", "delete_file", "move_file"] {
        let victim = world.put("a.txt", "a\n");
        world.says("read_file", json!({ "path": "a.txt" })).await;
        let (swapped, target) = (victim.clone(), secret.clone());
        world.host.answers(move |_| {
            std::fs::remove_file(&swapped).unwrap();
            symlink(&target, &swapped).unwrap();
            Ok(())
        });
        let arguments = match tool {
            "edit_file" => json!({ "path": "a.txt", "edits": [{ "old": "a", "new": "b" }] }),
            "write_file" => json!({ "path": "a.txt", "content": "b\n" }),
            "delete_file" => json!({ "path": "a.txt" }),
            _ => json!({ "from": "a.txt", "to": "b.txt" }),
        };
        let said = world.fails(tool, arguments).await;
        assert!(said.contains("changed"), "{tool}: {said}");
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret\n", "{tool}");
        assert!(victim.is_symlink(), "{tool}");
        std::fs::remove_file(&victim).unwrap();
    }
    // The same for reading outside: what was allowed is read, or nothing.
    let public = world.put_outside("public.txt", "public\n");
    let swapped = public.clone();
    world.host.answers(move |_| {
        std::fs::rename(&secret, &swapped).unwrap();
        Ok(())
    });
    assert!(world.fails("read_file", json!({ "path": "../public.txt" })).await.contains("changed"));
}

#[tokio::test]
async fn a_word_of_the_person_reaches_the_model() {
    let world = World::new();
    world.put("a.txt", "a\n");
    world.host.answers(|_| Err(Denied::ByPerson { message: Some("not this file".to_owned()) }));
    let said = world.fails("delete_file", json!({ "path": "a.txt" })).await;
    assert_eq!(said, "The user denied this and said: not this file");
}

#[tokio::test]
async fn without_a_project_there_are_no_files() {
    let mut world = World::new();
    world.context.project = None;
    assert!(world.fails("read_file", json!({ "path": "a" })).await.contains("no project folder"));
}

#[tokio::test]
async fn a_change_outside_is_asked_for_once_with_all_of_it() {
    let world = World::new();
    world.put_outside("notes.txt", "old\n");
    world.host.allows();
    let edit = |old: &str| {
        let new = format!("{old}er");
        json!({ "path": "../notes.txt", "edits": [{ "old": old, "new": new }] })
    };
    world.says("edit_file", edit("old")).await;
    let asked = world.host.was_asked();
    assert!(matches!(&asked[..], [one] if one.starts_with("write ") && one.contains(", read ")));
    assert!(matches!(&world.host.previews.lock().unwrap()[..], [Preview::Change { .. }]));
    // What is there is told only with leave to read it.
    world.host.answers(|_| Err(Denied::ByPerson { message: None }));
    let (missing, there) = (edit("nowhere"), edit("older"));
    let said = world.fails("edit_file", missing).await;
    assert_eq!(said, world.fails("edit_file", there).await);
    let asked = world.host.was_asked();
    assert!(
        matches!(&asked[..], [read, both] if read.starts_with("read ") && both.starts_with("write "))
    );
}

#[tokio::test]
async fn whether_a_text_is_there_does_not_show_where_it_may_not_be_changed() {
    let world = World::new();
    world.put_outside("notes.txt", "old\n");
    world.host.has_mode(Mode::Plan);
    let edit =
        |old: &str| json!({ "path": "../notes.txt", "edits": [{ "old": old, "new": "new" }] });
    let there = world.fails("edit_file", edit("old")).await;
    assert_eq!(world.fails("edit_file", edit("nowhere")).await, there);
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let there = world.fails("write_file", write("../notes.txt")).await;
    assert_eq!(world.fails("write_file", write("../none.txt")).await, there);
    assert!(world.host.was_asked().is_empty());
}
