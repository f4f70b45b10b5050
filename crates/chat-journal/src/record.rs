//! What tools and commands did, on its way into the log.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::entry::{By, Changed, Origin, Seq, What};
use crate::node::{Id, Kept, Node};
use crate::scan::Scan;
use crate::state::Inner;
use crate::{Error, Journal, disk};

/// What a tool did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// From the project's root on.
    pub path: PathBuf,
    /// Where the file lay before, when it was moved.
    pub from: Option<PathBuf>,
    /// What lay there (at `from`, when it was moved); nothing where the file is new.
    pub before: Option<Node>,
    /// What lies there now; nothing where the file is gone.
    pub after: Option<Node>,
}

/// A change that is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its number.
    pub seq: Seq,
    /// The file.
    pub path: PathBuf,
    /// Where it lay before.
    pub from: Option<PathBuf>,
    /// Whether it was not there before.
    pub created: bool,
    /// Whether it is gone.
    pub deleted: bool,
}

impl Journal {
    /// What lies at a path: to be asked before and after a tool changes it. A folder is nothing.
    ///
    /// # Errors
    /// It cannot be read, or a link lies on the way.
    pub fn look(&self, path: &Path) -> Result<Option<Node>, Error> {
        self.with(|inner| Ok(disk::read(&inner.project, path)?))
    }

    /// Records what was done. What changed nothing is left out.
    ///
    /// # Errors
    /// `git` fails, or the disk says no: then nothing is recorded.
    pub fn record(
        &self,
        origin: &Origin,
        by: By,
        changes: &[Change],
    ) -> Result<Vec<Recorded>, Error> {
        self.with(|inner| {
            let real = |change: &&Change| change.before != change.after || change.from.is_some();
            let changes: Vec<&Change> = changes.iter().filter(real).collect();
            inner.store(
                changes.iter().flat_map(|change| change.before.iter().chain(&change.after)),
            )?;
            let changed = changes.iter().map(|change| Changed {
                path: change.path.clone(),
                from: change.from.clone(),
                before: change.before.as_ref().map(Node::kept),
                after: change.after.as_ref().map(Node::kept),
                ..Changed::new(origin, by)
            });
            let changed = changed.collect();
            inner.record(changed)
        })
    }

    /// Records what a command did since a look, and looks again: for one that still runs, to be asked with the new
    /// look later. What tools did meanwhile is theirs.
    ///
    /// # Errors
    /// `git` fails, or the disk says no.
    pub fn record_since(
        &self,
        scan: &Scan,
        origin: &Origin,
    ) -> Result<(Vec<Recorded>, Scan), Error> {
        self.with(|inner| {
            let new = inner.scan()?;
            let changed = moved(inner.differing(scan, &new)?);
            let changed = changed.into_iter().map(|found| Changed {
                path: found.path,
                from: found.from,
                before: found.before,
                after: found.after,
                ..Changed::new(origin, By::Command)
            });
            let recorded = inner.record(changed.collect())?;
            Ok((recorded, Scan { next: inner.log.next(), ..new }))
        })
    }

    /// Forgets what is to be reviewed of a session that is gone.
    ///
    /// # Errors
    /// The disk says no.
    pub fn forget(&self, session: &str) -> Result<(), Error> {
        self.with(|inner| inner.append(vec![What::Forgotten { session: session.to_owned() }]))
    }
}

impl Changed {
    pub fn new(origin: &Origin, by: By) -> Self {
        Self {
            origin: origin.clone(),
            by,
            path: PathBuf::new(),
            from: None,
            before: None,
            after: None,
            restore: None,
            undoes: None,
            hunks: None,
            settled: false,
        }
    }
}

/// A path that is not what it was.
struct Found {
    path: PathBuf,
    from: Option<PathBuf>,
    before: Option<Kept>,
    after: Option<Kept>,
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
        self.append(changed.into_iter().map(What::Change).collect())?;
        Ok(recorded)
    }

    /// What differs between two looks, less what was recorded in between.
    fn differing(&self, old: &Scan, new: &Scan) -> Result<Vec<Found>, Error> {
        let mut recorded: HashMap<&OsStr, Option<Kept>> = HashMap::new();
        for entry in self.log.entries().iter().filter(|entry| entry.seq >= old.next) {
            if let What::Change(change) = &entry.what {
                if let Some(from) = &change.from {
                    recorded.insert(from.as_os_str(), None);
                }
                recorded.insert(change.path.as_os_str(), change.after);
            }
        }
        let (was, is) = (&old.manifest, &new.manifest);
        let mut paths: BTreeSet<&OsStr> = recorded.keys().copied().collect();
        if !std::sync::Arc::ptr_eq(was, is) {
            paths.extend(was.files.keys().map(OsString::as_os_str));
            paths.extend(is.files.keys().map(OsString::as_os_str));
        }
        let kept =
            |known: &crate::stat::Known| Kept { mode: known.mode, id: known.id, size: known.size };
        let mut found = Vec::new();
        for path in paths {
            if was.left_out.contains_key(path) || is.left_out.contains_key(path) {
                continue;
            }
            let then = was.files.get(path);
            let before = recorded.get(path).copied().unwrap_or_else(|| then.map(kept));
            let now = is.files.get(path);
            let after = now.map(kept);
            if before == after {
                continue;
            }
            if after.is_none() && disk::read(&self.project, Path::new(path))?.is_some() {
                // It is ignored by now, or always was.
                continue;
            }
            if before.is_none()
                && !recorded.contains_key(path)
                && now.is_some_and(|known| known.is_older_than(old.at))
            {
                // It was there, and is ignored no longer.
                continue;
            }
            found.push(Found { path: path.into(), from: None, before, after });
        }
        Ok(found)
    }
}

/// Makes one of a file that went and one that came with the same contents: it was moved.
fn moved(found: Vec<Found>) -> Vec<Found> {
    let mut gone: HashMap<Id, Vec<PathBuf>> = HashMap::new();
    for one in &found {
        if let (Some(before), None) = (one.before, one.after)
            && before.size > 0
        {
            gone.entry(before.id).or_default().push(one.path.clone());
        }
    }
    let mut sources = BTreeSet::new();
    let mut all: Vec<Found> = Vec::with_capacity(found.len());
    for mut one in found {
        if let (None, Some(after)) = (one.before, one.after)
            && let Some(paths) = gone.get_mut(&after.id)
        {
            // Of several with the same contents, the one of the same name.
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
