use std::fs;

use chat_permission::path::{PathEnvironment, Project};
use proptest::prelude::*;

use super::*;

const GOOD: &str = "---\nname: pdf\ndescription: Reads PDF files\n---\n\nUse `pdftotext`.\n";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn project(folder: &tempfile::TempDir) -> Arc<Tree> {
    let root = fs::canonicalize(folder.path()).unwrap();
    Arc::new(Tree::Project(Project::open(&root, &PathEnvironment::default()).unwrap()))
}

fn loaded(tree: &Arc<Tree>) -> Skill {
    let (skill, found) =
        load(tree, Path::new("pdf"), &mut WatchList::default(), &mut LARGEST_FOLDER.clone())
            .unwrap();
    assert_eq!(found, []);
    skill.unwrap()
}

fn problems(text: &str) -> Vec<(Option<usize>, ProblemKind)> {
    let (skill, found) = parse("pdf", text, Place::imagined());
    assert_eq!(skill.is_none(), has_error(&found));
    found.into_iter().map(|found| (found.line, found.kind)).collect()
}

#[test]
fn a_skill_is_read_and_its_text_on_demand() {
    let folder = folder(&[
        ("pdf/SKILL.md", GOOD),
        ("pdf/scripts/run.sh", "x"),
        ("pdf/a.txt", ""),
        ("other/x", ""),
    ]);
    for tree in [Arc::new(Tree::User(folder.path().to_owned())), project(&folder)] {
        let skill = loaded(&tree);
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("pdf", "Reads PDF files"));
        assert_eq!(skill.files, [Path::new("a.txt"), Path::new("scripts/run.sh")]);
        assert_eq!(skill.read_body().unwrap(), "Use `pdftotext`.");
        let read = |file: &str| skill.read_file(Path::new(file)).unwrap();
        assert_eq!(read("scripts/run.sh").as_deref(), Some("x"));
        assert_eq!(read("../other/x"), None);
        assert!(skill.is_listed && skill.folder().ends_with("pdf"));
        assert!(
            load(&tree, Path::new("other"), &mut WatchList::default(), &mut LARGEST_FOLDER.clone())
                .is_none()
        );
    }
}

#[test]
fn all_keys_of_the_format_are_known() {
    let text = "---\nname: pdf\ndescription: |\n  Reads\n  PDF\nlicense: MIT\ncompatibility: Linux\n\
                metadata:\n  author: me\nallowed-tools: Bash(git add:*, x) Read\ndisable-model-invocation: true\n---\n";
    let (skill, found) = parse("pdf", text, Place::imagined());
    assert_eq!(found, []);
    let skill = skill.unwrap();
    assert_eq!(skill.description, "Reads PDF");
    assert_eq!(skill.license.as_deref(), Some("MIT"));
    assert_eq!(skill.compatibility.as_deref(), Some("Linux"));
    assert_eq!(skill.metadata["author"], "me");
    assert_eq!(skill.allowed_tools, ["Bash(git add:*, x)", "Read"]);
    assert!(!skill.is_listed);
}

#[test]
fn name_and_description_are_required_and_checked() {
    let missing = |key| ProblemKind::Missing { key };
    assert_eq!(problems("Hello"), [(Some(1), missing("name")), (Some(1), missing("description"))]);
    assert_eq!(
        problems("---\nname:\ndescription: \"\"\n---\n"),
        [(Some(2), missing("name")), (Some(3), missing("description"))]
    );
    let long = format!("---\nname: pdf\ndescription: {}\n---\n", "é".repeat(1_025));
    let too_long = ProblemKind::TooLong { key: "description", limit: 1_024 };
    assert_eq!(problems(&long), [(Some(3), too_long)]);
    assert_eq!(problems(&long.replacen('é', "", 1)), []);
    for name in ["PDF", "a_b", "p\u{e4}f"] {
        let text = format!("---\nname: {name}\ndescription: x\n---\n");
        let kind = ProblemKind::InvalidName { name: name.to_owned() };
        assert_eq!(problems(&text), [(Some(2), kind)]);
    }
    let kind = ProblemKind::NameDiffers { name: "doc".to_owned(), folder: "pdf".to_owned() };
    assert_eq!(problems("---\nname: doc\ndescription: x\n---\n"), [(Some(2), kind)]);
}

