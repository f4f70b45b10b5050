//! Matches patterns of paths: globs as in a `.gitignore`, relative to the project, or absolute.
//!
//! - `src/**`, `docs/*.md`: with a slash within, from the project's root on.
//! - `*.rs`: without one, at any depth of the project.
//! - `./Makefile`: just that of the root.
//! - `/etc/hosts`, `~/notes/**`: absolute, or from the home folder on; in the project too.
//!
//! `*` and `?` never cross a slash, `**` does; `[a-z]` and `{a,b}` are choices; a backslash takes a character for
//! itself. What fits a folder fits all that is beneath it. Paths are compared as they really are, after links: a
//! pattern that goes through one fits nothing by itself. Where a rule denies, [`Project::follow_denied`] has it fit
//! what lies behind.
//!
//! [`Project::follow_denied`]: crate::path::Project::follow_denied

use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::InvalidPattern;
use crate::ResolvedPath;

/// Which paths a rule applies to.
#[derive(Clone)]
pub struct PathPattern {
    text: String,
    from: From,
    globs: GlobSet,
    /// The literal path, if it has no wildcards.
    name: Option<PathBuf>,
    /// Its components before the first one with a wildcard.
    beginning: String,
    /// The remaining components, as a glob.
    rest: String,
    /// What else it matches because of links, relative to this real path.
    elsewhere: Option<(PathBuf, GlobSet)>,
}

/// What a pattern is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Project,
    Home,
    Root,
}

impl PathPattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let text = text.trim();
        let (from, rest) = match text {
            "" => return Err(InvalidPattern::Empty),
            "~" => (From::Home, ""),
            _ => match (text.strip_prefix('/'), text.strip_prefix("~/")) {
                (Some(rest), _) => (From::Root, rest),
                (_, Some(rest)) => (From::Home, rest),
                _ => (From::Project, text),
            },
        };
        let bad = |reason: &str| InvalidPattern::Glob {
            pattern: text.to_owned(),
            reason: reason.to_owned(),
        };
        let rooted = from != From::Project || rest == "." || rest.starts_with("./");
        let rest = if rest == "." { "" } else { rest.strip_prefix("./").unwrap_or(rest) };
        let parts: Vec<_> = rest.split('/').filter(|part| !part.is_empty()).collect();
        if parts.iter().any(|part| [".", ".."].contains(part)) {
            return Err(bad("it cannot contain `.` or `..`"));
        }
        if rest.starts_with('!') {
            return Err(bad("it cannot begin with `!`: use a deny rule instead"));
        }
        let anywhere = !rooted && parts.len() == 1;
        let plain: Vec<_> = parts.iter().map_while(|part| literal(part)).collect();
        let (beginning, rest) = (plain.join("/"), parts[plain.len()..].join("/"));
        let before = if anywhere { "**/" } else { "" };
        let globs = globs(before, &parts.join("/")).map_err(|reason| bad(&reason))?;
        let name = (!anywhere && rest.is_empty()).then(|| PathBuf::from(&beginning));
        let text = text.to_owned();
        Ok(Self { text, from, globs, name, beginning, rest, elsewhere: None })
    }

    /// The pattern of exactly this path (and, for a folder, of what is below it); none if its name
    /// is not valid text.
    pub(crate) fn exactly(path: &ResolvedPath) -> Option<Self> {
        let (before, path) = match path.relative() {
            Some(relative) => ("./", relative),
            None => ("", path.real()),
        };
        Self::new(&format!("{before}{}", escaped(path.to_str()?)?)).ok()
    }

    /// The path of its components before the first wildcard, to be resolved.
    pub(crate) fn beginning(&self) -> String {
        let start = match self.from {
            From::Project => "./",
            From::Home => "~/",
            From::Root => "/",
        };
        format!("{start}{}", self.beginning)
    }

    /// The pattern that also matches what is at `end`, where its beginning leads. None if that is
    /// its literal beginning.
    pub(crate) fn leading_to(&self, end: &ResolvedPath) -> Option<Self> {
        if self.relative_to_start(end) == Some(Path::new(&self.beginning)) {
            return None;
        }
        let globs = globs("", &self.rest).ok()?;
        Some(Self { elsewhere: Some((end.real().to_owned(), globs)), ..self.clone() })
    }

    /// Whether the rule applies to this path.
    pub fn matches(&self, path: &ResolvedPath) -> bool {
        let fits = |from: &PathBuf, globs: &GlobSet| {
            path.real().strip_prefix(from).is_ok_and(|beneath| globs.is_match(beneath))
        };
        self.relative_to_start(path).is_some_and(|path| self.globs.is_match(path))
            || self.elsewhere.as_ref().is_some_and(|(from, globs)| fits(from, globs))
    }

    /// Whether the rule may apply to this folder or something in it, judged only by the components
    /// before the first wildcard.
    pub(crate) fn may_fit_beneath(&self, folder: &ResolvedPath) -> bool {
        let meet = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
        let anywhere = self.name.is_none() && self.rest.is_empty();
        let beginning = if anywhere { "" } else { &self.beginning };
        self.relative_to_start(folder).is_some_and(|folder| meet(folder, Path::new(beginning)))
            || self.elsewhere.as_ref().is_some_and(|(from, _)| meet(folder.real(), from))
    }

    /// Whether the rule names this very path literally.
    pub(crate) fn names(&self, path: &ResolvedPath) -> bool {
        self.name.is_some() && self.relative_to_start(path) == self.name.as_deref()
    }

    /// Whether its last component has no wildcards and is this path's name: a rule for everything
    /// in a folder does not include the secrets in it.
    pub(crate) fn names_last(&self, path: &ResolvedPath) -> bool {
        let last = self.text.rsplit('/').next().and_then(literal);
        last.is_some_and(|last| path.real().file_name() == Some(OsStr::new(&last)))
    }

    /// The path relative to where the pattern begins, if it is there.
    fn relative_to_start<'a>(&self, path: &'a ResolvedPath) -> Option<&'a Path> {
        match self.from {
            From::Project => path.relative(),
            From::Home => path.beneath_home(),
            From::Root => path.real().strip_prefix("/").ok(),
        }
    }
}

