//! Styles a unified diff: which lines were added and removed, and which words in them.

use std::ops::Range;

use chat_presentation::words::visible;

use super::styled_text::{StyledText, TextStyle};

/// Lines longer than this, in bytes, are not compared word by word.
const LONGEST: usize = 2_000;

/// A unified diff without its file header.
pub fn styled(diff: &str) -> StyledText {
    let lines: Vec<&str> = diff.lines().collect();
    let mut out = StyledText::default();
    let mut at = 0;
    while at < lines.len() {
        let removed = count(&lines[at..], '-');
        let added = count(&lines[at + removed..], '+');
        if removed + added == 0 {
            let style = if lines[at].starts_with("@@") { TextStyle::Dim } else { TextStyle::Plain };
            out.push(&visible(lines[at]), style);
            out.push("\n", style);
            at += 1;
            continue;
        }
        let (gone, new) = lines[at..at + removed + added].split_at(removed);
        // Lines stand for each other where as many came as went.
        let pairs: Vec<_> = if removed == added {
            gone.iter().zip(new).map(|(old, new)| changed(&old[1..], &new[1..])).collect()
        } else {
            Vec::new()
        };
        let words = |index: usize| pairs.get(index).cloned().flatten();
        for (index, line) in gone.iter().enumerate() {
            let words = words(index).map(|(old, _)| old);
            push(&mut out, line, words, TextStyle::Removed, TextStyle::RemovedWord);
        }
        for (index, line) in new.iter().enumerate() {
            let words = words(index).map(|(_, new)| new);
            push(&mut out, line, words, TextStyle::Added, TextStyle::AddedWord);
        }
        at += removed + added;
    }
    out
}

/// What the part of a diff begins with that is about one file.
const FILE: &str = "diff --git ";

/// A text that may end with a diff of several files, as git writes it.
pub fn styled_git(text: &str) -> StyledText {
    let mut out = StyledText::default();
    let start = match text.find(FILE) {
        Some(0) => 0,
        _ => text.find(&format!("\n{FILE}")).map_or(text.len(), |before| before + 1),
    };
    let (before, mut rest) = text.split_at(start);
    out.push(&visible(before), TextStyle::Plain);
    while !rest.is_empty() {
        // The names of the file begin with signs, too, but are no lines of it.
        let head = rest.find("\n@@").map_or(rest.len(), |end| end + 1);
        let next = rest[1..].find(&format!("\n{FILE}")).map_or(rest.len(), |end| end + 2);
        let (file, others) = rest.split_at(next);
        let (head, changes) = file.split_at(head.min(file.len()));
        out.push(&visible(head), TextStyle::Dim);
        out.append(&styled(changes));
        rest = others;
    }
    out
}

/// How many lines from here on begin with this sign.
fn count(lines: &[&str], sign: char) -> usize {
    lines.iter().take_while(|line| line.starts_with(sign)).count()
}

/// Adds a line, of which the bytes `words`, counted behind its sign, look otherwise.
fn push(
    out: &mut StyledText,
    line: &str,
    words: Option<Range<usize>>,
    style: TextStyle,
    word: TextStyle,
) {
    let words = words.map_or(line.len()..line.len(), |words| words.start + 1..words.end + 1);
    out.push(&visible(&line[..words.start]), style);
    out.push(&visible(&line[words.clone()]), word);
    out.push(&visible(&line[words.end..]), style);
    // The ground of a line reaches to its end.
    out.push("\n", style);
}

/// The bytes of two lines between what both begin and end with, as whole words; none where they
/// have too little in common for that to help.
fn changed(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    if old.len().max(new.len()) > LONGEST {
        return None;
    }
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b);
    let start: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    let start = word_start(old, start).min(word_start(new, start));
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let same = old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    let end = word_end(old_rest, end).min(word_end(new_rest, end));
    let common = start + end;
    let longer = old.len().max(new.len());
    // Of what only stands at the same place in the line, nothing is said by what is alike.
    let nothing = old[..start].trim().is_empty() && end == 0;
    if nothing || common * 3 < longer {
        return None;
    }
    Some((start..old.len() - end, start..new.len() - end))
}

