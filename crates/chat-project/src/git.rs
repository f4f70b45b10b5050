//! Reads the git state of a project: branch, changed files, and the changes as text.
//!
//! The `git` program does the work, but not in the project's own repository, whose settings may name programs to be
//! run (`core.fsmonitor`, filters, hooks, `textconv`, `sshCommand`, and whatever a later git may add). It gets a
//! folder of ours with settings of ours, in which objects, references and index are the project's. So nothing that
//! a project says is believed that could run anything.

mod location;
mod private;
mod run;
mod settings;
mod status;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chat_permission::path::Project;

use location::RepositoryLocation;
use private::Private;
use run::{Ended, Program};
pub use status::{Change, Changed, Head, State};

/// Bytes that git may say of a state: some tens of thousands of files.
const LONGEST_STATE: usize = 4 * 1024 * 1024;
/// What a repository without a commit is compared with: the tree without a file, by either hash.
const EMPTY: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

/// How often a repository is looked at that changes meanwhile.
const TRIES: usize = 3;

/// Why git's state is not known.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no program `git`.
    #[error("there is no git")]
    NoGit,
    /// What the project calls its repository lies elsewhere and does not know the project, or is put together in a
    /// way that could show the files of another.
    #[error("the repository at {} is not this project's", .0.display())]
    Foreign(PathBuf),
    /// The repository is of a kind that is not read: references in a table.
    #[error("the repository is of a kind that is not read")]
    Unsupported,
    /// It took too long.
    #[error("git took too long")]
    TooSlow,
    /// It was given up.
    #[error("given up")]
    GivenUp,
    /// Git said no.
    #[error("git failed")]
    Failed,
    /// Something could not be read or run.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The repository that a project lies in.
#[derive(Clone, Debug)]
pub struct Repository {
    location: RepositoryLocation,
    project: PathBuf,
}

/// Changes as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// In git's unified form. What is not UTF-8 is replaced.
    pub text: String,
    /// Whether the end of it was cut off, at a line.
    pub is_cut: bool,
}

/// Finds the repository that a project lies in; none where it lies in none.
///
/// # Errors
/// What claims to be it is not to be trusted.
pub fn find(project: &Project) -> Result<Option<Repository>, GitError> {
    let found = RepositoryLocation::find(project.root())?;
    Ok(found.map(|location| Repository { location, project: project.root().to_owned() }))
}

impl Repository {
    /// The folder that the repository's files lie in: the project, or one above it.
    pub fn work_tree(&self) -> &Path {
        &self.location.work_tree
    }

    /// What the next commit goes to, as the repository's own file says: no program is run for it. The name of a
    /// branch, or the beginning of a commit's.
    pub fn head(&self) -> Option<String> {
        let head = location::short_file(&self.location.own.join("HEAD"))?;
        let branch =
            head.trim().strip_prefix("ref: ").map(|name| name.trim_start_matches("refs/heads/"));
        let name = branch.unwrap_or_else(|| head.trim().get(..12).unwrap_or_default());
        let is_plain = !name.is_empty() && !name.contains(char::is_control);
        is_plain.then(|| name.to_owned())
    }

    /// Branch and files that changed in the project. Submodules are left out. Takes some milliseconds, and where
    /// many files were touched as long as reading them.
    ///
    /// # Errors
    /// Git is not there, failed, or took too long; it was given up.
    pub fn state(&self, given_up: &AtomicBool) -> Result<State, GitError> {
        self.steady(|| self.looked_at(given_up))
    }

    fn looked_at(&self, given_up: &AtomicBool) -> Result<State, GitError> {
        let program = Program::find(&self.project).ok_or(GitError::NoGit)?;
        let private = Private::new(&self.location, &program, given_up)?;
        let mut command = private.command(&program, &self.project);
        command.args(["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all"]);
        command.args(["--ignore-submodules=all", "--", "."]);
        let Ended { output, is_cut } = run::run(command, LONGEST_STATE, given_up)?;
        let beneath = self.project.strip_prefix(&self.location.work_tree).unwrap_or(Path::new(""));
        Ok(status::read(&output, is_cut, beneath))
    }

    /// What differs in the project between its last commit and its files, `most` bytes at most. Files that git does
    /// not know are not in it: [`Repository::state`] names them.
    ///
    /// # Errors
    /// Git is not there, failed, or took too long; it was given up.
    pub fn diff(&self, most: usize, given_up: &AtomicBool) -> Result<Diff, GitError> {
        self.steady(|| self.compared(most, given_up))
    }

    fn compared(&self, most: usize, given_up: &AtomicBool) -> Result<Diff, GitError> {
        let program = Program::find(&self.project).ok_or(GitError::NoGit)?;
        let private = Private::new(&self.location, &program, given_up)?;
        let mut head = private.command(&program, &self.project);
        head.args(["rev-parse", "--quiet", "--verify", "HEAD"]);
        let base = match run::run(head, 256, given_up) {
            Ok(_) => "HEAD",
            Err(GitError::Failed) => EMPTY[usize::from(private.is_sha256())],
            Err(trouble) => return Err(trouble),
        };
        let mut command = private.command(&program, &self.project);
        command.args(["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative"]);
        command.args(["--ignore-submodules=all", base, "--", "."]);
        let Ended { mut output, is_cut } = run::run(command, most, given_up)?;
        if is_cut {
            let end = memchr::memrchr(b'\n', &output).map_or(0, |end| end + 1);
            output.truncate(end);
        }
        Ok(Diff { text: String::from_utf8_lossy(&output).into_owned(), is_cut })
    }

    /// What a look finds, unless the repository was exchanged while it was looked at: a command that runs may have
    /// shown another's. Who commits meanwhile has it looked at again.
    fn steady<T>(&self, mut look: impl FnMut() -> Result<T, GitError>) -> Result<T, GitError> {
        for _ in 0..TRIES {
            let before = self.location.folder_stamps()?;
            let found = look()?;
            if self.location.folder_stamps()? == before {
                return Ok(found);
            }
        }
        Err(GitError::Foreign(self.location.common.clone()))
    }

    /// Folders in which everything is git's own.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        vec![self.location.own.clone(), self.location.common.clone()]
    }

    /// Folders that change with the state.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut folders = self.folders();
        folders.push(self.location.common.join("refs/heads"));
        folders.dedup();
        folders.retain(|folder| folder.is_dir());
        folders
    }
}

#[cfg(test)]
mod tests;
