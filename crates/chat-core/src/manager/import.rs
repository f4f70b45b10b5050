//! Imports chats from exports of other programs, and of Natter itself.

mod convert;
mod reading;

use std::collections::HashSet;
use std::ops::AddAssign;
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
    /// The titles of the chats that are there already: they would be skipped.
    pub present: Vec<String>,
    /// What is missing in the other chats.
    pub missing: MissingParts,
    /// How many bytes were read, of what is in archives unpacked.
    pub bytes: u64,
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
    /// What is missing in the new chats.
    pub missing: MissingParts,
    /// The chats that could not be read.
    pub unreadable: Vec<UnreadableChat>,
    /// Why files, or the rest of them, could not be read.
    pub broken: Vec<Error>,
}

/// How much of the messages is not imported with them. A note stands in the place of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingParts {
    /// Files that are not in the export, or are of a kind that chats do not hold.
    pub files: usize,
    /// Contents of a kind that is not known.
    pub contents: usize,
}

impl AddAssign for MissingParts {
    fn add_assign(&mut self, more: Self) {
        self.files += more.files;
        self.contents += more.contents;
    }
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
    /// The store's. What is wrong with a file is part of the preview.
    pub async fn preview(&self, paths: &[PathBuf]) -> Result<ImportPreview> {
        let mut reading = Reading::start(&self.0, paths);
        let mut preview = ImportPreview::default();
        let (mut known, mut sources, mut rest) = (HashSet::new(), Vec::new(), Vec::new());
        while let Some(read) = reading.next().await? {
            match read {
                Read::Chat { program, new, missing, bytes } => {
                    preview.add(program, &new);
                    preview.bytes += bytes;
                    let NewImport { source, meta, .. } = *new;
                    if known.insert(source.clone()) {
                        sources.push(source);
                        rest.push((meta.title, missing));
                    } else {
                        preview.present.push(meta.title);
                    }
                }
                Read::Unreadable { chat, bytes } => {
                    preview.unreadable.push(chat);
                    preview.bytes += bytes;
                }
                Read::Broken(error) => preview.broken.push(error),
            }
        }
        let there = self.0.inner.shared.store.imported(sources).await?;
        for (is_there, (title, missing)) in there.into_iter().zip(rest) {
            if is_there {
                preview.present.push(title);
            } else {
                preview.missing += missing;
            }
        }
        Ok(preview)
    }

    /// Imports what is in these files, archives and folders, but for chats that are there already. Each chat is on disk
    /// before the next one, and before `progress` tells of it. Dropping the future ends the import between two chats;
    /// those that are imported stay.
    ///
    /// # Errors
    /// The store's: what was imported until then stays, and is skipped when the same is imported again. What is wrong
    /// with a file is part of the report.
    pub async fn run(
        &self,
        paths: &[PathBuf],
        progress: impl Fn(ImportProgress),
    ) -> Result<ImportReport> {
        let mut reading = Reading::start(&self.0, paths);
        let (mut report, mut done) = (ImportReport::default(), ImportProgress::default());
        while let Some(read) = reading.next().await? {
            let bytes = match read {
                Read::Chat { new, missing, bytes, .. } => {
                    match self.0.import_one(*new).await? {
                        Some(fid) => {
                            report.imported.push(fid);
                            report.missing += missing;
                        }
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
        Ok(report)
    }
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
