//! Tests `search_files`.

use chat_core::message::ToolView;
use serde_json::json;

use crate::world::World;

fn tree() -> World {
    let world = World::new();
    world.put("src/a.rs", "fn one() {}\nfn two() {}\n\nfn three() {}\n");
    world.put("src/b.md", "fn in prose\r\n");
    world.put("target/c.rs", "fn built() {}\n");
    world.put(".git/d", "fn git\n");
    world.put(".gitignore", "target\n");
    world.put("binary", b"fn x\n\0\n");
    world
}

#[tokio::test]
async fn lines_are_found_by_files_without_what_is_ignored() {
    let world = tree();
    let output = world.call("search_files", json!({ "pattern": "^fn \\w+" })).await.unwrap();
    assert_eq!(
        output.text,
        "src/a.rs\n1: fn one() {}\n2: fn two() {}\n4: fn three() {}\nsrc/b.md\n1: fn in prose\n"
    );
    assert_eq!(
        output.view,
        Some(ToolView::Searched { pattern: "^fn \\w+".to_owned(), matches: 4, files: 2 })
    );
}

#[tokio::test]
async fn path_glob_context_and_case_narrow_it() {
    let world = tree();
    let said = world
        .says("search_files", json!({ "pattern": "THREE", "ignore_case": true, "context": 1 }))
        .await;
    assert_eq!(said, "src/a.rs\n3- \n4: fn three() {}\n");
    assert_eq!(world.says("search_files", json!({ "pattern": "THREE" })).await, "[No matches.]\n");
    assert_eq!(
        world.says("search_files", json!({ "pattern": "fn", "glob": "*.md" })).await,
        "src/b.md\n1: fn in prose\n"
    );
    assert_eq!(
        world.says("search_files", json!({ "pattern": "two", "path": "src/a.rs" })).await,
        "src/a.rs\n2: fn two() {}\n"
    );
    assert_eq!(
        world.says("search_files", json!({ "pattern": "two", "path": "src" })).await,
        "src/a.rs\n2: fn two() {}\n"
    );
    // A folder that is named is searched, whatever .gitignore says of it.
    assert_eq!(
        world.says("search_files", json!({ "pattern": "fn", "path": "target/c.rs" })).await,
        "target/c.rs\n1: fn built() {}\n"
    );
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let world = tree();
    assert!(
        world
            .fails("search_files", json!({ "pattern": "(" }))
            .await
            .starts_with("The pattern is not valid")
    );
    assert!(
        world
            .fails("search_files", json!({ "pattern": "a\nb" }))
            .await
            .starts_with("The pattern is not valid")
    );
    assert_eq!(
        world.fails("search_files", json!({ "pattern": "a", "path": "nowhere" })).await,
        "nowhere does not exist."
    );
}

#[tokio::test]
async fn what_a_rule_denies_is_not_found_in_the_whole_either() {
    let world = tree();
    world.host.denies("read:src/b.md");
    let said = world.says("search_files", json!({ "pattern": "prose" })).await;
    assert_eq!(said, "[No matches.]\n");
    assert!(world.host.was_asked().is_empty());
}

#[tokio::test]
async fn what_a_rule_denies_is_not_found_outside_either() {
    let world = World::new();
    let secret = world.put_outside("other/secret.txt", "prose\n");
    world.put_outside("other/a.txt", "prose\n");
    world.host.allows();
    world.host.denies(&format!("read:{}", secret.display()));
    let said = world.says("search_files", json!({ "pattern": "prose", "path": "../other" })).await;
    assert!(said.contains("/other/a.txt\n1: prose\n") && !said.contains("secret"), "{said}");
    // Permission for the folder includes everything in it.
    assert_eq!(world.host.was_asked().len(), 1);
}

#[tokio::test]
async fn a_very_long_line_takes_no_memory_and_is_told() {
    let world = World::new();
    world.put("long", format!("prose\n{}\nprose\n", "x".repeat(20 << 20)));
    let said = world.says("search_files", json!({ "pattern": "prose|x$" })).await;
    assert!(said.starts_with("long\n1: prose\n[Not fully searched: 1 file with"), "{said}");
}

#[tokio::test]
async fn a_pattern_that_grows_too_large_is_refused() {
    let world = World::new();
    let said = world.fails("search_files", json!({ "pattern": "\\w{1000}" })).await;
    assert!(said.contains("size limit"), "{said}");
}

#[tokio::test]
async fn a_link_out_is_not_followed() {
    let world = tree();
    world.put_outside("secret/s.txt", "fn secret\n");
    std::os::unix::fs::symlink("../secret", world.project.join("inside")).unwrap();
    std::os::unix::fs::symlink("../secret/s.txt", world.project.join("inside.txt")).unwrap();
    assert_eq!(world.says("search_files", json!({ "pattern": "secret" })).await, "[No matches.]\n");
}

#[tokio::test]
async fn very_many_matches_end_the_search() {
    let world = World::new();
    for number in 0..30 {
        world.put(&format!("f{number}"), "match\n".repeat(1000));
    }
    let said = world.says("search_files", json!({ "pattern": "match" })).await;
    assert!(
        said.contains("[More than 10000 lines match. 200 of them in "),
        "{}",
        &said[said.len() - 200..]
    );
    assert!(said.lines().count() < 210);
}

#[tokio::test]
async fn secrets_are_not_searched_unless_a_rule_names_them() {
    let world = World::new();
    world.put("web/.env", "KEY=horse\n");
    world.put(".env.example", "KEY=horse\n");
    let said = world.says("search_files", json!({ "pattern": "horse" })).await;
    assert_eq!(said, ".env.example\n1: KEY=horse\n");
    assert!(world.host.was_asked().is_empty());
    // By its name it asks.
    let refused =
        world.fails("search_files", json!({ "pattern": "horse", "path": "web/.env" })).await;
    assert!(refused.contains("permission"), "{refused}");
    world.fails("read_file", json!({ "path": "web/.env" })).await;
    assert_eq!(world.host.was_asked(), ["read web/.env", "read web/.env"]);
    world.host.allowed("read:web/.env");
    let said = world.says("search_files", json!({ "pattern": "horse" })).await;
    assert!(said.contains("web/.env\n1: KEY=horse"), "{said}");
}
