//! A file on disk, as the editor needs it: read with its encoding and line ends, and written so that
//! nothing that somebody else changed is lost. All of it blocks.

mod merging;

use std::io::Read;
use std::path::{Path, PathBuf};

use chat_permission::path::{Error, Kind, PathEnvironment, Project};
use chat_presentation::words::fill;
pub(super) use chat_project::document::Format;
use chat_project::document::{self, Endings, Opened, Refused, Stamp};
use chat_project::text::{self, Encoding};
use gettextrs::gettext;
use gtk::glib;
pub(super) use merging::{Version, save_merged};

/// Longer texts are shown in part, in bytes: all that is typed is kept as a whole, again and again.
const MOST: u64 = 4 * 1024 * 1024;
/// So much of them, in bytes.
const PART: u64 = 1024 * 1024;
/// A longer line would take more than a frame to be drawn, in bytes.
const LONGEST_LINE: usize = 20_000;

/// A file as it was read or written.
#[derive(Clone, Debug)]
pub(super) struct DiskState {
    /// None where the file is not known to be that any more: it is always read again, and never written.
    stamp: Option<Stamp>,
    /// What tells its text from any other, also in a later run.
    pub(super) sum: String,
}

impl DiskState {
    /// As an earlier run saw it.
    pub(super) fn earlier(sum: String) -> Self {
        Self { stamp: None, sum }
    }
}

/// What was read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) text: String,
    pub(super) format: Format,
    /// None where it is too large to be written again.
    pub(super) disk_state: Option<DiskState>,
    /// Why it is not the whole text, which can only be read.
    pub(super) partial: Option<PartialReason>,
    /// Whether it is not to be written, by its permissions.
    pub(super) is_protected: bool,
}

/// Why only a part of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartialReason {
    /// It has so many bytes.
    Large(u64),
    /// It has lines that are too long.
    LongLines,
}

/// Why a file has no text to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is none.
    Gone,
    /// It is something else.
    Binary,
    /// It is too large for that.
    TooLarge(u64),
    /// It does not lie in the project, or is kept from programs.
    Kept,
    /// It could not be read, for this reason.
    Failed(String),
}

/// Why a text was not written. The file is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotSaved {
    /// It is another by now.
    Changed,
    /// It became another whenever it was to be written.
    KeepsChanging,
    /// Its encoding does not have this character.
    Lacks(char),
    /// For this reason.
    Failed(String),
}

impl PartialReason {
    pub(super) fn sentence(self) -> String {
        match self {
            Self::Large(bytes) => {
                let text = gettext(
                    "This file is large ({size}). Only the beginning is shown, and the file is read-only here.",
                );
                fill(&text, &[("size", &glib::format_size(bytes))])
            }
            Self::LongLines => gettext(
                "This file has very long lines. Only the start of each line is shown, and the file is read-only here.",
            ),
        }
    }
}

impl Refusal {
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Gone => gettext("This file no longer exists."),
            Self::Binary => gettext("This isn’t a text file."),
            Self::TooLarge(bytes) => {
                let text = gettext("This file is too large to show ({size}).");
                fill(&text, &[("size", &glib::format_size(*bytes))])
            }
            Self::Kept => gettext("This file is protected and can’t be opened here."),
            Self::Failed(reason) => {
                fill(&gettext("Can’t read this file: {reason}"), &[("reason", reason)])
            }
        }
    }
}

/// What is said of a file that is not to be written.
pub(super) fn protected() -> String {
    gettext("This file is write-protected. You can only read it here.")
}

/// How a new text is written.
pub(super) fn usual() -> Format {
    Format { encoding: Encoding::Utf8, endings: Endings::Lf }
}

/// The same line ends, and an encoding that has all characters.
pub(super) fn as_utf8(format: Format) -> Format {
    Format { encoding: Encoding::Utf8, ..format }
}

/// What is to be said of how a text is written.
pub(super) fn unusual(format: Format) -> Vec<String> {
    let encoding = match format.encoding {
        Encoding::Utf8 => None,
        Encoding::Utf8Marked => Some(gettext("UTF-8 with BOM")),
        Encoding::Utf16Le | Encoding::Utf16Be => Some("UTF-16".to_owned()),
        Encoding::Latin1 => Some("Latin-1".to_owned()),
    };
    let endings = match format.endings {
        Endings::Lf => None,
        Endings::CrLf => Some("CRLF".to_owned()),
        Endings::Cr => Some("CR".to_owned()),
        Endings::Mixed => Some(gettext("mixed line endings")),
    };
    encoding.into_iter().chain(endings).collect()
}

/// A text as it is on disk; none where the encoding does not have all of it.
pub(super) fn bytes(text: &str, format: Format) -> Option<Vec<u8>> {
    document::encoded(text, format).ok()
}

/// Reads a file of a project, or one that lies elsewhere.
pub(super) fn read(project: &Path, path: &Path) -> Result<Loaded, Refusal> {
    let (project, path) = beneath(project, path).map_err(Refusal::from)?;
    let path = path.as_path();
    match document::open(&project, path, MOST) {
        Ok(Opened::Text(found)) => {
            let disk_state = DiskState { stamp: Some(found.stamp), sum: sum(&found.text) };
            let (text, partial) = match without_long_lines(&found.text) {
                Some(short) => (short, Some(PartialReason::LongLines)),
                None => (found.text, None),
            };
            let is_protected = found.is_read_only;
            Ok(Loaded {
                text,
                format: found.format,
                disk_state: Some(disk_state),
                partial,
                is_protected,
            })
        }
        Ok(Opened::Binary(_)) => Err(Refusal::Binary),
        Ok(Opened::TooLarge(bytes)) => {
            let text = beginning(&project, path).ok_or(Refusal::TooLarge(bytes))?;
            let partial = Some(PartialReason::Large(bytes));
            Ok(Loaded { text, format: usual(), disk_state: None, partial, is_protected: false })
        }
        Err(refused) => Err(refusal(&project, path, &refused)),
    }
}

