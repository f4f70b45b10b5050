//! Remembers the recently used folders, and formats a folder's path.

use std::io;
use std::path::{Path, PathBuf};

use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use crate::atomic_file::write_atomically;

/// How many folders are remembered: more would be slower than the dialog.
const MOST: usize = 8;
const FILE: &str = "projects.json";

/// The recently used folders, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recent {
    folders: Vec<PathBuf>,
}

impl Recent {
    /// Reads the list from a folder; an unreadable list counts as empty. Blocks.
    pub(crate) fn read(folder: &Path) -> Self {
        let bytes = std::fs::read(folder.join(FILE)).unwrap_or_default();
        let mut folders: Vec<PathBuf> = serde_json::from_slice(&bytes).unwrap_or_default();
        folders.truncate(MOST);
        Self { folders }
    }

    /// Writes the list. Paths that are not valid text are left out. Blocks.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let folders: Vec<&str> = self.folders.iter().filter_map(|path| path.to_str()).collect();
        let json = serde_json::to_vec_pretty(&folders).map_err(io::Error::from)?;
        write_atomically(&folder.join(FILE), &json)
    }

    /// Adds a folder that is used now. Returns whether the list has changed.
    pub(crate) fn add(&mut self, folder: &Path) -> bool {
        if self.folders.first().is_some_and(|first| first == folder) {
            return false;
        }
        self.folders.retain(|other| other != folder);
        self.folders.insert(0, folder.to_owned());
        self.folders.truncate(MOST);
        true
    }

    /// Adds the stored list. Folders that were used since the start are newer.
    pub(crate) fn absorb(&mut self, kept: Self) {
        for folder in kept.folders {
            if self.folders.len() < MOST && !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }
}

/// A folder's real path, or a text why it cannot be used. Blocks.
pub(crate) fn find(path: &Path) -> Result<PathBuf, String> {
    let found = path.canonicalize().ok().filter(|path| path.is_dir());
    found.ok_or_else(|| {
        let text = gettext("Can’t open the folder “{path}”");
        words::fill(&text, &[("path", &path.display().to_string())])
    })
}

/// The name of a folder.
pub(crate) fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The path of a folder, with `~` for the home folder.
pub(crate) fn display_path(folder: &Path) -> String {
    place_seen_from(folder, &glib::home_dir())
}

fn place_seen_from(folder: &Path, home: &Path) -> String {
    match folder.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => folder.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(recent: &Recent) -> Vec<String> {
        recent.folders().iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn the_newest_eight_come_back_each_once() {
        let kept = tempfile::tempdir().unwrap();
        let mut recent = Recent::default();
        for n in 0..10 {
            assert!(recent.add(Path::new(&format!("/projects/{n}"))));
        }
        assert!(recent.add(Path::new("/projects/5")));
        assert!(!recent.add(Path::new("/projects/5")), "nothing is new");
        let newest = ["5", "9", "8", "7", "6", "4", "3", "2"].map(|n| format!("/projects/{n}"));
        assert_eq!(folders(&recent), newest);
        recent.write(kept.path()).unwrap();
        assert_eq!(Recent::read(kept.path()), recent);
        std::fs::write(kept.path().join(FILE), "[\"/work").unwrap();
        assert_eq!(Recent::read(kept.path()), Recent::default());
    }

    #[test]
    fn what_is_read_late_comes_behind_what_was_worked_in() {
        let mut recent = Recent::default();
        recent.add(Path::new("/new"));
        let mut kept = Recent::default();
        kept.add(Path::new("/new"));
        kept.add(Path::new("/old"));
        recent.absorb(kept);
        assert_eq!(folders(&recent), ["/new", "/old"]);
    }

    #[test]
    fn a_folder_is_found_behind_links_and_anything_else_is_named() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, place.path().join("link")).unwrap();
        assert_eq!(find(&place.path().join("link/../link")), Ok(real.clone()));
        std::fs::write(real.join("file"), "").unwrap();
        for none in ["file", "nothing"] {
            assert!(find(&real.join(none)).unwrap_err().contains(none));
        }
    }

    #[test]
    fn a_place_is_told_as_people_say_it() {
        let seen = |path: &str| place_seen_from(Path::new(path), Path::new("/home/me"));
        assert_eq!(seen("/home/me/projects/natter"), "~/projects/natter");
        assert_eq!(seen("/home/me"), "~");
        assert_eq!(seen("/home/menu"), "/home/menu");
        assert_eq!(name(Path::new("/home/me/projects/natter")), "natter");
        assert_eq!(name(Path::new("/")), "/");
    }
}
