//! Tests how models come, are found, and go, with two programs at once and on damaged lists.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::Duration;

use chat_gguf::write::Writer;

use super::*;

/// How long to wait for what must come. Met only where it does not.
const LONG: Duration = Duration::from_secs(20);

struct Fixture {
    root: tempfile::TempDir,
    library: Library,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    let library = Library::open(root.path().join("models"));
    Fixture { root, library }
}

impl Fixture {
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
    let fixture = fixture();
    let path = fixture.file("Nimble-135M-Instruct.Q4_1.gguf");
    let added = fixture.library.add(&path).unwrap();
    assert_eq!((added.name.as_str(), &added.path, added.owned), ("nimble-135m", &path, false));
    assert_eq!(added.size, fs::metadata(&path).unwrap().len());
    assert_eq!(added.facts.architecture, "llama");
    assert_eq!(fixture.library.list().unwrap(), std::slice::from_ref(&added));
    assert_eq!(fixture.library.find("Nimble-135M").unwrap(), added);
    assert_eq!(fixture.library.add(&path).unwrap(), added, "it is there already");
    let link = fixture.root.path().join("link.gguf");
    symlink(&path, &link).unwrap();
    assert_eq!(fixture.library.add(&link).unwrap(), added, "it is the same file");

    fixture.library.remove("nimble-135m").unwrap();
    assert!(path.exists() && fixture.names().is_empty());
    let gone = fixture.library.find("nimble-135m").unwrap_err().kind;
    assert_eq!(gone, Kind::ModelNotFound { model: "nimble-135m".to_owned() });
    assert_eq!(fixture.library.remove("x").unwrap_err().kind.name(), "model_not_found");
}

#[test]
fn a_file_taken_in_is_ours_and_goes_with_its_model() {
    let fixture = fixture();
    let path = fixture.file("tiny-q8_0.gguf");
    let model = fixture.library.take_in(&path).unwrap();
    assert!(!path.exists() && model.owned);
    assert_eq!(model.path, fixture.library.folder().join("tiny/tiny-q8_0.gguf"));
    assert_eq!(fixture.library.find("tiny").unwrap(), model);
    let other = fixture.library.take_in(&fixture.file("tiny-q4_0.gguf")).unwrap();
    assert_eq!(other.name, "tiny-f32", "the header says how it is quantised");
    fixture.library.remove("tiny").unwrap();
    assert!(!fixture.library.folder().join("tiny").exists() && other.path.exists());
}

#[test]
fn a_file_of_the_catalogue_has_its_name_there() {
    let fixture = fixture();
    let offer = catalogue::offer("qwen3-4b").unwrap();
    assert_ne!(name::of_file(Path::new(&offer.file)), "qwen3-4b");
    let path = fixture.file(&offer.file);
    // As long as it is there, and with nothing in it.
    fs::File::options().write(true).open(&path).unwrap().set_len(offer.size).unwrap();
    assert_eq!(fixture.library.add(&path).unwrap().name, "qwen3-4b");
    // Moved in, it is the same.
    assert_eq!(fixture.library.take_in(&path).unwrap().name, "qwen3-4b");
}

#[test]
fn what_only_looks_like_a_model_of_the_catalogue_has_another_name_than_that() {
    let fixture = fixture();
    let offer = catalogue::offer("qwen3-4b").unwrap();
    let title = |model: &Installed| name::title(&model.name).to_owned();
    let lookalike = fixture.library.add(&fixture.file("Qwen3-4B-Q4_K_M.gguf")).unwrap();
    assert_eq!((&*lookalike.name, &*title(&lookalike)), ("qwen3-4b-f32", "qwen3-4b-f32"));
    let same_name = fixture.library.take_in(&fixture.file(&offer.file)).unwrap();
    assert_eq!(title(&same_name), same_name.name);
    let elsewhere = fixture.library.add_as(&fixture.file("blob"), Some("Qwen3:4B")).unwrap();
    assert_eq!(title(&elsewhere), elsewhere.name);
    // Also where a folder is named so by hand.
    let folder = fixture.library.folder().join("qwen3-8b");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine.gguf"), Writer::tiny("Mine", 64).bytes()).unwrap();
    fixture.library.tidy().unwrap();
    assert!(fixture.names().contains(&"qwen3-8b-f32".to_owned()), "{:?}", fixture.names());
    // The real one has its name for itself.
    let files = [fixture.file("real.gguf")];
    let source = Source { repository: offer.repository.clone(), file: offer.file.clone() };
    let real = fixture.library.adopt(&files, &[], "qwen3-4b", Some((source, None))).unwrap();
    assert_eq!((&*real.name, &*title(&real)), ("qwen3-4b", &*offer.title));
}

