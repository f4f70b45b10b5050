//! What a tree has is what git lists: random trees with random ignore files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use chat_project::tree::walk;
use proptest::prelude::*;

use crate::world::World;

fn pattern() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just("c"),
        Just("*"),
        Just("a*"),
        Just("*.x"),
        Just("?"),
        Just("[ab]"),
        Just("**")
    ];
    let path = proptest::collection::vec(name, 1..4);
    let not = prop_oneof![3 => Just(""), 1 => Just("!")];
    let start = prop_oneof![2 => Just(""), 1 => Just("/")];
    let end = prop_oneof![2 => Just(""), 1 => Just("/")];
    (not, start, path, end)
        .prop_map(|(not, start, path, end)| format!("{not}{start}{}{end}", path.join("/")))
}

fn paths() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![Just("a"), Just("b"), Just("c"), Just("a.x"), Just(".h"), Just("ab")];
    let path = proptest::collection::vec(name, 1..5).prop_map(|names| names.join("/"));
    proptest::collection::vec(path, 1..25)
}

fn ignores() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let place = prop_oneof![
        3 => Just(".gitignore"), 1 => Just("a/.gitignore"), 1 => Just("b/a/.gitignore"), 1 => Just(".git/info/exclude")
    ];
    let lines = proptest::collection::vec(pattern(), 0..4);
    proptest::collection::vec((place.prop_map(str::to_owned), lines), 0..4)
}

fn git(world: &World, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(world.folder.path())
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", world.folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_tree_has_what_git_lists(files in paths(), ignores in ignores()) {
        let world = World::new(&[]);
        git(&world, &["init", "-q"]);
        for (path, lines) in ignores {
            let path = world.path(path);
            if std::fs::create_dir_all(path.parent().unwrap()).is_ok() {
                std::fs::write(path, lines.join("\n")).unwrap();
            }
        }
        for file in files {
            let path = world.path(&file);
            // What is a folder already, or has a file on its way, stays.
            let _ = std::fs::create_dir_all(path.parent().unwrap());
            let _ = std::fs::write(path, "");
        }
        let listed = git(&world, &["ls-files", "-co", "--exclude-standard", "-z"]);
        let listed: BTreeSet<PathBuf> = listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| PathBuf::from(OsStr::from_bytes(path)))
            .collect();
        let tree = walk(&world.project(), &AtomicBool::new(false), |_| {}).unwrap().unwrap();
        let paths = tree.paths();
        let walked: BTreeSet<PathBuf> = (0..paths.len()).map(|place| paths.get(place).to_owned()).collect();
        prop_assert_eq!(walked, listed);
    }
}
