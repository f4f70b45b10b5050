//! Defines what a command sees of the file system: plain data, computed once for each command, from
//! which either back end builds its rules.
//!
//! Only what is listed here is visible. So things that nobody thought of (keys, mail, browsers, the
//! session bus) are hidden without being listed.

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
pub use guard::clear_left_over;
pub(crate) use nested::LARGE;
pub(crate) use project::Protection;

use crate::command::{GitAccess, Secrets};
use crate::error::Error;

/// What a command sees.
#[derive(Debug)]
pub(crate) struct View {
    /// Files and folders that are readable and executable: where they are, and where the command
    /// sees them (the same path, except for links whose target is hidden).
    pub(crate) readable: Vec<(PathBuf, PathBuf)>,
    /// Symbolic links to create: their targets, and their paths.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The home folder, which is empty except for what is readable.
    pub(crate) home: PathBuf,
    /// The project.
    pub(crate) project: PathBuf,
    /// Where git stores a linked work tree's data outside the project.
    pub(crate) git: Vec<PathBuf>,
    /// What the command may touch of these, if that is less than a work tree's usual data.
    pub(crate) access: Option<GitAccess>,
    /// Folders of git's that are empty, except for what is protected in them.
    pub(crate) emptied: Vec<PathBuf>,
    /// What in the project (or its git data) must not be changed.
    pub(crate) protected: Vec<Protection>,
    /// Repositories and settings that were found but cannot be protected.
    pub(crate) unprotected: Vec<PathBuf>,
    /// Folders of the project that must not be visible.
    pub(crate) hidden: Vec<PathBuf>,
    /// The project's secret files, if there are any.
    pub(crate) secrets: Option<Secrets>,
    /// Files of the project that must not be read.
    pub(crate) masked: Vec<PathBuf>,
    /// The project's own caches, if it has any.
    pub(crate) caches: Option<Caches>,
    /// Passed to the [`Guard`]: what was found below the project's top is kept until the end.
    pub(crate) nested: Option<nested::Keep>,
}

impl View {
    /// The view from `home` of a command in `project`, an absolute path without links; [the
    /// system](Self::add_system) and [the project](Self::add_project) are added later.
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
            access: None,
            emptied: Vec::new(),
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

    /// Adds the system's part. `hidden` are folders that must not be visible in addition to
    /// Natter's own.
    pub(crate) fn add_system(&mut self, hidden: &[PathBuf], network: bool) -> Result<(), Error> {
        let mut own = own::folders(&self.home);
        own.extend(hidden.iter().map(|path| own::resolved(path)));
        if let Some(inside) = own.iter().find(|folder| folder.starts_with(&self.project)) {
            return Err(Error::OwnFolder(inside.clone()));
        }
        // A toolchain may be in a system folder, which must come before it.
        let toolchains = std::mem::take(&mut self.readable);
        system::add(self, network);
        for (from, place) in toolchains {
            self.add(from, place);
        }
        // Natter's data may be in a visible folder, if the user moved it.
        self.hidden = own
            .into_iter()
            .filter(|folder| self.readable.iter().any(|(from, _)| folder.starts_with(from)))
            .collect();
        Ok(())
    }

    /// Gives the project its own caches instead of the user's.
    pub(crate) fn add_caches(&mut self) {
        self.caches = Caches::of(self);
    }

    /// Adds the project, with nothing known about it before.
    pub(crate) fn add_project(&mut self) -> Result<(), Error> {
        project::add(self)
    }

    /// Shows a file or folder at its own path, if it exists.
    fn show(&mut self, path: PathBuf) {
        if path.exists() {
            self.add(path.clone(), path);
        }
    }

    /// Shows `from` at `place`, unless something is already shown there.
    fn add(&mut self, from: PathBuf, place: PathBuf) {
        if !self.readable.iter().any(|(_, other)| *other == place) {
            self.readable.push((from, place));
        }
    }
}

/// Fills a home folder with links to what is readable in the real one, for back ends that cannot
/// show files at other paths.
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
