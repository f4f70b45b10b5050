//! Defines what a command sees of the file system: plain data, computed once for each command, from
//! which either back end builds its rules.
//!
//! Only what is listed here is visible. So things that nobody thought of (keys, mail, browsers, the
//! session bus) are hidden without being listed.

mod caches;
mod etc;
mod granted;
mod guard;
mod home;
mod identity;
mod nested;
mod own;
mod placeholder;
mod project;
mod system;

use std::path::{Path, PathBuf};

pub use caches::remove_program_files;
pub(crate) use caches::{Caches, ProgramFiles};
pub(crate) use etc::Etc;
pub(crate) use guard::Guard;
pub use guard::clear_left_over;
pub(crate) use nested::LARGE;
pub(crate) use project::Protection;

use crate::command::{GitAccess, Secrets};
use crate::error::Error;
use crate::program::{FolderAccess, GrantedFolder};

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
    /// The project; for a program, its own folder.
    pub(crate) project: PathBuf,
    /// The files of a program that are kept; none for a command.
    pub(crate) program: Option<ProgramFiles>,
    /// The folders that are granted in addition, the outer ones first.
    pub(crate) granted: Vec<GrantedFolder>,
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
    /// Passed to the [`Guard`]: what was found below the top of each folder is kept until the end.
    pub(crate) nested: Vec<nested::Keep>,
}

impl View {
    /// The view from `home` of a command in `project`, an absolute path without links; [the
    /// system](Self::add_system) and [the project](Self::add_project) are added later.
    pub(crate) fn of(project: &Path, home: &Path) -> Result<Self, Error> {
        Self::new(project, home, None, Vec::new())
    }

    /// The same for a program, with its kept files and the folders that are granted to it.
    pub(crate) fn of_program(
        program: ProgramFiles,
        home: &Path,
        mut granted: Vec<GrantedFolder>,
    ) -> Result<Self, Error> {
        granted.sort();
        let folder = program.folder().to_owned();
        Self::new(&folder, home, Some(program), granted)
    }

    fn new(
        project: &Path,
        home: &Path,
        program: Option<ProgramFiles>,
        granted: Vec<GrantedFolder>,
    ) -> Result<Self, Error> {
        let mut folders = std::iter::once(project).chain(granted.iter().map(|it| &*it.path));
        if let Some(wide) = folders.find(|folder| home.starts_with(folder)) {
            return Err(Error::TooWide(wide.to_owned()));
        }
        let mut view = Self {
            readable: Vec::new(),
            links: Vec::new(),
            home: home.to_owned(),
            project: project.to_owned(),
            program,
            granted,
            git: Vec::new(),
            access: None,
            emptied: Vec::new(),
            protected: Vec::new(),
            unprotected: Vec::new(),
            hidden: Vec::new(),
            secrets: None,
            masked: Vec::new(),
            caches: None,
            nested: Vec::new(),
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
        let holds = |outer: &Path| own.iter().find(|folder| folder.starts_with(outer)).cloned();
        if let Some(inside) = self.folders().find_map(holds) {
            return Err(Error::OwnFolder(inside));
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

    /// Adds the project and the granted folders, with nothing known about them before. A program's
    /// own folder has nothing to protect.
    pub(crate) fn add_project(&mut self) -> Result<(), Error> {
        let own = self.program.is_none().then(|| self.project.clone());
        for folder in own.into_iter().chain(self.writable().map(Path::to_owned).collect::<Vec<_>>())
        {
            project::add(self, &folder)?;
        }
        granted::add(self);
        Ok(())
    }

    /// The project and all granted folders.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&*self.project).chain(self.granted.iter().map(|granted| &*granted.path))
    }

    /// The granted folders that may be written to, and are in no other one.
    pub(crate) fn writable(&self) -> impl Iterator<Item = &Path> {
        let writable = |granted: &&GrantedFolder| granted.access == FolderAccess::Write;
        let is_inner = move |inner: &&GrantedFolder| {
            let mut outer = self.granted.iter().filter(writable);
            outer.any(|outer| inner.path != outer.path && inner.path.starts_with(&outer.path))
        };
        let outer = self.granted.iter().filter(writable).filter(move |inner| !is_inner(inner));
        outer.map(|granted| &*granted.path)
    }

    /// Whether a file is visible at its own path.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        let is_in_folder = |path: &Path| {
            let mut folders = self.folders().chain(self.git.iter().map(PathBuf::as_path));
            folders.any(|folder| path.starts_with(folder))
        };
        let mut places = self.readable.iter().chain(&self.links).map(|(_, place)| place);
        let mut shown = self.readable.iter().map(|(from, _)| from);
        (is_in_folder(path) || places.any(|place| path.starts_with(place)))
            && (is_in_folder(&real) || shown.any(|from| real.starts_with(from)))
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
