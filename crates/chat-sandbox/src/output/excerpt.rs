//! Collects the head and tail of an output for a model: the beginning shows what was done, the end
//! shows errors.

use std::collections::VecDeque;
use std::fmt::{self, Write};

use super::Stream;
use super::decoder::{text, unfinished};

/// A piece of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its stream.
    pub stream: Stream,
    /// Its text.
    pub text: String,
}

/// The beginning and the end of an output, cut at line breaks if possible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The beginning, or all of it.
    pub head: Vec<Span>,
    /// How many bytes are left out in between.
    pub bytes_left_out: u64,
    /// How many line breaks are among these.
    pub lines_left_out: u64,
    /// The end; empty if nothing is left out.
    pub tail: Vec<Span>,
}

impl Excerpt {
    /// The text for a model. If both streams have output, a line marks each change; if something is
    /// left out, a line says how much, and `rest` says how to get it.
    pub fn text(&self, rest: &str) -> String {
        let spans = || self.head.iter().chain(&self.tail);
        let said = |stream| spans().any(|span| span.stream == stream);
        let name = said(Stream::Out) && said(Stream::Err);
        let mut named = Stream::Out;
        let mut text = String::new();
        for (index, span) in spans().enumerate() {
            if index == self.head.len() {
                begin_line(&mut text);
                let (bytes, lines) = (self.bytes_left_out, self.lines_left_out);
                let bytes = format!("{bytes} {}", if bytes == 1 { "byte" } else { "bytes" });
                let lines = match lines {
                    0 => String::new(),
                    1 => " in 1 line".to_owned(),
                    lines => format!(" in {lines} lines"),
                };
                let _ = writeln!(text, "[{bytes}{lines} omitted here{rest}]");
            }
            if name && span.stream != named {
                begin_line(&mut text);
                text += match span.stream {
                    Stream::Out => "[standard output]\n",
                    Stream::Err => "[standard error]\n",
                };
                named = span.stream;
            }
            text += &span.text;
        }
        text
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(""))
    }
}

fn begin_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Keeps the head and tail of an output.
#[derive(Debug)]
pub(super) struct Collector {
    head: Pieces,
    tail: Pieces,
    most_head: usize,
    most_tail: usize,
    total: u64,
    lines: u64,
}

type Piece = (Stream, Vec<u8>);

/// Pieces of the streams and their total length.
#[derive(Debug, Default, Clone)]
struct Pieces {
    pieces: VecDeque<Piece>,
    bytes: usize,
}

impl Collector {
    /// Creates one that keeps `most` bytes, half of them from each end.
    pub(super) fn new(most: usize) -> Self {
        Self {
            head: Pieces::default(),
            tail: Pieces::default(),
            most_head: most / 2,
            most_tail: most - most / 2,
            total: 0,
            lines: 0,
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.lines += lines(bytes);
        let room = self.most_head - self.head.bytes;
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.push(stream, first);
        let rest = &rest[rest.len().saturating_sub(self.most_tail)..];
        self.tail.push(stream, rest);
        self.tail.keep_last(self.most_tail);
    }

    pub(super) fn excerpt(&self) -> Excerpt {
        if self.total == (self.head.bytes + self.tail.bytes) as u64 {
            let mut all = self.head.clone();
            for (stream, bytes) in &self.tail.pieces {
                all.push(*stream, bytes);
            }
            return Excerpt { head: all.spans(), ..Excerpt::default() };
        }
        let (mut head, mut tail) = (self.head.clone(), self.tail.clone());
        head.cut_after_last_line();
        tail.cut_before_first_line();
        Excerpt {
            bytes_left_out: self.total - (head.bytes + tail.bytes) as u64,
            lines_left_out: self.lines - head.lines() - tail.lines(),
            head: head.spans(),
            tail: tail.spans(),
        }
    }
}

impl Pieces {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.bytes += bytes.len();
        match self.pieces.back_mut() {
            Some((last, piece)) if *last == stream => piece.extend_from_slice(bytes),
            _ => self.pieces.push_back((stream, bytes.to_vec())),
        }
    }

    fn keep_last(&mut self, most: usize) {
        while self.bytes > most
            && let Some((_, first)) = self.pieces.front_mut()
        {
            let over = (self.bytes - most).min(first.len());
            self.bytes -= over;
            first.drain(..over);
            if first.is_empty() {
                self.pieces.pop_front();
            }
        }
    }

