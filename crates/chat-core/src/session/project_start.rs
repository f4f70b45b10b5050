//! What is in a project when a chat is opened: its top level, and what differs from the last commit.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chat_permission::path::Project;
use chat_project::git::{self, Change};

use crate::agent::ProjectStart;

/// How many names and changed files are listed.
const ENTRIES: usize = 60;
const CHANGED: usize = 30;

/// How long git may take: the message waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was found when a session first worked in its folder.
#[derive(Debug, Default)]
pub(super) struct ProjectStartCache(Mutex<Option<(PathBuf, Arc<ProjectStart>)>>);

impl ProjectStartCache {
    /// What was there when this folder was first read; reads it now if it was not.
    pub(super) fn at(&self, project: &Project) -> Arc<ProjectStart> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((folder, start)) = &*known
            && folder == project.root()
        {
            return Arc::clone(start);
        }
        let start = Arc::new(gather(project));
        *known = Some((project.root().to_owned(), Arc::clone(&start)));
        start
    }
}

fn gather(project: &Project) -> ProjectStart {
    let mut entries = names(project.root());
    let mut changed = changed(project);
    let more_entries = cut(&mut entries, ENTRIES);
    let more_changed = cut(&mut changed, CHANGED);
    ProjectStart { entries, more_entries, changed, more_changed }
}

/// Leaves so many, and says how many more there were.
fn cut(list: &mut Vec<String>, most: usize) -> usize {
    let more = list.len().saturating_sub(most);
    list.truncate(most);
    more
}

/// The names in a folder, folders first.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<(bool, String)> = entries
        .filter(|entry| entry.file_name() != ".git")
        .map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let slash = if is_folder { "/" } else { "" };
            (!is_folder, format!("{}{slash}", plain(&entry.file_name().to_string_lossy())))
        })
        .collect();
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

fn changed(project: &Project) -> Vec<String> {
    let Ok(Some(repository)) = git::find(project) else { return Vec::new() };
    let given_up = AtomicBool::new(false);
    let (done, wait) = mpsc::channel::<()>();
    let state = std::thread::scope(|scope| {
        let flag = &given_up;
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let state = repository.state(flag);
        drop(done);
        state
    });
    let files = state.map(|state| state.files).unwrap_or_default();
    let line = |file: &git::Changed| {
        let how = match &file.change {
            Change::Modified => "modified",
            Change::Added => "added",
            Change::Deleted => "deleted",
            Change::Renamed(_) => "renamed",
            Change::Untracked => "untracked",
            Change::Conflicted => "conflicted",
        };
        format!("{how} {}", plain(&file.path.display().to_string()))
    };
    files.iter().map(line).collect()
}

/// A name on one line.
fn plain(name: &str) -> String {
    name.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use chat_permission::path::PathEnvironment;

    use super::*;

    #[test]
    fn the_first_look_stays_while_the_folder_changes() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.rs", "a\nname"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let first = ProjectStartCache::default();
        let start = first.at(&project);
        assert_eq!(start.entries, ["src/", "a\u{fffd}name", "b.rs"]);
        assert_eq!(start.changed, Vec::<String>::new());
        std::fs::write(folder.path().join("new"), "x").unwrap();
        assert_eq!(first.at(&project), start);
        assert!(ProjectStartCache::default().at(&project).entries.contains(&"new".to_owned()));
    }

    #[test]
    fn what_differs_from_the_last_commit_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(arguments);
            assert!(git.current_dir(folder.path()).output().unwrap().status.success());
        };
        git(&["init", "-q"]);
        std::fs::write(folder.path().join("a"), "1").unwrap();
        git(&["add", "a"]);
        git(&["commit", "-qm", "First"]);
        std::fs::write(folder.path().join("a"), "2").unwrap();
        for number in 0..40 {
            std::fs::write(folder.path().join(format!("n{number:02}")), "").unwrap();
        }
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let start = ProjectStartCache::default().at(&project);
        assert_eq!(start.changed.len(), CHANGED);
        assert!(start.changed.contains(&"modified a".to_owned()), "{:?}", start.changed);
        assert_eq!(start.more_changed, 11);
    }
}