#[test]
fn what_was_listed_under_a_name_of_the_catalogue_gets_another_and_is_found_by_both() {
    let fixture = fixture();
    let added = fixture.library.add(&fixture.file("Qwen3-4B-Q4_K_M.gguf")).unwrap();
    let ours = fixture.library.take_in(&fixture.file("Qwen3-8B-Q4_K_M.gguf")).unwrap();
    let list = fixture.library.folder().join("index.json");
    // As earlier versions named them.
    let listed = fs::read_to_string(&list).unwrap();
    let listed = listed.replace("\"qwen3-4b-f32\"", "\"qwen3-4b\"");
    fs::write(&list, listed.replace("\"qwen3-8b-f32\"", "\"qwen3-8b\"")).unwrap();
    assert_eq!(fixture.names(), ["qwen3-4b-f32", "qwen3-8b-f32"]);
    // Chats go on with it, also when the list was written again and the file was moved in.
    assert_eq!(fixture.library.find("qwen3-4b").unwrap(), added);
    let moved = fixture.library.take_in(&added.path).unwrap();
    assert_eq!(moved.name, "qwen3-4b-f32");
    assert_eq!(fixture.library.find("qwen3-4b").unwrap(), moved);
    assert_eq!(fixture.library.find("qwen3-8b").unwrap(), ours);
    // The real one comes before it.
    let offer = catalogue::offer("qwen3-4b").unwrap();
    let source = Source { repository: offer.repository.clone(), file: offer.file.clone() };
    let files = [fixture.file("real.gguf")];
    let real = fixture.library.adopt(&files, &[], "qwen3-4b", Some((source, None))).unwrap();
    assert_eq!(fixture.library.find("qwen3-4b").unwrap(), real);
}

#[test]
fn what_is_no_model_never_gets_in() {
    let fixture = fixture();
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
        let path = fixture.with("x.gguf", content);
        for refused in [fixture.library.add(&path), fixture.library.take_in(&path)] {
            assert_eq!(refused.unwrap_err().kind, Kind::ModelFile { path: path.clone(), fault });
        }
        assert!(path.exists(), "it is not ours to delete");
    }
    let nowhere = fixture.root.path().join("nowhere.gguf");
    for missing in [fixture.library.add(&nowhere), fixture.library.take_in(&nowhere)] {
        // It never was there: nothing is said of "any more".
        assert_eq!(missing.unwrap_err().kind, Kind::FileNotFound { path: nowhere.clone() });
    }
    assert_eq!(fixture.library.add(fixture.root.path()).unwrap_err().kind.name(), "model_file");
    assert!(fixture.names().is_empty());
}

#[test]
fn a_model_in_several_files_is_one() {
    let fixture = fixture();
    let name = |n| format!("big-q4_0-{n:05}-of-00002.gguf");
    let first = fixture.with(&name(1), &Writer::tiny("Big", 64).number("split.count", 2).bytes());
    let second = fixture.with(&name(2), &Writer::new().tensor("t", &[64], 0).bytes());
    let added = fixture.library.add(&second).unwrap();
    assert_eq!((added.name.as_str(), &added.path), ("big", &first));
    assert_eq!(added.facts.parameters, 16 + 64);
    fs::rename(&second, fixture.root.path().join("away")).unwrap();
    let missing = fixture.library.find("big").unwrap_err().kind;
    assert_eq!(missing, Kind::ModelFileMissing { path: second.clone() });
    fs::rename(fixture.root.path().join("away"), &second).unwrap();
    fixture.library.remove("big").unwrap();

    let own = fixture.library.take_in(&first).unwrap();
    assert!(!first.exists() && !second.exists());
    assert!(own.path.with_file_name(name(2)).exists());
    fixture.library.remove("big").unwrap();
    assert_eq!(fs::read_dir(fixture.library.folder()).unwrap().count(), 2, "list and lock");
}

