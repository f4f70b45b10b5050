//! What is swapped between check and use. Each attempt has its control: by its name the path would have reached
//! what was swapped in.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::super::open::{open_beneath, open_by_steps};
use super::*;

/// Replaces what lies at `name` by a link to `target`.
fn swap(place: &Place, name: &str, target: &str) {
    fs::rename(place.at(name), place.at("aside")).unwrap();
    symlink(place.at(target), place.at(name)).unwrap();
}

#[test]
fn a_file_that_became_a_link_is_not_read() {
    let place = Place::new();
    let judged = place.resolve("src/main.rs");
    swap(&place, "project/src/main.rs", "project2/secret");
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "project2/secret", "the control");
    let error = place.project.open_file(&judged).unwrap_err();
    assert!(matches!(error, Error::Changed(_)), "{error}");
    let error = place.project.replace(&judged, b"x").unwrap_err();
    assert!(matches!(error, Error::Changed(_)), "{error}");
    assert!(matches!(place.project.remove(&judged), Err(Error::Changed(_))));
    let moved = place.project.rename(&judged, &place.resolve("new/deep/moved"));
    assert!(matches!(moved, Err(Error::Changed(_))));
    assert!(!place.at("project/new").exists(), "nothing is made for it");
    assert_eq!(fs::read_to_string(place.at("project2/secret")).unwrap(), "project2/secret");
}

#[test]
fn a_folder_on_the_way_that_became_a_link_is_not_passed() {
    let place = Place::new();
    fs::write(place.at("project2/main.rs"), "outside").unwrap();
    let judged = place.resolve("src/main.rs");
    let new = place.resolve("src/new");
    let folder = place.resolve("src");
    swap(&place, "project/src", "project2");
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "outside", "the control");
    for error in [
        place.project.open_file(&judged).unwrap_err(),
        place.project.open_folder(&folder).unwrap_err(),
        place.project.replace(&judged, b"x").unwrap_err(),
        place.project.create(&new, b"x").unwrap_err(),
        place.project.remove(&judged).unwrap_err(),
        place.project.rename(&judged, &place.resolve("moved")).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Changed(_)), "{error}");
    }
    assert_eq!(fs::read_to_string(place.at("project2/main.rs")).unwrap(), "outside");
    assert!(!place.at("project2/new").exists());
    fs::write(new.real(), "").unwrap();
    assert!(place.at("project2/new").exists(), "the control");
}

#[test]
fn a_missing_folder_that_became_a_link_is_not_passed() {
    let place = Place::new();
    let new = place.resolve("made/deep/file");
    fs::create_dir(place.at("project2/deep")).unwrap();
    symlink(place.at("project2"), place.at("project/made")).unwrap();
    assert!(matches!(place.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(!place.at("project2/deep/file").exists());
    fs::write(new.real(), "").unwrap();
    assert!(place.at("project2/deep/file").exists(), "the control");
    // One that is missing beyond the link.
    let new = place.resolve_missing("other/a/b");
    symlink(place.at("project2"), place.at("project/other")).unwrap();
    assert!(matches!(place.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(!place.at("project2/a").exists());
}

impl Place {
    fn resolve_missing(&self, given: &str) -> ResolvedPath {
        let found = self.resolve(given);
        assert_eq!(found.kind(), Kind::Missing);
        found
    }
}

#[test]
fn a_file_that_was_replaced_is_not_read() {
    let place = Place::new();
    let judged = place.resolve("src/main.rs");
    fs::rename(place.at("project/src/main.rs"), place.at("aside")).unwrap();
    fs::hard_link(place.at("project2/secret"), place.at("project/src/main.rs")).unwrap();
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "project2/secret", "the control");
    assert!(matches!(place.project.open_file(&judged), Err(Error::Changed(_))));
    assert!(matches!(place.project.replace(&judged, b"x"), Err(Error::Changed(_))));
    assert!(matches!(place.project.remove(&judged), Err(Error::Changed(_))));
}

#[test]
fn a_file_that_got_another_name_is_not_read() {
    let place = Place::new();
    let judged = place.resolve("src/main.rs");
    fs::hard_link(place.at("project/src/main.rs"), place.at("project2/name")).unwrap();
    assert!(matches!(place.project.open_file(&judged), Err(Error::Changed(_))));
    let judged = place.resolve("src/main.rs");
    assert_eq!(text(place.project.open_file(&judged).unwrap()), "project/src/main.rs");
    place.project.replace(&judged, b"new").unwrap();
    assert_eq!(fs::read_to_string(place.at("project2/name")).unwrap(), "project/src/main.rs");
}

#[test]
fn what_came_to_lie_at_a_free_name_stays() {
    let place = Place::new();
    let new = place.resolve("new");
    let from = place.resolve("src/main.rs");
    fs::write(place.at("project/new"), "theirs").unwrap();
    assert!(matches!(place.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(matches!(place.project.rename(&from, &new), Err(Error::Changed(_))));
    assert_eq!(fs::read_to_string(place.at("project/new")).unwrap(), "theirs");
    assert!(place.at("project/src/main.rs").exists());
    fs::remove_file(place.at("project/new")).unwrap();
    symlink(place.at("project2/made"), place.at("project/new")).unwrap();
    assert!(matches!(place.project.create(&new, b"x"), Err(Error::Changed(_))));
    assert!(!place.at("project2/made").exists());
    fs::write(new.real(), "").unwrap();
    assert!(place.at("project2/made").exists(), "the control");
    place.has_nothing_beside("project");
}

#[test]
fn a_link_in_the_place_of_a_file_on_its_way_is_not_written_through() {
    let place = Place::new();
    // More than all tests together take.
    let names = (0..500).map(|count| format!("project/.natter-{}-{count}", std::process::id()));
    for name in names {
        symlink(place.at("project2/secret"), place.at(&name)).unwrap();
    }
    place.project.create(&place.resolve("new"), b"x").unwrap();
    assert_eq!(text(place.project.open_file(&place.resolve("new")).unwrap()), "x");
    assert_eq!(fs::read_to_string(place.at("project2/secret")).unwrap(), "project2/secret");
    let first = format!("project/.natter-{}-0", std::process::id());
    fs::write(place.at(&first), "by its name").unwrap();
    assert_eq!(
        fs::read_to_string(place.at("project2/secret")).unwrap(),
        "by its name",
        "the control"
    );
}

#[test]
fn the_project_stays_the_folder_that_was_opened() {
    let place = Place::new();
    let judged = place.resolve("src/main.rs");
    fs::create_dir_all(place.at("project2/src")).unwrap();
    fs::write(place.at("project2/src/main.rs"), "outside").unwrap();
    swap(&place, "project", "project2");
    assert_eq!(fs::read_to_string(judged.real()).unwrap(), "outside", "the control");
    assert_eq!(text(place.project.open_file(&judged).unwrap()), "project/src/main.rs");
}

#[test]
fn without_the_kernels_help_no_link_is_followed_either() {
    let place = Place::new();
    symlink("src", place.at("project/in")).unwrap();
    symlink("main.rs", place.at("project/src/link")).unwrap();
    let root = fs::File::open(place.at("project")).unwrap();
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
