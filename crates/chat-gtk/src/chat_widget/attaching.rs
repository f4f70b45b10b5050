//! Reads the files that are attached to a message, a few at a time, and says which cannot be.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use chat_core::attachment::AttachmentReader;
use chat_core::error::{AttachmentFault, Error, Kind};
use chat_presentation::words::{fill, sentence};
use gettextrs::{gettext, ngettext};
use relm4::gtk::prelude::*;
use tokio::sync::oneshot;

use super::handle::Handle;
use super::messages;
use crate::composer::{Attached, Source, Unread};
use crate::file_dialog;

/// So many files are read at once: each is in memory while it is.
const AT_ONCE: usize = 3;
/// So many sentences are shown about files that were not attached.
const SENTENCES: usize = 3;

/// What came of a file.
#[derive(Debug)]
pub(super) enum Msg {
    Read { id: u64, result: Result<Box<Attached>, Error> },
}

/// What was read, for the message.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) id: u64,
    /// None where it could not be read.
    pub(super) read: Option<Attached>,
}

/// The files that are being read, and that are to be.
pub(super) struct Attaching {
    handle: Handle<Msg>,
    reader: AttachmentReader,
    waiting: VecDeque<Unread>,
    /// What is being read, by its id; what is dropped here is given up.
    running: HashMap<u64, (Option<PathBuf>, oneshot::Sender<()>)>,
    /// Why others could not be attached that were read with these.
    refused: Vec<String>,
}

impl Attaching {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        Self {
            handle,
            reader: AttachmentReader::default(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            refused: Vec::new(),
        }
    }

    /// These files are to be attached and were not read yet: they are read, and no others any more.
    pub(super) fn read(&mut self, wanted: Vec<Unread>) {
        self.running.retain(|id, _| wanted.iter().any(|unread| unread.id == *id));
        self.waiting = wanted.into();
        self.waiting.retain(|unread| !self.running.contains_key(&unread.id));
        self.read_next();
        if self.running.is_empty() {
            self.tell_refused();
        }
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        let Msg::Read { id, result } = msg;
        // Nobody waits for it any more, so nothing is said about it.
        let (path, _) = self.running.remove(&id)?;
        let read = match result {
            Ok(read) => Some(*read),
            Err(error) => {
                self.refuse(path, &error);
                None
            }
        };
        self.read_next();
        if self.running.is_empty() {
            self.tell_refused();
        }
        Some(Output { id, read })
    }

    fn read_next(&mut self) {
        while self.running.len() < AT_ONCE {
            let Some(Unread { id, source }) = self.waiting.pop_front() else { return };
            let (guard, given_up) = oneshot::channel();
            let path = match &source {
                Source::File(path) => Some(path.clone()),
                Source::Bytes { .. } | Source::Clipboard { .. } => None,
            };
            self.running.insert(id, (path, guard));
            let reader = self.reader.clone();
            self.handle.spawn(async move {
                tokio::select! {
                    biased;
                    _ = given_up => None,
                    result = read(&reader, source) => Some(Msg::Read { id, result }),
                }
            });
        }
    }

    /// A file cannot be attached; a folder can be worked in.
    fn refuse(&mut self, path: Option<PathBuf>, error: &Error) {
        let is_folder =
            matches!(error.kind, Kind::Attachment { fault: AttachmentFault::Folder, .. });
        match path.filter(|_| is_folder) {
            Some(folder) => self.handle.output(messages::Output::Folder(folder)),
            None => self.refused.push(sentence(error)),
        }
    }

    /// Says which files were not attached, all at once.
    fn tell_refused(&mut self) {
        let mut words = std::mem::take(&mut self.refused);
        words.dedup();
        if words.is_empty() {
            return;
        }
        let more = words.len().saturating_sub(SENTENCES);
        if more > 0 {
            words.truncate(SENTENCES);
            let count = u32::try_from(more).unwrap_or(u32::MAX);
            let rest = ngettext(
                "{count} more file wasn’t attached.",
                "{count} more files weren’t attached.",
                count,
            );
            words.push(fill(&rest, &[("count", &more.to_string())]));
        }
        self.handle.output(messages::Output::Note(words.join("\n")));
    }
}

async fn read(reader: &AttachmentReader, source: Source) -> Result<Box<Attached>, Error> {
    let read = match source {
        Source::File(path) => reader.read_file(&path).await?,
        Source::Bytes { name, data } => reader.read_bytes(&name, data).await?,
        // It is asked for once the clipboard has handed it over.
        Source::Clipboard { name } => {
            let fault = AttachmentFault::Missing;
            return Err(Kind::Attachment { name, fault }.into());
        }
    };
    let attached = tokio::task::spawn_blocking(move || Attached::new(read)).await;
    attached.map(Box::new).map_err(|_| Kind::Internal.into())
}

/// Asks for files to attach.
pub(super) fn choose(parent: Option<&gtk::Window>, then: impl Fn(Vec<PathBuf>) + 'static) {
    let chooser = gtk::FileChooserNative::builder()
        .title(gettext("Attach Files"))
        .action(gtk::FileChooserAction::Open)
        .accept_label(gettext("_Attach"))
        .select_multiple(true)
        .modal(true)
        .build();
    chooser.set_transient_for(parent);
    file_dialog::ask_paths(&chooser, then);
}
