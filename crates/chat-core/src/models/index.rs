//! Reads and writes the list of installed models, `index.json` in the models' folder. Two programs
//! may change it at once: a lock on a file of its own, and a rename.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::facts::{self, Facts};
use super::library::Installed;
use super::{catalogue, name};
use crate::error::{Error, FileFault, Kind, Result};
use crate::settings::disk;

/// The version of the format.
const VERSION: u32 = 1;

/// The list.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Index {
    version: u32,
    pub models: Vec<Entry>,
}

/// A model, and when its file was last changed as we knew it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    pub model: Installed,
    #[serde(default)]
    pub modified: Option<SystemTime>,
    /// The catalogue's name, by which chats may know a model that had it wrongly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formerly: Option<String>,
}

impl Index {
    /// As it is written: what lies in the folder is named from there, so that the list stays true
    /// where the folder moves.
    fn as_stored(&self, folder: &Path) -> Self {
        let mut kept = Self { version: self.version, models: self.models.clone() };
        for Entry { model, .. } in kept.models.iter_mut().filter(|entry| entry.model.owned) {
            if let Ok(inside) = model.path.strip_prefix(folder) {
                model.path = inside.to_owned();
            }
        }
        kept
    }

    /// As it is used: with whole paths. Earlier versions wrote these, which may name the place where
    /// the folder was then.
    fn located_in(mut self, folder: &Path) -> Self {
        for Entry { model, .. } in self.models.iter_mut().filter(|entry| entry.model.owned) {
            if model.path.is_relative() {
                model.path = folder.join(&model.path);
            } else if !model.path.starts_with(folder)
                && let Some(here) = moved(&model.path, folder)
            {
                model.path = here;
            }
        }
        self
    }

    /// Renames what has the name of a model of the catalogue and is not known to be that one: it may
    /// have come on the list when a file's name was enough.
    fn with_true_names(mut self) -> Self {
        for place in 0..self.models.len() {
            let entry = &self.models[place];
            let is_wrong = |name: &str| catalogue::is_of_another(name, &entry.model);
            if is_wrong(&entry.model.name) {
                let taken = |name: &str| {
                    is_wrong(name) || self.models.iter().any(|other| other.model.name == name)
                };
                let quantization = entry.model.facts.quantization.as_deref();
                let name = name::free(&entry.model.name, quantization, taken);
                let entry = &mut self.models[place];
                entry.formerly = Some(std::mem::replace(&mut entry.model.name, name));
            }
        }
        self
    }
}

/// Where a model's file lies that was written down with another place of the folder: in a folder of
/// its own, as there.
fn moved(path: &Path, folder: &Path) -> Option<PathBuf> {
    let own = path.parent()?.file_name()?;
    let here = folder.join(own).join(path.file_name()?);
    here.exists().then_some(here)
}

/// Where the list lies.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("index.json")
}

/// Changes the list under its lock. It is as it was where the change fails. Blocks.
pub(super) fn change<T>(folder: &Path, change: impl FnOnce(&mut Index) -> Result<T>) -> Result<T> {
    let _lock = lock(folder)?;
    let mut index = match read(folder) {
        Err(Unread::Damaged(detail)) => {
            let kept_as = folder.join("index.damaged.json");
            tracing::warn!(
                "the list of models is damaged ({detail}), kept as {}",
                kept_as.display()
            );
            fs::rename(path(folder), &kept_as).map_err(|e| facts::fault_of(&kept_as, &e))?;
            scan_folder(folder, &[])
        }
        read => read.map_err(Unread::into_error)?,
    };
    let before = fs::read(path(folder)).unwrap_or_default();
    for mut orphan in scan_folder(folder, &index.models).models {
        // A program ended between putting it there and putting it on the list.
        let quantization = orphan.model.facts.quantization.as_deref();
        let taken = |name: &str| index.models.iter().any(|other| other.model.name == name);
        orphan.model.name = name::free(&orphan.model.name, quantization, taken);
        index.models.push(orphan);
    }
    let result = change(&mut index)?;
    index.version = VERSION;
    let content = serde_json::to_vec_pretty(&index.as_stored(folder))
        .map_err(|error| Error::new(Kind::Internal).with_detail(error.to_string()))?;
    if content != before || !path(folder).exists() {
        let path = path(folder);
        disk::replace(&path, &content).map_err(|e| facts::fault_of(&path, &e))?;
    }
    Ok(result)
}

