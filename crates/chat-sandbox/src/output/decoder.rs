//! Decodes bytes as text, piece by piece: a character may be split between two pieces.

/// Decodes bytes that arrive in pieces as text. Invalid UTF-8 becomes U+FFFD; a NUL, which
/// databases and servers may take for an end, becomes its symbol (U+2400).
#[derive(Debug, Default)]
pub struct Decoder {
    /// The first bytes of an incomplete character, at most three.
    begun: Vec<u8>,
}

impl Decoder {
    /// The text of `bytes`, as far as their characters are complete.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let bytes = if self.begun.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.begun).as_slice(), bytes].concat();
            joined.as_slice()
        };
        let whole = bytes.len() - unfinished(bytes);
        self.begun = bytes[whole..].to_vec();
        text(&bytes[..whole])
    }

    /// The text of a character that was never completed.
    pub fn finish(&mut self) -> String {
        text(&std::mem::take(&mut self.begun))
    }
}

/// The text of bytes without context.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text.into_owned() }
}

/// How many bytes at the end may begin a character.
pub(super) fn unfinished(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    for (back, byte) in bytes[from..].iter().rev().enumerate() {
        let length = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if back + 1 < length { back + 1 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_is_the_same_in_whatever_pieces_it_comes(text in ".{0,40}", cut in 1_usize..7) {
            let mut decoder = Decoder::default();
            let mut read: String = text.as_bytes().chunks(cut).map(|piece| decoder.push(piece)).collect();
            read += &decoder.finish();
            prop_assert_eq!(read, text.replace('\0', "\u{2400}"));
        }

        #[test]
        fn what_is_no_text_never_stops_what_follows(noise in prop::collection::vec(any::<u8>(), 0..40), cut in 1_usize..7) {
            let mut decoder = Decoder::default();
            let mut read: String = noise.chunks(cut).map(|piece| decoder.push(piece)).collect();
            read += &decoder.push(b" end");
            read += &decoder.finish();
            prop_assert!(read.ends_with(" end"));
            prop_assert!(!read.contains('\0'));
        }
    }
}
