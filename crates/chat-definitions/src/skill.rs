//! Parses a skill's folder, in the open format: `SKILL.md` with name and description, and files next to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fields::{LONGEST_DESCRIPTION, LONGEST_TEXT, document};
use crate::front;
use crate::problem::{Found, ProblemKind, has_error};
use crate::tree::Tree;
use crate::visible::{hidden_line, quoted};
use crate::watch_list::WatchList;
use crate::{Digest, Origin, Place};

/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";
/// Bytes of it.
const LARGEST: u64 = 256 * 1024;
/// Bytes of all files of a project's skill, which are hashed.
const LARGEST_FOLDER: u64 = 8 * 1024 * 1024;
/// Files of a skill.
const MOST_FILES: usize = 256;
/// How deep its folders are nested.
const DEEPEST: usize = 8;
/// The longest `compatibility`, in characters.
const LONGEST_COMPATIBILITY: usize = 500;

/// Instructions that a model reads when it needs them.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// Its name, which is that of its folder: `a-z`, `0-9` and `-`.
    pub name: String,
    /// What it is for and when to use it, in one line without hidden characters.
    pub description: String,
    /// Its license.
    pub license: Option<String>,
    /// What it needs to work.
    pub compatibility: Option<String>,
    /// More keys and values, which mean nothing here.
    pub metadata: BTreeMap<String, String>,
    /// The tools that its author expects it to use, as written. They allow nothing.
    pub allowed_tools: Vec<String>,
    /// Whether models are told of it. If not, only its user asks for it (`disable-model-invocation`).
    pub is_listed: bool,
    /// The files next to `SKILL.md`, by their paths from its folder on, sorted; the first 256. No link
    /// leads out of the folder, and none of a project may hold secrets.
    pub files: Vec<PathBuf>,
    /// Where its `SKILL.md` is.
    pub place: Place,
    /// The hash of `SKILL.md` alone.
    text: Digest,
    /// The hashes of the contents of `files`, in a project.
    contents: BTreeMap<PathBuf, Digest>,
    /// The hashes of the names and contents of all files next to `SKILL.md`, in a project; also of those that are none
    /// of `files`.
    pub(crate) file_hashes: BTreeMap<PathBuf, Digest>,
}

/// Why a skill's text is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is gone, cannot be read, or is no skill any more.
    #[error("the skill cannot be read")]
    Unreadable,
    /// It belongs to a project and is not what the user trusted.
    #[error("the skill changed")]
    Changed,
}

impl Skill {
    /// Its folder, absolute.
    pub fn folder(&self) -> &Path {
        self.place.path.parent().unwrap_or(&self.place.path)
    }

    /// Whether the `SKILL.md` of both is the same.
    pub(crate) fn has_text_of(&self, other: &Self) -> bool {
        self.text == other.text
    }

    /// Reads its text, which has at most 256 KiB. Blocks.
    ///
    /// # Errors
    /// It cannot be read, or, in a project, it changed since it was loaded.
    pub fn read_body(&self) -> Result<String, ReadError> {
        let bytes = self.place.tree.read(&self.place.relative, LARGEST);
        let bytes = bytes.ok().flatten().ok_or(ReadError::Unreadable)?;
        if self.place.origin == Origin::Project && Digest::of([&bytes[..]]) != self.text {
            return Err(ReadError::Changed);
        }
        let text = String::from_utf8(bytes).map_err(|_| ReadError::Unreadable)?;
        let parts = front::split(&text).map_err(|_| ReadError::Unreadable)?;
        Ok(parts.body.to_owned())
    }