#[test]
fn a_changed_text_of_a_project_is_not_given() {
    let folder = folder(&[("pdf/SKILL.md", GOOD)]);
    let own = loaded(&Arc::new(Tree::User(folder.path().to_owned())));
    let foreign = loaded(&project(&folder));
    fs::write(folder.path().join("pdf/SKILL.md"), GOOD.replace("Use", "Delete")).unwrap();
    assert_eq!(own.read_body().unwrap(), "Delete `pdftotext`.");
    assert_eq!(foreign.read_body(), Err(ReadError::Changed));
    fs::remove_file(folder.path().join("pdf/SKILL.md")).unwrap();
    assert_eq!(foreign.read_body(), Err(ReadError::Unreadable));
}

#[test]
fn a_changed_file_of_a_project_is_not_given() {
    let folder = folder(&[("pdf/SKILL.md", GOOD), ("pdf/a", "a"), ("pdf/b", "b")]);
    let own = loaded(&Arc::new(Tree::User(folder.path().to_owned())));
    let foreign = loaded(&project(&folder));
    fs::write(folder.path().join("pdf/a"), "c").unwrap();
    let read = |skill: &Skill, file: &str| skill.read_file(Path::new(file));
    assert_eq!(read(&own, "a"), Ok(Some("c".to_owned())));
    assert_eq!(read(&foreign, "a"), Err(ReadError::Changed));
    assert_eq!(read(&foreign, "b"), Ok(Some("b".to_owned())));
    fs::remove_file(folder.path().join("pdf/a")).unwrap();
    assert_eq!(read(&foreign, "a"), Err(ReadError::Unreadable));
}

#[test]
fn a_changed_file_next_to_it_changes_the_hash_in_a_project() {
    let folder = folder(&[("pdf/SKILL.md", GOOD), ("pdf/scripts/run.sh", "x")]);
    let tree = project(&folder);
    let digest = || loaded(&tree).place.digest;
    let first = digest();
    assert_eq!(digest(), first);
    fs::write(folder.path().join("pdf/scripts/run.sh"), "y").unwrap();
    assert_ne!(digest(), first);
    fs::write(folder.path().join("pdf/scripts/run.sh"), "x").unwrap();
    assert_eq!(digest(), first);
    fs::write(folder.path().join("pdf/new"), "").unwrap();
    assert_ne!(digest(), first);
}

#[test]
fn no_link_leads_out_of_a_project() {
    let outside = folder(&[("secret", "s"), ("evil/SKILL.md", GOOD)]);
    let folder = folder(&[("pdf/SKILL.md", GOOD)]);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(outside.path().join(target), folder.path().join(name)).unwrap();
    };
    link("secret", "pdf/secret");
    link("evil", "evil");
    let tree = project(&folder);
    assert_eq!(loaded(&tree).files, [""; 0].map(PathBuf::from));
    let mut watched = WatchList::default();
    let mut left = LARGEST_FOLDER;
    let (skill, found) = load(&tree, Path::new("evil"), &mut watched, &mut left).unwrap();
    assert_eq!((skill, found), (None, vec![Found { line: None, kind: ProblemKind::LeadsOut }]));
    // One's own may lie elsewhere.
    let tree = Arc::new(Tree::User(folder.path().to_owned()));
    let (_, found) = load(&tree, Path::new("evil"), &mut watched, &mut left).unwrap();
    assert!(matches!(found[0].kind, ProblemKind::NameDiffers { .. }));
}

#[test]
fn a_link_to_a_folder_is_no_file() {
    let folder = folder(&[("pdf/SKILL.md", GOOD), ("pdf/a/b", "")]);
    std::os::unix::fs::symlink("..", folder.path().join("pdf/a/up")).unwrap();
    std::os::unix::fs::symlink("b", folder.path().join("pdf/a/c")).unwrap();
    for tree in [Arc::new(Tree::User(folder.path().to_owned())), project(&folder)] {
        assert_eq!(loaded(&tree).files, [Path::new("a/b"), Path::new("a/c")]);
    }
}

