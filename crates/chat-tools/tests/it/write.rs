//! Tests `write_file`: a session does not overwrite what it has not read.

use chat_core::message::{Preview, ToolView};
use chat_permission::Mode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_new_file_is_made_with_its_folders_and_shown_before() {
    let world = World::new();
    world.host.allows();
    let output = world
        .call("write_file", json!({ "path": "src/deep/a.rs", "content": "a\nb\n" }))
        .await
        .unwrap();
    assert_eq!(output.text, "Created src/deep/a.rs (+2 −0)");
    let diff = "@@ -0,0 +1,2 @@\n+a\n+b\n".to_owned();
    assert_eq!(
        *world.host.previews.lock().unwrap(),
        [Preview::Change { is_new: true, diff: diff.clone(), added: 2, removed: 0 }]
    );
    assert_eq!(
        output.view,
        Some(ToolView::Edited {
            path: "src/deep/a.rs".to_owned(),
            diff,
            added: 2,
            removed: 0,
            created: true
        })
    );
    assert_eq!(world.get("src/deep/a.rs"), "a\nb\n");
}

#[tokio::test]
async fn a_file_is_overwritten_only_as_it_was_read() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    let path = world.put("a", "one\n");
    let write = |content: &str| json!({ "path": "a", "content": content });
    let said = world.fails("write_file", write("two\n")).await;
    assert_eq!(said, "a exists, but you have not read it. Read it first, or use edit_file.");
    world.says("read_file", json!({ "path": "a", "from": 1, "to": 1 })).await;
    // The same length, at the same time: only the contents tell.
    let time = path.metadata().unwrap().modified().unwrap();
    std::fs::write(&path, "ONE\n").unwrap();
    std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    let said = world.fails("write_file", write("two\n")).await;
    assert_eq!(said, "a has changed since you read it. Read it again first.");
    assert_eq!(world.get("a"), "ONE\n");
    world.says("read_file", json!({ "path": "a" })).await;
    assert_eq!(world.says("write_file", write("two\n")).await, "Replaced a (+1 −1)");
    // What it wrote and edited itself it knows.
    world
        .says("edit_file", json!({ "path": "a", "edits": [{ "old": "two", "new": "three" }] }))
        .await;
    world.says("write_file", write("four\n")).await;
    assert_eq!(world.get("a"), "four\n");
}

#[tokio::test]
async fn a_known_file_is_known_by_its_new_name() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.says("write_file", json!({ "path": "a/b", "content": "1\n" })).await;
    world.says("move_file", json!({ "from": "a", "to": "c" })).await;
    world.says("write_file", json!({ "path": "c/b", "content": "2\n" })).await;
    assert_eq!(world.get("c/b"), "2\n");
}

#[tokio::test]
async fn encoding_and_line_endings_stay() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a", b"\xef\xbb\xbfa\r\nb\r\n");
    world.says("read_file", json!({ "path": "a" })).await;
    world.says("write_file", json!({ "path": "a", "content": "c\nd\n" })).await;
    assert_eq!(world.get("a").as_bytes(), b"\xef\xbb\xbfc\r\nd\r\n");
    world.put("latin", b"\xe4\n");
    world.says("read_file", json!({ "path": "latin" })).await;
    let said = world.says("write_file", json!({ "path": "latin", "content": "€\n" })).await;
    assert!(said.contains("It is now UTF-8"), "{said}");
    assert_eq!(world.get("latin"), "€\n");
}

#[tokio::test]
async fn what_came_while_the_person_was_asked_stays() {
    let world = World::new();
    let path = world.project.join("a");
    world.host.answers(move |_| {
        std::fs::write(&path, "theirs\n").unwrap();
        Ok(())
    });
    let said = world.fails("write_file", json!({ "path": "a", "content": "mine\n" })).await;
    assert!(said.contains("changed by someone else"), "{said}");
    assert_eq!(world.get("a"), "theirs\n");
}

#[tokio::test]
async fn a_folder_is_not_overwritten() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a/b", "");
    assert!(
        world
            .fails("write_file", json!({ "path": "a", "content": "" }))
            .await
            .starts_with("a is a folder")
    );
}