/// A matcher for `glob` after `before`, and for everything below a matching folder.
fn globs(before: &str, glob: &str) -> Result<GlobSet, String> {
    let between = if glob.is_empty() { "" } else { "/" };
    let mut globs = GlobSetBuilder::new();
    for glob in [format!("{before}{glob}"), format!("{before}{glob}{between}**")] {
        let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
        globs.add(glob.map_err(|error| error.kind().to_string())?);
    }
    globs.build().map_err(|error| error.kind().to_string())
}

/// The literal text of a glob without wildcards.
fn literal(glob: &str) -> Option<String> {
    let mut text = String::with_capacity(glob.len());
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            '*' | '?' | '[' | '{' => return None,
            _ => text.push(letter),
        }
    }
    Some(text)
}

/// The path as a glob that matches nothing else. None if a pattern cannot express it: trailing
/// blanks are lost.
fn escaped(path: &str) -> Option<String> {
    if path.trim() != path {
        return None;
    }
    let mut text = String::with_capacity(path.len());
    for letter in path.chars() {
        if "*?[]{}\\!".contains(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    Some(text)
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PathPattern").field(&self.text).finish()
    }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

impl Hash for PathPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        PathPattern::new(pattern).unwrap().matches(&ResolvedPath::imagined(path))
    }

    #[test]
    fn a_pattern_begins_where_it_says() {
        for (pattern, fitting, other) in [
            ("src/**", "/project/src/a/b", "/project/a/src/b"),
            ("src/*", "/project/src/a", "/project/src2/a"),
            ("*.rs", "/project/a/b.rs", "/elsewhere/b.rs"),
            ("src", "/project/a/src/b", "/project/asrc"),
            ("./src", "/project/src/b", "/project/a/src"),
            ("src/", "/project/a/src/b", "/project/src2"),
            ("a//b", "/project/a/b", "/project/c/a/b"),
            (".", "/project/a", "/project2/a"),
            ("./", "/project", "/"),
            ("**", "/project/a/b", "/project2"),
            ("/etc/hosts", "/etc/hosts", "/project/etc/hosts"),
            ("/etc", "/etc/hosts", "/etc2/hosts"),
            ("/project/a", "/project/a", "/project/b/a"),
            ("/", "/etc/hosts", "relative"),
            ("~/notes", "/home/me/notes/n", "/project/notes/n"),
            ("~", "/home/me/a", "/home/you/a"),
            ("~/*.md", "/home/me/a.md", "/home/me/notes/a.md"),
            ("./a/*", "/project/a/b", "/project/a"),
            ("a?", "/project/ab", "/project/abc"),
            ("[ab]", "/project/a", "/project/c"),
            ("{a,b}.rs", "/project/b.rs", "/project/c.rs"),
            ("\\*", "/project/*", "/project/a"),
        ] {
            assert!(matches(pattern, fitting), "{pattern} and {fitting}");
            assert!(!matches(pattern, other), "{pattern} and {other}");
        }
        // A star does not cross folders, but what matches a folder matches everything below it.
        assert!(matches("src/*", "/project/src/a/b"));
        assert!(!matches("src/*.rs", "/project/src/a/b.rs"));
    }

    #[test]
    fn what_a_pattern_names_it_names_letter_by_letter() {
        let names = |pattern: &str, path: &str| {
            PathPattern::new(pattern).unwrap().names(&ResolvedPath::imagined(path))
        };
        assert!(names("./a", "/project/a"));
        assert!(names("a/b", "/project/a/b"));
        assert!(names("a/\\[b", "/project/a/[b"));
        assert!(names("/etc/hosts", "/etc/hosts"));
        for (pattern, path) in [
            ("a", "/project/a"),
            ("./a", "/project/a/b"),
            ("./a*", "/project/a*"),
            ("./[a]", "/project/[a]"),
            ("./a?", "/project/a?"),
            ("./{a}", "/project/{a}"),
            ("/a", "/b"),
        ] {
            assert!(!names(pattern, path), "{pattern} and {path}");
        }
    }

    #[test]
    fn what_a_pattern_may_fit_in_a_folder_is_told_by_its_beginning() {
        let beneath = |pattern: &str, folder: &str| {
            PathPattern::new(pattern).unwrap().may_fit_beneath(&ResolvedPath::imagined(folder))
        };
        for (pattern, folder) in [
            ("src/keep", "/project/src"),
            ("./src/a/b", "/project/src"),
            ("src/**", "/project/src/a"),
            ("src/*.rs", "/project/src"),
            ("**/keep", "/project/src"),
            ("*/keep", "/project/src"),
            ("keep", "/project/src"),
            ("*.env", "/project/src"),
            ("src/a", "/project/src/a"),
            ("/etc/ssh/key", "/etc"),
            ("/project/src/keep", "/project/src"),
            ("~/notes/a", "/home/me/notes"),
        ] {
            assert!(beneath(pattern, folder), "{pattern} and {folder}");
        }
        for (pattern, folder) in [
            ("src/keep", "/project/docs"),
            ("src/keep", "/project/sr"),
            ("src/**", "/project/src2"),
            ("./keep", "/project/src"),
            ("keep", "/tmp/a"),
            ("/etc/ssh/key", "/project/src"),
            ("~/notes/a", "/home/me/photos"),
        ] {
            assert!(!beneath(pattern, folder), "{pattern} and {folder}");
        }
        let link = PathPattern::new("link/*.key").unwrap();
        let link = link.leading_to(&ResolvedPath::imagined("/project/real/deep")).unwrap();
        assert!(link.may_fit_beneath(&ResolvedPath::imagined("/project/real")));
        assert!(!link.may_fit_beneath(&ResolvedPath::imagined("/project/other")));
    }

    #[test]
    fn the_pattern_of_a_path_is_of_no_other() {
        for real in [
            "/project/a",
            "/project/a b*[x]{y}\\!?",
            "/project/!a",
            "/etc/*",
            "/home/me/a",
            "/project/~/a",
        ] {
            let path = ResolvedPath::imagined(real);
            let pattern = PathPattern::exactly(&path).unwrap();
            assert!(pattern.names(&path), "{pattern}");
            assert_eq!(PathPattern::new(&pattern.to_string()), Ok(pattern.clone()));
            assert!(!pattern.matches(&ResolvedPath::imagined(&format!("{real}x"))), "{pattern}");
        }
        assert_eq!(PathPattern::exactly(&ResolvedPath::imagined("/project/blank ")), None);
        assert_eq!(format!("{:?}", PathPattern::new("a").unwrap()), "PathPattern(\"a\")");
        assert_ne!(PathPattern::new("a"), PathPattern::new("b"));
        let hash = |text: &str| {
            let mut state = std::hash::DefaultHasher::new();
            PathPattern::new(text).unwrap().hash(&mut state);
            state.finish()
        };
        assert_eq!(hash("a"), hash("a"));
        assert_ne!(hash("a"), hash("b"));
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        assert_eq!(PathPattern::new(" "), Err(InvalidPattern::Empty));
        for text in ["../a", "a/../b", "a/./b", "!a", "[a", "{a", "/..", "~/.."] {
            assert!(matches!(PathPattern::new(text), Err(InvalidPattern::Glob { .. })), "{text}");
        }
    }
}
