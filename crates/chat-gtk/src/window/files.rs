//! Finds the project and the line of files that were named on the command line or opened from
//! elsewhere, and why a project is gone.

use std::io::Read;
use std::path::{Path, PathBuf};

use adw::prelude::*;
use chat_presentation::words;
use gtk::{gio, glib};
use relm4::{ComponentController, ComponentSender};

use super::view::View;
use super::{Arrival, Input, LaunchTarget, Window};
use crate::editor::TextPosition;
use crate::{chat_widget, projects};

/// By the first so many bytes it is seen whether a file is text.
const START: u64 = 4_096;

/// Files and their project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// Its real path.
    pub(super) project: PathBuf,
    /// Relative to the project, or full paths if they are elsewhere.
    pub(super) files: Vec<(PathBuf, Option<TextPosition>)>,
    /// Why one of them could not be found, as text.
    pub(super) trouble: Option<String>,
}

/// A named path, relative to a folder; it may also be a URI.
pub(crate) fn whole(from: &Path, named: &Path) -> PathBuf {
    let address = named.to_str().filter(|named| named.starts_with("file://"));
    let path = address.and_then(|address| gio::File::for_uri(address).path());
    path.unwrap_or_else(|| from.join(named))
}

/// Finds the project of files: the one that was named, or that of the first file, which is the
/// nearest parent folder with a repository, or else its own folder. A named folder is itself the
/// project. Blocks.
///
/// # Errors
///
/// A message: the project is not a folder, or none of the named files is in one.
fn locate(named: &[PathBuf], project: Option<&Path>) -> Result<Located, String> {
    let mut files = Vec::new();
    let mut trouble = None;
    let mut project = project.map(projects::find).transpose()?;
    for path in named {
        if path.is_dir() {
            let folder = projects::find(path)?;
            project.get_or_insert(folder);
            continue;
        }
        let (path, place) = parted(path);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
        match projects::find(folder) {
            Ok(folder) => {
                project.get_or_insert_with(|| project_of(&folder));
                files.push((folder.join(name), place));
            }
            // The others are still shown.
            Err(words) => trouble = Some(words),
        }
    }
    // There is one, unless nothing was named that exists.
    let project = match (project, &trouble) {
        (None, Some(words)) => return Err(words.clone()),
        (project, _) => project.unwrap_or_default(),
    };
    for (path, _) in &mut files {
        if let Ok(inside) = path.strip_prefix(&project) {
            *path = inside.to_owned();
        }
    }
    Ok(Located { project, files, trouble })
}

/// The nearest parent folder with a repository, or else the folder itself.
fn project_of(folder: &Path) -> PathBuf {
    let found = folder.ancestors().find(|above| above.join(".git").exists());
    found.unwrap_or(folder).to_owned()
}

/// Splits `FILE:LINE` or `FILE:LINE:COLUMN` into a file and a position. If a file has this very
/// name, it is not split.
fn parted(path: &Path) -> (PathBuf, Option<TextPosition>) {
    let whole = || (path.to_owned(), None);
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole() };
    let last = |text: &str| {
        let (before, number) = text.trim_end_matches(':').rsplit_once(':')?;
        Some((before.to_owned(), number.parse::<u32>().ok()?))
    };
    let Some((name, line)) = last(text) else { return whole() };
    match last(&name) {
        Some((name, first)) if !Path::new(&format!("{name}:{first}")).exists() => {
            (name.into(), Some(TextPosition { line: first, column: line }))
        }
        _ => (name.into(), Some(TextPosition { line, column: 1 })),
    }
}

/// Whether the editor can show this file; others, such as pictures and PDF, go with a message. What is not there is
/// a new file. Blocks.
fn is_shown(path: &Path) -> bool {
    let mut start = Vec::new();
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
    let Some(Ok(file)) = file.map(|_| std::fs::File::open(path)) else { return true };
    let is_read = file.take(START).read_to_end(&mut start).is_ok();
    !is_read || !(start.contains(&0) || start.starts_with(b"%PDF-"))
}

impl Window {
    /// Says in the panel why a project is gone, where it was a removed worktree.
    pub(super) fn explain_gone(&self, folder: PathBuf) {
        let Some(manager) = self.manager.clone() else { return };
        let panel = self.panel.clone();
        glib::spawn_future_local(async move {
            if let Ok(Some(why)) = manager.worktrees().why_missing(&folder).await {
                panel.say_gone(&folder, &words::sentence(&why));
            }
        });
    }

    /// Locates the requested files. Done in the background, since a disk may be slow.
    pub(super) fn locate(arrival: Arrival, sender: &ComponentSender<Self>) {
        let input = sender.input_sender().clone();
        glib::spawn_future_local(async move {
            let Arrival { target, project, files, mut attach } = arrival;
            let find = move || {
                let (shown, others): (Vec<_>, Vec<_>) =
                    files.into_iter().partition(|file| is_shown(file));
                attach.extend(others);
                let is_asked = !shown.is_empty() || project.is_some();
                (is_asked.then(|| locate(&shown, project.as_deref())), attach)
            };
            let Ok((located, attach)) = gio::spawn_blocking(find).await else { return };
            match located {
                Some(located) => {
                    input.emit(Input::Located(target, located));
                    if !attach.is_empty() {
                        input.emit(Input::Attach(attach));
                    }
                }
                None => input.emit(Input::AttachTo(target, attach)),
            }
        });
    }

