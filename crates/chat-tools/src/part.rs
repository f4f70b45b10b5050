//! Reads a part of a long text for a model: numbered lines, within limits, with a hint how to
//! continue.

use std::io::{self, BufRead};

use chat_core::tool::ToolFailure;
use chat_project::text::{self, Encoding};
use sha2::{Digest, Sha256};

/// How many lines one call returns at most.
pub const LINES: u64 = 2000;
/// How many characters of a line are shown, and the bytes that they may take. Longer lines are made
/// by programs, for programs.
const LINE_CHARACTERS: usize = 2000;
const LINE_BYTES: usize = LINE_CHARACTERS * 4;
/// How far a file is read to count its lines: this takes some tens of milliseconds.
const COUNTED: u64 = 64 * 1024 * 1024;

/// The requested lines, from 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    from: u64,
    to: u64,
    /// The maximum number of bytes of lines.
    bytes: usize,
}

impl Range {
    /// The range that a call requests.
    ///
    /// # Errors
    ///
    /// It is not a valid range.
    pub fn new(from: Option<u64>, to: Option<u64>, bytes: usize) -> Result<Self, ToolFailure> {
        let from = from.unwrap_or(1).max(1);
        match to {
            Some(to) if to < from => Err(ToolFailure::new(format!(
                "`to` ({to}) is before `from` ({from}): lines start at 1, and both are included."
            ))),
            to => {
                let last = from.saturating_add(LINES - 1);
                Ok(Self { from, to: to.unwrap_or(u64::MAX).min(last), bytes })
            }
        }
    }
}

/// The result of reading.
#[derive(Debug)]
pub struct Part {
    /// The numbered lines, and remarks about them.
    pub text: String,
    /// The first line and the last.
    pub lines: Option<(u64, u64)>,
    /// The hash of the whole contents, if all of it was read.
    pub hash: Option<[u8; 32]>,
}

/// Why nothing was read.
#[derive(Debug)]
pub enum Without {
    /// It is not text.
    Binary,
    /// There are only this many lines.
    Beyond(u64),
    /// It could not be read.
    Io(io::Error),
}

/// The raw lines of a range, and facts about the rest.
#[derive(Default)]
struct CollectedLines {
    lines: Vec<Line>,
    /// How many lines were counted, and whether that was to the end.
    total: u64,
    whole: bool,
    /// Whether the text ends with a newline.
    ended: bool,
    hash: Sha256,
}

/// A line without its ending, shortened if it is long.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    length: usize,
}

/// Reads a part of a text in UTF-8 or Latin-1. `before`, the file's byte order mark, is included in
/// the hash.
///
/// # Errors
///
/// There is no such part.
pub fn read(mut reader: impl BufRead, before: &[u8], range: Range) -> Result<Part, Without> {
    let mut found =
        CollectedLines { hash: Sha256::new_with_prefix(before), ..CollectedLines::default() };
    collect(&mut reader, range, &mut found).map_err(Without::Io)?;
    if found.lines.iter().any(|line| line.bytes.contains(&0)) {
        return Err(Without::Binary);
    }
    if found.lines.is_empty() && found.total > 0 {
        return Err(Without::Beyond(found.total));
    }
    let is_utf8 = found.lines.iter().all(|line| str::from_utf8(whole_characters(line)).is_ok());
    let encoding = if is_utf8 { Encoding::Utf8 } else { Encoding::Latin1 };
    if encoding == Encoding::Latin1
        && found.lines.iter().any(|line| text::decode_unmarked(&line.bytes).is_none())
    {
        return Err(Without::Binary);
    }
    let decode = |line: &Line| match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(whole_characters(line)).into_owned(),
        _ => line.bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    let lines: Vec<(String, usize)> =
        found.lines.iter().map(|line| (decode(line), line.length)).collect();
    Ok(written(&lines, &found, range, encoding.label()))
}

