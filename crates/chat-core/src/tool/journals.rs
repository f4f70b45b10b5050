//! Keeps the journals of the open projects, which record what tools change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use chat_journal::{Error, Journal, Limits};
use chat_permission::path::Project;

/// The journals of all projects, each opened when something is first changed there.
#[derive(Debug)]
pub struct Journals {
    /// Where they are kept.
    state: PathBuf,
    home: Option<PathBuf>,
    limits: Limits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    by_root: HashMap<PathBuf, Journal>,
    /// Those in which nobody looked for what is old yet.
    untidy: Vec<Journal>,
}

impl Journals {
    /// Journals below a folder of Natter's own. The home folder gets none.
    #[must_use]
    pub fn new(state: PathBuf, home: Option<PathBuf>, limits: Limits) -> Self {
        Self { state, home, limits, open: Mutex::default() }
    }

    /// The journal of a project where there is one already. Blocks.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn existing(&self, project: &Project) -> Result<Option<Journal>, Error> {
        if Journal::exists(project, &self.state) { self.of(project).map(Some) } else { Ok(None) }
    }

    /// Whether a project has no journal since it is the home folder, or holds it.
    pub fn is_refused(&self, project: &Project) -> bool {
        self.home.as_ref().is_some_and(|home| home.starts_with(project.root()))
    }

    /// The journal of a project. Blocks.
    ///
    /// # Errors
    /// The folder gets none, `git` is missing, or the disk says no.
    pub fn of(&self, project: &Project) -> Result<Journal, Error> {
        if let Some(journal) = self.opened(project) {
            return Ok(journal);
        }
        let home = self.home.as_deref();
        let journal = Journal::open(project, home, &self.state, self.limits.clone())?;
        let mut open = self.lock();
        // Another thread may have been faster: what was done in one is known to that one first.
        if let Some(first) = open.by_root.get(project.root()).filter(|first| first.is_current()) {
            return Ok(first.clone());
        }
        open.by_root.insert(project.root().to_owned(), journal.clone());
        open.untidy.push(journal.clone());
        Ok(journal)
    }

    /// The journal of a project where it is open.
    fn opened(&self, project: &Project) -> Option<Journal> {
        let journal = self.lock().by_root.get(project.root()).cloned();
        // A journal of a folder that was deleted and created again belongs to the deleted one.
        journal.filter(Journal::is_current)
    }

    /// Records the user's own change of a file as that, so that no running command is taken for its author.
    /// Waits for what tools do to files at the moment, and for nothing else; `act` must ask no journal.
    pub fn by_person<T>(&self, project: &Project, path: &Path, act: impl FnOnce() -> T) -> T {
        let Some(journal) = self.opened(project) else { return act() };
        let (done, is_another) = journal.by_person(path, act);
        if is_another {
            drop(in_background(move || journal.note()));
        }
        done
    }

    /// The same where the person's text replaces what came into a file since they read it, which was `seen`: what
    /// sessions changed since counts as rejected. Blocks until that is written down.
    pub fn overwritten_by_person<T>(
        &self,
        project: &Project,
        path: &Path,
        seen: &[u8],
        act: impl FnOnce() -> T,
    ) -> T {
        let Some(journal) = self.opened(project) else { return act() };
        let (done, is_another) = journal.overwritten_by_person(path, seen, act);
        if is_another && let Err(error) = journal.note() {
            tracing::warn!(%error, "what was overwritten was not written down");
        }
        done
    }

    /// Forgets what sessions of a project did that are gone for good. Blocks.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn forget(&self, project: &Project, sessions: &[String]) -> Result<(), Error> {
        let Some(journal) = self.existing(project)? else { return Ok(()) };
        sessions.iter().try_for_each(|session| journal.forget(session))
    }

    /// Removes all that is recorded of sessions of a project that leave no trace. Blocks, and may take a while.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn erase(&self, project: &Project, sessions: &[String]) -> Result<(), Error> {
        self.existing(project)?.map_or(Ok(()), |journal| journal.erase(sessions))
    }

    /// Removes what is old from the journals that were opened since this was last asked, in the background: it may
    /// take a while, and nobody need wait for it.
    pub fn tidy(&self) -> Option<JoinHandle<()>> {
        let journals = std::mem::take(&mut self.lock().untidy);
        if journals.is_empty() {
            return None;
        }
        in_background(move || journals.iter().try_for_each(|journal| journal.prune().map(drop)))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something with journals that nobody waits for.
fn in_background(
    act: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> Option<JoinHandle<()>> {
    let act = move || {
        if let Err(error) = act() {
            tracing::warn!(%error, "a journal was not written or tidied");
        }
    };
    let begun = thread::Builder::new().name("journal".to_owned()).spawn(act);
    begun.inspect_err(|error| tracing::warn!(%error, "no thread for a journal")).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chat_journal::Origin;
    use chat_permission::path::PathEnvironment;

    use super::*;

    const NOTHING: Limits =
        Limits { file_size: 1 << 20, project_size: 1 << 20, age: Duration::ZERO, store_size: 0 };

    fn scene(limits: Limits) -> (tempfile::TempDir, Journals, Project) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let root = folder.path().join("project");
        let project = Project::open(&root, &PathEnvironment::default()).unwrap();
        let journals = Journals::new(folder.path().join("state"), None, limits);
        (folder, journals, project)
    }

    fn origin(session: &str) -> Origin {
        Origin { session: session.to_owned(), ..Origin::default() }
    }

    fn edit(journal: &Journal, root: &Path, session: &str, name: &str) {
        journal.checkpoint(session, name).unwrap();
        let write = || std::fs::write(root.join(name), name);
        let (done, is_another) =
            journal.by_tool(&origin(session), None, Path::new(name), write).unwrap();
        done.unwrap();
        assert!(is_another);
        journal.note().unwrap();
    }

    #[test]
    fn what_nobody_reviewed_is_kept_until_its_session_is_gone_for_good() {
        let (folder, journals, project) = scene(NOTHING);
        let journal = journals.of(&project).unwrap();
        let root = folder.path().join("project");
        edit(&journal, &root, "gone", "a");
        edit(&journal, &root, "here", "b");
        journals.tidy().unwrap().join().unwrap();
        assert_eq!(journal.checkpoints("gone").unwrap().len(), 1);
        assert!(journals.tidy().is_none(), "once in a run is enough");

        let sessions = ["gone".to_owned(), "nobody".to_owned()];
        journals.forget(&project, &sessions).unwrap();
        assert!(journal.changes(&["gone"]).unwrap().is_empty());
        // The next run.
        let journals = Journals::new(folder.path().join("state"), None, NOTHING);
        journals.of(&project).unwrap();
        journals.tidy().unwrap().join().unwrap();
        assert!(journal.checkpoints("gone").unwrap().is_empty());
        assert_eq!(journal.changes(&["here"]).unwrap().len(), 1);
    }

    #[test]
    fn a_folder_that_took_anothers_place_is_the_one_that_is_meant() {
        let (folder, journals, project) = scene(Limits::default());
        let root = folder.path().join("project");
        std::fs::write(root.join("a"), "first").unwrap();
        journals.of(&project).unwrap();
        std::fs::rename(&root, folder.path().join("elsewhere")).unwrap();
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a"), "second").unwrap();
        let project = Project::open(&root, &PathEnvironment::default()).unwrap();
        let found = journals.of(&project).unwrap().read(Path::new("a")).unwrap().unwrap();
        assert_eq!(&*found.bytes, b"second");
    }
}
