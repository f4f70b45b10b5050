//! Parses a search query, and finds where a text matches it.

use std::ops::Range;

use crate::store::pattern::{Pattern, TRIGRAM};
use crate::store::words;

/// How much stands on either side of a hit, in characters: two lines of a narrow list.
const AROUND: usize = 50;

/// How much of what was typed is looked for: the rest of a pasted text is cut off.
const MOST_CHARACTERS: usize = 1_000;
const MOST_WORDS: usize = 32;

/// How many letters a word of a query has so that the index of words is asked for longer ones, too,
/// that begin with it. Two letters begin very many words: these are asked for only behind the
/// words that are no longer.
const OPEN: usize = 3;
const OPEN_LAST: usize = 2;
const NEVER_OPEN: usize = usize::MAX;

/// How a text must have the short words of a query. Longer ones are found within words in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// As words of their own.
    Words,
    /// At the beginnings of words; a single character as a word of its own.
    Beginnings,
    /// Anywhere.
    Parts,
}

/// What a person looks for: all its words must stand in one title or one message.
pub(super) struct Query {
    words: Vec<Pattern>,
    /// What the index of parts is asked for; none where all is too short for it.
    pub(super) parts: Option<String>,
    /// All of it as it was typed, where the words one by one are too short to be proved by the
    /// index of parts.
    pub(super) phrase: Option<String>,
    /// What the index of words is asked for; none where nothing in it is a word.
    pub(super) whole: Option<String>,
    /// The same without longer words that begin so: there it finds one chat's messages fast.
    pub(super) exact: Option<String>,
    /// The same with longer words that begin with two letters, where that is something else.
    pub(super) beginnings: Option<String>,
    /// Whether only a part of what was typed is looked for.
    pub(super) is_cut: bool,
}

