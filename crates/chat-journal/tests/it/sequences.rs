//! Tests random sequences of actions: nothing of the user's is lost, everything else comes back,
//! and the state read from disk equals the state in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chat_journal::{Change, ChangeSource, FileKind, ReviewScope};
use proptest::prelude::*;

use crate::world::{World, origin};

const FILES: [&str; 3] = ["a", "sub/b", "c"];
const SESSIONS: [&str; 2] = ["one", "two"];

/// All sessions, this one first.
fn all_with(session: usize) -> Vec<&'static str> {
    let mut all = SESSIONS.to_vec();
    all.swap(0, session);
    all
}

/// Where in a file something is done, and how.
#[derive(Clone, Debug)]
struct Edit {
    file: usize,
    line: prop::sample::Index,
    removed: usize,
    /// Lines that are often the same as others, or of their own.
    added: Vec<Option<u8>>,
}

#[derive(Clone, Debug)]
enum Step {
    Tool(usize, Edit),
    Command(usize, Vec<Edit>),
    Delete(usize, usize),
    Rename(usize, usize, usize),
    Person(Edit),
    Accept(usize, Option<prop::sample::Index>),
    Reject(usize, Option<prop::sample::Index>),
    AcceptAll(usize),
    RejectAll(usize),
    UndoAnswer,
    /// The person saves in Natter, in the middle of a command.
    Save(usize, Edit, Edit),
    Checkpoint(usize),
    Restore(usize, prop::sample::Index),
    Undo(usize),
    Reopen,
}

fn edit() -> impl Strategy<Value = Edit> {
    let added = prop::collection::vec(prop::option::of(0_u8..3), 0..3);
    (0..FILES.len(), any::<prop::sample::Index>(), 0_usize..3, added)
        .prop_map(|(file, line, removed, added)| Edit { file, line, removed, added })
}

fn step() -> impl Strategy<Value = Step> {
    let session = 0..SESSIONS.len();
    let file = 0..FILES.len();
    let part = prop::option::of(any::<prop::sample::Index>());
    prop_oneof![
        6 => (session.clone(), edit()).prop_map(|(session, edit)| Step::Tool(session, edit)),
        2 => (session.clone(), prop::collection::vec(edit(), 1..3))
            .prop_map(|(session, edits)| Step::Command(session, edits)),
        1 => (session.clone(), file.clone()).prop_map(|(session, file)| Step::Delete(session, file)),
        1 => (session.clone(), file.clone(), file)
            .prop_map(|(session, from, to)| Step::Rename(session, from, to)),
        4 => edit().prop_map(Step::Person),
        2 => (session.clone(), part.clone()).prop_map(|(session, part)| Step::Accept(session, part)),
        3 => (session.clone(), part).prop_map(|(session, part)| Step::Reject(session, part)),
        1 => session.clone().prop_map(Step::AcceptAll),
        1 => session.clone().prop_map(Step::RejectAll),
        2 => Just(Step::UndoAnswer),
        2 => (session.clone(), edit(), edit())
            .prop_map(|(session, command, person)| Step::Save(session, command, person)),
        2 => session.clone().prop_map(Step::Checkpoint),
        2 => (session.clone(), any::<prop::sample::Index>())
            .prop_map(|(session, which)| Step::Restore(session, which)),
        2 => session.prop_map(Step::Undo),
        1 => Just(Step::Reopen),
    ]
}

struct Play {
    world: World,
    /// So that each line of somebody's own is written once.
    count: usize,
    checkpoints: Vec<u64>,
    restores: Vec<u64>,
    answers: Vec<(usize, u64)>,
}

