//! Defines the syntax tree: blocks, and the inline text in them.

use std::rc::Rc;

/// A block of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Running text.
    Paragraph(Vec<Inline>),
    /// A heading of level 1 to 6.
    Heading {
        /// Its level.
        level: u8,
        /// Its text.
        text: Vec<Inline>,
    },
    /// Code, fenced or indented.
    Code {
        /// What stands behind the opening fence: the language, and perhaps more.
        info: String,
        /// The code, with its line ends.
        text: String,
    },
    /// A quotation.
    Quote(Vec<Block>),
    /// A list.
    List(List),
    /// A table.
    Table(Table),
    /// A line across.
    Rule,
    /// Raw HTML, as it was written.
    Html(String),
    /// The text of a footnote.
    Footnote {
        /// Its label.
        label: String,
        /// What it says.
        blocks: Vec<Block>,
    },
}

/// A list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The first number of an ordered list; none for bullets.
    pub start: Option<u64>,
    /// Whether no blank line parts its items.
    pub tight: bool,
    /// Its items. Shared, so that a long list that grows need not be copied.
    pub items: Vec<Rc<Item>>,
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Whether its box is ticked, where it has one.
    pub task: Option<bool>,
    /// What it holds. Text of a tight list stands in a paragraph too.
    pub blocks: Vec<Block>,
}

/// A table: every row has as many cells as the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// How each column is aligned.
    pub align: Vec<Align>,
    /// The cells of the head.
    pub head: Vec<Vec<Inline>>,
    /// The rows below it.
    pub rows: Vec<Vec<Vec<Inline>>>,
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// As the language has it.
    #[default]
    None,
    /// To the left.
    Left,
    /// In the middle.
    Center,
    /// To the right.
    Right,
}

/// A piece of running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Plain text.
    Text(String),
    /// Code.
    Code(String),
    /// A formula, as it was written, with the signs round it.
    Math(String),
    /// Stressed text.
    Emphasis(Vec<Inline>),
    /// Strongly stressed text.
    Strong(Vec<Inline>),
    /// Text that no longer holds.
    Strike(Vec<Inline>),
    /// A link.
    Link {
        /// Where it leads; anything that the model wrote.
        address: String,
        /// Its title.
        title: String,
        /// What is shown.
        text: Vec<Inline>,
    },
    /// A picture. It is never fetched.
    Image {
        /// Where it lies.
        address: String,
        /// Its title.
        title: String,
        /// What it shows.
        alt: Vec<Inline>,
    },
    /// Raw HTML, as it was written.
    Html(String),
    /// A reference to a footnote, by its label.
    Footnote(String),
    /// A line end of the source, which is a space to the reader.
    SoftBreak,
    /// A line end that is meant.
    HardBreak,
}
