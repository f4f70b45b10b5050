//! Rejects commands that the parser cannot handle. Its time is exponential in the depth of
//! brackets, its stack use is linear in it, and it panics at some numbers. Commands come from a
//! model, and none may hang or crash the program.

use tracing::subscriber::NoSubscriber;

use super::{LONGEST, Unparsable};

/// How many brackets may be open at once. The parser takes a few milliseconds for that many.
const DEEPEST: usize = 12;

/// Words that may be followed by another command.
const KEYWORDS: [&str; 10] =
    ["if", "elif", "while", "until", "for", "select", "function", "coproc", "time", "!"];
/// How many of them a command may have.
const MOST_KEYWORDS: usize = 100;
/// How many `case`s, which take exponential time, too.
const MOST_CASES: usize = 8;

/// The size of the parser's stack, in bytes: many times what the deepest command needed in a debug
/// build.
const STACK: usize = 16 * 1024 * 1024;

/// Rejects what the parser must not see.
pub(super) fn check(text: &str) -> Result<(), Unparsable> {
    if text.len() > LONGEST {
        return Err(Unparsable::TooLong);
    }
    if let Some(letter) = text.chars().find(|&letter| is_hidden(letter)) {
        return Err(Unparsable::Hidden(letter.into()));
    }
    let words = || text.split(|letter: char| !letter.is_ascii_alphabetic() && letter != '!');
    let keywords = words().filter(|word| KEYWORDS.contains(word)).count();
    let cases = words().filter(|&word| word == "case").count();
    if keywords > MOST_KEYWORDS || cases > MOST_CASES || deepest(text) > DEEPEST {
        return Err(Unparsable::TooDeep);
    }
    if let Some(piece) = glued_substitution(text) {
        return Err(Unparsable::Unclear(piece.to_owned()));
    }
    if let Some(piece) = joined_lines(text) {
        return Err(Unparsable::Unclear(piece.to_owned()));
    }
    if has_large_number(text) {
        return Err(Unparsable::Unclear("~0000000000".to_owned()));
    }
    Ok(())
}

/// Rejects a text, of a command or of a substitution, in which the parser would take words for a
/// here-document.
pub(super) fn check_documents(text: &str) -> Result<(), Unparsable> {
    match arithmetic_before_document(text) {
        Some(piece) => Err(Unparsable::Unclear(piece.to_owned())),
        None => Ok(()),
    }
}

/// Runs the parser on a separate stack, and treats its panic as a parse error. Its log messages,
/// which contain each word, are discarded: a command may contain secrets.
pub(super) fn catch_panic<T: Send>(
    parse: impl FnOnce() -> Result<T, Unparsable> + Send,
) -> Result<T, Unparsable> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("shell-parser".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                tracing::subscriber::with_default(NoSubscriber::default(), parse)
            })
            .map_err(|error| Unparsable::Syntax(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(Unparsable::Syntax("the parser failed".to_owned())))
    })
}

/// Control characters, and blanks or marks that are invisible or look like others. Whether they
/// separate words depends on the shell and its locale.
fn is_hidden(letter: char) -> bool {
    (letter.is_control() && letter != '\n' && letter != '\t')
        || (letter.is_whitespace() && !letter.is_ascii())
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// At least the number of brackets that can be open at once, whatever the parser takes for quoted:
/// a bracket counts as closed only if nothing that quotes comes before its end.
fn deepest(text: &str) -> usize {
    let mut open = 0_usize;
    let mut deepest = 0;
    // How many of the open ones may still be closed: those since the last quoting character.
    let mut closable = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' | '{' | '[' => {
                open += 1;
                closable += 1;
            }
            ')' | '}' | ']' if closable > 0 => {
                open -= 1;
                closable -= 1;
            }
            '`' => {
                open += 1;
                closable = 0;
            }
            '"' | '\'' | '\\' | '#' => closable = 0,
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// A `<(` right after a word. A shell takes it for a part of that word, and the parser for a
/// separate word.
fn glued_substitution(text: &str) -> Option<&str> {
    let all = text.match_indices("<(").chain(text.match_indices(">("));
    let mut glued = all.filter_map(|(at, _)| {
        let mut before = text[..at].chars().rev();
        let last = before.next()?;
        let is_apart = last.is_whitespace() || ";|&(<>`".contains(last);
        // An escaped character belongs to a word, and a line continues after its final backslash.
        let is_glued = !is_apart || before.next() == Some('\\');
        is_glued.then(|| &text[at - last.len_utf8()..at + 2])
    });
    glued.next()
}

/// A backslash at a line's end, where joining the lines may change the meaning of both: anywhere
/// except next to a blank or between letters, and near an expanded here-document, whose end the
/// parser searches for line by line. After another backslash it joins nothing.
fn joined_lines(text: &str) -> Option<&str> {
    let is_expanded = documents(text).any(|(_, behind)| {
        let tag = behind.strip_prefix('-').unwrap_or(behind).trim_start_matches([' ', '\t']);
        !tag.starts_with(['\'', '"'])
    });
    let mut joined = text.match_indices("\\\n").filter_map(|(at, end)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + end.len()..].chars().next();
        let is_blank = |letter: char| letter == ' ' || letter == '\t';
        let is_apart = before.is_none_or(char::is_whitespace)
            || behind.is_some_and(is_blank) && before != Some('\\');
        let is_within =
            [before, behind].into_iter().all(|it| it.is_some_and(char::is_alphanumeric));
        let from = at - before.map_or(0, char::len_utf8);
        (is_expanded || !is_apart && !is_within).then(|| &text[from..=at])
    });
    joined.next()
}

/// `((` may begin arithmetic or two subshells. If the parser confuses them, it takes words for the
/// text of a here-document.
fn arithmetic_before_document(text: &str) -> Option<&str> {
    let (last, _) = documents(text).last()?;
    let mut before = text[..last].match_indices("((");
    before.find(|(at, _)| !text[..*at].ends_with('$')).map(|(_, brackets)| brackets)
}

/// Where here-documents may begin, and the text after their operators.
fn documents(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let from = at + text[at..].find("<<")?;
            let signs = text[from..].bytes().take_while(|byte| *byte == b'<').count();
            at = from + signs;
            // Three are a here-string, and further ones begin again.
            if signs % 3 == 2 {
                return Some((from, &text[at..]));
            }
        }
    })
}

/// Ten or more digits after a tilde are not a folder of the shell's directory stack.
fn has_large_number(text: &str) -> bool {
    text.split('~').skip(1).any(|behind| {
        let digits = behind.trim_start_matches(['+', '-']);
        digits.bytes().take_while(u8::is_ascii_digit).count() >= 10
    })
}
