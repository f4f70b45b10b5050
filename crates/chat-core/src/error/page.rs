//! Defines why a web page that the user named could not be fetched.

use serde::{Deserialize, Serialize};

/// Why a page could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageFault {
    /// It is no address of the web, or has a password in it.
    Address,
    /// Its server could not be reached, or broke off.
    Unreachable {
        /// The server.
        host: String,
    },
    /// Its server did not answer in time.
    TooLate {
        /// The server.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// Its server refused.
    Refused {
        /// The server.
        host: String,
        /// The status and its words: "404 Not Found".
        status: String,
    },
    /// It leads elsewhere again and again, or into a network that it does not lie in itself.
    Elsewhere,
    /// It is no text.
    NoText,
}
