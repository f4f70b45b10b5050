//! Reads, watches and writes `config.toml` without losing the user's comments.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::unknown::unknown_keys;
use super::watch::Watch;
use super::wrong_values::{parse, plain_message, wrong_values};
use super::{Folders, Settings, disk, merge};
use crate::error::{Error, Kind, Result};

/// Editors write in several steps; what stands there for less than this was not meant.
const SETTLED: Duration = Duration::from_millis(100);

/// The configuration file.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    /// The content as we last read or wrote it: what differs from it comes from others.
    known: Arc<Mutex<String>>,
}

impl SettingsFile {
    /// Reads the file. Where it cannot be read the defaults are taken, the error says so, and
    /// the file is not written to until it can be read again. `ConfigUnknown` names keys that no setting
    /// has and values in `[agents]` that cannot be used; the rest of the file is taken then.
    pub fn load(folders: &Folders) -> (Self, Settings, Option<Error>) {
        let path = folders.settings();
        let (content, settings, problem) = match read(&path) {
            Ok((content, settings)) => {
                let unknown = unknown(&path, &content);
                (content, settings, unknown)
            }
            Err(problem) => {
                let mut settings = Settings::default();
                settings.permissions.are_unread = true;
                // No file has this: what comes next is taken, also where it is nothing.
                ("\0".to_owned(), settings, Some(problem))
            }
        };
        (Self { path, known: Arc::new(Mutex::new(content)) }, settings, problem)
    }

    /// Reads the file again under its lock, changes it, and writes it by rename. Only what the
    /// change touches is written; a person's comments and keys that we do not know stay. Blocks.
    ///
    /// # Errors
    /// `ConfigLocked` where the file on disk cannot be read, `ReadOnly`, `DiskFull`, `Storage`.
    /// The file is as it was then.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> Result<Settings> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        disk::private_folder(folder).map_err(|e| disk::fault(folder, &e))?;
        // A rename replaces the file itself, so that its lock would guard nothing.
        let lock_path = self.path.with_extension("lock");
        let lock = disk::private_file(&lock_path).map_err(|e| disk::fault(&lock_path, &e))?;
        lock.lock().map_err(|e| disk::fault(&lock_path, &e))?;

        let (content, old) = read(&self.path).map_err(|problem| Error {
            kind: Kind::ConfigLocked { path: self.path.clone() },
            ..problem
        })?;
        let mut new = old.clone();
        change(&mut new);
        if new == old {
            return Ok(new);
        }
        let content = merge::merged(&content, &old, &new)?;
        // The watch compares with what is known only when both agree again.
        let mut known = lock_known(&self.known);
        // Where the file is a link, as in a folder of dotfiles, what it leads to is replaced.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        disk::replace(&target, content.as_bytes()).map_err(|e| disk::fault(&self.path, &e))?;
        *known = content;
        Ok(new)
    }

    /// The file as other processes change it, from now on.
    pub fn changes(&self) -> SettingsChanges {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        if let Err(error) = disk::private_folder(folder) {
            tracing::warn!("{}: {error}", folder.display());
        }
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let (touched, touches) = watch::channel(());
        let watch = Watch::new(target.parent().unwrap_or(folder), move || {
            touched.send_replace(());
        });
        SettingsChanges {
            path: self.path.clone(),
            known: Arc::clone(&self.known),
            touches,
            _watch: watch,
        }
    }
}

/// The settings as other processes change them. Dropping it ends the watch.
#[derive(Debug)]
pub struct SettingsChanges {
    path: PathBuf,
    known: Arc<Mutex<String>>,
    touches: watch::Receiver<()>,
    _watch: Option<Watch>,
}

impl SettingsChanges {
    /// Waits until anybody touches the file. Never resolves where nothing can be watched.
    pub async fn touched(&mut self) {
        if self.touches.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        while let Ok(Ok(())) = tokio::time::timeout(SETTLED, self.touches.changed()).await {}
    }

    /// The settings as another process has changed them; none where none did, or where the file
    /// cannot be read. Blocks.
    pub fn read_again(&self) -> Option<Settings> {
        let mut known = lock_known(&self.known);
        match read(&self.path) {
            Ok((content, settings)) if content != *known => {
                if let Some(unknown) = unknown(&self.path, &content) {
                    tracing::warn!("the changed configuration: {unknown}");
                }
                *known = content;
                Some(settings)
            }
            Ok(_) => None,
            Err(problem) => {
                tracing::warn!("the changed configuration is not taken: {problem}");
                None
            }
        }
    }
}

fn lock_known(known: &Mutex<String>) -> MutexGuard<'_, String> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the file; a missing one holds the defaults.
fn read(path: &Path) -> Result<(String, Settings)> {
    let invalid = |detail: String| {
        Error::new(Kind::ConfigInvalid { path: path.to_owned() }).with_detail(detail)
    };
    let content = match fs::read_to_string(path) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(invalid(plain(&error))),
    };
    let settings = parse(&content).map_err(|error| invalid(plain_message(&content, &error)))?;
    Ok((content, settings))
}