    /// Reads one of the files next to its `SKILL.md`, of at most 256 KiB. None if it has no such file. Blocks.
    ///
    /// # Errors
    /// It cannot be read, is no text, has become a link out of the skill's folder, or, in a project,
    /// changed since it was loaded.
    pub fn read_file(&self, file: &Path) -> Result<Option<String>, ReadError> {
        if !self.files.iter().any(|known| known == file) {
            return Ok(None);
        }
        let folder = self.place.relative.parent().unwrap_or(Path::new(""));
        let whole = folder.join(file);
        if !self.place.tree.holds(folder, &whole) {
            return Err(ReadError::Unreadable);
        }
        let bytes = self.place.tree.read(&whole, LARGEST);
        let bytes = bytes.ok().flatten().ok_or(ReadError::Unreadable)?;
        let is_known = || self.contents.get(file) == Some(&Digest::of([&bytes[..]]));
        if self.place.origin == Origin::Project && !is_known() {
            return Err(ReadError::Changed);
        }
        String::from_utf8(bytes).map(Some).map_err(|_| ReadError::Unreadable)
    }
}

/// Reads the skill in a folder. None if there is none. `left` is how many bytes of the files next to it may be hashed.
pub(crate) fn load(
    tree: &Arc<Tree>,
    folder: &Path,
    watched: &mut WatchList,
    left: &mut u64,
) -> Option<(Option<Skill>, Vec<Found>)> {
    let path = folder.join(FILE);
    let failed = |kind| Some((None, vec![Found { line: None, kind }]));
    let names = match tree.names(folder, watched) {
        Ok(names) => names?,
        // A file next to the skills, or a folder that nobody may read.
        Err(ProblemKind::Unreadable) => return None,
        Err(kind) => return failed(kind),
    };
    if !names.names.iter().any(|name| name == FILE) {
        return None;
    }
    watched.target(&tree.base().join(&path));
    let bytes = match tree.read(&path, LARGEST) {
        Ok(bytes) => bytes?,
        Err(kind) => return failed(kind),
    };
    let Files { paths: files, contents, hashes } = match files(tree, folder, watched, left) {
        Ok(found) => found,
        Err(kind) => return failed(kind),
    };
    let digest = Digest::of_all(hashes.values().copied());
    let own = [folder.as_os_str().as_encoded_bytes(), &bytes, digest.bytes()];
    let text = Digest::of([&bytes[..]]);
    let Ok(content) = str::from_utf8(&bytes) else { return failed(ProblemKind::NotUtf8) };
    let place = Place::new(tree, &path, Digest::of(own)).with_text(content);
    let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
    let (skill, found) = parse(&folder_name, content, place);
    Some((skill.map(|skill| Skill { files, text, contents, file_hashes: hashes, ..skill }), found))
}

/// Parses the text of a `SKILL.md`.
fn parse(folder: &str, text: &str, place: Place) -> (Option<Skill>, Vec<Found>) {
    let mut document = match document(text) {
        Ok(document) => document,
        Err(found) => return (None, vec![found]),
    };
    let fields = &mut document.fields;
    let name = fields.required("name", |fields| fields.word("name"));
    match &name {
        Some((line, name)) if !is_skill_name(name) => {
            fields.complain(Some(*line), ProblemKind::InvalidName { name: quoted(name) });
        }
        Some((line, name)) if name != folder => {
            let kind = ProblemKind::NameDiffers { name: name.clone(), folder: quoted(folder) };
            fields.complain(Some(*line), kind);
        }
        _ => {}
    }
    let description =
        fields.required("description", |fields| fields.text("description", LONGEST_DESCRIPTION));
    let license = fields.text("license", LONGEST_TEXT);
    let compatibility = fields.text("compatibility", LONGEST_COMPATIBILITY);
    let metadata = fields.map("metadata").unwrap_or_default();
    let allowed_tools = fields.list("allowed-tools", split_tools).unwrap_or_default();
    let is_hidden = fields.flag("disable-model-invocation").unwrap_or(false);
    if let Some(line) = hidden_line(document.body) {
        let kind = ProblemKind::HiddenCharacters { key: None };
        document.fields.complain(Some(document.body_line + line), kind);
    }
    let found = document.fields.finish_shared();
    let (Some((_, name)), Some(description), false) = (name, description, has_error(&found)) else {
        return (None, found);
    };
    let skill = Skill {
        name,
        description,
        license,
        compatibility,
        metadata,
        allowed_tools: allowed_tools.into_iter().map(|(_, tool)| tool).collect(),
        is_listed: !is_hidden,
        files: Vec::new(),
        contents: BTreeMap::new(),
        file_hashes: BTreeMap::new(),
        text: place.digest,
        place,
    };
    (Some(skill), found)
}

