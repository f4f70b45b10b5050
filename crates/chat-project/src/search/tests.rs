use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use super::*;
use crate::tree::{Folder, Kind, Stamp, State, Tree};

/// A tree with these paths.
fn tree(paths: &[&[u8]]) -> Tree {
    fn folder(paths: &[&[u8]]) -> Arc<Folder> {
        let mut below: std::collections::BTreeMap<&[u8], Vec<&[u8]>> =
            std::collections::BTreeMap::new();
        let mut entries = Vec::new();
        for path in paths {
            match path.iter().position(|byte| *byte == b'/') {
                Some(end) => below.entry(&path[..end]).or_default().push(&path[end + 1..]),
                None => entries.push((OsStr::from_bytes(path), Kind::File, None)),
            }
        }
        for (name, paths) in below {
            entries.push((OsStr::from_bytes(name), Kind::Folder, Some(folder(&paths))));
        }
        Folder::new(entries, Stamp::default(), State::Listed)
    }
    Tree::new(folder(paths))
}

fn shown(tree: &Tree, query: &str, favoured: &[&str]) -> Vec<String> {
    let favoured = PreferredFiles::new(favoured.iter().map(PathBuf::from).collect());
    let found = search(tree.paths(), query, &favoured, 10, &AtomicBool::new(false)).unwrap();
    found.into_iter().map(|found| found.display_path).collect()
}

#[test]
fn a_name_weighs_more_than_its_folders() {
    let tree = tree(&[b"main/other.rs", b"src/main.rs", b"m/a/i/n/x"]);
    assert_eq!(shown(&tree, "main", &[])[0], "src/main.rs");
    assert_eq!(shown(&tree, "main", &[]).len(), 3);
    assert_eq!(shown(&tree, "src main", &[]), ["src/main.rs"]);
    assert!(shown(&tree, "mainz", &[]).is_empty());
}

#[test]
fn what_begins_a_folder_comes_before_scattered_letters_of_a_name() {
    let tree = tree(&[b"tests/words.rs", b"src/main.rs", b"src/lib.rs", b"docs/user.md"]);
    assert_eq!(shown(&tree, "sr", &[])[..2], ["src/lib.rs", "src/main.rs"]);
    assert_eq!(shown(&tree, "SR", &[])[..2], ["src/lib.rs", "src/main.rs"]);
    assert_eq!(shown(&tree, "words", &[])[0], "tests/words.rs");
}

#[test]
fn a_large_letter_finds_small_ones_too_and_its_like_first() {
    let tree = tree(&[b"Readme", b"docs/People.txt", b"plants.rs", b"readme", b"src/Plan.rs"]);
    assert_eq!(shown(&tree, "readme", &[]).len(), 2);
    assert_eq!(shown(&tree, "README", &[]), ["Readme", "readme"]);
    assert_eq!(shown(&tree, "Pl", &[]), ["src/Plan.rs", "plants.rs", "docs/People.txt"]);
    assert_eq!(shown(&tree, "SRC Plan", &[]), ["src/Plan.rs"]);
}

#[test]
fn of_two_names_that_differ_in_case_alone_the_one_that_was_typed_comes_first() {
    for names in [[b"a/Make", b"b/make"], [b"b/make", b"c/Make"]] {
        let tree = tree(&names.map(|name| &name[..]));
        assert!(shown(&tree, "Make", &[])[0].ends_with("Make"));
    }
}

#[test]
fn among_equals_the_favoured_come_first() {
    let tree = tree(&[b"a/mod.rs", b"b/mod.rs", b"c/mod.rs", b"d"]);
    assert_eq!(shown(&tree, "mod", &["c/mod.rs", "b/mod.rs"])[..2], ["c/mod.rs", "b/mod.rs"]);
    assert_eq!(shown(&tree, "", &["c/mod.rs", "gone"])[0], "c/mod.rs");
    // The better one stays first.
    assert_eq!(shown(&tree, "d", &["c/mod.rs"])[0], "d");
}

#[test]
fn positions_name_the_letters_that_were_looked_for() {
    let tree = tree(&[b"\xc3\xa4/\xff/gr\xc3\xb6\xc3\x9fe.rs"]);
    let letters = |query: &str| -> String {
        let given_up = AtomicBool::new(false);
        let found = search(tree.paths(), query, &PreferredFiles::default(), 1, &given_up).unwrap();
        let shown: Vec<char> = found[0].display_path.chars().collect();
        found[0].positions.iter().map(|position| shown[*position as usize]).collect()
    };
    assert_eq!(letters("größe"), "größe");
    assert_eq!(letters("ärs"), "ärs");
    assert_eq!(letters("gre"), "gre");
}

#[test]
fn a_search_that_is_given_up_finds_nothing() {
    let tree = tree(&[b"a"]);
    assert!(
        search(tree.paths(), "a", &PreferredFiles::default(), 1, &AtomicBool::new(true)).is_none()
    );
}

#[test]
fn all_threads_together_find_what_one_would() {
    let names: Vec<String> =
        (0..ALONE * 2).map(|number| format!("d{}/f{number}.rs", number % 97)).collect();
    let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let tree = tree(&names);
    let wanted = FileQuery::new("f99");
    let (given_up, none) = (AtomicBool::new(false), HashMap::new());
    let paths = tree.paths();
    let mut all = best(paths, 0..paths.len(), &wanted, &none, usize::MAX, &given_up).unwrap();
    all.sort_unstable();
    let all: Vec<_> = all.iter().take(20).map(|rank| paths.get(rank.3).to_owned()).collect();
    let found = search(paths, "f99", &PreferredFiles::default(), 20, &given_up).unwrap();
    assert_eq!(found.into_iter().map(|found| found.path).collect::<Vec<_>>(), all);
}
