//! Recognises commands that only read, so that the user is not asked about them.
//!
//! A command counts only if every word is fixed and listed ([`list`]). The paths that it reads are
//! returned, so that the policy judges each like a path that a tool reads. The sandbox confines the
//! command in any case.

mod list;

use list::{LIST, Listed, Takes};

use super::{Simple, changes_folder};
use crate::path::{Kind, ResolvedPath};

/// What a command reads that does nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reads {
    /// The files and folders. If the command names none, its working directory.
    pub(crate) paths: Vec<ResolvedPath>,
}

/// A listed command, before its paths are looked up.
#[derive(Debug, PartialEq, Eq)]
struct Form {
    paths: Vec<String>,
    /// Whether it reads the whole project, such as git's history, wherever it runs.
    whole: bool,
}

/// What each part reads, if it is known to do nothing else. `resolve` looks up a path, relative to
/// a folder or, without one, to where the command starts; the empty path is the project.
pub(crate) fn reads(
    parts: &[Simple],
    resolve: impl Fn(Option<&ResolvedPath>, &str) -> Option<ResolvedPath>,
) -> Vec<Option<Reads>> {
    let Some(folders) = folders(parts, &resolve) else { return vec![None; parts.len()] };
    let read = |part: &Simple| {
        if let Some(folder) = changed_to(part) {
            let path = resolve(None, folder)?;
            return Some(Reads { paths: vec![path] });
        }
        let form = form(part)?;
        let mut paths = Vec::new();
        // Whether `cd` succeeded is known only when it runs.
        for folder in &folders {
            for path in form.paths.iter().filter(|path| *path != "/dev/null") {
                match resolve(folder.as_ref(), path) {
                    Some(path) => paths.push(path),
                    // A branch such as `origin/main`.
                    None if form.whole => {}
                    None => return None,
                }
            }
            if form.paths.is_empty() {
                paths.push(resolve(folder.as_ref(), ".")?);
            }
        }
        if form.whole {
            paths.push(resolve(None, "")?);
        }
        Some(Reads { paths })
    };
    parts.iter().map(read).collect()
}

/// The possible working directories of the parts: an entry of none is where the command starts.
/// None at all if they are unknown.
pub(crate) fn folders(
    parts: &[Simple],
    resolve: &impl Fn(Option<&ResolvedPath>, &str) -> Option<ResolvedPath>,
) -> Option<Vec<Option<ResolvedPath>>> {
    let mut folders = vec![None];
    for part in parts.iter().filter(|part| changes_folder(part)) {
        // `command -v` runs nothing, though `command` may.
        if form(part).is_some() {
            continue;
        }
        // Each time, it may change to another folder.
        if part.repeats {
            return None;
        }
        let folder = resolve(None, changed_to(part)?)?;
        if folders.len() > 1 || folder.kind() != Kind::Folder || !folder.is_inside() {
            return None;
        }
        folders.push(Some(folder));
    }
    Some(folders)
}

/// Whether a command is a plain `cd`, which only changes the folder.
pub(crate) fn only_goes(part: &Simple) -> bool {
    changed_to(part).is_some()
}

/// The folder of a plain `cd`.
fn changed_to(part: &Simple) -> Option<&str> {
    let words = part.literal().filter(|_| part.assignments.is_empty())?;
    let ["cd", folder] = words[..] else { return None };
    // `cd a/..` goes back by name, everything else from where `a` really leads.
    let mut steps = folder.split('/').skip_while(|step| *step == "..");
    let is_plain = !folder.is_empty() && !folder.starts_with('-') && !folder.starts_with('~');
    (is_plain && steps.all(|step| step != "..")).then_some(folder)
}

/// The safe form of a command, if it has one.
fn form(part: &Simple) -> Option<Form> {
    if !part.assignments.is_empty() {
        return None;
    }
    let mut words = part.literal()?;
    if words.starts_with(&["git", "--no-pager"]) {
        words.remove(1);
    }
    LIST.iter().find_map(|listed| {
        let of = listed.words.split(' ').count();
        let named = words.get(..of)?.iter().copied().eq(listed.words.split(' '));
        if named { listed.read(&words[of..]) } else { None }
    })
}

/// How an option takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Text,
    Attached,
    File,
}

