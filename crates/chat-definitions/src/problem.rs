//! Defines what can be wrong with a definition.

use std::path::PathBuf;

use crate::Origin;

/// Something wrong with a file or a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The file or folder, absolute. Its name may contain anything: show it through [`crate::visible`].
    pub path: PathBuf,
    /// The line, counted from 1, if the problem is in one.
    pub line: Option<usize>,
    /// Where the file belongs.
    pub origin: Origin,
    /// What is wrong.
    pub kind: ProblemKind,
}

impl Problem {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong: the file says something that only other programs understand.
    Note,
    /// The definition is used all the same.
    Warning,
    /// The file is not used as it is now. If it was right before, that version is still used.
    Error,
}

/// The type that a value must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A list of texts, or one text that is split.
    List,
    /// Keys with texts.
    Map,
}

/// The kinds of problems. Texts from files in them have no hidden characters and are at most 80 characters long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It cannot be read, or is not a file.
    Unreadable,
    /// It is, or leads through, a link that leads out of the project or nowhere.
    LeadsOut,
    /// It has more bytes than allowed.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The folder has more files than are read.
    TooManyFiles {
        /// The limit.
        limit: usize,
    },
    /// It is not UTF-8.
    NotUtf8,
    /// The front matter has no closing `---`.
    Unclosed,
    /// The front matter is not valid YAML, or nested too deeply.
    Syntax,
    /// The front matter is not a list of keys with values.
    NotAMap,
    /// YAML anchors and aliases, and tags, are not supported.
    Unsupported,
    /// A key occurs twice, or in two spellings.
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key that means nothing here. A warning.
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A key that is probably meant to be another one. An error: without `tools`, an agent has all of them.
    MisspeltKey {
        /// The key.
        key: String,
        /// The key that it resembles.
        meant: &'static str,
    },
    /// A key that limits an agent in other programs and would be ignored here. An error, like a misspelt one.
    ForeignLimit {
        /// The key.
        key: String,
        /// The key that does the same here.
        instead: &'static str,
    },
    /// A key of a skill that is for other programs, which share its format. A note.
    ForeignKey {
        /// The key.
        key: String,
    },
    /// A pattern in `tools` that no tool has a name of. A warning: such a tool may come with another version.
    NoSuchTool {
        /// The pattern.
        glob: String,
    },
    /// A key without a value, which counts as absent. A warning, except where it must have one.
    EmptyValue {
        /// The key.
        key: &'static str,
    },
    /// A list without a value: whether that means all or nothing is not for us to guess.
    Empty {
        /// The key.
        key: &'static str,
    },
    /// A required key or its value is missing.
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A value of a wrong type.
    WrongType {
        /// The key.
        key: &'static str,
        /// What is expected.
        expected: ValueType,
    },
    /// A number outside of its range.
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The lowest allowed value.
        lowest: u8,
        /// The highest allowed value.
        highest: u8,
    },
    /// A text that is too long, or a list with too many entries.
    TooLong {
        /// The key.
        key: &'static str,
        /// The limit in characters or entries.
        limit: usize,
    },
    /// A word that is not one of those allowed, such as an unknown mode or color.
    UnknownWord {
        /// The key.
        key: &'static str,
        /// The word.
        word: String,
    },
    /// A pattern that is not valid.
    InvalidGlob {
        /// The pattern.
        glob: String,
    },
    /// The name of the file, which the definition has, is not a valid name.
    InvalidFileName {
        /// The file's name without `.md`.
        name: String,
    },
    /// A name with characters other than `a-z`, `0-9`, `-` (and `_`, except in skills), or longer than 64.
    InvalidName {
        /// The name.
        name: String,
    },
    /// The name of a skill is not that of its folder.
    NameDiffers {
        /// The name.
        name: String,
        /// The name of the folder.
        folder: String,
    },
    /// An agent has the name of a built-in one.
    BuiltInName {
        /// The name.
        name: String,
    },
    /// Another definition of the same kind and origin has this name and is used.
    DuplicateName {
        /// The name.
        name: String,
        /// The file that is used.
        used: PathBuf,
    },
    /// Control characters, or characters that are invisible or change the direction of writing. A warning: a
    /// description shows them as `\u{…}`, a body keeps them.
    HiddenCharacters {
        /// The key; the body if there is none.
        key: Option<&'static str>,
    },
    /// The same in a value that must not have any.
    ForbiddenCharacters {
        /// The key.
        key: &'static str,
    },
    /// There is nothing after the front matter.
    EmptyBody,
    /// Changes in this folder are not noticed, since the system allows no more watches. A warning.
    Unwatched,
}

impl ProblemKind {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::ForeignKey { .. } => Severity::Note,
            Self::UnknownKey { .. }
            | Self::NoSuchTool { .. }
            | Self::EmptyValue { .. }
            | Self::HiddenCharacters { .. }
            | Self::Unwatched => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// A problem in a text whose file the caller knows: its line, counted from 1, and its kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub line: Option<usize>,
    pub kind: ProblemKind,
}

impl Found {
    pub fn at(line: usize, kind: ProblemKind) -> Self {
        Self { line: Some(line), kind }
    }
}

/// Whether one of these is an error.
pub(crate) fn has_error(found: &[Found]) -> bool {
    found.iter().any(|found| found.kind.severity() == Severity::Error)
}
