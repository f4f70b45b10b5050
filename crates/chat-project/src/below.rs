//! Lists the files below a folder of a project.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chat_permission::path::{Error, Project};

use crate::tree::walk::walk;

/// The first `most` files below a folder, by their paths from the project on, in the tree's order. What is ignored is
/// left out. The empty path is the project itself. None where there is no such folder.
///
/// # Errors
/// The project's folder cannot be opened.
pub fn below(project: &Project, folder: &Path, most: usize) -> Result<Vec<PathBuf>, Error> {
    let tree = walk(project, &AtomicBool::new(false), |_| {})?;
    let Some(tree) = tree.filter(|tree| tree.folder(folder).is_some()) else {
        return Ok(Vec::new());
    };
    let paths = tree.paths();
    let all = (0..paths.len()).map(|place| paths.get(place));
    Ok(all.filter(|path| path.starts_with(folder)).take(most).map(Path::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use chat_permission::path::PathEnvironment;

    use super::*;

    #[test]
    fn the_files_below_a_folder_are_listed_without_those_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/one.txt", "a/b/two.txt", "ab/three.txt", "four.txt", "a/left.log"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(folder.path().join(".gitignore"), "*.log\n").unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let list = |folder: &str, most| {
            let found = below(&project, Path::new(folder), most).unwrap();
            found.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(list("a", 9), ["a/b/two.txt", "a/one.txt"]);
        assert_eq!(list("a", 1).len(), 1);
        assert_eq!(list("", 9).len(), 5);
        assert!(list("missing", 9).is_empty());
    }
}
