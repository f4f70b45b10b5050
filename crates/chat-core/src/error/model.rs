//! Defines what can be wrong with a model's file.

use serde::{Deserialize, Serialize};

/// Why a file is no model that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFault {
    /// It is no GGUF file.
    NotGguf,
    /// It ends before its tensors do: a download that was not completed, say.
    Truncated {
        /// How many bytes it needs to have, as far as that is known.
        expected: u64,
        /// How many it has.
        found: u64,
    },
    /// Its header is larger than any real one.
    HeaderTooLarge,
    /// Its header contradicts itself.
    Corrupt,
    /// It is of a version of the format that is not read.
    Version,
    /// It is one of several files of a model, under another name: the others cannot be found.
    Alone,
    /// Its name, or that of a folder above it, cannot be noted: it is no Unicode.
    Name,
    /// It belongs to a model and is none: an adapter, a projector for pictures.
    NoModel,
}
