//! Parses Markdown into blocks, without any widget.
//!
//! [`parse`] reads a whole text with `pulldown-cmark`. [`Stream`] reads a text that grows: it never
//! reads finished blocks again, and once it is settled its blocks equal those of [`parse`] for the
//! text so far. [`flow`] turns blocks into the lines, code blocks and tables that a view draws one
//! below the other.

mod block;
mod build;
mod compact;
mod fence;
pub mod flow;
mod label;
mod link;
mod math;
mod stream;

pub use block::{AlertKind, Align, Block, Inline, Item, List, Table};
pub use compact::compact;
pub use link::{is_picture_address, is_safe_address, visible_address};
pub use stream::{BlockPosition, Stream};

use std::rc::Rc;

/// Reads a whole text.
pub fn parse(text: &str) -> Vec<Rc<Block>> {
    let mut source = String::with_capacity(text.len());
    stream::normalise(&mut source, text, false);
    build::build(&source, &|_| None).tops.into_iter().map(|top| Rc::new(top.block)).collect()
}
