//! Stores the API keys of connections so that they never leak.

mod headers;

use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oo7::dbus::{Collection, Service};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

pub(crate) use self::headers::header_key;
use super::{Connection, KeySource};
use crate::error::{Error, Kind, Result};

/// A connection's key. Shown nowhere: its `Debug` says only that there is one.
#[derive(Clone)]
pub struct Key(Arc<str>);

impl Key {
    /// Takes a key as typed; white space around it is dropped.
    pub fn new(key: &str) -> Self {
        Self(key.trim().into())
    }

    /// The key itself, for a header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a key went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStorage {
    /// Into the Secret Service.
    Keyring,
    /// Into memory, for this run.
    ThisRun(KeyringFailure),
}

/// Why a key did not go into the Secret Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyringFailure {
    /// There is none.
    Absent,
    /// The person closed its question for the keyring's password.
    Dismissed,
    /// The keyring is locked, and nobody unlocked it in time.
    Locked,
    /// It failed in another way.
    Failed,
}

/// Keys that could not be kept anywhere else. One of this run is one of the whole program: also of
/// its tools, which look for themselves.
static THIS_RUN: Mutex<BTreeMap<String, Key>> = Mutex::new(BTreeMap::new());

/// How long the Secret Service may take to answer. A broken session bus would else hold up
/// every request for half a minute.
const ANSWER: Duration = Duration::from_secs(3);

/// How long a person may take to unlock the keyring for a key just typed.
const UNLOCKING: Duration = Duration::from_mins(1);

/// How long a command that prints a key may take: it may ask a person to touch something.
const COMMAND: Duration = Duration::from_mins(1);

/// The most a command may print before its first line ends.
const COMMAND_OUTPUT: u64 = 64 * 1024;

/// Finds and keeps keys. What the session bus says never becomes part of an error: it might quote
/// what was sent.
#[derive(Debug, Default)]
pub struct KeyStore {
    /// Held from the first use on; opened again when it fails.
    keyring: tokio::sync::Mutex<Option<Arc<Collection>>>,
}

impl KeyStore {
    /// The key of a connection, from where its settings say. Never asks the person anything: a
    /// locked keyring is an error.
    ///
    /// # Errors
    /// `KeyUnavailable` where it should be somewhere and is not.
    pub async fn get(&self, connection: &Connection) -> Result<Option<Key>> {
        let key = match &connection.key {
            KeySource::None => return Ok(None),
            KeySource::Env(variable) => {
                std::env::var(variable).map_err(|_| unavailable(format!("{variable} is not set")))
            }
            KeySource::Command(command) => printed_by(command).await,
            KeySource::Keyring => {
                return match self.stored(&connection.name).await {
                    Ok(Some(key)) => Ok(Some(key)),
                    Ok(None) => {
                        Err(unavailable("the keyring has no key for it").on(&connection.name))
                    }
                    Err(error) => Err(error.on(&connection.name)),
                };
            }
        };
        let key = key.map(|key| Key::new(&key)).map_err(|e| e.on(&connection.name))?;
        if key.expose().is_empty() {
            return Err(unavailable("the key is empty").on(&connection.name));
        }
        Ok(Some(key))
    }

    /// What is kept under a name, if there is something. Never asks the person anything: a locked keyring is an error.
    ///
    /// # Errors
    /// `KeyUnavailable` where the keyring cannot be read, or holds nothing under this name but an empty text.
    pub async fn stored(&self, name: &str) -> Result<Option<Key>> {
        if let Some(key) = Self::of_this_run().get(name) {
            return Ok(Some(key.clone()));
        }
        let Some(text) = self.read_from_keyring(name).await? else { return Ok(None) };
        let key = Key::new(&text);
        if key.expose().is_empty() { Err(unavailable("the key is empty")) } else { Ok(Some(key)) }
    }

    /// Whether there is no keyring in which anything could have been kept. One that is locked is there.
    pub async fn has_no_keyring(&self) -> bool {
        let found = self.open_keyring(ANSWER, Missing::Absent).await;
        matches!(found, Err(KeyringFailure::Absent))
    }

    /// Whether something is kept under a name. Never asks the person anything, and a locked keyring tells it, too.
    ///
    /// # Errors
    /// `KeyUnavailable` where the keyring does not answer.
    pub async fn has(&self, name: &str) -> Result<bool> {
        if Self::of_this_run().contains_key(name) {
            return Ok(true);
        }
        let keyring = match self.open_keyring(ANSWER, Missing::Absent).await {
            Ok(keyring) => keyring,
            Err(KeyringFailure::Absent) => return Ok(false),
            Err(_) => return Err(unavailable("the keyring did not answer")),
        };
        let attributes = attributes(name);
        let found = self.answered(ANSWER, keyring.search_items(&attributes)).await?;
        Ok(!found.is_empty())
    }

