//! Defines which rows a message can have.

use super::reply::SegmentKind;

/// A row of a message: what kind of widget, and what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// What a person said.
    User,
    /// The field in which what a person said is edited.
    Editor,
    /// What stands below what a person said, where that has other versions.
    OwnLine,
    /// What the program says.
    Remark,
    /// Thinking.
    Thinking { part: usize },
    /// A tool call.
    Tool { part: usize },
    /// A picture of a reply.
    Picture { part: usize },
    /// A piece of a reply's text.
    Segment { part: usize, segment: usize, kind: SegmentKind },
    /// How a reply ended.
    Ending,
    /// What stands below a finished reply.
    Footer,
}
