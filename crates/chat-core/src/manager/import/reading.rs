//! Reads exports on a thread of their own, a few chats ahead of those who take them.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use chat_import::{BrokenFile, ChatFault, ExportFault, Item, Program};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{MissingParts, UnreadableChat, convert};
use crate::error::{ChatImportFault, Error, ImportFault, Kind, Result};
use crate::manager::Manager;
use crate::store::NewImport;

/// How many chats are read ahead: each may have dozens of megabytes.
const AHEAD: usize = 2;

/// What is read. Dropping it ends the thread after the current chat.
pub(super) struct Reading {
    found: mpsc::Receiver<Read>,
    thread: Option<JoinHandle<()>>,
}

/// What was found in an export.
pub(super) enum Read {
    /// A chat, after this many bytes.
    Chat { program: Program, new: Box<NewImport>, missing: MissingParts, bytes: u64 },
    /// One that cannot be read.
    Unreadable { chat: UnreadableChat, bytes: u64 },
    /// Why a file, or the rest of it, cannot be read.
    Broken(Error),
}

impl Reading {
    pub(super) fn start(manager: &Manager, paths: &[PathBuf]) -> Self {
        let (finds, found) = mpsc::channel(AHEAD);
        let paths = paths.to_owned();
        let thread = manager.inner.shared.runtime.spawn_blocking(move || {
            for path in &paths {
                read(path, &finds);
            }
        });
        Self { found, thread: Some(thread) }
    }

    /// What comes next; none at the end.
    ///
    /// # Errors
    /// `Internal` where the thread ended too early.
    pub(super) async fn next(&mut self) -> Result<Option<Read>> {
        if let Some(read) = self.found.recv().await {
            return Ok(Some(read));
        }
        if let Some(thread) = self.thread.take() {
            thread.await.map_err(|_| Kind::Internal)?;
        }
        Ok(None)
    }
}

fn read(path: &Path, finds: &mpsc::Sender<Read>) {
    if finds.is_closed() {
        return;
    }
    let tell = |read| match finds.blocking_send(read) {
        Ok(()) => ControlFlow::Continue(()),
        // Nobody wants more.
        Err(_) => ControlFlow::Break(()),
    };
    let broken = match chat_import::read(path, &mut |item, bytes| tell(of_item(path, item, bytes)))
    {
        Ok(found) => found.broken,
        Err(fault) => vec![BrokenFile { path: path.to_owned(), fault }],
    };
    for BrokenFile { path, fault } in broken {
        if tell(Read::Broken(of_file(&path, fault))).is_break() {
            return;
        }
    }
}

fn of_item(path: &Path, item: Item, bytes: u64) -> Read {
    let unreadable = |title, place, fault| {
        let chat = UnreadableChat { path: path.to_owned(), place, title, error: of_chat(fault) };
        Read::Unreadable { chat, bytes }
    };
    match item {
        Item::Chat { program, place, chat } => {
            let title = Some(chat.title.clone()).filter(|title| !title.is_empty());
            let missing = convert::missing_parts(&chat);
            match convert::of_program(program, *chat) {
                Ok(new) => Read::Chat { program, new: Box::new(new), missing, bytes },
                Err(fault) => unreadable(title, place, fault),
            }
        }
        Item::Natter { place, chat } => match convert::of_natter(&chat) {
            Ok(new) => {
                let missing = MissingParts::default();
                Read::Chat { program: Program::Natter, new: Box::new(new), missing, bytes }
            }
            Err(fault) => unreadable(chat.title, place, fault),
        },
        Item::Unreadable { title, place, fault } => unreadable(title, place, fault),
    }
}

fn of_chat(fault: ChatFault) -> Error {
    match fault {
        // What comes before the place may quote what somebody wrote.
        ChatFault::Form(form) => {
            let error = Error::new(Kind::ImportChat { fault: ChatImportFault::Form });
            match form.rfind("line ") {
                Some(at) => error.with_detail(&form[at..]),
                None => error,
            }
        }
        ChatFault::Unknown => Kind::ImportChat { fault: ChatImportFault::Form }.into(),
        ChatFault::TooLarge => Kind::ImportChat { fault: ChatImportFault::TooLarge }.into(),
        ChatFault::Empty => Kind::ImportChat { fault: ChatImportFault::Empty }.into(),
        ChatFault::Newer(_) => Kind::ImportChat { fault: ChatImportFault::Newer }.into(),
    }
}

fn of_file(path: &Path, fault: ExportFault) -> Error {
    let of = |fault| Error::new(Kind::ImportFile { path: path.to_owned(), fault });
    match fault {
        ExportFault::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            Kind::FileNotFound { path: path.to_owned() }.into()
        }
        ExportFault::Io(error) => of(ImportFault::Unreadable).with_detail(error.to_string()),
        ExportFault::Empty => of(ImportFault::Empty),
        ExportFault::Unknown => of(ImportFault::Unknown),
        ExportFault::Truncated => of(ImportFault::Truncated),
        ExportFault::Archive(why) => of(ImportFault::Archive).with_detail(why),
        ExportFault::UnsafePath => of(ImportFault::UnsafePath),
        ExportFault::Bomb => of(ImportFault::Bomb),
    }
}
