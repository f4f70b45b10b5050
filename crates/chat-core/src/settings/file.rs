//! `config.toml`: read, watched and written without losing a person's comments.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::watch::Watch;
use super::{Folders, Settings, disk, merge};
use crate::error::{Error, Kind, Result};

/// Editors write in several steps; what stands there for less than this was not meant.
const SETTLED: Duration = Duration::from_millis(100);

/// The configuration file.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    /// The content as we last read or wrote it: what differs from it comes from others.
    known: Arc<Mutex<String>>,
}

impl SettingsFile {
    /// Reads the file. Where it cannot be read the defaults are taken, the error says so, and
    /// the file is not written to until it can be read again.
    pub fn load(folders: &Folders) -> (Self, Settings, Option<Error>) {
        let path = folders.config.join("config.toml");
        let (content, settings, problem) = match read(&path) {
            Ok((content, settings)) => (content, settings, None),
            Err(problem) => (String::new(), Settings::default(), Some(problem)),
        };
        (Self { path, known: Arc::new(Mutex::new(content)) }, settings, problem)
    }

    /// Reads the file again under its lock, changes it, and writes it by rename. Only what the
    /// change touches is written; a person's comments and keys that we do not know stay. Blocks.
    ///
    /// # Errors
    /// `ConfigLocked` where the file on disk cannot be read, `ReadOnly`, `DiskFull`, `Storage`.
    /// The file is as it was then.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> Result<Settings> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        disk::private_folder(folder).map_err(|e| disk::fault(folder, &e))?;
        // A rename replaces the file itself, so that its lock would guard nothing.
        let lock_path = self.path.with_extension("lock");
        let lock = disk::private_file(&lock_path).map_err(|e| disk::fault(&lock_path, &e))?;
        lock.lock().map_err(|e| disk::fault(&lock_path, &e))?;

        let (content, old) = read(&self.path).map_err(|problem| Error {
            kind: Kind::ConfigLocked { path: self.path.clone() },
            ..problem
        })?;
        let mut new = old.clone();
        change(&mut new);
        if new == old {
            return Ok(new);
        }
        let content = merge::merged(&content, &old, &new)?;
        // The watch compares with what is known only when both agree again.
        let mut known = lock_known(&self.known);
        // Where the file is a link, as in a folder of dotfiles, what it leads to is replaced.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        disk::replace(&target, content.as_bytes()).map_err(|e| disk::fault(&self.path, &e))?;
        *known = content;
        Ok(new)
    }

    /// The file as other processes change it, from now on.
    pub fn changes(&self) -> SettingsChanges {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        if let Err(error) = disk::private_folder(folder) {
            tracing::warn!("{}: {error}", folder.display());
        }
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let (touched, touches) = watch::channel(());
        let watch = Watch::new(target.parent().unwrap_or(folder), move || {
            touched.send_replace(());
        });
        SettingsChanges {
            path: self.path.clone(),
            known: Arc::clone(&self.known),
            touches,
            _watch: watch,
        }
    }
}

/// The settings as other processes change them. Dropping it ends the watch.
#[derive(Debug)]
pub struct SettingsChanges {
    path: PathBuf,
    known: Arc<Mutex<String>>,
    touches: watch::Receiver<()>,
    _watch: Option<Watch>,
}

impl SettingsChanges {
    /// Waits until another process has changed the file, and gives the new settings. Never
    /// resolves while nothing changes, or while the file cannot be read.
    pub async fn next(&mut self) -> Settings {
        loop {
            if self.touches.changed().await.is_err() {
                // Nothing is watched: nothing will be heard.
                std::future::pending::<()>().await;
            }
            while let Ok(Ok(())) = tokio::time::timeout(SETTLED, self.touches.changed()).await {}
            if let Some(settings) = self.read_anew() {
                return settings;
            }
        }
    }

    fn read_anew(&self) -> Option<Settings> {
        let mut known = lock_known(&self.known);
        match read(&self.path) {
            Ok((content, settings)) if content != *known => {
                *known = content;
                Some(settings)
            }
            Ok(_) => None,
            Err(problem) => {
                tracing::warn!("the changed configuration is not taken: {problem}");
                None
            }
        }
    }
}

fn lock_known(known: &Mutex<String>) -> MutexGuard<'_, String> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the file; a missing one holds the defaults.
fn read(path: &Path) -> Result<(String, Settings)> {
    let invalid = |detail: String| {
        Error::new(Kind::ConfigInvalid { path: path.to_owned() }).with_detail(detail)
    };
    let content = match fs::read_to_string(path) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(invalid(plain(&error))),
    };
    // Where it goes wrong, without the line itself: somebody may have put a key there.
    let settings = toml::from_str(&content).map_err(|error| {
        let line = error
            .span()
            .map(|span| 1 + content.get(..span.start).unwrap_or_default().matches('\n').count());
        invalid(match line {
            Some(line) => format!("line {line}: {}", error.message()),
            None => error.message().to_owned(),
        })
    })?;
    Ok((content, settings))
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}
