//! Finds the file that a text names, if the project has it.

pub mod words;

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::editor::TextPosition;
use crate::markdown::flow::{Run, Style};

/// Longer texts are no file names, in bytes.
const LONGEST: usize = 400;

/// Says whether a path, from the project on, is one of its files.
type IsFile = Rc<dyn Fn(&Path) -> bool>;

/// A project's folder, and which files it has.
pub type KnownFiles = (PathBuf, IsFile);

/// The files of the project that is shown. Cheap to clone.
#[derive(Clone, Default)]
pub struct Files {
    known: Rc<RefCell<Option<KnownFiles>>>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLocation {
    /// From the project on.
    pub path: PathBuf,
    /// Where in it, where that was said.
    pub place: Option<TextPosition>,
}

impl Files {
    /// The project lies in this folder and has these files; none where there is no project.
    pub fn set(&self, known: Option<KnownFiles>) {
        self.known.replace(known);
    }

    /// Whether text of this style may be a file's name: code, and what a link leads to.
    pub fn may_be(style: Style) -> bool {
        style.code || style.faint
    }

    /// Whether words of this run may be files' names: in plain prose, where there is a project.
    pub fn may_be_in(&self, run: &Run) -> bool {
        let is_prose = !Self::may_be(run.style) && !run.style.formula;
        run.link.is_none() && is_prose && self.known.borrow().is_some()
    }

    /// The file that a text names, where the project has it.
    pub fn find(&self, text: &str) -> Option<FileLocation> {
        let known = self.known.borrow();
        let (folder, is_file) = known.as_ref()?;
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST || text.contains('\n') {
            return None;
        }
        let file = |path: &str| {
            let path = Path::new(path);
            let path = path.strip_prefix(folder).unwrap_or(path);
            let path = path.strip_prefix(".").unwrap_or(path);
            is_file(path).then(|| path.to_owned())
        };
        let bare = text.trim_start_matches('(').trim_end_matches(')');
        // A file may be called like this as a whole.
        for text in [text, bare] {
            if let Some(path) = file(text) {
                return Some(FileLocation { path, place: None });
            }
        }
        [text, bare]
            .into_iter()
            .flat_map(parted)
            .find_map(|(name, place)| Some(FileLocation { path: file(name)?, place: Some(place) }))
    }

    /// What a link to the file that a text names says, and leads to.
    pub fn link(&self, text: &str) -> Option<Rc<str>> {
        let FileLocation { path, place } = self.find(text)?;
        let path = path.to_str()?;
        Some(match place {
            None => format!("./{path}").into(),
            Some(TextPosition { line, column: 1 }) => format!("./{path}:{line}").into(),
            Some(TextPosition { line, column }) => format!("./{path}:{line}:{column}").into(),
        })
    }
}

impl Files {
    /// The files' names in a run that is no link itself: where in its text, in bytes, and where each leads.
    pub fn links_in(&self, run: &Run) -> Vec<(Range<usize>, Rc<str>)> {
        let link = |name: Range<usize>| Some((name.clone(), self.link(&run.text[name])?));
        if run.link.is_none() && Self::may_be(run.style) {
            return link(0..run.text.len()).into_iter().collect();
        }
        if !self.may_be_in(run) {
            return Vec::new();
        }
        let is = |name: &str| self.find(name).is_some();
        let names = words::candidates(&run.text, 0);
        names.filter_map(|word| words::named(&run.text, word, is)).filter_map(link).collect()
    }
}

/// The names and places behind them that a text may be read as: `a.rs:12`, `a.rs:12:5`, `a.rs:12-20`, `a.rs#L12`,
/// `a.rs(12,5)`. A name may have these signs itself.
fn parted(text: &str) -> impl Iterator<Item = (&str, TextPosition)> {
    [by_colon(text), by_hash(text), by_bracket(text)].into_iter().flatten()
}

fn by_colon(text: &str) -> Option<(&str, TextPosition)> {
    let (name, last) = text.trim_end_matches(':').rsplit_once(':')?;
    let last = number(last)?;
    Some(match name.rsplit_once(':').and_then(|(name, line)| Some((name, number(line)?))) {
        Some((name, line)) => (name, TextPosition { line, column: last }),
        None => (name, TextPosition { line: last, column: 1 }),
    })
}

fn by_hash(text: &str) -> Option<(&str, TextPosition)> {
    let (name, place) = text.rsplit_once('#')?;
    Some((name, TextPosition { line: number(place)?, column: 1 }))
}

fn by_bracket(text: &str) -> Option<(&str, TextPosition)> {
    let (name, place) = text.rsplit_once('(')?;
    let (line, column) = place.split_once(',').unwrap_or((place, "1"));
    Some((name, TextPosition { line: number(line)?, column: number(column)? }))
}

/// The number that a text begins with.
fn number(text: &str) -> Option<u32> {
    let digits = text.trim_start_matches('L');
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let files = Files::default();
        let has = |path: &Path| {
            let files =
                ["src/main.rs", "a:7", "Makefile", "app/(auth)/page.ts", "C#/a.cs", "notes (1)"];
            files.iter().any(|file| Path::new(file) == path)
        };
        files.set(Some((PathBuf::from("/home/me/p"), Rc::new(has))));
        files
    }

