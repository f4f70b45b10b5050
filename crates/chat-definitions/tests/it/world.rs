//! A machine with a home, a config folder and a project.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use chat_definitions::{DefinitionWatcher, Definitions, ProblemKind, Sources, TrustStore, load};
use chat_permission::path::{PathEnvironment, Project};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl World {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let world = Self { _folder: folder, root };
        fs::create_dir(world.path("project")).unwrap();
        for (file, text) in files {
            world.write(file, text);
        }
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file in one step.
    pub fn replace(&self, name: &str, text: &str) {
        self.write("written", text);
        fs::rename(self.path("written"), self.path(name)).unwrap();
    }

    pub fn link(&self, target: &str, name: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub fn sources(&self) -> Sources {
        let project = Project::open(&self.path("project"), &PathEnvironment::default()).unwrap();
        Sources {
            config: Some(self.path("config")),
            home: Some(self.path("home")),
            project: Some(project),
            built_in: vec!["just-ask".to_owned(), "code-assistant".to_owned()],
            tools: ["read_file", "run_command"].map(str::to_owned).to_vec(),
            trust: Some(TrustStore::new(self.path("state/trust.json"))),
        }
    }

    pub fn load(&self) -> Definitions {
        load(&self.sources())
    }

    /// Trusts the project as it is now.
    pub fn trust(&self) {
        let store = TrustStore::new(self.path("state/trust.json"));
        store.trust(&self.load().project.unwrap()).unwrap();
    }

    pub fn open(&self) -> Opened {
        let (tell, snapshots) = channel();
        let watcher = DefinitionWatcher::open(self.sources(), move |snapshot| {
            let _ = tell.send(snapshot);
        });
        Opened { watcher: watcher.unwrap(), snapshots }
    }

    /// The problems, by file (from the world's root on) and line.
    pub fn problems(&self, snapshot: &Definitions) -> Vec<(String, Option<usize>, ProblemKind)> {
        let name = |path: &Path| path.strip_prefix(&self.root).unwrap().display().to_string();
        let problems = snapshot.problems.iter();
        problems.map(|found| (name(&found.path), found.line, found.kind.clone())).collect()
    }
}

/// An open watcher, and what it called back with.
pub struct Opened {
    pub watcher: DefinitionWatcher,
    pub snapshots: Receiver<Arc<Definitions>>,
}

impl Opened {
    /// Waits for a snapshot like this.
    pub fn wait(&self, is_it: impl Fn(&Definitions) -> bool) -> Arc<Definitions> {
        let begun = Instant::now();
        let current = self.watcher.snapshot();
        if is_it(&current) {
            return current;
        }
        loop {
            let left = PATIENCE.checked_sub(begun.elapsed()).expect("it came in time");
            let snapshot = self.snapshots.recv_timeout(left).expect("something came in time");
            if is_it(&snapshot) {
                return snapshot;
            }
        }
    }
}

/// The names of agents, commands and skills.
pub fn names(snapshot: &Definitions) -> [Vec<&str>; 3] {
    [
        snapshot.agents.iter().map(|agent| agent.name.as_str()).collect(),
        snapshot.commands.iter().map(|command| command.name.as_str()).collect(),
        snapshot.skills.iter().map(|skill| skill.name.as_str()).collect(),
    ]
}

/// The prompt of an agent.
pub fn prompt<'a>(snapshot: &'a Definitions, name: &str) -> Option<&'a str> {
    let agent = snapshot.agents.iter().find(|agent| agent.name == name);
    agent.map(|agent| agent.prompt.as_str())
}

/// The text of a skill.
pub fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n")
}
