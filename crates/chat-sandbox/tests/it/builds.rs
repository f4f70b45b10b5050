//! Tests the usual work of a project in the sandbox.

use chat_sandbox::{Command, Preference};

use crate::support::{Scene, write};

/// As whoever runs the tests, since it is their toolchain.
#[tokio::test]
async fn a_cargo_project_is_built_and_tested_offline() {
    for way in [Preference::Bubblewrap, Preference::Landlock] {
        let Some(scene) = Scene::new(way).await else { continue };
        let manifest = |name: &str, rest: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
        };
        let uses = "[dependencies]\nhelp = { path = \"help\" }\n[workspace]\n";
        write(&scene.project("Cargo.toml"), &manifest("work", uses));
        write(&scene.project("help/Cargo.toml"), &manifest("help", ""));
        write(&scene.project("help/src/lib.rs"), "pub fn two() -> u8 { 2 }\n");
        write(
            &scene.project("src/main.rs"),
            "fn main() { println!(\"{}\", help::two()); }\n#[test] fn two() { assert_eq!(help::two(), 2); }\n",
        );
        let package = |name: &str, uses: &str| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n{uses}\n")
        };
        let uses = "dependencies = [\n \"help\",\n]\n";
        let lock = format!("version = 4\n\n{}{}", package("help", ""), package("work", uses));
        write(&scene.project("Cargo.lock"), &lock);
        write(&scene.project(".git/HEAD"), "ref: refs/heads/main\n");
        // With the toolchain of the person's own home folder.
        let text = "cargo build --offline && cargo test --offline -q && target/debug/work";
        let mut command = Command::new(text, scene.project(""));
        command.limit = None;
        let outcome = scene.run_command(command).await;
        assert!(outcome.success().ends_with('2'), "{way:?}: {outcome:?}");
    }
}
