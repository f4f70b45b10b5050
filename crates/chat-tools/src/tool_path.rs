//! Resolves the path of a call, and asks for permission. Every path of a tool passes through here.

use std::sync::Arc;

use chat_core::message::Preview;
use chat_core::tool::{Denied, ToolContext, ToolFailure};
use chat_permission::path::{Error, Kind, Project};
use chat_permission::{Request, ResolvedPath};
use rustix::fs::{Dir, Mode, OFlags};

/// A resolved path in its project.
#[derive(Clone, Debug)]
pub struct ToolPath {
    /// The project.
    pub project: Arc<Project>,
    /// The path.
    pub path: ResolvedPath,
}

impl ToolPath {
    /// Resolves a path. What is there must not be revealed before permission was given.
    ///
    /// # Errors
    ///
    /// It leads nowhere, or there is no project.
    pub fn new(context: &ToolContext, given: &str) -> Result<Self, ToolFailure> {
        let project = Arc::clone(context.project()?);
        let path = project.resolve(given).map_err(|error| failed(&error))?;
        Ok(Self { project, path })
    }

    /// The same, but a link at its end is itself meant.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn entry(context: &ToolContext, given: &str) -> Result<Self, ToolFailure> {
        let project = Arc::clone(context.project()?);
        let path = project.resolve_entry(given).map_err(|error| failed(&error))?;
        Ok(Self { project, path })
    }

    /// Asks for permission to read it.
    ///
    /// # Errors
    ///
    /// Permission is denied.
    pub async fn may_read(&self, context: &ToolContext) -> Result<(), ToolFailure> {
        let request = Request::Read { path: self.path.clone() };
        let answer = context.permit(request, Preview::Target).await;
        answer.map_err(|denied| self.denied(denied))
    }

    /// Checks that neither reading nor changing it is forbidden, without asking: otherwise the fact
    /// that the user is asked would reveal something about it.
    ///
    /// # Errors
    ///
    /// One of them is forbidden.
    pub async fn must_be_open(&self, context: &ToolContext) -> Result<(), ToolFailure> {
        let write = Request::Write { path: self.path.clone() };
        if self.is_refused(context) || context.host.refuses(&write) {
            return self.may_change(context, Preview::Target).await;
        }
        Ok(())
    }

    /// Whether it is guarded or a rule forbids to read it. Does not ask.
    pub fn is_refused(&self, context: &ToolContext) -> bool {
        context.host.refuses(&Request::Read { path: self.path.clone() })
    }

    /// Whether it may be read if its folder may: no rule forbids it, and it is not a secret that
    /// would be asked about. Does not ask.
    pub fn is_open(&self, context: &ToolContext) -> bool {
        let request = Request::Read { path: self.path.clone() };
        if self.path.is_secret() {
            context.host.passes(&request)
        } else {
            !context.host.refuses(&request)
        }
    }

    /// Asks for permission to write it, showing the whole change.
    ///
    /// # Errors
    ///
    /// Permission is denied.
    pub async fn may_write(
        &self,
        context: &ToolContext,
        preview: Preview,
    ) -> Result<(), ToolFailure> {
        let request = Request::Write { path: self.path.clone() };
        let answer = context.permit(request, preview).await;
        answer.map_err(|denied| self.denied(denied))
    }

    /// Asks for permission to do several things that belong together for the user.
    ///
    /// # Errors
    ///
    /// Permission is not given for all of them.
    pub async fn may(
        &self,
        context: &ToolContext,
        requests: Vec<Request>,
        preview: Preview,
    ) -> Result<(), ToolFailure> {
        let answer = context.permit_all(requests, preview).await;
        answer.map_err(|denied| self.denied(denied))
    }

    /// Asks once for permission to read and change it, since what is shown contains what was read.
    ///
    /// # Errors
    ///
    /// Permission is denied.
    pub async fn may_change(
        &self,
        context: &ToolContext,
        preview: Preview,
    ) -> Result<(), ToolFailure> {
        let path = || self.path.clone();
        let requests = vec![Request::Write { path: path() }, Request::Read { path: path() }];
        self.may(context, requests, preview).await
    }

    /// The error for a denial, with what the model can do instead.
    fn denied(&self, denied: Denied) -> ToolFailure {
        let by_rule = !matches!(denied, Denied::ByPerson { .. } | Denied::Stopped);
        let mut failure = ToolFailure::from(denied);
        if by_rule && !self.path.is_inside() {
            let root = self.project.root().display();
            failure.text = format!("{} Files of the project are allowed: {root}", failure.text);
        }
        failure
    }

    /// Its displayed path.
    pub fn display_name(&self) -> String {
        self.path.display_path().display().to_string()
    }

    /// Similar names in its folder. The folder is opened without following links, since it may have
    /// been replaced by one since permission was given.
    fn near(&self) -> Vec<String> {
        /// The maximum number of names to compare.
        const READ: usize = 10_000;
        let Ok((folder, wanted)) = self.project.parent(&self.path) else { return Vec::new() };
        let readable = rustix::fs::openat(
            &folder,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        let Ok(entries) = readable.and_then(Dir::new) else { return Vec::new() };
        let names = entries.take(READ).flatten();
        let names = names.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        let names = names.filter(|name| !matches!(name.as_str(), "." | ".."));
        near(&wanted.to_string_lossy(), names)
    }

    /// The error that nothing is there, with similar names.
    pub fn missing(&self) -> ToolFailure {
        let shown = self.display_name();
        let near = self.near();
        if near.is_empty() {
            ToolFailure::new(format!("{shown} does not exist."))
        } else {
            ToolFailure::new(format!(
                "{shown} does not exist. Its folder contains: {}.",
                near.join(", ")
            ))
        }
    }

    /// Checks that it is a file, as reading and editing need.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn must_be_file(&self) -> Result<(), ToolFailure> {
        let shown = self.display_name();
        match self.path.kind() {
            Kind::File => Ok(()),
            Kind::Missing => Err(self.missing()),
            Kind::Folder => Err(ToolFailure::new(format!(
                "{shown} is a folder: use list_files to see its contents."
            ))),
            Kind::Link | Kind::Special => Err(ToolFailure::new(format!(
                "{shown} is not a file but a device, a socket, a pipe, or a link."
            ))),
        }
    }

    /// Checks that it is a folder.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn must_be_folder(&self) -> Result<(), ToolFailure> {
        match self.path.kind() {
            Kind::Folder => Ok(()),
            Kind::Missing => Err(self.missing()),
            _ => Err(ToolFailure::new(format!("{} is not a folder.", self.display_name()))),
        }
    }
}

