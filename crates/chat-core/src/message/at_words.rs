//! Parses the `@` mentions of a text: `@src/main.rs`, `@src/main.rs:10-20`, `@src/`, `@"with
//! blanks.txt"`.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use super::Mention;

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtTarget {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// A word of a text that points at something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWord {
    /// Where it stands, with its `@`.
    pub range: Range<usize>,
    /// What it points at.
    pub mention: Mention,
    /// The name of the file that goes with the message for it.
    pub name: String,
}

/// What the `@` words of a text point at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtWords {
    /// Those that point at something.
    pub mentions: Vec<AtWord>,
    /// Where names stand that nothing has, with their `@`. They are plain text.
    pub unknown: Vec<Range<usize>>,
}

/// How the name of the changes since the last commit is written.
const DIFF: &str = "diff";
/// What may stand behind a name and be none of it.
const ENDS: &str = ",.;:!?)]}>\"'”“’‘»«›‹…–—、。，；：！？」』）";

/// Reads the `@` words of a text. `target` says what lies at a path from the project's `folder` on.
pub fn at_words(
    text: &str,
    folder: &Path,
    mut target: impl FnMut(&Path) -> Option<AtTarget>,
) -> AtWords {
    let mut words = AtWords::default();
    let mut end = 0;
    for (at, _) in text.match_indices('@') {
        if at < end || !may_begin_mention(text[..at].chars().next_back()) {
            continue;
        }
        let Some((name, length)) = written_name(&text[at + 1..]) else { continue };
        let found = candidates(name, length).find_map(|(name, length)| {
            let mention = mention(name, folder, &mut target)?;
            Some((mention, at + 1 + length))
        });
        if let Some((mention, after)) = found {
            end = after;
            let name = mention.name(folder);
            words.mentions.push(AtWord { range: at..after, mention, name });
        } else if !name.contains("://") {
            let is_quoted = length != name.len();
            let is_end = |letter| !is_quoted && ENDS.contains(letter);
            let behind = name.len() - name.trim_end_matches(is_end).len();
            words.unknown.push(at..at + 1 + length - behind);
        }
    }
    words
}

/// Whether a mention may begin after this letter.
pub fn may_begin_mention(before: Option<char>) -> bool {
    before.is_none_or(|letter| letter.is_whitespace() || "([{<\"'“„”‘‚’«»‹›「『（".contains(letter))
}

/// The name that a text begins with, and how many bytes it takes: up to a blank, or all between quotes.
fn written_name(text: &str) -> Option<(&str, usize)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find(['"', '\n']).filter(|end| quoted[*end..].starts_with('"'))?;
        return (end > 0).then(|| (&quoted[..end], end + 2));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let begins = text.chars().next()?;
    (begins.is_alphanumeric() || "._-/~".contains(begins)).then(|| (&text[..end], end))
}

/// What may be meant by a name, the longest first: signs at its end may belong to the sentence. With how many bytes
/// each takes.
fn candidates(name: &str, length: usize) -> impl Iterator<Item = (&str, usize)> {
    let is_quoted = length != name.len();
    std::iter::successors(Some((name, length)), move |(name, length)| {
        let last = name.chars().next_back().filter(|last| !is_quoted && ENDS.contains(*last))?;
        Some((&name[..name.len() - last.len_utf8()], length - last.len_utf8()))
    })
}

fn mention(
    name: &str,
    folder: &Path,
    target: &mut impl FnMut(&Path) -> Option<AtTarget>,
) -> Option<Mention> {
    let mut look = |name: &str| {
        let path = from_project(name, folder)?;
        let found = target(&path)?;
        Some((folder.join(path), found))
    };
    match look(name) {
        Some((path, AtTarget::Folder)) => return Some(Mention::Folder { path }),
        Some((path, AtTarget::File)) if !name.ends_with('/') => {
            return Some(Mention::File { path, lines: None });
        }
        _ => {}
    }
    if let Some((name, lines)) = name.rsplit_once(':')
        && let Some(lines) = line_range(lines)
        && let Some((path, AtTarget::File)) = look(name)
    {
        return Some(Mention::File { path, lines: Some(lines) });
    }
    (name == DIFF).then_some(Mention::Diff)
}

/// `12`, or `12-20`.
fn line_range(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once(['-', '–']).unwrap_or((text, text));
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    (0 < from && from <= to).then_some((from, to))
}

/// A path from the project's folder on; none where it leads out of it, or is the folder itself.
fn from_project(name: &str, folder: &Path) -> Option<PathBuf> {
    let path = Path::new(name);
    let path = if path.is_absolute() { path.strip_prefix(folder).ok()? } else { path };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!plain.as_os_str().is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> AtWords {
        at_words(text, Path::new("/p"), |path| match path.to_str() {
            Some("src/lib.rs" | "a b.txt" | "v1." | "notes") => Some(AtTarget::File),
            Some("src") => Some(AtTarget::Folder),
            _ => None,
        })
    }

    #[test]
    fn names_of_the_project_are_found_wherever_they_stand() {
        let file = |path: &str, lines| Mention::File { path: Path::new("/p").join(path), lines };
        let folder = Mention::Folder { path: "/p/src".into() };
        let cases = [
            ("see @src/lib.rs", 4..15, file("src/lib.rs", None), "src/lib.rs"),
            ("(@src/lib.rs), please", 1..12, file("src/lib.rs", None), "src/lib.rs"),
            ("@src/lib.rs:", 0..11, file("src/lib.rs", None), "src/lib.rs"),
            ("@src/lib.rs:3-7.", 0..15, file("src/lib.rs", Some((3, 7))), "src/lib.rs:3-7"),
            ("@./src/lib.rs:3", 0..15, file("src/lib.rs", Some((3, 3))), "src/lib.rs:3-3"),
            ("@/p/src/lib.rs", 0..14, file("src/lib.rs", None), "src/lib.rs"),
            ("@v1.", 0..4, file("v1.", None), "v1."),
            ("@\"a b.txt\".", 0..10, file("a b.txt", None), "a b.txt"),
            ("@src/ and", 0..5, folder.clone(), "src/"),
            ("@src", 0..4, folder, "src/"),
            ("@diff", 0..5, Mention::Diff, "git diff"),
        ];
        for (text, range, mention, name) in cases {
            let mentions = vec![AtWord { range, mention, name: name.to_owned() }];
            assert_eq!(read(text), AtWords { mentions, unknown: Vec::new() }, "{text:?}");
        }
    }

    #[test]
    fn what_names_nothing_is_told_and_what_is_no_name_is_text() {
        let unknown = |text: &str| -> Vec<String> {
            read(text).unknown.into_iter().map(|place| text[place].to_owned()).collect()
        };
        let names = ["@src/lib.rss", "@\"no such\"", "@notes/"];
        assert_eq!(unknown("@src/lib.rss, @\"no such\" @notes/"), names);
        assert_eq!(unknown("@src/lib.rs:0"), ["@src/lib.rs:0"]);
        assert_eq!(unknown("@../p/src/lib.rs"), ["@../p/src/lib.rs"]);
        for text in ["me@src.org", "@", "@@ -1 +1 @@", "@\"open", "@https://a.org/b", "a @\n"] {
            assert_eq!(read(text), AtWords::default(), "{text:?}");
        }
    }
}
