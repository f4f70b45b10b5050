//! Defines where a definition comes from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Digest;
use crate::tree::Tree;

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The user's own.
    User,
    /// The project's, where anybody may have put it.
    Project,
}

/// The file of a definition.
#[derive(Clone)]
pub struct Place {
    /// Whose it is.
    pub origin: Origin,
    /// Its absolute path.
    pub path: PathBuf,
    /// The hash of its path and its contents; those of a project's skill include all files of its folder.
    pub digest: Digest,
    pub(crate) tree: Arc<Tree>,
    /// Its path from there on.
    pub(crate) relative: PathBuf,
    /// Its text, in a project: what the user is asked about.
    pub(crate) text: Option<Arc<str>>,
}

impl Place {
    pub(crate) fn new(tree: &Arc<Tree>, relative: &Path, digest: Digest) -> Self {
        Self {
            origin: tree.origin(),
            path: tree.base().join(relative),
            digest,
            tree: Arc::clone(tree),
            relative: relative.to_owned(),
            text: None,
        }
    }

    /// The same with the file's text, which is kept in a project.
    pub(crate) fn with_text(self, text: &str) -> Self {
        let text = (self.origin == Origin::Project).then(|| text.into());
        Self { text, ..self }
    }

    #[cfg(test)]
    pub(crate) fn imagined() -> Self {
        let tree = Arc::new(Tree::User("/imagined".into()));
        Self::new(&tree, Path::new("file.md"), Digest::of([]))
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        let of = |place: &Self| (place.origin, place.digest);
        of(self) == of(other) && self.path == other.path
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} {}", self.origin, self.path.display(), self.digest)
    }
}
