//! Reads all chats of an export: a file, an archive or a folder.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::archive::{Archive, TooMuch};
use crate::chat::ImportedChat;
use crate::fault::{ChatFault, ExportFault};
use crate::natter::{self, NatterChat};
use crate::recognize::{Program, program};
use crate::source::{Files, Folder, below};
use crate::split::Splitter;
use crate::{chatgpt, claude, ollmchat};

/// How deep a history lies: `YYYY/MM/DD`, in a folder that is chosen above it.
const LEVELS: usize = 5;

/// A chat of an export.
#[derive(Debug)]
pub enum Item {
    /// One of another program's.
    Chat {
        /// The program.
        program: Program,
        /// Its place in its file, from 1.
        place: usize,
        /// The chat.
        chat: Box<ImportedChat>,
    },
    /// One of Natter's own.
    Natter {
        /// Its place in its file, from 1.
        place: usize,
        /// The chat.
        chat: NatterChat,
    },
    /// One that cannot be read.
    Unreadable {
        /// Its title, as far as that can be read.
        title: Option<String>,
        /// Its place in its file, from 1.
        place: usize,
        /// Why.
        fault: ChatFault,
    },
}

/// What a file or folder had.
#[derive(Debug, Default)]
pub struct Found {
    /// How many chats were read, unreadable ones included.
    pub chats: usize,
    /// Why the rest could not be read.
    pub broken: Option<ExportFault>,
}

/// Gives each chat of an export, with how many bytes were read since the last one. Blocks. Ends early where `each` breaks.
///
/// # Errors
/// What is wrong, where there is no chat at all.
pub fn read(
    path: &Path,
    each: &mut dyn FnMut(Item, u64) -> ControlFlow<()>,
) -> Result<Found, ExportFault> {
    let mut found = Found::default();
    let done = if path.metadata()?.is_dir() {
        folder(path, &mut found, each)
    } else {
        file(path, &mut found, each)
    };
    match done {
        Ok(_) if found.chats == 0 => Err(ExportFault::Unknown),
        Ok(_) => Ok(found),
        Err(fault) if found.chats == 0 => Err(fault),
        Err(fault) => Ok(Found { broken: Some(fault), ..found }),
    }
}

type Each<'a> = &'a mut dyn FnMut(Item, u64) -> ControlFlow<()>;
type Done = Result<ControlFlow<()>, ExportFault>;

fn folder(path: &Path, found: &mut Found, each: Each<'_>) -> Done {
    let files = below(path, 0);
    let mut chats: Vec<PathBuf> = files.into_iter().filter(|path| is_chats(path)).collect();
    if chats.is_empty() {
        chats = below(path, LEVELS);
        chats.retain(|path| path.extension().is_some_and(|it| it == "json"));
    }
    let mut beside = Folder::chosen(path);
    let mut fault = None;
    for path in chats {
        match stream(File::open(&path)?, &mut beside, found, each) {
            Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
            // Other files lie there, too.
            Ok(ControlFlow::Continue(())) | Err(ExportFault::Unknown) => {}
            Err(error) => fault = Some(error),
        }
    }
    fault.map_or(Ok(ControlFlow::Continue(())), Err)
}

fn file(path: &Path, found: &mut Found, each: Each<'_>) -> Done {
    let mut opened = File::open(path)?;
    if opened.metadata()?.len() == 0 {
        return Err(ExportFault::Empty);
    }
    if !Archive::is_one(&mut opened)? {
        return stream(opened, &mut Folder::around(path), found, each);
    }
    let mut archive = Archive::open(path, opened)?;
    let mut names: Vec<_> = archive.names().map(str::to_owned).collect();
    names.sort();
    let is_json = |name: &String| Path::new(name).extension().is_some_and(|it| it == "json");
    let all: Vec<_> = names.iter().filter(|name| is_json(name)).cloned().collect();
    names.retain(|name| is_chats(Path::new(name)));
    let is_export = !names.is_empty();
    for name in if is_export { names } else { all } {
        let input = archive.read(&name)?;
        match stream(input, &mut archive, found, each) {
            Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
            Ok(ControlFlow::Continue(())) => {}
            Err(ExportFault::Unknown) if !is_export => {}
            Err(ExportFault::Io(error)) if is_too_much(&error) => {
                return Err(ExportFault::Bomb);
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn is_too_much(error: &std::io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<TooMuch>())
}

/// Whether a file is called as exports call the one with the chats: `conversations.json`, `conversations-000.json`.
fn is_chats(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix("conversations").and_then(|rest| rest.strip_suffix(".json"));
    number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
}

fn stream(input: impl Read, files: &mut dyn Files, found: &mut Found, each: Each<'_>) -> Done {
    let mut chats = Splitter::new(input);
    let (mut place, mut told, mut unknown) = (0, 0, 0);
    while let Some(json) = chats.next()? {
        place += 1;
        let read = chats.read - told;
        told = chats.read;
        let item = match one(json, files, place) {
            // A file of something else is none of the export's.
            Ok(None) if found.chats == 0 && unknown < 3 => {
                unknown += 1;
                continue;
            }
            Ok(None) if found.chats == 0 => return Err(ExportFault::Unknown),
            Ok(None) => continue,
            Ok(Some(item)) | Err(item) => item,
        };
        found.chats += 1;
        if each(item, read).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[derive(Deserialize)]
struct Title {
    #[serde(alias = "name")]
    title: Option<String>,
}

/// A chat; none where it is of no known program. The error is one that cannot be read.
fn one(json: Vec<u8>, files: &mut dyn Files, place: usize) -> Result<Option<Item>, Item> {
    let title = |json: &[u8]| serde_json::from_slice::<Title>(json).ok().and_then(|it| it.title);
    let unreadable =
        |json: &[u8], fault: ChatFault| Item::Unreadable { title: title(json), place, fault };
    let program = match program(&json) {
        Ok(Some(program)) => program,
        Ok(None) => return Ok(None),
        Err(error) => return Err(unreadable(&json, error.into())),
    };
    let read = match program {
        Program::ChatGpt => chatgpt::read(&json, files),
        Program::Claude => claude::read(&json, files),
        Program::OllmChat => ollmchat::read(&json, files),
        Program::Natter => {
            let known = title(&json);
            let unreadable = |fault| Item::Unreadable { title: known, place, fault };
            let read = natter::read(json).map(|chat| Some(Item::Natter { place, chat }));
            return read.map_err(unreadable);
        }
    };
    match read {
        Ok(chat) => Ok(Some(Item::Chat { program, place, chat: Box::new(chat) })),
        Err(fault) => Err(unreadable(&json, fault)),
    }
}
