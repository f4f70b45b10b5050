//! Records the changes by tools and commands in the log.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use chat_permission::path::Error as PathError;

use crate::entry::{ChangeSource, Changed, EntryKind, Origin, Seq};
use crate::manifest::ManifestEntry;
use crate::node::{Id, Node, StoredNode};
use crate::scan::Scan;
use crate::state::Inner;
use crate::{Error, Journal, disk};

/// A tool's change to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the project.
    pub path: PathBuf,
    /// Its old path if it was moved.
    pub from: Option<PathBuf>,
    /// The old content (at `from` if it was moved); none if the file is new.
    pub before: Option<Node>,
    /// The new content; none if the file was deleted.
    pub after: Option<Node>,
}

/// A recorded change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its number.
    pub seq: Seq,
    /// The file.
    pub path: PathBuf,
    /// Its old path.
    pub from: Option<PathBuf>,
    /// Whether it is new.
    pub created: bool,
    /// Whether it was deleted.
    pub deleted: bool,
}

impl Journal {
    /// Records changes. Those that changed nothing are left out.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written: then nothing is recorded.
    pub fn record(
        &self,
        origin: &Origin,
        by: ChangeSource,
        changes: &[Change],
    ) -> Result<Vec<Recorded>, Error> {
        self.with(|inner| {
            let changes: Vec<_> = changes.iter().filter(|change| change.is_one()).collect();
            inner.store(
                changes.iter().flat_map(|change| change.before.iter().chain(&change.after)),
            )?;
            inner.record(changes.iter().map(|change| change.stored(origin, by)).collect())
        })
    }

    /// Records a command's changes since a scan, and scans again: for a command that is still
    /// running, call it later with the new scan. What tools and the user did in Natter meanwhile is
    /// not attributed to the command.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written.
    pub fn record_since(
        &self,
        scan: &Scan,
        origin: &Origin,
    ) -> Result<(Vec<Recorded>, Scan), Error> {
        self.with(|inner| {
            let new = inner.scan()?;
            // Edits during the scan.
            inner.note()?;
            let changed = moved(inner.differing(scan, &new));
            let changed = changed.into_iter().map(|found| Changed {
                path: found.path,
                from: found.from,
                before: found.before,
                after: found.after,
                ..Changed::new(origin, ChangeSource::Command)
            });
            let recorded = inner.record(changed.collect())?;
            Ok((recorded, new))
        })
    }

    /// Removes the open changes of a deleted session from review.
    ///
    /// # Errors
    ///
    /// The disk cannot be written.
    pub fn forget(&self, session: &str) -> Result<(), Error> {
        self.with(|inner| {
            let mut of_session = inner.log.entries().iter().map(|entry| &entry.kind);
            let last = of_session.rfind(|what| what.session() == session);
            if last.is_none_or(EntryKind::settles) {
                return Ok(());
            }
            inner.append(vec![EntryKind::Forgotten { session: session.to_owned() }])
        })
    }
}

impl Change {
    /// Whether anything changed.
    pub(crate) fn is_one(&self) -> bool {
        self.before != self.after || self.from.is_some()
    }

    /// The form for the log.
    pub(crate) fn stored(&self, origin: &Origin, by: ChangeSource) -> Changed {
        Changed {
            path: self.path.clone(),
            from: self.from.clone(),
            before: self.before.as_ref().map(Node::stored),
            after: self.after.as_ref().map(Node::stored),
            ..Changed::new(origin, by)
        }
    }
}

impl Changed {
    pub fn new(origin: &Origin, by: ChangeSource) -> Self {
        Self {
            origin: origin.clone(),
            by,
            path: PathBuf::new(),
            from: None,
            before: None,
            after: None,
            restore: None,
            answer: None,
            undoes: None,
            hunks: None,
            settled: false,
        }
    }
}

/// A recorded change at a path.
struct RecordedStep {
    seq: Seq,
    by: ChangeSource,
    /// The content before it.
    met: Option<StoredNode>,
    /// The content after it.
    left: Option<StoredNode>,
}

/// A path that has changed.
struct Difference {
    path: PathBuf,
    from: Option<PathBuf>,
    before: Option<StoredNode>,
    after: Option<StoredNode>,
}

impl Inner {
    fn record(&mut self, changed: Vec<Changed>) -> Result<Vec<Recorded>, Error> {
        let recorded = (self.log.next()..)
            .zip(&changed)
            .map(|(seq, change)| Recorded {
                seq,
                path: change.path.clone(),
                from: change.from.clone(),
                created: change.before.is_none(),
                deleted: change.after.is_none(),
            })
            .collect();
        self.append(changed.into_iter().map(EntryKind::Change).collect())?;
        Ok(recorded)
    }

