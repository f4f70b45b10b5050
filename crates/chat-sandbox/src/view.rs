//! Defines what a command sees of the files: plain data, computed once for each command, from which
//! either back end makes its bounds.
//!
//! Nothing is visible that is not named here. So what nobody thought of (keys, mail, browsers, the
//! bus of the session) is hidden without being named.

mod caches;
mod etc;
mod guard;
mod home;
mod identity;
mod nested;
mod own;
mod placeholder;
mod project;
mod system;

use std::path::{Path, PathBuf};

pub(crate) use caches::Caches;
pub(crate) use etc::Etc;
pub(crate) use guard::Guard;
pub(crate) use nested::LARGE;
pub(crate) use project::Protection;

use crate::command::Secrets;
use crate::error::Error;

/// What a command sees.
#[derive(Debug)]
pub(crate) struct View {
    /// Files and folders to read and to start programs from: where they are, and where the
    /// command sees them (the same, but for links whose target is hidden).
    pub(crate) readable: Vec<(PathBuf, PathBuf)>,
    /// Symbolic links to make: what they say, and where.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The home folder, which is empty but for what is readable.
    pub(crate) home: PathBuf,
    /// The project.
    pub(crate) project: PathBuf,
    /// Where git keeps a linked work tree's data outside the project.
    pub(crate) git: Vec<PathBuf>,
    /// What in the project (or its git data) may not be changed.
    pub(crate) protected: Vec<Protection>,
    /// Repositories and settings that were found and cannot be protected.
    pub(crate) unprotected: Vec<PathBuf>,
    /// What in the project may not be seen.
    pub(crate) hidden: Vec<PathBuf>,
    /// Which files of the project are secret, where some are.
    pub(crate) secrets: Option<Secrets>,
    /// Files of the project that may not be read.
    pub(crate) masked: Vec<PathBuf>,
    /// The project's own caches, where it has some.
    pub(crate) caches: Option<Caches>,
    /// Goes to the [`Guard`]: what was found beneath the project's top is kept until the end.
    pub(crate) nested: Option<nested::Keep>,
}

impl View {
    /// The view from `home` of a command in `project`, an absolute path without links, but for
    /// what it sees of [the system](Self::add_system) and [the project](Self::add_project).
    pub(crate) fn of(project: &Path, home: &Path) -> Result<Self, Error> {
        if home.starts_with(project) {
            return Err(Error::TooWide(project.to_owned()));
        }
        let mut view = Self {
            readable: Vec::new(),
            links: Vec::new(),
            home: home.to_owned(),
            project: project.to_owned(),
            git: Vec::new(),
            protected: Vec::new(),
            unprotected: Vec::new(),
            hidden: Vec::new(),
            secrets: None,
            masked: Vec::new(),
            caches: None,
            nested: None,
        };
        home::add(&mut view, home);
        identity::add(&mut view);
        Ok(view)
    }

    /// Adds the system's part. `hidden` are folders besides Natter's own that may not be seen.
    pub(crate) fn add_system(&mut self, hidden: &[PathBuf], network: bool) -> Result<(), Error> {
        let mut own = own::folders(&self.home);
        own.extend(hidden.iter().map(|path| own::resolved(path)));
        if let Some(inside) = own.iter().find(|folder| folder.starts_with(&self.project)) {
            return Err(Error::OwnFolder(inside.clone()));
        }
        // A toolchain may lie in a folder of the system's, which comes before it.
        let toolchains = std::mem::take(&mut self.readable);
        system::add(self, network);
        for (from, place) in toolchains {
            self.add(from, place);
        }
        // Natter's data may lie in a folder that is shown, where a person moved it.
        self.hidden = own
            .into_iter()
            .filter(|folder| self.readable.iter().any(|(from, _)| folder.starts_with(from)))
            .collect();
        Ok(())
    }

    /// Gives the project caches of its own in the place of the user's.
    pub(crate) fn add_caches(&mut self) {
        self.caches = Caches::of(self);
    }

    /// Adds the project, of which nothing is known before.
    pub(crate) fn add_project(&mut self) -> Result<(), Error> {
        project::add(self)
    }

    /// Shows a file or folder where it is, if it is there.
    fn show(&mut self, path: PathBuf) {
        if path.exists() {
            self.add(path.clone(), path);
        }
    }

    /// Shows `from` at `place`, unless something is shown there already.
    fn add(&mut self, from: PathBuf, place: PathBuf) {
        if !self.readable.iter().any(|(_, other)| *other == place) {
            self.readable.push((from, place));
        }
    }
}

/// Makes a home folder that shows what is readable of the real one by links, where files cannot
/// be shown in their place.
pub(crate) fn furnish(view: &View, home: &Path) -> std::io::Result<()> {
    std::fs::create_dir(home)?;
    for (from, place) in view.readable.iter().chain(&view.links) {
        let Ok(inside) = place.strip_prefix(&view.home) else {
            continue;
        };
        let link = home.join(inside);
        if let Some(folder) = link.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::os::unix::fs::symlink(from, link)?;
    }
    Ok(())
}