impl Listed {
    fn read(&self, words: &[&str]) -> Option<Form> {
        let mut given = Vec::new();
        let mut others = Vec::new();
        let mut paths = Vec::new();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            if word == "--" {
                others.extend(words.by_ref());
            } else if word == "-" || !word.starts_with('-') {
                others.push(word);
            } else {
                self.option(word, &mut words, &mut given, &mut paths)?;
            }
        }
        if !self.needs.is_empty() && !given.iter().any(|option| self.needs.contains(&&**option)) {
            return None;
        }
        let whole = matches!(self.takes, Takes::Revisions);
        paths.extend(self.others(&others, &given)?);
        Some(Form { paths, whole })
    }

    /// Reads an option with its value. None if it is not listed.
    fn option<'a>(
        &self,
        word: &'a str,
        words: &mut impl Iterator<Item = &'a str>,
        given: &mut Vec<String>,
        paths: &mut Vec<String>,
    ) -> Option<()> {
        let mut take = |value: Value, attached: Option<&'a str>| {
            match (value, attached) {
                (Value::None, Some(_)) => return None,
                (Value::None | Value::Attached, _) => {}
                (Value::Text, attached) => drop(attached.or_else(|| words.next())?),
                (Value::File, attached) => {
                    paths.push(attached.or_else(|| words.next())?.to_owned());
                }
            }
            Some(())
        };
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        // All of find's options have one dash.
        if name.starts_with("--") || self.words == "find" {
            take(self.value(name)?, attached)?;
            given.push(name.to_owned());
            return Some(());
        }
        let letters = &word[1..];
        if letters.bytes().all(|digit| digit.is_ascii_digit()) && self.value("-#").is_some() {
            return Some(());
        }
        if let Some(Value::None) = self.value(word) {
            given.push(word.to_owned());
            return Some(());
        }
        for (at, letter) in letters.char_indices() {
            let option = format!("-{letter}");
            let value = self.value(&option)?;
            given.push(option);
            if value != Value::None {
                let rest = &letters[at + letter.len_utf8()..];
                return take(value, (!rest.is_empty()).then_some(rest));
            }
        }
        Some(())
    }

    /// How a listed option takes its value.
    fn value(&self, option: &str) -> Option<Value> {
        self.options.split_whitespace().find_map(|listed| match listed.strip_prefix(option)? {
            "" => Some(Value::None),
            ":" => Some(Value::Text),
            "?" => Some(Value::Attached),
            "@" => Some(Value::File),
            _ => None,
        })
    }

    /// The paths among the words that are not options. None if these do not match the safe form.
    fn others(&self, words: &[&str], given: &[String]) -> Option<Vec<String>> {
        let files = |words: &[&str]| -> Vec<String> {
            words.iter().filter(|word| **word != "-").map(|&word| word.to_owned()).collect()
        };
        match self.takes {
            Takes::Nothing => words.is_empty().then(Vec::new),
            Takes::Text => Some(Vec::new()),
            Takes::Files(most) => (words.len() <= most).then(|| files(words)),
            Takes::PatternThenFiles(elsewhere) => {
                if given.iter().any(|option| elsewhere.contains(&&**option)) {
                    return Some(files(words));
                }
                Some(words.split_first().map(|(_, rest)| files(rest)).unwrap_or_default())
            }
            Takes::LinesThenFiles => {
                let (program, rest) = words.split_first()?;
                let is_quiet =
                    given.iter().any(|it| ["-n", "--quiet", "--silent"].contains(&&**it));
                (is_quiet && prints_lines(program)).then(|| files(rest))
            }
            Takes::Revisions => {
                let all: Option<Vec<_>> = words.iter().map(|word| of_repository(word)).collect();
                Some(all?.into_iter().flatten().collect())
            }
        }
    }
}

/// Whether a sed program only prints lines by number: `10,20p`, `$p`, `1p;5p`.
fn prints_lines(program: &str) -> bool {
    let is_place = |text: &str| {
        text == "$" || !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
    };
    program.split(';').all(|command| {
        let Some(places) = command.trim().strip_suffix('p') else { return false };
        match places.split_once(',') {
            Some((from, to)) => is_place(from) && is_place(to.strip_prefix('+').unwrap_or(to)),
            None => is_place(places),
        }
    })
}

/// The possible paths in a revision or a path: both names of `main:src/a.rs`. None if git would
/// look outside its repository, or for file patterns.
fn of_repository(word: &str) -> Option<Vec<String>> {
    let is_inside =
        |path: &str| !path.starts_with(['/', '~', '-']) && path.split('/').all(|step| step != "..");
    if word.contains(['*', '?', '[', '\\']) {
        return None;
    }
    let mut paths = vec![word];
    paths.extend(word.split_once(':').map(|(_, path)| path).filter(|path| !path.is_empty()));
    paths.iter().all(|path| is_inside(path)).then(|| paths.iter().map(|&p| p.to_owned()).collect())
}

#[cfg(test)]
mod tests;
