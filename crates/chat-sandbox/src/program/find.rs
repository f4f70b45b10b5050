//! Finds the program to run before anything is started, since a shell in the sandbox could only
//! report that it failed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Returns an error if there is no such program in `path` (the variable), or if none of them is
/// visible.
pub(crate) fn find(
    program: &OsStr,
    path: &OsStr,
    folder: &Path,
    is_visible: impl Fn(&Path) -> bool,
) -> Result<(), Error> {
    let missing = || Error::NotFound(program.to_owned());
    // The shell would take it for an option.
    if program.is_empty() || program.as_bytes().starts_with(b"-") {
        return Err(missing());
    }
    let candidates: Vec<PathBuf> = if program.as_bytes().contains(&b'/') {
        vec![folder.join(program)]
    } else {
        std::env::split_paths(path).map(|place| folder.join(place).join(program)).collect()
    };
    let mut hidden = None;
    for candidate in candidates.into_iter().filter(|candidate| is_program(candidate)) {
        if is_visible(&candidate) {
            return Ok(());
        }
        hidden.get_or_insert(candidate);
    }
    Err(hidden.map_or_else(missing, Error::HiddenProgram))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;

    #[test]
    fn a_program_is_found_as_the_shell_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["first/plain", "first/tool", "second/tool", "second/-x"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "").unwrap();
            if !name.ends_with("plain") {
                fs::set_permissions(at(name), Permissions::from_mode(0o755)).unwrap();
            }
        }
        let path = std::env::join_paths([at("first"), at("second")]).unwrap();
        let in_second = at("second");
        let look = |program: &str, visible: bool| {
            find(OsStr::new(program), &path, folder.path(), |it| {
                visible && it.starts_with(&in_second)
            })
        };
        // The first one is hidden, so the shell takes the second.
        look("tool", true).unwrap();
        look("./second/tool", true).unwrap();
        look(at("second/tool").to_str().unwrap(), true).unwrap();
        for program in ["", "-x", "plain", "none", "./tool", "second"] {
            assert!(matches!(look(program, true), Err(Error::NotFound(_))), "{program}");
        }
        let hidden = look("tool", false);
        assert!(matches!(hidden, Err(Error::HiddenProgram(path)) if path == at("first/tool")));
    }
}
