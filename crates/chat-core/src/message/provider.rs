//! What a server wants back with a part of a reply.

use serde::{Deserialize, Serialize};

/// What a server sent along with a part of a reply and wants back with it: a signature, an encrypted
/// thought, an id. Opaque to Natter; it goes back byte for byte, and only to the server and model
/// that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderData {
    /// The protocol in which it came, such as `openai`.
    pub protocol: String,
    /// The connection over which it came.
    pub connection: String,
    /// The model that it came from.
    pub model: String,
    /// The JSON as it came.
    pub json: String,
}

impl ProviderData {
    /// Its JSON, where it came from this model over this connection and protocol.
    pub fn json_for(&self, protocol: &str, connection: &str, model: &str) -> Option<&str> {
        let is_from =
            self.protocol == protocol && self.connection == connection && self.model == model;
        is_from.then_some(&*self.json)
    }
}
