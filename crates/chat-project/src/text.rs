//! Decodes the bytes of a file as text, and encodes them again.

/// How a file's text is written down. Anything else is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8: that of new files.
    #[default]
    Utf8,
    /// UTF-8 behind a byte order mark.
    Utf8Marked,
    /// UTF-16, low bytes first, behind its mark.
    Utf16Le,
    /// UTF-16, high bytes first, behind its mark.
    Utf16Be,
    /// One byte a character. Nothing marks it: it is what is neither UTF-8 nor binary.
    Latin1,
}

/// A byte order mark in UTF-8.
const MARK: &[u8] = &[0xef, 0xbb, 0xbf];

impl Encoding {
    /// What the mark at a file's beginning says.
    pub fn marked(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => Some(Self::Utf8Marked),
            [0xff, 0xfe, ..] => Some(Self::Utf16Le),
            [0xfe, 0xff, ..] => Some(Self::Utf16Be),
            _ => None,
        }
    }

    /// What it is called, where a reader should know; plain UTF-8 needs no word.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf8Marked => Some("UTF-8 with a byte order mark"),
            Self::Utf16Le => Some("UTF-16, little-endian"),
            Self::Utf16Be => Some("UTF-16, big-endian"),
            Self::Latin1 => Some("not UTF-8, read as Latin-1"),
        }
    }

    /// A text's bytes.
    ///
    /// # Errors
    /// A character that this encoding does not have.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        let utf16 = |bytes: fn(u16) -> [u8; 2]| {
            std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
        };
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf8Marked => Ok([MARK, text.as_bytes()].concat()),
            Self::Utf16Le => Ok(utf16(u16::to_le_bytes)),
            Self::Utf16Be => Ok(utf16(u16::to_be_bytes)),
            Self::Latin1 => text.chars().map(|c| u8::try_from(c).map_err(|_| c)).collect(),
        }
    }
}

/// Reads a file's bytes as text; none where they are none. What is read is written back byte for
/// byte by [`Encoding::encode`].
pub fn decode(bytes: &[u8]) -> Option<(String, Encoding)> {
    let utf16 = |encoding, unit: fn([u8; 2]) -> u16| {
        let (pairs, []) = bytes[2..].as_chunks::<2>() else { return None };
        let text = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
        let text: String = text.collect::<Result<_, _>>().ok()?;
        (!text.contains('\0')).then_some((text, encoding))
    };
    match Encoding::marked(bytes) {
        Some(Encoding::Utf16Le) => utf16(Encoding::Utf16Le, u16::from_le_bytes),
        Some(Encoding::Utf16Be) => utf16(Encoding::Utf16Be, u16::from_be_bytes),
        Some(marked) => decode_unmarked(&bytes[MARK.len()..])
            .filter(|(_, found)| *found == Encoding::Utf8)
            .map(|(text, _)| (text, marked)),
        None => decode_unmarked(bytes),
    }
}

/// The same for what has no mark: UTF-8, or Latin-1.
pub fn decode_unmarked(bytes: &[u8]) -> Option<(String, Encoding)> {
    if bytes.contains(&0) {
        return None;
    }
    if let Ok(text) = str::from_utf8(bytes) {
        return Some((text.to_owned(), Encoding::Utf8));
    }
    let is_binary = |byte: &u8| matches!(byte, 0x01..=0x07 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let text = || bytes.iter().map(|byte| char::from(*byte)).collect();
    (!bytes.iter().any(is_binary)).then(|| (text(), Encoding::Latin1))
}

/// What a file without text is, by how it begins.
pub fn binary_kind(bytes: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 17] = [
        (b"\x7fELF", "an ELF program or library"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive, or a document in one"),
        (b"\x1f\x8b", "gzip data"),
        (b"\xfd7zXZ", "xz data"),
        (b"(\xb5/\xfd", "zstd data"),
        (b"BZh", "bzip2 data"),
        (b"7z\xbc\xaf", "a 7z archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\0asm", "WebAssembly"),
        (b"GGUF", "a model (GGUF)"),
        (b"OggS", "Ogg sound or video"),
        (b"fLaC", "FLAC sound"),
        (b"ID3", "MP3 sound"),
        (b"RIFF", "sound or video (RIFF)"),
        (b"\xca\xfe\xba\xbe", "a Java class or a macOS program"),
        (b"MZ", "a Windows program"),
    ];
    let known = KINDS.iter().find(|(start, _)| bytes.starts_with(start));
    known.map_or("a binary file", |(_, kind)| kind)
}

/// The MIME type of a picture that models can be shown, by how its file begins.
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_encoding_is_told_from_the_others() {
        let text = |bytes: &[u8]| decode(bytes).unwrap();
        assert_eq!(text("größe\n".as_bytes()), ("größe\n".to_owned(), Encoding::Utf8));
        assert_eq!(text(b"\xef\xbb\xbfa"), ("a".to_owned(), Encoding::Utf8Marked));
        assert_eq!(text(b"\xff\xfea\0\xe4\0"), ("aä".to_owned(), Encoding::Utf16Le));
        assert_eq!(text(b"\xfe\xff\0a\0\xe4"), ("aä".to_owned(), Encoding::Utf16Be));
        assert_eq!(text(b"gr\xf6\xdfe"), ("größe".to_owned(), Encoding::Latin1));
        assert_eq!(text(b""), (String::new(), Encoding::Utf8));
    }

    #[test]
    fn what_is_no_text_is_none() {
        for bytes in [
            &b"a\0b"[..],
            b"\x89PNG\r\n\x1a\n\x01",
            b"\xff\xfea",
            b"\xff\xfe\0\xd8",
            b"\xff\xfe\0\0",
            b"\xef\xbb\xbf\xff",
        ] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn what_an_encoding_lacks_is_named() {
        assert_eq!(Encoding::Latin1.encode("a“b"), Err('“'));
        assert_eq!(Encoding::Latin1.encode("aÿ"), Ok(b"a\xff".to_vec()));
    }

    #[test]
    fn a_file_that_is_no_text_is_named() {
        assert_eq!(binary_kind(b"\x7fELF\x02\x01"), "an ELF program or library");
        assert_eq!(binary_kind(b"\x01\x02"), "a binary file");
        assert_eq!(picture_type(b"RIFF\x01\x02\x03\x04WEBPVP8 "), Some("image/webp"));
        assert_eq!(picture_type(b"RIFF\x01\x02\x03\x04WAVE"), None);
    }

    proptest! {
        #[test]
        fn what_was_read_is_written_back_byte_for_byte(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some((text, encoding)) = decode(&bytes) {
                prop_assert_eq!(encoding.encode(&text), Ok(bytes));
            }
        }

        #[test]
        fn every_text_survives_in_every_unicode_encoding(text in "[^\0\u{feff}]{0,40}") {
            for encoding in [Encoding::Utf8Marked, Encoding::Utf16Le, Encoding::Utf16Be] {
                let bytes = encoding.encode(&text).unwrap();
                prop_assert_eq!(decode(&bytes), Some((text.clone(), encoding)));
            }
        }
    }
}
