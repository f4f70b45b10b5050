//! Reads a file for an editor with all that must be kept, and writes it back only while it is still
//! the same.

mod endings;
mod stamp;

use std::io;
use std::path::Path;

use chat_permission::path::{Error, Guard, Kind, Project, ResolvedPath};

pub use endings::Endings;
pub use stamp::Stamp;

use crate::read;
use crate::text::{self, Encoding};

/// Bytes of a file beyond which an editor does not take it, unless it is told otherwise.
pub const LARGE: u64 = 16 * 1024 * 1024;

/// What a file is to an editor.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A text.
    Text(Document),
    /// Something else, and what it seems to be, in plain English.
    Binary(&'static str),
    /// Larger than was allowed: this many bytes.
    TooLarge(u64),
}

/// A text that was read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The text; its lines end with `\n` where all of them end alike ([`Endings::Mixed`] is as it was).
    pub text: String,
    /// How it is written down.
    pub format: Format,
    /// What the file was when it was read.
    pub stamp: Stamp,
    /// Whether the person may write to it, by its permissions. Saving may fail all the same.
    pub is_read_only: bool,
}

/// How a text is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Its characters.
    pub encoding: Encoding,
    /// The ends of its lines.
    pub endings: Endings,
}

/// Why a file was not opened or saved.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The path does not lead to a file in the project.
    #[error("the path leads out of the project")]
    Outside,
    /// It is never to be read or written.
    #[error("the file is kept from programs")]
    Kept,
    /// It changed on disk since it was read, or is gone. Nothing was written.
    #[error("the file changed on disk")]
    Changed,
    /// Its encoding does not have this character. Nothing was written.
    #[error("the file's encoding does not have {0:?}")]
    Lacks(char),
    /// It has other names, which would keep the old text. Nothing was written.
    #[error("the file has several names")]
    SeveralLinks,
    /// The path does not lead there, or the system refused.
    #[error(transparent)]
    Path(#[from] Error),
    /// It cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Opens a file by its path from the project on, where it has `most` bytes or fewer. Links are followed while they stay in the project.
///
/// # Errors
/// It is no file of the project, or cannot be read.
pub fn open(project: &Project, path: &Path, most: u64) -> Result<Opened, Refused> {
    let resolved = project.resolve_path(path)?;
    inside(&resolved)?;
    let file = project.open_file(&resolved)?;
    let found = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    let (bytes, is_more) = read::at_most(&file, most)?;
    if is_more {
        return Ok(Opened::TooLarge(found.st_size as u64));
    }
    let Some((text, encoding)) = text::decode(&bytes) else {
        return Ok(Opened::Binary(text::binary_kind(&bytes)));
    };
    let (text, endings) = endings::read(text);
    Ok(Opened::Text(Document {
        text,
        format: Format { encoding, endings },
        stamp: Stamp::new(&found, &bytes),
        is_read_only: found.st_mode & 0o222 == 0,
    }))
}

/// Whether a file is no longer what it was when it was read: changed, replaced or gone. One that was only touched
/// is the same.
pub fn is_changed(project: &Project, path: &Path, stamp: &Stamp) -> bool {
    let now = || {
        let resolved = project.resolve_path(path).ok()?;
        inside(&resolved).ok()?;
        let file = project.open_file(&resolved).ok()?;
        stamp.is_still(&file).ok()
    };
    now() != Some(true)
}

/// Writes a text back to the file that it was read from, whole or not at all, with the encoding, line ends and
/// permissions that it had, and says what the file is now. With no stamp it is a new file, made where nothing is;
/// folders that are missing are made, too.
///
/// # Errors
/// The file is another by now, cannot have the text, or cannot be written. It is as it was.
pub fn save(
    project: &Project,
    path: &Path,
    text: &str,
    format: Format,
    stamp: Option<&Stamp>,
) -> Result<Stamp, Refused> {
    let bytes = encoded(text, format)?;
    let resolved = writable(project, path)?;
    match stamp {
        // Something came to lie there that was never read.
        None if resolved.kind() != Kind::Missing => return Err(Refused::Changed),
        None => project.create(&resolved, &bytes).map_err(refused)?,
        Some(_) if resolved.kind() == Kind::Missing => return Err(Refused::Changed),
        Some(_) if resolved.has_several_links() => return Err(Refused::SeveralLinks),
        Some(stamp) => {
            let file = project.open_file(&resolved).map_err(refused)?;
            if !stamp.is_still(&file)? {
                return Err(Refused::Changed);
            }
            project.replace(&resolved, &bytes).map_err(refused)?;
        }
    }
    stamp_of(project, path, &bytes)
}

/// Writes a text to a file, whole or not at all, whatever was there before, and says what the file is now: for a
/// person who was asked. A file keeps its permissions; one that is not there is made, with the folders that are missing.
///
/// # Errors
/// Its encoding does not have the text, or the file cannot be written. It is as it was.
pub fn put(project: &Project, path: &Path, text: &str, format: Format) -> Result<Stamp, Refused> {
    let bytes = encoded(text, format)?;
    let resolved = writable(project, path)?;
    match resolved.kind() {
        Kind::Missing => project.create(&resolved, &bytes).map_err(refused)?,
        _ if resolved.has_several_links() => return Err(Refused::SeveralLinks),
        _ => project.replace(&resolved, &bytes).map_err(refused)?,
    }
    stamp_of(project, path, &bytes)
}

/// A text as it is written to disk.
///
/// # Errors
/// The encoding lacks a character.
pub fn encoded(text: &str, format: Format) -> Result<Vec<u8>, Refused> {
    let bytes = format.encoding.encode(&endings::write(text, format.endings));
    bytes.map_err(Refused::Lacks)
}

/// Where a path leads, if a person may write there.
fn writable(project: &Project, path: &Path) -> Result<ResolvedPath, Refused> {
    let resolved = project.resolve_path(path)?;
    inside(&resolved)?;
    if resolved.guard() == Guard::Nothing { Ok(resolved) } else { Err(Refused::Kept) }
}

fn refused(error: Error) -> Refused {
    match error {
        Error::Changed(_) => Refused::Changed,
        error => Refused::Path(error),
    }
}

/// What a file is that was just written: another one, by its number.
fn stamp_of(project: &Project, path: &Path, bytes: &[u8]) -> Result<Stamp, Refused> {
    let file = project.open_file(&project.resolve_path(path)?)?;
    let found = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    Ok(Stamp::new(&found, bytes))
}

fn inside(path: &ResolvedPath) -> Result<(), Refused> {
    match path.guard() {
        Guard::Own => Err(Refused::Kept),
        _ if !path.is_inside() => Err(Refused::Outside),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
