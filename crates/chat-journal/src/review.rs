//! Reviews a session's changes: lists them, and takes the user's answer.

mod answer;
mod list;
mod rejections;
mod undo;

use std::path::{Path, PathBuf};

use crate::apply::Conflict;
use crate::entry::{EntryKind, HunkId, Seq};
use crate::node::{Mode, Node};
use crate::open_changes::OpenChanges;
use crate::state::Inner;
use crate::{Error, Journal, diff};

/// What happened to a file, all in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
    /// It is another.
    Modified,
    /// It lies elsewhere, and may be another as well.
    Moved {
        /// Where it lay.
        from: PathBuf,
    },
}

/// A file with changes of a session that nobody reviewed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Where it lies, or lay.
    pub path: PathBuf,
    /// What happened.
    pub kind: FileKind,
    /// What stood there without the session's open changes, with what others did.
    pub before: Option<Node>,
    /// What stands there with them.
    pub after: Option<Node>,
    /// How many lines came.
    pub added: u64,
    /// How many lines went.
    pub removed: u64,
    /// Where both differ, in order. Empty for what is no text: it is answered as a whole.
    pub hunks: Vec<Hunk>,
    /// Whether it is no text.
    pub binary: bool,
    /// Whether somebody else changed it after the session did.
    pub changed_since: bool,
    /// The entry that changed it last.
    pub seq: Seq,
}

impl FileChange {
    /// What it may be run as, before and after, where that changed.
    pub fn modes(&self) -> Option<(Mode, Mode)> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        (before.mode != after.mode).then_some((before.mode, after.mode))
    }

    /// Its lines, to show them. Blocks of it are numbered as its hunks are.
    pub fn diff(&self) -> diff::Diff {
        let bytes = |node: &Option<Node>| node.as_ref().map(|node| node.bytes.clone());
        let (before, after) = (bytes(&self.before), bytes(&self.after));
        diff::Diff::new(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default())
    }
}

/// A place that a session changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its name, which it keeps while others come and go.
    pub id: HunkId,
    /// The first line in [`FileChange::before`], from 0 on, and how many.
    pub old: (usize, usize),
    /// The same in [`FileChange::after`].
    pub new: (usize, usize),
    /// The first line in the file as it lies on disk now, from 0 on.
    pub line: usize,
    /// Somebody else changed these lines since: it can be accepted, and not be rejected.
    pub touched: bool,
}

/// What of a file is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewScope {
    /// These hunks.
    Hunks(Vec<HunkId>),
    /// All of it.
    File,
}

/// What came of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewOutcome {
    /// Files for which it was done.
    pub done: Vec<PathBuf>,
    /// Files that were left alone.
    pub conflicts: Vec<Conflict>,
    /// Hunks that are there no longer. Nothing was done for their file.
    pub gone: Vec<HunkId>,
    /// Its number, to [take it back](Journal::undo); none where nothing was done.
    pub undo: Option<Seq>,
}

/// A change of a session's that the user took back, or wanted after all, for the model to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Where the session had the file.
    pub path: PathBuf,
    /// What the session had done with the file.
    pub kind: FileKind,
    /// What the session had changed, as a unified diff in the direction in which it did so; empty for what is no
    /// text. Which call it was is not known: several may have made it.
    pub diff: String,
    /// It was taken back before, and the user wanted it after all.
    pub undone: bool,
}

impl Journal {
    /// What a session did that nobody reviewed yet, by paths.
    ///
    /// # Errors
    /// `git` fails, or the disk says no.
    pub fn changes(&self, session: &str) -> Result<Vec<FileChange>, Error> {
        self.with(|inner| {
            let open = inner.open_changes(session)?;
            let files = open.files.clone();
            Ok(files.iter().filter_map(|(path, open_file)| inner.listed(path, open_file)).collect())
        })
    }

    /// Accepts a part of a file's changes: it is not to be reviewed any more. Nothing is written.
    ///
    /// # Errors
    /// `git` fails, or the disk says no.
    pub fn accept(
        &self,
        session: &str,
        path: &Path,
        part: &ReviewScope,
    ) -> Result<ReviewOutcome, Error> {
        self.with(|inner| inner.accept(session, &[(path.to_owned(), part.clone())]))
    }

    /// Accepts everything of a session.
    ///
    /// # Errors
    /// As above.
    pub fn accept_all(&self, session: &str) -> Result<ReviewOutcome, Error> {
        self.with(|inner| {
            let all = inner.all_of(session)?;
            inner.accept(session, &all)
        })
    }

    /// Rejects a part of a file's changes: just that is undone on disk, also where the file changed since. Where
    /// that cannot be, nothing of the file is changed, and the answer says so.
    ///
    /// # Errors
    /// As above.
    pub fn reject(
        &self,
        session: &str,
        path: &Path,
        part: &ReviewScope,
    ) -> Result<ReviewOutcome, Error> {
        self.with(|inner| inner.reject(session, &[(path.to_owned(), part.clone())]))
    }

    /// Rejects everything of a session, file by file.
    ///
    /// # Errors
    /// As above.
    pub fn reject_all(&self, session: &str) -> Result<ReviewOutcome, Error> {
        self.with(|inner| {
            let all = inner.all_of(session)?;
            inner.reject(session, &all)
        })
    }
}

impl Inner {
    fn all_of(&mut self, session: &str) -> Result<Vec<(PathBuf, ReviewScope)>, Error> {
        Ok(self
            .open_changes(session)?
            .files
            .keys()
            .map(|path| (path.clone(), ReviewScope::File))
            .collect())
    }

    /// What was open of a session before an entry.
    fn fold_until(&mut self, session: &str, end: Seq) -> Result<OpenChanges, Error> {
        let of_session = self.log.entries().iter().filter(|entry| entry.kind.session() == session);
        let mut before: Vec<_> = of_session.take_while(|entry| entry.seq < end).collect();
        let settled = before.iter().rposition(|entry| entry.kind.settles());
        let before: Vec<_> = before.drain(settled.map_or(0, |at| at + 1)..).cloned().collect();
        let contents = self.load(before.iter().flat_map(crate::entry::Entry::kept))?;
        let mut open = OpenChanges::default();
        for entry in &before {
            open.follow(entry.seq, &entry.kind, &contents, false);
        }
        Ok(open)
    }

    /// What is open of a session, as far as the log goes.
    pub fn open_changes(&mut self, session: &str) -> Result<&OpenChanges, Error> {
        let entries = self.log.entries();
        let (mut open, from) = self.open_changes.remove(session).unwrap_or_else(|| {
            // After the last moment at which nothing was open.
            let settled = |what: &EntryKind| what.session() == session && what.settles();
            let from = entries.iter().rposition(|entry| settled(&entry.kind));
            (OpenChanges::default(), from.map_or(0, |at| at + 1))
        });
        let new: Vec<_> = entries[from..]
            .iter()
            .filter(|entry| entry.kind.session() == session)
            .cloned()
            .collect();
        let end = entries.len();
        let contents = self.load(new.iter().flat_map(crate::entry::Entry::kept))?;
        for entry in &new {
            open.follow(entry.seq, &entry.kind, &contents, false);
        }
        Ok(&self.open_changes.entry(session.to_owned()).insert_entry((open, end)).into_mut().0)
    }
}
