//! Finds the programs that come with this one.

use std::path::PathBuf;

/// One of our own programs: where this variable says, next to the running one, or where packages put helpers.
pub(crate) fn find(name: &str, variable: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let own = std::env::current_exe().ok()?;
    let folder = own.parent()?;
    // Cargo's tests lie one folder deeper than what it builds.
    let beside = [folder.join(name), folder.join("../libexec").join(name)];
    let tested = folder.ends_with("deps").then(|| folder.join("..").join(name));
    beside.into_iter().chain(tested).find(|path| path.is_file())
}
