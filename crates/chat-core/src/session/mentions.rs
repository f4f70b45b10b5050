//! What a person points at in a message, gathered when it is sent: it goes with the message as
//! files, and stays with it as it was then.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chat_permission::path::{Guard, Kind as PathKind, Project};
use chat_project::git;
use chat_project::text::{self, Encoding};

use super::SessionServices;
use crate::message::{AtResource, AtTarget, AtWords, Fid, Mention, Message, Part, Role, at_words};

/// The most bytes of one mention.
const MOST: usize = 64 * 1024;
/// The most entries of a folder.
const MOST_ENTRIES: usize = 500;
/// So many messages of an earlier chat are read at a time. Most of what an agent did are calls and results, which
/// are left out.
const PAGE: usize = 200;
/// The most such pages.
const MOST_PAGES: usize = 50;

/// The contents of all mentions. For those that cannot be read the text says so: the message is sent anyway.
pub(super) async fn gather(
    services: &SessionServices,
    project: Option<PathBuf>,
    mentions: &[Mention],
) -> Vec<Part> {
    let mut parts = Vec::with_capacity(mentions.len());
    for mention in mentions {
        let (name, text) = match mention {
            Mention::Chat { fid } => chat(services, fid).await,
            Mention::Page { url, text } => (url.clone(), Ok(cut(text.clone()))),
            // Only who looks at a message before it is sent gets one that was not read.
            Mention::Resource { text, .. } => {
                let text = text.clone().unwrap_or_else(|| "(read when sent)".to_owned());
                (mention.name(Path::new("")), Ok(cut(text)))
            }
            Mention::File { .. }
            | Mention::Folder { .. }
            | Mention::Symbol { .. }
            | Mention::Diff => on_disk(services, project.clone(), mention.clone()).await,
        };
        let text = text.unwrap_or_else(|why| format!("(could not be read: {why})"));
        parts.push(Part::File { name, text });
    }
    parts
}

/// What the `@` words of a text point at: in a project, as it lies on disk, and at servers, of which `resource` knows.
pub(crate) async fn written(
    services: &SessionServices,
    folder: Option<PathBuf>,
    text: String,
    resource: impl Fn(&str, &str) -> Option<AtResource> + Send + 'static,
) -> AtWords {
    let kept = services.path_environment.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let project = folder.as_deref().and_then(|folder| Project::open(folder, &kept).ok());
        let target = |path: &Path| match resolve(project.as_ref()?, path).ok()?.kind() {
            PathKind::File => Some(AtTarget::File),
            PathKind::Folder => Some(AtTarget::Folder),
            _ => None,
        };
        let folder = folder.as_deref().filter(|_| project.is_some());
        at_words(&text, folder, target, resource)
    });
    reading.await.unwrap_or_default()
}

type Gathered = (String, Result<String, String>);

async fn on_disk(
    services: &SessionServices,
    project: Option<PathBuf>,
    mention: Mention,
) -> Gathered {
    let Some(folder) = project else {
        return (mention.name(Path::new("")), Err("there is no project folder".to_owned()));
    };
    let called = mention.name(&folder);
    let kept = services.path_environment.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let project = match Project::open(&folder, &kept) {
            Ok(project) => project,
            Err(error) => return (mention.name(&folder), Err(error.to_string())),
        };
        let mention = match moved(&project, mention.clone()) {
            Ok(mention) => mention,
            Err(why) => return (mention.name(&folder), Err(why)),
        };
        let text = match &mention {
            Mention::File { path, lines } => read(&project, path, *lines),
            Mention::Symbol { path, lines, .. } => read(&project, path, Some(*lines)),
            Mention::Folder { path } => list(&project, path),
            Mention::Diff => diff(&project),
            Mention::Chat { .. } | Mention::Page { .. } | Mention::Resource { .. } => {
                Err("it is not a file".to_owned())
            }
        };
        (mention.name(&folder), text)
    });
    reading.await.unwrap_or_else(|_| (called, Err("reading it failed".to_owned())))
}

/// A definition where it is now: its file may have changed since it was pointed at. Of several of one
/// name the nearest is meant.
fn moved(project: &Project, mention: Mention) -> Result<Mention, String> {
    let Mention::Symbol { path, name, lines } = mention else { return Ok(mention) };
    let Some(places) = chat_project::definition_lines(project, &resolve(project, &path)?, &name)
    else {
        return Ok(Mention::Symbol { path, name, lines });
    };
    let nearest = places.into_iter().min_by_key(|(from, _)| from.abs_diff(lines.0));
    let lines = nearest.ok_or("it is no longer defined there")?;
    Ok(Mention::Symbol { path, name, lines })
}

