//! Defines what a server wants back with a part of a reply.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Part;

/// What a server sent along with a part of a reply and wants back with it: a signature, an encrypted
/// thought, an id. Opaque to Natter; it goes back byte for byte, and only to the server and model
/// that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderData {
    /// Where it came from.
    #[serde(flatten)]
    pub origin: Origin,
    /// The JSON as it came.
    pub json: String,
}

/// A model as the origin of what it sent along.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The protocol in which it speaks, such as `openai`.
    pub protocol: String,
    /// The connection over which it is reached.
    pub connection: String,
    /// Identifies its server ([`Origin::digest`]): a connection may come to lead elsewhere.
    /// None of the built-in engine, and of what was stored before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The model.
    pub model: String,
}

impl Origin {
    /// Identifies the server at this base address. A path may hold a secret, so that it is
    /// a digest and not the address.
    pub fn digest(address: &str) -> String {
        let digest = Sha256::digest(address);
        digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl ProviderData {
    /// Its JSON, where it came from there for sure.
    pub fn json_for(&self, origin: &Origin) -> Option<&str> {
        (self.origin.server.is_some() && self.origin == *origin).then_some(&*self.json)
    }
}

/// Forgets what was sent along with thinking at the end of a reply that ended too early: it may be cut
/// before what proves it, and is refused for ever.
pub(crate) fn forget_cut(parts: &mut [Part]) {
    if let Some(Part::Thinking { provider, .. }) = parts.last_mut() {
        *provider = None;
    }
}

/// Forgets what was sent along with any thinking: the calls that it led to are dropped.
pub(crate) fn forget_all(parts: &mut [Part]) {
    for part in parts {
        if let Part::Thinking { provider, .. } = part {
            *provider = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn it_goes_to_nobody_but_the_model_of_the_server_that_it_came_from() {
        let stored = json!({
            "protocol": "openai", "connection": "c", "server": "https://s/v1", "model": "m",
            "json": "[1]",
        });
        let data: ProviderData = from_value(stored.clone()).unwrap();
        assert_eq!(serde_json::to_value(&data).unwrap(), stored);
        assert_eq!(data.json_for(&data.origin), Some("[1]"));
        for (field, other) in
            [("protocol", "p"), ("connection", "d"), ("server", "https://s/v2"), ("model", "n")]
        {
            let mut elsewhere = stored.clone();
            elsewhere[field] = json!(other);
            let elsewhere: ProviderData = from_value(elsewhere).unwrap();
            assert_eq!(data.json_for(&elsewhere.origin), None, "{field}");
        }
    }

    #[test]
    fn what_was_stored_without_a_server_goes_nowhere() {
        let stored =
            json!({ "protocol": "openai", "connection": "c", "model": "m", "json": "[1]" });
        let data: ProviderData = from_value(stored).unwrap();
        assert_eq!(data.json_for(&data.origin), None);
    }
}
