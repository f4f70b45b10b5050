//! Tests files that are swapped between check and use. Each attempt has a control: by its name, the
//! path would have reached what was swapped in.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::super::open::{open_beneath, open_by_steps};
use super::*;

/// Replaces what is at `name` by a link to `target`.
fn swap(fixture: &Fixture, name: &str, target: &str) {
    fs::rename(fixture.at(name), fixture.at("aside")).unwrap();
    symlink(fixture.at(target), fixture.at(name)).unwrap();
}

#[test]
fn a_file_that_became_a_link_is_not_read() {
    let fixture = Fixture::new();
    let judged = fixture.resolve("src/main.rs");
    swap(&fixture, "project/src/main.rs", "project2/secret");
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "project2/secret", "the control");
    let error = fixture.project.open_file(&judged).unwrap_err();
    assert!(matches!(error, Error::Changed(_)), "{error}");
    let error = fixture.project.replace(&judged, b"x").unwrap_err();
    assert!(matches!(error, Error::Changed(_)), "{error}");
    assert!(matches!(fixture.project.remove(&judged), Err(Error::Changed(_))));
    let moved = fixture.project.rename(&judged, &fixture.resolve("new/deep/moved"));
    assert!(matches!(moved, Err(Error::Changed(_))));
    assert!(!fixture.at("project/new").exists(), "nothing is made for it");
    assert_eq!(fs::read_to_string(fixture.at("project2/secret")).unwrap(), "project2/secret");
}

#[test]
fn a_folder_on_the_way_that_became_a_link_is_not_passed() {
    let fixture = Fixture::new();
    fs::write(fixture.at("project2/main.rs"), "outside").unwrap();
    let judged = fixture.resolve("src/main.rs");
    let new = fixture.resolve("src/new");
    let folder = fixture.resolve("src");
    swap(&fixture, "project/src", "project2");
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "outside", "the control");
    for error in [
        fixture.project.open_file(&judged).unwrap_err(),
        fixture.project.open_folder(&folder).unwrap_err(),
        fixture.project.replace(&judged, b"x").unwrap_err(),
        fixture.project.create(&new, b"x").unwrap_err(),
        fixture.project.remove(&judged).unwrap_err(),
        fixture.project.rename(&judged, &fixture.resolve("moved")).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Changed(_)), "{error}");
    }
    assert_eq!(fs::read_to_string(fixture.at("project2/main.rs")).unwrap(), "outside");
    assert!(!fixture.at("project2/new").exists());
    fs::write(new.real(), "").unwrap();
    assert!(fixture.at("project2/new").exists(), "the control");
}

