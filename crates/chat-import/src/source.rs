//! Finds the files that lie beside the chats of an export: pictures and attachments.

use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes of a file that goes with a message.
pub(crate) const FILE_LIMIT: u64 = 64 << 20;

/// The files of an export.
pub(crate) trait Files {
    /// The file whose name is this id, or begins with it.
    fn find(&mut self, id: &str) -> Option<Vec<u8>>;
}

/// Whether a file of this name is the one that an id means: `file-abc` is `file-abc-photo.png` and `file-abc.dat`.
pub(crate) fn is_named(name: &str, id: &str) -> bool {
    let rest = Path::new(name).file_name().and_then(|name| name.to_str());
    let rest = rest.and_then(|name| name.strip_prefix(id));
    !id.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_']))
}

/// The files in a folder and those in it.
pub(crate) struct Folder {
    folder: PathBuf,
    /// Listed when one is first looked for.
    files: Option<Vec<PathBuf>>,
}

impl Folder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, files: None }
    }
}

impl Files for Folder {
    fn find(&mut self, id: &str) -> Option<Vec<u8>> {
        let files = self.files.get_or_insert_with(|| below(&self.folder, 2));
        let path =
            files.iter().find(|path| path.to_str().is_some_and(|path| is_named(path, id)))?;
        let fits = path.metadata().is_ok_and(|file| file.len() <= FILE_LIMIT);
        fits.then(|| fs::read(path).ok()).flatten()
    }
}

/// The files in a folder and in those that many levels below it, by name. Links are not followed: they may lead out of
/// the export.
pub(crate) fn below(folder: &Path, levels: usize) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut out = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => out.push(entry.path()),
            Ok(kind) if kind.is_dir() && levels > 0 => out.extend(below(&entry.path(), levels - 1)),
            _ => {}
        }
    }
    out
}