/// Reads a file again, unless it is still what it was.
pub(super) fn read_if_changed(
    project: &Path,
    path: &Path,
    known: Option<&DiskState>,
) -> Option<Result<Loaded, Refusal>> {
    if let Some(stamp) = known.and_then(|known| known.stamp.as_ref())
        && let Ok((beneath, path)) = beneath(project, path)
        && !document::is_changed(&beneath, &path, stamp)
    {
        return None;
    }
    Some(read(project, path))
}

/// Writes a text to the file that it came from, as long as that is what it was; a new file where
/// there was none.
pub(super) fn write(
    project: &Path,
    path: &Path,
    text: &str,
    format: Format,
    disk_state: Option<&DiskState>,
) -> Result<DiskState, NotSaved> {
    let (project, path) =
        beneath(project, path).map_err(|error| NotSaved::Failed(error.to_string()))?;
    let stamp = disk_state.and_then(|disk_state| disk_state.stamp.as_ref());
    if disk_state.is_some() && stamp.is_none() {
        return Err(NotSaved::Changed);
    }
    written(text, document::save(&project, &path, text, format, stamp))
}

/// Writes a text to a file, whatever it was before: the person said so.
pub(super) fn put(
    project: &Path,
    path: &Path,
    text: &str,
    format: Format,
) -> Result<DiskState, NotSaved> {
    let (project, path) =
        beneath(project, path).map_err(|error| NotSaved::Failed(error.to_string()))?;
    written(text, document::put(&project, &path, text, format))
}

fn written(text: &str, result: Result<Stamp, Refused>) -> Result<DiskState, NotSaved> {
    match result {
        Ok(stamp) => Ok(DiskState { stamp: Some(stamp), sum: sum(text) }),
        Err(Refused::Changed) => Err(NotSaved::Changed),
        Err(Refused::Lacks(letter)) => Err(NotSaved::Lacks(letter)),
        Err(refused) => Err(NotSaved::Failed(reason(&refused))),
    }
}

/// What a file is called that the person chose: from the project on, or whole where it lies elsewhere.
pub(super) fn called(project: &Path, chosen: &Path) -> PathBuf {
    let folder = chosen.parent().and_then(|folder| folder.canonicalize().ok());
    let whole = match (folder, chosen.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => chosen.to_owned(),
    };
    whole.strip_prefix(project).map(Path::to_owned).unwrap_or(whole)
}

/// The beginning of a text that is too long to be shown.
fn beginning(project: &Project, path: &Path) -> Option<String> {
    let resolved = project.resolve_path(path).ok()?;
    let file = project.open_file(&resolved).ok().filter(|_| resolved.is_inside())?;
    let mut bytes = Vec::new();
    file.take(PART).read_to_end(&mut bytes).ok()?;
    let whole_lines = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(whole_lines);
    let (text, _) = text::decode(&bytes)?;
    Some(without_long_lines(&text).unwrap_or(text))
}

/// The folder that a file is opened beneath, and its path from there on: the project, or the file's own
/// folder where it lies elsewhere.
fn beneath(project: &Path, path: &Path) -> Result<(Project, PathBuf), Error> {
    let (folder, path) = match (path.is_absolute(), path.parent(), path.file_name()) {
        (true, Some(folder), Some(name)) => (folder, Path::new(name)),
        _ => (project, path),
    };
    Ok((Project::open(folder, &PathEnvironment::default())?, path.to_owned()))
}

impl From<Error> for Refusal {
    /// The folder cannot be opened.
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(_) => Self::Gone,
            error => Self::Failed(error.to_string()),
        }
    }
}

fn refusal(project: &Project, path: &Path, refused: &Refused) -> Refusal {
    let is_missing =
        || project.resolve_path(path).is_ok_and(|resolved| resolved.kind() == Kind::Missing);
    match refused {
        Refused::Outside | Refused::Kept => Refusal::Kept,
        _ if is_missing() => Refusal::Gone,
        other => Refusal::Failed(reason(other)),
    }
}

fn reason(refused: &Refused) -> String {
    match refused {
        Refused::Outside => gettext("it’s outside the project"),
        Refused::Kept => gettext("it’s protected"),
        Refused::SeveralLinks => gettext("it has hard links that would keep the old text"),
        other => other.to_string(),
    }
}

/// The text with its long lines cut; none where there are none.
fn without_long_lines(text: &str) -> Option<String> {
    let is_long = |line: &str| line.len() > LONGEST_LINE;
    text.lines().any(is_long).then(|| {
        let cut = |line: &str| {
            let end = line.floor_char_boundary(LONGEST_LINE.min(line.len()));
            let more = if is_long(line) { "…" } else { "" };
            format!("{}{more}\n", &line[..end])
        };
        text.lines().map(cut).collect()
    })
}

fn sum(text: &str) -> String {
    let sum = glib::compute_checksum_for_string(glib::ChecksumType::Sha256, text);
    sum.map(String::from).unwrap_or_default()
}