    fn at(path: &str, line: u32, column: u32) -> FileLocation {
        FileLocation { path: path.into(), place: Some(TextPosition { line, column }) }
    }

    #[test]
    fn names_with_and_without_places_are_found() {
        let files = files();
        let whole = |path: &str| Some(FileLocation { path: path.into(), place: None });
        assert_eq!(files.find("src/main.rs"), whole("src/main.rs"));
        assert_eq!(files.find("./src/main.rs"), whole("src/main.rs"));
        assert_eq!(files.find("/home/me/p/src/main.rs"), whole("src/main.rs"));
        assert_eq!(files.find("a:7"), whole("a:7"));
        assert_eq!(files.find("src/main.rs:12"), Some(at("src/main.rs", 12, 1)));
        assert_eq!(files.find("src/main.rs:12:5"), Some(at("src/main.rs", 12, 5)));
        assert_eq!(files.find("src/main.rs:12-20"), Some(at("src/main.rs", 12, 1)));
        assert_eq!(files.find("src/main.rs#L12-L20"), Some(at("src/main.rs", 12, 1)));
        assert_eq!(files.find("src/main.rs(12,5)"), Some(at("src/main.rs", 12, 5)));
        assert_eq!(files.find(" (src/main.rs#L3)"), Some(at("src/main.rs", 3, 1)));
        assert_eq!(files.find("notes (1)"), whole("notes (1)"));
        for place in [":12:5", "(12,5)"] {
            for name in ["app/(auth)/page.ts", "C#/a.cs", "notes (1)"] {
                assert_eq!(files.find(&format!("{name}{place}")), Some(at(name, 12, 5)));
            }
        }
        assert_eq!(files.find("C#/a.cs#L3"), Some(at("C#/a.cs", 3, 1)));
        assert_eq!(files.find("(app/(auth)/page.ts:3)"), Some(at("app/(auth)/page.ts", 3, 1)));
    }

    #[test]
    fn what_is_no_file_of_the_project_leads_nowhere() {
        let files = files();
        for none in ["", "main.rs", "/etc/passwd", "../p/src/main.rs", "src", "src/main.rs:x", "::"]
        {
            assert_eq!(files.find(none), None, "{none}");
        }
        assert_eq!(Files::default().find("Makefile"), None);
    }

    #[test]
    fn a_link_says_where_it_leads_and_is_found_again() {
        let files = files();
        for text in ["src/main.rs:12:5", "src/main.rs", "Makefile:3", "app/(auth)/page.ts:12"] {
            let link = files.link(text).unwrap();
            assert_eq!(&*link, format!("./{text}"));
            assert_eq!(files.find(&link), files.find(text));
        }
    }
}
