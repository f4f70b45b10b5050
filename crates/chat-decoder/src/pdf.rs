//! Reads the text of PDF.

use std::fmt::Write as _;

use pdf_oxide::PdfDocument;

use crate::protocol::{Failure, Limits, Reason};

/// The text of all pages, each with its number. One that has no text is a failure: its pages are pictures.
pub fn text(data: Vec<u8>, limits: &Limits) -> Result<String, Failure> {
    let broken = |error: pdf_oxide::Error| match error {
        pdf_oxide::Error::EncryptedPdf => Failure::new(Reason::Encrypted, &error),
        error => Failure::new(Reason::Broken, &error),
    };
    let document = PdfDocument::from_bytes(data).map_err(broken)?;
    // Many that are encrypted open without a password, and only forbid changes.
    if document.is_encrypted() && !document.authenticate(b"").unwrap_or(false) {
        return Err(Failure::new(Reason::Encrypted, ""));
    }
    let pages = document.page_count().map_err(broken)?;
    let mut text = String::new();
    let mut failure = None;
    let (mut read, mut empty) = (0, true);
    for page in 0..pages {
        let _ = write!(text, "## Page {}\n\n", page + 1);
        match document.extract_text(page) {
            Ok(words) => {
                read += 1;
                empty &= words.trim().is_empty();
                text.push_str(words.trim());
                text.push_str("\n\n");
            }
            Err(error) => {
                failure = Some(error);
                text.push_str("[This page cannot be read.]\n\n");
            }
        }
        // The rest would be cut.
        if text.len() > limits.text {
            break;
        }
    }
    match failure {
        Some(error) if read == 0 => Err(broken(error)),
        None if pages == 0 => Err(Failure::new(Reason::Broken, "no pages")),
        _ if empty => Err(Failure::new(Reason::NoText, &format!("{pages} pages"))),
        _ => Ok(text),
    }
}
