//! Makes a private repository with the project's contents: it has only those of the project's
//! settings that were picked by name, none of which can run anything.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::location::{self, RepositoryLocation};
use super::run::Program;
use super::settings::Settings;
use super::{GitError, run};

/// Git's folder for one look at a project. It goes when it is dropped.
pub(super) struct Private {
    folder: tempfile::TempDir,
    environment: Vec<(OsString, OsString)>,
    settings: Settings,
}

impl Private {
    pub fn new(
        location: &RepositoryLocation,
        program: &Program,
        given_up: &AtomicBool,
    ) -> Result<Self, GitError> {
        let folder = tempfile::Builder::new().prefix("natter-git-").tempdir()?;
        let own = |name: &str| folder.path().join(name);
        fs::write(own("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
        let head = location::short_file(&location.own.join("HEAD"));
        let head = head.ok_or_else(|| GitError::Foreign(location.own.clone()))?;
        fs::write(own("HEAD"), &head)?;
        for name in ["objects", "refs", "packed-refs", "info", "shallow"] {
            let shared = location.common.join(name);
            if shared.symlink_metadata().is_ok() {
                symlink(&shared, own(name))?;
            }
        }
        // The larger part of an index that was split.
        for entry in fs::read_dir(&location.own)?.flatten() {
            let name = entry.file_name();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && name.to_string_lossy().starts_with("sharedindex.") {
                symlink(entry.path(), folder.path().join(name))?;
            }
        }
        let environment = vec![
            ("GIT_DIR".into(), folder.path().into()),
            ("GIT_WORK_TREE".into(), location.work_tree.clone().into()),
            ("GIT_INDEX_FILE".into(), location.own.join("index").into()),
        ];
        let mut private = Self { folder, environment, settings: Settings::default() };
        private.take_settings(location, program, head.as_bytes(), given_up)?;
        Ok(private)
    }

    /// Takes over what must be known to read the repository rightly.
    fn take_settings(
        &mut self,
        location: &RepositoryLocation,
        program: &Program,
        head: &[u8],
        given_up: &AtomicBool,
    ) -> Result<(), GitError> {
        let config = location.common.join("config");
        if !config.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return Ok(());
        }
        let mut command = self.command(program, Path::new("/"));
        command.arg("config").arg("--file").arg(&config);
        command.args(["--no-includes", "--null", "--list"]);
        let listed = run::run(command, 1 << 20, given_up)?.output;
        let head = String::from_utf8_lossy(head);
        let branch = head.trim().strip_prefix("ref: refs/heads/");
        self.settings = Settings::picked(&listed, branch);
        if self.settings.has_table {
            return Err(GitError::Unsupported);
        }
        if self.settings.is_sha256 {
            let text = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\
                        [extensions]\n\tobjectformat = sha256\n";
            fs::write(self.folder.path().join("config"), text)?;
        }
        Ok(())
    }

    /// Whether hashes are long ones.
    pub fn is_sha256(&self) -> bool {
        self.settings.is_sha256
    }

    /// A call of git in a folder.
    pub fn command(&self, program: &Program, folder: &Path) -> Command {
        let mut command = program.command();
        command.current_dir(folder).envs(self.environment.iter().cloned());
        for (number, (key, value)) in self.settings.picked.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command.env("GIT_CONFIG_COUNT", self.settings.picked.len().to_string());
        // Twice is safer: none of these is set in a repository of ours.
        for setting in
            ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null"]
        {
            command.args(["-c", setting]);
        }
        // What the person ignores everywhere is ignored here, too.
        if let Some(excludes) = ignore::gitignore::gitconfig_excludes_path() {
            let mut setting = OsString::from("core.excludesFile=");
            setting.push(excludes);
            command.arg("-c").arg(setting);
        }
        command.arg("--no-pager");
        command
    }
}
