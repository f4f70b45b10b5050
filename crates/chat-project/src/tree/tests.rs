use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chat_permission::path::{PathEnvironment, Project};
use proptest::prelude::*;

use super::*;

fn project(files: &[&str]) -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
    (folder, project)
}

fn walked(project: &Project) -> Tree {
    walk(project, &AtomicBool::new(false), |_| {}).unwrap().unwrap()
}

fn names(folder: &Folder) -> Vec<String> {
    folder.entries().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
}

#[test]
fn folders_stand_first_and_large_letters_as_small_ones() {
    let (_folder, project) =
        project(&["b", "A", "Z/x", "a", ".hidden", "y/.git/HEAD", "y/z", ".gitignore"]);
    let tree = walked(&project);
    assert_eq!(names(tree.root()), ["y", "Z", ".gitignore", ".hidden", "A", "a", "b"]);
    assert_eq!(names(tree.folder(Path::new("y")).unwrap()), ["z"]);
    assert_eq!((tree.root().files(), tree.root().folders()), (7, 2));
    assert_eq!(tree.kind(Path::new("Z/x")), Some(Kind::File));
    assert_eq!(tree.kind(Path::new("Z/X")), None);
    assert_eq!(tree.kind(Path::new("")), Some(Kind::Folder));
}

#[test]
fn places_that_are_kept_free_for_a_command_are_not_shown() {
    let (folder, project) = project(&["a", ".natter/mine", "b/.natter/theirs"]);
    let marked = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o1755)).unwrap();
    };
    marked(".mcp.json");
    assert_eq!(names(walked(&project).root()), [".natter", "b", "a"]);
    fs::remove_dir_all(folder.path().join(".natter")).unwrap();
    marked(".natter");
    marked("marked");
    assert_eq!(names(walked(&project).root()), ["b", "marked", "a"]);
}

#[test]
fn a_link_is_shown_and_never_followed() {
    let (folder, project) = project(&["a/b"]);
    symlink("..", folder.path().join("a/loop")).unwrap();
    symlink("/etc", folder.path().join("out")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    let tree = walked(&project);
    assert_eq!(names(tree.root()), ["a", "dangling", "out"]);
    assert_eq!(tree.kind(Path::new("out")), Some(Kind::Link));
    assert!(tree.folder(Path::new("out")).is_none());
    assert_eq!(tree.kind(Path::new("a/loop")), Some(Kind::Link));
}

#[test]
fn any_name_is_a_name() {
    let (folder, project) = project(&["a\nb", "~", " ", "-x", "*"]);
    let odd = OsString::from_vec(b"\xff\xfe".to_vec());
    fs::create_dir(folder.path().join(&odd)).unwrap();
    fs::write(folder.path().join(&odd).join("in"), "").unwrap();
    // A pipe is nothing that could be opened.
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let tree = walked(&project);
    assert_eq!(tree.root().len(), 6);
    assert!(tree.folder(Path::new(&odd)).is_some());
    assert_eq!(tree.kind(&Path::new(&odd).join("in")), Some(Kind::File));
    let paths: Vec<_> = (0..tree.paths().len()).map(|place| tree.paths().get(place)).collect();
    assert!(paths.contains(&Path::new(&odd).join("in").as_path()));
    assert!(paths.contains(&Path::new("a\nb")));
}

#[test]
fn what_is_too_deep_is_cut_and_says_so() {
    let (folder, project) = project(&[]);
    let deep: PathBuf = std::iter::repeat_n("d", 200).collect();
    fs::create_dir_all(folder.path().join(deep)).unwrap();
    let tree = walked(&project);
    let mut at = Arc::clone(tree.root());
    while let Some(below) = at.get(0).and_then(|entry| entry.folder.cloned()) {
        at = below;
    }
    assert_eq!(at.state(), State::Cut);
    assert_eq!(tree.root().folders(), 128);
}

#[test]
fn a_walk_that_is_given_up_has_no_tree() {
    let (_folder, project) = project(&["a/b"]);
    assert!(walk(&project, &AtomicBool::new(true), |_| {}).unwrap().is_none());
}

#[test]
fn the_beginning_is_told_before_the_rest() {
    let (_folder, project) = project(&["a/b", "c"]);
    let mut begun = None;
    walk(&project, &AtomicBool::new(false), |tree| begun = Some(tree)).unwrap();
    let begun = begun.unwrap();
    assert_eq!(names(begun.root()), ["a", "c"]);
    assert_eq!(begun.folder(Path::new("a")).unwrap().state(), State::Ahead);
}

#[test]
fn a_refreshed_tree_shares_what_stayed() {
    let (folder, project) = project(&["a/x", "b/y", "b/c/z"]);
    let old = walked(&project);
    fs::write(folder.path().join("b/new"), "").unwrap();
    let changed =
        BTreeMap::from([(PathBuf::from("b"), Depth::Itself), ("gone".into(), Depth::Below)]);
    let new = refreshed(&old, &project, &changed, &AtomicBool::new(false));
    assert_eq!(names(new.folder(Path::new("b")).unwrap()), ["c", "new", "y"]);
    let same = |path: &str| {
        let of = |tree: &Tree| Arc::clone(tree.folder(Path::new(path)).unwrap());
        Arc::ptr_eq(&of(&old), &of(&new))
    };
    assert!(same("a") && same("b/c") && !same("b"));
    assert_eq!(new.root().files(), 4);
}

#[test]
fn a_folder_that_became_a_link_is_not_looked_into() {
    let (folder, project) = project(&["a/x", "b/y"]);
    let old = walked(&project);
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    symlink("b", folder.path().join("a")).unwrap();
    let again = |path: &str| {
        let changed = BTreeMap::from([(PathBuf::from(path), Depth::Itself)]);
        refreshed(&old, &project, &changed, &AtomicBool::new(false))
    };
    assert_eq!(names(again("a").folder(Path::new("a")).unwrap()), ["x"]);
    assert_eq!(again("").kind(Path::new("a")), Some(Kind::Link));
}

proptest! {
    #[test]
    fn each_name_is_found_at_its_place(
        given in proptest::collection::btree_map("[aAbBäÄ_.]{1,4}", any::<bool>(), 0..20)
    ) {
        let entries = given.iter().map(|(name, is_folder)| {
            let kind = if *is_folder { Kind::Folder } else { Kind::File };
            (name, kind, is_folder.then(|| Folder::unknown(State::Listed)))
        });
        let folder = Folder::new(entries.collect(), Stamp::default(), State::Listed);
        prop_assert_eq!(folder.len(), given.len());
        for (name, is_folder) in &given {
            let entry = folder.get(folder.position(name.as_ref()).unwrap()).unwrap();
            prop_assert_eq!(entry.name, name.as_str());
            prop_assert_eq!(entry.folder.is_some(), *is_folder);
        }
        prop_assert_eq!(folder.position("nothing".as_ref()), None);
        let folders = given.values().filter(|is_folder| **is_folder).count();
        prop_assert!(folder.entries().take(folders).all(|entry| entry.kind == Kind::Folder));
    }
}
