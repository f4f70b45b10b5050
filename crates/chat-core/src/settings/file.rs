//! `config.toml`: read, watched and written without losing a person's comments.

use super::{Folders, Settings};
use crate::error::{Error, Result};

/// The configuration file.
#[derive(Debug)]
pub struct SettingsFile {}

impl SettingsFile {
    /// Reads the file. Where it cannot be read the defaults are taken, the error says so, and
    /// the file is not written to until it can be read again.
    pub fn load(folders: &Folders) -> (Self, Settings, Option<Error>) {
        let _ = folders;
        todo!()
    }

    /// Reads the file again under its lock, changes it, and writes it by rename. Blocks.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> Result<Settings> {
        let _ = Box::new(change);
        todo!()
    }
}
