//! Models come, are found, and go, with two programs at once and on damaged lists.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::Duration;

use chat_gguf::write::Writer;

use super::*;

/// How long to wait for what must come. Met only where it does not.
const LONG: Duration = Duration::from_secs(20);

struct Place {
    root: tempfile::TempDir,
    library: Library,
}

fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let library = Library::open(root.path().join("models"));
    Place { root, library }
}

impl Place {
    fn file(&self, name: &str) -> PathBuf {
        self.with(name, &Writer::tiny("Tiny", 256).bytes())
    }

    fn with(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.root.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        self.library.list().unwrap().into_iter().map(|model| model.name).collect()
    }
}

#[test]
fn a_file_is_added_where_it_lies_and_left_there() {
    let place = place();
    let path = place.file("Nimble-135M-Instruct.Q4_1.gguf");
    let added = place.library.add(&path).unwrap();
    assert_eq!((added.name.as_str(), &added.path, added.owned), ("nimble-135m", &path, false));
    assert_eq!(added.size, fs::metadata(&path).unwrap().len());
    assert_eq!(added.facts.architecture, "llama");
    assert_eq!(place.library.list().unwrap(), std::slice::from_ref(&added));
    assert_eq!(place.library.find("Nimble-135M").unwrap(), added);
    assert_eq!(place.library.add(&path).unwrap(), added, "it is there already");
    let link = place.root.path().join("link.gguf");
    symlink(&path, &link).unwrap();
    assert_eq!(place.library.add(&link).unwrap(), added, "it is the same file");

    place.library.remove("nimble-135m").unwrap();
    assert!(path.exists() && place.names().is_empty());
    let gone = place.library.find("nimble-135m").unwrap_err().kind;
    assert_eq!(gone, Kind::ModelNotFound { model: "nimble-135m".to_owned() });
    assert_eq!(place.library.remove("x").unwrap_err().kind.name(), "model_not_found");
}

#[test]
fn a_file_taken_in_is_ours_and_goes_with_its_model() {
    let place = place();
    let path = place.file("tiny-q8_0.gguf");
    let model = place.library.take_in(&path).unwrap();
    assert!(!path.exists() && model.owned);
    assert_eq!(model.path, place.library.folder().join("tiny/tiny-q8_0.gguf"));
    assert_eq!(place.library.find("tiny").unwrap(), model);
    let other = place.library.take_in(&place.file("tiny-q4_0.gguf")).unwrap();
    assert_eq!(other.name, "tiny-f32", "the header says how it is quantised");
    place.library.remove("tiny").unwrap();
    assert!(!place.library.folder().join("tiny").exists() && other.path.exists());
}

#[test]
fn a_file_of_the_catalogue_has_its_name_there() {
    let place = place();
    let offer = catalogue::offer("qwen3-4b").unwrap();
    assert_ne!(name::of_file(Path::new(&offer.file)), "qwen3-4b");
    let path = place.file(&offer.file);
    // As long as it is there, and with nothing in it.
    fs::File::options().write(true).open(&path).unwrap().set_len(offer.size).unwrap();
    assert_eq!(place.library.add(&path).unwrap().name, "qwen3-4b");
    // Moved in, it is the same.
    assert_eq!(place.library.take_in(&path).unwrap().name, "qwen3-4b");
}

#[test]
fn what_only_looks_like_a_model_of_the_catalogue_has_another_name_than_that() {
    let place = place();
    let offer = catalogue::offer("qwen3-4b").unwrap();
    let title = |model: &Installed| name::title(&model.name).to_owned();
    let lookalike = place.library.add(&place.file("Qwen3-4B-Q4_K_M.gguf")).unwrap();
    assert_eq!((&*lookalike.name, &*title(&lookalike)), ("qwen3-4b-f32", "qwen3-4b-f32"));
    let same_name = place.library.take_in(&place.file(&offer.file)).unwrap();
    assert_eq!(title(&same_name), same_name.name);
    let elsewhere = place.library.add_as(&place.file("blob"), Some("Qwen3:4B")).unwrap();
    assert_eq!(title(&elsewhere), elsewhere.name);
    // Also where a folder is named so by hand.
    let folder = place.library.folder().join("qwen3-8b");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine.gguf"), Writer::tiny("Mine", 64).bytes()).unwrap();
    place.library.tidy().unwrap();
    assert!(place.names().contains(&"qwen3-8b-f32".to_owned()), "{:?}", place.names());
    // The real one has its name for itself.
    let files = [place.file("real.gguf")];
    let source = Source { repository: offer.repository.clone(), file: offer.file.clone() };
    let real = place.library.adopt(&files, &[], "qwen3-4b", Some((source, None))).unwrap();
    assert_eq!((&*real.name, &*title(&real)), ("qwen3-4b", &*offer.title));
}

