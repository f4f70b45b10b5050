//! Models are moved in from another disk, a real one: nothing is lost where that fails.

use std::path::{Path, PathBuf};
use std::process::Command;

use chat_core::error::Kind;
use chat_core::models::Library;
use chat_gguf::write::Writer;

use crate::another;

const MEGABYTE: u64 = 1 << 20;

#[test]
fn a_model_comes_from_another_disk_or_stays_there() {
    let folder = tempfile::tempdir().unwrap();
    another::run_on_small_disk("models::moving::to_a_small_disk", 64, folder.path());
}

#[test]
fn a_model_is_taken_from_a_disk_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    another::run_on_small_disk("models::moving::from_a_read_only_disk", 8, folder.path());
}

/// A model in two files of so many bytes each.
fn parts(folder: &Path, size: u64) -> [PathBuf; 2] {
    let path = |n| folder.join(format!("Big-Q8_0-{n:05}-of-00002.gguf"));
    let first = Writer::tiny("Big", size).number("split.count", 2);
    let second = Writer::new().tensor("more", &[size / 4], 0);
    std::fs::write(path(1), first.bytes()).unwrap();
    std::fs::write(path(2), second.bytes()).unwrap();
    [path(1), path(2)]
}

/// What lies among the models, but for the list and its lock.
fn models_in(library: &Library) -> Vec<String> {
    let entries = std::fs::read_dir(library.folder()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with("index.")).collect()
}

#[test]
#[ignore = "run by the test above, on a small disk"]
fn to_a_small_disk() {
    let library = Library::open(another::folder().join("models"));
    let elsewhere = tempfile::tempdir().unwrap();
    let too_large = parts(elsewhere.path(), 40 * MEGABYTE);
    let refused = library.take_in(&too_large[0]).unwrap_err().kind;
    assert!(
        matches!(refused, Kind::DiskTooSmall { needed, free } if needed > 80 * MEGABYTE && free <= 64 * MEGABYTE),
        "{refused:?}"
    );
    assert!(too_large.iter().all(|path| path.metadata().unwrap().len() > 40 * MEGABYTE));
    assert_eq!((library.list().unwrap(), models_in(&library)), (Vec::new(), Vec::new()));

    let small = parts(elsewhere.path(), 4 * MEGABYTE);
    let moved = library.take_in(&small[1]).unwrap();
    assert!(small.iter().all(|path| !path.exists()));
    assert_eq!(library.list().unwrap(), std::slice::from_ref(&moved));
    assert_eq!(models_in(&library), ["big"]);
    library.remove("big").unwrap();
    a_full_disk_costs_no_model(&library);
    assert_eq!(models_in(&library), Vec::<String>::new());
}

/// There is no room even for the list: what lies on the same disk stays where it is.
fn a_full_disk_costs_no_model(library: &Library) {
    let folder = another::folder();
    let file = folder.join("tiny.gguf");
    std::fs::write(&file, Writer::tiny("Tiny", MEGABYTE).bytes()).unwrap();
    let rest = folder.join("rest");
    let full = std::fs::write(&rest, vec![0; 70 * MEGABYTE as usize]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(library.take_in(&file).unwrap_err().kind, Kind::DiskFull);
    assert!(file.exists() && library.list().unwrap().is_empty());
    assert_eq!(models_in(library), Vec::<String>::new());
    std::fs::remove_file(rest).unwrap();
    let moved = library.take_in(&file).unwrap();
    assert!(!file.exists() && moved.path.exists());
    library.remove(&moved.name).unwrap();
}

#[test]
#[ignore = "run by the test above, on a small disk"]
fn from_a_read_only_disk() {
    let folder = another::folder();
    let file = folder.join("tiny.gguf");
    std::fs::write(&file, Writer::tiny("Tiny", MEGABYTE).bytes()).unwrap();
    let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&folder).status().unwrap();
    assert!(mounted.success());
    let here = tempfile::tempdir().unwrap();
    let library = Library::open(here.path().join("models"));
    let taken = library.take_in(&file).unwrap();
    assert!(taken.owned && file.exists());
    assert_eq!(library.list().unwrap(), [taken]);
    assert_eq!(models_in(&library), ["tiny"]);
}