/// Keeps everybody else from changing the list, as long as the file is open. Blocks.
pub(super) fn lock(folder: &Path) -> Result<File> {
    disk::private_folder(folder).map_err(|e| facts::fault_of(folder, &e))?;
    let path = folder.join("index.lock");
    let fault = |error| facts::fault_of(&path, &error);
    let lock = disk::private_file(&path).map_err(fault)?;
    lock.lock().map_err(fault)?;
    Ok(lock)
}

/// Whether models lie in the folder that are not on the list.
pub(super) fn has_orphans(folder: &Path) -> Result<bool> {
    Ok(!scan_folder(folder, &load(folder)?.models).models.is_empty())
}

/// The list as it is; where it is damaged or missing, what lies in the folder.
pub(super) fn load(folder: &Path) -> Result<Index> {
    match read(folder) {
        Err(Unread::Damaged(detail)) => {
            tracing::warn!("the list of models is damaged: {detail}");
            Ok(scan_folder(folder, &[]))
        }
        read => read.map_err(Unread::into_error),
    }
}

enum Unread {
    Damaged(String),
    Failed(Error),
}

impl Unread {
    fn into_error(self) -> Error {
        match self {
            Self::Damaged(detail) => Error::new(Kind::ModelStorage).with_detail(detail),
            Self::Failed(error) => error,
        }
    }
}

/// What every version says first: what a newer program wrote is not judged by what we expect.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn read(folder: &Path) -> Result<Index, Unread> {
    let path = path(folder);
    let content = match fs::read(&path) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(scan_folder(folder, &[])),
        Err(error) => return Err(Unread::Failed(facts::fault_of(&path, &error))),
    };
    if let Ok(Version { version }) = serde_json::from_slice(&content)
        && version > VERSION
    {
        let detail = format!("{}: written by a newer version", path.display());
        return Err(Unread::Failed(Error::new(Kind::ModelStorage).with_detail(detail)));
    }
    let index: Index =
        serde_json::from_slice(&content).map_err(|error| Unread::Damaged(error.to_string()))?;
    Ok(index.located_in(folder).with_true_names())
}

/// The models in the folder, each in its own, except those that are known: what a
/// list that was lost had of those that were downloaded.
fn scan_folder(folder: &Path, known: &[Entry]) -> Index {
    let mut index = Index { version: VERSION, models: Vec::new() };
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let hidden = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let mut folders: Vec<_> =
        folders.map(|entry| entry.path()).filter(|path| path.is_dir() && !hidden(path)).collect();
    folders.sort();
    let is_known = |own: &PathBuf| {
        known
            .iter()
            .filter(|entry| entry.model.owned)
            .any(|entry| entry.model.path.parent().and_then(Path::file_name) == own.file_name())
    };
    for own in folders.into_iter().filter(|own| !is_known(own)) {
        let files = fs::read_dir(&own).into_iter().flatten().flatten();
        let mut files: Vec<_> = files
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "gguf"))
            .collect();
        files.sort();
        let Some(path) = files.into_iter().next() else { continue };
        let words = own.file_name().unwrap_or_default().to_string_lossy();
        let Ok(entry) = entry(&path, name::of_words(&words), true) else { continue };
        index.models.push(entry);
    }
    index.with_true_names()
}

/// An entry for a file that is verified here.
pub(super) fn entry(path: &Path, name: String, owned: bool) -> Result<Entry> {
    nameable(path)?;
    let modified = modified(path);
    let header = facts::read(path)?;
    let model = Installed {
        name,
        path: path.to_owned(),
        size: header.size(),
        sha256: None,
        source: None,
        owned,
        facts: Facts::of(&header),
        problem: None,
    };
    Ok(Entry { model, modified, formerly: None })
}

/// Refuses what the list cannot name: its format has Unicode alone.
pub(super) fn nameable(path: &Path) -> Result<()> {
    if path.to_str().is_some() {
        return Ok(());
    }
    let path = PathBuf::from(path.to_string_lossy().into_owned());
    Err(Kind::ModelFile { path, fault: FileFault::Name }.into())
}

/// When a file was last changed.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|about| about.modified()).ok()
}
