//! Converts documents, sheets and slides to Markdown.

use undoc::ErrorKind;
use undoc::render::{RenderOptions, to_markdown};

use crate::protocol::{Failure, Reason};

/// A docx, xlsx or pptx as Markdown, without its pictures.
pub fn markdown(data: &[u8]) -> Result<String, Failure> {
    let failed = |error: undoc::Error| {
        let reason = match error.kind() {
            ErrorKind::Encrypted => Reason::Encrypted,
            ErrorKind::UnsupportedFormat | ErrorKind::UnknownFormat => Reason::Unsupported,
            _ => Reason::Broken,
        };
        Failure::new(reason, &error)
    };
    let document = undoc::parse_bytes(data).map_err(failed)?;
    let options = RenderOptions { include_images: false, ..RenderOptions::default() };
    to_markdown(&document, &options).map_err(failed)
}