fn is_skill_name(name: &str) -> bool {
    let is_plain = |c| matches!(c, 'a'..='z' | '0'..='9' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

/// Takes a list of tools apart at commas and spaces that are not in parentheses.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The files of a skill's folder other than its own.
struct Files {
    /// Their paths from there on, sorted.
    paths: Vec<PathBuf>,
    /// The hash of each one's contents, in a project.
    contents: BTreeMap<PathBuf, Digest>,
    /// The hashes of their names and contents, in a project; also of those that are none of its files.
    hashes: BTreeMap<PathBuf, Digest>,
}

/// Lists the files of a skill's folder, and hashes those of a project.
fn files(
    tree: &Tree,
    folder: &Path,
    watched: &mut WatchList,
    left: &mut u64,
) -> Result<Files, ProblemKind> {
    let is_project = tree.origin() == Origin::Project;
    let mut paths = Vec::new();
    let mut contents = BTreeMap::new();
    let mut hashes = BTreeMap::new();
    let mut of_folder = LARGEST_FOLDER.min(*left);
    let too_many = || ProblemKind::TooManyFiles { limit: MOST_FILES };
    let mut folders = vec![(PathBuf::new(), 0)];
    let mut count = 1;
    while let Some((below, depth)) = folders.pop() {
        let Some(names) = tree.names(&folder.join(&below), watched)? else { continue };
        if names.is_cut && is_project {
            return Err(too_many());
        }
        for name in names.names {
            let path = below.join(&name);
            let whole = folder.join(&path);
            if path == Path::new(FILE) {
                continue;
            }
            let found = std::fs::symlink_metadata(tree.base().join(&whole));
            let Ok(found) = found else { continue };
            if found.is_dir() {
                let is_too_much = depth + 1 >= DEEPEST || count >= MOST_FILES;
                if is_too_much && is_project {
                    return Err(too_many());
                }
                if !is_too_much {
                    count += 1;
                    folders.push((path, depth + 1));
                }
                continue;
            }
            if paths.len().max(hashes.len()) >= MOST_FILES {
                if is_project {
                    return Err(too_many());
                }
                continue;
            }
            if !is_project {
                // Neither a link to a folder, or out of this one, nor a pipe.
                if tree.holds(folder, &whole) {
                    paths.push(path);
                }
                continue;
            }
            watched.target(&tree.base().join(&whole));
            let bytes = match tree.read(&whole, of_folder) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => continue,
                Err(ProblemKind::TooLarge { .. }) => {
                    return Err(ProblemKind::TooLarge { limit: LARGEST_FOLDER });
                }
                // A link out of the project, or a link to a folder, is not followed.
                Err(_) => {
                    let hash = Digest::of([path.as_os_str().as_encoded_bytes()]);
                    hashes.insert(path, hash);
                    continue;
                }
            };
            of_folder -= bytes.len() as u64;
            *left -= bytes.len() as u64;
            let hash = Digest::of([path.as_os_str().as_encoded_bytes(), &bytes]);
            hashes.insert(path.clone(), hash);
            if tree.holds(folder, &whole) {
                contents.insert(path.clone(), Digest::of([&bytes[..]]));
                paths.push(path);
            }
        }
    }
    paths.sort_unstable();
    Ok(Files { paths, contents, hashes })
}

#[cfg(test)]
mod tests;
