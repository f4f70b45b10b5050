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

/// How many objects of no known program may come before the first chat of a file.
const MOST_UNKNOWN: usize = 3;

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
    /// What could not be read, or not to its end.
    pub broken: Vec<BrokenFile>,
}

/// A file of an export that cannot be read, or not to its end.
#[derive(Debug)]
pub struct BrokenFile {
    /// Which. Of what is in an archive, this is the archive.
    pub path: PathBuf,
    /// Why.
    pub fault: ExportFault,
}

/// Gives each chat of an export, with how many bytes were read since the last one. Blocks. Ends early where `each` breaks.
///
/// # Errors
/// What is wrong with the whole of it. What is wrong with a file of several is told with what was found.
pub fn read(
    path: &Path,
    each: &mut dyn FnMut(Item, u64) -> ControlFlow<()>,
) -> Result<Found, ExportFault> {
    let mut found = Found::default();
    let done = if path.metadata()?.is_dir() {
        Ok(folder(path, &mut found, each))
    } else {
        file(path, &mut found, each)
    };
    let is_nothing = found.chats == 0 && found.broken.is_empty();
    match done {
        Ok(_) if is_nothing => Err(ExportFault::Unknown),
        Ok(_) => Ok(found),
        Err(fault) if is_nothing => Err(fault),
        Err(fault) => {
            found.broken.push(BrokenFile { path: path.to_owned(), fault });
            Ok(found)
        }
    }
}

type Each<'a> = &'a mut dyn FnMut(Item, u64) -> ControlFlow<()>;
type Done = Result<ControlFlow<()>, ExportFault>;

fn folder(path: &Path, found: &mut Found, each: Each<'_>) -> ControlFlow<()> {
    let files = below(path, 0);
    let mut chats: Vec<PathBuf> = files.into_iter().filter(|path| is_chats(path)).collect();
    let is_export = !chats.is_empty();
    if !is_export {
        chats = below(path, LEVELS);
        chats.retain(|path| path.extension().is_some_and(|it| it == "json"));
    }
    let mut beside = Folder::chosen(path);
    for path in chats {
        let done = match File::open(&path) {
            Ok(input) => stream(input, &mut beside, found, each),
            Err(error) => Err(error.into()),
        };
        if go_on(done, &path, is_export, found).is_break() {
            return ControlFlow::Break(());
        }
    }
    ControlFlow::Continue(())
}

/// Goes on after one of several files: what is wrong with it costs the others nothing.
fn go_on(done: Done, path: &Path, is_export: bool, found: &mut Found) -> ControlFlow<()> {
    match done {
        Ok(flow) => return flow,
        // Other files lie there, too.
        Err(ExportFault::Unknown) if !is_export => {}
        Err(fault) => found.broken.push(BrokenFile { path: path.to_owned(), fault }),
    }
    ControlFlow::Continue(())
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
        let done = match archive.read(&name) {
            Ok(input) => stream(input, &mut archive, found, each),
            Err(fault) => Err(fault),
        };
        if let Err(ExportFault::Io(error)) = &done
            && is_too_much(error)
        {
            return Err(ExportFault::Bomb);
        }
        if go_on(done, path, is_export, found).is_break() {
            return Ok(ControlFlow::Break(()));
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
    let (mut place, mut told) = (0, 0);
    // A file of something else is none of the export's: what it begins with waits for the first chat.
    let (mut pending, mut has_chats) = (Vec::new(), false);
    while let Some(json) = chats.next()? {
        place += 1;
        let read = chats.read - told;
        told = chats.read;
        let item = match json {
            Ok(json) => one(json, files, place),
            Err(fault) => Item::Unreadable { title: None, place, fault },
        };
        has_chats |= !matches!(item, Item::Unreadable { fault: ChatFault::Unknown, .. });
        pending.push((item, read));
        if !has_chats {
            if pending.len() > MOST_UNKNOWN {
                return Err(ExportFault::Unknown);
            }
            continue;
        }
        for (item, read) in pending.drain(..) {
            found.chats += 1;
            if each(item, read).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    if pending.is_empty() { Ok(ControlFlow::Continue(())) } else { Err(ExportFault::Unknown) }
}

#[derive(Deserialize)]
struct Title {
    #[serde(alias = "name")]
    title: Option<String>,
}

fn one(json: Vec<u8>, files: &mut dyn Files, place: usize) -> Item {
    let title = |json: &[u8]| serde_json::from_slice::<Title>(json).ok().and_then(|it| it.title);
    let unreadable =
        |json: &[u8], fault: ChatFault| Item::Unreadable { title: title(json), place, fault };
    let program = match program(&json) {
        Ok(Some(program)) => program,
        Ok(None) => return unreadable(&json, ChatFault::Unknown),
        Err(error) => return unreadable(&json, error.into()),
    };
    let read = match program {
        Program::ChatGpt => chatgpt::read(&json, files),
        Program::Claude => claude::read(&json, files),
        Program::OllmChat => ollmchat::read(&json, files),
        Program::Natter => {
            let known = title(&json);
            return match natter::read(json) {
                Ok(chat) => Item::Natter { place, chat },
                Err(fault) => Item::Unreadable { title: known, place, fault },
            };
        }
    };
    match read {
        Ok(chat) => Item::Chat { program, place, chat: Box::new(chat) },
        Err(fault) => unreadable(&json, fault),
    }
}