/// The same for a text that was already decoded.
///
/// # Errors
///
/// There is no such part.
pub fn of_text(text: &str, range: Range, told: Option<&str>) -> Result<Part, Without> {
    let mut found = CollectedLines::default();
    collect(&mut text.as_bytes(), range, &mut found).map_err(Without::Io)?;
    if found.lines.is_empty() && found.total > 0 {
        return Err(Without::Beyond(found.total));
    }
    let decode =
        |line: &Line| (String::from_utf8_lossy(whole_characters(line)).into_owned(), line.length);
    let lines: Vec<_> = found.lines.iter().map(decode).collect();
    let part = written(&lines, &found, range, told);
    Ok(Part { hash: None, ..part })
}

/// The bytes of a line; if it was cut, without the incomplete character.
fn whole_characters(line: &Line) -> &[u8] {
    let cut = line.bytes.len() < line.length;
    match str::from_utf8(&line.bytes) {
        Err(error) if cut && error.error_len().is_none() => &line.bytes[..error.valid_up_to()],
        _ => &line.bytes,
    }
}

/// Reads the lines of a range, and counts the others.
fn collect(reader: &mut impl BufRead, range: Range, found: &mut CollectedLines) -> io::Result<()> {
    let (mut line, mut taken, mut read) = (Line::default(), 0, 0);
    let mut begun = false;
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            found.whole = true;
            found.ended = !begun;
            break;
        }
        let end = memchr::memchr(b'\n', buffer);
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        let number = found.total + 1;
        let wanted = (range.from..=range.to).contains(&number) && taken < range.bytes;
        if wanted {
            line.length += piece.len();
            line.bytes.extend_from_slice(&piece[..piece.len().min(LINE_BYTES - line.bytes.len())]);
        }
        let used = end.map_or(buffer.len(), |end| end + 1);
        found.hash.update(&buffer[..used]);
        reader.consume(used);
        read += used as u64;
        begun = end.is_none();
        if !begun {
            found.total += 1;
            if wanted {
                taken += line.bytes.len() + 1;
                found.lines.push(std::mem::take(&mut line));
            }
        }
        // No more than this is shown of a line without an end.
        let is_filled = begun && line.bytes.len() >= LINE_BYTES;
        if read > COUNTED && (found.total >= range.to || taken >= range.bytes || is_filled) {
            break;
        }
    }
    if begun {
        found.total += 1;
        if line.length > 0 {
            found.lines.push(line);
        }
    }
    Ok(())
}

