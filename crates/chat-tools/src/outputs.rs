//! Stores the long outputs of a session, under names that models can refer to.

use std::fs::File;
use std::path::{Path, PathBuf};

use chat_core::tool::ToolFailure;
use rustix::fs::{Mode, OFlags};

/// How many outputs a session keeps at most.
const MOST: u32 = 10_000;

/// The file of an output. Its id has only letters and digits, so that it cannot be a path.
fn file(folder: &Path, id: &str) -> Option<PathBuf> {
    let is_id = (1..=16).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_id.then(|| folder.join(format!("{id}.txt")))
}

/// Opens an output.
///
/// # Errors
///
/// There is none with this id.
pub fn open(folder: &Path, id: &str) -> Result<File, ToolFailure> {
    let unknown = || {
        ToolFailure::new(format!(
            "There is no output “{id}”. Its ID is given where the output was truncated."
        ))
    };
    let path = file(folder, id).ok_or_else(unknown)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|_| unknown())?;
    Ok(File::from(file))
}

/// Creates a new output: the result of `make` for the first free path, and its id.
///
/// # Errors
///
/// Those of `make`, except that the file exists already.
pub fn create<T>(
    folder: &Path,
    mut make: impl FnMut(&Path) -> std::io::Result<T>,
) -> std::io::Result<(String, T)> {
    std::fs::create_dir_all(folder)?;
    for number in 1..=MOST {
        let id = format!("out{number}");
        let path = folder.join(format!("{id}.txt"));
        match make(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return Ok((id, made?)),
        }
    }
    Err(std::io::Error::other("there are too many outputs"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn an_output_has_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("fid");
        let make = |path: &Path| File::create_new(path)?.write_all(b"x");
        assert_eq!(create(&below, make).unwrap().0, "out1");
        assert_eq!(create(&below, make).unwrap().0, "out2");
        let mut text = String::new();
        open(&below, "out2").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }

    #[test]
    fn no_name_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("fid");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(folder.path().join("secret.txt"), "x").unwrap();
        std::os::unix::fs::symlink("../secret.txt", below.join("link.txt")).unwrap();
        for id in
            ["../secret", "link", "", "/etc/passwd", "out1.txt", "a/../../secret", "OUT1", "out1\0"]
        {
            assert!(open(&below, id).is_err(), "{id}");
        }
    }
}
