//! Lists Natter's own folders, which no command may see: chats, settings, the names of keys, state.

use std::path::{Path, PathBuf};

/// The folders of this machine's Natter, whether or not they exist: from the environment, and at
/// their default paths.
pub(super) fn folders(home: &Path) -> Vec<PathBuf> {
    let bases = [
        ("XDG_CONFIG_HOME", Some(".config")),
        ("XDG_DATA_HOME", Some(".local/share")),
        ("XDG_STATE_HOME", Some(".local/state")),
        ("XDG_CACHE_HOME", Some(".cache")),
        ("XDG_RUNTIME_DIR", None),
    ];
    let mut folders = Vec::new();
    for (variable, usual) in bases {
        let named = std::env::var_os(variable).map(PathBuf::from);
        let named = named.filter(|path| path.is_absolute());
        for base in named.into_iter().chain(usual.map(|usual| home.join(usual))) {
            folders.push(resolved(&base.join("natter")));
        }
    }
    folders.sort();
    folders.dedup();
    folders
}

/// Natter's folder for temporary files: the session's runtime folder, otherwise the cache folder.
pub(super) fn passing(home: &Path) -> Option<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from);
    let base = named("XDG_RUNTIME_DIR").filter(|path| path.is_absolute() && path.is_dir());
    let base = base.or_else(|| named("XDG_CACHE_HOME").filter(|path| path.is_absolute()));
    let base = base.or_else(|| home.is_dir().then(|| home.join(".cache")))?;
    Some(resolved(&base.join("natter")))
}

/// Natter's cache folder.
pub(super) fn cache(home: &Path) -> Option<PathBuf> {
    folder("XDG_CACHE_HOME", ".cache", home)
}

/// Natter's folder for data.
pub(super) fn data(home: &Path) -> Option<PathBuf> {
    folder("XDG_DATA_HOME", ".local/share", home)
}

fn folder(variable: &str, usual: &str, home: &Path) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let base = named.filter(|path| path.is_absolute());
    let base = base.or_else(|| home.is_dir().then(|| home.join(usual)))?;
    Some(resolved(&base.join("natter")))
}

/// The path without links, as far as it exists.
pub(super) fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_is_resolved_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link")).unwrap();
        assert_eq!(resolved(&folder.path().join("link/natter/deeper")), real.join("natter/deeper"));
    }

    #[test]
    fn the_usual_places_are_named_whatever_the_environment_says() {
        let folders = folders(Path::new("/nowhere/home"));
        for name in [".config", ".local/share", ".local/state", ".cache"] {
            let folder = Path::new("/nowhere/home").join(name).join("natter");
            assert!(folders.contains(&folder), "{}", folder.display());
        }
    }
}
