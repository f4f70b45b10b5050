//! Makes a private git folder with a repository's contents: it has only those of the repository's
//! settings that were picked by name, none of which can run anything.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::settings::Settings;
use super::{Git, Output, run, run_with, succeeded};
use crate::Error;
use crate::location::{Location, short_file};

/// A head that leads nowhere, so that an update of a branch is not also logged as one of the head.
const NO_HEAD: &str = "ref: refs/natter/none\n";

/// A git folder for one operation. It goes when it is dropped.
pub struct GitDir {
    git: Git,
    folder: tempfile::TempDir,
    work_tree: PathBuf,
    common: PathBuf,
    settings: Settings,
}

/// What a call works on in addition to the repository.
#[derive(Clone, Copy, Debug, Default)]
pub struct With<'a> {
    /// The index; without one, the call must not need any.
    pub index: Option<&'a Path>,
    /// Where new objects go; the repository's own are visible too.
    pub objects: Option<&'a Path>,
}

impl GitDir {
    /// A git folder for reading `location`, and for changing branches without a log.
    pub fn new(location: &Location, cancel: &AtomicBool) -> Result<Self, Error> {
        let git = Git::find(&location.work_tree)?;
        let io = Error::io(&location.common);
        let folder = tempfile::Builder::new().prefix("natter-git-").tempdir().map_err(&io)?;
        let own = |name: &str| folder.path().join(name);
        let head = short_file(&location.own.join("HEAD"));
        let head = head.ok_or_else(|| Error::Foreign(location.own.clone()))?;
        fs::write(own("HEAD"), &head).map_err(&io)?;
        fs::write(own("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
            .map_err(&io)?;
        // References may come to be packed meanwhile, so that link may lead nowhere.
        for name in ["objects", "refs", "packed-refs"] {
            symlink(location.common.join(name), own(name)).map_err(&io)?;
        }
        for name in ["info", "shallow"] {
            let shared = location.common.join(name);
            if shared.symlink_metadata().is_ok() {
                symlink(&shared, own(name)).map_err(&io)?;
            }
        }
        let mut made = Self {
            git,
            folder,
            work_tree: location.work_tree.clone(),
            common: location.common.clone(),
            settings: Settings::default(),
        };
        made.settings = made.read_settings(&location.common.join("config"), cancel)?;
        if made.settings.has_table {
            return Err(Error::Unsupported);
        }
        if made.settings.is_sha256 {
            let text = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\
                        [extensions]\n\tobjectformat = sha256\n";
            fs::write(made.folder.path().join("config"), text).map_err(&io)?;
        }
        Ok(made)
    }

    /// The same, but updates of branches are logged, and one of the checked-out branch also as one
    /// of the head. Where a log is no plain file in plain folders, nothing is logged.
    pub fn with_logs(self, location: &Location, branch: &str) -> Result<Self, Error> {
        let logs = self.folder.path().join("logs");
        let common = self.common.clone();
        let io = Error::io(&common);
        fs::create_dir(&logs).map_err(&io)?;
        let (head, refs) = (location.own.join("logs/HEAD"), self.common.join("logs/refs"));
        if is_plain(&location.own, Path::new("logs/HEAD")) && head.exists() {
            symlink(&head, logs.join("HEAD")).map_err(&io)?;
        }
        let log = Path::new("logs/refs/heads").join(branch);
        if is_plain(&self.common, &log) && refs.is_dir() {
            symlink(&refs, logs.join("refs")).map_err(&io)?;
        }
        Ok(self)
    }

    /// Makes the head lead nowhere: updates of a branch concern nobody's checkout.
    pub fn without_head(self) -> Result<Self, Error> {
        fs::write(self.folder.path().join("HEAD"), NO_HEAD).map_err(Error::io(&self.common))?;
        Ok(self)
    }

    fn read_settings(&self, config: &Path, cancel: &AtomicBool) -> Result<Settings, Error> {
        if !config.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return Ok(Settings::default());
        }
        let mut command = self.git.command();
        command.arg("config").arg("--file").arg(config).args(["--no-includes", "--null", "--list"]);
        Ok(Settings::read(&run_with(&mut command, &[], 1 << 20, cancel)?.success("config")?))
    }

    /// The settings that were picked.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A place for a file of this operation.
    pub fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A call of git. It works in the work tree's folder.
    pub fn command(&self, with: With) -> Command {
        let mut command = self.git.command();
        // It may be removed by now, and references still to be changed.
        let is_there = self.work_tree.is_dir();
        let work_tree = if is_there { &*self.work_tree } else { self.folder.path() };
        command.current_dir(work_tree);
        command.env("GIT_DIR", self.folder.path()).env("GIT_WORK_TREE", work_tree);
        let none = self.place("no-index");
        command.env("GIT_INDEX_FILE", with.index.unwrap_or(&none));
        if let Some(objects) = with.objects {
            command.env("GIT_OBJECT_DIRECTORY", objects);
            let alternates = quoted(&self.common.join("objects"));
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternates);
        }
        for (key, value) in &self.settings.picked {
            command.arg("-c").arg(format!("{key}={value}"));
        }
        // A command could set the time of a file back, but never the kernel's note of its change.
        command.args(["-c", "core.trustctime=true", "-c", "core.checkStat=default"]);
        if let Some(excludes) = ignore::gitignore::gitconfig_excludes_path() {
            let mut setting = OsString::from("core.excludesFile=");
            setting.push(excludes);
            command.arg("-c").arg(setting);
        }
        command
    }

