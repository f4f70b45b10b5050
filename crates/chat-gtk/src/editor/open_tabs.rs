//! Remembers the open files of a project from one run to the next.

use std::path::{Path, PathBuf};

use chat_permission::path::{Kind, PathEnvironment, Project};
use serde::{Deserialize, Serialize};

use super::TextPosition;
use super::state_files::{StateFiles, path};

/// The folder in the window's state.
const FOLDER: &str = "tabs";

/// The open files of a project, in the order of their tabs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tabs {
    pub(super) files: Vec<Tab>,
    /// Which of them is visible.
    pub(super) active: usize,
}

/// An open file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tab {
    /// Relative to the project, or the full path if it is elsewhere.
    #[serde(with = "path")]
    pub(super) path: PathBuf,
    /// The cursor's line.
    line: u32,
    column: u32,
}

impl Tab {
    pub(super) fn new(path: PathBuf, TextPosition { line, column }: TextPosition) -> Self {
        Self { path, line, column }
    }

    pub(super) fn place(&self) -> TextPosition {
        TextPosition { line: self.line, column: self.column }
    }
}

/// The state to write. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct OpenTabs(StateFiles<Tabs>);

impl OpenTabs {
    /// Uses a folder of the window's state.
    pub(super) fn new(state: &Path) -> Self {
        Self(StateFiles::new(state.join(FOLDER)))
    }

    /// Sets which files are open in a project.
    pub(super) fn set(&self, project: PathBuf, tabs: Tabs) {
        self.0.set(project, Some(tabs).filter(|tabs| !tabs.files.is_empty()));
    }

    /// Writes all pending changes. Blocks.
    pub(super) fn write(&self) {
        self.0.write();
    }

    /// The files that were open in a project. Blocks. Deleted files are left out.
    pub(super) fn read(&self, project: &Path) -> Tabs {
        let mut tabs = self.0.read(project).unwrap_or_default();
        if tabs.files.is_empty() {
            return tabs;
        }
        let opened = Project::open(project, &PathEnvironment::default()).ok();
        let is_there = |path: &Path| {
            let resolved = opened.as_ref().and_then(|project| project.resolve_path(path).ok());
            resolved.is_some_and(|resolved| resolved.kind() == Kind::File)
        };
        let active = tabs.files.get(tabs.active).map(|tab| tab.path.clone());
        // If the active file is gone, the one before it is shown.
        let before = tabs.files.iter().take(tabs.active).filter(|tab| is_there(&tab.path)).count();
        tabs.files.retain(|tab| is_there(&tab.path));
        let at = tabs.files.iter().position(|tab| Some(&tab.path) == active.as_ref());
        tabs.active = at.unwrap_or(before.saturating_sub(1));
        tabs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(path: &str, line: u32) -> Tab {
        Tab::new(path.into(), TextPosition { line, column: 2 })
    }

    #[test]
    fn files_come_back_in_their_order_without_those_that_are_gone() {
        let (state, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in ["a", "b", "c"] {
            std::fs::write(project.path().join(name), "text").unwrap();
        }
        let elsewhere = state.path().join("elsewhere");
        std::fs::write(&elsewhere, "text").unwrap();
        let open_tabs = OpenTabs::new(state.path());
        let files = vec![
            tab("c", 3),
            tab("gone", 1),
            tab("a", 7),
            tab("b", 1),
            tab(elsewhere.to_str().unwrap(), 4),
        ];
        let read = |active| {
            open_tabs.set(project.path().to_owned(), Tabs { files: files.clone(), active });
            open_tabs.write();
            let found = OpenTabs::new(state.path()).read(project.path());
            let names = found.files.iter().map(|tab| tab.path.file_name().unwrap().to_owned());
            let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            assert_eq!(names, ["c", "a", "b", "elsewhere"]);
            assert_eq!(found.files[1].place(), TextPosition { line: 7, column: 2 });
            found.active
        };
        assert_eq!((read(2), read(1), read(0), read(99)), (1, 0, 0, 3));
    }

    #[test]
    fn nothing_is_kept_of_a_project_without_open_files() {
        let state = tempfile::tempdir().unwrap();
        let open_tabs = OpenTabs::new(state.path());
        let one = Tabs { files: vec![tab("a", 1)], active: 0 };
        open_tabs.set("/p".into(), one);
        open_tabs.write();
        open_tabs.set("/p".into(), Tabs::default());
        open_tabs.write();
        assert_eq!(std::fs::read_dir(state.path().join(FOLDER)).unwrap().count(), 0);
    }
}
