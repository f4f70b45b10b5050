//! Tells git who the user is: the name and e-mail address from their own settings, and nothing else
//! from these, since they name programs and passwords.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use super::{View, caches};

/// How long git may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The known identities, by home folder and project, with the change times of their settings files.
type Known = HashMap<(PathBuf, PathBuf), (Vec<Option<SystemTime>>, Option<PathBuf>)>;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Shows a `.gitconfig` with the user's name and e-mail address, if they are set. A repository's
/// own settings take precedence, as always.
pub(super) fn add(view: &mut View) {
    let home = view.home.clone();
    let place = home.join(".gitconfig");
    if let Some(file) = file(&home, &view.project, || caches::kept(view)) {
        view.readable.push((file, place));
    }
}

fn file(home: &Path, project: &Path, kept: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    let changed = |path: PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
    let stamp = [".gitconfig", ".config/git/config"].map(|name| changed(home.join(name)));
    let named = ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"].map(std::env::var_os);
    let [base, whole] = named.map(|path| path.map(PathBuf::from));
    let others = [base.map(|base| base.join("git/config")), whole].map(|path| changed(path?));
    let stamp: Vec<_> = stamp.into_iter().chain(others).collect();
    if stamp.iter().all(Option::is_none) {
        return None;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let key = (home.to_owned(), project.to_owned());
    if let Some((before, file)) = known.get(&key)
        && *before == stamp
        && file.as_ref().is_none_or(|file| file.exists())
    {
        return file.clone();
    }
    let file = write(home, project, kept);
    known.insert(key, (stamp, file.clone()));
    file
}

/// Writes the settings, completely or not at all. None if nothing is set.
fn write(home: &Path, project: &Path, kept: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    let settings = settings(&ask(home, project)?)?;
    let file = kept()?.join("gitconfig");
    let mut whole = tempfile::NamedTempFile::new_in(file.parent()?).ok()?;
    std::io::Write::write_all(&mut whole, settings.as_bytes()).ok()?;
    whole.persist(&file).ok()?;
    Some(file)
}

/// Asks git, which follows includes, even conditional ones for the folder. It runs no other program
/// for this.
fn ask(home: &Path, project: &Path) -> Option<String> {
    let mut git = Command::new("git")
        .args(["config", "--global", "--includes", "--null"])
        .args(["--get-regexp", "^user\\.(name|email)$"])
        .env("HOME", home)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env_remove("GIT_DIR")
        .current_dir(project)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let until = Instant::now() + PATIENCE;
    while git.try_wait().ok()?.is_none() {
        if Instant::now() > until {
            // For example, a pipe among its settings files.
            let _ = git.kill();
            let _ = git.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let mut told = String::new();
    git.stdout.take()?.read_to_string(&mut told).ok()?;
    Some(told)
}

/// Settings from git's answer, `KEY\nVALUE\0` each; the last value of a key counts, as in git.
fn settings(told: &str) -> Option<String> {
    let last = |key: &str| {
        let values = told.split('\0').filter_map(|entry| entry.split_once('\n'));
        let value = values.filter(|(name, _)| *name == key).map(|(_, value)| value).next_back();
        value.filter(|value| !value.trim().is_empty() && !value.contains(char::is_control))
    };
    let mut text = String::new();
    for (key, name) in [("user.name", "name"), ("user.email", "email")] {
        if let Some(value) = last(key) {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            // Writing into a string cannot fail.
            let _ = writeln!(text, "\t{name} = \"{value}\"");
        }
    }
    (!text.is_empty()).then(|| format!("[user]\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_and_address_are_told_whatever_is_in_them() {
        let told = "user.name\nOld\0user.name\nAnn \"A\" \\ #1\0user.email\nann@example.org\0";
        let text = settings(told).unwrap();
        assert_eq!(
            text,
            "[user]\n\tname = \"Ann \\\"A\\\" \\\\ #1\"\n\temail = \"ann@example.org\"\n"
        );
        assert_eq!(settings("user.name\nAnn\n[core]\n\tpager = x\0"), None);
        assert_eq!(settings(""), None);
    }
}
