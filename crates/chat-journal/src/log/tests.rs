use super::*;

fn forgotten(session: &str) -> EntryKind {
    EntryKind::Forgotten { session: session.to_owned() }
}

fn sessions(log: &Log) -> Vec<(Seq, String)> {
    let session = |entry: &Entry| match &entry.kind {
        EntryKind::Forgotten { session } => (entry.seq, session.clone()),
        other => panic!("{other:?}"),
    };
    log.entries().iter().map(session).collect()
}

fn numbered(names: &[(Seq, &str)]) -> Vec<(Seq, String)> {
    names.iter().map(|&(seq, name)| (seq, name.to_owned())).collect()
}

#[test]
fn a_log_cut_off_anywhere_has_the_entries_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = Log::new(path.clone());
    log.sync().unwrap();
    let mut ends = vec![log.end];
    for name in ["a", "ü", "c"] {
        log.append(vec![forgotten(name)]).unwrap();
        ends.push(log.end);
    }
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let mut log = Log::new(path.clone());
        log.sync().unwrap();
        let expected = ends.iter().filter(|&&end| end <= cut as u64).count().saturating_sub(1);
        assert_eq!(log.entries().len(), expected, "cut at {cut}");
        log.append(vec![forgotten("new")]).unwrap();
        let mut again = Log::new(path.clone());
        again.sync().unwrap();
        assert_eq!(sessions(&again), sessions(&log));
        assert_eq!(sessions(&again).last().unwrap().1, "new");
    }
}

#[test]
fn a_damaged_line_costs_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = Log::new(path.clone());
    log.sync().unwrap();
    log.append(vec![forgotten("a"), forgotten("b"), forgotten("c")]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"b\"", "\"x\"")).unwrap();
    let mut log = Log::new(path);
    log.sync().unwrap();
    assert_eq!(sessions(&log), numbered(&[(1, "a"), (3, "c")]));
}

#[test]
fn what_another_appends_is_read_and_a_new_log_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (mut one, mut other) = (Log::new(path.clone()), Log::new(path));
    assert!(one.sync().unwrap());
    assert!(other.sync().unwrap());
    one.append(vec![forgotten("a"), forgotten("b")]).unwrap();
    assert!(!other.sync().unwrap());
    assert_eq!(sessions(&other), sessions(&one));
    other.rewrite(|entry| entry.seq == 1).unwrap();
    assert!(one.sync().unwrap());
    one.append(vec![forgotten("c")]).unwrap();
    // No number is used twice.
    assert_eq!(sessions(&one), numbered(&[(1, "a"), (3, "c")]));
}

#[test]
fn a_newer_log_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let text = line(&Header { version: 2, generation: "x".to_owned(), next: 1 });
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(Log::new(path.clone()).sync(), Err(Error::Newer(2))));
    assert_eq!(std::fs::read(&path).unwrap(), text);
}

#[test]
fn no_two_are_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::new(folder.path().join("log"));
    log.sync().unwrap();
    for name in ["a", "b", "c", "d"] {
        log.append(vec![forgotten(name), forgotten(name)]).unwrap();
    }
    let moments: Vec<_> = log.entries().chunks(2).map(|pair| pair[0].at).collect();
    assert!(moments.is_sorted_by(|one, next| one < next), "{moments:?}");
}
