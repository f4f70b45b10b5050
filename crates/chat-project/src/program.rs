//! Finds the programs that Natter starts itself, outside of the sandbox.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where systems keep programs, whatever the person's settings say.
const USUAL: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// The whole path of a program: from the system's folders, then from where the person's programs are
/// found, but none that lies in `project`. A person may have put a folder of the project there, as
/// an environment of Python's does, and what lies in that anybody may have made.
pub fn program(name: &str, project: &Path) -> Option<PathBuf> {
    let named = env::var_os("PATH").unwrap_or_default();
    find(name, project, USUAL.iter().map(PathBuf::from), &named)
}

fn find(
    name: &str,
    project: &Path,
    usual: impl Iterator<Item = PathBuf>,
    named: &OsStr,
) -> Option<PathBuf> {
    usual
        .chain(env::split_paths(named))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| {
            let real = program.canonicalize();
            real.is_ok_and(|real| real.is_file() && !real.starts_with(project))
                && !program.starts_with(project)
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_is_the_systems_before_the_persons_and_never_the_projects() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [system, own, project, linked] =
            ["system", "own", "project/.venv/bin", "linked"].map(|name| root.join(name));
        for folder in [&system, &own, &project] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("git"), "").unwrap();
        }
        std::fs::write(project.join("other"), "").unwrap();
        symlink(&project, &linked).unwrap();
        symlink(project.join("other"), own.join("other")).unwrap();
        let named = env::join_paths([Path::new("."), &project, &linked, &own]).unwrap();
        let found = |name: &str, usual: &[&PathBuf]| {
            let usual = usual.iter().map(|&folder| folder.clone());
            find(name, &root.join("project"), usual, &named)
        };
        assert_eq!(found("git", &[&system]), Some(system.join("git")));
        assert_eq!(found("git", &[]), Some(own.join("git")));
        assert_eq!(found("other", &[&system]), None);
        assert_eq!(found("none", &[&system]), None);
    }
}
