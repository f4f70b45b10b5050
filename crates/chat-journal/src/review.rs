//! Reviews a session's changes: lists them, and applies the user's answers.

mod answer;
mod list;
mod parts;
mod rejections;
mod undo;

use std::path::{Path, PathBuf};

use crate::apply::Conflict;
use crate::entry::{Entry, EntryKind, HunkId, Seq};
use crate::node::{Mode, Node};
use crate::open_changes::OpenChanges;
use crate::state::Inner;
use crate::{Error, Journal, diff};

/// The overall change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// It is new.
    Created,
    /// It was deleted.
    Deleted,
    /// It was modified.
    Modified,
    /// It was moved, and may also be modified.
    Moved {
        /// Its old path.
        from: PathBuf,
    },
}

/// A file with a session's changes that nobody has reviewed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The session.
    pub session: String,
    /// Its path, or its last one.
    pub path: PathBuf,
    /// The overall change.
    pub kind: FileKind,
    /// The content without the session's open changes, but with those of others.
    pub before: Option<Node>,
    /// The content with them.
    pub after: Option<Node>,
    /// How many lines were added.
    pub added: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// The differences, in order. Empty for a file that is not text: it is answered as a whole.
    pub hunks: Vec<Hunk>,
    /// Whether it is not text.
    pub binary: bool,
    /// Whether somebody else changed it after the session did.
    pub changed_since: bool,
    /// The entry that changed it last.
    pub seq: Seq,
}

impl FileChange {
    /// Its executable bit before and after, if that changed.
    pub fn modes(&self) -> Option<(Mode, Mode)> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        (before.mode != after.mode).then_some((before.mode, after.mode))
    }

    /// Its lines, for display. The changes in it have the same indices as its hunks.
    pub fn diff(&self) -> diff::Diff {
        let bytes = |node: &Option<Node>| node.as_ref().map(|node| node.bytes.clone());
        let (before, after) = (bytes(&self.before), bytes(&self.after));
        diff::Diff::new(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default())
    }
}

/// A place that a session changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its id, which stays the same while others appear and disappear.
    pub id: HunkId,
    /// The first line in [`FileChange::before`], from 0, and the number of lines.
    pub old: (usize, usize),
    /// The same in [`FileChange::after`].
    pub new: (usize, usize),
    /// The first line in the current file on disk, from 0.
    pub line: usize,
    /// Whether somebody else changed these lines since: then it can be accepted, but not rejected.
    pub touched: bool,
}

/// The part of a file that is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewScope {
    /// These hunks.
    Hunks(Vec<HunkId>),
    /// The whole file.
    File,
    /// The whole file, as far as this session changed it.
    By(String),
}

/// The outcome of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewOutcome {
    /// Files to which it was applied.
    pub done: Vec<PathBuf>,
    /// Files that were left alone.
    pub conflicts: Vec<Conflict>,
    /// Hunks that no longer exist. Nothing was done to their file.
    pub gone: Vec<HunkId>,
    /// Its number, to [undo](Journal::undo) it for the same sessions; none if nothing was done.
    pub undo: Option<Seq>,
}

/// A session's change that the user rejected, or wanted after all, to be reported to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The file's path in the session.
    pub path: PathBuf,
    /// What the session had done to the file.
    pub kind: FileKind,
    /// The session's change as a unified diff, in its original direction; empty for a file that is
    /// not text. It is unknown which call made it, since several may have.
    pub diff: String,
    /// Whether it was rejected before, and the user wanted it after all.
    pub undone: bool,
}

impl Journal {
    /// The unreviewed changes of these sessions, by path. Where several of them changed a file, each of them has its
    /// own entry, the oldest first.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written.
    pub fn changes(&self, sessions: &[impl AsRef<str>]) -> Result<Vec<FileChange>, Error> {
        self.with(|inner| {
            let mut changes = Vec::new();
            for session in sessions.iter().map(AsRef::as_ref) {
                let files = inner.open_changes(session)?.files.clone();
                changes.extend(
                    files.iter().filter_map(|(path, file)| inner.listed(session, path, file)),
                );
            }
            changes.sort_by(|one, other| (&one.path, one.seq).cmp(&(&other.path, other.seq)));
            Ok(changes)
        })
    }

    /// Accepts a part of what these sessions changed in a file, which then needs no more review.
    /// Nothing is written. If it fails after the changes of some sessions were accepted, the answer
    /// names the other files as conflicts.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written. No answer is stored.
    pub fn accept(
        &self,
        sessions: &[impl AsRef<str>],
        path: &Path,
        part: &ReviewScope,
    ) -> Result<ReviewOutcome, Error> {
        self.answer(sessions, Some((path, part)), Inner::accept)
    }

    /// Accepts all changes of these sessions.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn accept_all(&self, sessions: &[impl AsRef<str>]) -> Result<ReviewOutcome, Error> {
        self.answer(sessions, None, Inner::accept)
    }

    /// Rejects a part of what these sessions changed in a file: exactly that part is undone on disk,
    /// even if the file has changed since. If that is impossible, the file stays unchanged, and the
    /// answer says so.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn reject(
        &self,
        sessions: &[impl AsRef<str>],
        path: &Path,
        part: &ReviewScope,
    ) -> Result<ReviewOutcome, Error> {
        self.answer(sessions, Some((path, part)), Inner::reject)
    }

    /// Rejects all changes of these sessions, file by file.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn reject_all(&self, sessions: &[impl AsRef<str>]) -> Result<ReviewOutcome, Error> {
        self.answer(sessions, None, Inner::reject)
    }
}

impl Inner {
    /// A session's open changes before an entry.
    fn fold_until(&mut self, session: &str, end: Seq) -> Result<OpenChanges, Error> {
        let of_session =
            self.log.entries().iter().filter(|entry| self.log.concerns(entry, session));
        let mut before: Vec<_> = of_session.take_while(|entry| entry.seq < end).collect();
        let settles = |entry: &&Entry| entry.kind.session() == session && entry.kind.settles();
        let settled = before.iter().rposition(settles);
        let before: Vec<_> = before.drain(settled.map_or(0, |at| at + 1)..).cloned().collect();
        let contents = self.load(before.iter().flat_map(Entry::stored_nodes))?;
        let mut open = OpenChanges::of(session);
        for entry in &before {
            open.follow(entry.seq, &entry.kind, &contents, false);
        }
        Ok(open)
    }

    /// A session's open changes at the end of the log.
    pub fn open_changes(&mut self, session: &str) -> Result<&OpenChanges, Error> {
        let entries = self.log.entries();
        let (mut open, from) = self.open_changes.remove(session).unwrap_or_else(|| {
            // From the last moment at which nothing was open.
            let settled = |what: &EntryKind| what.session() == session && what.settles();
            let from = entries.iter().rposition(|entry| settled(&entry.kind));
            (OpenChanges::of(session), from.map_or(0, |at| at + 1))
        });
        let new: Vec<_> = entries[from..]
            .iter()
            .filter(|entry| self.log.concerns(entry, session))
            .cloned()
            .collect();
        let end = entries.len();
        let contents = self.load(new.iter().flat_map(Entry::stored_nodes))?;
        for entry in &new {
            open.follow(entry.seq, &entry.kind, &contents, false);
        }
        Ok(&self.open_changes.entry(session.to_owned()).insert_entry((open, end)).into_mut().0)
    }
}
