//! Tests `edit_file` on real files.

use std::os::unix::fs::PermissionsExt;

use chat_core::message::{Preview, ToolView};
use chat_core::tool::Denied;
use chat_permission::Mode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn an_edit_is_shown_whole_before_it_is_made() {
    let world = World::new();
    world.put("a.rs", "one\ntwo\nthree\n");
    world.host.answers(|_| Err(Denied::ByPerson { message: None }));
    let edit = json!({ "path": "a.rs", "edits": [{ "old": "two", "new": "2" }, { "old": "three", "new": "3" }] });
    assert!(world.fails("edit_file", edit.clone()).await.starts_with("The user denied this."));
    assert_eq!(world.get("a.rs"), "one\ntwo\nthree\n");
    let diff = "@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+3\n".to_owned();
    assert_eq!(
        *world.host.previews.lock().unwrap(),
        [Preview::Change { is_new: false, diff: diff.clone(), added: 2, removed: 2 }]
    );
    world.host.allows();
    let output = world.call("edit_file", edit).await.unwrap();
    assert_eq!(output.text, "Edited a.rs (+2 −2)\n2\t2\n3\t3");
    assert_eq!(
        output.view,
        Some(ToolView::Edited {
            path: "a.rs".to_owned(),
            diff,
            added: 2,
            removed: 2,
            created: false
        })
    );
    assert_eq!(world.get("a.rs"), "one\n2\n3\n");
}

#[tokio::test]
async fn all_edits_are_made_or_none() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a.rs", "one\ntwo\n");
    let edits = json!([{ "old": "one", "new": "1" }, { "old": "three", "new": "3" }]);
    let said = world.fails("edit_file", json!({ "path": "a.rs", "edits": edits })).await;
    assert_eq!(
        said,
        "Edit 2 of 2: The text to replace is not in the file. Read the file again. No edits were made."
    );
    assert_eq!(world.get("a.rs"), "one\ntwo\n");
    assert!(
        world.fails("edit_file", json!({ "path": "a.rs", "edits": [] })).await.contains("empty")
    );
    let back = json!([{ "old": "one", "new": "1" }, { "old": "1", "new": "one" }]);
    assert_eq!(
        world.fails("edit_file", json!({ "path": "a.rs", "edits": back })).await,
        "Taken together, these edits change nothing."
    );
}

#[tokio::test]
async fn a_tolerant_edit_says_so_and_shows_what_it_did() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a.py", "def f():\n    if x:\n        go()\n");
    let edits = json!([{ "old": "if x:\n    go()", "new": "if y:\n    go()" }]);
    let said = world.says("edit_file", json!({ "path": "a.py", "edits": edits })).await;
    assert_eq!(world.get("a.py"), "def f():\n    if y:\n        go()\n");
    assert!(
        said.contains("The text at line 2 differed in indentation")
            && said.ends_with("\n2\t    if y:"),
        "{said}"
    );
}

#[tokio::test]
async fn bytes_permissions_and_links_stay_as_they_were() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    for (name, before, after) in [
        ("windows", &b"a\r\nb\r\n"[..], &b"a\r\nx\r\ny\r\n"[..]),
        ("marked", b"\xef\xbb\xbfb\n", b"\xef\xbb\xbfx\ny\n"),
        ("wide", b"\xff\xfeb\0\n\0", b"\xff\xfex\0\n\0y\0\n\0"),
        ("latin", b"\xe4 b", b"\xe4 x\ny"),
        ("unended", b"a\nb", b"a\nx\ny"),
    ] {
        let path = world.put(name, before);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        world
            .says("edit_file", json!({ "path": name, "edits": [{ "old": "b", "new": "x\ny" }] }))
            .await;
        assert_eq!(std::fs::read(&path).unwrap(), after, "{name}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o751, "{name}");
    }
    world.put("real/a", "b\n");
    std::os::unix::fs::symlink("real/a", world.project.join("link")).unwrap();
    world.says("edit_file", json!({ "path": "link", "edits": [{ "old": "b", "new": "c" }] })).await;
    assert!(world.project.join("link").is_symlink());
    assert_eq!(world.get("real/a"), "c\n");
    assert_eq!(World::names(&world.project.join("real")), ["a"]);
}

#[tokio::test]
async fn what_cannot_be_written_down_is_refused() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("latin", b"\xe4 b");
    let said = world
        .fails("edit_file", json!({ "path": "latin", "edits": [{ "old": "b", "new": "€" }] }))
        .await;
    assert_eq!(
        said,
        "latin is not UTF-8, read as Latin-1, an encoding without “€”. Write it without this character."
    );
    world.put("bin", b"b\0");
    assert!(
        world
            .fails("edit_file", json!({ "path": "bin", "edits": [{ "old": "b", "new": "c" }] }))
            .await
            .contains("no text to edit")
    );
}

#[tokio::test]
async fn a_file_that_changes_while_the_person_is_asked_is_not_overwritten() {
    let world = World::new();
    let path = world.put("a", "b\n");
    world.host.answers(move |_| {
        // In place: the file is the same, its contents are not.
        std::fs::write(&path, "b\nmore\n").unwrap();
        Ok(())
    });
    let said = world
        .fails("edit_file", json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] }))
        .await;
    assert!(said.contains("nothing was written"), "{said}");
    assert_eq!(world.get("a"), "b\nmore\n");
}

#[tokio::test]
async fn plan_mode_changes_nothing() {
    let world = World::new();
    world.host.has_mode(Mode::Plan);
    world.put("a", "b\n");
    let said = world
        .fails("edit_file", json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] }))
        .await;
    assert!(said.starts_with("This is not allowed here"), "{said}");
    assert_eq!(world.get("a"), "b\n");
}
