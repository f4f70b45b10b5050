//! Defines what can be wrong with an export, as kinds. Front ends word it.

/// Why a file cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportFault {
    /// It could not be opened or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It is no export of any known program.
    #[error("not an export of a known program")]
    Unknown,
    /// It ends in the middle. What came before was read.
    #[error("the file ends in the middle")]
    Truncated,
    /// The archive is damaged, encrypted or of an unknown kind.
    #[error("the archive cannot be read: {0}")]
    Archive(&'static str),
    /// The archive has a path that leads out of it.
    #[error("the archive has a path that leads out of it")]
    UnsafePath,
    /// The archive unpacks to much more than any real export.
    #[error("the archive unpacks to too much")]
    Bomb,
}

/// Why a single chat cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatFault {
    /// Its JSON is broken, or not of the form that such chats have. Says where.
    #[error("{0}")]
    Form(String),
    /// It is no chat of a known program.
    #[error("not a chat of a known program")]
    Unknown,
    /// It takes more memory than any real one.
    #[error("too large")]
    TooLarge,
    /// It holds no message.
    #[error("no messages")]
    Empty,
    /// A newer Natter wrote it.
    #[error("written by a newer version ({0})")]
    Newer(u32),
}

impl From<serde_json::Error> for ChatFault {
    fn from(error: serde_json::Error) -> Self {
        Self::Form(error.to_string())
    }
}
