//! Defines what can be wrong with a file. Front ends word it for people.

use std::io;
use std::path::PathBuf;

/// Why a file is no model that can be used. A closed list.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no GGUF file at all.
    #[error("not a GGUF file")]
    NotGguf,
    /// The file ends before what its header names does.
    #[error("the file has {found} bytes and should have at least {expected}")]
    Truncated {
        /// How many bytes it needs to have, as far as that is known.
        expected: u64,
        /// How many it has.
        found: u64,
    },
    /// The header is larger than any real one.
    #[error("the header is too large")]
    HeaderTooLarge,
    /// The header contradicts itself.
    #[error("the header is corrupt: {0}")]
    Corrupt(&'static str),
    /// A version of the format other than 2 and 3.
    #[error("version {version} of the format{}", if *.big_endian { ", big-endian" } else { "" })]
    UnsupportedVersion {
        /// The version.
        version: u32,
        /// Whether the file was made for machines of the other byte order, which no version is
        /// read of.
        big_endian: bool,
    },
    /// It is one of several files of a model, and its name does not say where the others are.
    #[error("one file of {files} of a model, under another name")]
    Alone {
        /// How many there are.
        files: u64,
    },
    /// One file of a model in several is not there, or not sound.
    #[error("{}: {error}", .path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}
