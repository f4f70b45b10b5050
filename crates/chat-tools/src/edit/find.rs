//! Finds a text in another: exactly, or as close a match as there is.

use std::borrow::Cow;
use std::collections::HashMap;

use super::indentation::{self, Shift};
use super::lines::{Line, Lines, is_blank, trimmed};
use super::quotes::plain;

/// What may differ, or did, between the given text and the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// Blanks at the ends of lines, and the newline at the end of the text.
    pub trailing: bool,
    /// Typographic quotes for plain ones.
    pub quotes: bool,
    /// The depth of the indentation; the steps between lines are the same.
    pub indentation: bool,
}

impl Tolerance {
    const EXACT: Self = Self { trailing: false, quotes: false, indentation: false };
    const TRAILING: Self = Self { trailing: true, ..Self::EXACT };
    const QUOTES: Self = Self { quotes: true, ..Self::TRAILING };
    const INDENTATION: Self = Self { indentation: true, ..Self::TRAILING };
    const BOTH: Self = Self { quotes: true, ..Self::INDENTATION };
}

/// A match of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its start, in bytes.
    pub start: usize,
    /// Its end.
    pub end: usize,
    /// Its first line, from 0.
    pub first: usize,
    /// Whether the text ended before the last newline that was given.
    pub at_end: bool,
    /// What differs.
    pub tolerance: Tolerance,
    /// How the indentation differs.
    pub shift: Option<Shift>,
}

/// The closest matches of a text, given as its lines. If several kinds of difference are equally
/// close, the matches of all of them. The search stops after `most` matches of a kind.
pub fn find(lines: &Lines, pieces: &[&str], most: usize) -> Vec<Occurrence> {
    let given = Sides::new(lines, pieces, Cow::Borrowed);
    let exact = given.search(Tolerance::EXACT, most);
    if !exact.is_empty() || pieces.iter().all(|piece| is_blank(piece)) {
        return exact;
    }
    let trailing = given.search(Tolerance::TRAILING, most);
    if !trailing.is_empty() {
        return trailing;
    }
    let folded = Sides::new(lines, pieces, plain);
    let mut places = folded.search(Tolerance::QUOTES, most);
    places.extend(given.search(Tolerance::INDENTATION, most));
    if places.is_empty() {
        places = folded.search(Tolerance::BOTH, most);
    }
    places.sort_by_key(|place| place.start);
    places
}

/// The text to find and the text to search: unchanged, or with quotes folded, which keeps the
/// number of characters but not that of bytes.
struct Sides<'a> {
    lines: &'a Lines<'a>,
    pieces: Vec<Cow<'a, str>>,
    texts: Vec<Cow<'a, str>>,
    /// The lines where a match may begin.
    candidates: Vec<usize>,
}

impl<'a> Sides<'a> {
    fn new(lines: &'a Lines, pieces: &[&'a str], fold: fn(&'a str) -> Cow<'a, str>) -> Self {
        let pieces: Vec<_> = pieces.iter().map(|piece| fold(piece)).collect();
        let texts: Vec<_> = lines.all.iter().map(|line| fold(line.text)).collect();
        let candidates = candidates(&pieces, &texts);
        Self { lines, pieces, texts, candidates }
    }

    /// The first matches with at most these differences; they may overlap.
    fn search(&self, tolerance: Tolerance, most: usize) -> Vec<Occurrence> {
        let search = Search { sides: self, tolerance };
        let mut places = Vec::new();
        for &first in &self.candidates {
            match (tolerance.indentation, &self.pieces[..]) {
                (true, _) => places.extend(search.shifted(first).filter(|it| search.keeps(it))),
                (false, [piece]) => search.within(first, piece, most, &mut places),
                (false, _) => places.extend(search.across(first).filter(|it| search.keeps(it))),
            }
            if places.len() >= most {
                break;
            }
        }
        places
    }
}

