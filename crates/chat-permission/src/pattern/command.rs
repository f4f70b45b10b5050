//! Patterns of commands: the first words of one simple command.
//!
//! `cargo test *` is `cargo test` with any further words or none; without the `*` it is exactly these words. A
//! word that has blanks or characters of the shell's stands in single quotation marks: `git commit -m 'a * b'`;
//! a single quotation mark itself is written `'\''`, as in the shell.

use std::fmt;

use super::BadPattern;
use crate::command::{Simple, Word};

/// The first words of one simple command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandPattern {
    words: Vec<String>,
    /// Whether further words may follow.
    open: bool,
}

/// How a pattern fits a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is such a command.
    Yes,
    /// It may be one: a word is known only when it runs.
    Perhaps,
    /// It is none.
    No,
}

impl CommandPattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, BadPattern> {
        let mut words = split(text)?;
        if words.is_empty() {
            return Err(BadPattern::Empty);
        }
        let open = words.last() == Some(&Token::Star);
        if open {
            words.pop();
        }
        let words = words
            .into_iter()
            .map(|token| match token {
                Token::Word(word) => Ok(word),
                Token::Star => Err(BadPattern::Star(text.to_owned())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { words, open })
    }

    /// The pattern of exactly these words; none where there are none.
    pub(crate) fn exactly(words: &[&str]) -> Option<Self> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        (!words.is_empty()).then_some(Self { words, open: false })
    }

    /// Whether it fits every command.
    pub(crate) fn is_any(&self) -> bool {
        self.open && self.words.is_empty()
    }

    /// Whether it fits only commands of exactly its words.
    pub(crate) fn is_exact(&self) -> bool {
        !self.open
    }

    /// How it fits the words of `command`. Where `by_name` is set a command that is called by its path counts
    /// like its name.
    pub(crate) fn fit(&self, command: &Simple, by_name: bool) -> Fit {
        let mut fit = Fit::Yes;
        for (at, wanted) in self.words.iter().enumerate() {
            match command.words.get(at) {
                Some(Word::Literal(word)) if word == wanted => {}
                Some(Word::Literal(word)) if by_name && at == 0 && base(word) == wanted => {}
                Some(Word::Literal(_)) | None => return Fit::No,
                // It may become several words, or none: nothing behind it has a place.
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

/// The last part of a command's path.
pub(crate) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[derive(PartialEq, Eq)]
enum Token {
    Word(String),
    Star,
}

fn split(text: &str) -> Result<Vec<Token>, BadPattern> {
    let quotes = || BadPattern::Quotes(text.to_owned());
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
                    return Err(BadPattern::Shell(text.to_owned(), letter));
                }
                _ => word.push(letter),
            }
        }
        match (bare, word.as_str()) {
            (true, "*") => tokens.push(Token::Star),
            (true, word) if word.contains('*') => return Err(BadPattern::Star(text.to_owned())),
            _ => tokens.push(Token::Word(word)),
        }
    }
    Ok(tokens)
}

/// Whether the shell or a pattern gives this letter a meaning where it stands outside quotation marks.
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
