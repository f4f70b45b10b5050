//! Finds the kinds that most files of a project have.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::tree::Paths;

/// A file of each of the `most` kinds that are most frequent, told by what stands behind the last dot of their names;
/// the most frequent kind first.
pub fn kinds(paths: &Paths, most: usize) -> Vec<PathBuf> {
    let mut counts: HashMap<&OsStr, (usize, &Path)> = HashMap::new();
    for path in (0..paths.len()).map(|place| paths.get(place)) {
        if let Some(end) = path.extension() {
            counts.entry(end).or_insert((0, path)).0 += 1;
        }
    }
    let mut all: Vec<_> = counts.into_values().collect();
    all.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    all.into_iter().take(most).map(|(_, path)| path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use chat_permission::path::{PathEnvironment, Project};

    use super::*;
    use crate::tree::walk;

    #[test]
    fn the_most_frequent_kinds_come_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", "c.rs", "d.md", "e.md", "f.toml", "LICENSE", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let tree = walk(&project, &AtomicBool::new(false), |_| {}).unwrap().unwrap();
        let names = |most| {
            let kinds = kinds(tree.paths(), most);
            kinds.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(2), ["a.rs", "d.md"]);
        assert_eq!(names(9).len(), 3);
    }
}
