//! Splits a shell command into its simple commands, by a shell's own grammar.
//!
//! `a && b | c > file; d "$(e)"` is `a`, `b`, `c` with a redirect, `d` and `e`. Nothing is run or
//! expanded. For each word the result says whether its text is fixed; a word with a variable, a
//! substitution, a file pattern or braces is known only when it runs. A command that the parser
//! does not understand, or that shells understand differently, is [`Unparsable`], so that Natter
//! asks about it instead of guessing.

mod guard;
mod interpreters;
mod reading;
mod runners;
mod walk;
mod word;

use serde::{Deserialize, Serialize};

pub(crate) use interpreters::reads_code;
pub use reading::Reads;
pub(crate) use reading::{folders, only_goes, reads};
pub(crate) use runners::{changes_folder, hands_over};

/// The longest command that is parsed, in bytes: nobody reads a longer one before allowing it.
pub const LONGEST: usize = 64 * 1024;

/// A simple command: one program or builtin with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Simple {
    /// The command's name and its arguments.
    pub words: Vec<Word>,
    /// Names of variables that are set before it, by it, or instead of it.
    pub assignments: Vec<String>,
    /// Files that the shell opens for it, and texts that are passed to it.
    pub redirects: Vec<Redirect>,
    /// Whether its input is, or may be, another command's output, a file, or a text.
    #[serde(default)]
    pub fed: bool,
    /// Whether it may run several times, since it is in a loop or a function.
    #[serde(default)]
    pub repeats: bool,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Word {
    /// Its text, without quotation marks.
    Literal(String),
    /// A word that is known only when it runs, as it was written.
    Other(String),
}

/// A redirect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// Its file, or its text.
    pub target: Word,
}

/// What a redirect does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RedirectKind {
    /// Reads a file.
    Read,
    /// Writes a file, or reads and writes it.
    Write,
    /// Passes a text to the command: a here-document or a here-string.
    Text,
}

/// Why a command cannot be judged part by part.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, thiserror::Error,
)]
pub enum Unparsable {
    /// It has no words.
    #[error("the command is empty")]
    Empty,
    /// It has more than [`LONGEST`] bytes.
    #[error("the command is too long to check")]
    TooLong,
    /// Brackets, quotes or `if`s are nested too deeply.
    #[error("the command is nested too deeply to check")]
    TooDeep,
    /// It has a character that no command needs and that hides what it does.
    #[error("the command contains an invisible character, U+{0:04X}")]
    Hidden(u32),
    /// It is not valid shell syntax.
    #[error("the command is not valid shell syntax: {0}")]
    Syntax(String),
    /// Shells differ in how they parse this part.
    #[error("it is unclear how the shell would interpret `{0}`")]
    Unclear(String),
}

/// Every simple command of `text`, in order. Takes time proportional to the text's length. The
/// parser runs on a separate thread, since its stack is limited there.
pub fn parse(text: &str) -> Result<Vec<Simple>, Unparsable> {
    guard::check(text)?;
    let found = guard::catch_panic(|| walk::program(text))?;
    if found.is_empty() { Err(Unparsable::Empty) } else { Ok(found) }
}

impl Word {
    /// Its text, if it is fixed.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// Its text if it is fixed, otherwise as it was written.
    pub fn as_written(&self) -> &str {
        let (Self::Literal(text) | Self::Other(text)) = self;
        text
    }
}

impl Simple {
    /// All words, if all are fixed.
    pub fn literal(&self) -> Option<Vec<&str>> {
        self.words.iter().map(Word::literal).collect()
    }
}

#[cfg(test)]
mod tests;
