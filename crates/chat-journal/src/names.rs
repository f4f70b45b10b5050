//! Writes paths as text in the journal, even if they are not valid UTF-8.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

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
    Some(std::ffi::OsString::from_vec(bytes).into())
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

/// The same for a path that may be missing.
pub mod maybe_path {
    use super::{Deserialize, Deserializer, PathBuf, Serializer, decode, encode};

    #[allow(clippy::ref_option, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        match path {
            Some(path) => to.serialize_some(&encode(path)),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Option::<String>::deserialize(from)?
            .map(|text| decode(&text).ok_or_else(|| serde::de::Error::custom("this is no path")))
            .transpose()
    }
}

/// A path as git's `fast-import` reads it: quoted, with everything unusual in octal.
pub fn quoted(path: &OsStr) -> String {
    let mut text = String::from("\"");
    for &byte in path.as_bytes() {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_stays_readable() {
        assert_eq!(encode(Path::new("src/größe.rs")), "src/größe.rs");
        assert_eq!(encode(Path::new(OsStr::from_bytes(b"a\xff%"))), "a%ff%25");
        assert_eq!(decode("a%f"), None);
        assert_eq!(decode("%zz"), None);
        assert_eq!(quoted(OsStr::from_bytes(b"a\n\"\\\xff b")), "\"a\\012\\\"\\\\\\377 b\"");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes: Vec<u8>) {
            let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
            prop_assert_eq!(decode(&encode(&path)), Some(path));
        }
    }
}
