//! What the person rejected, as the model is told of it.

use std::collections::HashSet;
use std::path::Path;

use super::Rejection;
use crate::entry::{By, Changed, Entry, Seq, What};
use crate::node::Node;
use crate::state::Inner;
use crate::{Error, Journal, diff, log};

impl Journal {
    /// What the person rejected of a session's changes from a moment on (milliseconds since 1970), the oldest
    /// first, and the moment until which that is: what they reject later is from then on. What they rejected and wanted after all since then is left out; what they had rejected before and
    /// wanted after all is told as that.
    ///
    /// # Errors
    /// `git` fails, or the disk says no.
    pub fn rejections(&self, session: &str, since: u64) -> Result<(Vec<Rejection>, u64), Error> {
        self.with(|inner| {
            let newest = inner.log.entries().last().map_or(0, |newest| newest.at);
            Ok((inner.rejections(session, since)?, log::now().max(newest + 1)))
        })
    }
}

/// What tells a rejection, and the taking back of it, from others: the answer, and where the file lay before it.
fn key(change: &Changed) -> Option<(Seq, &Path)> {
    match change.by {
        By::Reject => Some((change.answer?, change.from.as_deref().unwrap_or(&change.path))),
        By::Undo => Some((change.undoes?, &change.path)),
        _ => None,
    }
}

fn change(entry: &Entry) -> Option<&Changed> {
    match &entry.what {
        What::Change(change) => Some(change),
        _ => None,
    }
}

impl Inner {
    fn rejections(&mut self, session: &str, since: u64) -> Result<Vec<Rejection>, Error> {
        let is_meant = |entry: &&Entry| {
            let change = change(entry);
            change.is_some_and(|change| {
                matches!(change.by, By::Reject | By::Undo)
                    && change.origin.session == session
                    && entry.at >= since
            })
        };
        let mut found: Vec<_> = self.log.entries().iter().filter(is_meant).cloned().collect();
        let both: HashSet<(Seq, std::path::PathBuf)> = {
            let of = |by: By| {
                let changes = found.iter().filter_map(change).filter(move |one| one.by == by);
                changes.filter_map(key).collect::<HashSet<_>>()
            };
            let (rejected, undone) = (of(By::Reject), of(By::Undo));
            rejected.intersection(&undone).map(|(seq, path)| (*seq, path.to_path_buf())).collect()
        };
        found.retain(|entry| {
            let key = change(entry).and_then(key);
            !key.is_some_and(|(seq, path)| both.contains(&(seq, path.to_owned())))
        });
        let contents = self.load(found.iter().flat_map(Entry::kept))?;
        let mut told = Vec::new();
        for change in found.iter().filter_map(change) {
            let (before, after) = (contents.state(change.before), contents.state(change.after));
            if before == after && (after.is_none() || change.from.is_none()) {
                continue;
            }
            let text = |node: &Option<Node>| match node {
                None => Some(Vec::new()),
                Some(node) => node.is_text().then(|| node.bytes.to_vec()),
            };
            let diff = match (text(&before), text(&after)) {
                (Some(old), Some(new)) => diff::unified(&old, &new),
                _ => String::new(),
            };
            told.push(Rejection {
                path: change.path.clone(),
                diff,
                deleted: after.is_none(),
                restored: before.is_none() || change.from.is_some(),
                undone: change.by == By::Undo,
            });
        }
        Ok(told)
    }
}
