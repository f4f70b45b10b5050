//! Finds the folders that the arguments of a program name, to propose that the sandbox shows them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::{DraftKind, ServerDraft, split_command};
use crate::config::{PathBase, Reference, Server, Template};
use crate::import::ForeignServer;

/// So many are proposed.
const MOST: usize = 10;

impl ServerDraft {
    /// The folders that exist, that the program's arguments name by their full path, and that the sandbox does not show
    /// yet. Also those behind an equals sign: `--dir=/srv/notes`. Blocks.
    pub fn named_folders(&self, home: &Path) -> Vec<PathBuf> {
        if self.kind != DraftKind::Program || !self.sandbox {
            return Vec::new();
        }
        let base = PathBase { home: home.to_owned(), project: None };
        let mut shown = base.folders(&self.folders);
        shown.extend(base.folders(&self.read_folders));
        let words = split_command(&self.command).unwrap_or_default();
        let mut found: Vec<PathBuf> = Vec::new();
        for path in words.iter().skip(1).filter_map(|word| path_in(word)) {
            let is_shown = |folder: &PathBuf| path.starts_with(folder);
            // Whoever sees the home folder sees too much.
            let is_proposed = !home.starts_with(&path)
                && !shown.iter().any(is_shown)
                && !found.contains(&path)
                && path.is_dir();
            if is_proposed {
                found.push(path);
            }
        }
        // Whoever has a folder has those in it: a choice about one of these would not hold.
        let outer = found.clone();
        found.retain(|path| !outer.iter().any(|other| path != other && path.starts_with(other)));
        found.truncate(MOST);
        found
    }
}

impl ForeignServer {
    /// The same of a server that can be taken, without those that its text wants shown. Blocks.
    pub fn named_folders(&self, home: &Path) -> Vec<PathBuf> {
        let mut config = self.config.clone();
        config.options.folders.clone_from(&self.grants.folders);
        config.options.read_folders.clone_from(&self.grants.read_folders);
        ServerDraft::of(&Server { name: String::new(), config }).named_folders(home)
    }
}

/// The path in an argument, with variables of the environment replaced.
fn path_in(word: &str) -> Option<PathBuf> {
    let text = match word.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ => word,
    };
    let value = |reference: &Reference| match reference {
        Reference::Variable { name, default } => {
            std::env::var(name).ok().or_else(|| default.clone()).map(Cow::Owned).ok_or(())
        }
        Reference::Secret { .. } => Err(()),
    };
    let path = PathBuf::from(Template::parse(text).ok()?.fill(value).ok()?);
    let is_plain = path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..");
    // Without a slash at the end.
    is_plain.then(|| path.components().collect())
}