#[test]
fn what_was_listed_under_a_name_of_the_catalogue_gets_another_and_is_found_by_both() {
    let place = place();
    let added = place.library.add(&place.file("Qwen3-4B-Q4_K_M.gguf")).unwrap();
    let ours = place.library.take_in(&place.file("Qwen3-8B-Q4_K_M.gguf")).unwrap();
    let list = place.library.folder().join("index.json");
    // As earlier versions named them.
    let listed = fs::read_to_string(&list).unwrap();
    let listed = listed.replace("\"qwen3-4b-f32\"", "\"qwen3-4b\"");
    fs::write(&list, listed.replace("\"qwen3-8b-f32\"", "\"qwen3-8b\"")).unwrap();
    assert_eq!(place.names(), ["qwen3-4b-f32", "qwen3-8b-f32"]);
    // Chats go on with it, also when the list was written again and the file was moved in.
    assert_eq!(place.library.find("qwen3-4b").unwrap(), added);
    let moved = place.library.take_in(&added.path).unwrap();
    assert_eq!(moved.name, "qwen3-4b-f32");
    assert_eq!(place.library.find("qwen3-4b").unwrap(), moved);
    assert_eq!(place.library.find("qwen3-8b").unwrap(), ours);
    // The real one comes before it.
    let offer = catalogue::offer("qwen3-4b").unwrap();
    let source = Source { repository: offer.repository.clone(), file: offer.file.clone() };
    let files = [place.file("real.gguf")];
    let real = place.library.adopt(&files, &[], "qwen3-4b", Some((source, None))).unwrap();
    assert_eq!(place.library.find("qwen3-4b").unwrap(), real);
}

#[test]
fn what_is_no_model_never_gets_in() {
    let place = place();
    let whole = Writer::tiny("Tiny", 256).bytes();
    let projector = Writer::new().text("general.architecture", "clip").tensor("t", &[4], 0);
    let cut = FileFault::Truncated { expected: whole.len() as u64, found: whole.len() as u64 - 1 };
    for (content, fault) in [
        (&b"<html>404 not found"[..], FileFault::NotGguf),
        (&whole[..whole.len() - 1], cut),
        (&Writer::tiny("T", 64).version(1).bytes(), FileFault::Version),
        (&Writer::new().text("general.architecture", "llama").bytes(), FileFault::Corrupt),
        (&Writer::tiny("T", 64).claiming(None, Some(1 << 60)).bytes(), FileFault::HeaderTooLarge),
        (&projector.bytes(), FileFault::NoModel),
    ] {
        let path = place.with("x.gguf", content);
        for refused in [place.library.add(&path), place.library.take_in(&path)] {
            assert_eq!(refused.unwrap_err().kind, Kind::ModelFile { path: path.clone(), fault });
        }
        assert!(path.exists(), "it is not ours to delete");
    }
    let nowhere = place.root.path().join("nowhere.gguf");
    for missing in [place.library.add(&nowhere), place.library.take_in(&nowhere)] {
        // It never was there: nothing is said of "any more".
        assert_eq!(missing.unwrap_err().kind, Kind::FileNotFound { path: nowhere.clone() });
    }
    assert_eq!(place.library.add(place.root.path()).unwrap_err().kind.name(), "model_file");
    assert!(place.names().is_empty());
}

#[test]
fn a_model_in_several_files_is_one() {
    let place = place();
    let name = |n| format!("big-q4_0-{n:05}-of-00002.gguf");
    let first = place.with(&name(1), &Writer::tiny("Big", 64).number("split.count", 2).bytes());
    let second = place.with(&name(2), &Writer::new().tensor("t", &[64], 0).bytes());
    let added = place.library.add(&second).unwrap();
    assert_eq!((added.name.as_str(), &added.path), ("big", &first));
    assert_eq!(added.facts.parameters, 16 + 64);
    fs::rename(&second, place.root.path().join("away")).unwrap();
    let missing = place.library.find("big").unwrap_err().kind;
    assert_eq!(missing, Kind::ModelFileMissing { path: second.clone() });
    fs::rename(place.root.path().join("away"), &second).unwrap();
    place.library.remove("big").unwrap();

    let own = place.library.take_in(&first).unwrap();
    assert!(!first.exists() && !second.exists());
    assert!(own.path.with_file_name(name(2)).exists());
    place.library.remove("big").unwrap();
    assert_eq!(fs::read_dir(place.library.folder()).unwrap().count(), 2, "list and lock");
}

