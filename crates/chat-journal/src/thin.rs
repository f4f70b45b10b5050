//! What is old goes: checkpoints beyond their age, and the oldest where the store is too large. What a change in
//! review still needs stays.

use std::collections::{BTreeMap, HashSet};

use crate::entry::{Entry, Seq, What};
use crate::log;
use crate::node::Id;
use crate::state::Inner;
use crate::{Error, Journal};

/// What the thinning did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thinned {
    /// Checkpoints that are gone.
    pub checkpoints: usize,
    /// Bytes on disk before.
    pub before: u64,
    /// Bytes on disk now.
    pub after: u64,
}

impl Journal {
    /// Removes what is older than the limits say. It takes a while where much goes: to be called when nobody
    /// waits, once a day or when the project is opened.
    ///
    /// # Errors
    /// `git` fails, or the disk says no. The journal is whole all the same.
    pub fn thin(&self) -> Result<Thinned, Error> {
        self.with(|inner| {
            let before = inner.git.size();
            let age = inner.limits.age.as_millis() as u64;
            let oldest = log::now().saturating_sub(age);
            let mut thinned = Thinned { before, after: before, ..Thinned::default() };
            let young = |entry: &&Entry| entry.at >= oldest;
            let first = inner.log.entries().iter().find(young).map(|entry| entry.seq);
            thinned.checkpoints += inner.cut(first.unwrap_or(inner.log.next()))?;
            thinned.after = inner.git.size();
            // Half of what is left, until it fits: how much a checkpoint holds alone is not known.
            while thinned.after > inner.limits.store_size {
                let all = inner.checkpoints();
                let Some(middle) = all.get(all.len().div_ceil(2)) else { break };
                let gone = inner.cut(*middle)?;
                if gone == 0 {
                    break;
                }
                thinned.checkpoints += gone;
                thinned.after = inner.git.size();
            }
            Ok(thinned)
        })
    }
}

impl Inner {
    fn checkpoints(&self) -> Vec<Seq> {
        let is = |entry: &&Entry| matches!(entry.what, What::Checkpoint { .. });
        self.log.entries().iter().filter(is).map(|entry| entry.seq).collect()
    }

    /// From which entry on everything is needed to review what is open.
    fn open_since(&self) -> Seq {
        let mut open: BTreeMap<&str, Seq> = BTreeMap::new();
        for entry in self.log.entries() {
            let session = entry.what.session();
            if entry.what.settles() {
                open.remove(session);
            } else if matches!(entry.what, What::Change(_)) {
                open.entry(session).or_insert(entry.seq);
            }
        }
        let Some(first) = open.into_values().min() else { return Seq::MAX };
        // The checkpoint before it is what one would go back to.
        self.checkpoints().into_iter().rfind(|seq| *seq < first).unwrap_or(first)
    }

    /// Removes what stands before an entry, and says how many checkpoints went.
    fn cut(&mut self, before: Seq) -> Result<usize, Error> {
        let first = before.min(self.open_since());
        let gone = self.checkpoints().iter().filter(|seq| **seq < first).count();
        if self.log.entries().first().is_none_or(|entry| entry.seq >= first) {
            return Ok(0);
        }
        // What the files are now stays named, so that their contents need not be taken in again.
        let scan = self.scan()?;
        let now = self.tree(&scan)?;
        let mut names = vec![("refs/natter/now".to_owned(), now)];
        let mut contents = HashSet::new();
        for entry in self.log.entries().iter().filter(|entry| entry.seq >= first) {
            contents.extend(entry.kept().map(|kept| kept.id));
            if let What::Checkpoint { tree, .. } = &entry.what {
                names.push((format!("refs/natter/checkpoint/{}", entry.seq), *tree));
            }
        }
        if !contents.is_empty() {
            names.push(("refs/natter/contents".to_owned(), self.gathered(contents)?));
        }
        // First what stays has a name, then the log names nothing else, and then the rest goes: a crash in
        // between leaves too much, never too little.
        self.git.name(&names)?;
        self.log.rewrite(|entry| entry.seq >= first)?;
        self.folds.clear();
        self.stored.clear();
        self.rooted = Some((now, std::sync::Arc::clone(&scan.manifest)));
        scan.manifest.store(&self.folder.join("stat"), self.log.generation(), Some(now))?;
        self.git.prune()?;
        Ok(gone)
    }

    /// A tree of contents, so that they are named.
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
        tree.ok_or(Error::Git { what: "fast-import", said: String::new() })
    }
}
