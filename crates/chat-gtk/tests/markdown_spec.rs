//! Block trees of all examples of the specifications: compared with golden files, and, set as
//! HTML, with what the specifications say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_gtk::markdown::{Align, Block, Inline, Item, List, Table, compact, parse};
use serde::Deserialize;

#[derive(Deserialize)]
struct Example {
    #[serde(rename = "example")]
    number: u32,
    section: String,
    markdown: String,
    html: String,
}

#[test]
fn commonmark() {
    check("commonmark");
}

#[test]
fn github_flavoured() {
    check("gfm");
}

fn check(name: &str) {
    let examples: Vec<Example> = serde_json::from_str(&read(name, "json")).expect("examples");
    let mut golden = String::new();
    let mut deviations = BTreeMap::new();
    for Example { number, section, markdown, html } in &examples {
        let blocks = parse(markdown);
        let _ = writeln!(golden, "# {number} {section}\n{}", compact(&blocks));
        let ours = render(&blocks);
        if normal(&ours) != normal(html) {
            deviations.insert(*number, format!("{markdown:?}\n  ours: {ours:?}\n  spec: {html:?}"));
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path(name, "golden.txt"), &golden).expect("a golden file");
    }
    let listed: BTreeMap<u32, String> = read(name, "deviations.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').expect("a number and a reason"))
        .map(|(number, reason)| (number.parse().expect("a number"), reason.to_owned()))
        .collect();
    let mut wrong = String::new();
    for (example, difference) in &deviations {
        if !listed.contains_key(example) {
            let _ = writeln!(wrong, "{example} deviates and is not listed: {difference}");
        }
    }
    for (example, reason) in &listed {
        if !deviations.contains_key(example) {
            let _ = writeln!(wrong, "{example} is listed ({reason}) and does not deviate");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let expected = read(name, "golden.txt");
    for (ours, expected) in golden.split("\n\n").zip(expected.split("\n\n")) {
        assert_eq!(ours, expected);
    }
    assert_eq!(golden.len(), expected.len(), "the golden file has other examples");
}

fn path(name: &str, kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/spec/{name}.{kind}"))
}

fn read(name: &str, kind: &str) -> String {
    std::fs::read_to_string(path(name, kind)).unwrap_or_default()
}

/// Line ends beside tags mean nothing in HTML.
fn normal(html: &str) -> String {
    let mut out = html.trim().to_owned();
    for (from, to) in [("\n<", "<"), (">\n", ">")] {
        while out.contains(from) {
            out = out.replace(from, to);
        }
    }
    out
}

fn render(blocks: &[Rc<Block>]) -> String {
    let mut out = String::new();
    for block in blocks {
        write_block(&mut out, block, false);
    }
    out
}

fn write_blocks(out: &mut String, blocks: &[Block]) {
    for block in blocks {
        write_block(out, block, false);
    }
}

fn write_block(out: &mut String, block: &Block, tight: bool) {
    match block {
        Block::Paragraph(text) if tight => {
            write_inlines(out, text);
            out.push('\n');
        }
        Block::Paragraph(text) => wrapped(out, "p", text),
        Block::Heading { level, text } => wrapped(out, &format!("h{level}"), text),
        Block::Code { info, text } => {
            let language = info.split([' ', '\t']).next().unwrap_or_default();
            let class = if language.is_empty() {
                String::new()
            } else {
                format!(" class=\"language-{}\"", escape(language))
            };
            let _ = writeln!(out, "<pre><code{class}>{}</code></pre>", escape(text));
        }
        Block::Details { source, .. } => panic!("no example has one: {source}"),
        Block::Quote(blocks) | Block::Alert { blocks, .. } => {
            out.push_str("<blockquote>\n");
            write_blocks(out, blocks);
            out.push_str("</blockquote>\n");
        }
        Block::List(list) => write_list(out, list),
        Block::Table(table) => write_table(out, table),
        Block::Rule => out.push_str("<hr />\n"),
        Block::Html(text) => out.push_str(text),
        Block::Footnote { label, blocks } => {
            let _ = write!(out, "<footnote {}>", escape(label));
            write_blocks(out, blocks);
            out.push_str("</footnote>\n");
        }
    }
}

fn wrapped(out: &mut String, tag: &str, text: &[Inline]) {
    let _ = write!(out, "<{tag}>");
    write_inlines(out, text);
    let _ = writeln!(out, "</{tag}>");
}

fn write_list(out: &mut String, list: &List) {
    let (open, close) = match list.start {
        None => ("<ul>".to_owned(), "</ul>"),
        Some(1) => ("<ol>".to_owned(), "</ol>"),
        Some(start) => (format!("<ol start=\"{start}\">"), "</ol>"),
    };
    let _ = writeln!(out, "{open}");
    for item in &list.items {
        write_item(out, item, list.tight);
    }
    let _ = writeln!(out, "{close}");
}

fn write_item(out: &mut String, item: &Item, tight: bool) {
    out.push_str("<li>");
    match item.task {
        Some(true) => out.push_str("<input checked=\"\" disabled=\"\" type=\"checkbox\"> "),
        Some(false) => out.push_str("<input disabled=\"\" type=\"checkbox\"> "),
        None => {}
    }
    for block in &item.blocks {
        write_block(out, block, tight);
    }
    out.push_str("</li>\n");
}

fn write_table(out: &mut String, table: &Table) {
    let row = |out: &mut String, cells: &[Vec<Inline>], tag: &str| {
        out.push_str("<tr>\n");
        for (cell, align) in cells.iter().zip(&table.align) {
            let align = match align {
                Align::None => "",
                Align::Left => " align=\"left\"",
                Align::Center => " align=\"center\"",
                Align::Right => " align=\"right\"",
            };
            let _ = write!(out, "<{tag}{align}>");
            write_inlines(out, cell);
            let _ = writeln!(out, "</{tag}>");
        }
        out.push_str("</tr>\n");
    };
    out.push_str("<table>\n<thead>\n");
    row(out, &table.head, "th");
    out.push_str("</thead>\n");
    if !table.rows.is_empty() {
        out.push_str("<tbody>\n");
        for cells in &table.rows {
            row(out, cells, "td");
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n");
}

fn write_inlines(out: &mut String, inlines: &[Inline]) {
    for inline in inlines {
        match inline {
            Inline::Text(text) | Inline::Math(text) => out.push_str(&escape(text)),
            Inline::Code(text) => {
                let _ = write!(out, "<code>{}</code>", escape(text));
            }
            Inline::Html(text) => out.push_str(text),
            Inline::Footnote(label) => {
                let _ = write!(out, "<sup>{}</sup>", escape(label));
            }
            Inline::Emphasis(inner) => tagged(out, "em", inner),
            Inline::Strong(inner) => tagged(out, "strong", inner),
            Inline::Strike(inner) => tagged(out, "del", inner),
            Inline::Link { address, title, text } => {
                let _ = write!(out, "<a href=\"{}\"{}>", escape_address(address), title_of(title));
                write_inlines(out, text);
                out.push_str("</a>");
            }
            Inline::Image { address, title, alt } => {
                let _ = write!(out, "<img src=\"{}\" alt=\"", escape_address(address));
                write_plain(out, alt);
                let _ = write!(out, "\"{} />", title_of(title));
            }
            Inline::SoftBreak => out.push('\n'),
            Inline::HardBreak => out.push_str("<br />\n"),
        }
    }
}

fn tagged(out: &mut String, tag: &str, inner: &[Inline]) {
    let _ = write!(out, "<{tag}>");
    write_inlines(out, inner);
    let _ = write!(out, "</{tag}>");
}

fn title_of(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!(" title=\"{}\"", escape(title)) }
}

fn write_plain(out: &mut String, inlines: &[Inline]) {
    for inline in inlines {
        match inline {
            Inline::Text(text) | Inline::Code(text) | Inline::Math(text) => {
                out.push_str(&escape(text));
            }
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Strike(inner)
            | Inline::Link { text: inner, .. }
            | Inline::Image { alt: inner, .. } => write_plain(out, inner),
            Inline::SoftBreak | Inline::HardBreak => out.push('\n'),
            Inline::Html(_) | Inline::Footnote(_) => {}
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn escape_address(address: &str) -> String {
    let mut out = String::new();
    for byte in address.bytes() {
        match byte {
            b'&' => out.push_str("&amp;"),
            b'\'' => out.push_str("&#x27;"),
            _ if byte.is_ascii_alphanumeric() || b"-_.+!*(),%#@?=;:/$~".contains(&byte) => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