/// Formats lines for a model.
fn written(
    lines: &[(String, usize)],
    found: &CollectedLines,
    range: Range,
    told: Option<&str>,
) -> Part {
    use std::fmt::Write as _;
    let hash = found.whole.then(|| found.hash.clone().finalize().into());
    let mut text = String::new();
    if lines.is_empty() {
        return Part { text: "The file is empty.".to_owned(), lines: None, hash };
    }
    let mut windows = false;
    for (number, (line, length)) in (range.from..).zip(lines) {
        let bare = line.strip_suffix('\r').unwrap_or(line);
        windows |= bare.len() < line.len();
        let shown = bare.char_indices().nth(LINE_CHARACTERS).map_or(bare, |(at, _)| &bare[..at]);
        let _ = write!(text, "{number}\t{shown}");
        if shown.len() < bare.len() || line.len() < *length {
            let _ = write!(text, " … [truncated: the line has {length} bytes]");
        }
        text.push('\n');
    }
    let last = range.from + lines.len() as u64 - 1;
    let mut notes = Vec::new();
    if last < found.total || !found.whole {
        let all = if found.whole { format!(" of {}", found.total) } else { String::new() };
        notes.push(format!(
            "Lines {} to {last}{all}. Continue with from: {}.",
            range.from,
            last + 1
        ));
    } else if !found.ended {
        notes.push("The last line has no newline.".to_owned());
    }
    if windows {
        notes.push("Lines end with CRLF.".to_owned());
    }
    notes.extend(told.map(|told| format!("The file is {told}.")));
    if !notes.is_empty() {
        let _ = writeln!(text, "[{}]", notes.join(" "));
    }
    Part { text, lines: Some((range.from, last)), hash }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8], from: Option<u64>, to: Option<u64>) -> String {
        read(bytes, &[], range(from, to)).unwrap().text
    }

    fn range(from: Option<u64>, to: Option<u64>) -> Range {
        Range::new(from, to, 256 * 1024).unwrap()
    }

    #[test]
    fn lines_are_numbered_and_both_ends_are_included() {
        assert_eq!(part(b"a\nb\nc\n", None, None), "1\ta\n2\tb\n3\tc\n");
        assert_eq!(
            part(b"a\nb\nc\n", Some(2), Some(2)),
            "2\tb\n[Lines 2 to 2 of 3. Continue with from: 3.]\n"
        );
        assert_eq!(part(b"a\nb", Some(2), Some(9)), "2\tb\n[The last line has no newline.]\n");
        assert_eq!(part(b"\n\nb\n", Some(0), None), "1\t\n2\t\n3\tb\n");
        assert_eq!(part(b"", None, None), "The file is empty.");
    }

    #[test]
    fn a_call_gives_no_more_than_its_bounds() {
        let many = "x\n".repeat(2001);
        let text = part(many.as_bytes(), None, None);
        assert!(text.ends_with("2000\tx\n[Lines 1 to 2000 of 2001. Continue with from: 2001.]\n"));
        let wide = format!("{}\n", "y".repeat(999)).repeat(600);
        let text = part(wide.as_bytes(), Some(3), None);
        assert!(
            text.ends_with("[Lines 3 to 265 of 600. Continue with from: 266.]\n"),
            "{}",
            &text[text.len() - 80..]
        );
    }

    #[test]
    fn a_small_window_gets_less() {
        let text = "0123456789\n".repeat(100);
        let range = Range::new(None, None, 110).unwrap();
        let part = read(text.as_bytes(), &[], range).unwrap();
        assert!(
            part.text
                .ends_with("10\t0123456789\n[Lines 1 to 10 of 100. Continue with from: 11.]\n")
        );
    }

    #[test]
    fn a_long_line_is_cut_between_characters_and_told() {
        let text = part(format!("{}\nb\n", "ä".repeat(9000)).as_bytes(), None, None);
        let expected =
            format!("1\t{} … [truncated: the line has 18000 bytes]\n2\tb\n", "ä".repeat(2000));
        assert_eq!(text, expected);
        let text = part(format!("{}\n", "€".repeat(9000)).as_bytes(), None, None);
        assert!(text.starts_with(&format!("1\t{} … [truncated", "€".repeat(2000))));
    }

    #[test]
    fn what_is_no_utf8_is_told_or_refused() {
        assert_eq!(
            part(b"gr\xf6\xdfe\r\n", None, None),
            "1\tgröße\n[Lines end with CRLF. The file is not UTF-8, read as Latin-1.]\n"
        );
        let range = range(None, None);
        assert!(matches!(read(&b"a\0b"[..], &[], range), Err(Without::Binary)));
        assert!(matches!(read(&b"\xff\x01"[..], &[], range), Err(Without::Binary)));
    }

    #[test]
    fn a_range_that_is_none_is_refused() {
        assert!(Range::new(Some(5), Some(4), 100).is_err());
        let range = range(Some(9), None);
        assert!(matches!(read(&b"a\nb"[..], &[], range), Err(Without::Beyond(2))));
    }

    #[test]
    fn the_hash_is_that_of_the_whole_file() {
        let part = read(&b"a\nb"[..], b"mark", range(Some(2), None)).unwrap();
        let hash: [u8; 32] = Sha256::digest(b"marka\nb").into();
        assert_eq!(part.hash, Some(hash));
    }
}
