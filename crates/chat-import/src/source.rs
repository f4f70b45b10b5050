//! Finds the files that lie beside the chats of an export: pictures and attachments.

use std::fs::{self, DirEntry};
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

/// The files in a folder and two levels below it.
pub(crate) struct Folder {
    path: PathBuf,
    /// Whether the user chose the folder: all that is in it belongs to the export.
    is_chosen: bool,
    /// Listed when one is first looked for.
    files: Option<Vec<PathBuf>>,
}

impl Folder {
    /// A folder that was chosen as an export.
    pub(crate) fn chosen(folder: &Path) -> Self {
        Self { path: folder.to_owned(), is_chosen: true, files: None }
    }

    /// The folder of a file that was chosen alone. It may hold anything, and the ids are the export's to choose: only
    /// what is named as exports name their files is part of it.
    pub(crate) fn around(file: &Path) -> Self {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let path = folder.unwrap_or(Path::new(".")).to_owned();
        Self { path, is_chosen: false, files: None }
    }
}

/// Whether an id is one that `ChatGPT` makes: `file-` or `file_`, and many letters and digits by chance.
fn is_made_up(id: &str) -> bool {
    let rest = id.strip_prefix("file").and_then(|rest| rest.strip_prefix(['-', '_']));
    rest.is_some_and(|rest| rest.len() >= 16 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

impl Files for Folder {
    fn find(&mut self, id: &str) -> Option<Vec<u8>> {
        if !self.is_chosen && !is_made_up(id) {
            return None;
        }
        let files = self.files.get_or_insert_with(|| below(&self.path, 2));
        let path =
            files.iter().find(|path| path.to_str().is_some_and(|path| is_named(path, id)))?;
        let fits = path.metadata().is_ok_and(|file| file.len() <= FILE_LIMIT);
        fits.then(|| fs::read(path).ok()).flatten()
    }
}

/// The files in a folder and in those that many levels below it, by name. Links are not followed: they may lead out of
/// the export. What is hidden is none of it.
pub(crate) fn below(folder: &Path, levels: usize) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_hidden = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut entries: Vec<_> = entries.flatten().filter(|entry| !is_hidden(entry)).collect();
    entries.sort_by_key(DirEntry::file_name);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_a_bare_name_lies_the_folder_that_one_works_in() {
        assert_eq!(Folder::around(Path::new("conversations.json")).path, Path::new("."));
        assert_eq!(Folder::around(Path::new("a/conversations.json")).path, Path::new("a"));
    }
}
