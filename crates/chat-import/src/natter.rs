//! Reads what is common to all versions of Natter's own export. The messages are the engine's own, and its to read.

use serde::Deserialize;

use crate::fault::ChatFault;

/// The version of the format: what is written, and the newest that can be read.
pub const EXPORT_VERSION: u32 = 2;

/// A chat that Natter exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatterChat {
    /// The version of its format.
    pub version: u32,
    /// Its id.
    pub source_id: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// All of it, as JSON.
    pub json: Vec<u8>,
}

#[derive(Deserialize)]
struct Head {
    natter_export: u32,
    fid: String,
    #[serde(default)]
    title: Option<String>,
}

pub(crate) fn read(json: Vec<u8>) -> Result<NatterChat, ChatFault> {
    let head: Head = serde_json::from_slice(&json)?;
    if head.natter_export > EXPORT_VERSION {
        return Err(ChatFault::Newer(head.natter_export));
    }
    let Head { natter_export: version, fid: source_id, title } = head;
    Ok(NatterChat { version, source_id, title, json })
}
