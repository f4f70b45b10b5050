use std::ffi::OsStr;

use proptest::prelude::*;

use super::*;

fn definitions(root: impl AsRef<OsStr>, items: &[&[u8]]) -> ProjectDefinitions {
    let items = items.iter().map(|bytes| crate::ProjectItem {
        kind: crate::ItemKind::Agent,
        name: "a".to_owned(),
        description: None,
        path: "a.md".into(),
        digest: Digest::of([*bytes]),
        tools: None,
        mode: None,
        model: None,
        agent: None,
        files: 0,
        is_trusted: false,
        was_trusted: false,
        text: String::from_utf8_lossy(bytes).into(),
        text_before: None,
        changed_files: None,
        file_hashes: BTreeMap::new(),
        replaces_own: false,
    });
    ProjectDefinitions::new(Path::new(&root), items.collect(), &BTreeSet::new(), |_| None)
}

fn store() -> (tempfile::TempDir, TrustStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::new(folder.path().join("state/trust.json"));
    (folder, store)
}

#[test]
fn what_is_trusted_is_remembered_for_each_project() {
    let (_folder, store) = store();
    assert_eq!(store.trusted(Path::new("/a")).len(), 0);
    let odd = OsStr::from_bytes(b"/\xff");
    store.trust(&definitions("/a", &[b"1", b"2"])).unwrap();
    store.trust(&definitions(odd, &[b"3"])).unwrap();
    assert_eq!(
        TrustStore::new(store.path()).trusted(Path::new("/a")),
        [Digest::of([&b"1"[..]]), Digest::of([&b"2"[..]])].into()
    );
    assert_eq!(store.trusted(Path::new(odd)), [Digest::of([&b"3"[..]])].into());
    store.trust(&definitions("/a", &[b"2"])).unwrap();
    assert_eq!(store.trusted(Path::new("/a")), [Digest::of([&b"2"[..]])].into());
    assert_eq!(store.projects(), [Path::new("/a"), Path::new(odd)]);
    store.forget(Path::new("/a")).unwrap();
    assert_eq!(store.projects(), [Path::new(odd)]);
    assert!(store.trusted(Path::new("/a")).is_empty() && !store.trusted(Path::new(odd)).is_empty());
}

#[test]
fn what_is_known_by_its_hash_alone_is_remembered_too() {
    let (_folder, store) = store();
    let hashes = |items: &[&[u8]]| items.iter().map(|bytes| Digest::of([*bytes])).collect();
    let (first, second): (BTreeSet<_>, BTreeSet<_>) =
        (hashes(&[b"1", b"2"]), hashes(&[b"2", b"3"]));
    store.trust_hashes(Path::new("/a"), &first).unwrap();
    assert_eq!(store.trusted(Path::new("/a")), first);
    store.trust_hashes(Path::new("/a"), &second).unwrap();
    assert_eq!(store.trusted(Path::new("/a")), second, "earlier versions are not trusted any more");
    let forgotten = store.forget(Path::new("/a")).unwrap().unwrap();
    assert!(store.trusted(Path::new("/a")).is_empty() && store.projects().is_empty());
    store.restore(&forgotten).unwrap();
    assert_eq!(store.trusted(Path::new("/a")), second);
}

#[test]
fn a_text_is_kept_while_a_project_has_it() {
    let (_folder, store) = store();
    let texts = || fs::read_dir(store.texts()).unwrap().count();
    store.trust(&definitions("/a", &[b"1", b"2"])).unwrap();
    store.trust(&definitions("/b", &[b"2"])).unwrap();
    assert_eq!(texts(), 2);
    let forgotten = store.forget(Path::new("/a")).unwrap().unwrap();
    assert_eq!(texts(), 1);
    store.restore(&forgotten).unwrap();
    assert_eq!(texts(), 2);
    for root in ["/a", "/b"] {
        store.forget(Path::new(root)).unwrap();
    }
    assert_eq!(texts(), 0);
}

#[test]
fn the_texts_stay_where_the_file_cannot_be_written() {
    let (_folder, store) = store();
    let first = definitions("/a", &[b"1"]);
    store.trust(&first).unwrap();
    let elsewhere = store.path().with_extension("elsewhere");
    fs::rename(store.path(), &elsewhere).unwrap();
    fs::create_dir(store.path()).unwrap();
    store.trust(&definitions("/a", &[b"2"])).unwrap_err();
    fs::remove_dir(store.path()).unwrap();
    fs::rename(&elsewhere, store.path()).unwrap();
    let before = store.files(Path::new("/a"));
    assert_eq!(before[Path::new("a.md")].text().as_deref(), Some("1"));
}

#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, store) = store();
    store.trust(&definitions("/a", &[b"1"])).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.path()), 0o600);
    assert_eq!(mode(store.path().parent().unwrap()), 0o700);
}

#[test]
fn what_is_damaged_is_not_trusted_and_the_rest_is() {
    let (_folder, store) = store();
    store.trust(&definitions("/a", &[b"1"])).unwrap();
    store.trust(&definitions("/b", &[b"2"])).unwrap();
    let text = fs::read_to_string(store.path()).unwrap();
    fs::write(store.path(), text.replace("\"/a\"", "7")).unwrap();
    assert!(store.trusted(Path::new("/a")).is_empty());
    assert_eq!(store.trusted(Path::new("/b")).len(), 1);
    for root in ["bytes:2", "bytes:zz"] {
        fs::write(store.path(), text.replace("/a", root)).unwrap();
        assert_eq!(store.projects(), [Path::new("/b")], "{root}");
    }
    for damaged in [&text.as_bytes()[..text.len() / 2], b"", b"[]", b"\xff\0", b"{\"projects\":{}}"]
    {
        fs::write(store.path(), damaged).unwrap();
        assert!(store.trusted(Path::new("/b")).is_empty());
    }
    store.trust(&definitions("/c", &[b"3"])).unwrap();
    assert_eq!(store.trusted(Path::new("/c")).len(), 1);
}

#[test]
fn two_who_trust_at_once_lose_nothing() {
    let (_folder, store) = store();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..5 {
                    store.trust(&definitions(format!("/{thread}/{number}"), &[b"1"])).unwrap();
                }
            });
        }
    });
    assert_eq!(store.read().len(), 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let (folder, _) = store();
        let store = TrustStore::new(folder.path().join("t"));
        fs::write(store.path(), &bytes).unwrap();
        prop_assert!(store.trusted(Path::new("/a")).is_empty());
    }
}
