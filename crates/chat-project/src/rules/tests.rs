use std::fs;
use std::os::unix::fs::symlink;

use chat_permission::path::PathEnvironment;

use super::*;

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
    (folder, project)
}

fn found(project: &Project, active: &str) -> Vec<(String, String)> {
    let rules = rules(project, Path::new(active));
    rules.files.into_iter().map(|rule| (rule.path.display().to_string(), rule.text)).collect()
}

#[test]
fn the_nearest_stands_last_and_one_name_counts_in_a_folder() {
    let (_folder, project) = project(&[
        ("AGENTS.md", "root"),
        ("CLAUDE.md", "not this"),
        ("a/CLAUDE.md", "a"),
        ("a/.cursorrules", "nor this"),
        ("a/b/.cursorrules", "b"),
        ("a/c/AGENTS.md", "elsewhere"),
        ("a/b/file.rs", ""),
    ]);
    let pair = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let all = [pair("AGENTS.md", "root"), pair("a/CLAUDE.md", "a"), pair("a/b/.cursorrules", "b")];
    assert_eq!(found(&project, "a/b/file.rs"), all);
    assert_eq!(found(&project, "a/b"), all);
    assert_eq!(found(&project, ""), all[..1]);
    // A file that is not there yet has the rules of its place.
    assert_eq!(found(&project, "a/b/new/x.rs"), all);
    assert_eq!(found(&project, "../AGENTS.md"), all[..1]);
}

#[test]
fn what_is_left_out_says_why() {
    let (folder, project) = project(&[
        ("a/AGENTS.md", "a\0b"),
        ("b/x", ""),
        ("c/AGENTS.md/x", ""),
        ("d/CLAUDE.md", "d"),
    ]);
    let outside = tempfile::NamedTempFile::new().unwrap();
    symlink(outside.path(), folder.path().join("b/AGENTS.md")).unwrap();
    symlink("CLAUDE.md", folder.path().join("d/AGENTS.md")).unwrap();
    let left = |active: &str| rules(&project, Path::new(active)).left;
    assert_eq!(left("a/x"), [("a/AGENTS.md".into(), Left::Binary)]);
    assert_eq!(left("b/x"), [("b/AGENTS.md".into(), Left::LeadsOut)]);
    assert_eq!(left("c/x"), [("c/AGENTS.md".into(), Left::Unreadable)]);
    // A link within the project is a file like another.
    assert_eq!(found(&project, "d/x"), [("d/AGENTS.md".to_owned(), "d".to_owned())]);
}

#[test]
fn a_long_file_is_cut_at_a_line_and_all_together_have_a_bound() {
    let long = "0123456789\n".repeat(10_000);
    let (_folder, project) = project(&[
        ("AGENTS.md", &long),
        ("a/AGENTS.md", &long),
        ("a/b/AGENTS.md", &long),
        ("a/b/c/AGENTS.md", &"x".repeat(100_000)),
    ]);
    let rules = rules(&project, Path::new("a/b/c/d"));
    assert!(rules.files.iter().all(|rule| rule.is_cut && rule.text.ends_with("9\n")));
    assert_eq!(rules.files[0].text.len(), 32 * 1024 / 11 * 11);
    assert!(rules.files.iter().map(|rule| rule.text.len() as u64).sum::<u64>() <= ALL);
    assert_eq!(rules.left, [("a/b/c/AGENTS.md".into(), Left::NoRoom)]);
}
