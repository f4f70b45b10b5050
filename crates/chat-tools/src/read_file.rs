//! `read_file`: returns the lines of a text file, a picture, or a description of any other file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Target, Tense, Tool, ToolContext,
    ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use chat_project::text::{self, Encoding};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::file_versions::{self, FileVersion, FileVersions};
use crate::lines::with_lines;
use crate::part::{self, Part, Range, Without};
use crate::spec::{arguments, counted, on_disk, size, spec};
use crate::tool_path::{ToolPath, failed};

/// The maximum size of a picture for a model: servers refuse larger ones.
const PICTURE: u64 = 5 * 1024 * 1024;
/// The maximum size of a UTF-16 file, which is read whole.
const UTF16: u64 = 16 * 1024 * 1024;

/// How far a file is read: a second or two. A sparse file can be as long as the disk is large.
const LONGEST: u64 = 1 << 30;

/// Reads files.
pub struct ReadFile(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// First line, from 1
    #[serde(default)]
    from: Option<u64>,
    /// Last line, inclusive
    #[serde(default)]
    to: Option<u64>,
}

impl Default for ReadFile {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "read_file",
            "Read lines of a text file (each starts with its line number and a tab), or view an image.",
        ),
        title: N_("Read Files").into(),
        summary: N_("Reads lines of a text file, or an image").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Reads,
        icon: ToolIcon::Text,
        labels: Labels::Own(label),
        target,
        permissions: &[Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::READ,
        hints: &[],
    }
}

/// The target of a call, which starts at the first requested line.
fn target(arguments: &Value) -> Option<Target> {
    let line = arguments.get("from").and_then(Value::as_u64);
    Target::path(arguments).map(|target| Target { line, ..target })
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Read { path, from, to }) => with_lines(path, *from, *to),
        _ => with_lines(&call.text("path"), call.number("from"), call.number("to")),
    };
    let sentence = match tense {
        // “Read …” alone would sound like the past tense.
        Tense::ToDo => N_("Read the file {what}"),
        Tense::Doing => N_("Reading {what}"),
        Tense::Done => N_("Read {what}"),
        Tense::Failed => N_("Couldn’t read {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for ReadFile {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path, from, to } = arguments(given)?;
        let range = Range::new(from, to, context.most)?;
        let place = ToolPath::new(&context, &path)?;
        place.may_read(&context).await?;
        place.must_be_file()?;
        let versions = context.memory.get::<FileVersions>();
        let sees = context.sees;
        on_disk(move |given_up| {
            let file = place.project.open_file(&place.path).map_err(|error| failed(&error))?;
            let found = file.metadata().map_err(|error| broken(&place, &error))?;
            let bounded = Bounded { file, left: LONGEST, given_up };
            let mut reader = BufReader::with_capacity(64 * 1024, bounded);
            let start = reader.fill_buf().map_err(|error| broken(&place, &error))?.to_vec();
            let length = found.len();
            let view = |from, to| ToolView::Read { path: place.display_name(), from, to };
            if let Some(mime) = text::picture_type(&start) {
                return picture(&place, reader, mime, length, sees)
                    .map(|output| output.view(view(None, None)));
            }
            match read(reader, &start, range, length) {
                Ok(Part { text, lines, hash }) => {
                    let mark =
                        hash.map_or_else(|| FileVersion::stamp(&found), FileVersion::Contents);
                    versions.put(place.path.real(), mark);
                    let (from, to) = lines.unzip();
                    Ok(ToolOutput::text(text).view(view(from, to)))
                }
                Err(Without::Binary) => {
                    let (shown, kind) = (place.display_name(), text::binary_kind(&start));
                    let text =
                        format!("{shown} is {kind}, {}. It has no lines to read.", size(length));
                    Ok(ToolOutput::text(text).view(view(None, None)))
                }
                Err(Without::Beyond(lines)) => {
                    let lines = counted(lines, "line");
                    Err(ToolFailure::new(format!("{} has only {lines}.", place.display_name())))
                }
                Err(Without::Io(error)) => Err(broken(&place, &error)),
            }
        })
        .await
    }
}

/// A reader that stops where the requested part must end, or when the call is given up.
struct Bounded<'a> {
    file: File,
    left: u64,
    given_up: &'a AtomicBool,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(io::Error::other("this was stopped"));
        }
        if self.left == 0 {
            return Err(io::Error::other(
                "the requested part is too far into the file: search in it instead",
            ));
        }
        let length = self.file.read(buffer)?;
        self.left = self.left.saturating_sub(length as u64);
        Ok(length)
    }
}

fn broken(place: &ToolPath, error: &std::io::Error) -> ToolFailure {
    ToolFailure::new(format!("{} could not be read: {error}.", place.display_name()))
}

/// Reads a part of a file whose beginning is known.
fn read(
    mut reader: BufReader<Bounded<'_>>,
    start: &[u8],
    range: Range,
    length: u64,
) -> Result<Part, Without> {
    match Encoding::marked(start) {
        Some(Encoding::Utf8Marked) => {
            reader.consume(3);
            part::read(reader, &start[..3], range)
        }
        Some(_) if length <= UTF16 => {
            let mut bytes = Vec::new();
            reader.take(UTF16).read_to_end(&mut bytes).map_err(Without::Io)?;
            let (text, encoding) = text::decode(&bytes).ok_or(Without::Binary)?;
            let part = part::of_text(&text, range, encoding.label())?;
            Ok(Part { hash: Some(file_versions::hash(&bytes)), ..part })
        }
        None if !start.contains(&0) => part::read(reader, &[], range),
        _ => Err(Without::Binary),
    }
}

/// A picture, for a model with vision.
fn picture(
    place: &ToolPath,
    reader: BufReader<Bounded<'_>>,
    mime: &str,
    length: u64,
    sees: bool,
) -> Result<ToolOutput, ToolFailure> {
    let what = format!("{} is an image ({mime}, {})", place.display_name(), size(length));
    if !sees {
        return Ok(ToolOutput::text(format!("{what}, but you cannot see images.")));
    }
    if length > PICTURE {
        return Ok(ToolOutput::text(format!(
            "{what}, too large to show: the limit is {}.",
            size(PICTURE)
        )));
    }
    let mut bytes = Vec::new();
    reader.take(PICTURE).read_to_end(&mut bytes).map_err(|error| broken(place, &error))?;
    let pictures = vec![(mime.to_owned(), bytes.into())];
    Ok(ToolOutput { text: format!("{what}."), pictures, ..ToolOutput::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_so_far_and_as_long_as_somebody_waits() {
        let mut path = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut path, &[b'a'; 100]).unwrap();
        let given_up = AtomicBool::new(false);
        let read = |left| {
            let file = path.reopen().unwrap();
            let mut reader =
                BufReader::with_capacity(16, Bounded { file, left, given_up: &given_up });
            let start = reader.fill_buf().map(<[u8]>::to_vec).unwrap_or_default();
            super::read(reader, &start, Range::new(None, None, 1000).unwrap(), 100)
        };
        assert!(read(1000).is_ok());
        assert!(matches!(read(50), Err(Without::Io(_))));
        given_up.store(true, Ordering::Relaxed);
        assert!(matches!(read(1000), Err(Without::Io(_))));
    }
}
