//! Matches names fuzzily against a few letters.

/// How well `query` matches `name`: none if its letters do not all occur in order; more is better.
/// Letters that begin a word or follow each other count more, and short names win.
pub fn score(query: &str, name: &str) -> Option<i32> {
    const WORD_START: i32 = 8;
    const ADJACENT: i32 = 6;
    const LETTER: i32 = 1;

    let name: Vec<char> = name.to_lowercase().chars().collect();
    let letters = query.chars().flat_map(char::to_lowercase).filter(|c| !c.is_whitespace());
    let mut total = 0;
    let mut from = 0;
    let mut last = None;
    for letter in letters {
        let starts_word = |at: usize| at == 0 || !name[at - 1].is_alphanumeric();
        let follows = |at: usize| last.is_some_and(|last| last + 1 == at);
        let places = || (from..name.len()).filter(|at| name[*at] == letter);
        // The letter after the last match beats one that begins a word, and that beats the next
        // occurrence.
        let at = places()
            .find(|at| follows(*at))
            .or_else(|| places().find(|at| starts_word(*at)))
            .or_else(|| places().next())?;
        total += LETTER;
        total += if follows(at) { ADJACENT } else { 0 };
        total += if starts_word(at) { WORD_START } else { 0 };
        last = Some(at);
        from = at + 1;
    }
    Some(total * 100 - i32::try_from(name.len()).unwrap_or(i32::MAX).min(99))
}

/// The items whose names match, best first; equally good ones keep their order.
pub fn best<'a, T>(
    query: &str,
    items: &'a [T],
    name: impl Fn(&T) -> &str,
    limit: usize,
) -> Vec<&'a T> {
    let query = query.trim();
    if query.is_empty() {
        return items.iter().take(limit).collect();
    }
    let mut found: Vec<(i32, &T)> =
        items.iter().filter_map(|item| Some((score(query, name(item))?, item))).collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().take(limit).map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_must_stand_in_order() {
        assert!(score("fpr", "Fix the parser’s recovery").is_some());
        assert!(score("rpf", "Fix the parser").is_none());
        assert!(score("ß", "Straße").is_some());
    }

    #[test]
    fn beginnings_of_words_and_runs_win() {
        let names = ["A far lost place", "Flat parsers", "Letter to the landlord"];
        let order = best("fl pa", &names, |name| name, 9);
        assert_eq!(order[0], &"Flat parsers");
        assert_eq!(best("land", &names, |name| name, 9), [&"Letter to the landlord"]);
    }

    #[test]
    fn nothing_asked_gives_the_first() {
        assert_eq!(best(" ", &["a", "b", "c"], |name| name, 2), [&"a", &"b"]);
    }
}
