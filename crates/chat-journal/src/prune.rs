//! Removes checkpoints that are too old, and the oldest ones if the store is too large. What an
//! open change still needs is kept. Removes everything of sessions that leave no trace.

use std::collections::{BTreeMap, HashSet};

use crate::entry::{ChangeSource, Changed, Entry, EntryKind, Seq};
use crate::log;
use crate::node::Id;
use crate::state::Inner;
use crate::{Error, Journal};

/// What pruning removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many checkpoints were removed.
    pub checkpoints: usize,
    /// The size on disk before, in bytes.
    pub before: u64,
    /// The size on disk now, in bytes.
    pub after: u64,
}

impl Journal {
    /// Removes what exceeds the limits. This takes a while if there is much to remove, so
    /// checkpoints are removed a quarter of their age too late, and then all at once. Call it when
    /// nobody waits, after the project was worked in.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written. The journal stays intact.
    pub fn prune(&self) -> Result<Pruned, Error> {
        self.with(|inner| {
            let before = inner.git.size();
            let age = inner.limits.age.as_millis() as u64;
            let oldest = log::now().saturating_sub(age);
            let mut pruned = Pruned { before, after: before, ..Pruned::default() };
            let late = |entry: &Entry| entry.at < oldest.saturating_sub(age / 4);
            if inner.log.entries().first().is_some_and(late) {
                let young = |entry: &&Entry| entry.at >= oldest;
                let first = inner.log.entries().iter().find(young).map(|entry| entry.seq);
                pruned.checkpoints += inner.cut(first.unwrap_or(inner.log.next()))?;
                pruned.after = inner.git.size();
            }
            // Removes half of what is left until the rest fits, since the size of a single
            // checkpoint is unknown.
            while pruned.after > inner.limits.store_size {
                let all = inner.checkpoints();
                let Some(middle) = all.get(all.len().div_ceil(2)) else { break };
                let gone = inner.cut(*middle)?;
                if gone == 0 {
                    break;
                }
                pruned.checkpoints += gone;
                pruned.after = inner.git.size();
            }
            Ok(pruned)
        })
    }

    /// Removes all that was recorded of some sessions, and the contents that only they needed. Their
    /// changes stay in the files, as if they had been made outside of Natter. This takes a while.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written. The journal stays intact.
    pub fn erase(&self, sessions: &[String]) -> Result<(), Error> {
        self.with(|inner| {
            let stays = |entry: &Entry| sessions.iter().all(|it| it != entry.kind.session());
            if inner.log.entries().iter().all(stays) {
                return Ok(());
            }
            inner.keep(stays)
        })
    }
}

impl Inner {
    fn checkpoints(&self) -> Vec<Seq> {
        let is = |entry: &&Entry| matches!(entry.kind, EntryKind::Checkpoint { .. });
        self.log.entries().iter().filter(is).map(|entry| entry.seq).collect()
    }

    /// The first entry that is needed to review what is open, or `before` if that is earlier. Marks
    /// sessions as settled whose entries all come before it and that have nothing open.
    fn open_since(&mut self, before: Seq) -> Result<Seq, Error> {
        let mut unsettled: BTreeMap<&str, (Seq, Seq)> = BTreeMap::new();
        for entry in self.log.entries() {
            let session = entry.kind.session();
            let is_persons =
                matches!(entry.kind, EntryKind::Change(Changed { by: ChangeSource::Person, .. }));
            if entry.kind.settles() {
                unsettled.remove(session);
            } else if !is_persons && !matches!(entry.kind, EntryKind::Checkpoint { .. }) {
                unsettled.entry(session).or_insert((entry.seq, entry.seq)).1 = entry.seq;
            }
        }
        let mut early: Vec<_> = unsettled
            .into_iter()
            .filter(|(_, (first, _))| *first < before)
            .map(|(session, (first, last))| (first, last, session.to_owned()))
            .collect();
        early.sort();
        let mut settled = Vec::new();
        let mut since = before;
        for (first, last, session) in early {
            // If this is unknown, it counts as open.
            let is_open = self.open_changes(&session).map_or(true, |open| !open.files.is_empty());
            if is_open || last >= before {
                since = first;
                break;
            }
            settled.push(EntryKind::Forgotten { session });
        }
        self.append(settled)?;
        Ok(since)
    }

    /// Removes everything before an entry, and returns how many checkpoints that were.
    fn cut(&mut self, before: Seq) -> Result<usize, Error> {
        let mut first = self.open_since(before)?;
        if first < before {
            // The checkpoint before it is the one to restore.
            first = self.checkpoints().into_iter().rfind(|seq| *seq < first).unwrap_or(first);
        }
        let gone = self.checkpoints().iter().filter(|seq| **seq < first).count();
        if self.log.entries().first().is_none_or(|entry| entry.seq >= first) {
            return Ok(0);
        }
        self.keep(|entry| entry.seq >= first)?;
        Ok(gone)
    }

    /// Removes all entries but these, and the contents that nothing else needs.
    fn keep(&mut self, stays: impl Fn(&Entry) -> bool) -> Result<(), Error> {
        // The current files stay referenced, so that their contents need not be imported again.
        let scan = self.scan()?;
        let now = self.tree(&scan)?;
        let mut names = vec![("refs/natter/now".to_owned(), now)];
        let mut contents = HashSet::new();
        for entry in self.log.entries().iter().filter(|entry| stays(entry)) {
            contents.extend(entry.stored_nodes().map(|kept| kept.id));
            if let EntryKind::Checkpoint { tree, .. } = &entry.kind {
                names.push((format!("refs/natter/checkpoint/{}", entry.seq), *tree));
            }
        }
        if !contents.is_empty() {
            names.push(("refs/natter/contents".to_owned(), self.gathered(contents)?));
        }
        // First refs are created for what stays, then the log is rewritten, and then the rest is
        // removed: after a crash in between there is too much, never too little.
        self.git.name(&names)?;
        self.log.rewrite(stays)?;
        self.open_changes.clear();
        self.stored.clear();
        self.rooted = Some((now, std::sync::Arc::clone(&scan.manifest)));
        scan.manifest.store(&self.folder.join("stat"), self.log.generation(), Some(now))?;
        self.git.prune()
    }

    /// A tree with these contents, so that they are referenced.
    fn gathered(&self, contents: HashSet<Id>) -> Result<Id, Error> {
        let paths: Vec<(std::ffi::OsString, Id)> = contents
            .into_iter()
            .map(|id| {
                let name = id.to_string();
                (format!("{}/{}", &name[..2], &name[2..]).into(), id)
            })
            .collect();
        let set =
            paths.iter().map(|(path, id)| (path.as_os_str(), crate::Mode::File, *id)).collect();
        let change = crate::git::TreeChange { from: None, removed: Vec::new(), set };
        let tree = self.git.import()?.finish(Some(&change))?;
        tree.ok_or(Error::Git { what: "fast-import", message: String::new() })
    }
}
