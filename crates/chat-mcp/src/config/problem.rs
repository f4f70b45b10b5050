//! Defines what can be wrong with a file of servers.

use chat_definitions::{Severity, ValueType};

/// Something wrong with a file, or with one of its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The name of the server, as it is in the file, if it is about one. It may contain anything: show it with hidden
    /// characters made visible.
    pub server: Option<String>,
    /// The line, counted from 1, if it is in one.
    pub line: Option<usize>,
    /// What is wrong.
    pub kind: ProblemKind,
}

impl Problem {
    /// How bad it is. A server with an error is not used.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

/// The kinds of problems. Texts from files in them have at most 80 characters, and values of variables and headers are
/// never among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file cannot be read, or is not a file.
    Unreadable,
    /// The file of a project is, or leads through, a link that leads out of it or nowhere.
    LeadsOut,
    /// The file has more bytes than allowed.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The file is not UTF-8.
    NotUtf8,
    /// The file is not JSON, or nested too deeply.
    Syntax,
    /// The file, or its list of servers, is not of the form that it must have.
    NotAFileOfServers,
    /// The servers stand under `servers`, as in files of VS Code, and not under `mcpServers`.
    FormOfVsCode,
    /// There are more servers than are read.
    TooManyServers {
        /// The limit.
        limit: usize,
    },
    /// The name of a server is not allowed.
    InvalidName,
    /// An earlier server has this name and is used.
    DuplicateName,
    /// A server, or something in it that has keys, is not an object.
    NotAnObject {
        /// The key; the server itself if there is none.
        key: Option<&'static str>,
    },
    /// There is neither a command nor an address.
    NoTransport,
    /// There are both a command and an address, and no type that says which counts.
    TwoTransports,
    /// The type is none that exists.
    UnknownType {
        /// The type.
        word: String,
    },
    /// The type is `sse`, the transport that the protocol gave up in 2025.
    OldTransport,
    /// A key that the type requires is missing.
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A key occurs twice.
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key that other programs know, and that has no effect here. A note.
    ForeignKey {
        /// The key.
        key: String,
    },
    /// A key that has no effect here, although what it says would matter. A warning.
    UnsupportedKey {
        /// The key.
        key: String,
    },
    /// A key in `natter` that does not exist. A warning.
    UnknownKey {
        /// The key.
        key: String,
        /// The key that it resembles.
        meant: Option<&'static str>,
    },
    /// A value of a wrong type.
    WrongType {
        /// The key.
        key: &'static str,
        /// What is expected.
        expected: ValueType,
    },
    /// A value that must not be empty.
    Empty {
        /// The key.
        key: &'static str,
    },
    /// A text that is too long, or a list with too many entries.
    TooLong {
        /// The key.
        key: &'static str,
        /// The limit in bytes or entries.
        limit: usize,
    },
    /// A number outside of its range.
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The lowest allowed value.
        lowest: u64,
        /// The highest allowed value.
        highest: u64,
    },
    /// Control characters in a value, or characters that are invisible or change the direction of writing.
    ForbiddenCharacters {
        /// The key.
        key: &'static str,
    },
    /// The name of a variable is not allowed.
    InvalidVariable {
        /// The name.
        name: String,
    },
    /// The name of a header is not allowed.
    InvalidHeader {
        /// The name.
        name: String,
    },
    /// A header that the protocol itself sets.
    ReservedHeader {
        /// The name.
        name: String,
    },
    /// The address is none that HTTP knows.
    InvalidUrl,
    /// The address contains a name or a password.
    CredentialsInUrl,
    /// A reference of an unknown kind, or to a name that cannot be.
    UnknownReference {
        /// The reference, as it is in the file.
        text: String,
    },
    /// A reference where none is replaced.
    MisplacedReference {
        /// The key.
        key: &'static str,
    },
    /// The path of a folder is neither absolute nor in the home folder, nor in the project if the file is one's.
    InvalidFolder {
        /// The path.
        path: String,
    },
    /// Something that only the program knows that the server comes from.
    Untranslatable {
        /// The variable, as it is in that program's file.
        text: String,
    },
}

impl ProblemKind {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::ForeignKey { .. } => Severity::Note,
            Self::UnsupportedKey { .. } | Self::UnknownKey { .. } | Self::TooManyServers { .. } => {
                Severity::Warning
            }
            _ => Severity::Error,
        }
    }
}

/// What a problem quotes of a file: at most 80 characters.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    text.chars().take(LONGEST).collect()
}
