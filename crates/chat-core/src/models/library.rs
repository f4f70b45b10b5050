//! Manages the installed models: those that were downloaded into a folder of Natter's, and files
//! elsewhere that the user added.

mod changes;
mod incoming;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::changes::LibraryChanges;
use self::incoming::Incoming;
use super::facts::{self, Facts};
use super::hub::RemoteModel;
use super::index::{self, Entry};
use super::{catalogue, name};
use crate::error::{Error, FileFault, Kind, Result};
use crate::settings::{Folders, disk};

/// A model that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Its name: short, unique here, without spaces or a slash.
    pub name: String,
    /// Its file; the first, where it has several. In the stored list relative to the folder of
    /// models, where it lies there.
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
    /// `ModelFile`, `FileNotFound`, `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub fn add(&self, path: &Path) -> Result<Installed> {
        self.add_as(path, None)
    }

    /// The same under a name that another program has for it.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_as(&self, path: &Path, words: Option<&str>) -> Result<Installed> {
        let path = facts::given(path)?;
        // A model is named by its first part.
        let first = chat_gguf::parts(&path).and_then(|parts| parts.into_iter().next());
        let path = first.unwrap_or(path);
        let mut entry = index::entry(&path, String::new(), false)?;
        entry.model.name = words.map_or_else(|| name_of(&path, entry.model.size), name::of_words);
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

    /// Moves a file into the library's folder, verified first: from then on it is Natter's own. Of
    /// a link the file is moved. Where it lies on another disk it is copied, which takes a while;
    /// it is deleted there when the model is on the list, and stays where it may not be deleted.
    ///
    /// # Errors
    /// As [`add`](Self::add), and `DiskTooSmall`. All is as it was then.
    pub fn take_in(&self, path: &Path) -> Result<Installed> {
        let path = facts::given(path)?;
        let files = chat_gguf::parts(&path).unwrap_or_else(|| vec![path.clone()]);
        let first = files.first().ok_or(Kind::Internal)?;
        index::nameable(first)?;
        let wanted = name_of(first, facts::read(first)?.size());
        if let Some(known) = self.own(first)? {
            return Ok(known);
        }
        let incoming = Incoming::gather(&self.folder, &files)?;
        let moved = self.adopt(&incoming.files, &incoming.sources, &wanted, None)?;
        incoming.delete_sources();
        Ok(moved)
    }

    /// The model that has this file for its own already.
    fn own(&self, path: &Path) -> Result<Option<Installed>> {
        let same = fs::canonicalize(path).map_err(|e| facts::fault_of(path, &e))?;
        let is_it = |entry: &Entry| {
            let model = &entry.model;
            model.owned && fs::canonicalize(&model.path).is_ok_and(|other| other == same)
        };
        Ok(index::load(&self.folder)?.models.into_iter().find(is_it).map(as_it_is))
    }

    /// The installed model that was downloaded from just there and is what the site has now.
    pub(super) fn downloaded(&self, model: &RemoteModel) -> Result<Option<Installed>> {
        let is_it = |installed: &Installed| {
            let from = installed.source.as_ref();
            let hash = model.parts.first().and_then(|part| part.sha256.as_ref());
            installed.problem.is_none()
                && from.is_some_and(|from| {
                    from.repository == model.repository && from.file == model.file
                })
                && installed.size == model.size()
                && (installed.sha256.is_none() || installed.sha256.as_ref() == hash)
        };
        Ok(self.list()?.into_iter().find(is_it))
    }

    /// Takes up what a program left that ended in the middle: models that are on no list, and
    /// copies that were not whole. Does nothing where there is nothing.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub(crate) fn tidy(&self) -> Result<()> {
        if incoming::is_left(&self.folder) {
            let _lock = index::lock(&self.folder)?;
            incoming::clear(&self.folder);
        }
        if index::has_orphans(&self.folder)? {
            index::change(&self.folder, |_| Ok(()))?;
        }
        Ok(())
    }

    /// Moves the files of one model in, which lie on the library's disk, and lists it: what a
    /// download ends with. It takes the place of one that was the same and is broken, and of those
    /// that were listed where it lay (`before`). `origin` is where it comes from, and its SHA-256.
    pub(super) fn adopt(
        &self,
        files: &[PathBuf],
        before: &[PathBuf],
        wanted: &str,
        origin: Option<(Source, Option<String>)>,
    ) -> Result<Installed> {
        let Some(first) = files.first() else { return Err(Kind::Internal.into()) };
        // Verified before it is moved: nothing that is no model ever lies among the models.
        let mut entry = index::entry(first, wanted.to_owned(), true)?;
        if let Some((source, sha256)) = origin {
            entry.model.source = Some(source);
            entry.model.sha256 = sha256;
        }
        let mut own = None;
        let listed = index::change(&self.folder, |index| {
            self.drop_broken(index, &entry, wanted)?;
            let was_there = |old: &Entry| !old.model.owned && before.contains(&old.model.path);
            let known = index.models.iter().position(was_there);
            // Chats know it by the name that it had.
            let former = known.map(|place| index.models.remove(place));
            entry.formerly = former.as_ref().and_then(|former| former.formerly.clone());
            let former = former.map(|former| former.model.name);
            let taken = |name: &str| {
                index.models.iter().any(|other| other.model.name == name)
                    || self.folder.join(name).exists()
                    || catalogue::is_of_another(name, &entry.model)
            };
            let quantization = entry.model.facts.quantization.as_deref();
            let name = name::free(former.as_deref().unwrap_or(wanted), quantization, taken);
            entry.model.name = name;
            let own = own.insert(self.folder.join(&entry.model.name));
            disk::private_folder(own).map_err(|e| facts::fault_of(own, &e))?;
            entry.model.path = move_all(files, own)?;
            entry.modified = index::modified(&entry.model.path);
            index.models.push(entry.clone());
            Ok(entry.model)
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

    /// Removes from the list what a download replaces: the same model with a damaged or missing file.
    fn drop_broken(&self, index: &mut index::Index, new: &Entry, wanted: &str) -> Result<()> {
        if new.model.source.is_none() {
            return Ok(());
        }
        let is_it = |entry: &Entry| {
            let old = &entry.model;
            let same = match &old.source {
                Some(source) => Some(source) == new.model.source.as_ref(),
                None => old.name == wanted && old.path.file_name() == new.model.path.file_name(),
            };
            let broken = |error: Error| match error.kind {
                // Another Natter may well be able to read these.
                Kind::ModelFile { fault: FileFault::Version | FileFault::NoModel, .. } => false,
                Kind::ModelFile { .. } | Kind::ModelFileMissing { .. } => true,
                _ => false,
            };
            old.owned && same && as_it_is(entry.clone()).problem.is_some_and(broken)
        };
        while let Some(place) = index.models.iter().position(is_it) {
            self.delete_files(&index.models[place].model)?;
            index.models.remove(place);
        }
        Ok(())
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

    fn entry(&self, name: &str) -> Result<Entry> {
        let entries = index::load(&self.folder)?.models;
        let is_it = |entry: &&Entry| entry.model.name.eq_ignore_ascii_case(name);
        let was_it = |entry: &&Entry| {
            entry.formerly.as_ref().is_some_and(|formerly| formerly.eq_ignore_ascii_case(name))
        };
        let found = entries.iter().find(is_it).or_else(|| entries.iter().find(was_it)).cloned();
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

/// What the model of a file of this size is to be called: as in the catalogue, where it is one of its files.
fn name_of(path: &Path, size: u64) -> String {
    let offered = catalogue::catalogue().iter().find(|offer| offer.is_copy(path, size));
    offered.map_or_else(|| name::of_file(path), |offer| offer.name.clone())
}

/// Puts an entry on the list, under a name that is free. One of the catalogue's is for that model alone, which is
/// shown by the title that it has there.
fn put(index: &mut index::Index, mut entry: Entry) -> Installed {
    let taken = |name: &str| {
        index.models.iter().any(|other| other.model.name == name)
            || catalogue::is_of_another(name, &entry.model)
    };
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
        if let Err(error) = fs::rename(from, &to) {
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

#[cfg(test)]
mod tests;
