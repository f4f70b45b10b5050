//! Imports chats from exports of other programs, and of Natter itself.

mod convert;
mod reading;

use std::collections::HashSet;
use std::path::PathBuf;

use chat_import::Program;
use jiff::Timestamp;

use self::reading::{Read, Reading};
use super::{Error, Event, Fid, Manager, Result};
use crate::store::NewImport;

/// Imports chats. From [`Manager::import`].
#[derive(Clone, Debug)]
pub struct Import(pub(super) Manager);

/// What exports hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportPreview {
    /// The programs that they are of.
    pub programs: Vec<Program>,
    /// How many chats can be imported, with those that are there already.
    pub chats: usize,
    /// How many messages these have.
    pub messages: usize,
    /// When the first of them began.
    pub oldest: Option<Timestamp>,
    /// When the last of them was active.
    pub newest: Option<Timestamp>,
    /// How many of the chats are there already: they would be skipped.
    pub present: usize,
    /// The chats that cannot be read.
    pub unreadable: Vec<UnreadableChat>,
    /// Why files, or the rest of them, cannot be read.
    pub broken: Vec<Error>,
}

/// How far an import is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// How many chats were read.
    pub chats: usize,
    /// How many of them were imported.
    pub imported: usize,
    /// How many bytes were read, of what is in archives unpacked.
    pub bytes: u64,
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// The chats that are new.
    pub imported: Vec<Fid>,
    /// How many were skipped because they are there already.
    pub present: usize,
    /// The chats that could not be read.
    pub unreadable: Vec<UnreadableChat>,
    /// Why files, or the rest of them, could not be read.
    pub broken: Vec<Error>,
}

/// A chat that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableChat {
    /// The file, archive or folder that it is in.
    pub path: PathBuf,
    /// Its place in its file, from 1.
    pub place: usize,
    /// Its title, as far as that can be read.
    pub title: Option<String>,
    /// Why.
    pub error: Error,
}

impl Import {
    /// What these files, archives and folders hold. Stores nothing. Dropping the future ends the reading after the
    /// current chat.
    ///
    /// # Errors
    /// What is wrong with the first one, where there is no chat in any: `ImportFile`, `FileNotFound`. The store's.
    pub async fn preview(&self, paths: &[PathBuf]) -> Result<ImportPreview> {
        let mut reading = Reading::start(&self.0, paths);
        let mut preview = ImportPreview::default();
        let (mut known, mut sources) = (HashSet::new(), Vec::new());
        while let Some(read) = reading.next().await? {
            match read {
                Read::Chat { program, new, .. } => {
                    preview.add(program, &new);
                    if known.insert(new.source.clone()) {
                        sources.push(new.source);
                    } else {
                        preview.present += 1;
                    }
                }
                Read::Unreadable { chat, .. } => preview.unreadable.push(chat),
                Read::Broken(error) => preview.broken.push(error),
            }
        }
        if preview.chats == 0 && preview.unreadable.is_empty() {
            nothing_but(&preview.broken)?;
        }
        let there = self.0.inner.shared.store.imported(sources).await?;
        preview.present += there.into_iter().filter(|there| *there).count();
        Ok(preview)
    }

    /// Imports what is in these files, archives and folders, but for chats that are there already. Each chat is on disk
    /// before the next one, and before `progress` tells of it. Dropping the future ends the import between two chats;
    /// those that are imported stay.
    ///
    /// # Errors
    /// As [`preview`](Self::preview). The store's: what was imported until then stays, and is skipped when the same is
    /// imported again.
    pub async fn run(
        &self,
        paths: &[PathBuf],
        progress: impl Fn(ImportProgress),
    ) -> Result<ImportReport> {
        let mut reading = Reading::start(&self.0, paths);
        let (mut report, mut done) = (ImportReport::default(), ImportProgress::default());
        while let Some(read) = reading.next().await? {
            let bytes = match read {
                Read::Chat { new, bytes, .. } => {
                    match self.0.import_one(*new).await? {
                        Some(fid) => report.imported.push(fid),
                        None => report.present += 1,
                    }
                    bytes
                }
                Read::Unreadable { chat, bytes } => {
                    report.unreadable.push(chat);
                    bytes
                }
                Read::Broken(error) => {
                    report.broken.push(error);
                    continue;
                }
            };
            done.chats += 1;
            done.bytes += bytes;
            done.imported = report.imported.len();
            progress(done);
        }
        if done.chats == 0 {
            nothing_but(&report.broken)?;
        }
        Ok(report)
    }
}

/// The first of these errors, where there is one.
fn nothing_but(broken: &[Error]) -> Result<()> {
    broken.first().map_or(Ok(()), |error| Err(error.clone()))
}

impl ImportPreview {
    fn add(&mut self, program: Program, new: &NewImport) {
        if !self.programs.contains(&program) {
            self.programs.push(program);
        }
        self.chats += 1;
        self.messages += new.messages.len();
        let (created, updated) = (new.meta.created, new.meta.updated);
        self.oldest = Some(self.oldest.map_or(created, |oldest| oldest.min(created)));
        self.newest = Some(self.newest.map_or(updated, |newest| newest.max(updated)));
    }
}

impl Manager {
    /// Imports a chat and tells of it, also where the caller gives up. None where it is there already.
    async fn import_one(&self, new: NewImport) -> Result<Option<Fid>> {
        let this = self.clone();
        self.run(async move {
            let shared = &this.inner.shared;
            let Some(record) = shared.store.import(new).await? else { return Ok(None) };
            this.remember_first(std::slice::from_ref(&record));
            let fid = record.fid.clone();
            shared.hub.tell(&Event::SessionAdded(record.meta.into()));
            Ok(Some(fid))
        })
        .await
    }
}
