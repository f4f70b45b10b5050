//! A folder with files, and what was told of it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use chat_permission::path::{PathEnvironment, Project};
use chat_project::{Event, Files};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct World {
    pub folder: tempfile::TempDir,
}

impl World {
    pub fn new(files: &[&str]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for file in files {
            world.write(file, "");
        }
        world
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn project(&self) -> Project {
        Project::open(self.folder.path(), &PathEnvironment::default()).unwrap()
    }

    /// Its files, once all are listed.
    pub fn open(&self, most_watches: usize) -> Opened {
        let (tell, events) = channel();
        let files = Files::with(self.project(), most_watches, move |event| {
            let _ = tell.send(event);
        });
        let opened = Opened { files: files.unwrap(), events };
        opened.wait(|event| *event == Event::Git);
        opened
    }
}

pub struct Opened {
    pub files: Files,
    pub events: Receiver<Event>,
}

impl Opened {
    /// Waits for an event, and says how long that took.
    pub fn wait(&self, is_it: impl Fn(&Event) -> bool) -> Duration {
        let begun = Instant::now();
        loop {
            let left = PATIENCE.checked_sub(begun.elapsed()).expect("it was told in time");
            let event = self.events.recv_timeout(left).expect("something was told in time");
            if is_it(&event) {
                return begun.elapsed();
            }
        }
    }

    /// Waits until a change of this path is told.
    pub fn changed(&self, path: impl AsRef<Path>) -> Duration {
        let path = path.as_ref();
        self.wait(|event| {
            matches!(event, Event::Changed { paths } if paths.iter().any(|told| told == path))
        })
    }
}
