//! Finds the real folders that the paths of a file lead to.

use std::fs;
use std::path::{Path, PathBuf};

use super::PathBase;

/// Why a folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BadFolder {
    /// It does not exist.
    Missing,
    /// A link in the project leads out of it: whoever wrote the project chose where to.
    LeadsOut,
}

impl PathBase {
    /// The real path of a folder, as [`folder`](Self::folder) gives it. A path that is in the project, or passes through
    /// it, must end in it. Blocks.
    pub(crate) fn real(&self, folder: &Path) -> Result<PathBuf, BadFolder> {
        let real = fs::canonicalize(folder).map_err(|_| BadFolder::Missing)?;
        let Some(project) = &self.project else { return Ok(real) };
        let project = fs::canonicalize(project).map_err(|_| BadFolder::Missing)?;
        let is_inside = |path: &Path| path.starts_with(&project);
        let passes_through =
            || folder.ancestors().any(|it| fs::canonicalize(it).is_ok_and(|it| is_inside(&it)));
        if is_inside(&real) || !passes_through() { Ok(real) } else { Err(BadFolder::LeadsOut) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_in_the_project_must_stay_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let at = |path: &str| root.join(path);
        fs::create_dir_all(at("project/data")).unwrap();
        fs::create_dir_all(at("home/keys")).unwrap();
        symlink(at("home/keys"), at("project/out")).unwrap();
        symlink("..", at("project/data/up")).unwrap();
        symlink("data", at("project/in")).unwrap();
        symlink(at("project"), at("home/link")).unwrap();
        symlink(at("home/keys"), at("home/mine")).unwrap();
        let base = PathBase { home: at("home"), project: Some(at("project")) };
        for (path, expected) in [
            ("project/in", Ok("project/data")),
            ("project/data/up", Ok("project")),
            ("project/out", Err(BadFolder::LeadsOut)),
            ("home/link/out", Err(BadFolder::LeadsOut)),
            ("project/none", Err(BadFolder::Missing)),
            // The user's own links lead where the user wants.
            ("home/mine", Ok("home/keys")),
            ("home", Ok("home")),
        ] {
            assert_eq!(base.real(&at(path)), expected.map(at), "{path}");
        }
        let user = PathBase { project: None, ..base };
        assert_eq!(user.real(&at("project/out")), Ok(at("home/keys")));
    }
}
