//! Stores a worktree in the shadow repository, and lists and prunes what is stored.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chat_permission::path::{Error as PathError, Kind, Project};
use serde::{Deserialize, Serialize};

use crate::changes::{open, unreadable};
use crate::finished::folder_mark;
use crate::git::Output;
use crate::git::private::{GitDir, With};
use crate::location::Location;
use crate::record::{Worktree, now};
use crate::shadow::{Import, REFS, Shadow, copy_objects, reference};
use crate::work_index::{copy_index, untracked};
use crate::worktrees::Worktrees;
use crate::{Error, names, raw, status};

/// A stored worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Identifies it, for [`Worktrees::restore`].
    #[serde(skip)]
    pub id: String,
    /// The worktree's name.
    pub name: String,
    /// When it was stored: milliseconds since 1970.
    pub at: u64,
    /// The worktree's branch.
    pub branch: String,
    /// The name of the worktree's folder; empty where it is not known.
    #[serde(default)]
    pub folder: String,
    /// The commit of that branch, in hexadecimal; none if the branch was gone.
    pub tip: Option<String>,
    /// The commit that the worktree was on, in hexadecimal: the same, unless a command switched.
    pub head: String,
    /// The commit that it began with, in hexadecimal.
    pub base: String,
    /// The branch that it began with.
    pub target: Option<String>,
    /// The user's project.
    #[serde(with = "names::path")]
    pub project: PathBuf,
    /// How many commits are stored that the base does not have.
    pub commits: u64,
    /// How many files are stored, committed or not.
    pub files: u64,
    /// Their size in bytes.
    pub size: u64,
}

impl Worktrees {
    /// Stores a worktree as it is now: its commits, and all files that are not ignored, also those
    /// of repositories inside of it, with their git data. Takes as long as reading these files.
    ///
    /// # Errors
    /// A file cannot be read; the repository is not as recorded; git or the disk fails; it was
    /// cancelled. Then nothing is stored.
    pub fn snapshot(&self, worktree: &Worktree, cancel: &AtomicBool) -> Result<Snapshot, Error> {
        let location = worktree.location_without_link()?;
        let git = GitDir::new(&location, cancel)?;
        let shadow = Shadow::open(&self.shadow, git.settings().is_sha256, cancel)?;
        let _lock = shadow.hold()?;
        let head = status::head_commit(&git, worktree, cancel)?;
        let tip = git.resolve(&format!("refs/heads/{}^{{commit}}", worktree.branch()), cancel)?;
        let commits = commits(&git, worktree.base(), &head, tip.as_deref(), cancel)?;

        // Trees first, so that the commit can name them.
        let tree = |commit: &str| {
            let found = git.resolve(&format!("{commit}^{{tree}}"), cancel)?;
            found.ok_or_else(|| Error::git("rev-parse", b"a commit has no tree"))
        };
        let base_tree = tree(worktree.base())?;
        let trees = commits.iter().map(|commit| tree(commit)).collect::<Result<Vec<_>, _>>()?;
        let staged = staged(&git, &location, cancel).filter(|staged| *staged != base_tree);
        let all: Vec<_> = trees.iter().chain([&base_tree]).chain(&staged).cloned().collect();
        copy_objects(&|| git.command(With::default()), &|| shadow.command(), &all, cancel)?;

        let at = now();
        let id = format!("{at:013}-{}", folder_mark(&worktree.folder));
        let mut snapshot = Snapshot {
            id,
            name: worktree.name().to_owned(),
            at,
            branch: worktree.branch().to_owned(),
            folder: folder_name(&worktree.folder),
            tip,
            head: head.clone(),
            base: worktree.base().to_owned(),
            target: worktree.target().map(str::to_owned),
            project: worktree.parent_project().to_owned(),
            commits: commits.len() as u64,
            files: 0,
            size: 0,
        };
        let mut import = shadow.import()?;
        import.begin(&format!("{REFS}{}", snapshot.id), at);
        import.tree("trees/base", &base_tree);
        if let Some(staged) = &staged {
            import.tree("staged", staged);
        }
        for (number, (commit, tree)) in commits.iter().zip(&trees).enumerate() {
            let text = git.output(With::default(), "cat-file", ["commit", commit], cancel)?;
            import.bytes("100644", &PathBuf::from(format!("commits/{number:06}")), &text);
            import.tree(&format!("trees/{number:06}"), tree);
        }
        let project = open(&location.work_tree)?;
        for path in files(&git, &location, &head, cancel)? {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            if let Some(size) = add(&mut import, &project, &path)? {
                snapshot.files += 1;
                snapshot.size += size;
            }
        }
        let meta = serde_json::to_vec_pretty(&snapshot)
            .map_err(|error| Error::io(&shadow.folder)(error.into()))?;
        import.bytes("100644", Path::new("meta.json"), &meta);
        import.finish()?;
        Ok(snapshot)
    }

