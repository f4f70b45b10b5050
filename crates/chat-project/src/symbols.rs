//! Finds definitions in a project's files by a part of their names, without an index: the files
//! whose text has these letters at all are few, and only those are parsed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aho_corasick::AhoCorasick;
use chat_outline::{Language, Symbol, outline};
use chat_permission::path::{Project, ResolvedPath};

use crate::search::PreferredFiles;
use crate::tree::Paths;
use crate::{read, text};

/// The largest file that is looked into, in bytes: longer ones are made by programs.
const LONGEST: u64 = 1 << 20;
/// How long is looked: then what was found by now is all.
const LIMIT: Duration = Duration::from_secs(2);
/// More than this many are not gathered, however many fit: the query is too short to mean one of them.
const ENOUGH: usize = 2_000;

/// A definition that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolMatch {
    /// Its file, from the project on.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Its first line and its last, from 1.
    pub lines: (u32, u32),
}

/// How well a name fits: wholly, from its beginning, or in its middle; then the dearest files, then short names.
type Rank = (u8, usize, usize);

/// The `most` best definitions whose names have these letters side by side, large or small, the best first; favoured
/// files come first among equals. Looks into files for two seconds at most. Blocks. None where it was given up; nothing
/// for a query of fewer than two letters, which everything fits.
pub fn symbols(
    project: &Project,
    paths: &Paths,
    query: &str,
    favoured: &PreferredFiles,
    most: usize,
    given_up: &AtomicBool,
) -> Option<Vec<SymbolMatch>> {
    if query.chars().count() < 2 {
        return Some(Vec::new());
    }
    let letters = AhoCorasick::builder().ascii_case_insensitive(true).build([query]).ok()?;
    let begun = Instant::now();
    let mut found: Vec<(Rank, SymbolMatch)> = Vec::new();
    let favoured = favoured.paths();
    let others = (0..paths.len()).map(|place| paths.get(place));
    let dear: HashSet<&Path> = favoured.iter().map(PathBuf::as_path).collect();
    let others = others.filter(|path| dear.is_empty() || !dear.contains(path));
    for (place, path) in favoured.iter().map(PathBuf::as_path).chain(others).enumerate() {
        if given_up.load(Ordering::Relaxed) {
            return None;
        }
        if found.len() >= ENOUGH || begun.elapsed() > LIMIT {
            break;
        }
        let dear = place.min(favoured.len());
        for symbol in defined(project, path, &letters).unwrap_or_default() {
            if let Some(fit) = fit(&symbol.name, query) {
                let Symbol { name, lines, .. } = symbol;
                let rank = (fit, dear, name.len());
                found.push((rank, SymbolMatch { path: path.to_owned(), name, lines }));
            }
        }
    }
    // Equals stay in the order of the files.
    found.sort_by_key(|(rank, _)| *rank);
    found.truncate(most);
    Some(found.into_iter().map(|(_, found)| found).collect())
}

/// What a file defines, where its text has the letters at all.
fn defined(project: &Project, path: &Path, letters: &AhoCorasick) -> Option<Vec<Symbol>> {
    let language = Language::of(path, "")?;
    let resolved = project.resolve(path.to_str()?).ok().filter(ResolvedPath::is_inside)?;
    outlined(project, &resolved, language, |bytes| letters.is_match(bytes))
}

/// Where a file defines something of this name by now, the first lines and the last, from 1. None where that cannot be
/// found out. Blocks.
pub fn definition_lines(
    project: &Project,
    file: &ResolvedPath,
    name: &str,
) -> Option<Vec<(u32, u32)>> {
    let language = Language::of(file.relative()?, "")?;
    let symbols = outlined(project, file, language, |_| true)?;
    let called = symbols.into_iter().filter(|symbol| symbol.name == name);
    Some(called.map(|symbol| symbol.lines).collect())
}

fn outlined(
    project: &Project,
    file: &ResolvedPath,
    language: Language,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Option<Vec<Symbol>> {
    let file = project.open_file(file).ok()?;
    let (bytes, is_more) = read::at_most(&file, LONGEST).ok()?;
    if is_more || !is_wanted(&bytes) {
        return None;
    }
    let (text, _) = text::decode(&bytes)?;
    outline(language, &text).ok()
}

/// How well a name fits; none where it does not.
fn fit(name: &str, query: &str) -> Option<u8> {
    let (name, query) = (name.to_lowercase(), query.to_lowercase());
    match name.find(&query)? {
        _ if name == query => Some(0),
        0 => Some(1),
        _ => Some(2),
    }
}

#[cfg(test)]
mod tests {
    use chat_permission::path::PathEnvironment;

    use super::*;
    use crate::tree::walk;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        (folder, project)
    }

    fn names(project: &Project, query: &str, favoured: &[&str]) -> Vec<String> {
        let given_up = AtomicBool::new(false);
        let tree = walk(project, &given_up, drop).unwrap().unwrap();
        let favoured = PreferredFiles::new(favoured.iter().map(PathBuf::from).collect());
        let found = symbols(project, tree.paths(), query, &favoured, 10, &given_up).unwrap();
        let told = |found: SymbolMatch| {
            format!("{} {}:{}", found.name, found.path.display(), found.lines.0)
        };
        found.into_iter().map(told).collect()
    }

    #[test]
    fn definitions_are_found_by_a_part_of_their_name_the_best_first() {
        let (_folder, project) = project(&[
            ("a.rs", "fn reparse() {}\nfn parse_line() {\n    parse();\n}\n"),
            ("src/b.py", "\ndef Parse():\n    pass\n"),
            ("notes.txt", "parse"),
            (".gitignore", "built\n"),
            ("built/c.rs", "fn parse() {}"),
        ]);
        assert_eq!(
            names(&project, "parse", &[]),
            ["Parse src/b.py:2", "parse_line a.rs:2", "reparse a.rs:1"]
        );
        assert!(names(&project, "p", &[]).is_empty(), "everything fits one letter");
        assert!(names(&project, "call", &[]).is_empty());
    }

    #[test]
    fn what_is_open_comes_first_among_equals() {
        let (_folder, project) = project(&[("a.rs", "fn run() {}"), ("b.rs", "fn run() {}")]);
        assert_eq!(names(&project, "run", &["b.rs"]), ["run b.rs:1", "run a.rs:1"]);
    }

    #[test]
    fn a_search_that_is_given_up_says_nothing() {
        let (_folder, project) = project(&[("a.rs", "fn run() {}")]);
        let tree = walk(&project, &AtomicBool::new(false), drop).unwrap().unwrap();
        let given_up = AtomicBool::new(true);
        let found =
            symbols(&project, tree.paths(), "run", &PreferredFiles::default(), 10, &given_up);
        assert_eq!(found, None);
    }
}
