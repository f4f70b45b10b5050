//! Matches patterns of commands: the first words of one simple command.
//!
//! `cargo test *` is `cargo test` with any further words or none; without the `*` it is exactly
//! these words. A word with blanks or shell characters is written in single quotes:
//! `git commit -m 'a * b'`; a single quote itself is written `'\''`, as in the shell.

use std::fmt;

use super::InvalidPattern;
use crate::command::{Simple, Word};

/// The first words of one simple command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandPattern {
    words: Vec<String>,
    /// Whether further words may follow.
    open: bool,
}

/// How a pattern matches a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It matches.
    Yes,
    /// It may match: a word is known only when it runs.
    Perhaps,
    /// It does not match.
    No,
}

impl CommandPattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let mut words = split(text)?;
        if words.is_empty() {
            return Err(InvalidPattern::Empty);
        }
        let open = words.last() == Some(&Token::Star);
        if open {
            words.pop();
        }
        let words = words
            .into_iter()
            .map(|token| match token {
                Token::Word(word) => Ok(word),
                Token::Star => Err(InvalidPattern::Star(text.to_owned())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { words, open })
    }

    /// The pattern of exactly these words; none if there are none.
    pub(crate) fn exactly(words: &[&str]) -> Option<Self> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        (!words.is_empty()).then_some(Self { words, open: false })
    }

    /// The pattern of these words and any further ones.
    pub(crate) fn beginning(words: &[String]) -> Self {
        Self { words: words.to_vec(), open: true }
    }

    /// The words of the pattern.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether it matches every command.
    pub(crate) fn is_any(&self) -> bool {
        self.open && self.words.is_empty()
    }

    /// Whether it matches only commands of exactly its words.
    pub(crate) fn is_exact(&self) -> bool {
        !self.open
    }

    /// How it matches the words of `command`. With `by_name`, a command that is called by its path
    /// counts like its name.
    pub(crate) fn fit(&self, command: &Simple, by_name: bool) -> Fit {
        let mut fit = Fit::Yes;
        for (at, wanted) in self.words.iter().enumerate() {
            match command.words.get(at) {
                Some(Word::Literal(word)) if word == wanted => {}
                Some(Word::Literal(word)) if by_name && at == 0 && base(word) == wanted => {}
                // `git -C x log`: options may come before the words.
                Some(Word::Literal(word)) if by_name && at > 0 && word.starts_with(['-', '+']) => {
                    let behind = &command.words[at..];
                    return if may_follow(&self.words[at..], behind) {
                        Fit::Perhaps
                    } else {
                        Fit::No
                    };
                }
                Some(Word::Literal(_)) | None => return Fit::No,
                // It may become several words, or none, so nothing after it has a known position.
                Some(Word::Other(_)) => return Fit::Perhaps,
            }
        }
        let further = command.words.get(self.words.len()..).unwrap_or_default();
        if further.iter().any(|word| matches!(word, Word::Other(_))) {
            fit = Fit::Perhaps;
        }
        if !self.open && further.iter().any(|word| matches!(word, Word::Literal(_))) {
            return Fit::No;
        }
        fit
    }
}

/// Whether `wanted` may occur in `words`, in this order, with others in between.
fn may_follow(wanted: &[String], words: &[Word]) -> bool {
    if words.iter().any(|word| matches!(word, Word::Other(_))) {
        return true;
    }
    let mut words = words.iter();
    wanted.iter().all(|wanted| words.any(|word| word.as_written() == wanted))
}

/// The last part of a command's path.
pub(crate) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[derive(PartialEq, Eq)]
enum Token {
    Word(String),
    Star,
}

fn split(text: &str) -> Result<Vec<Token>, InvalidPattern> {
    let quotes = || InvalidPattern::Quotes(text.to_owned());
    let mut tokens = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(&first) = letters.peek() {
        if first == ' ' || first == '\t' {
            letters.next();
            continue;
        }
        let mut word = String::new();
        let mut bare = true;
        while let Some(letter) = letters.next_if(|&letter| letter != ' ' && letter != '\t') {
            match letter {
                '\'' => {
                    bare = false;
                    loop {
                        match letters.next().ok_or_else(quotes)? {
                            '\'' => break,
                            inner => word.push(inner),
                        }
                    }
                }
                '\\' if letters.peek() == Some(&'\'') => {
                    bare = false;
                    word.extend(letters.next());
                }
                '*' => word.push(letter),
                _ if must_be_quoted(letter) => {
                    return Err(InvalidPattern::Shell(text.to_owned(), letter));
                }
                _ => word.push(letter),
            }
        }
        match (bare, word.as_str()) {
            (true, "*") => tokens.push(Token::Star),
            (true, word) if word.contains('*') => {
                return Err(InvalidPattern::Star(text.to_owned()));
            }
            _ => tokens.push(Token::Word(word)),
        }
    }
    Ok(tokens)
}

