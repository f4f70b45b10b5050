//! Defines the pieces that a view draws, one below the other.

use std::rc::Rc;

use crate::markdown::block::{AlertKind, Align};

/// Something that is drawn below what comes before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A line of prose.
    Line(Line),
    /// Code.
    Code(Code),
    /// A table.
    Grid(Grid),
    /// A formula on its own.
    Formula(Formula),
    /// A picture that stands in its own address.
    Picture(Picture),
    /// A part that is folded.
    Details(Details),
    /// A horizontal rule.
    Rule(Indent),
}

/// How far something is indented, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Indent {
    /// How many lists it is in.
    pub lists: u8,
    /// How many quotations it is in.
    pub quotes: u8,
    /// The alert that it is in, which is one of the quotations.
    pub alert: Option<AlertKind>,
}

/// The space above something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gap {
    /// None: it continues what is above.
    None,
    /// Between the items of a list.
    Small,
    /// Between blocks.
    #[default]
    Block,
    /// Above a heading.
    Heading,
}

/// A paragraph of prose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// A heading's level, or 0.
    pub heading: u8,
    /// Its indentation.
    pub indent: Indent,
    /// The bullet, number or box in front of it.
    pub marker: Option<String>,
    /// The space above it.
    pub gap: Gap,
    /// Whether it is monospaced like code (raw HTML).
    pub verbatim: bool,
    /// Its text.
    pub runs: Vec<Run>,
}

/// Text of one style. It may contain line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The text.
    pub text: String,
    /// Its style.
    pub style: Style,
    /// Its target, if it is a link that may be opened.
    pub link: Option<Rc<str>>,
}

/// The style of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each can stand with each")]
pub struct Style {
    /// Emphasized.
    pub emphasis: bool,
    /// Strongly emphasized.
    pub strong: bool,
    /// Struck through.
    pub strike: bool,
    /// Code.
    pub code: bool,
    /// Dimmed, as for explanations.
    pub faint: bool,
    /// Superscript, as for footnote marks.
    pub raised: bool,
    /// Subscript.
    pub lowered: bool,
    /// A keyboard key.
    pub key: bool,
    /// A formula with its delimiters, which is drawn where that is possible.
    pub formula: bool,
    /// The title of an alert.
    pub alert: Option<AlertKind>,
}

/// A code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The language, as the model named it.
    pub language: String,
    /// The code without its last line break.
    pub text: String,
    /// Its indentation.
    pub indent: Indent,
}

/// A formula that stands on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The formula as it was written, with its delimiters.
    pub source: String,
    /// Its indentation.
    pub indent: Indent,
}

/// A picture that stands in its own address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its address, with all its data.
    pub address: Rc<str>,
    /// What it shows, in words; it may have none.
    pub description: String,
}

/// A part that is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// Its summary, as plain text; it may have none.
    pub summary: String,
    /// What is inside, as Markdown.
    pub source: String,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The alignment of each column.
    pub align: Vec<Align>,
    /// Header and rows, cell by cell.
    pub rows: Vec<Vec<Vec<Run>>>,
    /// Its indentation.
    pub indent: Indent,
}
