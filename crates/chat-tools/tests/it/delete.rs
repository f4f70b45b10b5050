//! Tests `delete_file`: everything is in the trash, and nothing is gone.

use chat_core::message::ToolView;
use chat_permission::Mode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_file_is_in_the_trash_with_where_it_came_from() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    let path = world.put("a ü%.txt", "x");
    let output = world.call("delete_file", json!({ "path": "a ü%.txt" })).await.unwrap();
    assert_eq!(output.text, "Deleted a ü%.txt (it is in the trash)");
    assert_eq!(output.view, Some(ToolView::Deleted { path: "a ü%.txt".to_owned() }));
    assert!(!path.exists());
    let trash = world.trash();
    assert_eq!(std::fs::read_to_string(trash.join("files/a ü%.txt")).unwrap(), "x");
    let info = std::fs::read_to_string(trash.join("info/a ü%.txt.trashinfo")).unwrap();
    let mut lines = info.lines();
    assert_eq!(lines.next(), Some("[Trash Info]"));
    assert_eq!(lines.next(), Some(&*format!("Path={}/a%20%C3%BC%25.txt", world.project.display())));
    let date = lines.next().unwrap().strip_prefix("DeletionDate=").unwrap();
    assert!(date.len() == 19 && date.contains('T'), "{date}");
}

#[tokio::test]
async fn names_that_the_trash_has_are_left_alone() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    for text in ["1", "2"] {
        world.put("a", text);
        world.says("delete_file", json!({ "path": "a" })).await;
    }
    // One that came without its information.
    std::fs::write(world.trash().join("files/a.3"), "other").unwrap();
    world.put("a", "3");
    world.says("delete_file", json!({ "path": "a" })).await;
    let files = world.trash().join("files");
    assert_eq!(World::names(&files), ["a", "a.2", "a.3", "a.4"]);
    assert_eq!(
        World::names(&world.trash().join("info")),
        ["a.2.trashinfo", "a.4.trashinfo", "a.trashinfo"]
    );
    let texts =
        ["a", "a.2", "a.3", "a.4"].map(|name| std::fs::read_to_string(files.join(name)).unwrap());
    assert_eq!(texts, ["1", "2", "other", "3"]);
}

#[tokio::test]
async fn folders_and_links_go_as_they_are() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("folder/a", "x");
    std::os::unix::fs::symlink("folder", world.project.join("link")).unwrap();
    world.says("delete_file", json!({ "path": "link" })).await;
    assert_eq!(world.get("folder/a"), "x");
    world.says("delete_file", json!({ "path": "folder" })).await;
    assert_eq!(World::names(&world.project), Vec::<String>::new());
    assert_eq!(std::fs::read_to_string(world.trash().join("files/folder/a")).unwrap(), "x");
    assert!(world.trash().join("files/link").is_symlink());
}

#[tokio::test]
async fn what_the_trash_does_not_take_stays() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    world.put("a", "x");
    std::fs::write(world.trash(), "no folder").unwrap();
    let said = world.fails("delete_file", json!({ "path": "a" })).await;
    assert!(said.starts_with("a was not deleted: the trash cannot be used"), "{said}");
    assert_eq!(world.get("a"), "x");
    assert_eq!(
        world.fails("delete_file", json!({ "path": "b" })).await,
        "b does not exist. Its folder contains: a."
    );
}

#[tokio::test]
async fn a_persons_trash_may_lie_elsewhere() {
    let world = World::new();
    world.host.has_mode(Mode::Edits);
    let elsewhere = world.project.with_file_name("elsewhere");
    std::fs::create_dir_all(elsewhere.join("many")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.trash()).unwrap();
    std::os::unix::fs::symlink("many", elsewhere.join("files")).unwrap();
    world.put("a", "x");
    world.says("delete_file", json!({ "path": "a" })).await;
    assert_eq!(World::names(&elsewhere.join("many")), ["a"]);
    assert_eq!(World::names(&elsewhere.join("info")), ["a.trashinfo"]);
}

#[tokio::test]
async fn it_is_asked_first() {
    let world = World::new();
    world.put("a", "x");
    world.fails("delete_file", json!({ "path": "a" })).await;
    assert_eq!(world.host.was_asked(), ["write a"]);
    assert_eq!(world.get("a"), "x");
}