/// Whether this character means something to the shell or a pattern when it is unquoted.
fn must_be_quoted(letter: char) -> bool {
    letter.is_control() || "\"\\`$&|;<>()*?[".contains(letter)
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            let quoted = word.is_empty()
                || word.chars().any(|letter| {
                    must_be_quoted(letter) || letter.is_whitespace() || letter == '\''
                });
            if quoted {
                write!(f, "'{}'", word.replace('\'', r"'\''"))?;
            } else {
                f.write_str(word)?;
            }
        }
        match (self.open, self.words.is_empty()) {
            (true, true) => f.write_str("*"),
            (true, false) => f.write_str(" *"),
            (false, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::parse;

    fn fits(pattern: &str, command: &str, by_name: bool) -> Fit {
        CommandPattern::new(pattern).unwrap().fit(&parse(command).unwrap()[0], by_name)
    }

    #[test]
    fn a_pattern_is_of_the_first_words() {
        for (pattern, command, expected) in [
            ("cargo test *", "cargo test", Fit::Yes),
            ("cargo test *", "cargo test --all 'a b'", Fit::Yes),
            ("cargo test *", "cargo build", Fit::No),
            ("cargo test *", "cargo", Fit::No),
            ("cargo test *", "cargo tests", Fit::No),
            ("cargo test", "cargo test", Fit::Yes),
            ("cargo test", "cargo test --all", Fit::No),
            ("ls", "lsof", Fit::No),
            ("ls *", "lsof", Fit::No),
            ("ls *", "/bin/ls", Fit::No),
            ("*", "ls -l", Fit::Yes),
            ("'a b' '*'", "'a b' '*'", Fit::Yes),
            ("'a b'", "a b", Fit::No),
            ("ls *", "ls $x", Fit::Perhaps),
            ("ls", "ls $x", Fit::Perhaps),
            ("ls -l", "ls $x", Fit::Perhaps),
            ("ls", "ls -l $x", Fit::No),
            ("ls", "$x", Fit::Perhaps),
            ("ls -l", "rm $x", Fit::No),
        ] {
            assert_eq!(fits(pattern, command, false), expected, "{pattern} and {command}");
        }
        assert_eq!(fits("ls *", "/bin/ls -l", true), Fit::Yes);
        assert_eq!(fits("ls -l", "ls /bin/-l", true), Fit::No);
        // For a deny rule, options may come in between.
        for (command, expected) in [
            ("git -C . log", Fit::Perhaps),
            ("git --git-dir=x --no-pager log -1", Fit::Perhaps),
            ("git -C $x status", Fit::Perhaps),
            ("git -C . status", Fit::No),
            ("git status log", Fit::No),
        ] {
            assert_eq!(fits("git log *", command, true), expected, "{command}");
        }
        assert_eq!(fits("git log *", "git -C . log", false), Fit::No);
        assert_eq!(base("/a/b"), "b");
        assert_eq!(base("b"), "b");
    }

    #[test]
    fn it_is_written_so_that_it_is_read_again() {
        for text in [
            "ls",
            "ls *",
            "*",
            "a 'b c' '*'",
            "a ''",
            "a 'it'\\''s'",
            "a\tb  c",
            "git log HEAD~1 #x {} ]",
            "a 'b\nc'",
            "'\u{a0}'",
        ] {
            let pattern = CommandPattern::new(text).unwrap();
            assert_eq!(CommandPattern::new(&pattern.to_string()), Ok(pattern.clone()), "{text}");
        }
        assert_eq!(CommandPattern::new("a\tb  c").unwrap().to_string(), "a b c");
        assert_eq!(CommandPattern::new("'a' 'b'").unwrap().to_string(), "a b");
        for word in [
            "", " ", "'", "\"", "\\", "`", "$", "&", "|", ";", "<", ">", "(", ")", "*", "?", "[",
            "\n", "\u{a0}", "a*b", "a'b",
        ] {
            let pattern = CommandPattern::exactly(&["x", word]).unwrap();
            assert_eq!(CommandPattern::new(&pattern.to_string()), Ok(pattern.clone()), "{pattern}");
        }
        assert_eq!(CommandPattern::exactly(&[]), None);
        assert_eq!(CommandPattern::exactly(&["x", "a b"]).unwrap().to_string(), "x 'a b'");
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let error = |text: &str| CommandPattern::new(text).unwrap_err();
        assert_eq!(error("  "), InvalidPattern::Empty);
        assert_eq!(error("a 'b"), InvalidPattern::Quotes("a 'b".to_owned()));
        for text in ["* a", "a * b", "a*", "a *b", "a **"] {
            assert_eq!(error(text), InvalidPattern::Star(text.to_owned()), "{text}");
        }
        for letter in "\"\\`$&|;<>()?[\n\r".chars() {
            let text = format!("a b{letter}c");
            assert_eq!(error(&text), InvalidPattern::Shell(text.clone(), letter), "{text}");
        }
    }
}
