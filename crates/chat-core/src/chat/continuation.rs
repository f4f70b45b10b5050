//! Joins a reply with the earlier one that it continues: models like to repeat its end, or to open its code
//! block again.

/// How much of the end of the earlier reply may be repeated, in bytes.
const TAIL: usize = 2_000;
/// From so many letters on a repetition is one; fewer may be meant.
const OVERLAP: usize = 20;
/// The longest line that may open a code block.
const FENCE_LINE: usize = 80;

/// The end of an earlier reply, against which the beginning of its continuation is held. Text comes out
/// as soon as it is certain that it is no repetition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Continuation {
    /// The end of the earlier reply.
    tail: String,
    /// Whether it ends inside a code block, and nothing of the continuation has come out.
    in_code: bool,
    /// What has come and is not decided.
    held: String,
    decided: bool,
}

impl Continuation {
    /// Of this earlier text.
    pub(crate) fn of(text: &str) -> Self {
        let tail = text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..].to_owned();
        Self { tail, in_code: is_in_code(text), ..Self::default() }
    }

    /// Adds what came of the continuation. Gives what is new of it for sure.
    pub(crate) fn push(&mut self, more: &str) -> String {
        if self.decided {
            return more.to_owned();
        }
        self.held.push_str(more);
        self.decide(false)
    }

    /// The continuation has ended: gives the rest.
    pub(crate) fn finish(&mut self) -> String {
        if self.decided { String::new() } else { self.decide(true) }
    }

    fn decide(&mut self, is_all: bool) -> String {
        if self.in_code {
            match fence_line(&self.held) {
                Fence::Whole(end) => {
                    self.held.drain(..end);
                    self.in_code = false;
                }
                Fence::None => self.in_code = false,
                Fence::Open if is_all => self.in_code = false,
                Fence::Open => return String::new(),
            }
        }
        let overlap = overlap(&self.tail, &self.held);
        if !is_all && overlap.may_grow {
            return String::new();
        }
        self.decided = true;
        self.held.drain(..overlap.bytes);
        std::mem::take(&mut self.held)
    }
}

/// What of a text repeats the end of another one.
struct Overlap {
    /// How many bytes at its beginning.
    bytes: usize,
    /// Whether it may be more once there is more of it.
    may_grow: bool,
}

/// The longest beginning of `text` that is the end of `tail`, of 20 letters and more.
fn overlap(tail: &str, text: &str) -> Overlap {
    let mut found = Overlap { bytes: 0, may_grow: text.is_empty() && !tail.is_empty() };
    for (at, _) in tail.char_indices() {
        let end = &tail[at..];
        if text.len() < end.len() {
            found.may_grow |= end.starts_with(text) && is_long(end);
        } else if found.bytes == 0 && text.starts_with(end) && is_long(end) {
            found.bytes = end.len();
        }
    }
    found
}

fn is_long(text: &str) -> bool {
    text.chars().nth(OVERLAP - 1).is_some()
}

/// Whether a line at the beginning of a text opens a code block.
enum Fence {
    None,
    /// It may yet.
    Open,
    /// It does; the line ends here.
    Whole(usize),
}

fn fence_line(text: &str) -> Fence {
    let start = text.trim_start_matches(['\n', ' ']);
    if !start.starts_with("```") {
        let may = start.is_empty() || "```".starts_with(start);
        return if may { Fence::Open } else { Fence::None };
    }
    match start.find('\n') {
        // A line of marks alone closes the block.
        Some(end) if start[..end].trim_end().len() > 3 => {
            Fence::Whole(text.len() - start.len() + end + 1)
        }
        Some(_) => Fence::None,
        None if start.len() > FENCE_LINE => Fence::None,
        None => Fence::Open,
    }
}

