//! Reads files from disk with their encoding and line endings, and writes them without losing other
//! programs' changes. Everything here blocks.

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

/// Larger texts are shown only in part, since edited texts are stored as a whole again and again;
/// in bytes.
const MOST: u64 = 4 * 1024 * 1024;
/// The size of that part, in bytes.
const PART: u64 = 1024 * 1024;
/// Drawing a longer line would take more than a frame; in bytes.
const LONGEST_LINE: usize = 20_000;

/// The known state of a file when it was read or written.
#[derive(Clone, Debug)]
pub(super) struct DiskState {
    /// None if the file may have changed since: then it is always read again, and never written.
    stamp: Option<Stamp>,
    /// A hash of its text, which stays valid in later runs.
    pub(super) sum: String,
}

impl DiskState {
    /// The state that an earlier run stored.
    pub(super) fn earlier(sum: String) -> Self {
        Self { stamp: None, sum }
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) text: String,
    pub(super) format: Format,
    /// None if it is too large to be written again.
    pub(super) disk_state: Option<DiskState>,
    /// Why only a part of the text is shown, which is read-only.
    pub(super) partial: Option<PartialReason>,
    /// Whether its permissions forbid writing.
    pub(super) is_protected: bool,
}

/// Why only a part of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartialReason {
    /// It has this many bytes.
    Large(u64),
    /// It has lines that are too long.
    LongLines,
}

/// Why a file has no text to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The file does not exist.
    Gone,
    /// It is not a text file.
    Binary,
    /// It is too large.
    TooLarge(u64),
    /// It is not in the project, or is guarded.
    Kept,
    /// It could not be read, for this reason.
    Failed(String),
}

/// Why a text was not saved. The file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotSaved {
    /// The file has changed.
    Changed,
    /// The file changed at each attempt to write it.
    KeepsChanging,
    /// Its encoding lacks this character.
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

/// The remark about a write-protected file.
pub(super) fn protected() -> String {
    gettext("This file is write-protected. You can only read it here.")
}

/// The default format of a new text.
pub(super) fn usual() -> Format {
    Format { encoding: Encoding::Utf8, endings: Endings::Lf }
}

/// The same line endings, with an encoding that has all characters.
pub(super) fn as_utf8(format: Format) -> Format {
    Format { encoding: Encoding::Utf8, ..format }
}

/// Remarks about an unusual format.
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

/// The encoded text; none if the encoding lacks some of its characters.
pub(super) fn bytes(text: &str, format: Format) -> Option<Vec<u8>> {
    document::encoded(text, format).ok()
}

/// Reads a file of a project, or one elsewhere.
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

/// Reads a file again if it has changed.
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

/// Writes a text to its file if that has not changed since, or to a new file if there was none.
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

/// Writes a text to a file even if it has changed, as the user decided.
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

/// The name of a chosen file: relative to the project, or the full path if it is elsewhere.
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

/// The folder to open a file from, and its path in it: the project, or the file's own folder if it
/// is elsewhere.
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

/// The text with its long lines cut; none if it has no long lines.
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