    /// Keeps the key of a connection. May ask the person to unlock the keyring.
    pub async fn set(&self, connection: &str, key: Key) -> Result<KeyStorage> {
        match self.write_to_keyring(connection, &key).await {
            Ok(()) => {
                Self::of_this_run().remove(connection);
                Ok(KeyStorage::Keyring)
            }
            Err(why) => {
                Self::of_this_run().insert(connection.to_owned(), key);
                Ok(KeyStorage::ThisRun(why))
            }
        }
    }

    /// Forgets the key of a connection. Without a Secret Service there is nothing to forget there.
    ///
    /// # Errors
    /// `KeyUnavailable` where the Secret Service has the key and keeps it, or may have it.
    pub async fn remove(&self, connection: &str) -> Result<()> {
        Self::of_this_run().remove(connection);
        let keyring = match self.open_keyring(ANSWER, Missing::Absent).await {
            Ok(keyring) => keyring,
            Err(KeyringFailure::Absent) => return Ok(()),
            Err(_) => return Err(unavailable("the keyring did not answer")),
        };
        let attributes = attributes(connection);
        let removing = async {
            for item in keyring.search_items(&attributes).await? {
                item.delete(None).await?;
            }
            Ok(())
        };
        self.answered(ANSWER, removing).await
    }

    fn of_this_run() -> MutexGuard<'static, BTreeMap<String, Key>> {
        THIS_RUN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read_from_keyring(&self, connection: &str) -> Result<Option<String>> {
        let keyring = self.keyring(ANSWER, Missing::Absent).await?;
        let attributes = attributes(connection);
        let finding = async {
            if keyring.is_locked().await? {
                return Ok(Err(unavailable("the keyring is locked")));
            }
            Ok(match keyring.search_items(&attributes).await?.first() {
                Some(item) => String::from_utf8(item.secret().await?.as_bytes().to_vec())
                    .map(Some)
                    .map_err(|_| unavailable("the keyring holds something else")),
                None => Ok(None),
            })
        };
        self.answered(ANSWER, finding).await?
    }

    async fn write_to_keyring(&self, connection: &str, key: &Key) -> Result<(), KeyringFailure> {
        let keyring = self.open_keyring(UNLOCKING, Missing::Made).await?;
        let locked =
            self.with_timeout(ANSWER, keyring.is_locked()).await.map_err(KeyringFailure::from)?;
        if locked {
            self.with_timeout(UNLOCKING, keyring.unlock(None)).await.map_err(|why| match why {
                NoAnswer::Late => KeyringFailure::Locked,
                NoAnswer::Error(error) => KeyringFailure::of(&error),
            })?;
        }
        let label = format!("Natter: {connection}");
        let attributes = attributes(connection);
        let keeping = keyring.create_item(&label, &attributes, key.expose(), true, None);
        self.with_timeout(ANSWER, keeping).await.map(|_| ()).map_err(KeyringFailure::from)
    }

    /// The person's default keyring.
    async fn keyring(&self, limit: Duration, missing: Missing) -> Result<Arc<Collection>> {
        let absent = |_| unavailable("there is no Secret Service");
        self.open_keyring(limit, missing).await.map_err(absent)
    }

    async fn open_keyring(
        &self,
        limit: Duration,
        missing: Missing,
    ) -> Result<Arc<Collection>, KeyringFailure> {
        let mut held = self.keyring.lock().await;
        if let Some(keyring) = &*held {
            return Ok(Arc::clone(keyring));
        }
        let service = timeout(ANSWER, Service::new()).await.ok().and_then(Result::ok);
        let service = service.ok_or(KeyringFailure::Absent)?;
        let opening = async {
            match (service.with_alias(Service::DEFAULT_COLLECTION).await, missing) {
                (Ok(None), Missing::Made) => service.default_collection().await.map(Some),
                (found, _) => found,
            }
        };
        let found = timeout(limit, opening).await.map_err(|_| KeyringFailure::Locked)?;
        let found = found.map_err(|error| KeyringFailure::of(&error))?;
        let keyring = Arc::new(found.ok_or(KeyringFailure::Absent)?);
        *held = Some(Arc::clone(&keyring));
        Ok(keyring)
    }

    /// The same for those who only have to hear that the key cannot be had.
    async fn answered<T>(
        &self,
        limit: Duration,
        asking: impl Future<Output = Result<T, oo7::dbus::Error>>,
    ) -> Result<T> {
        self.with_timeout(limit, asking).await.map_err(|why| {
            unavailable(match why {
                NoAnswer::Error(_) => "the keyring refused",
                NoAnswer::Late => "the keyring did not answer",
            })
        })
    }

    /// Waits for an answer, no longer than `limit`. After a failure the keyring is opened again.
    async fn with_timeout<T>(
        &self,
        limit: Duration,
        asking: impl Future<Output = Result<T, oo7::dbus::Error>>,
    ) -> Result<T, NoAnswer> {
        let why = match timeout(limit, asking).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => NoAnswer::Error(error),
            Err(_) => NoAnswer::Late,
        };
        *self.keyring.lock().await = None;
        Err(why)
    }
}

