//! Makes files to attach: good, broken and hostile.

mod office;
mod pdf;
mod picture;
mod zip;

use std::path::PathBuf;

pub use office::{docx, docx_bomb, locked_office, old_document, pptx, xlsx, xlsx_bomb};
pub use pdf::{locked_pdf, pdf, pdf_with_photo};
pub use picture::{ImageFormat, photo, picture, png_of_size, turned_photo};

/// A program of this workspace, for a crate that does not build it itself: beside what cargo built for the tests.
///
/// # Panics
/// Where it is not built.
pub fn built_program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the test's own path");
    let folders = own.ancestors().skip(1).take(2);
    let mut programs = folders.map(|folder| folder.join(name));
    programs.find(|program| program.is_file()).unwrap_or_else(|| {
        panic!("{name} is not built beside {}: cargo build --bin {name}", own.display())
    })
}