/// Explains a path error to the model.
pub fn failed(error: &Error) -> ToolFailure {
    match error {
        Error::Changed(path) => ToolFailure::new(format!(
            "{} was just changed by someone else. Look at it again.",
            path.display()
        )),
        error => ToolFailure::new(format!("{error}.")),
    }
}

/// The names that are similar to the wanted one: they differ only in case, in the extension, or in
/// two letters.
fn near(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    const SHOWN: usize = 5;
    let wanted = wanted.to_lowercase();
    let stem =
        |name: &str| name.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_owned();
    let is_near = |name: &String| {
        let name = name.to_lowercase();
        stem(&name) == stem(&wanted) || differing(&name, &wanted) <= 2
    };
    let mut names: Vec<String> = names.filter(is_near).collect();
    names.sort();
    names.truncate(SHOWN);
    names
}

/// How many letters differ between two names, from the first difference to the last one.
fn differing(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let limit = one.len().min(other.len());
    let head = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let tail = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take(limit - head)
        .take_while(|(a, b)| a == b)
        .count();
    one.len().max(other.len()) - head - tail
}

#[cfg(test)]
mod tests {
    use chat_permission::path::PathEnvironment;

    use super::*;

    #[test]
    fn names_that_are_nearly_the_same_are_offered() {
        let names = ["main.rs", "Main.md", "mian.rs", "other.rs", "readme"];
        let near = |wanted| near(wanted, names.into_iter().map(str::to_owned));
        assert_eq!(near("main.r"), ["Main.md", "main.rs"]);
        assert_eq!(near("maim.rs"), ["main.rs"]);
        assert_eq!(near("nothing"), Vec::<String>::new());
    }

    #[test]
    fn names_are_of_the_folder_that_was_judged_and_not_of_a_link_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["project/sub/main.rs", "project/alone", "beside/main.rs"] {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), "").unwrap();
        }
        let project = Project::open(&root.join("project"), &PathEnvironment::default()).unwrap();
        let project = Arc::new(project);
        let at = |given| ToolPath {
            project: Arc::clone(&project),
            path: project.resolve(given).unwrap(),
        };
        let place = at("sub/main.r");
        assert_eq!(place.near(), ["main.rs"]);
        assert_eq!(at("alonf").near(), ["alone"]);
        std::fs::remove_dir_all(root.join("project/sub")).unwrap();
        std::os::unix::fs::symlink(root.join("beside"), root.join("project/sub")).unwrap();
        assert_eq!(place.near(), Vec::<String>::new());
    }
}