#[test]
fn a_missing_folder_that_became_a_link_is_not_passed() {
    let fixture = Fixture::new();
    let new = fixture.resolve("made/deep/file");
    fs::create_dir(fixture.at("project2/deep")).unwrap();
    symlink(fixture.at("project2"), fixture.at("project/made")).unwrap();
    assert!(matches!(fixture.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(!fixture.at("project2/deep/file").exists());
    fs::write(new.real(), "").unwrap();
    assert!(fixture.at("project2/deep/file").exists(), "the control");
    // One that is missing behind the link.
    let new = fixture.resolve_missing("other/a/b");
    symlink(fixture.at("project2"), fixture.at("project/other")).unwrap();
    assert!(matches!(fixture.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(!fixture.at("project2/a").exists());
}

impl Fixture {
    fn resolve_missing(&self, given: &str) -> ResolvedPath {
        let found = self.resolve(given);
        assert_eq!(found.kind(), Kind::Missing);
        found
    }
}

#[test]
fn a_file_that_was_replaced_is_not_read() {
    let fixture = Fixture::new();
    let judged = fixture.resolve("src/main.rs");
    fs::rename(fixture.at("project/src/main.rs"), fixture.at("aside")).unwrap();
    fs::hard_link(fixture.at("project2/secret"), fixture.at("project/src/main.rs")).unwrap();
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "project2/secret", "the control");
    assert!(matches!(fixture.project.open_file(&judged), Err(Error::Changed(_))));
    assert!(matches!(fixture.project.replace(&judged, b"x"), Err(Error::Changed(_))));
    assert!(matches!(fixture.project.remove(&judged), Err(Error::Changed(_))));
}

#[test]
fn a_file_that_got_another_name_is_not_read() {
    let fixture = Fixture::new();
    let judged = fixture.resolve("src/main.rs");
    fs::hard_link(fixture.at("project/src/main.rs"), fixture.at("project2/name")).unwrap();
    assert!(matches!(fixture.project.open_file(&judged), Err(Error::Changed(_))));
    let judged = fixture.resolve("src/main.rs");
    assert_eq!(text(fixture.project.open_file(&judged).unwrap()), "project/src/main.rs");
    fixture.project.replace(&judged, b"new").unwrap();
    assert_eq!(fs::read_to_string(fixture.at("project2/name")).unwrap(), "project/src/main.rs");
}

#[test]
fn what_came_to_lie_at_a_free_name_stays() {
    let fixture = Fixture::new();
    let new = fixture.resolve("new");
    let from = fixture.resolve("src/main.rs");
    fs::write(fixture.at("project/new"), "theirs").unwrap();
    assert!(matches!(fixture.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(matches!(fixture.project.rename(&from, &new), Err(Error::Changed(_))));
    assert_eq!(fs::read_to_string(fixture.at("project/new")).unwrap(), "theirs");
    assert!(fixture.at("project/src/main.rs").exists());
    fs::remove_file(fixture.at("project/new")).unwrap();
    symlink(fixture.at("project2/made"), fixture.at("project/new")).unwrap();
    assert!(matches!(fixture.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(!fixture.at("project2/made").exists());
    fs::write(new.real(), "").unwrap();
    assert!(fixture.at("project2/made").exists(), "the control");
    fixture.has_nothing_beside("project");
}

#[test]
fn a_link_in_the_place_of_a_file_on_its_way_is_not_written_through() {
    let fixture = Fixture::new();
    // More than all tests together need.
    let names = (0..500).map(|count| format!("project/.natter-{}-{count}", std::process::id()));
    for name in names {
        symlink(fixture.at("project2/secret"), fixture.at(&name)).unwrap();
    }
    fixture.project.create(&fixture.resolve("new"), b"x").unwrap();
    assert_eq!(text(fixture.project.open_file(&fixture.resolve("new")).unwrap()), "x");
    assert_eq!(fs::read_to_string(fixture.at("project2/secret")).unwrap(), "project2/secret");
    let first = format!("project/.natter-{}-0", std::process::id());
    fs::write(fixture.at(&first), "by its name").unwrap();
    assert_eq!(
        fs::read_to_string(fixture.at("project2/secret")).unwrap(),
        "by its name",
        "the control"
    );
}

#[test]
fn the_project_stays_the_folder_that_was_opened() {
    let fixture = Fixture::new();
    let judged = fixture.resolve("src/main.rs");
    fs::create_dir_all(fixture.at("project2/src")).unwrap();
    fs::write(fixture.at("project2/src/main.rs"), "outside").unwrap();
    swap(&fixture, "project", "project2");
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "outside", "the control");
    assert_eq!(text(fixture.project.open_file(&judged).unwrap()), "project/src/main.rs");
}

#[test]
fn without_the_kernels_help_no_link_is_followed_either() {
    let fixture = Fixture::new();
    symlink("src", fixture.at("project/in")).unwrap();
    symlink("main.rs", fixture.at("project/src/link")).unwrap();
    let root = fs::File::open(fixture.at("project")).unwrap();
    let root = std::os::fd::AsFd::as_fd(&root);
    for open in [open_beneath, open_by_steps] {
        let open = |way: &str| open(root, Path::new(way), OFlags::RDONLY, Mode::empty());
        assert_eq!(text(open("src/main.rs").unwrap().into()), "project/src/main.rs");
        assert!(open(".").is_ok());
        assert!(open("src").is_ok());
        for way in [
            "in/main.rs",
            "src/link",
            "in",
            "../project2/secret",
            "src/../../project2/secret",
            "/etc/hosts",
            "..",
        ] {
            let error = open(way).unwrap_err();
            assert!([Errno::LOOP, Errno::NOTDIR, Errno::XDEV].contains(&error), "{way}: {error}");
        }
        assert_eq!(open("none").unwrap_err(), Errno::NOENT);
    }
    for open in [open_beneath, open_by_steps] {
        let error = open(root, Path::new("."), OFlags::WRONLY, Mode::empty()).unwrap_err();
        assert_eq!(error, Errno::ISDIR, "it is opened as was wished");
    }
}
