//! Titles of chats.

use gettextrs::{gettext, ngettext};

use super::fill;

/// The title of the copy of a chat: “Trip (copy)”, then “Trip (copy 2)”, and none that `is_taken`.
/// A copy of a copy is numbered like another copy.
pub fn title_of_copy(title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let patterns =
        Patterns { first: gettext("{title} (copy)"), next: gettext("{title} (copy {n})") };
    let (mut original, mut number) = (title, 0_u64);
    while let Some((before, copy)) = patterns.split(original) {
        original = before;
        number = number.max(copy);
    }
    loop {
        number = number.saturating_add(1);
        let copy = patterns.fill(original, number);
        if !is_taken(&copy) {
            return copy;
        }
    }
}

/// What is called by the chat that it is of: “3 messages of “Trip””.
pub fn messages_of(count: usize, title: &str) -> String {
    let text = ngettext(
        "{n} message of “{title}”",
        "{n} messages of “{title}”",
        u32::try_from(count).unwrap_or(u32::MAX),
    );
    fill(&text, &[("n", &count.to_string()), ("title", title)])
}

/// How copies are called in the user's language.
struct Patterns {
    first: String,
    next: String,
}

impl Patterns {
    fn fill(&self, title: &str, number: u64) -> String {
        match number {
            1 => fill(&self.first, &[("title", title)]),
            number => fill(&self.next, &[("title", title), ("n", &number.to_string())]),
        }
    }

    /// The title of what this is a copy of, and which copy it is.
    fn split<'a>(&self, title: &'a str) -> Option<(&'a str, u64)> {
        let first = self.first.split_once("{title}").and_then(|(before, after)| {
            Some((title.strip_prefix(before)?.strip_suffix(after)?, 1))
        });
        let next = || {
            let (before, after) = self.next.split_once("{title}")?;
            let (middle, end) = after.split_once("{n}")?;
            let (original, number) =
                title.strip_prefix(before)?.strip_suffix(end)?.rsplit_once(middle)?;
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            Some((original, number.parse().ok().filter(|number| is_number && *number > 1)?))
        };
        first.or_else(next).filter(|(original, _)| !original.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::title_of_copy;

    /// The copy of a chat of the first of these titles, beside all of them.
    fn copy(titles: &[&str]) -> String {
        title_of_copy(titles[0], |title| titles.contains(&title))
    }

    #[test]
    fn copies_are_numbered_as_in_file_managers() {
        assert_eq!(copy(&["Trip"]), "Trip (copy)");
        assert_eq!(copy(&["Trip", "Trip (copy)"]), "Trip (copy 2)");
        assert_eq!(copy(&["Trip (copy)", "Trip"]), "Trip (copy 2)");
        assert_eq!(copy(&["Trip (copy 2)"]), "Trip (copy 3)");
        assert_eq!(copy(&["Trip (copy 9)", "Trip (copy 10)"]), "Trip (copy 11)");
        assert_eq!(copy(&["Trip (copy) (copy)"]), "Trip (copy 2)");
    }

    #[test]
    fn what_only_looks_like_a_copy_is_a_title_as_any_other() {
        for title in
            ["Trip (copy 1)", "Trip (copy +2)", "Trip (copy x)", " (copy)", "Trip (copy) ", ""]
        {
            assert_eq!(copy(&[title]), format!("{title} (copy)"));
        }
        assert_eq!(
            copy(&["Trip (copy 18446744073709551616)"]),
            "Trip (copy 18446744073709551616) (copy)"
        );
    }

    #[test]
    fn copies_of_copies_never_pile_up_and_differ() {
        for title in
            ["Trip", "(copy)", "(copy 2)", "a (copy) b", "{title}", "{n} (copy)", "ä (copy 5)"]
        {
            let mut all = vec![title.to_owned()];
            for _ in 0..4 {
                let last = &all[all.len() - 1];
                let copy = title_of_copy(last, |title| all.iter().any(|other| other == title));
                assert!(!all.contains(&copy), "{all:?}");
                all.push(copy);
            }
            let lengths: Vec<_> = all[2..].iter().map(String::len).collect();
            assert!(lengths.iter().all(|length| *length == lengths[0]), "{all:?}");
        }
    }
}
