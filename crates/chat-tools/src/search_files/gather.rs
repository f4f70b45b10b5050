//! Collects the matching lines from many files at once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use globset::GlobMatcher;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use crate::walk::{FileType, Skipped, WalkRoot};

/// After this many matching lines a search ends: no model reads more.
pub const MATCHES: usize = 10_000;
/// How many characters of a line are kept around the match.
const LINE: usize = 400;
/// The number of search threads; more do not make it faster, as ripgrep's author measured.
const THREADS: usize = 12;

/// How many files wait for a thread.
const WAITING: usize = 256;
/// The memory for one line and its context, in bytes: a file may be a single line of any length.
const HEAP: usize = 8 << 20;

/// What to search for.
pub struct Search {
    pub matcher: RegexMatcher,
    pub glob: Option<GlobMatcher>,
    /// The number of context lines.
    pub around: usize,
}

/// The results.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The lines of each file, matches and their context.
    pub files: BTreeMap<String, Vec<Line>>,
    /// Whether the search ended before everything was searched.
    pub is_cut: bool,
    /// Files with several hard links, which were not read.
    pub several_links: usize,
    /// Files that were not searched to their end: a line is too long, or the disk cannot be read.
    pub unfinished: usize,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its text, shortened if it is long.
    pub text: String,
    /// Whether it matches, rather than being context.
    pub is_match: bool,
}

impl Gathered {
    /// How many lines match.
    pub fn matches(&self) -> u64 {
        self.files.values().flatten().filter(|line| line.is_match).count() as u64
    }
}

impl Search {
    /// Searches a file.
    pub fn file(&self, file: &File, shown: String, given_up: &AtomicBool) -> Gathered {
        let all = All::new(given_up);
        all.search(&mut self.searcher(), &self.matcher, file, || shown);
        all.gathered()
    }

    /// Searches all files of a folder.
    pub fn folder(&self, beneath: &WalkRoot, given_up: &AtomicBool) -> Gathered {
        let all = All::new(given_up);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        std::thread::scope(|scope| {
            let (paths, taken) = sync_channel::<PathBuf>(WAITING);
            // It is dropped with the last thread, so that nothing waits to send one more file.
            let taken = Arc::new(Mutex::new(taken));
            for _ in 0..threads {
                let (taken, all) = (Arc::clone(&taken), &all);
                scope.spawn(move || {
                    let mut searcher = self.searcher();
                    let next = || taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    while let Ok(path) = next() {
                        if !all.is_over() {
                            self.one(&mut searcher, beneath, &path, all);
                        }
                    }
                });
            }
            drop(taken);
            beneath.walk(None, given_up, |entry| {
                let is_wanted = entry.kind == FileType::RegularFile
                    && self.glob.as_ref().is_none_or(|glob| glob.is_match(entry.path));
                if all.is_over() || is_wanted && paths.send(entry.path.to_owned()).is_err() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            drop(paths);
        });
        all.gathered()
    }

    fn one(&self, searcher: &mut Searcher, beneath: &WalkRoot, path: &Path, all: &All<'_>) {
        match beneath.open(path) {
            Ok(file) => all.search(searcher, &self.matcher, &file, || beneath.display_name(path)),
            Err(Skipped::SeveralLinks) => {
                all.several_links.fetch_add(1, Ordering::Relaxed);
            }
            Err(Skipped::Other) => {}
        }
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.around)
            .after_context(self.around)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP))
            .build()
    }
}

/// The results of all threads.
struct All<'a> {
    files: Mutex<BTreeMap<String, Vec<Line>>>,
    matches: AtomicUsize,
    several_links: AtomicUsize,
    unfinished: AtomicUsize,
    given_up: &'a AtomicBool,
}

impl<'a> All<'a> {
    fn new(given_up: &'a AtomicBool) -> Self {
        Self {
            files: Mutex::default(),
            matches: AtomicUsize::new(0),
            several_links: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(0),
            given_up,
        }
    }

    fn is_over(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) || self.matches.load(Ordering::Relaxed) >= MATCHES
    }

    fn search(
        &self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        file: &File,
        name: impl FnOnce() -> String,
    ) {
        let mut found = InFile { all: self, matcher, lines: Vec::new(), is_binary: false };
        if searcher.search_file(matcher, file, &mut found).is_err() {
            // The matches found before stay.
            self.unfinished.fetch_add(1, Ordering::Relaxed);
        }
        let InFile { lines, is_binary, .. } = found;
        if !lines.is_empty() && !is_binary {
            self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(name(), lines);
        }
    }

    fn gathered(self) -> Gathered {
        Gathered {
            is_cut: self.matches.load(Ordering::Relaxed) >= MATCHES,
            files: self.files.into_inner().unwrap_or_else(PoisonError::into_inner),
            several_links: self.several_links.into_inner(),
            unfinished: self.unfinished.into_inner(),
        }
    }
}

/// The results in one file.
struct InFile<'a> {
    all: &'a All<'a>,
    matcher: &'a RegexMatcher,
    lines: Vec<Line>,
    is_binary: bool,
}

impl Sink for InFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let at = self.matcher.find(found.bytes()).ok().flatten().map_or(0, |found| found.start());
        let number = found.line_number().unwrap_or_default();
        self.lines.push(Line { number, text: cut(found.bytes(), at), is_match: true });
        self.all.matches.fetch_add(1, Ordering::Relaxed);
        Ok(!self.all.is_over())
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = found.line_number().unwrap_or_default();
        self.lines.push(Line { number, text: cut(found.bytes(), 0), is_match: false });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.is_binary = true;
        Ok(false)
    }
}

/// A line without its ending; of a long one, the part around its match.
fn cut(line: &[u8], at: usize) -> String {
    let end =
        line.len() - line.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let line = &line[..end];
    if line.len() <= LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = at.min(end).saturating_sub(LINE / 4);
    let to = (from + LINE).min(end);
    // A character that is cut at either end is left out.
    let is_inside = |byte: &u8| (0x80..0xc0).contains(byte);
    let from = from
        + if from == 0 {
            0
        } else {
            line[from..to].iter().take(3).take_while(|byte| is_inside(byte)).count()
        };
    let shown = String::from_utf8_lossy(&line[from..to]);
    let shown = shown.trim_end_matches('\u{fffd}');
    let (before, after) = (if from > 0 { "… " } else { "" }, if to < end { " …" } else { "" });
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_round_its_match() {
        let line = format!("{}needle{}\r\n", "ä".repeat(1000), "b".repeat(1000));
        let text = cut(line.as_bytes(), 2000);
        assert!(
            text.starts_with("… ä") && text.ends_with("b …") && text.contains("needle"),
            "{text}"
        );
        assert!(!text.contains('\u{fffd}'), "{text}");
        assert_eq!(cut(b"short\r\n", 2), "short");
        assert!(cut("€".repeat(300).as_bytes(), 0).starts_with('€'));
    }
}
