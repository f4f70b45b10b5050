//! The contents of a file that is to be changed: read whole, and changed only while they are the same.

use std::fs::File;
use std::io::{Read, Take};

use chat_core::message::{Preview, ToolView};
use chat_core::tool::ToolFailure;

use crate::diff::Diff;
use crate::marks::{Mark, Marks};
use crate::place::{Place, failed};
use crate::spec::size;

/// A file that is edited is held in memory, several times.
const LIMIT: u64 = 16 * 1024 * 1024;

/// Reads a whole file.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn read(place: &Place) -> Result<Vec<u8>, ToolFailure> {
    let file = place.project.open_file(&place.path).map_err(|error| failed(&error))?;
    let mut reader: Take<File> = file.take(LIMIT + 1);
    let mut bytes = Vec::new();
    let broken = |error| ToolFailure::new(format!("{} could not be read: {error}.", place.shown()));
    reader.read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ToolFailure::new(format!(
            "{} is larger than {}: use run_command.",
            place.shown(),
            size(LIMIT)
        )));
    }
    Ok(bytes)
}

/// Replaces a file whose contents were `old` when it was judged.
///
/// # Errors
/// They are others by now, or it cannot be written.
pub fn replace(place: &Place, old: &[u8], new: &[u8], marks: &Marks) -> Result<(), ToolFailure> {
    if read(place)? != old {
        return Err(ToolFailure::new(format!(
            "{} was changed by somebody else in the meantime, and nothing was written. Read it again.",
            place.shown()
        )));
    }
    place.project.replace(&place.path, new).map_err(|error| failed(&error))?;
    marks.put(place.path.real(), Mark::of(new));
    Ok(())
}

/// What a person is shown before.
pub fn preview(diff: &Diff) -> Preview {
    let Diff { text, added, removed } = diff.clone();
    Preview::Change { diff: text, added, removed }
}

/// And after.
pub fn view(place: &Place, diff: Diff, created: bool) -> ToolView {
    let Diff { text: diff, added, removed } = diff;
    ToolView::Edited { path: place.shown(), diff, added, removed, created }
}
