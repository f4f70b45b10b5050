//! Cuts a stream of JSON into the chats in it, without parsing them: the elements of an array, or values one after
//! another. A broken chat does not hide those after it, and only one is in memory at a time.

use std::io::Read;

use crate::fault::{ChatFault, ExportFault};

/// The most bytes of one chat. Those with many pictures have some dozens of megabytes.
const CHAT_LIMIT: usize = 128 << 20;
/// The most values of one chat: each takes dozens of bytes of memory, even where it is written with two.
const VALUE_LIMIT: usize = 2 << 20;

const CHUNK: usize = 256 * 1024;

/// A chat as JSON, or why it is left out.
type Chat = Result<Vec<u8>, ChatFault>;

/// The chats of a stream.
pub(crate) struct Splitter<R> {
    input: R,
    buffer: Vec<u8>,
    /// Up to where the buffer was used.
    at: usize,
    in_array: bool,
    begun: bool,
    /// How many bytes were read.
    pub(crate) read: u64,
}

impl<R: Read> Splitter<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), at: 0, in_array: false, begun: false, read: 0 }
    }

    /// The next chat, or why it is left out; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Chat>, ExportFault> {
        loop {
            let Some(byte) = self.peek()? else {
                return if self.in_array { Err(ExportFault::Truncated) } else { Ok(None) };
            };
            match byte {
                b'{' => {
                    self.begun = true;
                    return self.value().map(Some);
                }
                b'[' if !self.begun => {
                    (self.begun, self.in_array) = (true, true);
                    self.at += 1;
                }
                b']' if self.in_array => {
                    self.in_array = false;
                    self.at += 1;
                }
                _ if byte.is_ascii_whitespace() => self.at += 1,
                b',' if self.in_array => self.at += 1,
                // A byte order mark.
                0xef | 0xbb | 0xbf if !self.begun => self.at += 1,
                _ if !self.begun => return Err(ExportFault::Unknown),
                // What is no object is no chat. The next one is looked for.
                _ => self.at += 1,
            }
        }
    }

    /// An object whose brace comes next. One that is too large is read to its end, and not kept.
    fn value(&mut self) -> Result<Chat, ExportFault> {
        let (mut out, mut depth, mut in_string, mut escaped) = (Vec::new(), 0_usize, false, false);
        let (mut values, mut is_too_large) = (0_usize, false);
        loop {
            if self.peek()?.is_none() {
                return Err(ExportFault::Truncated);
            }
            let piece = &self.buffer[self.at..];
            let mut used = 0;
            let mut done = false;
            while used < piece.len() && !done {
                if escaped {
                    (escaped, used) = (false, used + 1);
                } else if in_string {
                    let Some(next) = memchr::memchr2(b'"', b'\\', &piece[used..]) else {
                        used = piece.len();
                        break;
                    };
                    in_string = piece[used + next] == b'\\';
                    escaped = in_string;
                    used += next + 1;
                } else {
                    match piece[used] {
                        b'"' => in_string = true,
                        b'{' | b'[' => (depth, values) = (depth + 1, values + 1),
                        b',' => values += 1,
                        b'}' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    used += 1;
                    done = depth == 0;
                }
            }
            if is_too_large || out.len() + used > CHAT_LIMIT || values > VALUE_LIMIT {
                (out, is_too_large) = (Vec::new(), true);
            } else {
                out.extend_from_slice(&piece[..used]);
            }
            self.at += used;
            if done {
                return Ok(if is_too_large { Err(ChatFault::TooLarge) } else { Ok(out) });
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, ExportFault> {
        if self.at == self.buffer.len() {
            self.buffer.resize(CHUNK, 0);
            let read = loop {
                match self.input.read(&mut self.buffer) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            self.at = 0;
            self.buffer.truncate(*read.as_ref().unwrap_or(&0));
            self.read += read? as u64;
        }
        Ok(self.buffer.get(self.at).copied())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8]) -> (Vec<String>, Option<ExportFault>) {
        let mut splitter = Splitter::new(text);
        let mut out = Vec::new();
        loop {
            match splitter.next() {
                Ok(Some(value)) => out.push(String::from_utf8(value.unwrap()).unwrap()),
                Ok(None) => return (out, None),
                Err(fault) => return (out, Some(fault)),
            }
        }
    }

    #[test]
    fn elements_of_an_array_and_lines_are_chats() {
        let (chats, fault) = all(b" [{\"a\":\"]}\\\"\"}, {\"b\":[{}]}]\n");
        assert_eq!(chats, ["{\"a\":\"]}\\\"\"}", "{\"b\":[{}]}"]);
        assert!(fault.is_none());
        assert_eq!(all(b"{\"a\":1}\n{\"b\":2}\n").0, ["{\"a\":1}", "{\"b\":2}"]);
        assert!(matches!(all(b"<html>").1, Some(ExportFault::Unknown)));
        assert!(all(b"").0.is_empty());
    }

    #[test]
    fn a_chat_of_too_many_values_costs_itself_alone() {
        let zeros = "0,".repeat(VALUE_LIMIT);
        let text = format!("[{{\"a\":[{zeros}0]}},{{\"b\":\"{zeros}\"}}]");
        let mut splitter = Splitter::new(text.as_bytes());
        assert_eq!(splitter.next().unwrap(), Some(Err(ChatFault::TooLarge)));
        assert!(matches!(splitter.next(), Ok(Some(Ok(chat))) if chat.len() > zeros.len()));
        assert!(matches!(splitter.next(), Ok(None)));
    }

    proptest! {
        #[test]
        fn what_is_whole_before_a_cut_is_read(
            texts in proptest::collection::vec("[\\PC\"\\\\{}\\[\\]]{0,40}", 0..6), cut in 0.0..1.0,
        ) {
            let values: Vec<_> = texts.iter().map(|text| serde_json::json!({ "t": [text] })).collect();
            let text = serde_json::to_string(&values).unwrap();
            let whole: Vec<_> = values.iter().map(ToString::to_string).collect();
            prop_assert_eq!(&all(text.as_bytes()).0, &whole);
            let cut = &text.as_bytes()[..(text.len() as f64 * cut) as usize];
            let (read, fault) = all(cut);
            prop_assert!(whole.starts_with(&read));
            prop_assert!(cut.is_empty() || matches!(fault, Some(ExportFault::Truncated)));
        }
    }
}
