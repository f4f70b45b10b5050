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
        /// The text after the opening fence: the language, and perhaps more.
        info: String,
        /// The code, with its line endings.
        text: String,
    },
    /// A quotation.
    Quote(Vec<Block>),
    /// A quotation that is an alert.
    Alert {
        /// Its kind.
        kind: AlertKind,
        /// Its content.
        blocks: Vec<Block>,
    },
    /// A list.
    List(List),
    /// A table.
    Table(Table),
    /// A horizontal rule.
    Rule,
    /// Raw HTML, as it was written.
    Html(String),
    /// A part that is folded.
    Details {
        /// Its summary, as plain text.
        summary: String,
        /// What is inside, as Markdown.
        source: String,
    },
    /// The text of a footnote.
    Footnote {
        /// Its label.
        label: String,
        /// Its content.
        blocks: Vec<Block>,
    },
}

/// A kind of alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertKind {
    /// Something to know.
    Note,
    /// Something that helps.
    Tip,
    /// Something that must be known.
    Important,
    /// Something to beware of.
    Warning,
    /// Something that does harm.
    Caution,
}

/// A list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The first number of an ordered list; none for bullets.
    pub start: Option<u64>,
    /// Whether its items are not separated by blank lines.
    pub tight: bool,
    /// Its items. Shared, so that a long list that grows need not be copied.
    pub items: Vec<Rc<Item>>,
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Whether its checkbox is ticked, if it has one.
    pub task: Option<bool>,
    /// Its content. Text in a tight list is in a paragraph, too.
    pub blocks: Vec<Block>,
}

/// A table: every row has as many cells as the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The alignment of each column.
    pub align: Vec<Align>,
    /// The cells of the header.
    pub head: Vec<Vec<Inline>>,
    /// The rows below it.
    pub rows: Vec<Vec<Vec<Inline>>>,
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// The default of the language.
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
    /// A formula as it was written, with its delimiters.
    Math(String),
    /// Emphasized text.
    Emphasis(Vec<Inline>),
    /// Strongly emphasized text.
    Strong(Vec<Inline>),
    /// Struck-through text.
    Strike(Vec<Inline>),
    /// A link.
    Link {
        /// Its target; anything that the model wrote.
        address: String,
        /// Its title.
        title: String,
        /// Its text.
        text: Vec<Inline>,
    },
    /// A picture. It is never fetched.
    Image {
        /// Its address.
        address: String,
        /// Its title.
        title: String,
        /// Its alternative text.
        alt: Vec<Inline>,
    },
    /// Raw HTML, as it was written.
    Html(String),
    /// A reference to a footnote, by its label.
    Footnote(String),
    /// A line break of the source, which is shown as a space.
    SoftBreak,
    /// An intended line break.
    HardBreak,
}
