//! Parses what is typed into a search for chats: text, and words that narrow the search.

use chat_core::store::SearchFilter;
use gettextrs::gettext;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::words::fill;

/// A search as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedSearch {
    /// What to look for.
    pub text: String,
    /// Where to look for it.
    pub filter: SearchFilter,
    /// What is wrong with the words that narrow the search, in one sentence.
    pub problem: Option<String>,
}

impl TypedSearch {
    /// Reads a search. `in:NAME`, `model:NAME`, `is:pinned`, `is:archived`, `before:DATE` and `after:DATE`
    /// narrow it; a NAME with spaces stands in quotation marks. A DATE is a year, a month or a day, like
    /// `2026`, `2026-03` or `2026-03-29`, in the time zone of the user. All other words are looked for.
    pub fn parse(typed: &str, zone: &TimeZone) -> Self {
        let mut search = Self::default();
        let mut rest = Vec::new();
        for word in split(typed) {
            if !search.take(word, zone) {
                rest.push(word);
            }
        }
        search.text = rest.join(" ");
        search
    }

    /// The same in the time zone of this machine.
    pub fn of(typed: &str) -> Self {
        Self::parse(typed, &TimeZone::system())
    }

    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.filter.is_empty()
    }

    /// Takes a word that narrows the search. Says whether it is one.
    fn take(&mut self, word: &str, zone: &TimeZone) -> bool {
        let Some((name, value)) = word.split_once(':') else { return false };
        let value = value.trim_matches('"');
        if value.is_empty() {
            return false;
        }
        match (name, value) {
            ("in", _) => self.filter.project = Some(value.to_owned()),
            ("model", _) => self.filter.model = Some(value.to_owned()),
            ("is", "pinned") => self.filter.pinned = true,
            ("is", "archived") => self.filter.archived = true,
            ("before", _) => self.filter.before = self.date(value, zone),
            ("after", _) => self.filter.after = self.date(value, zone),
            _ => return false,
        }
        true
    }

    /// The beginning of a year, a month or a day.
    fn date(&mut self, value: &str, zone: &TimeZone) -> Option<Timestamp> {
        let date = beginning(value).and_then(|date| date.to_zoned(zone.clone()).ok());
        if date.is_none() {
            let text = gettext("“{date}” isn’t a date. Write dates like 2026-01-31.");
            self.problem = Some(fill(&text, &[("date", value)]));
        }
        date.map(|date| date.timestamp())
    }
}

fn beginning(value: &str) -> Option<Date> {
    let mut numbers = value.split('-');
    let year = numbers.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let mut number = || numbers.next().map_or(Some(1), |number| number.parse().ok());
    let (month, day) = (number()?, number()?);
    Date::new(year, month, day).ok().filter(|_| numbers.next().is_none())
}

/// The words of a text. Quotation marks after a colon hold one together.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = end_of_word(rest);
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

fn end_of_word(text: &str) -> usize {
    let space = text.find(char::is_whitespace).unwrap_or(text.len());
    let Some(quoted) = text[..space].find(":\"").map(|at| at + 2) else { return space };
    text[quoted..].find('"').map_or(space, |end| quoted + end + 1)
}

/// The word that narrows a search: `in:NAME`. A NAME with spaces stands in quotation marks.
pub fn narrowing(word: &str, name: &str) -> String {
    if name.contains(char::is_whitespace) {
        format!("{word}:\"{name}\"")
    } else {
        format!("{word}:{name}")
    }
}

/// The words with which a search is narrowed to a span of the last days: `after:DATE`.
pub fn after_days(days: i32) -> String {
    let day = jiff::Zoned::now().date().saturating_sub(days.days());
    format!("after:{day}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &str) -> TypedSearch {
        TypedSearch::parse(typed, &TimeZone::get("Europe/Berlin").unwrap())
    }

    #[test]
    fn words_that_narrow_are_told_from_text() {
        let search = parse("  ferry in:\"my notes\" is:pinned model:qwen  boat is:archived ");
        assert_eq!(search.text, "ferry boat");
        assert_eq!(search.filter.project.as_deref(), Some("my notes"));
        assert_eq!(search.filter.model.as_deref(), Some("qwen"));
        assert!(search.filter.pinned && search.filter.archived);
        for text in ["std::io", "in:", "is:odd", "http://example.org", "\"in:quotes\"", "a -> b"] {
            let search = parse(text);
            assert_eq!((search.text.as_str(), search.filter.is_empty()), (text, true));
        }
    }

    #[test]
    fn dates_begin_where_the_person_is() {
        let after = |typed| parse(typed).filter.after.map(|time| time.to_string());
        assert_eq!(after("after:2026").as_deref(), Some("2025-12-31T23:00:00Z"));
        assert_eq!(after("after:2026-07").as_deref(), Some("2026-06-30T22:00:00Z"));
        let before = parse("before:2026-03-30").filter.before.unwrap();
        assert_eq!(before.to_string(), "2026-03-29T22:00:00Z");
    }

    #[test]
    fn what_is_no_date_is_said() {
        for wrong in ["after:soon", "before:2026-13", "before:26", "after:2026-01-01-01"] {
            let search = parse(wrong);
            let date = wrong.split_once(':').unwrap().1;
            let said = format!("“{date}” isn’t a date. Write dates like 2026-01-31.");
            assert_eq!(search.problem, Some(said));
            assert!(search.text.is_empty() && search.filter.is_empty());
        }
    }

    #[test]
    fn an_open_quotation_ends_with_the_word() {
        let search = parse("in:\"my notes");
        assert_eq!((search.filter.project.as_deref(), &*search.text), (Some("my"), "notes"));
    }
}
