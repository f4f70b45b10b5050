//! Tests `list_files` and `find_files`.

use chat_core::message::ToolView;
use serde_json::json;

use crate::world::World;

fn tree() -> World {
    let world = World::new();
    for path in [
        "src/main.rs",
        "src/deep/er/a.rs",
        ".github/ci.yml",
        "target/out.o",
        "notes.log",
        ".git/HEAD",
        "README.md",
    ] {
        world.put(path, "x");
    }
    world.put(".gitignore", "/target\n*.log\n");
    world
}

#[tokio::test]
async fn a_tree_leaves_out_what_gitignore_names() {
    let world = tree();
    std::os::unix::fs::symlink("/etc", world.project.join("link")).unwrap();
    let output = world.call("list_files", json!({})).await.unwrap();
    assert_eq!(
        output.text,
        ".github/\n  ci.yml\n.gitignore\nREADME.md\nlink -> /etc\nsrc/\n  deep/\n    er/\n  main.rs\n"
    );
    assert_eq!(output.view, Some(ToolView::Listed { what: ".".to_owned(), entries: 9 }));
    assert_eq!(
        world.says("list_files", json!({ "path": "src", "depth": 1 })).await,
        "deep/\nmain.rs\n"
    );
    assert_eq!(
        world.fails("list_files", json!({ "path": "README.md" })).await,
        "README.md is not a folder."
    );
    std::fs::create_dir(world.project.join("empty")).unwrap();
    assert_eq!(
        world.says("list_files", json!({ "path": "empty" })).await,
        "empty is empty, or everything in it is ignored by .gitignore."
    );
}

#[tokio::test]
async fn files_are_found_by_glob() {
    let world = tree();
    assert_eq!(
        world.says("find_files", json!({ "glob": "*.rs" })).await,
        "src/deep/er/a.rs\nsrc/main.rs\n"
    );
    assert_eq!(world.says("find_files", json!({ "glob": "src/*.rs" })).await, "src/main.rs\n");
    assert_eq!(
        world.says("find_files", json!({ "glob": "*.rs", "path": "src/deep" })).await,
        "src/deep/er/a.rs\n"
    );
    assert_eq!(world.says("find_files", json!({ "glob": "*.{log,o}" })).await, "No files match.");
    assert!(
        world
            .fails("find_files", json!({ "glob": "{a" }))
            .await
            .starts_with("The glob is not valid")
    );
}

#[tokio::test]
async fn pipes_in_the_place_of_ignore_files_hold_nobody_up() {
    let world = World::new();
    for path in ["a.txt", "sub/b.txt", "sub/.git/info/HEAD"] {
        world.put(path, "prose\n");
    }
    for pipe in [".gitignore", "../.gitignore", "sub/.ignore", "sub/.git/info/exclude"] {
        let pipe = world.project.join(pipe);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    }
    assert_eq!(world.says("find_files", json!({ "glob": "*.txt" })).await, "a.txt\nsub/b.txt\n");
    let said = world.says("list_files", json!({})).await;
    assert_eq!(said, ".gitignore\na.txt\nsub/\n  .ignore\n  b.txt\n");
    let said = world.says("search_files", json!({ "pattern": "prose" })).await;
    assert_eq!(said, "a.txt\n1: prose\nsub/b.txt\n1: prose\n");
}

#[tokio::test]
async fn what_a_rule_denies_is_not_named() {
    let world = tree();
    world.host.denies("read:src/deep/**");
    assert_eq!(world.says("find_files", json!({ "glob": "*.rs" })).await, "src/main.rs\n");
    let said = world.says("list_files", json!({ "depth": 5 })).await;
    assert!(said.contains("main.rs") && !said.contains("a.rs"), "{said}");
}

/// A folder is swapped for a link while the walk goes on, again and again: nothing of outside is named.
#[tokio::test]
async fn a_folder_that_is_swapped_for_a_link_does_not_lead_out() {
    let world = World::new();
    world.put("sub/inside.txt", "");
    world.put_outside("secret/outside.txt", "");
    std::os::unix::fs::symlink("../secret", world.project.join("link")).unwrap();
    let (sub, link) = (world.project.join("sub"), world.project.join("link"));
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_over = std::sync::Arc::clone(&over);
    let swapping = std::thread::spawn(move || {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
    });
    let mut said = String::new();
    for _ in 0..2000 {
        said += &world.says("find_files", json!({ "glob": "*" })).await;
    }
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(said.contains("inside.txt") && !said.contains("outside.txt"), "it led out");
}

#[tokio::test]
async fn more_than_a_thousand_are_counted() {
    let world = World::new();
    for number in 0..1003 {
        world.put(&format!("f{number:04}"), "");
    }
    let said = world.says("find_files", json!({ "glob": "f*" })).await;
    assert!(said.ends_with("f0999\n[3 more. Give a folder to see them.]\n"), "{said}");
    let said = world.says("list_files", json!({})).await;
    assert!(said.ends_with("f0999\n[3 more. Give a folder to see them.]\n"), "{said}");
}