impl Query {
    pub(super) fn new(text: &str) -> Self {
        // SQLite takes a NUL for the end of a text.
        let (text, cut) = beginning(text);
        let text = text.replace('\0', " ");
        let mut rest = text.split_whitespace();
        let words: Vec<&str> = rest.by_ref().take(MOST_WORDS).collect();
        let is_cut = cut || rest.next().is_some();
        let long = |word: &&str| word.chars().count() >= TRIGRAM;
        let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
        let mut parts: Vec<String> = words.iter().copied().filter(long).map(quoted).collect();
        let typed = words.join(" ");
        let has_short = parts.len() < words.len();
        let phrase = (has_short && long(&typed.as_str())).then(|| quoted(&typed));
        if parts.is_empty() && long(&typed.as_str()) {
            parts.push(quoted(&typed));
        }
        let terms = |open_from| {
            let terms = words.iter().flat_map(|word| words::terms(word, open_from));
            all_of(&terms.collect::<Vec<_>>())
        };
        let whole = terms(OPEN);
        let beginnings =
            terms(OPEN_LAST).filter(|terms| has_short && whole.as_ref() != Some(terms));
        Self {
            words: words.iter().filter_map(|word| Pattern::new(word)).collect(),
            parts: all_of(&parts),
            phrase,
            whole,
            exact: terms(NEVER_OPEN),
            beginnings,
            is_cut,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether some word is too short for the index of parts.
    pub(super) fn has_short_words(&self) -> bool {
        self.words.iter().any(Pattern::is_short)
    }

    /// Whether it is a single letter, which is found only where it is a word.
    pub(super) fn is_one_letter(&self) -> bool {
        matches!(&self.words[..], [word] if word.is_one_letter())
    }

    /// Whether it is signs alone that neither index knows, like `->`.
    pub(super) fn is_short_signs(&self) -> bool {
        self.whole.is_none() && self.words.iter().all(Pattern::is_short)
    }

    /// Where the words stand in a text: the bytes of the first one's first place. None where one
    /// of them is missing.
    pub(super) fn find(&self, text: &str, fit: Fit) -> Option<usize> {
        let place = |word| matches(word, text, fit).next().map(|place| place.start);
        let places: Option<Vec<usize>> = self.words.iter().map(place).collect();
        places?.first().copied()
    }

    /// All places of the words in a text, in order; those of short words as `fit` says, where there
    /// are any.
    pub(super) fn matches(&self, text: &str, fit: Fit) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> =
            self.words.iter().flat_map(|word| matches(word, text, fit)).collect();
        all.sort_unstable_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut end = 0;
        all.retain(|place| {
            let apart = place.start >= end;
            end = end.max(place.end);
            apart
        });
        all
    }
}

fn matches(word: &Pattern, text: &str, fit: Fit) -> impl Iterator<Item = Range<usize>> {
    let fits = move |place: &Range<usize>| match fit {
        Fit::Words => word.is_meant(text, place),
        Fit::Beginnings => word.begins_word(text, place),
        Fit::Parts => true,
    };
    word.find(text).into_iter().filter(fits)
}

/// As much of a text as is looked for, and whether there is more. A word that would be cut in two is
/// left out, unless it is the only one.
fn beginning(text: &str) -> (&str, bool) {
    let text = text.trim();
    let Some((end, next)) = text.char_indices().nth(MOST_CHARACTERS) else { return (text, false) };
    let cut = &text[..end];
    let cut = match cut.rfind(char::is_whitespace) {
        Some(space) if !next.is_whitespace() => &cut[..space],
        _ => cut,
    };
    (cut, true)
}

fn all_of(terms: &[String]) -> Option<String> {
    (!terms.is_empty()).then(|| terms.join(" AND "))
}

/// A piece of the text round this byte, on one line.
pub(super) fn excerpt(text: &str, at: usize) -> String {
    let start = text[..at].char_indices().rev().nth(AROUND - 1).map_or(0, |(i, _)| i);
    let end = text[at..].char_indices().nth(2 * AROUND).map_or(text.len(), |(i, _)| at + i);
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(query: &str, text: &str, fit: Fit) -> bool {
        Query::new(query).find(text, fit).is_some()
    }

    #[test]
    fn an_excerpt_stands_round_the_hit_on_one_line() {
        let text = format!("{}\n\nthe   needle\n{}", "before ".repeat(30), "after ".repeat(30));
        let at = Query::new("NEEDLE").find(&text, Fit::Words).unwrap();
        let excerpt = excerpt(&text, at);
        assert!(excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
        assert!(excerpt.contains("before the needle after"), "{excerpt}");
        assert!(excerpt.chars().count() <= 3 * AROUND + 2, "{excerpt}");
    }

    #[test]
    fn an_excerpt_of_a_short_text_is_the_text() {
        let at = Query::new("模型").find("本地模型很好", Fit::Words).unwrap();
        assert_eq!(excerpt("本地模型很好", at), "本地模型很好");
    }

    #[test]
    fn all_words_must_stand_there() {
        assert!(finds("fn main", "pub fn run() { main() }", Fit::Words));
        assert!(!finds("fn main", "the main road", Fit::Parts));
        assert!(finds("straẞe", "Die Straße", Fit::Words));
        assert!(finds("cafe", "Das Café", Fit::Words));
    }

    #[test]
    fn short_words_stand_alone_or_within_others() {
        for text in ["Go", "in Go.", "go语言", "a-go", "G\u{308}o!"] {
            assert!(finds("go", text, Fit::Words), "{text}");
        }
        for text in ["ago", "good", "cargo go_mod2go", "7go"] {
            assert_eq!(finds("go", text, Fit::Words), text.contains("go_"), "{text}");
            assert!(finds("go", text, Fit::Parts), "{text}");
        }
        for (text, begins) in [("good", true), ("a cargo_goal", true), ("ago", false)] {
            assert_eq!(finds("go", text, Fit::Beginnings), begins, "{text}");
        }
        assert!(!finds("g", "good", Fit::Beginnings) && finds("g", "a g!", Fit::Beginnings));
        assert!(finds("京", "東京都", Fit::Words));
        assert!(finds("c#", "C# and F#", Fit::Words));
        assert!(!finds("7", "17 or 70", Fit::Words));
        assert!(finds("é", "e\u{301} alone", Fit::Words));
        assert!(!finds("e", "e\u{301}a", Fit::Words));
    }

    #[test]
    fn places_are_told_once_and_in_order() {
        let found = |query, text: &str| {
            let places = Query::new(query).matches(text, Fit::Words);
            places.into_iter().map(|place| text[place].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("cafe go", "Go to the Café, ago"), ["Go", "Café"]);
        assert_eq!(found("needle need", "a needle"), ["needle"]);
    }

    #[test]
    fn no_more_is_looked_for_than_a_person_types() {
        let counts = |text: &str| {
            let query = Query::new(text);
            (query.words.len(), query.parts.unwrap_or_default().len())
        };
        assert_eq!(counts(&"word ".repeat(1_000_000)).0, MOST_WORDS);
        // A half word would find other texts than the whole one.
        let long = format!("{} {}", "x".repeat(MOST_CHARACTERS - 3), "y".repeat(9));
        assert_eq!(counts(&long), (1, MOST_CHARACTERS - 3 + 2));
        let fits = format!("{} yy", "x".repeat(MOST_CHARACTERS - 3));
        assert_eq!(counts(&fits).0, 2);
        assert_eq!(counts(&format!("{fits} z")).0, 2);
        let single = format!("  {}", "é".repeat(10 * MOST_CHARACTERS));
        assert_eq!(counts(&single), (1, 2 * MOST_CHARACTERS + 2));
    }

    #[test]
    fn what_is_not_looked_for_is_known() {
        let is_cut = |text: &str| Query::new(text).is_cut;
        assert!(!is_cut(&"word ".repeat(MOST_WORDS)) && is_cut(&"word ".repeat(MOST_WORDS + 1)));
        let most = "x".repeat(MOST_CHARACTERS);
        assert!(!is_cut(&format!("  {most} ")) && is_cut(&format!("{most}x")));
        assert!(is_cut(&format!("{most} x")));
    }

    #[test]
    fn a_single_letter_is_told_from_what_is_found_everywhere() {
        for (text, single) in
            [("r", true), (" É ", true), ("7", false), ("京", false), ("?", false), ("ab", false)]
        {
            assert_eq!(Query::new(text).is_one_letter(), single, "{text}");
        }
        assert!(!Query::new("a b").is_one_letter());
    }

    #[test]
    fn the_indexes_are_asked_for_quoted_words() {
        let parts = |text| Query::new(text).parts;
        assert_eq!(parts("say \"hi\" OR not").as_deref(), Some(r#""say" AND """hi""" AND "not""#));
        assert_eq!(parts("a b").as_deref(), Some("\"a b\""));
        assert_eq!(parts("ab"), None);
        assert_eq!(parts("\0"), None);
        let whole = |text| Query::new(text).whole;
        assert_eq!(whole("say \"hi\" OR").as_deref(), Some(r#""say"* AND "hi" AND "or""#));
        assert_eq!(whole("\"\" -"), None);
        let beginnings = |text| Query::new(text).beginnings;
        assert_eq!(beginnings("dr c say").as_deref(), Some(r#""dr"* AND "c" AND "say"*"#));
        for nothing_else in ["say", "c", "京", "->"] {
            assert_eq!(beginnings(nothing_else), None, "{nothing_else}");
        }
    }
}
