//! The models that are installed: those that were downloaded into a folder of Natter's, and files
//! elsewhere that the person added.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::facts::{self, Facts};
use super::index::{self, Entry};
use super::{catalogue, name};
use crate::error::{Error, Kind, Result};
use crate::settings::watch::Watch;
use crate::settings::{Folders, disk};

/// Several changes that follow each other this quickly are told as one.
const SETTLED: Duration = Duration::from_millis(50);

/// A model that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Its name: short, unique here, without spaces or a slash.
    pub name: String,
    /// Its file; the first, where it has several.
    pub path: PathBuf,
    /// How many bytes its files have.
    pub size: u64,
    /// The SHA-256 of its file, where it was checked; none for a model in several files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Where it was downloaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Whether the file is Natter's own: removing the model deletes it.
    #[serde(default)]
    pub owned: bool,
    /// What it is.
    pub facts: Facts,
    /// Why it cannot be used now: its file is gone, or no longer a model. Found when asked for.
    #[serde(skip)]
    pub problem: Option<Error>,
}

/// Where a model was downloaded from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The repository, `owner/name`.
    pub repository: String,
    /// The file in it; the first, where there are several.
    pub file: String,
}

/// The installed models: a handle on their folder, which several programs may use at once. All
/// methods block on the disk for milliseconds; asynchronous callers give them a thread.
#[derive(Clone, Debug)]
pub struct Library {
    folder: PathBuf,
}

impl Library {
    /// The library in a folder, which is made when first written to.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The person's library: `$XDG_DATA_HOME/natter/models`.
    pub fn of(folders: &Folders) -> Self {
        Self::open(folders.data.join("models"))
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All installed models, by name. Those that cannot be used now say why.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`.
    pub fn list(&self) -> Result<Vec<Installed>> {
        let entries = index::load(&self.folder)?.models.into_iter();
        let mut models: Vec<_> = entries.map(as_it_is).collect();
        models.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(models)
    }

    /// The model of this name, whichever case its letters have.
    ///
    /// # Errors
    /// `ModelNotFound`, and what keeps it from being used: `ModelFileMissing`, `ModelFile`.
    pub fn find(&self, name: &str) -> Result<Installed> {
        let model = as_it_is(self.entry(name)?);
        match model.problem {
            Some(problem) => Err(problem),
            None => Ok(model),
        }
    }

    /// Adds a file where it lies, after its header was verified; any part of a model in several
    /// files adds them all. A file that is there already is given as it is.
    ///
    /// # Errors
    /// `ModelFile`, `ModelFileMissing`, `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub fn add(&self, path: &Path) -> Result<Installed> {
        self.add_as(path, None)
    }

    /// The same under a name that another program has for it.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_as(&self, path: &Path, words: Option<&str>) -> Result<Installed> {
        let path = std::path::absolute(path).map_err(|e| facts::fault_of(path, &e))?;
        // A model is named by its first part.
        let first = chat_gguf::parts(&path).and_then(|parts| parts.into_iter().next());
        let path = first.unwrap_or(path);
        let wanted = words.map_or_else(|| name_of(&path), name::of_words);
        let entry = index::entry(&path, wanted, false)?;
        let same = fs::canonicalize(&path).map_err(|e| facts::fault_of(&path, &e))?;
        index::change(&self.folder, |index| {
            let there = |entry: &&Entry| {
                fs::canonicalize(&entry.model.path).is_ok_and(|other| other == same)
            };
            if let Some(known) = index.models.iter().find(there) {
                return Ok(as_it_is(known.clone()));
            }
            Ok(put(index, entry))
        })
    }

