//! `list_files` and `find_files`.

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
        "empty has nothing that .gitignore does not name."
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
    assert_eq!(
        world.says("find_files", json!({ "glob": "*.{log,o}" })).await,
        "No file has such a path."
    );
    assert!(
        world
            .fails("find_files", json!({ "glob": "{a" }))
            .await
            .starts_with("The glob is not valid")
    );
}

#[tokio::test]
async fn more_than_a_thousand_are_counted() {
    let world = World::new();
    for number in 0..1003 {
        world.put(&format!("f{number:04}"), "");
    }
    let said = world.says("find_files", json!({ "glob": "f*" })).await;
    assert!(said.ends_with("f0999\n[3 more. Name a folder to see them.]\n"), "{said}");
    let said = world.says("list_files", json!({})).await;
    assert!(said.ends_with("f0999\n[3 more. Name a folder to see them.]\n"), "{said}");
}