#[test]
fn a_file_that_changed_or_went_says_so() {
    let place = place();
    let path = place.file("tiny.gguf");
    place.library.add(&path).unwrap();
    fs::write(&path, Writer::tiny("Other", 512).bytes()).unwrap();
    let model = place.library.find("tiny").unwrap();
    assert_eq!(model.facts.title.as_deref(), Some("Other"));
    assert_eq!(model.facts.parameters, 128);
    fs::write(&path, "broken").unwrap();
    assert_eq!(place.library.find("tiny").unwrap_err().kind.name(), "model_file");
    fs::remove_file(&path).unwrap();
    let listed = &place.library.list().unwrap()[0];
    assert_eq!(
        listed.problem.as_ref().map(|problem| &problem.kind),
        Some(&Kind::ModelFileMissing { path: path.clone() })
    );
    place.library.remove("tiny").unwrap();
}

#[test]
fn a_damaged_or_lost_list_costs_no_download() {
    for damage in [Some("{\"version\":1,\"mod"), None] {
        let place = place();
        let own = place.library.take_in(&place.file("tiny.gguf")).unwrap();
        let index = index::path(place.library.folder());
        match damage {
            Some(content) => fs::write(&index, content).unwrap(),
            None => fs::remove_file(&index).unwrap(),
        }
        assert_eq!(place.names(), ["tiny"]);
        place.library.add(&place.file("second.gguf")).unwrap();
        assert_eq!(place.names(), ["second", "tiny"]);
        let found = place.library.find("tiny").unwrap();
        assert_eq!((found.path, found.owned), (own.path, true));
        let kept = fs::read_to_string(place.library.folder().join("index.damaged.json")).ok();
        assert_eq!(kept.as_deref(), damage);
    }
}

#[test]
fn a_folder_that_moves_takes_its_models_along() {
    for old_list in [false, true] {
        let place = place();
        let elsewhere = place.file("elsewhere.gguf");
        place.library.add(&elsewhere).unwrap();
        let own = place.library.take_in(&place.file("tiny.gguf")).unwrap();
        let index = |folder: &Path| fs::read_to_string(index::path(folder)).unwrap();
        let before = place.library.folder().to_owned();
        assert!(index(&before).contains("\"tiny/tiny.gguf\""), "{}", index(&before));
        if old_list {
            let whole = format!("\"{}\"", own.path.display());
            let list = index(&before).replace("\"tiny/tiny.gguf\"", &whole);
            fs::write(index::path(&before), list).unwrap();
        }
        let after = place.root.path().join("moved");
        fs::rename(&before, &after).unwrap();
        let library = Library::open(after.clone());
        let found = library.find("tiny").unwrap();
        assert_eq!((found.path, found.problem), (after.join("tiny/tiny.gguf"), None));
        assert_eq!(library.find("elsewhere").unwrap().path, elsewhere);
        library.remove("elsewhere").unwrap();
        assert!(index(&after).contains("\"tiny/tiny.gguf\""), "{}", index(&after));
        library.remove("tiny").unwrap();
        assert!(!after.join("tiny").exists());
    }
}

#[test]
fn a_list_of_a_newer_version_is_left_alone() {
    let place = place();
    place.library.add(&place.file("tiny.gguf")).unwrap();
    let index = index::path(place.library.folder());
    let newer = "{\"version\":2,\"models\":{}}";
    fs::write(&index, newer).unwrap();
    let refused = [place.library.list().unwrap_err(), place.library.remove("tiny").unwrap_err()];
    assert!(refused.iter().all(|error| error.kind == Kind::ModelStorage), "{refused:?}");
    assert_eq!(fs::read_to_string(index).unwrap(), newer);
}

#[test]
fn a_list_that_lies_deletes_nothing_elsewhere() {
    let place = place();
    let path = place.file("mine.gguf");
    place.library.add(&path).unwrap();
    let index = index::path(place.library.folder());
    let lying = fs::read_to_string(&index).unwrap().replace("\"owned\": false", "\"owned\": true");
    assert!(lying.contains("\"owned\": true"));
    fs::write(&index, lying).unwrap();
    place.library.remove("mine").unwrap();
    assert!(path.exists());
}

