//! Records what a call does to the project's files in the project's journal, so that the user can
//! review and undo it.

use std::path::Path;
use std::sync::Arc;

use chat_journal::{Error, Journal, Origin, Scan};
use chat_permission::ResolvedPath;
use chat_permission::path::{Kind, Project};

use super::{Journals, ToolFailure};

/// The keeper of what one call changes. Where the project has no journal (the home folder has none)
/// things are done all the same.
#[derive(Clone, Default)]
pub struct Changes(Option<Arc<Keeper>>);

/// The keeper, and the journal that it keeps things in.
type KeeperWithJournal<'a> = (&'a Arc<Keeper>, Journal);

struct Keeper {
    journals: Arc<Journals>,
    project: Arc<Project>,
    origin: Origin,
    /// The requests that the call's session works for, by session and message: they can be undone, too.
    above: Box<dyn Fn() -> Vec<(String, String)> + Send + Sync>,
    /// Called when something was kept.
    heard: Box<dyn Fn() + Send + Sync>,
}

impl Changes {
    pub(crate) fn new(
        journals: Arc<Journals>,
        project: Arc<Project>,
        origin: Origin,
        above: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static,
        heard: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let (above, heard) = (Box::new(above), Box::new(heard));
        Self(Some(Arc::new(Keeper { journals, project, origin, above, heard })))
    }

    /// Does something to a file or a folder, and keeps what became of it. Blocks.
    ///
    /// # Errors
    /// What is done fails, or what there was cannot be kept: then nothing is done.
    pub fn around<T>(
        &self,
        path: &ResolvedPath,
        act: impl FnOnce() -> Result<T, ToolFailure>,
    ) -> Result<T, ToolFailure> {
        if path.kind() == Kind::Folder {
            return self.around_all(act);
        }
        let Some(((keeper, journal), path)) = self.inside(path)? else { return act() };
        keeper.keep(&journal, None, path, act)
    }

    /// Moves a file or a folder, and keeps that it was. Blocks.
    ///
    /// # Errors
    /// As above.
    pub fn around_move<T>(
        &self,
        from: &ResolvedPath,
        to: &ResolvedPath,
        act: impl FnOnce() -> Result<T, ToolFailure>,
    ) -> Result<T, ToolFailure> {
        if from.kind() == Kind::Folder {
            return self.around_all(act);
        }
        // Into the project, or out of it, is a file that comes, or one that goes.
        let (Some(old), Some(new)) = (from.relative(), to.relative()) else {
            let inside = if from.is_inside() { from } else { to };
            return self.around(inside, act);
        };
        let Some((keeper, journal)) = self.begin()? else { return act() };
        keeper.keep(&journal, Some(old), new, act)
    }

    /// Does something to whatever files.
    fn around_all<T>(
        &self,
        act: impl FnOnce() -> Result<T, ToolFailure>,
    ) -> Result<T, ToolFailure> {
        let looked = self.start_recording()?;
        let done = act();
        drop(looked);
        done
    }

    /// Scans the project before a command. Whatever changes until the recorder is dropped is recorded as the command's
    /// change. Blocks.
    ///
    /// # Errors
    /// What there is cannot be kept.
    pub fn start_recording(&self) -> Result<ChangeRecorder, ToolFailure> {
        let Some((keeper, journal)) = self.begin()? else { return Ok(ChangeRecorder(None)) };
        let scan = journal.scan().map_err(|error| unkept(&error))?;
        Ok(ChangeRecorder(Some((Arc::clone(keeper), journal, scan))))
    }

    /// The journal, and the path as it knows it.
    fn inside<'a>(
        &self,
        path: &'a ResolvedPath,
    ) -> Result<Option<(KeeperWithJournal<'_>, &'a Path)>, ToolFailure> {
        let Some(path) = path.relative() else { return Ok(None) };
        Ok(self.begin()?.map(|kept| (kept, path)))
    }

    /// The journal, with a checkpoint of the state before the first change of the request, and of each
    /// request that it is made for.
    fn begin(&self) -> Result<Option<KeeperWithJournal<'_>>, ToolFailure> {
        let Some(keeper) = &self.0 else { return Ok(None) };
        let journal = match keeper.journals.of(&keeper.project) {
            Ok(journal) => journal,
            // It has no journal; the review says so.
            Err(Error::Refused(_) | Error::NoGit) => return Ok(None),
            Err(error) => return Err(unkept(&error)),
        };
        let Origin { session, message, .. } = &keeper.origin;
        journal.checkpoint(session, message).map_err(|error| unkept(&error))?;
        for (session, message) in (keeper.above)() {
            journal.checkpoint(&session, &message).map_err(|error| unkept(&error))?;
        }
        Ok(Some((keeper, journal)))
    }
}

impl Keeper {
    /// Does something to a file, or moves one `from` elsewhere, and keeps what became of it.
    fn keep<T>(
        &self,
        journal: &Journal,
        from: Option<&Path>,
        path: &Path,
        act: impl FnOnce() -> Result<T, ToolFailure>,
    ) -> Result<T, ToolFailure> {
        journal.keep(from.unwrap_or(path)).map_err(|error| unkept(&error))?;
        let done = journal.by_tool(&self.origin, from, path, act);
        let (done, is_another) = done.map_err(|error| unkept(&error))?;
        self.tell(journal.note().map(|()| usize::from(is_another)));
        done
    }

    fn tell(&self, kept: Result<usize, Error>) {
        match kept {
            Ok(0) => {}
            Ok(_) => (self.heard)(),
            // It is done already, and is recorded with the next change.
            Err(error) => tracing::error!(%error, "a change was not kept in the journal"),
        }
    }
}

/// A scan of a project before something changes it. The differences are recorded when it is dropped.
/// Dropping it blocks for as long as it takes to look at the project again.
pub struct ChangeRecorder(Option<(Arc<Keeper>, Journal, Scan)>);

impl ChangeRecorder {
    /// Records what has changed until now, and continues.
    pub fn keep(&mut self) {
        let Some((keeper, journal, scan)) = &mut self.0 else { return };
        let kept = journal.record_since(scan, &keeper.origin);
        keeper.tell(kept.map(|(kept, next)| {
            *scan = next;
            kept.len()
        }));
    }
}

impl Drop for ChangeRecorder {
    fn drop(&mut self) {
        self.keep();
    }
}

impl std::fmt::Debug for ChangeRecorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeRecorder").finish_non_exhaustive()
    }
}

fn unkept(error: &Error) -> ToolFailure {
    ToolFailure::new(format!(
        "Nothing was changed, because the previous content could not be saved for undo ({error})."
    ))
}
