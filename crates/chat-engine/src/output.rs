//! Splits what a model wrote into reasoning, answer, and tool calls.

mod call;
mod gemma;
mod sorter;
mod stop;
mod tagged;

pub use sorter::{Expected, Sorter};
pub use stop::StopTexts;

/// A piece of what a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// More thinking.
    Thinking(String),
    /// More of the answer.
    Text(String),
    /// A call begins.
    Call {
        /// Which of this answer, from 0.
        index: usize,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments, as JSON text.
    Arguments {
        /// Which call.
        index: usize,
        /// The text.
        text: String,
    },
}
