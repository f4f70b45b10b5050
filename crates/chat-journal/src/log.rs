//! Reads and appends to the log: one entry per line, each with its checksum. A half-written line
//! that a crash left at the end is not an entry, and is cut off by the next append.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::entry::{Changed, Entry, EntryKind, Seq};

/// The version of the log's format. Newer versions are not read.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    /// Changes when the log is rewritten.
    generation: String,
    /// The number of the next entry: no number is used again, even if its entry is gone.
    #[serde(default)]
    next: Seq,
}

/// The log as far as it was read. Use it only under the lock.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    inode: u64,
    /// Where the last complete line ends.
    end: u64,
    generation: String,
    next: Seq,
    entries: Vec<Entry>,
}

impl Log {
    pub fn new(path: PathBuf) -> Self {
        Self { path, inode: 0, end: 0, generation: String::new(), next: 1, entries: Vec::new() }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Changes when the log is rewritten.
    pub fn generation(&self) -> &str {
        &self.generation
    }

    /// The number that the next entry will have.
    pub fn next(&self) -> Seq {
        self.next
    }

    pub fn find(&self, seq: Seq) -> Option<&Entry> {
        self.entries.binary_search_by_key(&seq, |entry| entry.seq).ok().map(|at| &self.entries[at])
    }

    /// Whether an entry is about a session's changes: its own, and what a restore in another session did to them.
    pub fn concerns(&self, entry: &Entry, session: &str) -> bool {
        if entry.kind.session() == session {
            return true;
        }
        let EntryKind::Change(Changed { restore: Some(restore), .. }) = &entry.kind else {
            return false;
        };
        let restored = self.find(*restore).map(|restored| &restored.kind);
        matches!(restored, Some(EntryKind::Restored { others, .. }) if others.iter().any(|other| other == session))
    }

    /// Reads what others appended. Returns whether the log was rewritten.
    pub fn sync(&mut self) -> Result<bool, Error> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return self.begin(&[]).map(|()| true);
            }
            Err(error) => return Err(Error::io(&self.path)(error)),
        };
        let found = file.metadata().map_err(Error::io(&self.path))?;
        let replaced = found.ino() != self.inode || found.len() < self.end;
        if replaced {
            *self = Self { inode: found.ino(), ..Self::new(self.path.clone()) };
        }
        if found.len() == self.end && !self.generation.is_empty() {
            return Ok(replaced);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.end))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(Error::io(&self.path))?;
        self.take(&bytes)?;
        if self.generation.is_empty() {
            // Not even its first line is complete.
            self.begin(&[])?;
        }
        Ok(replaced)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            self.end += line.len() as u64;
            let Some(text) = checked(whole) else {
                tracing::warn!(path = %self.path.display(), "a line of the journal is damaged and left out");
                continue;
            };
            if self.generation.is_empty()
                && let Ok(header) = serde_json::from_slice::<Header>(text)
            {
                if header.version > VERSION {
                    return Err(Error::Newer(header.version));
                }
                self.generation = header.generation;
                self.next = self.next.max(header.next);
                continue;
            }
            match serde_json::from_slice::<Entry>(text) {
                Ok(entry) if self.entries.last().is_none_or(|last| last.seq < entry.seq) => {
                    self.next = self.next.max(entry.seq + 1);
                    self.entries.push(entry);
                }
                other => {
                    tracing::warn!(path = %self.path.display(), ?other, "a line of the journal says nothing");
                }
            }
        }
        Ok(())
    }

    /// Appends entries in one piece, and waits until they are on disk. The contents that they refer
    /// to must be on disk before. The numbers increase by one from [`Log::next`].
    pub fn append(&mut self, happened: Vec<EntryKind>) -> Result<(), Error> {
        if happened.is_empty() {
            return Ok(());
        }
        // No two appends have the same time, so that before and after are always clear.
        let at = now().max(self.entries.last().map_or(0, |last| last.at + 1));
        let entries: Vec<Entry> =
            (self.next..).zip(happened).map(|(seq, what)| Entry { seq, at, kind: what }).collect();
        let text: Vec<u8> = entries.iter().flat_map(line).collect();
        let write = || {
            let mut file = File::options().write(true).open(&self.path)?;
            // A crash left this half-written.
            file.set_len(self.end)?;
            file.seek(SeekFrom::Start(self.end))?;
            file.write_all(&text)?;
            file.sync_data()
        };
        write().map_err(Error::io(&self.path))?;
        self.end += text.len() as u64;
        self.next += entries.len() as Seq;
        self.entries.extend(entries);
        Ok(())
    }

    /// Rewrites the log with only these entries.
    pub fn rewrite(&mut self, keep: impl Fn(&Entry) -> bool) -> Result<(), Error> {
        let kept: Vec<Entry> = self.entries.iter().filter(|entry| keep(entry)).cloned().collect();
        self.begin(&kept)
    }

    fn begin(&mut self, entries: &[Entry]) -> Result<(), Error> {
        let generation = format!("{:x}-{:x}", nanoseconds(), std::process::id());
        let header = Header { version: VERSION, generation: generation.clone(), next: self.next };
        let mut text = line(&header);
        text.extend(entries.iter().flat_map(line));
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let beside = self.path.with_extension("new");
        let write = || {
            let mut file = File::create(&beside)?;
            file.write_all(&text)?;
            file.sync_all()?;
            let inode = file.metadata()?.ino();
            std::fs::rename(&beside, &self.path)?;
            File::open(folder)?.sync_all()?;
            Ok(inode)
        };
        self.inode = write().map_err(Error::io(&self.path))?;
        self.end = text.len() as u64;
        self.generation = generation;
        self.entries = entries.to_vec();
        Ok(())
    }
}

fn line<T: Serialize>(value: &T) -> Vec<u8> {
    // These types can always be serialized.
    let text = serde_json::to_string(value).unwrap_or_default();
    format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())).into_bytes()
}

fn checked(line: &[u8]) -> Option<&[u8]> {
    let (sum, text) = (line.get(..8)?, line.get(9..)?);
    let sum = u32::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    (line[8] == b' ' && crc32fast::hash(text) == sum).then_some(text)
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    (nanoseconds() / 1_000_000) as u64
}

/// Nanoseconds since 1970.
pub fn nanoseconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

#[cfg(test)]
mod tests;