/// The lines where a match may begin, found by the rarest of the inner lines, all of which must
/// match whole. Otherwise many similar lines would be compared again at each of them.
fn candidates(pieces: &[Cow<str>], texts: &[Cow<str>]) -> Vec<usize> {
    let inner = || pieces.iter().enumerate().take(pieces.len() - 1).skip(1);
    let mut places: HashMap<&str, Vec<usize>> =
        inner().map(|(_, piece)| (bare(piece), Vec::new())).collect();
    if places.is_empty() {
        return (0..texts.len()).collect();
    }
    for (line, text) in texts.iter().enumerate() {
        if let Some(places) = places.get_mut(bare(text)) {
            places.push(line);
        }
    }
    let rarest = inner().min_by_key(|(_, piece)| places[bare(piece)].len());
    let begins = |(number, piece): (usize, &Cow<str>)| {
        let places = places[bare(piece)].iter();
        places.filter_map(|line| line.checked_sub(number)).collect()
    };
    rarest.map(begins).unwrap_or_default()
}

/// A line without leading and trailing blanks.
fn bare(line: &str) -> &str {
    line.trim_matches([' ', '\t'])
}

/// A search with certain differences.
struct Search<'a> {
    sides: &'a Sides<'a>,
    tolerance: Tolerance,
}

