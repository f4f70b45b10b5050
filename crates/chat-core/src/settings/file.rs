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

    /// The file as other processes change it.
    pub fn changes(&self) -> SettingsChanges {
        todo!()
    }
}

/// The settings as other processes change them. Dropping it ends the watch.
#[derive(Debug)]
pub struct SettingsChanges {}

impl SettingsChanges {
    /// Waits until another process has changed the file, and gives the new settings. Never
    /// resolves while nothing changes.
    pub async fn next(&mut self) -> Settings {
        todo!()
    }
}
