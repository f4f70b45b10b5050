//! Lists a session's open changes, compared with what lies on disk by now.

use std::path::Path;

use super::{FileChange, FileKind, Hunk};
use crate::diff::{Changed, changed, split};
use crate::node::{Node, State};
use crate::open_changes::{self, OpenFile};
use crate::state::Inner;
use crate::{disk, merge};

/// How a hunk stands to what lies on disk.
enum HunkStatus {
    /// It is there, so many lines further down or up.
    Open(isize),
    /// Its lines were changed since.
    Touched,
    /// Somebody brought back what stood there before.
    Gone,
}

impl Inner {
    /// The change at a path; none where somebody undid it all.
    pub fn listed(&self, path: &Path, open_file: &OpenFile) -> Option<FileChange> {
        // What cannot be read is surely not what the session left.
        let found = disk::read(&self.project, path).ok();
        let changed_since = found.as_ref() != Some(&open_file.now);
        let is_text = |state: &State| state.as_ref().is_none_or(Node::is_text);
        let binary = !(is_text(&open_file.base) && is_text(&open_file.now));
        let mut hunks = Vec::new();
        let parts = found.as_ref().and_then(|found| parts(&open_file.now, found));
        for hunk in &open_file.hunks {
            let status = match &found {
                Some(found) => hunk_status(open_file, hunk, found, parts.as_deref()),
                None => HunkStatus::Touched,
            };
            let by = match status {
                HunkStatus::Gone => continue,
                HunkStatus::Open(by) => by,
                HunkStatus::Touched => 0,
            };
            hunks.push(Hunk {
                id: hunk.id,
                old: (hunk.old.start, hunk.old.len()),
                new: (hunk.new.start, hunk.new.len()),
                line: hunk.new.start.saturating_add_signed(by),
                touched: open_file.base.is_none() && open_file.touched
                    || matches!(status, HunkStatus::Touched),
            });
        }
        let mode = |state: &State| state.as_ref().map(|node| node.mode);
        let undone = found.as_ref() == Some(&open_file.base)
            || !open_file.hunks.is_empty() && mode(&open_file.base) == mode(&open_file.now);
        if hunks.is_empty() && undone && open_file.origin.is_none() {
            return None;
        }
        let kind = match (&open_file.origin, &open_file.base, &open_file.now) {
            (Some(from), ..) => FileKind::Moved { from: from.clone() },
            (None, None, _) => FileKind::Created,
            (None, _, None) => FileKind::Deleted,
            _ => FileKind::Modified,
        };
        Some(FileChange {
            path: path.to_owned(),
            kind,
            before: open_file.base.clone(),
            after: open_file.now.clone(),
            added: hunks.iter().map(|hunk| hunk.new.1 as u64).sum(),
            removed: hunks.iter().map(|hunk| hunk.old.1 as u64).sum(),
            hunks,
            binary,
            changed_since,
            seq: open_file.last,
        })
    }
}

/// Where what lies on disk differs from what the session left; nothing where these are no texts.
fn parts(now: &State, found: &State) -> Option<Vec<Changed>> {
    let (now, found) = (now.as_ref()?, found.as_ref()?);
    if now.bytes == found.bytes {
        return Some(Vec::new());
    }
    let is_text = now.is_text() && found.is_text();
    is_text.then(|| changed(&split(&now.bytes), &split(&found.bytes)))
}

fn hunk_status(
    open_file: &OpenFile,
    hunk: &open_changes::Hunk,
    found: &State,
    parts: Option<&[Changed]>,
) -> HunkStatus {
    if *found == open_file.now {
        return HunkStatus::Open(0);
    }
    if let Some(parts) = parts {
        let meets =
            |part: &Changed| part.old.start <= hunk.new.end && hunk.new.start <= part.old.end;
        if !parts.iter().any(meets) {
            let above = parts.iter().take_while(|part| part.old.end <= hunk.new.start);
            return HunkStatus::Open(
                above.map(|part| part.new.len() as isize - part.old.len() as isize).sum(),
            );
        }
    }
    match merge::states(&open_file.now, found, &open_file.without(&[hunk.id])) {
        Ok(merged) if merged == *found => HunkStatus::Gone,
        Ok(_) => HunkStatus::Open(0),
        Err(_) => HunkStatus::Touched,
    }
}
