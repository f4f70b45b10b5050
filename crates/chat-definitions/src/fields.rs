//! Reads typed values from a front matter, and collects what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::front;
use crate::nearest::nearest;
use crate::problem::{Found, ProblemKind, ValueType, has_error};
use crate::visible::{is_hidden, one_line, quoted, visible};
use crate::yaml::{self, Entry, Node, Value};

/// Bytes of a front matter.
const LARGEST: usize = 64 * 1024;
/// The longest name, in characters.
const LONGEST_NAME: usize = 64;
/// The longest description, in characters.
pub(crate) const LONGEST_DESCRIPTION: usize = 1_024;
/// The longest of the other texts, in characters.
pub(crate) const LONGEST_TEXT: usize = 256;
/// Entries of a list.
const MOST_ENTRIES: usize = 256;

/// Keys of other programs that look like ours and are none. Their agents have `hooks`.
const NEVER_MEANT: [&str; 1] = ["hooks"];

/// The keys of a front matter. Each is taken out by its reader; what is left at the end is unknown.
pub(crate) struct Fields {
    entries: BTreeMap<String, (usize, Node)>,
    /// The keys that a reader asked for.
    known: BTreeSet<&'static str>,
    found: Vec<Found>,
}

/// A value and its line.
pub(crate) type Lined<T> = (usize, T);

/// A file's keys and body.
pub(crate) struct Document<'a> {
    pub fields: Fields,
    pub body: &'a str,
    pub body_line: usize,
}

/// Splits and parses a file.
pub(crate) fn document(text: &str) -> Result<Document<'_>, Found> {
    let parts = front::split(text)?;
    let entries = match parts.front {
        Some(yaml) if yaml.len() > LARGEST => {
            return Err(Found::at(1, ProblemKind::TooLarge { limit: LARGEST as u64 }));
        }
        Some(yaml) => yaml::parse(yaml, parts.front_offset)?,
        None => Vec::new(),
    };
    let fields = Fields::new(entries);
    Ok(Document { fields, body: parts.body, body_line: parts.body_line })
}

impl Fields {
    fn new(entries: Vec<Entry>) -> Self {
        let entries = entries.into_iter().map(|entry| (entry.key, (entry.line, entry.node)));
        Self { entries: entries.collect(), known: BTreeSet::new(), found: Vec::new() }
    }

    /// Notes a problem.
    pub fn complain(&mut self, line: Option<usize>, kind: ProblemKind) {
        self.found.push(Found { line, kind });
    }