/// Why the keyring gave no answer.
enum NoAnswer {
    Error(oo7::dbus::Error),
    Late,
}

impl From<NoAnswer> for KeyringFailure {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Error(error) => Self::of(&error),
            NoAnswer::Late => Self::Failed,
        }
    }
}

impl KeyringFailure {
    fn of(error: &oo7::dbus::Error) -> Self {
        match error {
            oo7::dbus::Error::Dismissed => Self::Dismissed,
            oo7::dbus::Error::Service(oo7::dbus::ServiceError::IsLocked(_)) => Self::Locked,
            _ => Self::Failed,
        }
    }
}

/// What to do where the person has no default keyring.
#[derive(Clone, Copy)]
enum Missing {
    /// It is as if there were no Secret Service.
    Absent,
    /// One is made; the person is asked for a password.
    Made,
}

/// What our keys are found by.
fn attributes(connection: &str) -> HashMap<&'static str, &str> {
    let schema = include_str!("../../../../data/app-id").trim();
    HashMap::from([(oo7::XDG_SCHEMA_ATTRIBUTE, schema), ("connection", connection)])
}

fn unavailable(why: impl Into<String>) -> Error {
    Error::new(Kind::KeyUnavailable).with_detail(why)
}

/// The first line that a command prints.
async fn printed_by(command: &str) -> Result<String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        // Natter may have been started in a project, whose programs are not meant.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // It may quote the key.
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| unavailable(format!("sh: {error}")))?;
    let output = child.stdout.take();
    let running = async {
        let mut line = String::new();
        if let Some(output) = output {
            let mut output = BufReader::new(output.take(COMMAND_OUTPUT));
            output.read_line(&mut line).await?;
            // A command that is cut off while it prints more would fail.
            tokio::io::copy(&mut output, &mut tokio::io::sink()).await?;
        }
        Ok::<_, std::io::Error>((line, child.wait().await?))
    };
    match timeout(COMMAND, running).await {
        Ok(Ok((line, status))) if status.success() => Ok(line),
        Ok(Ok((_, status))) => Err(unavailable(format!("the key command failed: {status}"))),
        Ok(Err(error)) => Err(unavailable(format!("the key command: {}", error.kind()))),
        Err(_) => Err(unavailable("the key command took too long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "sk-very-secret";

    fn connection(key: KeySource) -> Connection {
        Connection {
            name: "work".to_owned(),
            kind: None,
            url: String::new(),
            key,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        }
    }

    async fn of_command(command: &str) -> Result<Option<Key>> {
        KeyStore::default().get(&connection(KeySource::Command(command.to_owned()))).await
    }

    #[tokio::test]
    async fn a_command_prints_a_key() {
        let key = of_command("printf 'sk-very-secret\\n'; exec yes").await;
        assert!(key.is_err(), "more than is read ends the command");
        let key = of_command("printf '  sk-very-secret \nand more\n'").await.unwrap().unwrap();
        assert_eq!(key.expose(), SECRET);
    }

    #[tokio::test]
    async fn a_command_that_fails_or_prints_nothing_is_an_error_without_its_words() {
        for command in ["echo sk-very-secret; exit 3", "true", "echo sk-very-secret >&2; exit 1"] {
            let error = of_command(command).await.unwrap_err();
            assert_eq!(error.kind, Kind::KeyUnavailable);
            assert_eq!(error.connection.as_deref(), Some("work"));
            assert!(!format!("{error:?} {error}").contains(SECRET), "{error}");
        }
    }

    #[tokio::test]
    async fn the_environment_has_keys() {
        let keys = KeyStore::default();
        // Set for every process of a test; its value is not looked at.
        let set = KeySource::Env("CARGO_PKG_NAME".to_owned());
        assert_eq!(keys.get(&connection(set)).await.unwrap().unwrap().expose(), "chat-core");
        let unset = KeySource::Env("NATTER_TEST_UNSET".to_owned());
        let error = keys.get(&connection(unset)).await.unwrap_err();
        assert_eq!(error.kind, Kind::KeyUnavailable);
        assert!(error.detail.unwrap().contains("NATTER_TEST_UNSET"));
        assert!(keys.get(&connection(KeySource::None)).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn nothing_shows_a_key() {
        let key = Key::new(SECRET);
        assert_eq!(format!("{key:?}"), "Key(…)");
        let keys = KeyStore::default();
        KeyStore::of_this_run().insert("work".to_owned(), key.clone());
        for shown in [format!("{keys:?}"), format!("{keys:#?}"), format!("{:?}", Some(&key))] {
            assert!(!shown.contains(SECRET), "{shown}");
        }
    }
}
