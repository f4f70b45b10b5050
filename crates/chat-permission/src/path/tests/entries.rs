//! Tests directory entries: links that are kept as links, and executable bits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

#[test]
fn an_entry_is_named_by_its_bytes_and_lies_where_it_says() {
    let fixture = Fixture::new();
    let name = Path::new(OsStr::from_bytes(b"~/\xff"));
    let entry = fixture.project.entry(name).unwrap();
    assert_eq!((entry.relative(), entry.kind()), (Some(name), Kind::Missing));
    fixture.project.create(&entry, b"x").unwrap();
    assert_eq!(fs::read(fixture.at("project").join(name)).unwrap(), b"x");
    symlink("src", fixture.at("project/link")).unwrap();
    assert_eq!(fixture.project.entry(Path::new("link")).unwrap().kind(), Kind::Link);
    for other in ["link/main.rs", "../project2/secret", "src/../src", "/etc"] {
        assert!(fixture.project.entry(Path::new(other)).is_err(), "{other}");
    }
    assert!(matches!(fixture.project.entry(Path::new("")), Err(Error::Empty)));
}

#[test]
fn links_are_made_and_read_and_never_over_something() {
    let fixture = Fixture::new();
    let entry = || fixture.project.entry(Path::new("new/link")).unwrap();
    let missing = entry();
    let target = OsStr::from_bytes(b"../\xff");
    fixture.project.create_link(&missing, target).unwrap();
    assert_eq!(fixture.project.read_link(&entry()).unwrap(), target);
    assert!(matches!(fixture.project.create_link(&entry(), target), Err(Error::Exists(_))));
    assert!(matches!(fixture.project.create_link(&missing, target), Err(Error::Changed(_))));
}

#[test]
fn who_may_read_a_program_may_run_it() {
    let fixture = Fixture::new();
    let mode = |name: &str| fs::metadata(fixture.at(name)).unwrap().permissions().mode() & 0o777;
    let entry = |name: &str| fixture.project.entry(Path::new(name)).unwrap();
    fixture.project.create_as(&entry("program"), b"x", 0o777).unwrap();
    assert_eq!(mode("project/program") & 0o100, 0o100);
    // No more than is wanted, and never another user's privileges.
    fixture.project.create_as(&entry("secret"), b"x", 0o4600).unwrap();
    assert_eq!(
        fs::metadata(fixture.at("project/secret")).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    fs::set_permissions(fixture.at("project/program"), fs::Permissions::from_mode(0o640)).unwrap();
    let replaced = |executable| {
        fixture.project.replace_as(&entry("program"), b"y", executable).unwrap();
        mode("project/program")
    };
    assert_eq!([None, Some(true), None, Some(false)].map(replaced), [0o640, 0o750, 0o750, 0o640]);
}

#[test]
fn a_replaced_file_keeps_who_else_may_use_it_and_what_was_noted_of_it() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let fixture = Fixture::new();
    let path = fixture.at("project/shared");
    fs::write(&path, "a").unwrap();
    // Its owner, a user, its group, the maximum for these, and all others: tag, permissions, id.
    let none = u32::MAX;
    let list = [(1_u16, 6_u16, none), (2, 6, 12345), (4, 0, none), (16, 6, none), (32, 0, none)];
    let mut access = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, number) in list {
        access.extend(tag.to_le_bytes());
        access.extend(permissions.to_le_bytes());
        access.extend(number.to_le_bytes());
    }
    let attributes = [("system.posix_acl_access", access), ("user.note", b"mine".to_vec())];
    for (name, value) in &attributes {
        match setxattr(&path, *name, value, XattrFlags::empty()) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP) => {
                eprintln!("This file system has no {name}.");
                return;
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o660, "the group's are the most that the user has");
    fixture.project.replace(&fixture.resolve("shared"), b"b").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "b");
    assert_eq!(mode(), 0o660);
    // The permissions say whether it is executable.
    fixture.project.replace_as(&fixture.resolve("shared"), b"c", Some(true)).unwrap();
    assert_eq!(mode(), 0o770);
    fixture.project.replace_as(&fixture.resolve("shared"), b"c", Some(false)).unwrap();
    assert_eq!(mode(), 0o660);
    for (name, value) in &attributes {
        let mut found = vec![0; 1000];
        let length = getxattr(&path, *name, &mut found[..]).unwrap();
        assert_eq!(&found[..length], value, "{name}");
    }
}