/// Whether a text of Markdown ends inside a fenced code block.
pub(crate) fn is_in_code(text: &str) -> bool {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let start = line.trim_start_matches(' ');
        let Some(mark) = start.chars().next().filter(|mark| matches!(mark, '`' | '~')) else {
            continue;
        };
        let count = start.chars().take_while(|c| *c == mark).count();
        let rest = &start[count..];
        match open {
            None if count >= 3 && !(mark == '`' && rest.contains('`')) => {
                open = Some((mark, count));
            }
            Some((of, least)) if of == mark && count >= least && rest.trim().is_empty() => {
                open = None;
            }
            _ => {}
        }
    }
    open.is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What comes out of a continuation that comes in these pieces.
    fn joined(earlier: &str, pieces: &[&str]) -> String {
        let mut continuation = Continuation::of(earlier);
        let mut out: String = pieces.iter().map(|piece| continuation.push(piece)).collect();
        out.push_str(&continuation.finish());
        out
    }

    const EARLIER: &str = "The quick brown fox jumps over the lazy dog and";

    #[test]
    fn a_repeated_end_is_left_out() {
        assert_eq!(joined(EARLIER, &["jumps over the lazy dog and runs."]), " runs.");
        assert_eq!(joined(EARLIER, &["jumps over", " the lazy dog", " and", " runs."]), " runs.");
        assert_eq!(joined(EARLIER, &[" runs."]), " runs.");
    }

    #[test]
    fn a_short_or_inexact_repetition_stays() {
        assert_eq!(joined(EARLIER, &["lazy dog and runs."]), "lazy dog and runs.");
        assert_eq!(
            joined(EARLIER, &["Jumps over the lazy dog and"]),
            "Jumps over the lazy dog and"
        );
        assert_eq!(joined(EARLIER, &["jumps over the lazy cat"]), "jumps over the lazy cat");
    }

    #[test]
    fn the_longest_repetition_counts() {
        let earlier = "ab ab ab ab ab ab ab ab ab ";
        assert_eq!(joined(earlier, &[&format!("{earlier}cd")]), "cd");
    }

    #[test]
    fn what_is_no_repetition_comes_out_at_once() {
        let mut continuation = Continuation::of(EARLIER);
        assert_eq!(continuation.push(" runs"), " runs");
        assert_eq!(continuation.push(" over the lazy dog and"), " over the lazy dog and");
    }

    #[test]
    fn a_code_block_that_is_open_is_not_opened_again() {
        let earlier = "Look:\n```rust\nfn main() {\n    let x = ";
        assert_eq!(joined(earlier, &["``", "`rust\n5;\n}\n", "```\nDone."]), "5;\n}\n```\nDone.");
        assert_eq!(joined(earlier, &["5;\n}\n```\n"]), "5;\n}\n```\n");
        assert_eq!(joined(earlier, &["```\nDone."]), "```\nDone.", "it closes the block");
        let closed = format!("{earlier}1;\n```\nAnd then");
        assert_eq!(joined(&closed, &["```rust\nx\n```"]), "```rust\nx\n```");
    }

    #[test]
    fn fences_are_told_from_what_only_looks_like_them() {
        for (text, inside) in [
            ("", false),
            ("```\na", true),
            ("```\na\n```", false),
            ("~~~\n```\n", true),
            ("````\n```\n", true),
            ("```a``` b", false),
            ("```rust\na\n```rust", true),
        ] {
            assert_eq!(is_in_code(text), inside, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_an_exact_repetition_is_lost(
            earlier in "[ab `\n]{0,60}", text in "[ab `\n]{0,60}", cut in 0_usize..60,
        ) {
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let out = joined(&earlier, &[&text[..cut], &text[cut..]]);
            prop_assert_eq!(&out, &joined(&earlier, &[&text]), "however it is cut");
            prop_assert!(text.ends_with(&out));
            let gone = &text[..text.len() - out.len()];
            let fence = !gone.is_empty() && is_in_code(&earlier) && gone.trim_start().starts_with("```");
            prop_assert!(fence || gone.is_empty() || (earlier.ends_with(gone) && gone.len() >= OVERLAP));
        }
    }
}