impl Search<'_> {
    /// The matches of a single piece within a line, up to this total number.
    fn within(&self, first: usize, piece: &str, most: usize, places: &mut Vec<Occurrence>) {
        let text = &*self.sides.texts[first];
        let bare = trimmed(piece);
        if self.tolerance.trailing && bare.len() < piece.len() {
            // If blanks were given at its end, it must end where the line does.
            let start = trimmed(text).strip_suffix(bare).map(str::len);
            let end = self.original(first, text.len());
            let place = start.map(|start| self.occurrence(first, start, end, false));
            places.extend(place.filter(|place| self.keeps(place)));
            return;
        }
        // Overlapping matches count too, since it is unknown which one is meant.
        let (mut begun, mut ended, mut from) = (Mark::default(), Mark::default(), 0);
        while places.len() < most
            && let Some(at) = text[from..].find(piece)
        {
            let start = from + at;
            begun = self.mark(first, start, begun);
            ended = self.mark(first, start + piece.len(), ended);
            let line = self.sides.lines.all[first].start;
            let place = Occurrence {
                start: line + begun.original,
                end: line + ended.original,
                first,
                at_end: false,
                tolerance: self.tolerance,
                shift: None,
            };
            places.extend(Some(place).filter(|place| self.keeps(place)));
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
    }

    /// A part of a word matches only if it was given exactly.
    fn keeps(&self, place: &Occurrence) -> bool {
        self.tolerance == Tolerance::EXACT || self.splits_no_word(place)
    }

    /// The match of several pieces that begins on a line: the first piece ends that line, the last
    /// one begins the last line.
    fn across(&self, first: usize) -> Option<Occurrence> {
        let last = self.sides.pieces.len() - 1;
        let bare =
            |text: &'_ str| if self.tolerance.trailing { trimmed(text).len() } else { text.len() };
        let same = |line: usize, piece: &str| {
            let text = &self.sides.texts[line];
            text[..bare(text)] == piece[..bare(piece)]
        };
        let (text, piece) = (&self.sides.texts[first], &self.sides.pieces[0]);
        let start = text[..bare(text)].strip_suffix(&piece[..bare(piece)])?.len();
        for number in 1..last {
            let line = first + number;
            if line >= self.sides.texts.len() || !same(line, &self.sides.pieces[number]) {
                return None;
            }
        }
        let (line, piece) = (first + last, &self.sides.pieces[last]);
        let Some(text) = self.sides.texts.get(line) else {
            // The given final newline is missing, since the text ends before it.
            let at_end =
                self.tolerance.trailing && line == self.sides.texts.len() && is_blank(piece);
            let end = self.sides.lines.all[line - 1].end();
            return at_end.then(|| self.occurrence(first, start, end, true));
        };
        let end = if self.tolerance.trailing && !is_blank(piece) && same(line, piece) {
            text.len()
        } else if text.starts_with(&**piece) {
            piece.len()
        } else {
            return None;
        };
        Some(self.occurrence(first, start, self.original(line, end), false))
    }

    /// The match of whole lines that begins on a line, whatever their indentation.
    fn shifted(&self, first: usize) -> Option<Occurrence> {
        let last = self.sides.pieces.len() - 1;
        // A newline at the beginning or the end of the given text belongs to the neighbouring line.
        let begins_behind = last > 0 && self.sides.pieces[0].is_empty();
        let ends_before = last > 0 && is_blank(&self.sides.pieces[last]);
        let whole = usize::from(begins_behind)..self.sides.pieces.len() - usize::from(ends_before);
        let mut pairs = Vec::new();
        for number in whole {
            let (text, piece) = (self.sides.texts.get(first + number)?, &self.sides.pieces[number]);
            if text.trim_matches([' ', '\t']) != piece.trim_matches([' ', '\t']) {
                return None;
            }
            if !is_blank(piece) {
                pairs.push((&**piece, &**text));
            }
        }
        let start = if begins_behind { self.sides.texts[first].len() } else { 0 };
        let line = first + last;
        let (end, at_end) = match self.sides.lines.all.get(line) {
            Some(_) if ends_before && !self.sides.pieces[last].is_empty() => return None,
            Some(line) => (if ends_before { line.start } else { line.end() }, false),
            None => (self.sides.lines.all[line - 1].end(), true),
        };
        let shift = indentation::shift(&pairs)?;
        Some(Occurrence { shift: Some(shift), ..self.occurrence(first, start, end, at_end) })
    }

    fn occurrence(&self, first: usize, start: usize, end: usize, at_end: bool) -> Occurrence {
        let start = self.original(first, start);
        Occurrence { start, end, first, at_end, tolerance: self.tolerance, shift: None }
    }

    /// The position in the text for a position in a folded line.
    fn original(&self, line: usize, at: usize) -> usize {
        self.sides.lines.all[line].start + self.mark(line, at, Mark::default()).original
    }

    /// The same within the line, counted from an earlier position.
    fn mark(&self, line: usize, at: usize, from: Mark) -> Mark {
        let original = match &self.sides.texts[line] {
            // Nothing was folded.
            Cow::Borrowed(_) => at,
            Cow::Owned(folded) => {
                let characters = folded[from.folded..at].chars().count();
                let rest = &self.sides.lines.all[line].text[from.original..];
                let more = rest.char_indices().nth(characters);
                from.original + more.map_or(rest.len(), |(more, _)| more)
            }
        };
        Mark { folded: at, original }
    }

    /// Whether a match begins and ends at word boundaries.
    fn splits_no_word(&self, place: &Occurrence) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let splits = |line: &Line, at: usize| {
            let (before, after) = line.text.split_at(at - line.start);
            before.chars().next_back().is_some_and(is_word)
                && after.chars().next().is_some_and(is_word)
        };
        let all = &self.sides.lines.all;
        let last = all.partition_point(|line| line.start <= place.end) - 1;
        !splits(&all[place.first], place.start) && !splits(&all[last], place.end)
    }
}

/// The same position in a folded line and in the original, in bytes from the start of each.
#[derive(Clone, Copy, Default)]
struct Mark {
    folded: usize,
    original: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a text is found in another one, and what differs.
    fn found(content: &str, old: &str) -> Vec<(usize, usize, Tolerance)> {
        let pieces: Vec<&str> = old.split('\n').collect();
        let places = find(&Lines::new(content), &pieces, usize::MAX);
        places.into_iter().map(|place| (place.start, place.end, place.tolerance)).collect()
    }

    #[test]
    fn the_exact_text_comes_before_all_that_is_near() {
        assert_eq!(found("a “b”\na \"b\"\n", "a \"b\""), [(10, 15, Tolerance::EXACT)]);
        assert_eq!(found("x  \nx\n", "x\n"), [(4, 6, Tolerance::EXACT)]);
    }