    /// Moves a file into the library's folder, verified first: from then on it is Natter's own.
    /// Where it lies on another disk it is copied, and deleted there when the copy is whole.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn take_in(&self, path: &Path) -> Result<Installed> {
        let path = std::path::absolute(path).map_err(|e| facts::fault_of(path, &e))?;
        let files = chat_gguf::parts(&path).unwrap_or_else(|| vec![path.clone()]);
        let wanted = name_of(&path);
        self.adopt(&files, &wanted, None, None)
    }

    /// Moves the verified files of one model in, and lists it: what a download ends with.
    pub(super) fn adopt(
        &self,
        files: &[PathBuf],
        wanted: &str,
        source: Option<Source>,
        sha256: Option<String>,
    ) -> Result<Installed> {
        let Some(first) = files.first() else { return Err(Kind::Internal.into()) };
        // Verified before it is moved: nothing that is no model ever lies among the models.
        let mut entry = index::entry(first, wanted.to_owned(), true)?;
        entry.model.source = source;
        entry.model.sha256 = sha256;
        let mut own = None;
        let listed = index::change(&self.folder, |index| {
            let quantization = entry.model.facts.quantization.as_deref();
            let taken = |name: &str| {
                index.models.iter().any(|other| other.model.name == name)
                    || self.folder.join(name).exists()
            };
            entry.model.name = name::free(wanted, quantization, taken);
            let own = own.insert(self.folder.join(&entry.model.name));
            disk::private_folder(own).map_err(|e| facts::fault_of(own, &e))?;
            entry.model.path = move_all(files, own)?;
            entry.modified = index::modified(&entry.model.path);
            Ok(put(index, entry))
        });
        if let (Err(_), Some(own)) = (&listed, own) {
            // What is not on the list must not lie here: the files go back.
            for from in files {
                let _ = fs::rename(own.join(from.file_name().unwrap_or_default()), from);
            }
            let _ = fs::remove_dir(own);
        }
        listed
    }

    /// Takes a model off the list. Its files are deleted where they are Natter's own, and left
    /// where they lie otherwise.
    ///
    /// # Errors
    /// `ModelNotFound`, `ModelStorage`, `ReadOnly`, `DiskFull`. It stays on the list then.
    pub fn remove(&self, name: &str) -> Result<Installed> {
        let wanted = self.entry(name)?.model.name;
        index::change(&self.folder, |index| {
            let place = index.models.iter().position(|entry| entry.model.name == wanted);
            let place = place.ok_or(Kind::ModelNotFound { model: wanted })?;
            let model = index.models[place].model.clone();
            if model.owned {
                self.delete_files(&model)?;
            }
            index.models.remove(place);
            Ok(model)
        })
    }

    /// The list as this and other programs change it, from now on.
    pub fn changes(&self) -> LibraryChanges {
        if let Err(error) = disk::private_folder(&self.folder) {
            tracing::warn!("{}: {error}", self.folder.display());
        }
        let (touched, touches) = watch::channel(());
        let watch = Watch::new(&self.folder, move || {
            touched.send_replace(());
        });
        LibraryChanges { known: self.content(), library: self.clone(), touches, _watch: watch }
    }

    fn content(&self) -> Vec<u8> {
        fs::read(index::path(&self.folder)).unwrap_or_default()
    }

    fn entry(&self, name: &str) -> Result<Entry> {
        let entries = index::load(&self.folder)?.models;
        let found = entries.into_iter().find(|entry| entry.model.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Kind::ModelNotFound { model: name.to_owned() }.into())
    }

    /// Deletes a model's files and its folder. Whatever the list says: nothing outside of ours.
    fn delete_files(&self, model: &Installed) -> Result<()> {
        let files = chat_gguf::parts(&model.path).unwrap_or_else(|| vec![model.path.clone()]);
        let Some(own) = model.path.parent() else { return Ok(()) };
        let ours = |folder: &Path| {
            let parent = fs::canonicalize(folder).ok()?.parent()?.to_owned();
            Some(parent == fs::canonicalize(&self.folder).ok()?)
        };
        if ours(own) != Some(true) {
            return Ok(());
        }
        for file in files {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(facts::fault_of(&file, &error));
                }
                _ => {}
            }
        }
        // What else somebody put there stays.
        let _ = fs::remove_dir(own);
        Ok(())
    }
}

/// The list of models as it changes. Dropping it ends the watch.
#[derive(Debug)]
pub struct LibraryChanges {
    library: Library,
    known: Vec<u8>,
    touches: watch::Receiver<()>,
    _watch: Option<Watch>,
}

impl LibraryChanges {
    /// Waits until the list has changed. Never resolves while it does not. Cancel-safe.
    pub async fn next(&mut self) {
        loop {
            if self.touches.changed().await.is_err() {
                // Nothing is watched: nothing will be heard.
                std::future::pending::<()>().await;
            }
            while let Ok(Ok(())) = tokio::time::timeout(SETTLED, self.touches.changed()).await {}
            let content = self.library.content();
            if content != self.known {
                self.known = content;
                return;
            }
        }
    }
}

/// What a file's model is to be called: as in the catalogue, where it is one of its files.
fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let offered = catalogue::catalogue().iter().find(|offer| offer.is_file(&file));
    offered.map_or_else(|| name::of_file(path), |offer| offer.name.clone())
}

/// Puts an entry on the list, under a name that is free.
fn put(index: &mut index::Index, mut entry: Entry) -> Installed {
    let taken = |name: &str| index.models.iter().any(|other| other.model.name == name);
    let quantization = entry.model.facts.quantization.as_deref();
    entry.model.name = name::free(&entry.model.name, quantization, taken);
    index.models.push(entry.clone());
    entry.model
}

/// The model as its file is now: one that was changed since is read again.
fn as_it_is(entry: Entry) -> Installed {
    let mut model = entry.model;
    let now = index::modified(&model.path);
    if now.is_some() && now == entry.modified && chat_gguf::parts(&model.path).is_none() {
        return model;
    }
    match facts::read(&model.path) {
        Ok(header) => {
            if now != entry.modified {
                // Whatever was checked was another file.
                model.sha256 = None;
            }
            model.size = header.size();
            model.facts = Facts::of(&header);
        }
        Err(problem) => model.problem = Some(problem),
    }
    model
}

/// Moves files into a folder, all or none. Gives where the first lies now.
fn move_all(files: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    for from in files {
        let to = folder.join(from.file_name().unwrap_or_default());
        if let Err(error) = move_one(from, &to) {
            for (from, to) in moved {
                let _ = fs::rename(to, from);
            }
            return Err(facts::fault_of(from, &error));
        }
        moved.push((from.clone(), to));
    }
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    moved.into_iter().next().map(|(_, to)| to).ok_or_else(|| Kind::Internal.into())
}

fn move_one(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            let copied = fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all());
            if let Err(error) = copied {
                let _ = fs::remove_file(to);
                return Err(error);
            }
            fs::remove_file(from)
        }
        moved => moved,
    }
}

#[cfg(test)]
mod tests;
