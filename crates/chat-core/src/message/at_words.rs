//! Parses the `@` mentions of a text: `@src/main.rs`, `@src/main.rs:10-20`, `@src/`, `@"with
//! blanks.txt"`, and resources of MCP servers: `@server:note://today`.

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

/// What a URI is at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtResource {
    /// The server lists it under this title.
    Listed(String),
    /// The server is there, but does not list it, or was not asked yet.
    Unlisted,
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

/// Reads the `@` words of a text. `target` says what lies at a path from the project's `folder` on, `resource` what a
/// server's name and a URI lead to. Without a folder there are no paths.
pub fn at_words(
    text: &str,
    folder: Option<&Path>,
    mut target: impl FnMut(&Path) -> Option<AtTarget>,
    mut resource: impl FnMut(&str, &str) -> Option<AtResource>,
) -> AtWords {
    let mut words = AtWords::default();
    let mut end = 0;
    for (at, _) in text.match_indices('@') {
        if at < end || !may_begin_mention(text[..at].chars().next_back()) {
            continue;
        }
        let Some((name, length)) = written_name(&text[at + 1..]) else { continue };
        let in_project = folder.and_then(|folder| {
            candidates(name, length)
                .find_map(|(name, length)| Some((mention(name, folder, &mut target)?, length)))
        });
        let found = in_project.or_else(|| of_server(name, length, &mut resource));
        if let Some((mention, length)) = found {
            end = at + 1 + length;
            let name = mention.name(folder.unwrap_or(Path::new("")));
            words.mentions.push(AtWord { range: at..end, mention, name });
        } else if folder.is_some() && !name.contains("://") {
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

/// The resource that `server:uri` names. One that is listed is meant as a whole; of another one, signs at its end
/// belong to the sentence.
fn of_server(
    name: &str,
    length: usize,
    resource: &mut impl FnMut(&str, &str) -> Option<AtResource>,
) -> Option<(Mention, usize)> {
    let (mut unlisted, (server, _)) = (None, name.split_once(':')?);
    for (name, length) in candidates(name, length) {
        let Some(uri) = name[server.len()..].strip_prefix(':').filter(|uri| !uri.is_empty()) else {
            break;
        };
        let mention = |title| Mention::Resource {
            server: server.to_owned(),
            uri: uri.to_owned(),
            title,
            text: None,
        };
        match resource(server, uri)? {
            AtResource::Listed(title) => return Some((mention(title), length)),
            AtResource::Unlisted if has_scheme(uri) => {
                unlisted = Some((mention(String::new()), length));
            }
            AtResource::Unlisted => {}
        }
    }
    unlisted
}

/// Whether a text begins as a URI does.
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && !rest.is_empty()
    })
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
        let target = |path: &Path| match path.to_str() {
            Some("src/lib.rs" | "a b.txt" | "v1." | "notes") => Some(AtTarget::File),
            Some("src") => Some(AtTarget::Folder),
            _ => None,
        };
        at_words(text, Some(Path::new("/p")), target, resource)
    }

    fn resource(server: &str, uri: &str) -> Option<AtResource> {
        match (server, uri) {
            ("wiki", "note://a." | "plain") => Some(AtResource::Listed("A".to_owned())),
            ("wiki", _) => Some(AtResource::Unlisted),
            _ => None,
        }
    }

    #[test]
    fn resources_of_servers_are_found_with_and_without_a_project() {
        let mention = |uri: &str, title: &str| Mention::Resource {
            server: "wiki".to_owned(),
            uri: uri.to_owned(),
            title: title.to_owned(),
            text: None,
        };
        let cases = [
            ("see @wiki:note://b.", 4..18, mention("note://b", ""), "wiki:note://b"),
            ("(@wiki:note://a.)", 1..16, mention("note://a.", "A"), "wiki:note://a."),
            ("@wiki:plain, and", 0..11, mention("plain", "A"), "wiki:plain"),
            ("@\"wiki:f:a b\"", 0..13, mention("f:a b", ""), "wiki:f:a b"),
        ];
        for (text, range, mention, name) in cases {
            let mentions = vec![AtWord { range, mention, name: name.to_owned() }];
            let expected = AtWords { mentions, unknown: Vec::new() };
            assert_eq!(read(text), expected, "{text:?}");
            let without = at_words(text, None, |_| Some(AtTarget::File), resource);
            assert_eq!(without, expected, "{text:?}");
        }
        for text in ["@wiki:", "@wiki: a", "@other:note://b", "@wiki:..."] {
            assert_eq!(at_words(text, None, |_| None, resource), AtWords::default(), "{text:?}");
        }
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
