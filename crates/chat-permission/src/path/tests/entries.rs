//! Entries by their bytes: links as links, and permissions to run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

#[test]
fn an_entry_is_named_by_its_bytes_and_lies_where_it_says() {
    let place = Place::new();
    let name = Path::new(OsStr::from_bytes(b"~/\xff"));
    let entry = place.project.entry(name).unwrap();
    assert_eq!((entry.relative(), entry.kind()), (Some(name), Kind::Missing));
    place.project.create(&entry, b"x").unwrap();
    assert_eq!(fs::read(place.at("project").join(name)).unwrap(), b"x");
    symlink("src", place.at("project/link")).unwrap();
    assert_eq!(place.project.entry(Path::new("link")).unwrap().kind(), Kind::Link);
    for other in ["link/main.rs", "../project2/secret", "src/../src", "/etc"] {
        assert!(place.project.entry(Path::new(other)).is_err(), "{other}");
    }
    assert!(matches!(place.project.entry(Path::new("")), Err(Error::Empty)));
}

#[test]
fn links_are_made_and_read_and_never_over_something() {
    let place = Place::new();
    let entry = || place.project.entry(Path::new("new/link")).unwrap();
    let missing = entry();
    let target = OsStr::from_bytes(b"../\xff");
    place.project.create_link(&missing, target).unwrap();
    assert_eq!(place.project.read_link(&entry()).unwrap(), target);
    assert!(matches!(place.project.create_link(&entry(), target), Err(Error::Exists(_))));
    assert!(matches!(place.project.create_link(&missing, target), Err(Error::Changed(_))));
}

#[test]
fn who_may_read_a_program_may_run_it() {
    let place = Place::new();
    let mode = |name: &str| fs::metadata(place.at(name)).unwrap().permissions().mode() & 0o777;
    let entry = |name: &str| place.project.entry(Path::new(name)).unwrap();
    place.project.create_as(&entry("program"), b"x", 0o777).unwrap();
    assert_eq!(mode("project/program") & 0o100, 0o100);
    // No more than is wanted, and never another person's powers.
    place.project.create_as(&entry("secret"), b"x", 0o4600).unwrap();
    assert_eq!(
        fs::metadata(place.at("project/secret")).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    fs::set_permissions(place.at("project/program"), fs::Permissions::from_mode(0o640)).unwrap();
    let replaced = |executable| {
        place.project.replace_as(&entry("program"), b"y", executable).unwrap();
        mode("project/program")
    };
    assert_eq!([None, Some(true), None, Some(false)].map(replaced), [0o640, 0o750, 0o750, 0o640]);
}
