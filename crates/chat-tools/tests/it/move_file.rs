//! Tests `move_file`.

use chat_core::message::{Preview, ToolView};
use chat_permission::Mode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn both_names_are_asked_for_at_once() {
    let world = World::new();
    world.put("a", "x");
    world.host.allows();
    let output = world.call("move_file", json!({ "from": "a", "to": "b/c" })).await.unwrap();
    assert_eq!(output.text, "Moved a to b/c");
    assert_eq!(output.view, Some(ToolView::Moved { from: "a".to_owned(), to: "b/c".to_owned() }));
    assert_eq!(world.host.was_asked(), ["write a, read a, write b/c"]);
    assert_eq!(world.host.previews.lock().unwrap()[0], Preview::Move { to: "b/c".into() });
    assert_eq!((world.get("b/c"), world.project.join("a").exists()), ("x".to_owned(), false));
}

#[tokio::test]
async fn nothing_is_overwritten() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a", "x");
    world.put("b", "y");
    world.put("c/d", "z");
    assert_eq!(
        world.fails("move_file", json!({ "from": "a", "to": "b" })).await,
        "b already exists and is not overwritten."
    );
    assert_eq!(
        world.fails("move_file", json!({ "from": "a", "to": "c" })).await,
        "c is a folder: give the full new path, such as c/a."
    );
    assert_eq!(
        world.fails("move_file", json!({ "from": "e", "to": "f" })).await,
        "e does not exist. Its folder contains: a, b, c."
    );
    assert!(!world.fails("move_file", json!({ "from": "c", "to": "c/in" })).await.is_empty());
    assert_eq!(
        (world.get("a"), world.get("b"), world.get("c/d")),
        ("x".to_owned(), "y".to_owned(), "z".to_owned())
    );
}

#[tokio::test]
async fn a_link_is_moved_itself() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a", "x");
    std::os::unix::fs::symlink("a", world.project.join("link")).unwrap();
    world.says("move_file", json!({ "from": "link", "to": "other" })).await;
    assert!(world.project.join("other").is_symlink());
    assert_eq!(world.get("a"), "x");
}

#[tokio::test]
async fn what_may_not_be_read_keeps_its_name() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("secrets/key", "x");
    world.put("docs/a", "y");
    world.host.denies("read:secrets/**");
    for from in ["secrets/key", "secrets"] {
        world.fails("move_file", json!({ "from": from, "to": "seen" })).await;
        assert!(!world.project.join("seen").exists(), "{from}");
    }
    // Nor is it deleted with its folder by itself.
    world.fails("delete_file", json!({ "path": "secrets" })).await;
    assert_eq!(world.get("secrets/key"), "x");
    world.says("move_file", json!({ "from": "docs", "to": "seen" })).await;
    assert_eq!(world.get("seen/a"), "y");
}