    /// The output of a call that must succeed.
    pub fn output<S: AsRef<OsStr>>(
        &self,
        with: With,
        what: &'static str,
        arguments: impl IntoIterator<Item = S>,
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, Error> {
        let mut command = self.command(with);
        command.arg(what).args(arguments);
        succeeded(what, &mut command, cancel)
    }

    /// The name of an object; none if there is no such object.
    pub fn resolve(&self, name: &str, cancel: &AtomicBool) -> Result<Option<String>, Error> {
        let mut command = self.command(With::default());
        command.args(["rev-parse", "--quiet", "--verify", "--end-of-options", name]);
        let found = run(&mut command, cancel)?;
        let line = Output::line(&found.bytes);
        Ok((found.code == Some(0) && !line.is_empty()).then_some(line))
    }

    /// The commit of a branch; none if there is no such branch. A branch that stands for another
    /// reference, or is stored behind a link, is refused.
    pub fn branch(&self, branch: &str, cancel: &AtomicBool) -> Result<Option<String>, Error> {
        let relative = Path::new("refs/heads").join(branch);
        let file = self.common.join(&relative);
        let is_other = short_file(&file).is_some_and(|text| text.starts_with("ref:"));
        if is_other || !is_plain(&self.common, &relative) {
            return Err(Error::Foreign(file));
        }
        self.resolve(&format!("refs/heads/{branch}^{{commit}}"), cancel)
    }

    /// Sets a branch from what it must be at this moment: none means that it must not exist.
    /// [`Error::Changed`] if it is something else.
    pub fn set_branch(
        &self,
        branch: &str,
        new: &str,
        old: Option<&str>,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        if self.branch(branch, cancel)?.as_deref() != old {
            return Err(Error::Changed);
        }
        let name = format!("refs/heads/{branch}");
        let zero = "0".repeat(new.len());
        let mut command = self.command(With::default());
        command.args(["-c", "core.logAllRefUpdates=false", "update-ref", "--no-deref"]);
        command.args([&name, new, old.unwrap_or(&zero)]);
        let done = run(&mut command, cancel)?;
        if done.code == Some(0) {
            return Ok(());
        }
        if self.branch(branch, cancel)?.as_deref() == old {
            return done.success("update-ref").map(drop);
        }
        Err(Error::Changed)
    }

    /// Deletes a branch that must be at this commit.
    pub fn delete_branch(&self, branch: &str, old: &str, cancel: &AtomicBool) -> Result<(), Error> {
        match self.branch(branch, cancel)? {
            None => return Ok(()),
            Some(found) if found != old => return Err(Error::Changed),
            Some(_) => {}
        }
        let name = format!("refs/heads/{branch}");
        self.output(With::default(), "update-ref", ["--no-deref", "-d", &name, old], cancel)?;
        Ok(())
    }
}

/// Whether a path below a folder has no link on it, and leads to a file or nothing.
pub fn is_plain(folder: &Path, relative: &Path) -> bool {
    let mut path = folder.to_owned();
    let mut names = relative.iter().peekable();
    while let Some(name) = names.next() {
        path.push(name);
        match path.symlink_metadata() {
            Err(_) => return true,
            Ok(found) if names.peek().is_none() => return found.is_file(),
            Ok(found) if !found.is_dir() => return false,
            Ok(_) => {}
        }
    }
    true
}

/// A path in a list of paths that git separates by `:`.
fn quoted(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\')) {
        return path.into();
    }
    let mut text = OsString::from("\"");
    for byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            text.push("\\");
        }
        text.push(OsStr::from_bytes(&[*byte]));
    }
    text.push("\"");
    text
}
