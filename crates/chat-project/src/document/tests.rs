use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use chat_permission::path::PathEnvironment;
use proptest::prelude::*;

use super::*;

fn project() -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
    (folder, project)
}

fn text(project: &Project, path: &str) -> Document {
    match open(project, Path::new(path), LARGE).unwrap() {
        Opened::Text(document) => document,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_text_or_too_large_is_told() {
    let (folder, project) = project();
    fs::write(folder.path().join("elf"), b"\x7fELF\x02\x01\0").unwrap();
    let opened = open(&project, Path::new("elf"), LARGE).unwrap();
    assert!(matches!(opened, Opened::Binary("an ELF program or library")), "{opened:?}");
    assert!(matches!(open(&project, Path::new("elf"), 6).unwrap(), Opened::TooLarge(7)));
    assert!(matches!(open(&project, Path::new("elf"), 7).unwrap(), Opened::Binary(_)));
    assert!(matches!(open(&project, Path::new("."), 7), Err(Refused::Path(_))));
    assert!(matches!(open(&project, Path::new("none"), 7), Err(Refused::Path(_))));
}

#[test]
fn encoding_line_ends_and_permissions_are_kept() {
    let (folder, project) = project();
    let path = folder.path().join("a");
    fs::write(&path, b"\xff\xfea\0\r\0\n\0b\0").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let read = text(&project, "a");
    assert_eq!((read.text.as_str(), read.format.endings), ("a\nb", Endings::CrLf));
    let stamp = save(&project, Path::new("a"), "a\nc\n", read.format, Some(&read.stamp)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfea\0\r\0\n\0c\0\r\0\n\0");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
    assert!(!is_changed(&project, Path::new("a"), &stamp));
    assert!(is_changed(&project, Path::new("a"), &read.stamp));
}

#[test]
fn what_changed_on_disk_is_not_overwritten() {
    let (folder, project) = project();
    let path = folder.path().join("a");
    let write = |contents: &str, age: u64| {
        fs::write(&path, contents).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    };
    let save = |document: &Document| {
        save(&project, Path::new("a"), "mine", document.format, Some(&document.stamp))
    };
    // Of the same length, and in the same moment as far as the time tells.
    write("one", 0);
    let read = text(&project, "a");
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "two").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
    assert!(matches!(save(&read), Err(Refused::Changed)));
    assert_eq!(fs::read(&path).unwrap(), b"two");
    // Longer ago, with another time.
    write("one", 90);
    let read = text(&project, "a");
    write("two", 60);
    assert!(matches!(save(&read), Err(Refused::Changed)));
    // Gone, and not made again.
    fs::remove_file(&path).unwrap();
    assert!(is_changed(&project, Path::new("a"), &read.stamp));
    assert!(matches!(save(&read), Err(Refused::Changed)));
    assert!(!path.exists());
}

#[test]
fn a_file_that_was_only_touched_is_the_same() {
    let (folder, project) = project();
    let path = folder.path().join("a");
    fs::write(&path, "one").unwrap();
    let read = text(&project, "a");
    // As git does it: another file with the same contents.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "one").unwrap();
    assert!(!is_changed(&project, Path::new("a"), &read.stamp));
    save(&project, Path::new("a"), "two", read.format, Some(&read.stamp)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
}

#[test]
fn nothing_is_written_outside_or_to_several_names_at_once() {
    let (folder, project) = project();
    let outside = tempfile::NamedTempFile::new().unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    assert!(matches!(open(&project, Path::new("out"), LARGE), Err(Refused::Outside)));
    let format = Format { encoding: Encoding::Latin1, endings: Endings::Lf };
    let new = |path: &str| save(&project, Path::new(path), "a", format, None);
    assert!(matches!(new("out"), Err(Refused::Outside)));
    assert!(matches!(new("../x"), Err(Refused::Outside)));
    assert!(matches!(new(".git/hooks/pre-commit"), Err(Refused::Kept)));
    fs::write(folder.path().join("a"), "a").unwrap();
    assert!(matches!(new("a"), Err(Refused::Changed)), "something came to lie there");
    new("sub/~").unwrap();
    assert_eq!(fs::read(folder.path().join("sub/~")).unwrap(), b"a");
    fs::hard_link(folder.path().join("a"), folder.path().join("b")).unwrap();
    let read = text(&project, "a");
    let saved = save(&project, Path::new("a"), "b", read.format, Some(&read.stamp));
    assert!(matches!(saved, Err(Refused::SeveralLinks)));
    let lacks = save(&project, Path::new("new"), "“", format, None);
    assert!(matches!(lacks, Err(Refused::Lacks('“'))));
    assert!(!folder.path().join("new").exists());
}

#[test]
fn what_a_person_chose_is_written_over_whatever_was_there() {
    let (folder, project) = project();
    let path = folder.path().join("a");
    fs::write(&path, b"\x7fELF\0").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let format = Format { encoding: Encoding::Utf8, endings: Endings::CrLf };
    let put = |path: &str, text: &str| put(&project, Path::new(path), text, format);
    let stamp = put("a", "one\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\r\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    assert!(!is_changed(&project, Path::new("a"), &stamp));
    put("new/b", "two").unwrap();
    assert_eq!(fs::read(folder.path().join("new/b")).unwrap(), b"two");
    // What other names would keep, what is no file, and what lies outside is left alone.
    fs::hard_link(&path, folder.path().join("c")).unwrap();
    assert!(matches!(put("a", "x"), Err(Refused::SeveralLinks)));
    assert!(matches!(put("new", "x"), Err(Refused::Path(_))));
    assert!(matches!(put("../x", "x"), Err(Refused::Outside)));
    assert!(matches!(put(".git/config", "x"), Err(Refused::Kept)));
    assert_eq!(fs::read(&path).unwrap(), b"one\r\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_was_opened_is_saved_byte_for_byte(
        bytes in proptest::collection::vec(
            prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'a'), any::<u8>()], 0..24)
    ) {
        let (folder, project) = project();
        let path = folder.path().join("a");
        fs::write(&path, &bytes).unwrap();
        if let Opened::Text(read) = open(&project, Path::new("a"), LARGE).unwrap() {
            save(&project, Path::new("a"), &read.text, read.format, Some(&read.stamp)).unwrap();
            prop_assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }
}