#[test]
fn no_file_of_a_skill_lies_elsewhere() {
    let folder = folder(&[("pdf/SKILL.md", GOOD), ("pdf/a", "a"), ("key", "k"), ("pdf-2/b", "b")]);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    };
    link("../key", "pdf/notes.txt");
    link("../pdf-2/b", "pdf/b");
    for tree in [Arc::new(Tree::User(folder.path().to_owned())), project(&folder)] {
        let skill = loaded(&tree);
        assert_eq!(skill.files, [Path::new("a")]);
        assert_eq!(skill.read_file(Path::new("notes.txt")), Ok(None));
        assert_eq!(skill.read_file(Path::new("a")), Ok(Some("a".to_owned())));
        // Nor does one that becomes a link later.
        fs::remove_file(folder.path().join("pdf/a")).unwrap();
        link("../key", "pdf/a");
        assert_eq!(skill.read_file(Path::new("a")), Err(ReadError::Unreadable));
        fs::remove_file(folder.path().join("pdf/a")).unwrap();
        fs::write(folder.path().join("pdf/a"), "a").unwrap();
    }
}

#[test]
fn a_skill_in_a_linked_folder_has_its_files() {
    let folder = folder(&[("shared/pdf/SKILL.md", GOOD), ("shared/pdf/a", "a")]);
    std::os::unix::fs::symlink("shared/pdf", folder.path().join("pdf")).unwrap();
    for tree in [Arc::new(Tree::User(folder.path().to_owned())), project(&folder)] {
        let skill = loaded(&tree);
        assert_eq!(skill.files, [Path::new("a")]);
        assert_eq!(skill.read_file(Path::new("a")), Ok(Some("a".to_owned())));
    }
}

#[test]
fn secrets_of_a_project_are_no_files_of_its_skills() {
    let folder = folder(&[("pdf/SKILL.md", GOOD), ("pdf/.env", "KEY=1"), ("pdf/a", "a")]);
    std::os::unix::fs::symlink(".env", folder.path().join("pdf/b")).unwrap();
    let foreign = loaded(&project(&folder));
    assert_eq!(foreign.files, [Path::new("a")]);
    assert_eq!(foreign.read_file(Path::new(".env")), Ok(None));
    let own = loaded(&Arc::new(Tree::User(folder.path().to_owned())));
    assert_eq!(own.files, [Path::new(".env"), Path::new("a"), Path::new("b")]);
}

#[test]
fn a_skill_without_bounds_is_refused_in_a_project() {
    let folder = folder(&[("pdf/SKILL.md", GOOD)]);
    for number in 0..300 {
        fs::write(folder.path().join(format!("pdf/{number}")), "").unwrap();
    }
    let (skill, found) = load(
        &project(&folder),
        Path::new("pdf"),
        &mut WatchList::default(),
        &mut LARGEST_FOLDER.clone(),
    )
    .unwrap();
    let kind = ProblemKind::TooManyFiles { limit: MOST_FILES };
    assert_eq!((skill, found), (None, vec![Found { line: None, kind }]));
    assert_eq!(loaded(&Arc::new(Tree::User(folder.path().to_owned()))).files.len(), MOST_FILES);
}

#[test]
fn not_more_is_hashed_than_allowed() {
    let folder = folder(&[("pdf/SKILL.md", GOOD), ("pdf/a", "1234"), ("pdf/b", "5678")]);
    let of = |tree: &Arc<Tree>, mut left: u64| {
        let loaded = load(tree, Path::new("pdf"), &mut WatchList::default(), &mut left);
        (loaded.unwrap().0.is_some(), left)
    };
    let tree = project(&folder);
    assert_eq!(of(&tree, 9), (true, 1));
    assert_eq!(of(&tree, 8), (true, 0));
    assert!(!of(&tree, 7).0);
    assert_eq!(of(&Arc::new(Tree::User(folder.path().to_owned())), 7), (true, 7));
}

proptest! {
    #[test]
    fn no_text_panics(folder in any::<String>(), text in any::<String>()) {
        let _ = parse(&folder, &text, Place::imagined());
        let _ = split_tools(&text);
    }
}