    /// The differences between two scans, without what was recorded in between.
    fn differing(&self, old: &Scan, new: &Scan) -> Vec<Difference> {
        let steps = self.steps(old.next);
        let (was, is) = (&old.manifest, &new.manifest);
        let mut paths: BTreeSet<&OsStr> = steps.keys().copied().collect();
        if !std::sync::Arc::ptr_eq(was, is) {
            paths.extend(was.files.keys().map(OsString::as_os_str));
            paths.extend(is.files.keys().map(OsString::as_os_str));
        }
        let kept = ManifestEntry::stored;
        let gone = was.files.iter().filter(|(path, _)| !is.files.contains_key(*path));
        let gone: HashMap<Id, Vec<&ManifestEntry>> =
            gone.fold(HashMap::new(), |mut gone, (_, known)| {
                gone.entry(known.id).or_default().push(known);
                gone
            });
        let has_moved = |known: &ManifestEntry| {
            gone.get(&known.id).is_some_and(|gone| gone.iter().any(|one| known.is_same_file(one)))
        };
        let mut found = Vec::new();
        for path in paths {
            if was.left_out.contains_key(path) || is.left_out.contains_key(path) {
                continue;
            }
            let now = is.files.get(path);
            let after = now.map(kept);
            let mut before = was.files.get(path).map(kept);
            for step in steps.get(path).into_iter().flatten() {
                if step.seq >= new.next && before == after {
                    // It came after the scan.
                    break;
                }
                // The user found another content than the scan or their own earlier edit.
                let is_known = step.met == before || step.left == before;
                if step.by == ChangeSource::Person
                    && !is_known
                    && (before.is_some() || now.is_some())
                {
                    found.push(Difference {
                        path: path.into(),
                        from: None,
                        before,
                        after: step.met,
                    });
                }
                before = step.left;
            }
            if before == after {
                continue;
            }
            if after.is_none() && !self.is_gone(Path::new(path)) {
                // It is now ignored, always was, or that is unknown.
                continue;
            }
            if before.is_none()
                && !steps.contains_key(path)
                && now.is_some_and(|known| known.is_older_than(old.at) && !has_moved(known))
            {
                // It existed, but was ignored before.
                continue;
            }
            found.push(Difference { path: path.into(), from: None, before, after });
        }
        found
    }

    /// The changes that were recorded from an entry on, by path.
    fn steps(&self, from: Seq) -> HashMap<&OsStr, Vec<RecordedStep>> {
        let mut steps: HashMap<&OsStr, Vec<RecordedStep>> = HashMap::new();
        for entry in self.log.entries().iter().filter(|entry| entry.seq >= from) {
            let EntryKind::Change(change) = &entry.kind else { continue };
            if let Some(from) = &change.from {
                let step =
                    RecordedStep { seq: entry.seq, by: change.by, met: change.before, left: None };
                steps.entry(from.as_os_str()).or_default().push(step);
            }
            let (by, met, left) = (change.by, change.before, change.after);
            let step = RecordedStep { seq: entry.seq, by, met, left };
            steps.entry(change.path.as_os_str()).or_default().push(step);
        }
        steps
    }

    /// Whether there is certainly no file and no link.
    fn is_gone(&self, path: &Path) -> bool {
        matches!(disk::read(&self.project, path), Ok(None) | Err(PathError::NotAFile(_)))
    }
}

/// Joins a removed file and a new one with the same contents: it was moved.
fn moved(found: Vec<Difference>) -> Vec<Difference> {
    let mut gone: HashMap<Id, Vec<PathBuf>> = HashMap::new();
    for one in &found {
        if let (Some(before), None) = (one.before, one.after)
            && before.size > 0
        {
            gone.entry(before.id).or_default().push(one.path.clone());
        }
    }
    let mut sources = BTreeSet::new();
    let mut all: Vec<Difference> = Vec::with_capacity(found.len());
    for mut one in found {
        if let (None, Some(after)) = (one.before, one.after)
            && let Some(paths) = gone.get_mut(&after.id)
        {
            // Of several with the same contents, the one with the same name.
            let same = paths.iter().position(|path| path.file_name() == one.path.file_name());
            let at = same.or((!paths.is_empty()).then_some(0));
            if let Some(from) = at.map(|at| paths.remove(at)) {
                one.before = Some(after);
                sources.insert(from.clone());
                one.from = Some(from);
            }
        }
        all.push(one);
    }
    all.retain(|one| one.from.is_some() || !sources.contains(&one.path));
    all
}
