//! Reads and writes the files of drafts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::message::Fid;
use serde::Deserialize;

use super::attachments::{self, Kept};
use crate::atomic_file::write_atomically;
use crate::composer::{Pin, Written};

/// The name of the new chat's file; no fid looks like it.
const NEW_CHAT: &str = "new";

/// The extension of a draft's text file.
const TEXT: &str = "txt";
/// The extension of the file with a draft's pins.
pub(super) const PINS: &str = "json";

/// What is stored in addition to a draft's text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Pin(Pin),
    /// A file that was attached.
    Kept(Kept),
    /// An `@` word that mentions nothing.
    Plain {
        plain: String,
    },
}

/// Reads all drafts of a folder. Blocks. Unreadable files are left alone.
pub(crate) fn read(folder: &Path) -> HashMap<Option<Fid>, Written> {
    let mut drafts: HashMap<_, Written> = HashMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return drafts };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_stem().and_then(|name| name.to_str());
        let fid = name.map(|name| (name != NEW_CHAT).then(|| Fid::new(name)));
        let kind = path.extension().and_then(|kind| kind.to_str());
        let (Some(fid), Some(kind)) = (fid, kind) else { continue };
        if kind == TEXT
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            drafts.entry(fid).or_default().text = text;
        } else if kind == PINS
            && let Ok(json) = std::fs::read(&path)
            && let Ok(pins) = serde_json::from_slice::<Vec<serde_json::Value>>(&json)
        {
            // A later version may have stored entries that this one does not know.
            let draft = drafts.entry(fid).or_default();
            for entry in pins.into_iter().filter_map(|pin| serde_json::from_value(pin).ok()) {
                match entry {
                    Entry::Pin(pin) => draft.pins.push(Arc::new(pin)),
                    Entry::Kept(kept) => draft.pins.extend(kept.read(folder).map(Arc::new)),
                    Entry::Plain { plain } => draft.plain.extend([plain]),
                }
            }
        }
    }
    drafts
}

/// Writes a draft; an empty one removes its files. Of one that cannot be written as a whole, the text still is.
/// Blocks.
pub(super) fn write(folder: &Path, fid: Option<&Fid>, draft: &Written) -> std::io::Result<()> {
    let pins = write_pins(folder, fid, draft);
    keep(&file(folder, fid, TEXT), draft.text.as_bytes()).and(pins)
}

fn write_pins(folder: &Path, fid: Option<&Fid>, draft: &Written) -> std::io::Result<()> {
    let path = file(folder, fid, PINS);
    let mut unused = attachments::kept_in(&path);
    let mut entries = Vec::new();
    for pin in &draft.pins {
        // A pin that cannot be serialized, because its path is not valid text, must not prevent the
        // others.
        let entry = match Kept::of(pin) {
            Some(kept) => {
                attachments::keep(folder, &kept, &pin.what)?;
                unused.remove(kept.name());
                serde_json::to_value(kept)
            }
            None => serde_json::to_value(&**pin),
        };
        entries.extend(entry.ok());
    }
    let plain = draft.plain.iter().filter(|word| draft.text.contains(word));
    entries.extend(plain.map(|word| serde_json::json!({ "plain": word })));
    let pins = if entries.is_empty() { Vec::new() } else { serde_json::to_vec(&entries)? };
    keep(&path, &pins)?;
    attachments::remove_unused(folder, unused);
    Ok(())
}

/// Writes a file, or removes it if there is nothing to write.
fn keep(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if !bytes.is_empty() {
        return write_atomically(path, bytes);
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The sessions that have a draft. Blocks.
fn fids(folder: &Path) -> HashSet<Fid> {
    let Ok(entries) = std::fs::read_dir(folder) else { return HashSet::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let drafts = paths.filter(|path| path.extension().is_some_and(|it| it == TEXT || it == PINS));
    let names = drafts.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    names.filter(|name| name != NEW_CHAT).map(Fid::new).collect()
}

/// Removes the drafts of deleted sessions. Blocks.
pub(crate) fn prune(folder: &Path, exists: impl Fn(&Fid) -> bool) {
    for fid in fids(folder) {
        if !exists(&fid) {
            // A leftover file costs a few bytes, and is tried again at the next start.
            for kind in [TEXT, PINS] {
                let _ = std::fs::remove_file(file(folder, Some(&fid), kind));
            }
        }
    }
    attachments::prune(folder);
}

fn file(folder: &Path, fid: Option<&Fid>, kind: &str) -> PathBuf {
    let name = fid.map_or(NEW_CHAT, Fid::as_str);
    // A fid comes from the database; a slash in a damaged one must not lead out of the folder.
    folder.join(format!("{}.{kind}", name.replace('/', "_")))
}
