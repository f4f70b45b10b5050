//! Provides a project for a test, and runs commands in it.

use std::path::{Path, PathBuf};

use chat_sandbox::{Command, Enforcement, Exit, Keep, Preference, Running, Sandbox, Spool};
use tempfile::TempDir;

/// Every way of enforcing, and none.
pub const WAYS: [Preference; 3] = [Preference::Bubblewrap, Preference::Landlock, Preference::None];

/// A project, a home folder and a folder next to them that no command may see.
pub struct Scene {
    folder: TempDir,
    project: &'static str,
    sandbox: Sandbox,
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    pub exit: Exit,
    pub said: String,
}

impl Scene {
    /// A scene whose commands are run in this way; none where this machine cannot and nobody
    /// insists.
    pub async fn new(way: Preference) -> Option<Self> {
        let sandbox = Sandbox::probe(way).await;
        let wanted = match way {
            Preference::Best => sandbox.enforcement(),
            Preference::Bubblewrap => Enforcement::Bubblewrap,
            Preference::Landlock => Enforcement::Landlock,
            Preference::None => Enforcement::None,
        };
        if sandbox.enforcement() != wanted {
            let insists = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!insists, "{way:?} does not work here: {:?}", sandbox.why_not());
            eprintln!("{way:?} does not work here: {:?}", sandbox.why_not());
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "beside"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Some(Self { folder, project: "project", sandbox })
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// A path in the project.
    pub fn project(&self, path: &str) -> PathBuf {
        self.at(self.project).join(path)
    }

    /// Makes another folder of the scene the project.
    pub fn set_project(&mut self, folder: &'static str) {
        self.project = folder;
    }

    /// A path in the home folder.
    pub fn home(&self, path: &str) -> PathBuf {
        self.at("home").join(path)
    }

    /// A path outside of both.
    pub fn beside(&self, path: &str) -> PathBuf {
        self.at("beside").join(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A command in the project with this home.
    pub fn command(&self, text: impl Into<String>) -> Command {
        let mut command = Command::new(text, self.project(""));
        command.home = Some(self.home(""));
        // The system's programs: whoever runs the tests may have others in a home of theirs.
        command.environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        command
    }

    pub fn spool(&self) -> Spool {
        let number = std::fs::read_dir(self.folder.path()).unwrap().count();
        let path = self.folder.path().join(format!("output-{number}"));
        Spool::create(&path, Keep::default()).unwrap()
    }

    pub async fn start(&self, command: Command) -> Running {
        self.sandbox.spawn(command, self.spool()).await.unwrap()
    }

    /// Runs a command to its end.
    pub async fn run(&self, text: impl Into<String>) -> Outcome {
        self.run_command(self.command(text)).await
    }

    pub async fn run_command(&self, command: Command) -> Outcome {
        let running = self.start(command).await;
        let exit = running.wait().await;
        Outcome { exit, said: running.spool().excerpt().to_string() }
    }
}

impl Outcome {
    /// What was said, of a command that must have succeeded.
    pub fn success(&self) -> &str {
        assert!(self.exit.is_success(), "{self:?}");
        self.said.trim_end()
    }
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