#[test]
fn a_file_that_changed_or_went_says_so() {
    let fixture = fixture();
    let path = fixture.file("tiny.gguf");
    fixture.library.add(&path).unwrap();
    fs::write(&path, Writer::tiny("Other", 512).bytes()).unwrap();
    let model = fixture.library.find("tiny").unwrap();
    assert_eq!(model.facts.title.as_deref(), Some("Other"));
    assert_eq!(model.facts.parameters, 128);
    fs::write(&path, "broken").unwrap();
    assert_eq!(fixture.library.find("tiny").unwrap_err().kind.name(), "model_file");
    fs::remove_file(&path).unwrap();
    let listed = &fixture.library.list().unwrap()[0];
    assert_eq!(
        listed.problem.as_ref().map(|problem| &problem.kind),
        Some(&Kind::ModelFileMissing { path: path.clone() })
    );
    fixture.library.remove("tiny").unwrap();
}

#[test]
fn a_damaged_or_lost_list_costs_no_download() {
    for damage in [Some("{\"version\":1,\"mod"), None] {
        let fixture = fixture();
        let own = fixture.library.take_in(&fixture.file("tiny.gguf")).unwrap();
        let index = index::path(fixture.library.folder());
        match damage {
            Some(content) => fs::write(&index, content).unwrap(),
            None => fs::remove_file(&index).unwrap(),
        }
        assert_eq!(fixture.names(), ["tiny"]);
        fixture.library.add(&fixture.file("second.gguf")).unwrap();
        assert_eq!(fixture.names(), ["second", "tiny"]);
        let found = fixture.library.find("tiny").unwrap();
        assert_eq!((found.path, found.owned), (own.path, true));
        let kept = fs::read_to_string(fixture.library.folder().join("index.damaged.json")).ok();
        assert_eq!(kept.as_deref(), damage);
    }
}

#[test]
fn a_folder_that_moves_takes_its_models_along() {
    for old_list in [false, true] {
        let fixture = fixture();
        let elsewhere = fixture.file("elsewhere.gguf");
        fixture.library.add(&elsewhere).unwrap();
        let own = fixture.library.take_in(&fixture.file("tiny.gguf")).unwrap();
        let index = |folder: &Path| fs::read_to_string(index::path(folder)).unwrap();
        let before = fixture.library.folder().to_owned();
        assert!(index(&before).contains("\"tiny/tiny.gguf\""), "{}", index(&before));
        if old_list {
            let whole = format!("\"{}\"", own.path.display());
            let list = index(&before).replace("\"tiny/tiny.gguf\"", &whole);
            fs::write(index::path(&before), list).unwrap();
        }
        let after = fixture.root.path().join("moved");
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
    let fixture = fixture();
    fixture.library.add(&fixture.file("tiny.gguf")).unwrap();
    let index = index::path(fixture.library.folder());
    let newer = "{\"version\":2,\"models\":{}}";
    fs::write(&index, newer).unwrap();
    let refused =
        [fixture.library.list().unwrap_err(), fixture.library.remove("tiny").unwrap_err()];
    assert!(refused.iter().all(|error| error.kind == Kind::ModelStorage), "{refused:?}");
    assert_eq!(fs::read_to_string(index).unwrap(), newer);
}

#[test]
fn a_list_that_lies_deletes_nothing_elsewhere() {
    let fixture = fixture();
    let path = fixture.file("mine.gguf");
    fixture.library.add(&path).unwrap();
    let index = index::path(fixture.library.folder());
    let lying = fs::read_to_string(&index).unwrap().replace("\"owned\": false", "\"owned\": true");
    assert!(lying.contains("\"owned\": true"));
    fs::write(&index, lying).unwrap();
    fixture.library.remove("mine").unwrap();
    assert!(path.exists());
}

#[test]
fn two_who_add_at_once_lose_nothing() {
    let fixture = fixture();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                let library = Library::open(fixture.library.folder());
                for n in 0..5 {
                    library.add(&fixture.file(&format!("model-{thread}{n}.gguf"))).unwrap();
                    library.take_in(&fixture.file(&format!("own-{thread}{n}.gguf"))).unwrap();
                }
            });
        }
    });
    assert_eq!(fixture.names().len(), 40);
}

