//! Reads and changes the contents of a file: it is read whole, and changed only if it is still the
//! same.

use std::fs::File;
use std::io::{Read, Take};
use std::sync::atomic::AtomicBool;

use chat_core::message::{Preview, ToolView};
use chat_core::tool::ToolFailure;

use crate::diff::Diff;
use crate::file_versions::{FileVersion, FileVersions};
use crate::spec::{size, still_wanted};
use crate::tool_path::{ToolPath, failed};

/// The maximum size of an edited file, which is held in memory several times.
const LIMIT: u64 = 16 * 1024 * 1024;

/// Reads a whole file.
///
/// # Errors
///
/// It cannot be read, or is too long.
pub fn read(place: &ToolPath) -> Result<Vec<u8>, ToolFailure> {
    let file = place.project.open_file(&place.path).map_err(|error| failed(&error))?;
    let mut reader: Take<File> = file.take(LIMIT + 1);
    let mut bytes = Vec::new();
    let broken =
        |error| ToolFailure::new(format!("{} could not be read: {error}.", place.display_name()));
    reader.read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ToolFailure::new(format!(
            "{} is larger than {}: use run_command.",
            place.display_name(),
            size(LIMIT)
        )));
    }
    Ok(bytes)
}

/// Replaces a file whose contents were `old` when it was judged.
///
/// # Errors
///
/// They have changed, the file cannot be written, or the call was given up.
pub fn replace(
    place: &ToolPath,
    old: &[u8],
    new: &[u8],
    versions: &FileVersions,
    given_up: &AtomicBool,
) -> Result<(), ToolFailure> {
    if read(place)? != old {
        return Err(ToolFailure::new(format!(
            "{} was changed by someone else in the meantime, so nothing was written. Read it again.",
            place.display_name()
        )));
    }
    still_wanted(given_up)?;
    place.project.replace(&place.path, new).map_err(|error| failed(&error))?;
    versions.put(place.path.real(), FileVersion::of(new));
    Ok(())
}

/// What a person is shown before a file is changed, or created.
pub fn preview(diff: &Diff, is_new: bool) -> Preview {
    let Diff { text, added, removed } = diff.clone();
    Preview::Change { is_new, diff: text, added, removed }
}

/// What the user sees after the change.
pub fn view(place: &ToolPath, diff: Diff, created: bool) -> ToolView {
    let Diff { text: diff, added, removed } = diff;
    ToolView::Edited { path: place.display_name(), diff, added, removed, created }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chat_permission::path::{PathEnvironment, Project};

    use super::*;

    #[test]
    fn nothing_is_written_once_it_was_stopped() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "a").unwrap();
        let project = Arc::new(Project::open(folder.path(), &PathEnvironment::default()).unwrap());
        let place = ToolPath { path: project.resolve("a").unwrap(), project };
        let write = |stopped| {
            let given_up = AtomicBool::new(stopped);
            replace(&place, b"a", b"b", &FileVersions::default(), &given_up)
        };
        assert!(write(true).unwrap_err().text.starts_with("This was stopped"));
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"a");
        write(false).unwrap();
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"b");
    }
}