    /// What `read` takes of a key that must be there.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let line = self.entries.get(key).map_or(1, |(line, _)| *line);
        let before = self.found.len();
        let value = read(self);
        if value.is_none() && !has_error(&self.found[before..]) {
            self.found.truncate(before);
            self.complain(Some(line), ProblemKind::Missing { key });
        }
        value
    }

    /// Refuses the keys for which `is_meant` says that they do in other programs what `instead` does here.
    pub fn refuse(&mut self, is_meant: impl Fn(&str) -> bool, instead: &'static str) {
        for (key, (line, _)) in self.entries.extract_if(.., |key, _| is_meant(key)) {
            let kind = ProblemKind::ForeignLimit { key: quoted(&key), instead };
            self.found.push(Found::at(line, kind));
        }
    }

    /// Everything that is wrong, with the keys that nobody took: one that resembles a known key is an error.
    pub fn finish(self) -> Vec<Found> {
        self.finish_with(|key, meant| match meant {
            Some(meant) => ProblemKind::MisspeltKey { key, meant },
            None => ProblemKind::UnknownKey { key },
        })
    }

    /// The same for a format that other programs share and extend.
    pub fn finish_shared(self) -> Vec<Found> {
        self.finish_with(|key, _| ProblemKind::ForeignKey { key })
    }

    fn finish_with(
        mut self,
        problem: impl Fn(String, Option<&'static str>) -> ProblemKind,
    ) -> Vec<Found> {
        for (key, (line, _)) in std::mem::take(&mut self.entries) {
            let meant = self.meant(&key);
            self.complain(Some(line), problem(quoted(&key), meant));
        }
        self.found.sort_by_key(|found| found.line);
        self.found
    }

    /// The known key that was probably meant.
    fn meant(&self, key: &str) -> Option<&'static str> {
        if NEVER_MEANT.contains(&key) {
            return None;
        }
        nearest(&key.to_lowercase(), self.known.iter().copied())
    }

    fn take(&mut self, key: &'static str) -> Option<Lined<Value>> {
        self.known.insert(key);
        let (line, node) = self.entries.remove(key)?;
        if node.value == Value::Null {
            self.complain(Some(line), ProblemKind::EmptyValue { key });
            return None;
        }
        Some((line, node.value))
    }

    /// Takes the value of a key that has two spellings.
    fn either(&mut self, key: &'static str, other: &'static str) -> Option<(&'static str, usize)> {
        self.known.extend([key, other]);
        match (self.entries.get(key), self.entries.get(other)) {
            (Some(_), Some((line, _))) => {
                let line = *line;
                self.entries.remove(other);
                self.complain(Some(line), ProblemKind::DuplicateKey { key: other.to_owned() });
                Some((key, line))
            }
            (Some((line, _)), None) => Some((key, *line)),
            (None, Some((line, _))) => Some((other, *line)),
            (None, None) => None,
        }
    }

    /// A text in one line, whatever it has in it.
    fn line_of_text(&mut self, key: &'static str, limit: usize) -> Option<Lined<(String, bool)>> {
        let (line, value) = self.take(key)?;
        let Value::Text(text) = value else {
            let kind = ProblemKind::WrongType { key, expected: ValueType::Text };
            self.complain(Some(line), kind);
            return None;
        };
        let (text, hidden) = one_line(&text);
        if text.is_empty() {
            self.complain(Some(line), ProblemKind::EmptyValue { key });
            return None;
        }
        if text.chars().count() > limit {
            self.complain(Some(line), ProblemKind::TooLong { key, limit });
            return None;
        }
        Some((line, (text, hidden)))
    }

    /// A text for people. Hidden characters in it become visible.
    pub fn text(&mut self, key: &'static str, limit: usize) -> Option<String> {
        let (line, (text, hidden)) = self.line_of_text(key, limit)?;
        if hidden {
            self.complain(Some(line), ProblemKind::HiddenCharacters { key: Some(key) });
        }
        Some(visible(&text).into_owned())
    }

    /// The same under one of two keys.
    pub fn text_of_either(
        &mut self,
        key: &'static str,
        other: &'static str,
        limit: usize,
    ) -> Option<String> {
        let (key, _) = self.either(key, other)?;
        self.text(key, limit)
    }

    /// A text for the program. It must not have hidden characters.
    pub fn word(&mut self, key: &'static str) -> Option<Lined<String>> {
        let (line, (text, hidden)) = self.line_of_text(key, LONGEST_TEXT)?;
        if hidden {
            self.complain(Some(line), ProblemKind::ForbiddenCharacters { key });
            return None;
        }
        Some((line, text))
    }

    /// The same under one of two keys.
    pub fn word_of_either(
        &mut self,
        key: &'static str,
        other: &'static str,
    ) -> Option<(&'static str, Lined<String>)> {
        let (key, _) = self.either(key, other)?;
        Some((key, self.word(key)?))
    }

    /// A text that `read` understands.
    pub fn parsed<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (line, word) = self.word(key)?;
        let value = read(&word);
        if value.is_none() {
            let kind = ProblemKind::UnknownWord { key, word: quoted(&word) };
            self.complain(Some(line), kind);
        }
        value
    }

    /// A name, or `default` if the key is absent. None if it is not valid.
    pub fn name(&mut self, key: &'static str, default: &str) -> Option<Lined<String>> {
        let before = self.found.len();
        let (line, name) = match self.word(key) {
            Some(found) => found,
            None if has_error(&self.found[before..]) => return None,
            None if !is_name(default) => {
                self.complain(None, ProblemKind::InvalidFileName { name: quoted(default) });
                return None;
            }
            None => (1, default.to_owned()),
        };
        if is_name(&name) {
            return Some((line, name));
        }
        self.complain(Some(line), ProblemKind::InvalidName { name: quoted(&name) });
        None
    }

    /// A number in a range.
    pub fn number(&mut self, key: &'static str, range: RangeInclusive<u8>) -> Option<f64> {
        let (line, value) = self.take(key)?;
        let number = match value {
            Value::Text(text) => {
                text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
            }
            _ => None,
        };
        let Some(number) = number else {
            let kind = ProblemKind::WrongType { key, expected: ValueType::Number };
            self.complain(Some(line), kind);
            return None;
        };
        let (lowest, highest) = range.into_inner();
        if !(f64::from(lowest)..=f64::from(highest)).contains(&number) {
            self.complain(Some(line), ProblemKind::OutOfRange { key, lowest, highest });
            return None;
        }
        Some(number)
    }

    /// `true` or `false`.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let (line, value) = self.take(key)?;
        match value {
            Value::Text(text) if text == "true" => Some(true),
            Value::Text(text) if text == "false" => Some(false),
            _ => {
                let kind = ProblemKind::WrongType { key, expected: ValueType::Flag };
                self.complain(Some(line), kind);
                None
            }
        }
    }

    /// A list, or a text that `split` takes apart. An absent key gives none, and one without a value is an error:
    /// whether that means all or nothing is not for us to guess.
    pub fn list(
        &mut self,
        key: &'static str,
        split: impl FnOnce(&str) -> Vec<String>,
    ) -> Option<Vec<Lined<String>>> {
        self.known.insert(key);
        let (line, node) = self.entries.remove(key)?;
        let entries: Option<Vec<Lined<String>>> = match node.value {
            Value::Null => {
                self.complain(Some(line), ProblemKind::Empty { key });
                return None;
            }
            Value::Text(text) => {
                Some(split(&text).into_iter().map(|entry| (line, entry)).collect())
            }
            Value::List(nodes) => nodes
                .into_iter()
                .map(|node| match node.value {
                    Value::Text(text) => Some((node.line, text.trim().to_owned())),
                    _ => None,
                })
                .collect(),
            Value::Map(_) => None,
        };
        let Some(entries) = entries else {
            let kind = ProblemKind::WrongType { key, expected: ValueType::List };
            self.complain(Some(line), kind);
            return None;
        };
        if entries.len() > MOST_ENTRIES {
            self.complain(Some(line), ProblemKind::TooLong { key, limit: MOST_ENTRIES });
            return None;
        }
        if let Some((line, _)) = entries.iter().find(|(_, entry)| entry.contains(is_hidden)) {
            self.complain(Some(*line), ProblemKind::ForbiddenCharacters { key });
            return None;
        }
        Some(entries)
    }

    /// Keys with texts, which become visible lines.
    pub fn map(&mut self, key: &'static str) -> Option<BTreeMap<String, String>> {
        let (line, value) = self.take(key)?;
        let pairs: Option<BTreeMap<_, _>> = match value {
            Value::Map(entries) if entries.len() <= MOST_ENTRIES => entries
                .into_iter()
                .map(|entry| match entry.node.value {
                    Value::Text(text) => {
                        let shown = |text: &str| visible(&one_line(text).0).into_owned();
                        Some((shown(&entry.key), shown(&text)))
                    }
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        if pairs.is_none() {
            let kind = ProblemKind::WrongType { key, expected: ValueType::Map };
            self.complain(Some(line), kind);
        }
        pairs
    }
}

/// Whether a text can be the name of an agent or a command: it is typed, shown, and compared with those of others.
pub(crate) fn is_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    begins
        && text.len() <= LONGEST_NAME
        && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_'))
}

#[cfg(test)]
mod tests;
