//! Finds files by a few letters of their paths, as editors do: letters in order, not side by side.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nucleo_matcher::{Config, Matcher};

use crate::tree::Paths;
use query::FileQuery;

mod query;

/// Threads that one search has at most: some milliseconds of work are not worth more.
const MOST_THREADS: usize = 4;
/// Paths for which one thread is enough.
const ALONE: usize = 8_192;
/// Paths between two looks at whether the search is still wanted.
const STEP: usize = 1_024;

/// Files that stand before others where nothing else tells them apart, the dearest first: those that are open, then
/// those that were.
#[derive(Clone, Debug, Default)]
pub struct PreferredFiles(Vec<PathBuf>);

impl PreferredFiles {
    /// These, by their paths from the project on.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self(paths)
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.0
    }
}

/// A file or folder that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatch {
    /// Its path from the project on.
    pub path: PathBuf,
    /// The same to be shown: what is not UTF-8 is replaced.
    pub display_path: String,
    /// Which characters of `display_path` were looked for, counted from 0, in order.
    pub positions: Vec<u32>,
}

/// A file that matches: how well, then which stands first among equals.
type Rank = (Reverse<u32>, usize, usize, usize);

/// Finds the `most` best files, or folders, for a query, the best first. Letters are matched in order, large
/// or small; where the query has large ones, names that have just these come before those that match as well without. Words
/// between blanks are looked for one by one; a file's name weighs more than its folders. An empty query finds the favoured
/// ones, then the others in their order. None where it was given up.
pub fn search(
    paths: &Paths,
    query: &str,
    favoured: &PreferredFiles,
    most: usize,
    given_up: &AtomicBool,
) -> Option<Vec<FileMatch>> {
    let wanted = FileQuery::new(query);
    let ranks: HashMap<&Path, usize> =
        favoured.0.iter().enumerate().rev().map(|(rank, path)| (path.as_path(), rank)).collect();
    let threads = if paths.len() < ALONE { 1 } else { available().min(MOST_THREADS) };
    let each = paths.len().div_ceil(threads).max(1);
    let part = |number: usize| {
        let places = number * each..paths.len().min((number + 1) * each);
        best(paths, places, &wanted, &ranks, most, given_up)
    };
    let mut found = std::thread::scope(|scope| {
        let part = &part;
        let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || part(number))).collect();
        let mut found = part(0)?;
        for other in others {
            found.extend(other.join().ok()??);
        }
        Some(found)
    })?;
    found.sort_unstable();
    found.truncate(most);
    let mut matcher = matcher();
    Some(found.into_iter().map(|rank| described(paths, rank.3, &wanted, &mut matcher)).collect())
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

fn matcher() -> Matcher {
    Matcher::new(Config::DEFAULT.match_paths())
}

/// The best among some of the paths, in no order.
fn best(
    paths: &Paths,
    places: std::ops::Range<usize>,
    wanted: &FileQuery,
    ranks: &HashMap<&Path, usize>,
    most: usize,
    given_up: &AtomicBool,
) -> Option<Vec<Rank>> {
    let mut matcher = matcher();
    let mut letters = Vec::new();
    let mut found: Vec<Rank> = Vec::new();
    for place in places {
        if place % STEP == 0 {
            if given_up.load(Ordering::Relaxed) {
                return None;
            }
            // What is surely not among the best need not be kept.
            if found.len() > most.saturating_mul(2).max(STEP) {
                found.select_nth_unstable(most);
                found.truncate(most);
            }
        }
        let has = paths.letters(place);
        if !has.may_have(wanted.letters()) {
            continue;
        }
        let (path, name) = paths.bytes(place);
        let mut score = |text| wanted.score(text, has.are_ascii(), &mut letters, &mut matcher);
        let Some(whole) = score(path) else {
            continue;
        };
        let in_name = score(&path[name..]);
        let rank = if ranks.is_empty() { None } else { ranks.get(paths.get(place)).copied() };
        let length = if wanted.is_anything() { 0 } else { path.len() };
        // What is whole in the name weighs double, and half as much more what a folder begins with.
        let begun = if wanted.begins_part(path) { whole / 2 } else { 0 };
        let score = (whole + begun).max(in_name.map_or(0, |score| score * 2));
        found.push((Reverse(score), rank.unwrap_or(usize::MAX), length, place));
    }
    Some(found)
}

fn described(paths: &Paths, place: usize, wanted: &FileQuery, matcher: &mut Matcher) -> FileMatch {
    let (path, name) = paths.bytes(place);
    let (folders, name) = path.split_at(name);
    let (folders, name) = (String::from_utf8_lossy(folders), String::from_utf8_lossy(name));
    let display_path = format!("{folders}{name}");
    let in_name = wanted.positions(&name, matcher).map(|mut positions| {
        let before = folders.chars().count() as u32;
        for position in &mut positions {
            *position += before;
        }
        positions
    });
    let positions =
        in_name.or_else(|| wanted.positions(&display_path, matcher)).unwrap_or_default();
    FileMatch { path: paths.get(place).to_owned(), display_path, positions }
}

#[cfg(test)]
mod tests;
