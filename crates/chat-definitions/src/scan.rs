//! Reads all definitions of a folder, and remembers the last good version of each.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::problem::{Found, has_error};
use crate::tree::Tree;
use crate::watch_list::WatchList;
use crate::{Digest, Origin, Place, Problem, ProblemKind, Skill, skill};

/// Bytes of an agent's or a command's file.
const LARGEST: u64 = 64 * 1024;
/// Bytes of all files of a project's skills, which are hashed.
const LARGEST_SKILLS: u64 = 64 * 1024 * 1024;
/// Definitions in one folder.
const MOST: usize = 256;

/// The last good version of each file.
pub(crate) type Memory<T> = BTreeMap<(Origin, PathBuf), Arc<T>>;

/// How the text of a file is parsed, with the file's name without `.md`.
pub(crate) type Parse<T> = fn(&str, &str, Place) -> (Option<T>, Vec<Found>);

/// One pass over all folders.
pub(crate) struct Scan {
    pub problems: Vec<Problem>,
    pub watched: WatchList,
    /// How many bytes of a project's skills may still be hashed.
    left: u64,
}

impl Scan {
    pub fn new() -> Self {
        Self { problems: Vec::new(), watched: WatchList::default(), left: LARGEST_SKILLS }
    }

    fn complain(&mut self, tree: &Tree, relative: &Path, found: Found) {
        let Found { line, kind } = found;
        let path = tree.base().join(relative);
        self.problems.push(Problem { path, line, origin: tree.origin(), kind });
    }

    /// The names in a folder of definitions that `counts` accepts; none if it cannot be listed.
    fn names(
        &mut self,
        tree: &Tree,
        folder: &Path,
        counts: impl Fn(&OsStr) -> bool,
    ) -> Option<Vec<std::ffi::OsString>> {
        match tree.names(folder, &mut self.watched) {
            Ok(None) => Some(Vec::new()),
            Ok(Some(mut found)) => {
                found
                    .names
                    .retain(|name| !name.as_encoded_bytes().starts_with(b".") && counts(name));
                if found.is_cut || found.names.len() > MOST {
                    let kind = ProblemKind::TooManyFiles { limit: MOST };
                    self.complain(tree, folder, Found { line: None, kind });
                    found.names.truncate(MOST);
                }
                Some(found.names)
            }
            Err(kind) => {
                self.complain(tree, folder, Found { line: None, kind });
                None
            }
        }
    }

    /// The agents or commands in a folder, in the order of their files.
    pub fn markdown<T>(
        &mut self,
        tree: &Arc<Tree>,
        folder: &Path,
        memory: &mut Memory<T>,
        parse: Parse<T>,
    ) -> Vec<Arc<T>> {
        let is_markdown = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("md"));
        let names = self.names(tree, folder, is_markdown);
        self.gather(tree, folder, names, memory, |scan, name| {
            let path = folder.join(name);
            scan.watched.target(&tree.base().join(&path));
            let read = match tree.read(&path, LARGEST) {
                Ok(None) => return None,
                Ok(Some(bytes)) => parsed(tree, &path, bytes, parse),
                Err(kind) => (None, vec![Found { line: None, kind }]),
            };
            Some((path, read))
        })
    }

    /// The skills in a folder, in the order of their names.
    pub fn skills(
        &mut self,
        tree: &Arc<Tree>,
        folder: &Path,
        memory: &mut Memory<Skill>,
    ) -> Vec<Arc<Skill>> {
        let names = self.names(tree, folder, |_| true);
        self.gather(tree, folder, names, memory, |scan, name| {
            let path = folder.join(name);
            let read = skill::load(tree, &path, &mut scan.watched, &mut scan.left)?;
            Some((path.join("SKILL.md"), read))
        })
    }

    /// Reads what has these names. For what is wrong now the memory has the last good version.
    fn gather<T>(
        &mut self,
        tree: &Arc<Tree>,
        folder: &Path,
        names: Option<Vec<std::ffi::OsString>>,
        memory: &mut Memory<T>,
        read: impl Fn(&mut Self, &OsStr) -> Option<(PathBuf, (Option<T>, Vec<Found>))>,
    ) -> Vec<Arc<T>> {
        let whole = tree.base().join(folder);
        let is_here = |(origin, path): &(Origin, PathBuf)| {
            *origin == tree.origin() && path.starts_with(&whole)
        };
        let Some(names) = names else {
            let known = memory.iter().filter(|(key, _)| is_here(key));
            return known.map(|(_, item)| Arc::clone(item)).collect();
        };
        let mut seen = Vec::new();
        let mut items = Vec::new();
        for name in names {
            let Some((path, (item, found))) = read(self, &name) else { continue };
            debug_assert!(item.is_some() != has_error(&found), "what is not used says why");
            for found in found {
                self.complain(tree, &path, found);
            }
            let key = (tree.origin(), tree.base().join(&path));
            if let Some(item) = item {
                memory.insert(key.clone(), Arc::new(item));
            }
            items.extend(memory.get(&key).cloned());
            seen.push(key);
        }
        // What is gone is not wanted any more.
        memory.retain(|key, _| !is_here(key) || seen.contains(key));
        items
    }
}

fn parsed<T>(
    tree: &Arc<Tree>,
    path: &Path,
    bytes: Vec<u8>,
    parse: Parse<T>,
) -> (Option<T>, Vec<Found>) {
    let digest = Digest::of([path.as_os_str().as_encoded_bytes(), &bytes]);
    let Ok(text) = String::from_utf8(bytes) else {
        return (None, vec![Found { line: None, kind: ProblemKind::NotUtf8 }]);
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    parse(&stem, &text, Place::new(tree, path, digest).with_text(&text))
}
