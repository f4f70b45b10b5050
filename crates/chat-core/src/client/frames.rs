//! Cuts the bytes of a body into the pieces that carry one JSON text each: lines (Ollama),
//! server-sent events (OpenAI's protocol), or all of it (a reply that does not stream).
//!
//! A pure state machine over what was read, right at any split of the bytes. It is our own
//! because a reply's cost a chunk is mostly what happens here: a whole line that lies in one read
//! is handed on where it lies, without a copy, and a read of many lines wakes nobody in between.
//! Codecs over `AsyncRead` copy each line, give one line a poll, and cannot cap an event.

use memchr::memchr;

use crate::error::{Error, Kind, Result};

/// The longest line, event or whole reply, in bytes: a server that never ends a line must not eat
/// the memory.
pub(super) const LIMIT: usize = 8 << 20;

/// How a body is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// One piece a line; empty lines are none.
    Lines,
    /// One piece an event: its `data` lines, joined.
    Events,
    /// One piece: the body.
    Whole,
}

/// The cutter, with what it has of an unfinished piece.
#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    line: Vec<u8>,
    event: Event,
    first: bool,
}

/// The `data` lines of an event that is not over.
#[derive(Debug, Default)]
struct Event {
    data: Vec<u8>,
    has_data: bool,
}

impl Frames {
    pub fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), event: Event::default(), first: true }
    }

    /// Takes what was read, and gives each piece that it completes.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut piece: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if self.framing == Framing::Whole {
            return append(&mut self.line, bytes);
        }
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.line.is_empty() {
                self.give(head, &mut piece)?;
            } else {
                append(&mut self.line, head)?;
                let line = std::mem::take(&mut self.line);
                self.give(&line, &mut piece)?;
                // Keeps the room for the next one.
                self.line = line;
                self.line.clear();
            }
        }
        append(&mut self.line, bytes)
    }

    /// The body is over: gives what stands there without its end.
    pub fn end(&mut self, mut piece: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.give(&line, &mut piece)?;
        }
        self.event.give(&mut piece)
    }

    fn give(&mut self, line: &[u8], piece: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if line.len() > LIMIT {
            return Err(too_long());
        }
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        match self.framing {
            Framing::Events => self.event.line(line, piece),
            Framing::Lines if line.trim_ascii().is_empty() => Ok(()),
            Framing::Lines | Framing::Whole => piece(line),
        }
    }
}

impl Event {
    fn line(&mut self, line: &[u8], piece: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if line.is_empty() {
            return self.give(piece);
        }
        let colon = memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if self.has_data {
                    append(&mut self.data, b"\n")?;
                }
                self.has_data = true;
                append(&mut self.data, value)
            }
            // Older servers of llama.cpp name an error's field so.
            b"error" => {
                self.has_data = true;
                append(&mut self.data, br#"{"error":"#)?;
                append(&mut self.data, value)?;
                append(&mut self.data, b"}")
            }
            // Comments begin with the colon; event names and ids say nothing that the JSON does not.
            _ => Ok(()),
        }
    }

    fn give(&mut self, piece: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if std::mem::take(&mut self.has_data) {
            let given = piece(&self.data);
            self.data.clear();
            return given;
        }
        Ok(())
    }
}

fn append(to: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    if to.len() + bytes.len() > LIMIT {
        return Err(too_long());
    }
    to.extend_from_slice(bytes);
    Ok(())
}

fn too_long() -> Error {
    Error::new(Kind::LineTooLong)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pieces of a body that arrives in these reads.
    fn pieces<'a>(framing: Framing, reads: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut frames = Frames::new(framing);
        let mut out = Vec::new();
        let mut take = |piece: &[u8]| {
            out.push(String::from_utf8(piece.to_vec()).unwrap());
            Ok(())
        };
        for read in reads {
            frames.feed(read, &mut take).unwrap();
        }
        frames.end(&mut take).unwrap();
        out
    }

    #[test]
    fn lines_end_as_they_like() {
        let body = "\u{feff}{\"a\":1}\r\n\n  \r\n{\"b\":\"日\"}\nlast";
        let got = pieces(Framing::Lines, [body.as_bytes()]);
        assert_eq!(got, [r#"{"a":1}"#, r#"{"b":"日"}"#, "last"]);
    }

    #[test]
    fn events_have_comments_many_lines_and_other_fields() {
        let body = ": OPENROUTER PROCESSING\n\nevent: x\ndata: one\r\n\r\nid: 7\ndata:two\n\
                    data:  lines\n: said in between\n\ndata\n\n\ndata: unended";
        let got = pieces(Framing::Events, [body.as_bytes()]);
        assert_eq!(got, ["one", "two\n lines", "", "unended"]);
    }

    #[test]
    fn an_error_field_is_an_error_object() {
        let got = pieces(Framing::Events, [b"error: {\"code\":500}\n\n".as_slice()]);
        assert_eq!(got, [r#"{"error":{"code":500}}"#]);
    }

    #[test]
    fn nothing_grows_past_the_limit() {
        let chunk = vec![b'x'; 64 << 10];
        for framing in [Framing::Lines, Framing::Events, Framing::Whole] {
            let mut frames = Frames::new(framing);
            let mut fed = 0;
            let error = loop {
                fed += chunk.len();
                if let Err(error) = frames.feed(&chunk, |_| Ok(())) {
                    break error;
                }
                assert!(fed <= LIMIT, "{framing:?} took more than the limit");
            };
            assert_eq!(error.kind, Kind::LineTooLong);
        }
        // Neither in one read, nor in an event of many lines.
        let mut line = vec![b'x'; LIMIT + 1];
        line.push(b'\n');
        assert!(Frames::new(Framing::Lines).feed(&line, |_| Ok(())).is_err());
        let mut event = b"data: ".to_vec();
        event.resize(5 << 20, b'x');
        event.push(b'\n');
        let mut frames = Frames::new(Framing::Events);
        assert!(frames.feed(&event, |_| Ok(())).is_ok());
        assert!(frames.feed(&event, |_| Ok(())).is_err());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_pieces(
            body in "(data: |data:|: |event: |\\{\"a\":\"日🦀\"\\}|x|\r\n|\n|\n\n){0,40}",
            cuts in prop::collection::vec(0usize..200, 0..12),
            framing in prop_oneof![Just(Framing::Lines), Just(Framing::Events), Just(Framing::Whole)],
        ) {
            let bytes = body.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut reads = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                reads.push(&bytes[from..cut]);
                from = cut;
            }
            let whole = pieces(framing, [bytes]);
            prop_assert_eq!(pieces(framing, reads), whole.clone());
            prop_assert_eq!(pieces(framing, bytes.chunks(1)), whole);
        }
    }
}
