//! Sees what a file is, by its first bytes and then by its name.

use chat_decoder::protocol::Format;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// It is text and goes out as it is.
    Text,
    /// It has to be decoded.
    Decoded(Format),
}

/// Where PDF may begin: programs write other things before it.
const PDF_WITHIN: usize = 1_024;

/// How a file of this name is read that begins with these bytes; none where it cannot be.
pub(super) fn of(name: &str, start: &[u8]) -> Option<FileFormat> {
    if let Some(format) = by_bytes(start) {
        return Some(FileFormat::Decoded(format));
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        _ if start.contains(&0) => None,
        Some("csv" | "tsv") => Some(FileFormat::Decoded(Format::Table)),
        Some("html" | "htm" | "xhtml") => Some(FileFormat::Decoded(Format::Html)),
        _ => Some(FileFormat::Text),
    }
}

fn by_bytes(start: &[u8]) -> Option<Format> {
    match start {
        [0x89, b'P', b'N', b'G', ..]
        | [0xff, 0xd8, 0xff, ..]
        | [b'G', b'I', b'F', b'8', ..]
        | [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..]
        | [b'I', b'I', b'*', 0, ..]
        | [b'M', b'M', 0, b'*', ..]
        // Text may begin with these two letters, and has no zeros.
        | [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Format::Image),
        // A new document is an archive; an old or an encrypted one is a compound file.
        [b'P', b'K', 3, 4, ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => Some(Format::Office),
        start => {
            let start = &start[..start.len().min(PDF_WITHIN)];
            start.windows(5).any(|bytes| bytes == b"%PDF-").then_some(Format::Pdf)
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a", b"\xff\xd8\xff\xe0", Some(FileFormat::Decoded(Format::Image)))]
    #[case("a.txt", b"BM\x10\0\0\0\0\0\0\0", Some(FileFormat::Decoded(Format::Image)))]
    #[case("BMW.txt", b"BMW drives away", Some(FileFormat::Text))]
    #[case("a.doc", b"junk\n%PDF-1.4", Some(FileFormat::Decoded(Format::Pdf)))]
    #[case("a.docx", b"PK\x03\x04", Some(FileFormat::Decoded(Format::Office)))]
    #[case("A.CSV", b"a;b", Some(FileFormat::Decoded(Format::Table)))]
    #[case("a.csv", b"a\0b", None)]
    #[case("a.html", b"<p>", Some(FileFormat::Decoded(Format::Html)))]
    #[case("Makefile", b"all:", Some(FileFormat::Text))]
    #[case("empty", b"", Some(FileFormat::Text))]
    #[case("a.out", b"\x7fELF\x02\x01\x01\0", None)]
    fn a_file_is_what_its_bytes_and_then_its_name_say(
        #[case] name: &str,
        #[case] start: &[u8],
        #[case] format: Option<FileFormat>,
    ) {
        assert_eq!(of(name, start), format);
    }
}
