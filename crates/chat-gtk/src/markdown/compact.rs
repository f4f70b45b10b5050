//! Writes the tree as short text, for golden files and readable test failures.

use std::fmt::Write as _;
use std::rc::Rc;

use super::block::{Align, Block, Inline, Item};

/// Writes one block per line, with its content indented.
pub fn compact(blocks: &[Rc<Block>]) -> String {
    let mut out = String::new();
    for block in blocks {
        write_block(&mut out, block, 0);
    }
    out
}

fn write_block(out: &mut String, block: &Block, depth: usize) {
    let _ = write!(out, "{:1$}", "", depth * 2);
    match block {
        Block::Paragraph(text) => line(out, "p", text),
        Block::Heading { level, text } => line(out, &format!("h{level}"), text),
        Block::Code { info, text } => {
            let _ = writeln!(out, "code {info:?} {text:?}");
        }
        Block::Quote(blocks) => nested(out, "quote", blocks, depth),
        Block::Alert { kind, blocks } => {
            nested(out, &format!("{kind:?}").to_lowercase(), blocks, depth);
        }
        Block::List(list) => {
            let kind = list.start.map_or_else(|| "bullets".to_owned(), |n| format!("numbers {n}"));
            let _ = writeln!(out, "{kind}{}", if list.tight { "" } else { " loose" });
            for item in &list.items {
                write_item(out, item, depth + 1);
            }
        }
        Block::Table(table) => {
            let align: String = table.align.iter().map(|a| align_mark(*a)).collect();
            let _ = writeln!(out, "table {align}");
            for row in std::iter::once(&table.head).chain(&table.rows) {
                let _ = write!(out, "{:1$}row", "", depth * 2 + 2);
                for cell in row {
                    out.push_str(" |");
                    write_inlines(out, cell);
                }
                out.push('\n');
            }
        }
        Block::Rule => out.push_str("rule\n"),
        Block::Html(text) => {
            let _ = writeln!(out, "html {text:?}");
        }
        Block::Details { summary, source } => {
            let _ = writeln!(out, "details {summary:?} {source:?}");
        }
        Block::Footnote { label, blocks } => {
            nested(out, &format!("footnote {label:?}"), blocks, depth);
        }
    }
}

fn line(out: &mut String, name: &str, text: &[Inline]) {
    out.push_str(name);
    write_inlines(out, text);
    out.push('\n');
}

fn nested(out: &mut String, name: &str, blocks: &[Block], depth: usize) {
    let _ = writeln!(out, "{name}");
    for block in blocks {
        write_block(out, block, depth + 1);
    }
}

fn write_item(out: &mut String, item: &Item, depth: usize) {
    let _ = write!(out, "{:1$}", "", depth * 2);
    let name = match item.task {
        None => "item",
        Some(false) => "item [ ]",
        Some(true) => "item [x]",
    };
    nested(out, name, &item.blocks, depth);
}

fn align_mark(align: Align) -> char {
    match align {
        Align::None => '-',
        Align::Left => '<',
        Align::Center => '=',
        Align::Right => '>',
    }
}

fn write_inlines(out: &mut String, inlines: &[Inline]) {
    for inline in inlines {
        out.push(' ');
        match inline {
            Inline::Text(text) => {
                let _ = write!(out, "{text:?}");
            }
            Inline::Code(text) => {
                let _ = write!(out, "code{text:?}");
            }
            Inline::Math(text) => {
                let _ = write!(out, "math{text:?}");
            }
            Inline::Html(text) => {
                let _ = write!(out, "html{text:?}");
            }
            Inline::Footnote(label) => {
                let _ = write!(out, "note{label:?}");
            }
            Inline::Emphasis(inner) => grouped(out, "em", inner),
            Inline::Strong(inner) => grouped(out, "strong", inner),
            Inline::Strike(inner) => grouped(out, "strike", inner),
            Inline::Link { address, title, text } => {
                grouped(out, &format!("link {address:?} {title:?}"), text);
            }
            Inline::Image { address, title, alt } => {
                grouped(out, &format!("image {address:?} {title:?}"), alt);
            }
            Inline::SoftBreak => out.push('/'),
            Inline::HardBreak => out.push_str("//"),
        }
    }
}

fn grouped(out: &mut String, name: &str, inner: &[Inline]) {
    let _ = write!(out, "{name}(");
    write_inlines(out, inner);
    out.push_str(" )");
}
