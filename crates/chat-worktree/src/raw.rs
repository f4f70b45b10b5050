//! Parses git's raw list of differences, `--raw -z`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The mode of a submodule.
pub const SUBMODULE: &str = "160000";

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawChange {
    pub old_mode: String,
    pub new_mode: String,
    /// `A`, `D`, `M`, `R`, `T` or `U`.
    pub status: u8,
    pub path: PathBuf,
    /// The old path of a renamed file.
    pub from: Option<PathBuf>,
}

impl RawChange {
    pub fn is_submodule(&self) -> bool {
        self.old_mode == SUBMODULE || self.new_mode == SUBMODULE
    }
}

/// The differences at the beginning of an output, and what follows them.
pub fn parse(output: &[u8]) -> (Vec<RawChange>, &[u8]) {
    let mut changes = Vec::new();
    let mut rest = output;
    while rest.first() == Some(&b':') {
        let Some((change, after)) = one(rest) else { break };
        changes.push(change);
        rest = after;
    }
    (changes, rest)
}

fn one(rest: &[u8]) -> Option<(RawChange, &[u8])> {
    let (head, mut rest) = field(rest)?;
    let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
    let mut words = head.split(' ');
    let (old_mode, new_mode) = (words.next()?.to_owned(), words.next()?.to_owned());
    let status = *words.nth(2)?.as_bytes().first()?;
    let mut from = None;
    if matches!(status, b'R' | b'C') {
        let (old, after) = path(rest)?;
        from = Some(old);
        rest = after;
    }
    let (path, rest) = path(rest)?;
    Some((RawChange { old_mode, new_mode, status, path, from }, rest))
}

/// A field that ends with a NUL byte, and what follows.
pub fn field(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The same as a path.
pub fn path(bytes: &[u8]) -> Option<(PathBuf, &[u8])> {
    let (field, rest) = field(bytes)?;
    Some((OsStr::from_bytes(field).into(), rest))
}

/// The entries in the output of `ls-files -z --stage`: whether each is a submodule, and its path.
pub fn staged(output: &[u8]) -> impl Iterator<Item = (bool, PathBuf)> {
    output.split(|byte| *byte == 0).filter_map(|entry| {
        let path = entry.splitn(2, |byte| *byte == b'\t').nth(1)?;
        Some((entry.starts_with(SUBMODULE.as_bytes()), OsStr::from_bytes(path).into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_end_where_something_else_begins() {
        let output = b":100644 100755 a b M\0x y\0:100644 100644 a a R100\0old\0n\new\0\
            :000000 160000 0 b A\0sub\x001\t2\tx\0";
        let (changes, rest) = parse(output);
        assert_eq!(rest, b"1\t2\tx\0");
        assert_eq!(changes.len(), 3);
        assert_eq!((changes[0].status, changes[0].path.to_str()), (b'M', Some("x y")));
        assert_eq!(changes[1].from.as_deref(), Some("old".as_ref()));
        assert_eq!(changes[1].path, PathBuf::from("n\new"));
        assert!(changes[2].is_submodule());
        assert_eq!(parse(b":broken").0, []);
    }
}
