//! Builds the titles of tabs: file names, with as much of their folders as is needed to tell them
//! apart.

use std::path::{Path, PathBuf};

/// The titles of files, in their order.
pub(super) fn of(paths: &[PathBuf]) -> Vec<String> {
    let title = |path: &PathBuf| {
        let others: Vec<_> = paths
            .iter()
            .filter(|other| *other != path && last(other, 1) == last(path, 1))
            .collect();
        let name = last(path, 1).to_string_lossy().into_owned();
        if others.is_empty() {
            return name;
        }
        let most = path.iter().count();
        let is_enough =
            |parts: &usize| others.iter().all(|other| last(other, *parts) != last(path, *parts));
        let parts = (2..=most).find(is_enough).unwrap_or(most);
        match last(path, parts).parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => format!("{name} ({})", folder.display()),
            None => name,
        }
    };
    paths.iter().map(title).map(|title| title.replace(char::is_control, "�")).collect()
}

/// The last components of a path, this many.
fn last(path: &Path, parts: usize) -> &Path {
    let above = path.ancestors().nth(parts);
    above.and_then(|above| path.strip_prefix(above).ok()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_told_apart_by_as_little_as_does() {
        let titles = |paths: &[&str]| of(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(titles(&["a/b.rs", "c.rs"]), ["b.rs", "c.rs"]);
        assert_eq!(titles(&["a/b.rs", "c/b.rs", "b.rs"]), ["b.rs (a)", "b.rs (c)", "b.rs"]);
        assert_eq!(
            titles(&["one/src/mod.rs", "two/src/mod.rs"]),
            ["mod.rs (one/src)", "mod.rs (two/src)"]
        );
        assert_eq!(titles(&["src/a.rs", "/tmp/src/a.rs"]), ["a.rs (src)", "a.rs (tmp/src)"]);
        assert_eq!(titles(&["a\nb"]), ["a�b"]);
    }
}