#[tokio::test]
async fn changes_are_heard() {
    let fixture = fixture();
    let mut changes = fixture.library.changes();
    fixture.library.add(&fixture.file("tiny.gguf")).unwrap();
    tokio::time::timeout(LONG, changes.next()).await.unwrap();
    let other = Library::open(fixture.library.folder());
    other.remove("tiny").unwrap();
    tokio::time::timeout(LONG, changes.next()).await.unwrap();
    // What changes no list is no change: there is no event to wait for.
    fs::write(fixture.library.folder().join("else"), "").unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(300), changes.next()).await.is_err());
}

#[test]
fn of_a_link_the_file_is_moved() {
    let fixture = fixture();
    let blob = fixture.file("blob");
    fs::create_dir(fixture.root.path().join("snapshot")).unwrap();
    let link = fixture.root.path().join("snapshot/D-Instruct-Q8_0.gguf");
    symlink("../blob", &link).unwrap();
    let model = fixture.library.take_in(&link).unwrap();
    assert_eq!(model.path, fixture.library.folder().join("d/D-Instruct-Q8_0.gguf"));
    assert!(fs::symlink_metadata(&model.path).unwrap().is_file());
    assert!(!blob.exists() && fs::symlink_metadata(&link).is_err());
    assert_eq!(fixture.library.find("d").unwrap(), model);
    assert_eq!(fixture.library.take_in(&model.path).unwrap(), model, "it is Natter's own already");
    assert_eq!(fixture.names(), ["d"]);
}

#[test]
fn what_a_program_left_that_ended_in_the_middle_is_taken_up() {
    let fixture = fixture();
    fixture.library.add(&fixture.file("first.gguf")).unwrap();
    let lost = fixture.library.folder().join("lost");
    fs::create_dir(&lost).unwrap();
    fs::rename(fixture.file("Lost-Q8_0.gguf"), lost.join("Lost-Q8_0.gguf")).unwrap();
    let half = fixture.library.folder().join(".moving-x");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("half.gguf"), "GGUF").unwrap();
    // Another program is just moving something in.
    let held = fixture.library.folder().join(".moving-y");
    fs::create_dir(&held).unwrap();
    let other = fs::File::open(&held).unwrap();
    other.lock().unwrap();
    fixture.library.tidy().unwrap();
    assert_eq!(fixture.names(), ["first", "lost"]);
    assert!(fixture.library.find("lost").unwrap().owned);
    assert!(!half.exists() && held.exists());
    fixture.library.remove("lost").unwrap();
    assert!(!lost.exists());
}

#[test]
fn a_part_that_is_not_sound_is_named() {
    let fixture = fixture();
    let name = |n| format!("big-q4_0-{n:05}-of-00002.gguf");
    let first = Writer::tiny("Big", 64).number("split.count", 2).bytes();
    let path = fixture.with(&name(1), &first);
    let second = fixture.with(&name(2), b"<html>404 not found");
    let refused = fixture.library.add(&path).unwrap_err().kind;
    assert_eq!(refused, Kind::ModelFile { path: second, fault: FileFault::NotGguf });
    let alone = fixture.with("alone.gguf", &first);
    let refused = fixture.library.add(&alone).unwrap_err().kind;
    assert_eq!(refused, Kind::ModelFile { path: alone, fault: FileFault::Alone });
}

#[test]
fn a_name_that_cannot_be_noted_is_refused_with_its_reason() {
    let fixture = fixture();
    let name = std::ffi::OsStr::from_bytes(b"tiny-\xff.gguf");
    let path = fixture.root.path().join(name);
    fs::write(&path, Writer::tiny("Tiny", 256).bytes()).unwrap();
    for refused in [fixture.library.add(&path), fixture.library.take_in(&path)] {
        let kind = refused.unwrap_err().kind;
        assert!(matches!(kind, Kind::ModelFile { fault: FileFault::Name, .. }), "{kind:?}");
    }
    assert!(path.exists() && fixture.names().is_empty());
}

#[test]
fn a_model_that_is_moved_after_it_was_added_keeps_its_name() {
    let fixture = fixture();
    let path = fixture.file("tiny-q8_0.gguf");
    let added = fixture.library.add_as(&path, Some("mine")).unwrap();
    let moved = fixture.library.take_in(&path).unwrap();
    assert_eq!((added.name.as_str(), moved.name.as_str(), moved.owned), ("mine", "mine", true));
    assert_eq!(fixture.library.list().unwrap(), [moved]);
}
