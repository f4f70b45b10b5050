//! Removes the user's words and keys from a server's messages: some servers repeat in an error what
//! they were sent, and an error is stored, shown and logged.

use std::collections::HashSet;

/// So many bytes in common are no chance.
const RUN: usize = 12;
/// Words shorter than this are left: they say nothing.
const SHORTEST: usize = 4;
/// The beginning and the end of a key identify it; servers mask the rest.
const KEY_EDGE: usize = 4;

/// The server's words without runs that also stand in these texts, and without words that hold
/// an edge of the key.
pub(super) fn scrub<'a>(
    words: &str,
    texts: impl IntoIterator<Item = &'a str>,
    key: Option<&str>,
) -> String {
    let bytes = words.as_bytes();
    let runs: HashSet<&[u8]> = bytes.windows(RUN).collect();
    let mut shared: HashSet<&[u8]> = HashSet::new();
    let mut hidden = vec![false; bytes.len()];
    for text in texts {
        let text = text.trim();
        if text.len() < RUN {
            if text.len() >= SHORTEST {
                hide_word(words, text, &mut hidden);
            }
            continue;
        }
        for run in text.as_bytes().windows(RUN) {
            if let Some(run) = runs.get(run) {
                shared.insert(run);
            }
        }
    }
    if !shared.is_empty() {
        for (at, run) in bytes.windows(RUN).enumerate() {
            if shared.contains(run) {
                hidden[at..at + RUN].fill(true);
            }
        }
    }
    hide_key(words, key, &mut hidden);
    without(words, &hidden)
}

/// Hides a short text where it stands as words of its own.
fn hide_word(words: &str, text: &str, hidden: &mut [bool]) {
    for (at, found) in words.match_indices(text) {
        let end = at + found.len();
        let before = words[..at].chars().next_back();
        let after = words[end..].chars().next();
        if !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric) {
            hidden[at..end].fill(true);
        }
    }
}

fn hide_key(words: &str, key: Option<&str>, hidden: &mut [bool]) {
    let Some(key) = key.filter(|key| !key.is_empty()) else { return };
    for (at, found) in words.match_indices(key) {
        hidden[at..at + found.len()].fill(true);
    }
    let (Some(head), Some(tail)) =
        (key.get(..KEY_EDGE), key.get(key.len().saturating_sub(KEY_EDGE)..))
    else {
        return;
    };
    if key.len() < 4 * KEY_EDGE {
        return;
    }
    let start = words.as_ptr() as usize;
    for word in words.split_whitespace() {
        if word.contains(head) || word.contains(tail) {
            let at = word.as_ptr() as usize - start;
            hidden[at..at + word.len()].fill(true);
        }
    }
}

/// The text with every hidden run shown as one `…`.
fn without(words: &str, hidden: &[bool]) -> String {
    let mut out = String::with_capacity(words.len());
    let mut hiding = false;
    for (at, c) in words.char_indices() {
        let hide = hidden[at..at + c.len_utf8()].contains(&true);
        if !hide {
            out.push(c);
        } else if !hiding {
            out.push('…');
        }
        hiding = hide;
    }
    out
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("the model crashed", "the model crashed")]
    #[case("cannot parse: my secret diary entry of May!", "cannot parse: …!")]
    #[case(
        "in {\"content\": \"my secret diary entry of May\"} at 3",
        "in {\"content\": \"…\"} at 3"
    )]
    #[case("echo: hunter", "echo: …")]
    #[case("the hunters are here", "the hunters are here")]
    #[case("Incorrect key: sk-p****6789. Try again", "Incorrect key: … Try again")]
    #[case("key sk-proj-123456789 is bad", "key … is bad")]
    fn nothing_of_the_person_stays(#[case] words: &str, #[case] left: &str) {
        let texts = ["my secret diary entry of May", "hunter", "hi"];
        assert_eq!(scrub(words, texts, Some("sk-proj-123456789")), left);
    }

    #[test]
    fn runs_between_characters_do_not_panic() {
        let text = "日本語のテキスト";
        assert_eq!(scrub("x 日本語のテキ y", [text], None), "x … y");
    }
}