/// The beginning of the word that `at` stands in.
fn word_start(text: &str, at: usize) -> usize {
    let inside = text[at..].starts_with(is_word);
    let back = text[..at].chars().rev().take_while(|letter| inside && is_word(*letter));
    at - back.map(char::len_utf8).sum::<usize>()
}

/// How many bytes at the end begin with a whole word, of these many.
fn word_end(text: &str, bytes: usize) -> usize {
    let tail = &text[text.len() - bytes..];
    let inside = text[..text.len() - bytes].ends_with(is_word);
    let word = tail.chars().take_while(|letter| inside && is_word(*letter));
    bytes - word.map(char::len_utf8).sum::<usize>()
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each piece that is not plain, with its look.
    fn pieces(diff: &str) -> Vec<(String, TextStyle)> {
        let styled = styled(diff);
        let letters: Vec<char> = styled.text().chars().collect();
        let piece = |(span, style): &(Range<usize>, TextStyle)| {
            (letters[span.clone()].iter().collect(), *style)
        };
        styled.spans().iter().map(piece).collect()
    }

    fn piece(text: &str, style: TextStyle) -> (String, TextStyle) {
        (text.to_owned(), style)
    }

    #[test]
    fn lines_and_changed_words() {
        let diff = "@@ -1,3 +1,3 @@\n fn a() {\n-    let width = old_value;\n+    let width = new_value;\n }\n";
        assert_eq!(styled(diff).text(), diff);
        assert_eq!(
            pieces(diff),
            [
                piece("@@ -1,3 +1,3 @@\n", TextStyle::Dim),
                piece("-    let width = ", TextStyle::Removed),
                piece("old_value", TextStyle::RemovedWord),
                piece(";\n", TextStyle::Removed),
                piece("+    let width = ", TextStyle::Added),
                piece("new_value", TextStyle::AddedWord),
                piece(";\n", TextStyle::Added),
            ]
        );
    }

    #[test]
    fn the_names_of_files_are_no_changes() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +0,0 @@\n-one\ndiff --git a/b b/c\nrename from b\nrename to c\n";
        let shown = styled_git(&format!("Two files:\n-1\n{diff}"));
        assert_eq!(shown.text(), format!("Two files:\n-1\n{diff}"));
        let changed = |(_, style): &&(Range<usize>, TextStyle)| *style != TextStyle::Dim;
        let changed: Vec<_> = shown.spans().iter().filter(changed).collect();
        let letters: Vec<char> = shown.text().chars().collect();
        assert_eq!(changed.len(), 1, "{changed:?}");
        assert_eq!(letters[changed[0].0.clone()].iter().collect::<String>(), "-one\n");
        assert_eq!(styled_git("-no diff\n").spans(), []);
        assert_eq!(styled_git("").text(), "");
    }

    #[test]
    fn lines_that_are_not_alike_are_not_compared() {
        for diff in ["-alpha beta\n+completely different\n", "-    a\n+    b\n", "-a\n-b\n+a b\n"] {
            let words = pieces(diff);
            let whole = [TextStyle::Added, TextStyle::Removed];
            assert!(words.iter().all(|(_, style)| whole.contains(style)), "{words:?}");
        }
    }

    #[test]
    fn what_hides_is_seen() {
        assert_eq!(styled("+a\u{202e}b\x1b[0m\n").text(), "+a⟨U+202E⟩b␛[0m\n");
    }

    #[test]
    fn a_word_that_came_alone_is_marked() {
        let came = pieces("-call(one, two)\n+call(one, half, two)\n");
        assert!(came.contains(&piece("half, ", TextStyle::AddedWord)), "{came:?}");
    }

    proptest! {
        #[test]
        fn nothing_is_added_or_lost(lines in proptest::collection::vec("[-+ @][a-cäß_ ]{0,12}", 0..12)) {
            let diff: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            let shown = styled(&diff);
            prop_assert_eq!(shown.text(), &diff);
            let signed = lines.iter().filter(|line| line.starts_with(['+', '-'])).count();
            let coloured: Vec<_> = pieces(&diff).into_iter()
                .filter(|(_, style)| *style != TextStyle::Dim)
                .flat_map(|(text, _)| text.matches('\n').map(str::len).collect::<Vec<_>>())
                .collect();
            prop_assert_eq!(coloured.len(), signed);
        }
    }
}
