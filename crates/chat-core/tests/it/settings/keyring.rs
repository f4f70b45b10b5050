//! Keys in a real Secret Service on a session bus of its own, and without one.

use std::process::Command;
use std::time::{Duration, Instant};

use chat_core::error::Kind;
use chat_core::settings::{Connection, Key, KeySource, KeyStorage, KeyStore, KeyringFailure};

use crate::another;

/// Says that there can be no Secret Service at all.
const NO_SERVICE: &str = "NATTER_TEST_NO_SERVICE";

fn connection(name: &str) -> Connection {
    Connection {
        name: name.to_owned(),
        kind: None,
        url: String::new(),
        key: KeySource::Keyring,
        models: Vec::new(),
        requests: None,
        ..Connection::default()
    }
}

async fn key(keys: &KeyStore, name: &str) -> Result<String, Kind> {
    match keys.get(&connection(name)).await {
        Ok(key) => Ok(key.unwrap().expose().to_owned()),
        Err(error) => {
            assert!(!format!("{error:?} {error}").contains("sk-"), "{error}");
            Err(error.kind)
        }
    }
}

/// Runs a part with an own home and session bus.
fn on_a_bus(name: &str, before: &str) {
    let folder = tempfile::tempdir().unwrap();
    let inner = another::command(name, folder.path());
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-c", &format!("{before} exec \"$@\""), "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.env("NATTER_TEST_FOLDER", folder.path());
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"] {
        command.env(variable, folder.path());
    }
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    another::run(command);
}

#[test]
fn the_secret_service_keeps_keys() {
    let there = Command::new("gnome-keyring-daemon").arg("--version").output();
    if there.is_err() {
        let why = "there is no gnome-keyring-daemon";
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{why}");
        eprintln!("not tested: {why}");
        return;
    }
    let daemon = "printf pass | gnome-keyring-daemon --unlock --components=secrets \
                  >/dev/null 2>&1;";
    on_a_bus("settings::keyring::with_a_secret_service", daemon);
}

#[tokio::test]
#[ignore = "run by another test, on a session bus of its own"]
async fn with_a_secret_service() {
    let keys = KeyStore::default();
    assert_eq!(key(&keys, "work").await, Err(Kind::KeyUnavailable));
    assert_eq!(keys.set("work", Key::new("sk-work")).await.unwrap(), KeyStorage::Keyring);
    assert_eq!(keys.set("home", Key::new("sk-home")).await.unwrap(), KeyStorage::Keyring);
    // Another run of the program.
    let again = KeyStore::default();
    assert_eq!(key(&again, "work").await.as_deref(), Ok("sk-work"));
    assert_eq!(key(&again, "home").await.as_deref(), Ok("sk-home"));
    assert_eq!(keys.set("work", Key::new("sk-new")).await.unwrap(), KeyStorage::Keyring);
    assert_eq!(key(&again, "work").await.as_deref(), Ok("sk-new"));
    again.remove("work").await.unwrap();
    again.remove("never there").await.unwrap();
    assert_eq!(key(&keys, "work").await, Err(Kind::KeyUnavailable));
    assert_eq!(key(&keys, "home").await.as_deref(), Ok("sk-home"));

    let service = oo7::dbus::Service::new().await.unwrap();
    service.default_collection().await.unwrap().lock(None).await.unwrap();
    let begun = Instant::now();
    assert_eq!(key(&keys, "home").await, Err(Kind::KeyUnavailable));
    assert!(begun.elapsed() < Duration::from_secs(5), "nobody is asked");
    assert!(!keys.has_no_keyring().await, "a locked keyring is one");
    assert_eq!(keys.remove("home").await.unwrap_err().kind, Kind::KeyUnavailable);
    // Nobody is there to unlock it: the key just typed is not lost.
    let kept = keys.set("work", Key::new("sk-typed")).await.unwrap();
    assert_eq!(kept, KeyStorage::ThisRun(KeyringFailure::Dismissed));
    assert_eq!(key(&keys, "work").await.as_deref(), Ok("sk-typed"));
}

#[test]
fn without_a_secret_service_a_key_lasts_for_this_run() {
    on_a_bus("settings::keyring::without_a_secret_service", "");
    // No bus at all.
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        another::command("settings::keyring::without_a_secret_service", folder.path());
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent").env(NO_SERVICE, "1");
    another::run(command);
    // A bus that never answers.
    let path = folder.path().join("bus");
    let silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let mut command =
        another::command("settings::keyring::without_a_secret_service", folder.path());
    let address = format!("unix:path={}", path.display());
    command.env("DBUS_SESSION_BUS_ADDRESS", address).env(NO_SERVICE, "1");
    another::run(command);
    drop(silent);
}

#[tokio::test]
#[ignore = "run by another test, without a Secret Service"]
async fn without_a_secret_service() {
    let begun = Instant::now();
    let keys = KeyStore::default();
    let kept = keys.set("work", Key::new("sk-work")).await.unwrap();
    // A bus may start a service of the machine's own, which then has nobody to ask.
    let KeyStorage::ThisRun(why) = kept else { panic!("{kept:?}") };
    if std::env::var_os(NO_SERVICE).is_some() {
        assert_eq!(why, KeyringFailure::Absent);
        assert!(keys.has_no_keyring().await);
    }
    assert_eq!(key(&keys, "work").await.as_deref(), Ok("sk-work"));
    keys.remove("work").await.unwrap();
    assert_eq!(key(&keys, "work").await, Err(Kind::KeyUnavailable));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}
