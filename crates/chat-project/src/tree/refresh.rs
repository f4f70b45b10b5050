//! Rebuilds a tree where something changed; all else is shared with the old one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chat_permission::path::Project;

use super::walk::Walk;
use super::{Folder, Tree};
use crate::ignored::Ignored;

/// How much of a folder is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// What is in it.
    Itself,
    /// All below, too.
    Below,
}

/// The tree after changes in some folders, given by their paths from the project on. What the tree does not have is
/// left out: a folder above it must have changed, too.
pub(crate) fn refreshed(
    tree: &Tree,
    project: &Project,
    changed: &BTreeMap<PathBuf, Depth>,
    given_up: &AtomicBool,
) -> Tree {
    let mut root = Arc::clone(tree.root());
    // In the order of paths a folder stands before what is in it.
    for (path, depth) in changed {
        let names: Vec<&OsStr> = path.iter().collect();
        let Some(old) = find(&root, &names) else { continue };
        let Some(new) = again(project, path, &old, *depth, given_up) else { continue };
        root = with(&root, &names, &new);
    }
    Tree::new(root)
}

fn find(root: &Arc<Folder>, names: &[&OsStr]) -> Option<Arc<Folder>> {
    let mut found = root;
    for name in names {
        found = found.get(found.position(name)?)?.folder?;
    }
    Some(Arc::clone(found))
}

/// Lists a folder again; none where it is gone, or was swapped with a link.
fn again(
    project: &Project,
    path: &Path,
    old: &Folder,
    depth: Depth,
    given_up: &AtomicBool,
) -> Option<Arc<Folder>> {
    let resolved = project.resolve_path(path).ok()?;
    if resolved.relative() != Some(path) {
        return None;
    }
    let folder = project.open_folder(&resolved).ok()?;
    let mut whole = resolved.real().to_owned();
    let ignored = Ignored::begin(folder.as_fd(), &whole);
    let walk = Walk::new(given_up);
    let levels = path.iter().count() + 1;
    let known = |name: &OsStr| {
        let entry = old.get(old.position(name)?)?;
        entry.folder.filter(|_| depth == Depth::Itself).cloned()
    };
    let listed = walk.list(&folder, &whole, &ignored);
    Some(listed.fill(|name| {
        known(name).unwrap_or_else(|| walk.below(&folder, name, &mut whole, &ignored, levels))
    }))
}

/// The same folder with another at a path in it.
fn with(folder: &Arc<Folder>, names: &[&OsStr], new: &Arc<Folder>) -> Arc<Folder> {
    let Some((first, rest)) = names.split_first() else { return Arc::clone(new) };
    let entries = folder.entries().map(|entry| {
        let below = entry
            .folder
            .map(|old| if entry.name == *first { with(old, rest, new) } else { Arc::clone(old) });
        (entry.name, entry.kind, below)
    });
    Folder::new(entries.collect(), folder.stamp, folder.state)
}
