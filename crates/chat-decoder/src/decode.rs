//! Decodes one file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::protocol::{Decoded, Failure, Format, Limits, Reason, Request};
use crate::{encoding, html, office, pdf, picture, table};

/// Decodes a file. A decoder that panics found the file broken.
pub fn decode(request: &Request, data: Vec<u8>) -> Result<Decoded, Failure> {
    let decoded = catch_unwind(AssertUnwindSafe(|| decode_as(request, data)));
    decoded.unwrap_or_else(|_| Err(Failure::new(Reason::Broken, "the decoder panicked")))
}

fn decode_as(request: &Request, data: Vec<u8>) -> Result<Decoded, Failure> {
    let limits = &request.limits;
    let text = match request.format {
        Format::Image => return picture::decode(&data, limits),
        Format::Pdf => pdf::text(data, limits)?,
        Format::Office => office::markdown(&data)?,
        Format::Table => table::markdown(&encoding::text(&data), &request.name, limits),
        Format::Html => html::markdown(&encoding::page(&data)),
    };
    if text.trim().is_empty() {
        return Err(Failure::new(Reason::NoText, ""));
    }
    Ok(Decoded::Text(cut(text, limits)))
}

/// Cuts a text that is too long between two letters, and says so in it.
fn cut(mut text: String, limits: &Limits) -> String {
    if text.len() > limits.text {
        text.truncate(text.floor_char_boundary(limits.text));
        text.push_str("\n\n[The rest of the file is left out: it is too long.]\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(format: Format, limits: Limits) -> Request {
        Request { format, name: "a.csv".into(), limits }
    }

    #[test]
    fn a_long_text_is_cut_between_letters_and_says_so() {
        let limits = Limits { text: 4, ..Limits::default() };
        let cut = cut("a→→→".into(), &limits);
        assert!(cut.starts_with("a→\n\n[The rest"), "{cut}");
        assert_eq!(super::cut("a→".into(), &limits), "a→");
    }

    #[test]
    fn a_file_of_spaces_has_no_text() {
        for format in [Format::Table, Format::Html] {
            let failure = decode(&request(format, Limits::default()), b" \n ".to_vec());
            assert_eq!(failure.unwrap_err().reason, Reason::NoText, "{format:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn random_bytes_are_an_answer(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            magic in proptest::sample::select(vec![
                &b"%PDF-1.7\n"[..], b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a",
                b"RIFF\x40\0\0\0WEBPVP8 ", b"BM", b"II*\0", b"<html><table>", b"",
            ]),
        ) {
            let data = [magic, &bytes].concat();
            for format in [Format::Image, Format::Pdf, Format::Office, Format::Table, Format::Html] {
                // Not one that a panic made.
                let answer = decode_as(&request(format, Limits::default()), data.clone());
                if matches!(format, Format::Image | Format::Office) {
                    prop_assert!(answer.is_err());
                }
            }
        }
    }
}
