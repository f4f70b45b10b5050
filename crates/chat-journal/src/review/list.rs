//! Lists a session's open changes, compared with the current files on disk.

use std::path::Path;

use super::{FileChange, FileKind, Hunk};
use crate::diff::{Changed, changed, split};
use crate::node::{Node, State};
use crate::open_changes::{self, OpenFile};
use crate::state::Inner;
use crate::{disk, merge};

/// How a hunk relates to the file on disk.
enum HunkState {
    /// It is there, shifted by this many lines.
    Open(isize),
    /// Its lines have been changed since.
    Touched,
    /// Somebody restored the old lines.
    Gone,
}

impl Inner {
    /// The change at a path; none if somebody undid all of it.
    pub fn listed(&self, session: &str, path: &Path, open_file: &OpenFile) -> Option<FileChange> {
        // An unreadable file is certainly not what the session left.
        let found = disk::read(&self.project, path).ok();
        let changed_since = found.as_ref() != Some(&open_file.now);
        let is_text = |state: &State| state.as_ref().is_none_or(Node::is_text);
        let binary = !(is_text(&open_file.base) && is_text(&open_file.now));
        let mut hunks = Vec::new();
        let parts = found.as_ref().and_then(|found| parts(&open_file.now, found));
        for hunk in &open_file.hunks {
            let hunk_state = match &found {
                Some(found) => hunk_state(open_file, hunk, found, parts.as_deref()),
                None => HunkState::Touched,
            };
            let by = match hunk_state {
                HunkState::Gone => continue,
                HunkState::Open(by) => by,
                HunkState::Touched => 0,
            };
            hunks.push(Hunk {
                id: hunk.id,
                old: (hunk.old.start, hunk.old.len()),
                new: (hunk.new.start, hunk.new.len()),
                line: hunk.new.start.saturating_add_signed(by),
                touched: open_file.base.is_none() && open_file.touched
                    || matches!(hunk_state, HunkState::Touched),
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
            session: session.to_owned(),
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

/// The differences between the file on disk and what the session left; none if these are not texts.
fn parts(now: &State, found: &State) -> Option<Vec<Changed>> {
    let (now, found) = (now.as_ref()?, found.as_ref()?);
    if now.bytes == found.bytes {
        return Some(Vec::new());
    }
    let is_text = now.is_text() && found.is_text();
    is_text.then(|| changed(&split(&now.bytes), &split(&found.bytes)))
}

fn hunk_state(
    open_file: &OpenFile,
    hunk: &open_changes::Hunk,
    found: &State,
    parts: Option<&[Changed]>,
) -> HunkState {
    if *found == open_file.now {
        return HunkState::Open(0);
    }
    if let Some(parts) = parts {
        let meets =
            |part: &Changed| part.old.start <= hunk.new.end && hunk.new.start <= part.old.end;
        if !parts.iter().any(meets) {
            let above = parts.iter().take_while(|part| part.old.end <= hunk.new.start);
            return HunkState::Open(
                above.map(|part| part.new.len() as isize - part.old.len() as isize).sum(),
            );
        }
    }
    match merge::states(&open_file.now, found, &open_file.without(&[hunk.id])) {
        Ok(merged) if merged == *found => HunkState::Gone,
        Ok(_) => HunkState::Open(0),
        Err(_) => HunkState::Touched,
    }
}
