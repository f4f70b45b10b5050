//! Finds out what a server speaks, and which servers run on this machine.

use super::Timeouts;
use crate::error::Result;
use crate::settings::{Connection, ConnectionKind, Key};

/// A server that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// A connection to it, named after the program (`Ollama`).
    pub connection: Connection,
}

/// Where to look for servers on this machine.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The name for the connection, the protocol and the address.
    pub candidates: Vec<Connection>,
}

impl Probe {
    /// The usual ports of this machine. `ollama_host` is what `OLLAMA_HOST` says, often without
    /// scheme or port.
    pub fn usual(ollama_host: Option<&str>) -> Self {
        let _ = ollama_host;
        todo!()
    }
}

/// What the URL alone says about the kind.
pub fn guess_kind(url: &str) -> Option<ConnectionKind> {
    let _ = url;
    todo!()
}

/// Asks the server what it speaks.
pub async fn detect_kind(
    url: &str,
    key: Option<&Key>,
    timeouts: Timeouts,
) -> Result<ConnectionKind> {
    let _ = (url, key, timeouts);
    todo!()
}

/// The servers among the candidates that answer, in their order.
pub async fn find_local(probe: &Probe) -> Vec<Found> {
    let _ = probe;
    todo!()
}