#[test]
fn two_who_add_at_once_lose_nothing() {
    let place = place();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let library = Library::open(place.library.folder());
                for n in 0..5 {
                    library.add(&place.file(&format!("model-{thread}{n}.gguf"))).unwrap();
                    library.take_in(&place.file(&format!("own-{thread}{n}.gguf"))).unwrap();
                }
            });
        }
    });
    assert_eq!(place.names().len(), 40);
}

#[tokio::test]
async fn changes_are_heard() {
    let place = place();
    let mut changes = place.library.changes();
    place.library.add(&place.file("tiny.gguf")).unwrap();
    tokio::time::timeout(LONG, changes.next()).await.unwrap();
    let other = Library::open(place.library.folder());
    other.remove("tiny").unwrap();
    tokio::time::timeout(LONG, changes.next()).await.unwrap();
    // What changes no list is no change: there is no event to wait for.
    fs::write(place.library.folder().join("else"), "").unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(300), changes.next()).await.is_err());
}

#[test]
fn of_a_link_the_file_is_moved() {
    let place = place();
    let blob = place.file("blob");
    fs::create_dir(place.root.path().join("snapshot")).unwrap();
    let link = place.root.path().join("snapshot/D-Instruct-Q8_0.gguf");
    symlink("../blob", &link).unwrap();
    let model = place.library.take_in(&link).unwrap();
    assert_eq!(model.path, place.library.folder().join("d/D-Instruct-Q8_0.gguf"));
    assert!(fs::symlink_metadata(&model.path).unwrap().is_file());
    assert!(!blob.exists() && fs::symlink_metadata(&link).is_err());
    assert_eq!(place.library.find("d").unwrap(), model);
    assert_eq!(place.library.take_in(&model.path).unwrap(), model, "it is Natter's own already");
    assert_eq!(place.names(), ["d"]);
}

#[test]
fn what_a_program_left_that_ended_in_the_middle_is_taken_up() {
    let place = place();
    place.library.add(&place.file("first.gguf")).unwrap();
    let lost = place.library.folder().join("lost");
    fs::create_dir(&lost).unwrap();
    fs::rename(place.file("Lost-Q8_0.gguf"), lost.join("Lost-Q8_0.gguf")).unwrap();
    let half = place.library.folder().join(".moving-x");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("half.gguf"), "GGUF").unwrap();
    // Another program is just moving something in.
    let held = place.library.folder().join(".moving-y");
    fs::create_dir(&held).unwrap();
    let other = fs::File::open(&held).unwrap();
    other.lock().unwrap();
    place.library.tidy().unwrap();
    assert_eq!(place.names(), ["first", "lost"]);
    assert!(place.library.find("lost").unwrap().owned);
    assert!(!half.exists() && held.exists());
    place.library.remove("lost").unwrap();
    assert!(!lost.exists());
}

#[test]
fn a_part_that_is_not_sound_is_named() {
    let place = place();
    let name = |n| format!("big-q4_0-{n:05}-of-00002.gguf");
    let first = Writer::tiny("Big", 64).number("split.count", 2).bytes();
    let path = place.with(&name(1), &first);
    let second = place.with(&name(2), b"<html>404 not found");
    let refused = place.library.add(&path).unwrap_err().kind;
    assert_eq!(refused, Kind::ModelFile { path: second, fault: FileFault::NotGguf });
    let alone = place.with("alone.gguf", &first);
    let refused = place.library.add(&alone).unwrap_err().kind;
    assert_eq!(refused, Kind::ModelFile { path: alone, fault: FileFault::Alone });
}

#[test]
fn a_name_that_cannot_be_noted_is_refused_with_its_reason() {
    let place = place();
    let name = std::ffi::OsStr::from_bytes(b"tiny-\xff.gguf");
    let path = place.root.path().join(name);
    fs::write(&path, Writer::tiny("Tiny", 256).bytes()).unwrap();
    for refused in [place.library.add(&path), place.library.take_in(&path)] {
        let kind = refused.unwrap_err().kind;
        assert!(matches!(kind, Kind::ModelFile { fault: FileFault::Name, .. }), "{kind:?}");
    }
    assert!(path.exists() && place.names().is_empty());
}

#[test]
fn a_model_that_is_moved_after_it_was_added_keeps_its_name() {
    let place = place();
    let path = place.file("tiny-q8_0.gguf");
    let added = place.library.add_as(&path, Some("mine")).unwrap();
    let moved = place.library.take_in(&path).unwrap();
    assert_eq!((added.name.as_str(), moved.name.as_str(), moved.owned), ("mine", "mine", true));
    assert_eq!(place.library.list().unwrap(), [moved]);
}
