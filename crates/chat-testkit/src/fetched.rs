//! Finds what `scripts/test` fetched for the tests, by the environment variables in which it says where that is.

use std::path::PathBuf;

/// The paths in these variables. None if one is missing and not required; says so on standard error.
///
/// # Panics
/// If one is missing with `CI=true`.
pub(crate) fn fetched<const N: usize>(what: &str, variables: [&str; N]) -> Option<[PathBuf; N]> {
    let paths = variables.map(|name| std::env::var_os(name).map(PathBuf::from));
    if paths.iter().all(Option::is_some) {
        return Some(paths.map(Option::unwrap_or_default));
    }
    let insists = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!insists, "no {what}: {} must be set", variables.join(" and "));
    eprintln!("no {what}: {} are not set", variables.join(" and "));
    None
}
