//! The journals of the projects that are worked in: what tools change is kept there.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use chat_journal::{Error, Journal, Limits};
use chat_permission::path::Project;

/// The journals of all projects, each opened when something is first changed there.
#[derive(Debug)]
pub struct Journals {
    /// Where they are kept.
    state: PathBuf,
    home: Option<PathBuf>,
    open: Mutex<HashMap<PathBuf, Journal>>,
}

impl Journals {
    /// Journals below a folder of Natter's own. The home folder gets none.
    #[must_use]
    pub fn new(state: PathBuf, home: Option<PathBuf>) -> Self {
        Self { state, home, open: Mutex::default() }
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
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = open.get(project.root()) {
            return Ok(journal.clone());
        }
        let home = self.home.as_deref();
        let journal = Journal::open(project, home, &self.state, Limits::default())?;
        open.insert(project.root().to_owned(), journal.clone());
        Ok(journal)
    }
}