    /// All snapshots, the latest first.
    ///
    /// # Errors
    /// The shadow repository cannot be read.
    pub fn snapshots(&self, cancel: &AtomicBool) -> Result<Vec<Snapshot>, Error> {
        let mut all = Vec::new();
        for shadow in Shadow::existing(&self.shadow, cancel)? {
            let listed =
                shadow.output("for-each-ref", &["--format=%(refname)", REFS], &[], cancel)?;
            for name in String::from_utf8_lossy(&listed).lines() {
                let text =
                    shadow.output("cat-file", &["blob", &format!("{name}:meta.json")], &[], cancel);
                let read =
                    text.ok().and_then(|text| serde_json::from_slice::<Snapshot>(&text).ok());
                if let (Some(snapshot), Some(id)) = (read, name.strip_prefix(REFS)) {
                    all.push(Snapshot { id: id.to_owned(), ..snapshot });
                } else {
                    tracing::warn!(name, "a snapshot of a worktree cannot be read");
                }
            }
        }
        all.sort_by(|one, other| other.id.cmp(&one.id));
        Ok(all)
    }

    /// Deletes the snapshots that are older than `age`. Returns how many. Takes as long as packing
    /// the others.
    ///
    /// # Errors
    /// The shadow repository cannot be written.
    pub fn prune_snapshots(&self, age: Duration, cancel: &AtomicBool) -> Result<usize, Error> {
        let oldest = now().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let mut count = 0;
        for shadow in Shadow::existing(&self.shadow, cancel)? {
            let _lock = shadow.hold()?;
            let listed =
                shadow.output("for-each-ref", &["--format=%(refname)", REFS], &[], cancel)?;
            let mut old = Vec::new();
            for name in String::from_utf8_lossy(&listed).lines() {
                // The time is in the name, so that a damaged one goes too.
                let at = name.strip_prefix(REFS).and_then(|id| id.split('-').next()?.parse().ok());
                if at.is_some_and(|at: u64| at < oldest) {
                    old.push(name.to_owned());
                }
            }
            shadow.delete(&old, cancel)?;
            count += old.len();
        }
        Ok(count)
    }