    /// Cuts after the last line break if it is in the second half; otherwise between characters.
    fn cut_after_last_line(&mut self) {
        let mut kept = self.bytes;
        for (_, piece) in self.pieces.iter().rev() {
            kept -= piece.len();
            if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
                kept += at + 1;
                break;
            }
        }
        if kept * 2 < self.bytes {
            let begun = self.pieces.back().map_or(0, |(_, piece)| unfinished(piece));
            kept = self.bytes - begun;
        }
        while self.bytes > kept
            && let Some((_, last)) = self.pieces.back_mut()
        {
            let over = (self.bytes - kept).min(last.len());
            self.bytes -= over;
            last.truncate(last.len() - over);
            if last.is_empty() {
                self.pieces.pop_back();
            }
        }
    }

    /// Cuts up to the first line break if it is in the first half; otherwise between characters.
    fn cut_before_first_line(&mut self) {
        let mut passed = 0;
        let mut from = None;
        for (_, piece) in &self.pieces {
            if let Some(at) = piece.iter().position(|byte| *byte == b'\n') {
                from = Some(passed + at + 1);
                break;
            }
            passed += piece.len();
        }
        let from = from.filter(|from| from * 2 <= self.bytes).unwrap_or_else(|| {
            let first = self.pieces.front().map_or(&[][..], |(_, piece)| piece);
            first.iter().take(3).take_while(|byte| (0x80..0xC0).contains(*byte)).count()
        });
        self.keep_last(self.bytes - from);
    }

    fn lines(&self) -> u64 {
        self.pieces.iter().map(|(_, piece)| lines(piece)).sum()
    }

    fn spans(&self) -> Vec<Span> {
        let spans =
            self.pieces.iter().map(|(stream, bytes)| Span { stream: *stream, text: text(bytes) });
        spans.collect()
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collected(most: usize, pieces: &[(Stream, &str)]) -> Excerpt {
        let mut collector = Collector::new(most);
        for (stream, text) in pieces {
            collector.push(*stream, text.as_bytes());
        }
        collector.excerpt()
    }

    #[test]
    fn a_short_output_is_whole() {
        let excerpt = collected(20, &[(Stream::Out, "one\ntwo\n"), (Stream::Out, "three\n")]);
        assert_eq!(excerpt.to_string(), "one\ntwo\nthree\n");
        assert_eq!((excerpt.bytes_left_out, excerpt.tail.len()), (0, 0));
    }

    #[test]
    fn a_long_one_keeps_both_ends_and_says_how_much_it_left_out() {
        let lines: Vec<String> = (0..1000).map(|number| format!("line {number}")).collect();
        let text = lines.join("\n") + "\n";
        let excerpt = collected(60, &[(Stream::Out, &text)]);
        assert_eq!(
            excerpt.to_string(),
            "line 0\nline 1\nline 2\nline 3\n[8835 bytes in 993 lines omitted here]\nline 997\nline 998\nline 999\n"
        );
    }

    #[test]
    fn how_to_get_the_rest_is_said_where_it_is_left_out() {
        let excerpt = collected(4, &[(Stream::Out, "abcdefgh")]);
        assert_eq!(excerpt.text("; ask for it"), "ab\n[4 bytes omitted here; ask for it]\ngh");
    }

    #[test]
    fn streams_are_told_apart_where_there_are_both() {
        let pieces = [(Stream::Err, "warning"), (Stream::Out, "done\n"), (Stream::Err, "bye\n")];
        assert_eq!(
            collected(100, &pieces).to_string(),
            "[standard error]\nwarning\n[standard output]\ndone\n[standard error]\nbye\n"
        );
        assert_eq!(collected(100, &pieces[..1]).to_string(), "warning");
    }

    #[test]
    fn a_nul_ends_nothing() {
        assert_eq!(collected(100, &[(Stream::Out, "a\0b\n")]).to_string(), "a\u{2400}b\n");
    }

    proptest! {
        #[test]
        fn what_is_shown_and_what_is_left_out_are_all_of_it(
            pieces in prop::collection::vec((any::<bool>(), "[a-zé\n]{0,12}"), 0..40),
            most in 2_usize..80,
        ) {
            let mut collector = Collector::new(most);
            let mut whole = String::new();
            for (err, text) in &pieces {
                collector.push(if *err { Stream::Err } else { Stream::Out }, text.as_bytes());
                whole += text;
            }
            let excerpt = collector.excerpt();
            let joined = |spans: &[Span]| spans.iter().map(|span| span.text.as_str()).collect::<String>();
            let (head, tail) = (joined(&excerpt.head), joined(&excerpt.tail));
            prop_assert!(head.len() + tail.len() <= most + 6);
            if !head.contains('\u{FFFD}') && !tail.contains('\u{FFFD}') {
                prop_assert!(whole.starts_with(&head) && whole.ends_with(&tail));
                prop_assert_eq!(whole.len() as u64, excerpt.bytes_left_out + (head.len() + tail.len()) as u64);
                let shown = head.matches('\n').count() + tail.matches('\n').count();
                prop_assert_eq!(whole.matches('\n').count() as u64, excerpt.lines_left_out + shown as u64);
            }
        }
    }
}
