//! Reads the project's own rules: `AGENTS.md`, or what other programs read in its place.

use std::path::{Path, PathBuf};

use chat_permission::path::{Error, Guard, Kind, Project};

use crate::{read, text};

/// The names of such files, of which the first that a folder has counts.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".cursorrules"];
/// Bytes of one file.
const ONE: u64 = 32 * 1024;
/// Bytes of all.
const ALL: u64 = 64 * 1024;
/// How many folders are looked into, from the project's own on.
const DEEPEST: usize = 64;

/// The rules that count for a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The project's own first, then those of the folders on the way, the nearest last and strongest.
    pub files: Vec<Rule>,
    /// Files that are there and were left out, by their paths from the project on.
    pub left: Vec<(PathBuf, Left)>,
}

/// One file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its path from the project on.
    pub path: PathBuf,
    /// What it says, or the beginning of that, in whole lines.
    pub text: String,
    /// Whether the end of it was cut off.
    pub is_cut: bool,
}

/// Why a file of rules was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A link that leads out of the project, or nowhere.
    LeadsOut,
    /// It is no text.
    Binary,
    /// It is no file, or cannot be read.
    Unreadable,
    /// It is kept from everybody: Natter's own.
    Kept,
    /// The files before it, or one line, took all the room.
    NoRoom,
}

/// The rules for a file or folder, given by its path from the project on; the empty path is the project itself.
pub fn rules(project: &Project, active: &Path) -> Rules {
    let mut rules = Rules::default();
    let mut room = ALL;
    let mut folders: Vec<&Path> = active.ancestors().collect();
    folders.reverse();
    for folder in folders.into_iter().take(DEEPEST) {
        // What leads out of the project has no rules.
        if folder.is_absolute() || folder.iter().any(|name| name == "..") {
            continue;
        }
        for name in NAMES {
            let path = folder.join(name);
            match one(project, &path, room) {
                None => continue,
                Some(Ok(rule)) => {
                    room -= rule.text.len() as u64;
                    // An empty one stands in its folder and says nothing.
                    if !rule.text.trim().is_empty() {
                        rules.files.push(rule);
                    }
                }
                Some(Err(why)) => rules.left.push((path, why)),
            }
            break;
        }
    }
    rules
}

/// One file; none where there is none.
fn one(project: &Project, path: &Path, room: u64) -> Option<Result<Rule, Left>> {
    let resolved = match project.resolve_path(path) {
        Ok(resolved) => resolved,
        Err(Error::NotFound(_) | Error::NotAFolder(_)) => return None,
        Err(_) => return Some(Err(Left::Unreadable)),
    };
    if resolved.kind() == Kind::Missing {
        // A link to nothing is there, and its folder is not ruled by another file.
        let is_link = project.root().join(path).is_symlink();
        return is_link.then_some(Err(Left::LeadsOut));
    }
    Some(read_rule(project, path, &resolved, room))
}

fn read_rule(
    project: &Project,
    path: &Path,
    resolved: &chat_permission::ResolvedPath,
    room: u64,
) -> Result<Rule, Left> {
    if !resolved.is_inside() {
        return Err(Left::LeadsOut);
    }
    if resolved.guard() == Guard::Own {
        return Err(Left::Kept);
    }
    let file = project.open_file(resolved).map_err(|_| Left::Unreadable)?;
    let most = room.min(ONE);
    let (mut bytes, is_cut) = read::at_most(&file, most).map_err(|_| Left::Unreadable)?;
    if is_cut {
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        bytes.truncate(end);
        if bytes.is_empty() {
            return Err(Left::NoRoom);
        }
    }
    let (text, _) = text::decode(&bytes).ok_or(Left::Binary)?;
    Ok(Rule { path: path.to_owned(), text, is_cut })
}

#[cfg(test)]
mod tests;
