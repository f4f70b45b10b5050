//! Defines why a formula cannot be drawn.

/// Why a formula cannot be drawn. The front end says it in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// It has no visible part.
    #[error("nothing to draw")]
    Empty,
    /// Its source is longer than [`LONGEST`](crate::LONGEST).
    #[error("too long")]
    TooLong,
    /// Its parts are nested too deeply.
    #[error("nested too deeply")]
    TooDeep,
    /// It has too many parts, or is too large.
    #[error("too large")]
    TooLarge,
    /// It uses a command that is not known.
    #[error("unknown command {0}")]
    UnknownCommand(String),
    /// It is not valid TeX.
    #[error("not valid TeX")]
    Invalid,
    /// It could not be laid out.
    #[error("layout failed")]
    Failed,
}

impl FormulaError {
    /// The kind of an error of the parser, which has only words.
    pub(crate) fn of_parser(message: &str) -> Self {
        let unknown = message.strip_prefix("Undefined control sequence: ");
        if let Some(command) = unknown {
            return Self::UnknownCommand(command.trim().to_owned());
        }
        if message.contains("Recursion limit") {
            return Self::TooDeep;
        }
        if message.contains("limit exceeded") || message.contains("Too many expansions") {
            return Self::TooLarge;
        }
        Self::Invalid
    }
}
