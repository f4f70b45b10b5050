//! Builds the part of the view that was granted to a program in addition to its own folder.
//!
//! What may be written is protected like a project. What may only be read needs no protection, but
//! for its secrets.

use std::path::PathBuf;

use super::{Protection, View, nested};
use crate::program::FolderAccess;

/// Adds the folders that may only be read.
pub(super) fn add(view: &mut View) {
    let reads = view.granted.iter().filter(|granted| granted.access == FolderAccess::Read);
    let reads: Vec<PathBuf> = reads.map(|granted| granted.path.clone()).collect();
    for folder in reads {
        if view.writable().any(|outer| folder.starts_with(outer)) {
            // The folder around it has been searched already. What was found here, and could
            // otherwise be changed in part, must not be changed at all.
            view.protected.retain(|protection| !protection.path().starts_with(&folder));
            view.protected.push(Protection::ReadOnly(folder));
        } else {
            nested::mask(view, &folder);
        }
    }
    // A folder may be in another one's repository.
    let mut protected = Vec::with_capacity(view.protected.len());
    for protection in view.protected.drain(..) {
        if !protected.contains(&protection) {
            protected.push(protection);
        }
    }
    view.protected = protected;
}
