//! Manages the folder of a download: its pieces, and the plan of what they become.

use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Kind, Result};
use crate::models::facts::fault_of;
use crate::models::hub::RemoteModel;
use crate::models::library::Library;
use crate::models::machine;
use crate::settings::disk;

/// The folder of all downloads, below the library's. Hidden: no model has such a name.
const FOLDER: &str = ".downloads";
/// The plan, in a download's folder.
const PLAN: &str = "plan.json";
/// So long it may take until a folder that was made has its plan.
const BEGINNING: Duration = Duration::from_secs(30);
/// The version of the plan's format.
const VERSION: u32 = 1;

/// The folder of one download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::models) struct DownloadFolder {
    id: String,
    folder: PathBuf,
}

/// What a download is to become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::models) struct DownloadPlan {
    version: u32,
    /// What the model is to be called.
    pub name: String,
    /// What is fetched.
    pub model: RemoteModel,
}

impl DownloadPlan {
    pub fn new(name: String, model: RemoteModel) -> Self {
        Self { version: VERSION, name, model }
    }
}

impl DownloadFolder {
    /// Where a model is downloaded to: always the same, so that it is gone on with.
    pub fn of(library: &Library, model: &RemoteModel) -> Self {
        let whole = Sha256::digest(format!("{}\n{}", model.repository, model.file));
        let id = hexadecimal(&whole[..8]);
        Self { folder: library.folder().join(FOLDER).join(&id), id }
    }

    /// The downloads that were begun and are not done. Plans that cannot be read are none.
    pub fn all(library: &Library) -> Vec<(Self, DownloadPlan)> {
        let entries = fs::read_dir(library.folder().join(FOLDER)).into_iter().flatten().flatten();
        let mut places: Vec<_> = entries
            .filter_map(|entry| {
                let id = entry.file_name().into_string().ok()?;
                let found = Self { folder: entry.path(), id };
                let plan = found.plan().ok()?;
                Some((found, plan))
            })
            .collect();
        places.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        places
    }

    /// The folder of all downloads, which is made.
    pub fn folder(library: &Library) -> Result<PathBuf> {
        let folder = library.folder().join(FOLDER);
        disk::private_folder(&folder).map_err(|e| fault_of(&folder, &e))?;
        Ok(folder)
    }

    /// Whether some program is just beginning a download: it has no plan yet.
    pub fn is_one_begun(library: &Library) -> bool {
        let entries = fs::read_dir(library.folder().join(FOLDER)).into_iter().flatten().flatten();
        let is_young = |entry: &fs::DirEntry| {
            let made = entry.metadata().and_then(|about| about.modified()).ok();
            made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age < BEGINNING)
        };
        let plan = |entry: &fs::DirEntry| entry.path().join(PLAN);
        entries.into_iter().any(|entry| is_young(&entry) && !plan(&entry).exists())
    }

    /// The download's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The plan.
    pub fn plan(&self) -> Result<DownloadPlan> {
        let path = self.plan_path();
        let content = fs::read(&path).map_err(|e| fault_of(&path, &e))?;
        let plan: DownloadPlan = serde_json::from_slice(&content)
            .map_err(|error| Error::new(Kind::ModelStorage).with_detail(error.to_string()))?;
        // The names in it become names of files here.
        let safe = plan.model.parts.iter().all(|part| {
            let name = Path::new(part.file_name());
            name.file_name() == Some(name.as_os_str())
                && name.extension().is_some_and(|kind| kind == "gguf")
        });
        if plan.version != VERSION || !safe || plan.model.parts.is_empty() {
            return Err(Kind::ModelStorage.into());
        }
        Ok(plan)
    }

    /// Writes the plan where there is none yet that can be read.
    pub fn prepare(&self, plan: &DownloadPlan) -> Result<()> {
        disk::private_folder(&self.folder).map_err(|e| fault_of(&self.folder, &e))?;
        if self.plan().is_ok() {
            return Ok(());
        }
        self.write(plan)
    }

    /// Deletes what has arrived, and writes another plan.
    pub fn restart(&self, plan: &DownloadPlan) -> Result<()> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for file in files.map(|entry| entry.path()) {
            if file.extension().is_some_and(|kind| kind == "part" || kind == "gguf") {
                fs::remove_file(&file).map_err(|e| fault_of(&file, &e))?;
            }
        }
        self.write(plan)
    }

    fn write(&self, plan: &DownloadPlan) -> Result<()> {
        let path = self.plan_path();
        let content = serde_json::to_vec_pretty(plan).map_err(|_| Kind::Internal)?;
        disk::replace(&path, &content).map_err(|e| fault_of(&path, &e))
    }

    /// Takes it for this process. Held while the file is open. Blocks for a moment where somebody
    /// has it who only looks whether it is taken.
    ///
    /// # Errors
    /// `DownloadElsewhere` where another program downloads it, `ModelStorage` where it is gone.
    pub fn lock(&self) -> Result<File> {
        const TRIES: u32 = 10;
        const BETWEEN: Duration = Duration::from_millis(20);
        let path = self.folder.join("lock");
        let file = disk::private_file(&path).map_err(|e| fault_of(&path, &e))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN),
                Err(TryLockError::Error(error)) => return Err(fault_of(&path, &error)),
            }
        }
        Err(Kind::DownloadElsewhere { file: self.plan()?.model.file }.into())
    }

    /// Whether some process is downloading here.
    pub fn is_taken(&self) -> bool {
        let held = File::open(self.folder.join("lock")).map(|file| file.try_lock_shared());
        matches!(held, Ok(Err(TryLockError::WouldBlock)))
    }

    /// Where a file's pieces are gathered.
    pub fn part(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.part"))
    }

    /// How many bytes have arrived of files of these names. One that was whole already when the
    /// program ended gets its name as a part back.
    pub fn arrived(&self, names: &[String]) -> Result<u64> {
        let mut sum = 0;
        for name in names {
            let (whole, part) = (self.folder.join(name), self.part(name));
            match fs::rename(&whole, &part) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(fault_of(&whole, &error));
                }
                _ => {}
            }
            sum += fs::metadata(&part).map_or(0, |about| about.len());
        }
        Ok(sum)
    }

    /// How many bytes have arrived, for those who only look.
    pub fn received(&self, plan: &DownloadPlan) -> u64 {
        let sizes = plan.model.parts.iter().map(|part| {
            let name = part.file_name();
            let there = [self.part(name), self.folder.join(name)];
            there.iter().find_map(|path| fs::metadata(path).ok()).map_or(0, |about| about.len())
        });
        sizes.sum()
    }

    /// How many bytes are free on its disk.
    pub fn free(&self) -> Result<u64> {
        machine::free_on(&self.folder)
    }

    /// Gives the gathered files the names that they have in the repository.
    pub fn unpart(&self, plan: &DownloadPlan) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for part in &plan.model.parts {
            let (from, to) = (self.part(part.file_name()), self.folder.join(part.file_name()));
            fs::rename(&from, &to).map_err(|e| fault_of(&from, &e))?;
            files.push(to);
        }
        Ok(files)
    }

    /// Deletes all of it.
    pub fn clear(&self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(fault_of(&self.folder, &error))
            }
            _ => Ok(()),
        }
    }

    fn plan_path(&self) -> PathBuf {
        self.folder.join(PLAN)
    }
}

/// Bytes as hexadecimal digits, in small letters.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        // Writing into a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