/// What to say of keys that no setting has, and of values that were left out.
fn unknown(path: &Path, content: &str) -> Option<Error> {
    let wrong = [wrong_values(content), unknown_keys(content)].concat();
    let detail = (!wrong.is_empty()).then(|| wrong.join("\n"))?;
    Some(Error::new(Kind::ConfigUnknown { path: path.to_owned() }).with_detail(detail))
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use chat_permission::Mode;

    use super::*;
    use crate::message::ModelRef;
    use crate::settings::Connection;

    /// How long to wait for what must come. Met only where it does not.
    const LONG: Duration = Duration::from_secs(20);

    fn folders(written: Option<&str>) -> (tempfile::TempDir, Folders, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::below(folder.path());
        let path = folders.settings();
        if let Some(written) = written {
            fs::create_dir(&folders.config).unwrap();
            fs::write(&path, written).unwrap();
        }
        (folder, folders, path)
    }

    #[test]
    fn no_file_means_the_defaults_and_none_is_made() {
        let (_guard, folders, path) = folders(None);
        let (file, settings, problem) = SettingsFile::load(&folders);
        assert_eq!((settings, problem), (Settings::default(), None));
        file.change(|_| {}).unwrap();
        assert!(!path.exists(), "nothing was changed");
    }

    #[test]
    fn what_is_changed_is_read_again() {
        let (_guard, folders, path) = folders(Some("# mine\n[ui]\nenter_sends = true\n"));
        let (file, ..) = SettingsFile::load(&folders);
        let changed = file.change(|s| s.ui.enter_sends = false).unwrap();
        assert!(!changed.ui.enter_sends);
        assert_eq!(SettingsFile::load(&folders).1, changed);
        assert_eq!(fs::read_to_string(path).unwrap(), "# mine\n[ui]\nenter_sends = false\n");
    }

    #[test]
    fn favourites_come_and_go_beside_what_a_person_wrote() {
        let written = "[ui]\nenter_sends = false # mine\n";
        let (_guard, folders, path) = folders(Some(written));
        let (file, ..) = SettingsFile::load(&folders);
        let models = [ModelRef::new("Home", "a"), ModelRef::new("Home", "org/b")];
        for model in &models {
            file.change(|s| s.ui.set_favourite(model, true)).unwrap();
        }
        file.change(|s| s.ui.set_favourite(&models[0], true)).unwrap();
        let (_, read, problem) = SettingsFile::load(&folders);
        assert_eq!(problem, None);
        assert_eq!(read.ui.favourites, [models[1].clone(), models[0].clone()]);
        for model in &models {
            file.change(|s| s.ui.set_favourite(model, false)).unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap(), written);
    }

    #[test]
    fn two_who_change_at_once_lose_nothing() {
        let (_guard, folders, _) = folders(None);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let folders = &folders;
                scope.spawn(move || {
                    let (file, ..) = SettingsFile::load(folders);
                    for n in 0..10 {
                        let connection = Connection {
                            name: format!("{thread}-{n}"),
                            kind: None,
                            url: String::new(),
                            key: crate::settings::KeySource::None,
                            models: Vec::new(),
                            requests: None,
                            ..Connection::default()
                        };
                        file.change(|s| s.connections.push(connection)).unwrap();
                    }
                });
            }
        });
        assert_eq!(SettingsFile::load(&folders).1.connections.len(), 40);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_never_overwritten() {
        let broken: [(&[u8], &str); 6] = [
            (b"[[connections]]\nname = \"a\"\nurl = \"\"\nkey = \"sk-secret\"\n", "line 4"),
            (b"[ui]\nenter_sends = maybe\n", "line 2"),
            (b"connections = \"none\"", "line 1"),
            (
                b"[agents]\nturns = 3\n[tools]\nrounds = -1\n",
                "line 4: “rounds” must be a whole number from 0 to 4294967295",
            ),
            (
                b"[ui]\n\nenter_sends = \"sk-secret\"\n",
                "line 3: “enter_sends” must be true or false",
            ),
            (b"# \xff\xfe", "UTF-8"),
        ];
        for (content, where_it_is) in broken {
            let (_guard, folders, path) = folders(Some(""));
            fs::write(&path, content).unwrap();
            let (file, settings, problem) = SettingsFile::load(&folders);
            let problem = problem.unwrap();
            for mode in Mode::ALL {
                let most = if mode == Mode::Plan { mode } else { Mode::Ask };
                assert_eq!(settings.permissions.most(mode), most, "nobody knows what is denied");
            }
            assert_eq!(problem.kind, Kind::ConfigInvalid { path: path.clone() });
            let detail = problem.detail.unwrap();
            assert!(detail.contains(where_it_is), "{detail}");
            assert!(!detail.contains("sk-secret"), "{detail}");
            let refused = file.change(|s| s.ui.enter_sends = false).unwrap_err();
            assert_eq!(refused.kind, Kind::ConfigLocked { path: path.clone() });
            assert_eq!(fs::read(&path).unwrap(), content);

            // Once the user has fixed it, it is read as usual.
            fs::write(&path, "[ui]\nenter_sends = true\n").unwrap();
            let settings = file.change(|s| s.ui.enter_sends = false).unwrap();
            assert_eq!(settings.permissions.most(Mode::Unattended), Mode::Unattended);
        }
    }

    #[test]
    fn a_key_that_no_setting_has_is_named_and_the_rest_counts() {
        let (_guard, folders, path) = folders(Some("[agents]\nturns = 3\nat_ones = 2\n"));
        let (_, settings, problem) = SettingsFile::load(&folders);
        assert_eq!((settings.agents.turns, settings.permissions.are_unread), (3, false));
        let problem = problem.unwrap();
        assert_eq!(problem.kind, Kind::ConfigUnknown { path });
        let detail = problem.detail.unwrap();
        assert_eq!(detail, "line 3: unknown key “at_ones” in [agents]");
    }

    #[test]
    fn a_value_for_agents_that_cannot_be_used_is_named_and_the_rest_counts() {
        let written = "[agents]\nturns = -1\nat_once = 0 # none\ntokens = \"many\"\nwake = 1\n\
                       minutes = 5\n[[connections]]\nname = \"Home\"\nurl = \"http://localhost\"\n";
        let (_guard, folders, path) = folders(Some(written));
        let (file, settings, problem) = SettingsFile::load(&folders);
        let expected = crate::settings::AgentSettings {
            minutes: 5,
            ..crate::settings::AgentSettings::default()
        };
        assert_eq!((settings.agents, settings.permissions.are_unread), (expected, false));
        assert_eq!(settings.connections.len(), 1);
        let problem = problem.unwrap();
        assert_eq!(problem.kind, Kind::ConfigUnknown { path: path.clone() });
        let mut lines: Vec<_> = problem.detail.as_deref().unwrap().lines().collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "line 2: “turns” in [agents] must be a whole number from 0 to 4294967295",
                "line 3: “at_once” in [agents] must be a whole number from 1 to 4294967295",
                "line 4: “tokens” in [agents] must be a whole number from 0 to 9223372036854775807",
                "line 5: “wake” in [agents] must be true or false",
            ]
        );
        // It can be changed, and what the user wrote stays until it is.
        file.change(|settings| settings.agents.at_once = 6).unwrap();
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.contains("turns = -1\nat_once = 6 # none\n"), "{now}");
    }

    #[test]
    fn a_link_stays_a_link() {
        let (guard, folders, path) = folders(Some(""));
        let target = guard.path().join("dotfiles.toml");
        fs::rename(&path, &target).unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let (file, ..) = SettingsFile::load(&folders);
        file.change(|s| s.ui.enter_sends = false).unwrap();
        assert!(path.is_symlink());
        assert!(fs::read_to_string(target).unwrap().contains("enter_sends = false"));
    }

    #[test]
    fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (_guard, folders, path) = folders(None);
        let (file, ..) = SettingsFile::load(&folders);
        file.change(|s| s.ui.enter_sends = false).unwrap();
        assert_eq!((mode(&folders.config), mode(&path)), (0o700, 0o600));
        // Rights that the person has given stay.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        file.change(|s| s.ui.enter_sends = true).unwrap();
        assert_eq!(mode(&path), 0o644);
    }

    async fn next(changes: &mut SettingsChanges) -> Settings {
        loop {
            changes.touched().await;
            if let Some(settings) = changes.read_again() {
                return settings;
            }
        }
    }

    #[tokio::test]
    async fn what_others_change_is_heard_and_our_own_is_not() {
        let (_guard, folders, path) = folders(None);
        let (file, ..) = SettingsFile::load(&folders);
        let mut changes = file.changes();
        file.change(|s| s.ui.enter_sends = false).unwrap();
        // There is no event to wait for: it must not come.
        let heard = tokio::time::timeout(Duration::from_millis(400), next(&mut changes)).await;
        assert!(heard.is_err());

        let (other, ..) = SettingsFile::load(&folders);
        other.change(|s| s.chat.agent = "other".to_owned()).unwrap();
        let heard = tokio::time::timeout(LONG, next(&mut changes)).await.unwrap();
        assert_eq!((heard.chat.agent.as_str(), heard.ui.enter_sends), ("other", false));

        // An editor that saves something broken, then fixes it.
        fs::write(&path, "[ui\n").unwrap();
        let heard = tokio::time::timeout(Duration::from_millis(400), next(&mut changes)).await;
        assert!(heard.is_err());
        fs::write(&path, "[chat]\nagent = \"mended\"\n").unwrap();
        let heard = tokio::time::timeout(LONG, next(&mut changes)).await.unwrap();
        assert_eq!((heard.chat.agent.as_str(), heard.ui.enter_sends), ("mended", true));
    }
}
