//! Where long outputs of a session are kept, and the names that models know them by.

use std::path::Path;

/// Outputs that a session keeps at most.
const MOST: u32 = 10_000;

/// A new output: what `make` makes of the first path that is free, and its name.
///
/// # Errors
/// What `make` says, other than that there is such a file.
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
    use std::fs::File;
    use std::io::Write;

    use super::*;

    #[test]
    fn an_output_has_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("fid");
        let make = |path: &Path| File::create_new(path)?.write_all(b"x");
        assert_eq!(create(&below, make).unwrap().0, "out1");
        assert_eq!(create(&below, make).unwrap().0, "out2");
    }
}