impl Play {
    fn new() -> Self {
        let world = World::new();
        world.write("a", "1\n2\n1\n2\n3\n1\n2\n");
        world.write("sub/b", "x\ny\nno end");
        let start = world.journal.checkpoint(SESSIONS[0], "start").unwrap();
        Self {
            world,
            count: 0,
            checkpoints: vec![start.seq],
            restores: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The text of a file after an edit. Nobody removes a line of the person's.
    fn edited(&mut self, edit: &Edit, own: &str) -> String {
        let text = self.world.read(FILES[edit.file]).unwrap_or_default();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let at = edit.line.index(lines.len() + 1);
        let removable = lines[at..].iter().take(edit.removed);
        let removed = removable.take_while(|line| !line.starts_with("person")).count();
        let added: Vec<String> = edit
            .added
            .iter()
            .map(|line| {
                if let Some(line) = line {
                    return format!("{line}\n");
                }
                self.count += 1;
                format!("{own}{}\n", self.count)
            })
            .collect();
        if at == lines.len()
            && !added.is_empty()
            && lines.last().is_some_and(|l| !l.ends_with('\n'))
        {
            lines.last_mut().unwrap().push('\n');
        }
        lines.splice(at..at + removed, added);
        lines.concat()
    }

    /// The person's lines that are on disk.
    fn persons(&self) -> Vec<String> {
        let texts = FILES.iter().filter_map(|file| self.world.read(file));
        let mut lines: Vec<String> = texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|line| line.starts_with("person"))
            .collect();
        lines.sort();
        lines
    }

    fn is_persons(&self, file: usize) -> bool {
        self.world.read(FILES[file]).is_some_and(|text| text.contains("person"))
    }

    /// A file of a session's review, and a hunk of it or the whole.
    fn part(
        &self,
        session: usize,
        which: Option<prop::sample::Index>,
    ) -> Option<(String, ReviewScope)> {
        let changes = self.world.journal.changes(&[SESSIONS[session]]).unwrap();
        let Some(which) = which else {
            let change = changes.first()?;
            return Some((change.path.to_str()?.to_owned(), ReviewScope::File));
        };
        let hunks: Vec<_> = changes
            .iter()
            .flat_map(|change| change.hunks.iter().map(|hunk| (change.path.clone(), hunk.id)))
            .collect();
        let (path, id) = hunks.get(which.index(hunks.len().max(1)))?;
        Some((path.to_str()?.to_owned(), ReviewScope::Hunks(vec![*id])))
    }

    /// The texts of all files.
    fn texts(&self) -> HashMap<PathBuf, String> {
        let text = |file: &&str| Some((PathBuf::from(file), self.world.read(file)?));
        FILES.iter().filter_map(text).collect()
    }

    /// That the models are told of a step as they made their changes: lines that they added are added, whether they
    /// are gone now or there again.
    fn check_told(
        &self,
        step: &Step,
        since: [u64; 2],
        before: &HashMap<PathBuf, String>,
    ) -> Result<(), TestCaseError> {
        let after = self.texts();
        for (session, since) in SESSIONS.iter().zip(since) {
            for told in self.world.rejections(session, since).0 {
                let (with, without) = if told.undone { (&after, before) } else { (before, &after) };
                let origin = match &told.kind {
                    FileKind::Moved { from } => from,
                    _ => &told.path,
                };
                let has = |all: &HashMap<PathBuf, String>, path: &PathBuf, line: &str| {
                    all.get(path).is_some_and(|text| text.lines().any(|one| one == line))
                };
                for line in told.diff.lines() {
                    let is_right = match line.split_at_checked(1) {
                        Some(("+", line)) => has(with, &told.path, line),
                        Some(("-", line)) => has(without, origin, line),
                        _ => true,
                    };
                    prop_assert!(is_right, "{line:?} of {told:?} by {step:?}");
                }
                // Right after a rejection its diff leads from what is there to what was.
                let is_answer = matches!(step, Step::Reject(..));
                if is_answer && !told.diff.is_empty() {
                    let old = without.get(origin).map_or("", String::as_str);
                    let new = with.get(&told.path).map_or("", String::as_str);
                    prop_assert_eq!(patched(old, &told.diff), new);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Tool(session, edit) => {
                let text = self.edited(edit, "tool");
                self.world.edit(SESSIONS[*session], FILES[edit.file], Some(&text));
            }
            Step::Command(session, edits) => {
                let scan = self.world.journal.scan().unwrap();
                for edit in edits {
                    let text = self.edited(edit, "command");
                    self.world.write(FILES[edit.file], text);
                }
                let origin = origin(SESSIONS[*session]);
                self.world.journal.record_since(&scan, &origin).unwrap();
            }
            Step::Delete(session, file) => {
                if self.world.read(FILES[*file]).is_some() && !self.is_persons(*file) {
                    self.world.edit(SESSIONS[*session], FILES[*file], None);
                }
            }
            Step::Rename(session, from, to) => {
                let (from, to) = (FILES[*from], FILES[*to]);
                if self.world.read(from).is_some() && self.world.read(to).is_none() {
                    self.world.rename(SESSIONS[*session], from, to);
                }
            }
            Step::Person(edit) => {
                let text = self.edited(edit, "person");
                self.world.write(FILES[edit.file], text);
            }
            Step::Accept(session, which) | Step::Reject(session, which) => {
                let Some((path, part)) = self.part(*session, *which) else { return };
                let (journal, number) = (&self.world.journal, *session);
                let session = SESSIONS[number];
                let before = self.world.everything();
                let is_accept = matches!(step, Step::Accept(..));
                let answer = if is_accept {
                    journal.accept(&[session], Path::new(&path), &part).unwrap()
                } else {
                    journal.reject(&[session], Path::new(&path), &part).unwrap()
                };
                assert!(answer.gone.is_empty());
                self.answers.extend(answer.undo.map(|undo| (number, undo)));
                assert_eq!(answer.done.len() + answer.conflicts.len(), 1);
                if is_accept || answer.done.is_empty() {
                    assert_eq!(self.world.everything(), before);
                }
                if let (ReviewScope::Hunks(ids), [_]) = (&part, &answer.done[..]) {
                    let left = journal.changes(&[session]).unwrap();
                    let mut left = left.iter().filter(|change| change.path == Path::new(&path));
                    assert!(left.all(|change| change.hunks.iter().all(|hunk| hunk.id != ids[0])));
                }
            }
            Step::AcceptAll(session) => {
                let answer = self.world.journal.accept_all(&[SESSIONS[*session]]).unwrap();
                self.answers.extend(answer.undo.map(|undo| (*session, undo)));
                assert!(self.world.journal.changes(&[SESSIONS[*session]]).unwrap().is_empty());
            }
            Step::RejectAll(session) => {
                let answer = self.world.journal.reject_all(&[SESSIONS[*session]]).unwrap();
                let left = self.world.journal.changes(&[SESSIONS[*session]]).unwrap();
                assert!(left.len() <= answer.conflicts.len());
                self.answers.extend(answer.undo.map(|undo| (*session, undo)));
            }
            Step::UndoAnswer => {
                let Some((session, answer)) = self.answers.pop() else { return };
                self.world.journal.undo(&[SESSIONS[session]], answer).unwrap();
            }
            Step::Save(session, command, person) => {
                let scan = self.world.journal.scan().unwrap();
                let text = self.edited(command, "command");
                self.world.write(FILES[command.file], text);
                let text = self.edited(person, "person");
                let path = FILES[person.file];
                self.world.journal.by_person(Path::new(path), || self.world.write(path, text));
                let origin = origin(SESSIONS[*session]);
                self.world.journal.record_since(&scan, &origin).unwrap();
            }
            Step::Checkpoint(session) => {
                let message = self.checkpoints.len().to_string();
                let made = self.world.journal.checkpoint(SESSIONS[*session], &message).unwrap();
                self.checkpoints.push(made.seq);
            }
            Step::Restore(session, which) => {
                let to = *which.get(&self.checkpoints);
                let restored = self.world.journal.restore(&all_with(*session), to).unwrap();
                self.restores.push(restored.seq);
            }
            Step::Undo(session) => {
                let Some(last) = self.restores.pop() else { return };
                self.world.journal.undo_restore(SESSIONS[*session], last).unwrap();
            }
            Step::Reopen => {
                let new = self.world.again();
                for session in SESSIONS {
                    let (old, new) =
                        (self.world.journal.changes(&[session]), new.changes(&[session]));
                    assert_eq!(old.unwrap(), new.unwrap());
                }
                self.world.journal = new;
            }
        }
    }
}

/// A text after a unified diff was applied.
fn patched(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    let mut before = "";
    for line in diff.split_inclusive('\n') {
        let (sign, text) = line.split_at(1);
        match sign {
            "@" => {
                let range = line["@@ -".len()..].split(' ').next().unwrap();
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let start: usize = start.parse().unwrap();
                let start = if count == "0" { start } else { start - 1 };
                new.push_str(&old[at..start].concat());
                at = start;
            }
            "\\" if before == "-" => {}
            "\\" => drop(new.pop()),
            "+" => new.push_str(text),
            _ => {
                assert_eq!(old[at].trim_end_matches('\n'), text.trim_end_matches('\n'));
                at += 1;
                if sign == " " {
                    new.push_str(text);
                }
            }
        }
        before = sign;
    }
    new.push_str(&old[at..].concat());
    new
}

/// Each case runs git a few dozen times: few of them, unless `PROPTEST_CASES` says otherwise.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(24),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_of_the_persons_is_lost(steps in prop::collection::vec(step(), 1..16)) {
        let mut play = Play::new();
        for step in &steps {
            let before = play.persons();
            play.step(step);
            let after = play.persons();
            let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
            prop_assert!(lost.is_empty(), "{lost:?} lost by {step:?}");
        }
        play.step(&Step::Reopen);
    }

    #[test]
    fn changes_are_told_as_the_models_made_them(steps in prop::collection::vec(step(), 1..16)) {
        let mut play = Play::new();
        for step in &steps {
            let since = SESSIONS.map(|session| play.world.rejections(session, 0).1);
            let before = play.texts();
            play.step(step);
            play.check_told(step, since, &before)?;
        }
    }

    #[test]
    fn without_the_person_all_comes_back(steps in prop::collection::vec(step(), 1..12)) {
        let mut play = Play::new();
        let start = play.world.everything();
        for step in steps.iter().filter(|step| !matches!(step, Step::Person(_) | Step::Save(..))) {
            play.step(step);
        }
        let end = play.world.everything();
        let journal = &play.world.journal;
        let restored = journal.restore(&all_with(0), play.checkpoints[0]).unwrap();
        prop_assert_eq!(&restored.conflicts, &[]);
        prop_assert_eq!(play.world.everything(), start);
        journal.undo_restore(SESSIONS[0], restored.seq).unwrap();
        prop_assert_eq!(play.world.everything(), end);
    }
}

#[test]
fn a_change_that_changes_nothing_is_none() {
    let world = World::new();
    world.write("a", "a");
    let node = world.journal.read(Path::new("a")).unwrap();
    let change = Change { path: "a".into(), from: None, before: node.clone(), after: node };
    assert!(
        world.journal.record(&origin("one"), ChangeSource::Tool, &[change]).unwrap().is_empty()
    );
    assert!(world.journal.changes(&["one"]).unwrap().is_empty());
}