    /// Attaches files to the message of the requested chat; with none, of a new one.
    pub(super) fn attach_to(&self, target: &LaunchTarget, files: Vec<PathBuf>, view: &View) {
        if *target == LaunchTarget::Plain {
            self.show(None, view);
        }
        self.chat.emit(chat_widget::Input::Attach(files));
    }

    /// Shows files in their project: in the requested chat, in the current one if it already works
    /// there, or in a new one.
    pub(super) fn located(
        &mut self,
        target: &LaunchTarget,
        located: Result<Located, String>,
        view: &View,
    ) {
        let located = match located {
            Ok(located) => located,
            Err(words) => return view.note(&words),
        };
        if let Some(words) = &located.trouble {
            view.note(words);
        }
        if self.works_in(&located.project) {
            self.open_located(&located, view);
            if *target == LaunchTarget::Plain {
                return;
            }
        } else if *target == LaunchTarget::Plain {
            self.chat.emit(chat_widget::Input::Show(None));
            view.forward();
        }
        self.chat.emit(chat_widget::Input::Work(located.project.clone()));
        self.located = Some(located).filter(|located| !located.files.is_empty());
    }

    /// A chat now works in this folder: shows the files that waited for it.
    pub(super) fn open_waiting(&mut self, folder: &Path, view: &View) {
        if let Some(located) = self.located.take()
            && located.project == folder
        {
            self.open_located(&located, view);
        }
    }

    fn works_in(&self, folder: &Path) -> bool {
        self.panel.project().is_some_and(|project| project.folder() == folder)
    }

    fn open_located(&self, located: &Located, view: &View) {
        if located.files.is_empty() {
            return;
        }
        view.show_panel();
        for (path, place) in &located.files {
            self.panel.open(path, *place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn at(line: u32, column: u32) -> TextPosition {
        TextPosition { line, column }
    }

    /// A repository with a folder in it, next to a folder without one.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("garden/.git")).unwrap();
        fs::create_dir_all(root.join("garden/beds")).unwrap();
        fs::create_dir_all(root.join("shed")).unwrap();
        for file in ["garden/beds/a.txt", "garden/b.txt", "garden/c:7", "shed/tools"] {
            fs::write(root.join(file), "text").unwrap();
        }
        (folder, root)
    }

    #[test]
    fn files_belong_to_the_repository_above_the_first_one_or_to_its_folder() {
        let (_folder, root) = world();
        let of = |named: &[&str], project: Option<&str>| {
            let named: Vec<_> = named.iter().map(|file| root.join(file)).collect();
            locate(&named, project.map(|folder| root.join(folder)).as_deref())
        };
        let found = of(&["garden/beds/a.txt:12", "shed/tools:3:4", "garden/new:5"], None).unwrap();
        assert_eq!(found.project, root.join("garden"));
        let files = [
            ("beds/a.txt".into(), Some(at(12, 1))),
            (root.join("shed/tools"), Some(at(3, 4))),
            ("new".into(), Some(at(5, 1))),
        ];
        assert_eq!(found.files, files);
        assert_eq!(of(&["shed/tools"], None).unwrap().project, root.join("shed"));
        assert_eq!(of(&["garden/b.txt"], Some("shed")).unwrap().project, root.join("shed"));
        let folder = of(&["garden/beds", "garden/b.txt"], None).unwrap();
        assert_eq!(folder.project, root.join("garden/beds"));
        assert_eq!(folder.files, [(root.join("garden/b.txt"), None)]);
        assert!(of(&["nowhere/a.txt"], None).unwrap_err().contains("nowhere"));
        // A missing file does not affect the others.
        let found = of(&["nowhere/a.txt", "garden/b.txt"], Some("garden")).unwrap();
        assert_eq!(found.project, root.join("garden"));
        assert_eq!(found.files, [("b.txt".into(), None)]);
        assert!(found.trouble.unwrap().contains("nowhere"));
    }

    #[test]
    fn what_is_no_text_goes_with_a_message() {
        let (_folder, root) = world();
        fs::write(root.join("photo.jpg"), b"\xff\xd8\xff\xe0\0\x10JFIF").unwrap();
        fs::write(root.join("thesis.pdf"), "%PDF-1.7 text").unwrap();
        for shown in ["garden/b.txt", "garden", "new.txt", "garden/b.txt:12"] {
            assert!(is_shown(&root.join(shown)), "{shown}");
        }
        for attached in ["photo.jpg", "thesis.pdf"] {
            assert!(!is_shown(&root.join(attached)), "{attached}");
        }
    }

    #[test]
    fn a_file_that_is_called_like_a_place_is_meant_as_a_whole() {
        let (_folder, root) = world();
        let of = |named: &str| {
            let (path, place) = parted(&root.join(named));
            (path.strip_prefix(&root).unwrap().display().to_string(), place)
        };
        assert_eq!(of("garden/c:7"), ("garden/c:7".to_owned(), None));
        assert_eq!(of("garden/c:7:2"), ("garden/c:7".to_owned(), Some(at(2, 1))));
        assert_eq!(of("garden/b.txt:2:"), ("garden/b.txt".to_owned(), Some(at(2, 1))));
        assert_eq!(of("garden/b.txt:x"), ("garden/b.txt:x".to_owned(), None));
    }

    #[test]
    fn what_is_named_is_seen_from_where_it_was_called() {
        let from = Path::new("/home/me");
        assert_eq!(whole(from, Path::new("a.rs:12")), Path::new("/home/me/a.rs:12"));
        assert_eq!(whole(from, Path::new("/etc/hosts")), Path::new("/etc/hosts"));
        assert_eq!(whole(from, Path::new("file:///etc/my%20hosts")), Path::new("/etc/my hosts"));
    }
}