    #[test]
    fn places_that_overlap_are_several() {
        assert_eq!(found("aaa", "aa").len(), 2);
        assert_eq!(found("é“é", "é").len(), 2);
    }

    #[test]
    fn trailing_blanks_may_differ_on_either_side() {
        assert_eq!(found("if a:  \n  b\n", "if a:\n  b"), [(0, 11, Tolerance::TRAILING)]);
        assert_eq!(found("if a:\n  b\n", "if a: \n  b  "), [(0, 9, Tolerance::TRAILING)]);
        assert_eq!(found("foo  \n", "foo\t"), [(0, 5, Tolerance::TRAILING)]);
        assert_eq!(found("foobar\n", "foo "), []);
    }

    #[test]
    fn a_newline_that_the_text_does_not_end_with_may_be_given() {
        assert_eq!(found("a\nb", "b\n"), [(2, 3, Tolerance::TRAILING)]);
        assert_eq!(found("a\nb", "a\nb\n\n"), []);
    }

    #[test]
    fn quotes_are_folded_without_losing_the_place() {
        assert_eq!(found("ä “b” c", "\"b\" c"), [(3, 12, Tolerance::QUOTES)]);
        assert_eq!(found("“a”\n„a“\n", "\"a\"").len(), 2);
        assert_eq!(found("a “b” c d", "\"b\" c"), [(2, 11, Tolerance::QUOTES)]);
        let all = Tolerance { trailing: true, quotes: true, indentation: true };
        assert_eq!(found("\t“a”\n\tb\n", "  \"a\"\n  b"), [(0, 11, all)], "and all of it is said");
    }

    #[test]
    fn indentation_and_quotes_are_equally_near() {
        let content = "f(“a”);\ng();\n\n\tf(\"a\");\n\tg();\n";
        assert_eq!(found(content, "f(\"a\");\ng();").len(), 2);
    }

    #[test]
    fn a_newline_that_was_given_first_belongs_to_the_line_before() {
        let all = Tolerance::INDENTATION;
        assert_eq!(found("x\n\ta\n\tb\n", "\n  a\n  b"), [(1, 7, all)]);
        assert_eq!(found("x\n\ta\n\tb\n", "\n  a\n  b\n"), [(1, 8, all)]);
        assert_eq!(found("\ta\n\tb\n", "\n  a\n  b"), []);
        // Blanks after the last newline may belong to the next line, whose depth is then unknown.
        assert_eq!(found("\ta\n\tb\nc\n", "  a\n  b\n  "), []);
    }

    #[test]
    fn half_a_word_is_found_only_exactly() {
        assert_eq!(found("max = 1\ny = 2\n", "x = 1\ny = 2").len(), 1);
        assert_eq!(found("max = 1 \ny = 2\n", "x = 1\ny = 2"), []);
        assert_eq!(found("x = 1 \ny = 22\n", "x = 1\ny = 2"), []);
        assert_eq!(found("x = 1 \ny = 2\n", "x = 1\ny = 2").len(), 1);
    }

    #[test]
    fn where_something_may_begin_is_told_by_its_rarest_line() {
        let lines = |text: &'static str| text.split('\n').map(Cow::from).collect::<Vec<_>>();
        let texts = lines("a\n a\na\n\tb \na\nb");
        assert_eq!(candidates(&lines("a\na\nb\na"), &texts), [1, 3]);
        assert_eq!(candidates(&lines("a\nc\nb"), &texts), [0; 0]);
        assert_eq!(candidates(&lines("a\nb"), &texts), [0, 1, 2, 3, 4, 5]);
        assert_eq!(candidates(&lines("b\na\n"), &texts), [0, 1, 3]);
    }

    #[test]
    fn blanks_alone_are_found_only_exactly() {
        assert_eq!(found("a\n\tb\n", "    "), []);
        assert_eq!(found("a\n\n\tb\n", "  \n  \n"), []);
    }
}
