//! Defines what is started, be it a command or a program: with its paths free of links, and what
//! the first shell is to run.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::{Command, GitAccess, Limits, Secrets};
use crate::environment;
use crate::error::Error;
use crate::program::{self, FolderAccess, GrantedFolder, Program, StandardError};
use crate::shell;
use crate::view::{ProgramFiles, View};

/// A command or a program that is about to start.
#[derive(Debug)]
pub(crate) struct Launch {
    /// What the first shell runs.
    pub(crate) words: Vec<OsString>,
    pub(crate) kind: LaunchKind,
    /// The working directory.
    pub(crate) folder: PathBuf,
    /// The user's home folder.
    pub(crate) home: PathBuf,
    pub(crate) network: bool,
    pub(crate) limit: Option<Duration>,
    pub(crate) limits: Limits,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) secrets: Option<Secrets>,
}

/// How a command and a program differ.
#[derive(Debug)]
pub(crate) enum LaunchKind {
    /// A command in this project, which reads nothing.
    Command { project: PathBuf, git: Option<GitAccess> },
    /// A program that is talked to.
    Program {
        /// What is kept for it; none if nothing is enforced.
        files: Option<ProgramFiles>,
        granted: Vec<GrantedFolder>,
        /// Whether somebody reads its standard error.
        has_reader: bool,
    },
}

impl Launch {
    pub(crate) fn of_command(shell: &Path, command: Command) -> Result<Self, Error> {
        if command.text.contains('\0') {
            return Err(Error::Nul);
        }
        let project = real(&command.project)?;
        let folder = real_folder(&command.folder)?;
        if !folder.starts_with(&project) {
            return Err(Error::Outside(folder));
        }
        let arguments = shell::arguments(shell).iter().map(OsString::from);
        let words = std::iter::once(shell.into()).chain(arguments);
        Ok(Self {
            words: words.chain([command.text.into()]).collect(),
            kind: LaunchKind::Command { project, git: command.git },
            folder,
            home: home(command.home),
            network: command.network,
            limit: command.limit,
            limits: command.limits,
            environment: command.environment,
            hidden: command.hidden,
            secrets: command.secrets,
        })
    }

    /// `is_confined` says that something is enforced: then it has a folder of its own.
    pub(crate) fn of_program(program: Program, is_confined: bool) -> Result<Self, Error> {
        let mut words = vec![program.program];
        words.extend(program.arguments);
        let has_nul = |word: &OsString| word.as_bytes().contains(&0);
        let mut variables = program.environment.iter();
        if words.iter().any(has_nul)
            || variables.any(|(name, value)| has_nul(name) || has_nul(value))
        {
            return Err(Error::Nul);
        }
        let home = home(program.home);
        for granted in &program.granted {
            real(&granted.path)?;
        }
        let files = if is_confined {
            let failed = |error| Error::Folder { path: home.clone(), error };
            Some(ProgramFiles::of(&program.name, &home).map_err(failed)?)
        } else {
            None
        };
        let own = files.as_ref().map_or_else(|| home.clone(), |files| files.folder().to_owned());
        let folder = real_folder(program.folder.as_ref().unwrap_or(&own))?;
        let is_granted = program.granted.iter().any(|granted| folder.starts_with(&granted.path));
        if is_confined && !is_granted && !folder.starts_with(own) {
            return Err(Error::Outside(folder));
        }
        let has_reader = program.standard_error != StandardError::Nothing;
        Ok(Self {
            words,
            kind: LaunchKind::Program { files, granted: program.granted, has_reader },
            folder,
            home,
            network: program.network,
            limit: None,
            limits: program.limits,
            environment: program.environment,
            hidden: program.hidden,
            secrets: program.secrets,
        })
    }

    pub(crate) fn is_program(&self) -> bool {
        matches!(self.kind, LaunchKind::Program { .. })
    }

    /// The folder whose disk is checked.
    pub(crate) fn disk(&self) -> &Path {
        match &self.kind {
            LaunchKind::Command { project, .. } => project,
            LaunchKind::Program { .. } => &self.folder,
        }
    }

    /// What is kept for a program, if something is enforced.
    pub(crate) fn files(&self) -> Option<&ProgramFiles> {
        match &self.kind {
            LaunchKind::Program { files, .. } => files.as_ref(),
            LaunchKind::Command { .. } => None,
        }
    }

    /// Its view; the system and the project are added later.
    pub(crate) fn view(&self) -> Result<View, Error> {
        let mut view = match &self.kind {
            LaunchKind::Program { files: Some(files), granted, .. } => {
                View::of_program(files.clone(), &self.home, granted.clone())?
            }
            _ => View::of(self.disk(), &self.home)?,
        };
        view.secrets.clone_from(&self.secrets);
        if let LaunchKind::Command { git, .. } = &self.kind {
            view.access.clone_from(git);
        }
        Ok(view)
    }

    /// Puts variables before those of the caller, which count more.
    pub(crate) fn add_environment(&mut self, variables: impl IntoIterator<Item = Variable>) {
        drop(self.environment.splice(0..0, variables));
    }

    /// Whether it writes to a folder that others use: then what it leaves there for git is checked.
    pub(crate) fn shares_folders(&self) -> bool {
        match &self.kind {
            LaunchKind::Command { .. } => true,
            LaunchKind::Program { granted, .. } => {
                granted.iter().any(|granted| granted.access == FolderAccess::Write)
            }
        }
    }

    /// Returns an error if there is no such program, or if `view` does not show it; without a view,
    /// everything is visible.
    pub(crate) fn find_program(&self, view: Option<&View>) -> Result<(), Error> {
        let (true, Some(program)) = (self.is_program(), self.words.first()) else {
            return Ok(());
        };
        let given = self.environment.iter().rev().find(|(name, _)| name == "PATH");
        let given = given.map(|(_, value)| value.clone()).or_else(|| std::env::var_os("PATH"));
        let path = given.unwrap_or_else(|| OsStr::new(environment::USUAL_PATH).to_owned());
        let is_visible = |path: &Path| view.is_none_or(|view| view.shows(path));
        program::find(program, &path, &self.folder, is_visible)
    }
}

/// A variable and its value.
type Variable = (OsString, OsString);

/// The folder, which must be a real path: that was judged, so a link on it was created since.
fn real(path: &Path) -> Result<PathBuf, Error> {
    let real = real_folder(path)?;
    if real != path {
        let error = io::ErrorKind::NotADirectory.into();
        return Err(Error::Folder { path: path.to_owned(), error });
    }
    Ok(real)
}

fn real_folder(path: &Path) -> Result<PathBuf, Error> {
    let failed = |error| Error::Folder { path: path.to_owned(), error };
    let real = path.canonicalize().map_err(failed)?;
    if real.is_dir() { Ok(real) } else { Err(failed(io::ErrorKind::NotADirectory.into())) }
}

/// The home folder without links.
fn home(given: Option<PathBuf>) -> PathBuf {
    let home = given.or_else(std::env::home_dir);
    let home = home.map(|home| home.canonicalize().unwrap_or(home));
    home.filter(|home| home.is_absolute() && home.parent().is_some())
        .unwrap_or_else(|| "/home/nobody".into())
}
