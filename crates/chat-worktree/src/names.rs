//! Writes paths as text in records, in git's import format, and as names that git allows.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// The maximum length of a worktree's folder name, without its mark.
const LONGEST_NAME: usize = 60;
/// The length of a mark.
const MARK: usize = 6;
/// What a mark is made of.
const MARKS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// A path as text: invalid UTF-8, and `%` itself, is written as `%` and two digits.
fn encode(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

fn decode(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    Some(OsString::from_vec(bytes).into())
}

/// For serde's `with`.
pub mod path {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serializer, decode, encode};

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&encode(path))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        decode(&text).ok_or_else(|| serde::de::Error::custom("this is no path"))
    }
}

/// A path as git's `fast-import` reads it: quoted, with everything unusual in octal.
pub fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text.push('"');
    text
}

/// A path as it is stored in a snapshot: git allows no `.git` in a tree, so that gets a `%` at its
/// end, and so does what looks like that.
pub fn stored(path: &Path) -> PathBuf {
    let name = |name: &OsStr| {
        let mut name = name.to_owned();
        if looks_like_git(&name, 0) {
            name.push("%");
        }
        name
    };
    path.iter().map(name).collect()
}

/// The path of what is stored under this name; none if it is no path below a folder.
pub fn original(stored: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in stored.components() {
        let Component::Normal(name) = component else { return None };
        if looks_like_git(name, 1) {
            let bytes = name.as_bytes();
            path.push(OsStr::from_bytes(&bytes[..bytes.len() - 1]));
        } else {
            path.push(name);
        }
    }
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Whether it is `.git`, in any case, with at least so many `%` at its end and nothing else.
fn looks_like_git(name: &OsStr, least: usize) -> bool {
    let (Some(start), Some(rest)) = (name.as_bytes().get(..4), name.as_bytes().get(4..)) else {
        return false;
    };
    start.eq_ignore_ascii_case(b".git")
        && rest.len() >= least
        && rest.iter().all(|byte| *byte == b'%')
}

/// A name as a folder and the last part of a branch's name: letters, digits, `-` and `_`, at least
/// one.
pub fn folder_name(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            text.push(letter.to_ascii_lowercase());
        } else if !text.is_empty() && !text.ends_with('-') {
            text.push('-');
        }
        if text.len() >= LONGEST_NAME {
            break;
        }
    }
    let text = text.trim_end_matches('-');
    if text.is_empty() { "work".to_owned() } else { text.to_owned() }
}

/// Whether it can be the name of a worktree's folder.
pub fn is_folder_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && name.bytes().all(is_plain)
}

/// A few random letters and digits, so many that two are hardly ever the same.
pub fn unique_mark() -> String {
    let mut rest = RandomState::new().build_hasher().finish();
    let mut mark = String::with_capacity(MARK);
    for _ in 0..MARK {
        let index = usize::try_from(rest % MARKS.len() as u64).unwrap_or_default();
        mark.push(char::from(MARKS[index]));
        rest /= MARKS.len() as u64;
    }
    mark
}

/// The paths in a list that git ends with NUL bytes.
pub fn listed(output: &[u8]) -> impl Iterator<Item = &Path> {
    output
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| Path::new(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_plain() {
        for (name, folder) in [
            ("Fix the parser", "fix-the-parser"),
            ("../../etc", "etc"),
            ("größe.lock", "gr-e-lock"),
            ("…", "work"),
            ("-x-", "x"),
        ] {
            assert_eq!(folder_name(name), folder);
        }
        assert_eq!(folder_name(&"a".repeat(200)).len(), LONGEST_NAME);
    }

    #[test]
    fn marks_are_plain_and_differ() {
        let marks: std::collections::HashSet<_> = (0..100).map(|_| unique_mark()).collect();
        assert_eq!(marks.len(), 100);
        assert!(marks.iter().all(|mark| mark.len() == MARK && folder_name(mark) == **mark));
    }

    #[test]
    fn gits_folder_has_another_name_in_a_snapshot() {
        assert_eq!(stored(Path::new("a/.Git/x")), Path::new("a/.Git%/x"));
        assert_eq!(stored(Path::new(".git%")), Path::new(".git%%"));
        assert_eq!(stored(Path::new(".gitignore")), Path::new(".gitignore"));
        assert_eq!(original(Path::new("../a")), None);
        assert_eq!(original(Path::new("/a")), None);
        assert_eq!(original(Path::new("")), None);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes: Vec<u8>) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            prop_assert_eq!(decode(&encode(&path)), Some(path));
        }

        #[test]
        fn any_stored_name_comes_back(path in "(\\.git|\\.GIT|%|a|/b/){1,5}") {
            let path: PathBuf = Path::new(&path).components()
                .filter(|part| matches!(part, Component::Normal(_))).collect();
            if !path.as_os_str().is_empty() {
                let stored = stored(&path);
                prop_assert!(!stored.iter().any(|name| name.eq_ignore_ascii_case(".git")));
                prop_assert_eq!(original(&stored), Some(path));
            }
        }
    }
}
