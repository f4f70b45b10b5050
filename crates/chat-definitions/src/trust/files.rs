//! Compares the files next to a skill's own with those that were trusted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Digest;

/// A file next to a skill's `SKILL.md` that is not as the user trusted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFileChange {
    /// Its path from the skill's folder on.
    pub path: PathBuf,
    /// What became of it.
    pub kind: SkillFileChangeKind,
}

/// What became of a file since the user trusted the skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillFileChangeKind {
    /// It was not there.
    New,
    /// It says something else, or leads elsewhere.
    Changed,
    /// It is not there any more.
    Gone,
}

/// What became of the files of a skill, by path.
pub(super) fn changes(
    before: &BTreeMap<PathBuf, Digest>,
    now: &BTreeMap<PathBuf, Digest>,
) -> Vec<SkillFileChange> {
    let here = now.iter().filter_map(|(path, digest)| match before.get(path) {
        None => Some((path, SkillFileChangeKind::New)),
        Some(before) => (before != digest).then_some((path, SkillFileChangeKind::Changed)),
    });
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let all = here.chain(gone.map(|path| (path, SkillFileChangeKind::Gone)));
    let mut changes: Vec<_> =
        all.map(|(path, kind)| SkillFileChange { path: path.clone(), kind }).collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}