fn read(project: &Project, path: &Path, lines: Option<(u32, u32)>) -> Result<String, String> {
    let path = resolve(project, path)?;
    let file = project.open_file(&path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    // Lines may be far down; a whole file need not be read further than it is quoted.
    let most = if lines.is_some() { 16 * 1024 * 1024 } else { MOST as u64 + 4 };
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 == most {
        cut_to_character(&mut bytes);
    }
    let (text, _) = text::decode(&bytes).ok_or("it is not text")?;
    let Some((from, to)) = lines else { return Ok(cut(text)) };
    let from = from.max(1) as usize;
    let count = (to as usize + 1).saturating_sub(from);
    Ok(cut(text.split_inclusive('\n').skip(from - 1).take(count).collect()))
}

/// Drops what of a last character was read.
fn cut_to_character(bytes: &mut Vec<u8>) {
    match Encoding::marked(bytes) {
        Some(Encoding::Utf16Le | Encoding::Utf16Be) => {
            bytes.truncate(bytes.len() & !1);
            // A character of two halves has its first one before the cut.
            if text::decode(bytes).is_none() {
                bytes.truncate(bytes.len() - 2);
            }
        }
        _ => {
            if let Err(error) = std::str::from_utf8(bytes)
                && error.error_len().is_none()
            {
                bytes.truncate(error.valid_up_to());
            }
        }
    }
}

fn list(project: &Project, path: &Path) -> Result<String, String> {
    let resolved = resolve(project, path)?;
    if resolved.kind() != PathKind::Folder {
        return Err("it is not a folder".to_owned());
    }
    let folder = resolved.relative().unwrap_or(Path::new(""));
    let mut text = String::new();
    let files =
        chat_project::below(project, folder, MOST_ENTRIES + 1).map_err(|e| e.to_string())?;
    for file in files.iter().take(MOST_ENTRIES) {
        let _ = writeln!(text, "{}", file.display());
    }
    if files.len() > MOST_ENTRIES {
        text.push_str("(more not shown)\n");
    }
    Ok(text)
}

/// What changed since the last commit.
fn diff(project: &Project) -> Result<String, String> {
    let given_up = AtomicBool::new(false);
    let repository = git::find(project).map_err(|error| error.to_string())?;
    let repository = repository.ok_or("there is no Git repository")?;
    let diff = repository.diff(MOST, &given_up).map_err(|error| error.to_string())?;
    let mut text = diff.text;
    if diff.is_cut {
        text.push_str("(cut here)\n");
    }
    // What changed is known, whatever becomes of the question for new files.
    let state = match repository.state(&given_up) {
        Ok(state) => state,
        Err(error) => {
            let _ = writeln!(text, "(new files are not listed: {error})");
            return Ok(text);
        }
    };
    let mut new = state.files.iter().filter(|file| file.change == git::Change::Untracked);
    for file in new.by_ref().take(MOST_ENTRIES) {
        let _ = writeln!(text, "new file: {}", file.path.display());
    }
    if state.is_cut || new.next().is_some() {
        text.push_str("(more not shown)\n");
    }
    Ok(text)
}

fn resolve(project: &Project, path: &Path) -> Result<chat_permission::path::ResolvedPath, String> {
    let given = path.to_str().ok_or("its name is not valid text")?;
    let path = project.resolve(given).map_err(|error| error.to_string())?;
    if !path.is_inside() || path.guard() == Guard::Own {
        return Err("it is outside the project".to_owned());
    }
    Ok(path)
}

/// An earlier chat: what was said in it, the latest at the end.
async fn chat(services: &SessionServices, fid: &Fid) -> Gathered {
    let mut messages: Vec<Arc<Message>> = Vec::new();
    let (mut more, mut told) = (true, 0);
    for _ in 0..MOST_PAGES {
        let first = messages.first().map(|message| message.id);
        let page = match services.store.page(fid, first, PAGE).await {
            Ok(page) => page,
            Err(error) => return (fid.to_string(), Err(error.for_model())),
        };
        told += page.messages.iter().map(|message| transcript_line(message).len()).sum::<usize>();
        more = page.more;
        messages.splice(0..0, page.messages);
        if !more || told > MOST {
            break;
        }
    }
    let title =
        services.store.session(fid).await.map_or_else(|_| fid.to_string(), |row| row.meta.title);
    (title, Ok(conversation(&messages, more)))
}

/// What was said, without what was said first where not all has room; `more` says that something was before it.
fn conversation(messages: &[Arc<Message>], more: bool) -> String {
    let mut text = String::new();
    let mut is_whole = !more;
    for message in messages.iter().rev() {
        let said = transcript_line(message);
        let is_too_much = text.len() + said.len() > MOST;
        // Of the newest message at least the beginning is included.
        if is_too_much && text.is_empty() {
            text = cut(said);
        } else if is_too_much {
            is_whole = false;
            break;
        } else {
            text.insert_str(0, &said);
        }
    }
    if !is_whole {
        text.insert_str(0, "(earlier messages are omitted)\n\n");
    }
    text
}

fn transcript_line(message: &Message) -> String {
    let who = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::System | Role::Tool | Role::Ui => return String::new(),
    };
    let text = message.plain_text();
    if text.trim().is_empty() { String::new() } else { format!("{who}:\n{}\n\n", text.trim()) }
}