    /// Deletes a snapshot for good. Takes as long as packing the others.
    ///
    /// # Errors
    /// There is no such snapshot; the shadow repository cannot be written; it was cancelled. Then it
    /// may be gone, while what only it needed stays on disk until another one is deleted.
    pub fn delete_snapshot(&self, id: &str, cancel: &AtomicBool) -> Result<(), Error> {
        let no_snapshot = || Error::NoSnapshot(id.to_owned());
        let reference = reference(id).ok_or_else(no_snapshot)?;
        for shadow in Shadow::existing(&self.shadow, cancel)? {
            let _lock = shadow.hold()?;
            if shadow.resolve(&reference, cancel)?.is_some() {
                return shadow.delete(&[reference], cancel);
            }
        }
        Err(no_snapshot())
    }
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The commits that the base does not have, parents first.
fn commits(
    git: &GitDir,
    base: &str,
    head: &str,
    tip: Option<&str>,
    cancel: &AtomicBool,
) -> Result<Vec<String>, Error> {
    let not_base = format!("^{base}");
    let mut arguments = vec!["--topo-order", "--reverse", head, &not_base];
    arguments.extend(tip);
    arguments.push("--");
    let listed = git.output(With::default(), "rev-list", arguments, cancel)?;
    Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
}

/// What a command staged, as a tree. It may have damaged the index: then there is none.
fn staged(git: &GitDir, location: &Location, cancel: &AtomicBool) -> Option<String> {
    let index = git.place("staged-index");
    copy_index(&location.own.join("index"), &index).ok()?;
    let with = With { index: Some(&index), objects: None };
    let tree = git.output(with, "write-tree", None::<&str>, cancel).ok()?;
    Some(Output::line(&tree))
}

/// The files of a worktree: those of its commit, of its index, and all others that are not ignored.
fn files(
    git: &GitDir,
    location: &Location,
    head: &str,
    cancel: &AtomicBool,
) -> Result<BTreeSet<PathBuf>, Error> {
    let index = git.place("snapshot-index");
    let with = With { index: Some(&index), objects: None };
    git.output(with, "read-tree", [head], cancel)?;
    let (others, nested) = untracked(git, with, cancel)?;
    let mut files: BTreeSet<PathBuf> = others.into_iter().collect();
    let mut folders = nested;
    let staged = git.place("staged-index");
    let with_staged = With { index: Some(&staged), objects: None };
    for with in [with, with_staged] {
        let Ok(listed) = git.output(with, "ls-files", ["-z", "--stage"], cancel) else { continue };
        for (is_submodule, path) in raw::staged(&listed) {
            // A command may have written anything into its index.
            let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_below {
                continue;
            }
            if is_submodule {
                folders.push(path);
            } else {
                files.insert(path);
            }
        }
    }
    // Git knows nothing of what is in a repository inside.
    if location.work_tree.join(".git").symlink_metadata().is_ok_and(|it| it.is_dir()) {
        folders.push(".git".into());
    }
    while let Some(folder) = folders.pop() {
        let full = location.work_tree.join(&folder);
        if !full.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let entries = fs::read_dir(&full)
            .map_err(|source| Error::Unreadable { path: folder.clone(), source })?;
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                files.insert(path);
            }
        }
    }
    Ok(files)
}

/// Adds a file or link, if there is one. Returns its size in bytes.
fn add(import: &mut Import, project: &Project, path: &Path) -> Result<Option<u64>, Error> {
    let failed = |error| unreadable(path, error);
    let entry = match project.entry(path) {
        // It is deleted, or something else is where a folder was.
        Err(
            PathError::NotFound(_)
            | PathError::NotAFolder(_)
            | PathError::Changed(_)
            | PathError::Loop(_)
            | PathError::MagicLink(_),
        ) => return Ok(None),
        entry => entry.map_err(failed)?,
    };
    let stored = Path::new("files").join(names::stored(path));
    match entry.kind() {
        Kind::File => {
            let mut file = project.open_file(&entry).map_err(failed)?;
            let found = file.metadata().map_err(Error::io(path))?;
            let mode = std::os::unix::fs::MetadataExt::mode(&found);
            let mode = if mode & 0o100 != 0 { "100755" } else { "100644" };
            let length = found.len();
            let read = import.file(mode, &stored, &mut file, length);
            let is_whole =
                read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
            if is_whole { Ok(Some(length)) } else { Err(Error::Changed) }
        }
        Kind::Link => {
            let target = project.read_link(&entry).map_err(failed)?;
            import.bytes("120000", &stored, target.as_bytes());
            Ok(Some(target.len() as u64))
        }
        Kind::Missing | Kind::Folder | Kind::Special => Ok(None),
    }
}
