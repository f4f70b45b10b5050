//! Tests `outline` and its limits.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn what_a_file_defines_is_told_with_its_lines() {
    let world = World::new();
    world.put("a.rs", "struct A;\n\nimpl A {\n    fn f(&self) {\n    }\n}\n");
    world.put("run", "#!/bin/sh\nbuild() {\n  make\n}\n");
    world.put("empty.py", "1\n");
    let outline = async |path: &str| world.says("outline", json!({ "path": path })).await;
    assert_eq!(outline("a.rs").await, "1-1\tstruct A\n3-6\timpl A\n  4-5\tfn f(&self)\n");
    assert_eq!(outline("run").await, "2-4\tbuild()\n");
    assert_eq!(outline("empty.py").await, "empty.py defines nothing.");
}

#[tokio::test]
async fn what_has_no_outline_is_named() {
    let world = World::new();
    world.put("a.txt", "text\n");
    world.put("a.rs", b"\0\x01\x02");
    let fails = async |path: &str| world.fails("outline", json!({ "path": path })).await;
    assert_eq!(
        fails("a.txt").await,
        "There is no outline of a.txt: its language is not supported. Search or read the file instead."
    );
    assert_eq!(fails("a.rs").await, "a.rs is not a text file.");
    assert!(fails(".").await.contains("is a folder"));
}

#[tokio::test]
async fn many_definitions_are_cut() {
    let world = World::new();
    world.put("a.rs", "fn f() {}\n".repeat(450).as_bytes());
    let told = world.says("outline", json!({ "path": "a.rs" })).await;
    assert_eq!(told.lines().count(), 401);
    assert!(told.ends_with("(50 more)\n"));
}