fn cut(mut text: String) -> String {
    if text.len() > MOST {
        let most = text.floor_char_boundary(MOST);
        // A line stays whole, where that leaves more than half.
        let line = text[..most].rfind('\n').map(|line| line + 1);
        text.truncate(line.filter(|at| *at > MOST / 2).unwrap_or(most));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str("(cut here)\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use chat_permission::path::PathEnvironment;

    use super::*;

    #[test]
    fn what_is_cut_ends_with_a_line_where_lines_are_short() {
        let lines = "a line\n".repeat(MOST);
        let short = cut(lines);
        assert!(short.len() <= MOST + 12 && short.ends_with("a line\n(cut here)\n"));
        let made = cut(format!("// A licence\n{}", "x".repeat(2 * MOST)));
        assert!(made.len() > MOST, "{} of {MOST} bytes", made.len());
    }

    #[test]
    fn a_definition_is_found_where_it_stands_by_now() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let file = folder.path().join("a.rs");
        let symbol = |from, to| Mention::Symbol {
            path: file.clone(),
            name: "run".to_owned(),
            lines: (from, to),
        };
        std::fs::write(&file, "// One.\n// Two.\n\nfn run() {\n}\n").unwrap();
        assert_eq!(moved(&project, symbol(1, 2)), Ok(symbol(4, 5)));
        std::fs::write(&file, "fn walk() {\n}\n").unwrap();
        assert!(moved(&project, symbol(4, 5)).is_err(), "other lines would be taken for it");
    }

    #[test]
    fn of_a_chat_that_ends_with_a_long_text_something_goes_along() {
        let say = |role, text: &str| Arc::new(Message::text(role, None, text));
        let long = "word ".repeat(MOST);
        let told = conversation(&[say(Role::User, "Tell all"), say(Role::Assistant, &long)], false);
        assert!(told.contains("Assistant:\nword word"), "nothing was told");
        assert!(told.starts_with("(earlier messages are omitted)"));
        let told = conversation(&[say(Role::User, "One"), say(Role::Assistant, "Two")], false);
        assert_eq!(told, "User:\nOne\n\nAssistant:\nTwo\n\n");
        let told = conversation(&[say(Role::User, "One")], true);
        assert_eq!(told, "(earlier messages are omitted)\n\nUser:\nOne\n\n");
    }

    #[test]
    fn a_file_is_read_in_the_encoding_that_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let path = folder.path().join("a.txt");
        for encoding in
            [Encoding::Utf8Marked, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Latin1]
        {
            std::fs::write(&path, encoding.encode("Größe\n").unwrap()).unwrap();
            assert_eq!(read(&project, &path, None), Ok("Größe\n".to_owned()), "{encoding:?}");
        }
        std::fs::write(&path, b"\x7fELF\0\0\0").unwrap();
        assert_eq!(read(&project, &path, None), Err("it is not text".to_owned()));
        // Cut in the middle of a character, whatever the encoding.
        for (encoding, letter) in
            [(Encoding::Utf8, "€"), (Encoding::Utf16Le, "𝄞"), (Encoding::Utf16Be, "x")]
        {
            for before in ["", "a", "ab", "abc"] {
                let long = before.to_owned() + &letter.repeat(MOST);
                std::fs::write(&path, encoding.encode(&long).unwrap()).unwrap();
                let told = read(&project, &path, None).unwrap();
                assert!(told.starts_with(&format!("{before}{letter}")), "{encoding:?}");
                assert!(!told.contains('\u{fffd}') && !told.contains('Ã'), "{encoding:?}");
            }
        }
    }
}
